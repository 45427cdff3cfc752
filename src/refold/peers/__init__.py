"""The methods that the paper compares REF with, and its author's GRKneg, as estimators."""

from refold.peers._elm import AutoassociativeKernelELM, OneClassELM, OneClassKernelELM
from refold.peers._mapping import NonlinearProjection, ReferenceMapping
from refold.peers._negatives import GRKneg
from refold.peers._parzen import NaiveParzen
from refold.peers._svdd import SVDD, SubspaceSVDD

__all__ = [
    "SVDD",
    "AutoassociativeKernelELM",
    "GRKneg",
    "NaiveParzen",
    "NonlinearProjection",
    "OneClassELM",
    "OneClassKernelELM",
    "ReferenceMapping",
    "SubspaceSVDD",
]
