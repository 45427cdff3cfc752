"""Columns of any kind as numbers: how surprising each cell is, by what was counted of its column.

From below: `tally` (values and how often), `surprise` (how usual it is to meet one that rare),
`shapes` (what a text looks like), `texts`, `dates` and `numbers` (what is counted of a column of
each kind, and its views), `dependence` (a cell beside one other cell of its row), `plan` (what each
column is taken for), `counts` (all that is kept of the rows; it adds up), `state` (rows learned in
parts), and `encoder`. `words` says what is odd about a cell.
"""
