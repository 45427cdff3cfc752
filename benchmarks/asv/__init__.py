"""Speed and memory over the history of the code, for a machine without noise.

asv run --quick --python=same   # does each work?
asv continuous main HEAD        # what has a branch changed?
"""
