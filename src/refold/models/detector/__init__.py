"""The front door: a table as people have it, judged by REF or CreasedREF.

From below: `scorer` (judges encoded rows), `ruled` (rows by the user's rules), `trim` (rows that
are left out), `learned` (what was learned, the rows that are kept, and the estimator inside),
`table_mixin` (what is read and kept), `estimator`.
"""

from refold.models.detector.estimator import Detector
from refold.models.detector.table_mixin import refuse_rules, refuse_window

__all__ = ["Detector", "refuse_rules", "refuse_window"]
