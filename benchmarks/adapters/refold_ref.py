from benchmarks.adapters import from_estimator
from refold import REF


def make(**options):
    name = f"refold REF, {options.get('n_jobs', 'all')} thread(s), {options.get('levels', 'last')}"
    return from_estimator(name, REF(**options))
