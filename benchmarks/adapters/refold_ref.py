from benchmarks.adapters import from_estimator
from refold import REF


def make(**options):
    given = ", ".join(f"{name}={value}" for name, value in options.items())
    return from_estimator(f"refold REF, {given}", REF(**options))
