"""The real OpenSM on the real ibsim, asked for its routes, and a plain restatement of what it answers.

`subnet` runs the programs, `numbering` and `dumps` turn what they write into our numbers, `reference` says in a few lines of
Python which route OpenSM picks, and `probe` looks inside it while it runs. Nothing here is imported by the package itself:
the tests and the benchmarks use it. Needs the Debian packages `opensm` and `ibsim-utils`; the probe also `libopensm-dev`
and gcc.
"""
