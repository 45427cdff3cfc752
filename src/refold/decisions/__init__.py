"""From a distance to a decision: calibration, rates, thresholds, which of many rows to report."""
