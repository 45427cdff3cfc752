"""The parts of a model, each written and read by one module: ``written`` and ``read``."""
