# SPDX-License-Identifier: Apache-2.0
"""Runs one model on many items, for programs and for engines that distribute work.

    from deputy.batch import Runner

    with Runner('model.tflite', delegates=['gpu']) as runner:
        for result in runner.run(images):
            print(result.outputs if result.ok else result.error)
        print(runner.report())

docs/python.md has the details.

Items run one by one, because batches are no faster on this library's kernels. Throughput comes from
processes, one Runner each, or from threads that call one Runner.
"""
from __future__ import annotations

import dataclasses
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Optional, Union

import numpy as np

from .interpreter import Interpreter, load_delegate

__all__ = ['DelegateSettings', 'ItemError', 'Report', 'Result', 'Runner', 'TensorInfo', 'merge_reports']

# A delegate's library, by name or path, or a pair of it and its options.
DelegateSettings = Union[str, tuple[str, Mapping[str, Any]]]
MAX_TEXTS = 20  # Upper bound on the distinct texts of a report.
OTHER_TEXTS = 'other texts'


class ItemError(RuntimeError):
    """An item failed. `stage` is 'read' (the function `read` failed), 'input' (names, shapes or types
    are not the model's), 'run' or 'finish' (the function `finish` failed); `text` is the reason."""

    def __init__(self, stage: str, text: str) -> None:
        super().__init__(stage, text)
        self.stage, self.text = stage, text

    def __str__(self) -> str:
        return f'{self.stage}: {self.text}'


@dataclasses.dataclass(frozen=True)
class Result:
    """The outputs of one item, or its error. `outputs` are arrays by name, or what `finish` returned;
    None after an error. `degraded` is True if the CPU computed nodes of a delegate."""
    outputs: Any
    error: Optional[ItemError] = None
    degraded: bool = False

    @property
    def ok(self) -> bool:
        """True without an error."""
        return self.error is None

    def get(self) -> Any:
        """Returns the outputs; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.outputs


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """Shape and numpy type of an input or output."""
    shape: tuple[int, ...]
    dtype: Any


@dataclasses.dataclass
class Report:
    """Counts of one worker, or of several after merge_reports(). An item that an engine runs again
    is counted again.

    items, failed, degraded: numbers of items, of those with an error, and of those in which the CPU
        computed nodes of a delegate or a delegate was skipped.
    recomputed_nodes: number of times that the CPU's results were used for a delegate's node.
    verified, wrong: numbers of runs of partitions, see `verification` of Runner.
    read_seconds, run_seconds, open_seconds: elapsed time in `read`, in the model and `finish`, and
        in opening the model with its delegates; the sum over all workers and threads.
    node_runs: number of executed nodes by the name of the backend to which they are assigned: 'CPU',
        a delegate, or 'sandbox' for delegates with `isolate`.
    workers: number of items by worker, named HOST:PROCESS.
    errors, skipped_delegates: number of occurrences by text, for at most MAX_TEXTS texts each.
    """
    items: int = 0
    failed: int = 0
    degraded: int = 0
    recomputed_nodes: int = 0
    verified: int = 0
    wrong: int = 0
    read_seconds: float = 0.0
    run_seconds: float = 0.0
    open_seconds: float = 0.0
    node_runs: dict[str, int] = dataclasses.field(default_factory=dict)
    workers: dict[str, int] = dataclasses.field(default_factory=dict)
    errors: dict[str, int] = dataclasses.field(default_factory=dict)
    skipped_delegates: dict[str, int] = dataclasses.field(default_factory=dict)

    def add(self, other: Report) -> None:
        """Adds the counts of another report."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, bound in _TABLES.items():
            for key, count in getattr(other, name).items():
                _count(getattr(self, name), key, count, bound)

    def as_dict(self) -> dict[str, Any]:
        """Returns the report for JSON; Report(**dictionary) reads it."""
        return dataclasses.asdict(self)


_NUMBERS = ('items', 'failed', 'degraded', 'recomputed_nodes', 'verified', 'wrong', 'read_seconds',
            'run_seconds', 'open_seconds')
# Tables of a report with the upper bound on their entries.
_TABLES = {'node_runs': None, 'workers': None, 'errors': MAX_TEXTS, 'skipped_delegates': MAX_TEXTS}


def merge_reports(reports: Iterable[Report]) -> Report:
    """Returns the sum of several workers' reports."""
    total = Report()
    for report in reports:
        total.add(report)
    return total


def _count(counts: dict[str, int], key: str, number: int, bound: Optional[int] = None) -> None:
    if bound is not None and key not in counts and len(counts) >= bound:
        key = OTHER_TEXTS
    counts[key] = counts.get(key, 0) + number


