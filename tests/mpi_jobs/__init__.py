"""MPI jobs in which processes die, judged by what they print and note."""
