"""`python -m runflat`."""

from runflat.cli import main

main()
