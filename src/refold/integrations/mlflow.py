"""Models for MLflow: a model is logged as its readable file, and served with its reasons."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import refold
from refold.base.errors import require_columns
from refold.base.needs import needs
from refold.columns.encoding.dates import DateCounts
from refold.columns.encoding.encoder import TableEncoder
from refold.columns.encoding.plan import ColumnPlan
from refold.columns.encoding.texts import TextCounts
from refold.columns.frames import validate_table
from refold.columns.number_form import NumberForm
from refold.columns.table import CellState
from refold.judgement import Judge, Judgement, answer_names, answer_types, answers

FLAVOR = "refold"
_FILE = "model.json"
_DATA = f"data/{_FILE}"  # where MLflow puts it within a model's folder
_REASONS = 3
_KINDS = {"double": "double", "int8": "integer", "string": "string"}  # Arrow's to MLflow's


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Sequence[str] | str | None = None,
    extra_pip_requirements: Sequence[str] | str | None = None,
    conda_env: dict[str, Any] | str | None = None,
    code_paths: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    mlflow_model: Any = None,
) -> None:
    """Write a model to a folder in MLflow's format, with the flavors refold and python_function.

    Read more in ``docs/adapters.md``.

    Parameters
    ----------
    model : estimator
        Fitted; whatever :func:`refold.save` can write.
    path : str or path-like
        The folder, which must not be there yet or be empty.
    signature : mlflow.models.ModelSignature or False, default=None
        What goes in and comes out, which MLflow then enforces. None takes it from `input_example`,
        or without one from the columns of a Detector; False has none.
    input_example : pandas.DataFrame or ndarray, default=None
        Some rows to judge, stored beside the model.
    pip_requirements : sequence of str or str, default=None
        What must be installed to use the model, or a file that says so; None is this version of
        refold.
    extra_pip_requirements : sequence of str or str, default=None
        What must be installed besides.
    conda_env : dict or str, default=None
        The same as a Conda environment, or a file that holds one.
    code_paths : list of str, default=None
        Files of yours to store with the model.
    metadata : dict, default=None
        Facts of yours to store with the model.
    mlflow_model : mlflow.models.Model, default=None
        The description to add the flavors to; used by MLflow.

    Examples
    --------
    >>> import tempfile
    >>> from refold.integrations.mlflow import load_model, save_model
    >>> model = refold.REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, folder)
    ...     again = load_model(folder)
    >>> again.predict([[20.2, 5.0], [35.0, 5.0]])
    array([ 1, -1])
    """
    mlflow = needs("mlflow", "mlflow")
    if signature is None:
        signature = _signature(model, input_example)
    if conda_env is None and pip_requirements is None:
        own = [f"refold[mlflow]=={version('refold')}"]
        pip_requirements = own + _as_list(extra_pip_requirements)
        extra_pip_requirements = None
    described = mlflow.models.Model() if mlflow_model is None else mlflow_model
    described.add_flavor(FLAVOR, data=_DATA, refold_version=version("refold"))
    if signature and input_example is None:  # MLflow would warn that there is no example
        described.signature, signature = signature, None
    with TemporaryDirectory() as folder:
        data = os.path.join(folder, _FILE)
        refold.save(model, data)
        mlflow.pyfunc.save_model(
            path=os.fspath(path),
            loader_module=__name__,
            data_path=data,
            mlflow_model=described,
            signature=signature or None,
            input_example=input_example,
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            conda_env=conda_env,
            code_paths=code_paths,
            metadata=metadata,
        )


def log_model(model: Any, name: str | None = None, **options: Any) -> Any:
    """Log a model to MLflow's tracking server.

    Parameters
    ----------
    model : estimator
        Fitted; whatever :func:`refold.save` can write.
    name : str, default=None
        The model's name.
    **options
        Those of :func:`save_model`, for example ``input_example``, and those of
        ``mlflow.models.Model.log``, for example ``registered_model_name``, ``params`` and ``tags``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is what :func:`load_model` takes.

    Examples
    --------
    >>> import mlflow
    >>> from refold.integrations.mlflow import load_model, log_model
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = log_model(model, "parts", input_example=normal.head())
    >>> model = load_model(info.model_uri)  # doctest: +SKIP
    """
    mlflow = needs("mlflow", "mlflow")
    this = sys.modules[__name__]
    return mlflow.models.Model.log(
        artifact_path=None, flavor=this, model=model, name=name, **options
    )


def load_model(model_uri: str | os.PathLike[str], dst_path: str | None = None) -> Any:
    """Read a model that :func:`save_model` or :func:`log_model` has stored. It runs no code.

    Parameters
    ----------
    model_uri : str or path-like
        A folder, or what MLflow calls a URI: ``models:/parts/2``, ``runs:/…/parts``, ``s3://…``
    dst_path : str, default=None
        Where to download it to; None is a temporary place.

    Returns
    -------
    estimator
        The model: the same bits as the one that was stored.

    Examples
    --------
    >>> import tempfile
    >>> from refold.integrations.mlflow import load_model, save_model
    >>> model = refold.REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, folder)
    ...     again = load_model(folder)
    >>> again.threshold_ == model.threshold_
    True
    """
    mlflow = needs("mlflow", "mlflow")
    uri = os.fspath(model_uri)
    folder = mlflow.artifacts.download_artifacts(artifact_uri=uri, dst_path=dst_path)
    flavors = mlflow.models.Model.load(folder).flavors
    if FLAVOR not in flavors:
        raise ValueError(
            f"The model at {uri} was not stored by refold.integrations.mlflow; MLflow can load it "
            f"as {', '.join(flavors)}."
        )
    return refold.load(Path(folder, _DATA))


def _load_pyfunc(data_path: str) -> ServedModel:
    """Return what ``mlflow.pyfunc.load_model`` wraps; MLflow looks for this name."""
    return ServedModel(refold.load(data_path))


class ServedModel:
    """A model as MLflow's generic function: a table in, a table of answers out.

    Parameters
    ----------
    model : estimator
        Fitted.

    Examples
    --------
    >>> import pandas as pd
    >>> from refold import REF
    >>> from refold.integrations.mlflow import ServedModel
    >>> table = pd.DataFrame({"heat": [20.1, 19.8, 20.3, 20.0], "flow": [5.0, 5.1, 4.9, 5.2]})
    >>> ServedModel(REF().fit(table)).predict(table)["label"].to_list()
    [1, 1, 1, 1]
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        """Return the model itself."""
        return self.model

    def predict(self, model_input: Any) -> Any:
        """Judge rows.

        Parameters
        ----------
        model_input : pandas.DataFrame, ndarray or dict of columns
            Columns are taken by name if the model was fitted with names; others than its own are
            left aside. A column of a Detector that had gaps in training may be missing as a whole.

        Returns
        -------
        pandas.DataFrame
            The columns that ``refold.scale.score`` adds: ``distance``, ``label`` (1 normal,
            -1 outlier), ``p_value`` if the model is calibrated, and ``reason_1`` … ``reason_3``,
            the columns that make a row an outlier, None where there are fewer. A row that is not
            judged has the distance NaN and the label 0. The index is that of the input.
        """
        pd = needs("pandas", "mlflow")
        if not isinstance(model_input, pd.DataFrame | np.ndarray | dict):
            raise TypeError(
                "Rows to judge must be a pandas dataframe, a NumPy array or a dict of columns, not "
                f"{type(model_input).__name__}."
            )
        frame = pd.DataFrame(model_input)
        judge = Judge.of(self.model)
        found = self._judged(judge, frame) if judge.encoder is None else _table(judge, frame)
        columns = answers(found, _REASONS)
        names = answer_names(judge, _REASONS, "", ())
        table = {name: _plain(column) for name, column in zip(names, columns, strict=True)}
        table |= {name: pd.Series(table[name], frame.index, object) for name in names[-_REASONS:]}
        return pd.DataFrame(table, frame.index)

    def _judged(self, judge: Judge, frame: Any) -> Judgement:
        frame, features = self._own_columns(frame)
        rows = np.empty(frame.shape)
        if len(frame):
            rows = validate_table(self.model, frame, reset=False, native=False)
        return judge.called(features).rows(rows, explained=True)

    def _own_columns(self, frame: Any) -> tuple[Any, list[str]]:
        """Return the columns that the model judges, as it knows them, and what to call them."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:  # by position; named ones would make scikit-learn warn
            return frame.set_axis(range(frame.shape[1]), axis=1), list(map(str, frame.columns))
        require_columns("The input", names, frame.columns)
        return frame[list(names)], list(names)


def _table(judge: Judge, frame: Any) -> Judgement:
    assert judge.encoder is not None
    if not hasattr(judge.encoder, "feature_names_in_"):
        return judge.table(frame.to_numpy(), explained=True)
    gaps = [column.name for column in judge.encoder.columns_ if column.missing]
    require_columns("The input", [name for name in judge.inputs if name not in gaps], frame.columns)
    return judge.table(frame.reindex(columns=list(judge.inputs)), explained=True)


def _signature(model: Any, input_example: Any) -> Any:
    """Return what MLflow is to enforce, from rows that the model can judge, or from its columns."""
    models = needs("mlflow.models", "mlflow")
    types = needs("mlflow.types", "mlflow")
    if input_example is not None:
        ServedModel(model).predict(input_example)
        inputs = models.infer_signature(input_example).inputs
    elif hasattr(model, "encoder_") and hasattr(model, "feature_names_in_"):
        inputs = types.Schema(
            [_column(model.encoder_, plan) for plan in model.encoder_.inputs.used]
        )
    else:
        return None
    judge = Judge.of(model)
    kinds = [_KINDS[str(kind)] for kind in answer_types(judge, _REASONS)]
    answers = [
        types.ColSpec(kind, name, required=kind != "string")
        for kind, name in zip(kinds, answer_names(judge, _REASONS, "", ()), strict=True)
    ]
    return models.ModelSignature(inputs=inputs, outputs=types.Schema(answers))


def _column(encoder: TableEncoder, plan: ColumnPlan) -> Any:
    """Return a column of a Detector as MLflow describes it; one that had gaps is optional."""
    schema, counts = needs("mlflow.types.schema", "mlflow"), encoder.counts
    if plan.name not in counts.plan.names:
        return schema.ColSpec(_kind_of_context(encoder, plan), plan.name, required=False)
    k = counts.plan.names.index(plan.name)
    known, kind = counts.others.get(k), "string"
    if isinstance(known, DateCounts):
        kind = "string" if known.shapes.rows else "datetime"
    elif isinstance(known, TextCounts):
        kind = _kind_of_texts(list(known.values.counts))
    elif not isinstance(plan.form, NumberForm) or plan.form.plain:
        kind = "double"
    required = not counts.states(k)[CellState.MISSING]
    return schema.ColSpec(kind, plan.name, required=bool(required))


def _kind_of_context(encoder: TableEncoder, plan: ColumnPlan) -> Any:
    """Return the type of a column that says what is normal for a row."""
    assert encoder.context is not None
    if plan.role == "number":
        return "double" if not isinstance(plan.form, NumberForm) or plan.form.plain else "string"
    if plan.role == "date":
        return needs("mlflow.types.schema", "mlflow").AnyType()  # dates, or texts that are
    groups, names = encoder.context.groups, encoder.context.given.by
    if plan.name not in names:
        return "string"
    return _kind_of_texts([key[names.index(plan.name)] for key in groups.keys])


def _kind_of_texts(values: list[str]) -> Any:
    """Return "string"; "boolean" of truth values; and of names that are numbers, whatever comes."""
    if set(values) <= {"False", "True"}:
        return "boolean"
    if all(value.isdecimal() for value in values):
        return needs("mlflow.types.schema", "mlflow").AnyType()
    return "string"


def _plain(column: Any) -> Any:
    """Return an Arrow column as pandas has it: no null, but what JSON can tell apart."""
    if str(column.type) == "string":
        return column.to_numpy(zero_copy_only=False).astype(object)  # None, not NaN
    return (column.fill_null(0) if str(column.type) == "int8" else column).to_numpy(
        zero_copy_only=False
    )


def _as_list(requirements: Sequence[str] | str | None) -> list[str]:
    """Return requirements as a list; a string is the name of a file that holds them."""
    if isinstance(requirements, str):
        return [f"-r {requirements}"]
    return list(requirements or ())
