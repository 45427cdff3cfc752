"""The paper's data, protocol, tables and figures; ``refold reproduce`` runs them all.

J. Raitoharju, "Linear-time One-Class Classification with Repeated Element-wise Folding".
"""
