"""Mixed tables: errors put into clean ones, natural anomalies, and rates.

Detectors of rows are compared with what one would otherwise put in front of a table of categories,
dates, codes and numbers.
"""
