# SPDX-License-Identifier: Apache-2.0
"""Apache Spark: runs a model by DataFrame.mapInPandas (docs/scale.md). Needs the wheel's extra `spark`.

    run = mapper('model.tflite', columns='path', read=read_image, keep=['path'])
    results = table.mapInPandas(run, run.schema(table))
"""
from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._columns import ColumnRunner, check_names
from .batch import Report, Runner

__all__ = ['Mapper', 'mapper', 'report_accumulator']

_TYPES = {np.float16: 'float', np.float32: 'float', np.float64: 'double', np.int8: 'tinyint', np.uint8: 'smallint',
          np.int16: 'smallint', np.uint16: 'int', np.int32: 'int', np.uint32: 'bigint', np.int64: 'bigint',
          np.bool_: 'boolean', np.str_: 'string', np.bytes_: 'binary', np.object_: 'binary'}


def mapper(model: Union[str, os.PathLike[str], bytes], *, columns: Union[str, Mapping[str, str]],
           keep: Sequence[str] = (), errors: str = 'error', reports: Any = None, **options: Any) -> Mapper:
    """Returns a function for DataFrame.mapInPandas.

    model, options: the arguments of deputy.batch.Runner.
    columns: the column of the items, or a dictionary with the column of each input, by its name.
    keep: the columns of the table that the result has, too.
    errors: the column with the text of a row's error, '' without one. A row with an error has what
        `finish` returns for outputs of zeros, or these zeros.
    reports: an accumulator of report_accumulator(), which receives the counts of each batch.

    The new columns are the outputs by name, as flat lists, or the items of the dictionary that
    `finish` returns, or `result` for what else it returns.

    A worker process opens the model once for all tasks that it runs. A delegate that ends its process
    ends one worker, whose tasks Spark runs again; with `isolate` it ends only its own process. A
    worker runs one task at a time; see Runner for pickle and fork.
    """
    return Mapper(ColumnRunner(Runner(model, **options), columns, errors), keep, reports)


class Mapper:
    """The function that mapper() returns."""

    def __init__(self, rows: ColumnRunner, keep: Sequence[str], reports: Any) -> None:
        self._rows, self._keep, self._reports = rows, list(keep), reports
        self._key = uuid.uuid4().hex  # Spark unpickles this object for each task.

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Yields the kept and the new columns of each frame."""
        rows = self._rows_of_process()
        for frame in frames:
            added = rows.run(frame)
            if self._reports is not None:
                self._reports.add(rows.runner.take_report())
            yield type(frame)({**{name: list(frame[name]) for name in self._keep},
                               **{name: [_cell(value) for value in values] for name, values in added.items()}})

    def schema(self, table: Any) -> str:
        """Returns the result's columns for mapInPandas. `table` is the DataFrame with the columns of
        `keep`. Opens the model."""
        kept = [(name, table.schema[name].dataType.simpleString()) for name in self._keep]
        added = [(name, _type_of(values[0])) for name, values in self._rows.blank_row().items()]
        check_names(self._keep, [name for name, _ in added])
        return ', '.join(f'`{name}` {kind}' for name, kind in kept + added)

    def _rows_of_process(self) -> ColumnRunner:
        if self._key not in _opened:
            _opened.clear()
            _opened[self._key] = self._rows
        return _opened[self._key]


_opened: dict[str, ColumnRunner] = {}


class _ReportParam:
    """Adds reports in an accumulator of Spark."""

    def zero(self, value: Report) -> Report:
        return Report()

    def addInPlace(self, total: Report, report: Report) -> Report:
        total.add(report)
        return total


def report_accumulator(context: Any) -> Any:
    """Returns an accumulator for `reports` of mapper(); its `value` is the sum. `context` is the
    SparkContext. Spark may add the reports of a task that it runs again."""
    return context.accumulator(Report(), _ReportParam())


def _cell(value: Any) -> Any:
    """Returns the value with a type that pandas and Arrow convert to one of Spark."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.ndim else value.item()
    return value.item() if isinstance(value, np.generic) else value


def _type_of(value: Any) -> str:
    array = np.asarray(value)
    kind: Optional[str] = _TYPES.get(array.dtype.type)
    if kind is None:
        raise ValueError(f'expected a number, a text, bytes or an array of them, found {value!r}')
    return f'array<{kind}>' if array.ndim else kind
