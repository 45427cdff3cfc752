"""Which detector suits a table of one's own: judged by its labels, or by faults put into it.

``refold benchmark my.csv`` runs it; read more in ``docs/own-table.md``.
"""
