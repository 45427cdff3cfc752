"""What somebody is working on: one table, one model, one table of new rows."""

from __future__ import annotations

import copy
import os
import secrets
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from refold.app.checking import CheckedRows
from refold.app.comparing import compare_models, other_model
from refold.app.downloads import MAKING
from refold.app.jobs import CancelledError, Job, Worker
from refold.app.learning import TrainedModel, as_before, learned
from refold.app.own_rules import roles_learned
from refold.app.profile import Choice, profile_of
from refold.app.project import (
    MOST_CHECKED,
    PROJECTS,
    CheckedFile,
    Project,
    open_project,
    save_project,
    without_rows,
)
from refold.app.reading import TableFile, as_control
from refold.app.samples import SAMPLES
from refold.app.state import CHECK, TABLE, Notice, WorkState, owned
from refold.app.tables import MOST_CELLS, KeptTable, read_kept
from refold.base.errors import SHOW_TRACEBACK, UserError, sentence_of
from refold.checks import limits
from refold.decisions.rules_reading import load_rules, read_rules
from refold.report.parts import plural
from refold.service import RequestError

Thing = TypeVar("Thing")
Work = Callable[[WorkState, Job], tuple[WorkState, str]]


class Workspace:
    """One person's work, as long as the process runs. A failure changes nothing.

    Parameters
    ----------
    folder : Path
        For files that are on their way; whoever made it removes it.
    most_bytes, most_cells : int
        How large files and tables may be.
    """

    def __init__(
        self, folder: Path, *, most_bytes: int = 512 * 2**20, most_cells: int = MOST_CELLS
    ) -> None:
        self.folder, self.most_bytes, self.most_cells = folder, most_bytes, most_cells
        self.worker, self.state, self.news = Worker(), WorkState(), Notice("")
        self.version = 0  # counts up when the table, the model or the new rows are others
        self._shown_on = ""  # the page that shows the news

    def new_file(self) -> Path:
        """Return a name for a file that is on its way."""
        return self.folder / secrets.token_hex(8)

    def check_idle(self) -> None:
        """Refuse to begin something while something else is under way."""
        job = self.worker.job
        if job is not None:
            raise RequestError(409, f"One thing at a time. Under way: {job.what}.")

    def check_current(self, version: str) -> None:
        """Refuse what a page asks for that was opened before the table or the model changed."""
        self.check_idle()  # while nothing is under way, the version stays
        if version != str(self.version):
            raise RequestError(
                409,
                "The table, the model or the new rows have changed since this page was opened, "
                "perhaps in another tab. Nothing was done: open the page again.",
            )

    def news_on(self, page: str) -> Notice:
        """Return what came of the last thing done; the first page to show it is the only one."""
        if self.worker.job is None and self.news.text:
            self._shown_on = self._shown_on or page
            if page != self._shown_on:
                self.news = replace(self.news, text="")
        return self.news

    def begin(self, what: str, work: Work, rules: Mapping[str, Any] | None = None) -> None:
        """Begin something that takes a while; if it fails, `rules` are shown again."""

        def run(job: Job) -> None:
            failed, self.news = self.news.file, Notice("")
            try:
                state, said = work(self.state, job)
                job.check()  # until the last moment
                news = Notice(said)
            except CancelledError:
                state = self.state
                news = Notice("Cancelled: nothing was changed.", rules=rules)
            except Exception as error:
                if os.environ.get(SHOW_TRACEBACK):
                    traceback.print_exception(error)
                mendable = job.file is not None and job.file.mendable
                again = job.file if mendable else None
                news = Notice(_sentence(error), bad=True, file=again, rules=rules)
                state = self.state
            self._become(state, news, failed, job.file)

        self.check_idle()
        if not self.worker.start(what, run):  # somebody was quicker
            raise RequestError(409, "One thing at a time. Try again in a moment.")

    def open_file(self, path: Path, name: str, *, keep: bool = False) -> None:
        """Open a table to learn from; its file is removed in the end unless it is to be kept."""
        self._open(TableFile(path, name, TABLE, ours=not keep))

    def _open(self, file: TableFile) -> None:
        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            table = self._read(file, job)
            job.says(f"Looking at {plural(table.rows, 'row')}")
            choice = Choice(roles=dict.fromkeys(table.nested, "ignore"))
            look = profile_of(table, choice)
            if look.id_guess:  # it is not learned as it is
                choice = replace(choice, id_column=look.id_guess)
                look = replace(look, choice=choice)
            state = replace(state, table=table, choice=choice, look=look)
            return state, " ".join(table.notes)

        self.begin(f"Reading {file.name}", work)

    def open_sample(self, key: str) -> None:
        """Open one of the samples to learn from."""
        self.check_idle()
        if key not in SAMPLES:
            raise RequestError(404, "There is no such sample.")
        path = SAMPLES[key].write(self.new_file(), new=False)
        self._open(TableFile(path, f"{key}.csv", TABLE, sample=key))

    def file_of(self, step: str) -> TableFile | None:
        """Return the file of a step that may be read again: one that failed, or that was read."""
        failed = self.news.file
        return failed if failed and failed.step == step else self.state.file_of(step)

    def read_again(self, file: TableFile) -> None:
        """Read a file again, in another way."""
        (self._check_rows if file.step == CHECK else self._open)(file)

    def choose(
        self, roles: Mapping[str, str], target: tuple[str, str] | None, id_column: str = ""
    ) -> None:
        """Say what columns are, which rows are normal, and which column names them."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            table = _there(state.table, "There is no table yet.")
            wrong = [name for name in roles if name not in table.columns]
            if wrong:
                raise UserError("The page is older than the table: nothing was changed.")
            choice = replace(state.choice, roles=dict(roles), target=target, id_column=id_column)
            return replace(state, choice=choice, look=profile_of(table, choice)), ""

        self.begin("Looking at the table", work)

    def open_rules(self, path: Path, name: str) -> None:
        """Take the rules of a file instead of those there are; they count when it is learned."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            look = _there(state.look, "There is no table yet.")
            try:
                rules = load_rules(path, name)
            finally:
                path.unlink(missing_ok=True)
            choice = replace(state.choice, rules=rules)
            roles, known = roles_learned(look.columns, choice), [c.name for c in look.columns]
            read_rules(rules).check(roles, known, context=bool(choice.context))
            return replace(state, choice=choice), (
                f"{name}: the form below has its rules. They count once you press Learn."
            )

        self.begin(f"Reading {name}", work)

    def learn(self, choice: Choice) -> None:
        """Learn from the table what was chosen of it; rules that are refused are not forgotten."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            table = _there(state.table, "There is no table yet.")
            trained = as_before(learned(table, choice, state.look, job), state.trained)
            state = replace(
                state, choice=choice, trained=trained, blind=None, comparison=None, files={}
            )
            said = f"Learned from {plural(trained.rows, 'row')}."
            if state.checked is None:
                return state, said
            job.says("Judging the new rows again", state.checked.table.rows)
            try:
                checked = CheckedRows.of(trained, state.checked.table, job)
            except ValueError as error:
                return state.with_rows(None), f"{said} The new rows do not fit: {error}"
            return state.with_rows(checked), said

        self.begin("Learning", work, choice.rules)

    def check_file(self, path: Path, name: str) -> None:
        """Judge the rows of a file."""
        self._check_rows(TableFile(path, name, CHECK))

    def _check_rows(self, file: TableFile) -> None:
        self._check(f"Reading {file.name}", lambda state, job: self._read(file, job))

    def check_sample(self) -> None:
        """Judge the new rows of the sample that was opened."""
        self.check_idle()
        key = self.state.sample
        if not key:
            raise RequestError(404, "The table is not a sample.")
        path = SAMPLES[key].write(self.new_file(), new=True)
        self._check_rows(TableFile(path, f"new-{key}.csv", CHECK, sample=key))

    def check_rest(self) -> None:
        """Judge the rows of the table that were not learned."""

        def rest(state: WorkState, job: Job) -> KeptTable:
            trained = _there(state.trained, "Nothing is learned yet.")
            others = ~trained.choice.chosen(trained.table)
            if not others.any():
                raise UserError("All rows of the table were learned.")
            return trained.table.only(others, f"{trained.table.name}, the other rows")

        self._check("Judging the other rows", rest)

    def _check(self, what: str, bring: Callable[[WorkState, Job], KeptTable]) -> None:
        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.")
            table = bring(state, job)
            job.says(f"Judging {plural(table.rows, 'row')}", table.rows)
            checked = CheckedRows.of(trained, table, job)
            state = replace(state, comparison=None, files={}).with_rows(checked)
            assert state.drift is not None
            now = CheckedFile.of(checked, len(state.drift.differing()))
            history = (*state.history, now)[-MOST_CHECKED:]
            return replace(state, history=history), " ".join(table.notes)

        self.begin(what, work)

    def use_rate(self, rate: float) -> None:
        """Choose the share of normal rows that may be called not normal."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.").at(rate)
            checked = None if state.checked is None else state.checked.at(trained, job)
            said = f"About {100 * rate:.3g} % of normal rows will be called outliers."
            return replace(
                state, trained=trained, checked=checked, blind=None, comparison=None, files={}
            ), said

        self.begin("Choosing the rate", work)

    def accept(self, row: int) -> None:
        """Learn that a row, by its place, is normal after all."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            checked = _there(state.checked, "There are no new rows yet.")
            model = copy.copy(checked.trained.in_use)
            model.accept(checked.table.training.table.slice(row, 1))
            said = f"{checked.full_name(row)}: {model.feedback_[-1]}"
            return _again(state, checked.trained.with_model(model), said, job)

        self.begin("Learning that the row is normal", work)

    def undo(self) -> None:
        """Take the last word on a row back."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.")
            model = copy.copy(trained.model).undo_feedback()
            return _again(state, trained.with_model(model), "Taken back.", job)

        self.begin("Taking it back", work)

    def find_limits(self) -> None:
        """Find out what would be missed."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.")
            return replace(state, blind=limits(trained.in_use)), ""

        self.begin("Shifting each column until it is noticed", work)

    def prepare(self, name: str) -> None:
        """Make a file to be downloaded."""
        if name not in MAKING and name not in PROJECTS:
            raise RequestError(404, "There is no such file.")

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.")
            out = self.new_file()
            if name in PROJECTS:
                save_project(trained, state.checked, state.history, out, tables=PROJECTS[name])
            else:
                MAKING[name](trained, state.checked, out, job)
            return replace(state, files={**state.files, name: out}), f"{name} is ready."

        self.begin(f"Writing {name}", work)

    def open_project(self, path: Path, name: str) -> None:
        """Go on with a project that was saved."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            files = []

            def new_file() -> Path:
                files.append(self.new_file())
                return files[-1]

            try:
                state = self._opened(open_project(path, name, new_file, self.most_bytes), job)
            except BaseException:
                for file in files:
                    file.unlink(missing_ok=True)
                raise
            finally:
                path.unlink(missing_ok=True)
            return state, f"{name}: the project is open."

        self.begin(f"Opening {name}", work)

    def _opened(self, project: Project, job: Job) -> WorkState:
        table, look, choice = None, None, project.choice
        if project.table is not None:
            table = self._read(project.table, job)
            job.says(f"Looking at {plural(table.rows, 'row')}")
            look = profile_of(table, choice)
        of = without_rows(project) if table is None else table
        trained = TrainedModel(of, choice, project.rows, project.model, [], "", project.rate)
        state = WorkState(table, choice, look, trained, history=project.history)
        if project.new is None:
            return state
        new = self._read(project.new, job)
        job.says(f"Judging {plural(new.rows, 'row')}", new.rows)
        checked = CheckedRows.of(trained, new, job)
        return state.with_rows(checked)

    def compare_with(self, path: Path, name: str) -> None:
        """Compare the model with another one: that of a project, or a model file."""

        def work(state: WorkState, job: Job) -> tuple[WorkState, str]:
            trained = _there(state.trained, "Nothing is learned yet.")
            try:
                other = other_model(path, name, self.new_file, self.most_bytes)
            finally:
                path.unlink(missing_ok=True)
            job.says("Judging rows by both models")
            return replace(
                state, comparison=compare_models(trained, state.checked, other, name)
            ), ""

        self.begin(f"Opening {name}", work)

    def forget(self) -> None:
        """Begin anew."""
        self.check_idle()
        self._become(WorkState(), Notice(""), self.news.file)

    def _become(self, state: WorkState, news: Notice, *used: TableFile | None) -> None:
        """Take another state; files that were used, and nobody needs any more, are removed."""
        before = self.state.paths | owned(*used)
        self.version += state.subject != self.state.subject
        self.state, self.news, self._shown_on = state, news, ""
        for path in before - state.paths - owned(news.file):
            path.unlink(missing_ok=True)

    def _read(self, file: TableFile, job: Job) -> KeptTable:
        return read_kept(file, job, most=self.most_cells)


def _again(state: WorkState, trained: TrainedModel, said: str, job: Job) -> tuple[WorkState, str]:
    """Judge the new rows by a model that has heard something."""
    state = state.with_model(trained)
    if state.checked is None:
        return state, said
    job.says("Judging the new rows again", state.checked.table.rows)
    before = state.checked.found.outlier
    checked = CheckedRows.of(trained, state.checked.table, job)
    after = checked.found.outlier
    gone, come = np.count_nonzero(before & ~after), np.count_nonzero(after & ~before)
    said += (
        f" Not normal are {plural(int(after.sum()), 'row')} now, {int(before.sum()):,} before: "
        f"{gone:,} fewer and {come:,} more."
    )
    return state.with_rows(checked), said


def _there(thing: Thing | None, otherwise: str) -> Thing:
    if thing is None:
        raise UserError(otherwise)
    return thing


def _sentence(error: Exception) -> str:
    """Return what to tell; what the library refuses, with reasons, is no bug."""
    if isinstance(error, UserError):
        return error.render(as_control)
    refused = isinstance(error, ValueError | TypeError | RequestError)
    return str(error) if refused else sentence_of(error)
