"""The front door: a table as people have it, judged by REF or CreasedREF.

From below: `sample` (rows that are kept), `scorer` (judges encoded rows), `learned` (what was
learned, and the estimator inside), `estimator`.
"""

from refold.models.detector.estimator import Detector

__all__ = ["Detector"]
