"""What is wrong with a model file, and where."""

from __future__ import annotations

from functools import partial

from refold.base.errors import UserError


class ModelFileError(UserError):
    """A model file that cannot be used, or a model that cannot be written as one.

    Parameters
    ----------
    problem : str
        What is wrong.
    where : str, optional
        The path of the field, such as ``chain.shifts[3][0]``.
    file : str, optional
        The file's name.

    Examples
    --------
    >>> print(ModelFileError("must be above 0, not -1.5", where="chain.scales[2][7]"))
    chain.scales[2][7]: must be above 0, not -1.5
    """

    def __init__(self, problem: str, *, where: str = "", file: str = "") -> None:
        self.problem, self.where, self.file = problem, where, file
        super().__init__(": ".join(part for part in (file, where, problem) if part))

    def in_file(self, file: str) -> ModelFileError:
        """Return the same error with the file's name."""
        return type(self)(self.problem, where=self.where, file=file)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with all three parts: errors travel between processes."""
        return partial(type(self), self.problem, where=self.where, file=self.file), ()


class TooLargeError(ModelFileError):
    """A model file that would take more memory than one may."""
