"""The compiled loops. :mod:`refold.engines.exact` is the only caller."""
