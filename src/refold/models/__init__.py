"""The estimators, and how models learned apart become one."""
