"""Novelty detection on ADBench's classical data sets: REF, CreasedREF and their peers.

``refold benchmark`` runs it; read more in ``docs/novelty.md``.
"""
