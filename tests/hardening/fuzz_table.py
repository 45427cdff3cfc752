"""Search for tables that break the reader: ``make fuzz``."""

import sys

import atheris

from tests.hardening.fuzzing import instrument
from tests.hardening.targets import read_table

instrument()
atheris.Setup(sys.argv, read_table)
atheris.Fuzz()
