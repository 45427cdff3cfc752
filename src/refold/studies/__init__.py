"""Studies: the paper, reproduced, and novelty detection, compared.

A study is a set of jobs, each of which gives a cell. All share one way to keep cells, to run jobs,
to fetch data and to write pages. Studies use every other room and are used by the command line
alone.
"""
