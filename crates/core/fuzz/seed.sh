#!/bin/sh
# Fills the corpus with every fabric file of the repository.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/parse_fabric
cp ../../../machines/*.ibnetdiscover ../tests/data/*.ibnetdiscover ../tests/data/*.net ../tests/data/*.json corpus/parse_fabric/
printf 'SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=m[08-11],x\nSwitchName=c Switches=a,b\n' > corpus/parse_fabric/tree.conf
printf 'BlockName=a Nodes=n[0-3]\nBlockName=b Nodes=m0\nBlockSizes=4,8\n' > corpus/parse_fabric/block.conf
