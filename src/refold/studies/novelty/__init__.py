"""Novelty detection on suites of labelled tables: REF, CreasedREF and their peers.

``refold benchmark`` runs it; read more in ``docs/novelty.md``.
"""
