#!/bin/sh
# Fills the corpora with every fabric file and every table file of the repository.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/parse_fabric corpus/parse_tables
cp ../../../machines/*.ibnetdiscover ../tests/data/*.ibnetdiscover ../tests/data/*.net ../tests/data/*.json corpus/parse_fabric/
printf 'SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=m[08-11],x\nSwitchName=c Switches=a,b\n' > corpus/parse_fabric/tree.conf
printf 'BlockName=a Nodes=n[0-3]\nBlockName=b Nodes=m0\nBlockSizes=4,8\n' > corpus/parse_fabric/block.conf
cp ../tests/data/tables/* ../../../tests/opensm/samples/* corpus/parse_tables/
printf 'switch_guid,switch,sl,lids\n0x200000,s,1,1-3 5\n' > corpus/parse_tables/levels.csv
