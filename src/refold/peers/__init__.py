"""The methods that the paper compares REF with, as estimators in their own right."""

from refold.peers._aakelm import AutoassociativeKernelELM
from refold.peers._elm import OneClassELM
from refold.peers._grm import ReferenceMapping
from refold.peers._kelm import OneClassKernelELM
from refold.peers._npt import NonlinearProjection
from refold.peers._parzen import NaiveParzen
from refold.peers._ssvdd import SubspaceSVDD
from refold.peers._svdd import SVDD

__all__ = [
    "SVDD",
    "AutoassociativeKernelELM",
    "NaiveParzen",
    "NonlinearProjection",
    "OneClassELM",
    "OneClassKernelELM",
    "ReferenceMapping",
    "SubspaceSVDD",
]