@dataclasses.dataclass(frozen=True)
class _Settings:
    model: Union[str, bytes]
    delegates: tuple[tuple[str, dict[str, Any]], ...]
    threads: int
    policy: Optional[str]
    precision: Optional[str]
    verification: Any
    isolate: Union[bool, str]
    weight_cache: Optional[str]
    shapes: dict[str, tuple[int, ...]]
    read: Optional[Callable[[Any], Any]]
    finish: Optional[Callable[[dict[str, Any]], Any]]


class Runner:
    """A model with delegates, and the interpreters that run it.

    model: a file, or its bytes. A file must exist at the same path on each machine.
    delegates: libraries by name or path, or pairs of a library and a dictionary of options; applied
        in order (deputy.interpreter.load_delegate).
    threads: number of threads of each interpreter.
    policy: 'hot', with which the CPU replaces a delegate that fails and the report counts the item as
        degraded; 'tflite', with which the item fails; None selects DEPUTY_DELEGATE_POLICY.
    precision, verification, weight_cache: as in deputy.interpreter.Interpreter. Under
        'tflite', an item fails if verification finds a wrong result.
    isolate: True or a profile ('device', 'strict', 'none') runs each delegate in a process of its
        own; a crash there does not end this process (docs/sandbox.md).
    shapes: shapes of inputs by name, for models whose inputs have unknown dimensions.
    read: a function that turns an item into the inputs, for example a path into an image.
    finish: a function of the outputs by name, whose result replaces them, for example a class.

    An item is an array for a model of one input, or a dictionary of arrays by input name. An array
    has the type of its input and the same shape, or the shape without the first dimension if that is
    1. Outputs have the model's shapes and are copies. Names are those of the tensors; an input that has
    none, or one that an earlier input has, is input_0, input_1, …, likewise output_0, ….

    Items are independent: variable tensors are reset before each one. Resources, such as hash tables
    and variables of VAR_HANDLE, keep their contents in an interpreter.

    Pickle: the settings are pickled, not the interpreters; `read` and `finish` must be functions of
    modules, unless the engine pickles by value. The model is opened in the process that first uses
    it. Fork and spawn: a forked child opens the model again. Threads: any number may call one
    Runner. An interpreter runs one call at a time, so each thread uses an interpreter of its own;
    they share the model.
    """

    def __init__(self, model: Union[str, os.PathLike[str], bytes], *,
                 delegates: Sequence[DelegateSettings] = (), threads: int = 1,
                 policy: Optional[str] = 'hot', precision: Optional[str] = None,
                 verification: Any = None, isolate: Union[bool, str] = False,
                 weight_cache: Union[str, os.PathLike[str], None] = None,
                 shapes: Optional[Mapping[str, Sequence[int]]] = None,
                 read: Optional[Callable[[Any], Any]] = None,
                 finish: Optional[Callable[[dict[str, Any]], Any]] = None) -> None:
        if isinstance(delegates, str):
            raise TypeError(f'delegates: expected a sequence, found the text {delegates!r}')
        # Workers may have another current directory.
        self._settings = _Settings(
            model if isinstance(model, bytes) else os.path.abspath(model),
            tuple(_library_and_options(delegate) for delegate in delegates), threads, policy,
            precision, verification, isolate,
            None if weight_cache is None else os.path.abspath(weight_cache),
            {name: tuple(shape) for name, shape in (shapes or {}).items()}, read, finish)
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Session] = []
        self._report = Report()
        self._process = os.getpid()  # Set last, because other threads read it without a lock.

    def __getstate__(self) -> _Settings:
        return self._settings

    def __setstate__(self, settings: _Settings) -> None:
        self._settings = settings
        self._reset()

    def __enter__(self) -> Runner:
        self.open()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    @property
    def model(self) -> Union[str, bytes]:
        """The path or content of the model."""
        return self._settings.model

    def with_model(self, model: Union[str, os.PathLike[str], bytes]) -> Runner:
        """Returns another Runner with the same settings, for this model."""
        other = Runner(model)
        other._settings = dataclasses.replace(self._settings, model=other.model)
        return other

    @property
    def finish(self) -> Optional[Callable[[dict[str, Any]], Any]]:
        """The function that converts outputs, or None."""
        return self._settings.finish

    @property
    def inputs(self) -> dict[str, TensorInfo]:
        """The inputs by name. Opens the model."""
        return self._with_session(lambda session: _infos(session.inputs))

    @property
    def outputs(self) -> dict[str, TensorInfo]:
        """The outputs by name, without `finish`. Opens the model."""
        return self._with_session(lambda session: _infos(session.outputs))

    def open(self) -> None:
        """Opens the model with its delegates, if this process has not yet. Raises the errors of
        Interpreter and load_delegate(). run() calls it."""
        self._with_session(lambda session: None)

    def close(self) -> None:
        """Deletes the interpreters, those of running calls when these complete; a later call opens new
        ones."""
        with self._lock:
            self._idle = []

    def run(self, items: Iterable[Any]) -> Iterator[Result]:
        """Yields a Result for each item, in order. Errors of items are in their results; a model or
        delegate that cannot be opened is an exception."""
        for item in items:
            yield self.run_one(item)

    def run_batch(self, items: Iterable[Any]) -> list[Result]:
        """Returns the results of run() as a list."""
        return [self.run_one(item) for item in items]

    def run_one(self, item: Any) -> Result:
        """Returns the Result of one item."""
        return self._with_session(lambda session: self._run(session, item))

    def report(self) -> Report:
        """Returns the counts of this object in this process."""
        self._check_process()
        with self._lock:
            return merge_reports([self._report])

    def take_report(self) -> Report:
        """Returns the counts since the last call and sets them to zero."""
        self._check_process()
        with self._lock:
            taken, self._report = self._report, Report()
        return taken

    def _run(self, session: _Session, item: Any) -> Result:
        counts = Report(items=1, workers={_worker(): 1})
        result = session.run(item, counts)
        if result.error is not None:
            counts.failed = 1
            counts.errors = {str(result.error): 1}
        with self._lock:
            self._report.add(counts)
        return result

    def _with_session(self, function: Callable[[_Session], Any]) -> Any:
        """Calls the function with an interpreter that no other thread uses."""
        self._check_process()
        with self._lock:
            idle = self._idle  # close() replaces it.
            session = idle.pop() if idle else None
        if session is None:
            session = self._open_session()
        try:
            return function(session)
        finally:
            with self._lock:
                idle.append(session)

    def _open_session(self) -> _Session:
        begin = time.perf_counter()
        session = _Session(self._settings)
        counts = Report(open_seconds=time.perf_counter() - begin)
        for failure in session.skipped_delegates():
            _count(counts.skipped_delegates, failure, 1, MAX_TEXTS)
        with self._lock:
            self._report.add(counts)
        return session

    def _check_process(self) -> None:
        """Starts without interpreters after a fork. The parent's are kept and not deleted in the child,
        because their delegates may have threads or processes in the parent."""
        if self._process == os.getpid():
            return
        with _fork_lock:
            if self._process != os.getpid():
                _inherited.extend(self._idle)
                self._reset()


