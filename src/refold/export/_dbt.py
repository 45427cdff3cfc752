"""A model as a generic test of dbt, which the package in integrations/dbt runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from refold.export._sql import known_dialect, to_sql
from refold.models.detector import Detector
from refold.models.ref import REF

_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def to_dbt(
    model: REF | Detector,
    name: str,
    dialects: str | Sequence[str],
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    without: Collection[str] = (),
) -> str:
    """Return a generic test of dbt that fails for each outlier, by the statement of :func:`to_sql`.

    It is called `name` and ``_rows_are_normal``, and needs the package in ``integrations/dbt``.
    The rows that it selects have all columns of the relation, then ``refold_label``,
    ``refold_distance`` and ``refold_reason_1`` …

    Parameters
    ----------
    model : REF or Detector
        As for :func:`to_sql`.
    name : str
        What the model is called in dbt: lower-case letters, digits and underscores.
    dialects : str or sequence of {"duckdb", "postgres", "sqlite", "snowflake", "bigquery"}
        The adapters that the project is used with.
    reasons, columns, without
        As for :func:`to_sql`.

    Returns
    -------
    str
        The text of a file in the folder ``macros`` of a dbt project.

    Examples
    --------
    >>> import numpy as np
    >>> from refold import REF
    >>> from refold.export import to_dbt
    >>> model = REF().fit(np.random.default_rng(0).normal(size=(500, 2)))
    >>> text = to_dbt(model, "parts", "duckdb", columns=["heat", "flow"])
    >>> "{% test parts_rows_are_normal(model) %}" in text
    True
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"name={name!r} is not of lower-case letters, digits and underscores.")
    known = [known_dialect(one) for one in ([dialects] if isinstance(dialects, str) else dialects)]
    if not known:
        raise ValueError("dialects is empty: name an adapter, such as duckdb.")
    macros, cases = "", ""
    for dialect in dict.fromkeys(known):
        statement = to_sql(
            model,
            ("refold_batch",),
            dialect,
            prefix="refold_",
            reasons=reasons,
            columns=columns,
            without=without,
        )
        # A value in the statement must not end the block that keeps it from being a template.
        raw = statement.replace("{%", '{% endraw %}{{ "{%" }}{% raw %}')
        macro = f"{dialect}__refold_{name}"
        macros += f"{{% macro {macro}() %}}{{% raw %}}{raw}{{% endraw %}}{{% endmacro %}}\n\n"
        # dbt finds the macros that a test needs by their names in its text.
        cases += f"{{%- {'el' * bool(cases)}if target.type == '{dialect}' -%}}\n"
        cases += f"{{{{ refold.outliers(model, {macro}()) }}}}\n"
    problem = f"This test was written for {', '.join(known)}: refold export writes it for others."
    cases += (
        f'{{%- else -%}}\n{{{{ exceptions.raise_compiler_error("{problem}") }}}}\n{{%- endif -%}}'
    )
    return f"{macros}{{% test {name}_rows_are_normal(model) %}}\n{cases}\n{{% endtest %}}\n"