_inherited: list[_Session] = []
_fork_lock = threading.Lock()


def _renew_fork_lock() -> None:
    global _fork_lock
    _fork_lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_fork_lock)


class _Session:
    """One interpreter with delegates of its own. One thread uses it at a time."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        delegates = [_load(library, options, settings.isolate)
                     for library, options in settings.delegates]
        path, content = ((None, settings.model) if isinstance(settings.model, bytes) else
                         (settings.model, None))
        self._interpreter = Interpreter(
            path, content, delegates, settings.threads, delegate_policy=settings.policy,
            weight_cache=settings.weight_cache, precision=settings.precision,
            verification=settings.verification)
        self._resize(settings.shapes)
        self._interpreter.allocate_tensors()
        self.inputs = _named(self._interpreter.get_input_details(), 'input')
        self.outputs = _named(self._interpreter.get_output_details(), 'output')
        self._has_variables = self._interpreter._has_variables()
        self._has_delegates = bool(delegates)
        self._status = self._interpreter.delegation_status()
        self._verified = self._interpreter.verification_status()
        self._node_runs = self._assignment()

    def skipped_delegates(self) -> list[str]:
        return [f"{each['name']}: {each['failure']}"
                for each in self._interpreter.explain()['delegates'] if not each['applied']]

    def run(self, item: Any, counts: Report) -> Result:
        """Runs one item and adds to `counts` everything except the result's error."""
        begin = time.perf_counter()
        try:
            inputs = apply_stage('read', self._settings.read, item)
        except ItemError as error:
            return Result(None, _copy(error))
        finally:
            counts.read_seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        try:
            self._set_inputs(inputs)
            outputs = apply_stage('finish', self._settings.finish, self._invoke(counts))
            return Result(outputs, None, counts.degraded > 0)
        except ItemError as error:
            return Result(None, _copy(error), counts.degraded > 0)
        finally:
            counts.run_seconds = time.perf_counter() - begin

    def _resize(self, shapes: dict[str, tuple[int, ...]]) -> None:
        inputs = _named(self._interpreter.get_input_details(), 'input')
        for name, shape in shapes.items():
            if name not in inputs:
                raise ValueError(f'shapes: expected {_names(inputs)}, found {name!r}')
            self._interpreter.resize_tensor_input(inputs[name]['index'], shape)

    def _assignment(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for node in self._interpreter.explain()['nodes']:
            if node['subgraph'] == 0:
                _count(counts, node['run_by'], 1)
        return counts

    def _set_inputs(self, item: Any) -> None:
        inputs = self.inputs
        if not isinstance(item, Mapping):
            if len(inputs) != 1:
                raise ItemError('input', f'expected a dictionary with {_names(inputs)}, found '
                                         f'{type(item).__name__}')
            item = {next(iter(inputs)): item}
        if item.keys() != inputs.keys():
            raise ItemError('input', f'expected {_names(inputs)}, found {_names(item)}')
        for name, value in item.items():
            try:
                self._interpreter.set_tensor(inputs[name]['index'], _as_input(value, inputs[name]))
            except Exception as error:  # numpy raises errors of the item's own types, too.
                raise ItemError('input', f"'{name}': {_text_of(error)}") from error

    def _invoke(self, counts: Report) -> dict[str, Any]:
        """Returns the outputs by name."""
        try:
            if self._has_variables:
                self._interpreter.reset_all_variables()
            self._interpreter.invoke()
            outputs = {name: self._interpreter.get_tensor(detail['index'])
                       for name, detail in self.outputs.items()}
        except (RuntimeError, ValueError) as error:
            raise ItemError('run', str(error)) from error
        finally:
            if self._has_delegates:
                self._count_delegation(counts)
        counts.node_runs = self._node_runs
        return outputs

    def _count_delegation(self, counts: Report) -> None:
        before, self._status = self._status, self._interpreter.delegation_status()
        counts.degraded = int(self._status['degraded'])
        counts.recomputed_nodes = self._status['recomputed_nodes'] - before['recomputed_nodes']
        if self._status['delegates_skipped'] != before['delegates_skipped'] or (
                self._status['degraded'] != before['degraded']):
            self._node_runs = self._assignment()
        if not self._settings.verification:
            return
        earlier, self._verified = self._verified, self._interpreter.verification_status()
        counts.verified = self._verified['verified'] - earlier['verified']
        counts.wrong = self._verified['wrong'] - earlier['wrong']
        if counts.wrong and self._status['policy'] == 'tflite':
            first = self._verified['first_wrong']
            raise ItemError('run', f"a delegate's result is wrong; the first one: tensor "
                                   f"{first['tensor']}, element {first['element']}: expected "
                                   f"{first['expected']:g}, found {first['found']:g}")


def _library_and_options(delegate: DelegateSettings) -> tuple[str, dict[str, Any]]:
    library, options = (delegate, {}) if isinstance(delegate, (str, os.PathLike)) else delegate
    library = os.fspath(library)
    return os.path.abspath(library) if os.sep in library else library, dict(options)


def _load(library: str, options: Mapping[str, Any], isolate: Union[bool, str]) -> Any:
    if not isolate:
        return load_delegate(library, options)
    sandbox = {'library': library, 'profile': 'device' if isolate is True else isolate}
    if options:
        sandbox['options'] = ';'.join(f'{_escaped(key)}={_escaped(value)}'
                                      for key, value in options.items())
    return load_delegate('sandbox', sandbox)


def _escaped(text: Any) -> str:
    return str(text).replace('\\', '\\\\').replace(';', '\\;')


def _named(details: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Returns the details by name, and by `kind` with a number for a tensor without a name of its own."""
    named: dict[str, dict[str, Any]] = {}
    for i, detail in enumerate(details):
        name = detail['name']
        if not name or name in named:
            name = f'{kind}_{i}'
        while name in named:
            name += '_'
        named[name] = detail
    return named


def _infos(details: dict[str, dict[str, Any]]) -> dict[str, TensorInfo]:
    return {name: TensorInfo(tuple(map(int, detail['shape'])), detail['dtype'])
            for name, detail in details.items()}


def _names(names: Iterable[Any]) -> str:
    return ', '.join(repr(name) for name in names) or 'no input'


def _as_input(value: Any, detail: dict[str, Any]) -> Any:
    array = np.asarray(value)
    return array[np.newaxis] if array.ndim == len(detail['shape']) - 1 else array


def _copy(error: ItemError) -> ItemError:
    """Returns the error without its traceback, which would keep the item in memory."""
    return ItemError(error.stage, error.text)


def apply_stage(stage: str, function: Optional[Callable[[Any], Any]], value: Any) -> Any:
    """Returns function(value), or the value without a function; an exception becomes an ItemError."""
    if function is None:
        return value
    try:
        return function(value)
    except Exception as error:
        raise ItemError(stage, f'{type(error).__name__}: {_text_of(error)}') from error


def _text_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # The error's __str__ failed.
        return 'the error has no text'


def _worker() -> str:
    return f'{_HOST}:{os.getpid()}'


_HOST = socket.gethostname()
