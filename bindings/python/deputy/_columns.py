# SPDX-License-Identifier: Apache-2.0
"""Runs a model on tables: for each row, the inputs come from columns and the outputs go to new ones."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from .batch import Runner, TensorInfo, apply_stage

RESULT = 'result'  # Column of a result that is not a dictionary.


class ColumnRunner:
    """columns: the column of the items, or a column per input by the input's name. errors: name of the
    new column with the text of a row's error, '' without one."""

    def __init__(self, runner: Runner, columns: Union[str, Mapping[str, str]], errors: str) -> None:
        self.runner, self._columns, self._errors = runner, columns, errors
        self._blank: Optional[dict[str, Any]] = None

    def run(self, table: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Returns the new columns. Rows with an error have the result of outputs that are zero."""
        results = self.runner.run_batch(self._items(table))
        rows = [_values(result.outputs) if result.ok else self._blank_values() for result in results]
        names = list(rows[0] if rows else self._blank_values())
        for row in rows:
            if row.keys() != set(names):
                raise ValueError(f'finish: expected the keys {sorted(names)} of the first row, found {sorted(row)}')
        columns = {name: [row[name] for row in rows] for name in names}
        check_names(names, [self._errors])
        columns[self._errors] = [str(result.error or '') for result in results]
        return columns

    def blank_row(self) -> dict[str, list[Any]]:
        """Returns the new columns for one row with outputs of zeros. Opens the model."""
        return {**{name: [value] for name, value in self._blank_values().items()}, self._errors: ['']}

    def _items(self, table: Mapping[str, Sequence[Any]]) -> Any:
        if isinstance(self._columns, str):
            return table[self._columns]
        inputs = list(self._columns)
        return [dict(zip(inputs, row)) for row in zip(*(table[self._columns[name]] for name in inputs))]

    def _blank_values(self) -> dict[str, Any]:
        if self._blank is None:
            zeros = {name: _zeros(info) for name, info in self.runner.outputs.items()}
            self._blank = _values(apply_stage('finish', self.runner.finish, zeros))
        return self._blank


def check_names(kept: Sequence[str], added: Sequence[str]) -> None:
    """Raises ValueError if a new column has the name of one that is kept."""
    for name in added:
        if name in kept:
            raise ValueError(f"column '{name}' exists: rename it, leave it out by `keep`, or choose other names by "
                             '`finish` or `errors`')


def _values(outputs: Any) -> dict[str, Any]:
    """Returns the values of a row by column. Arrays lose their first dimension if it is 1."""
    values = dict(outputs) if isinstance(outputs, Mapping) else {RESULT: outputs}
    return {name: value[0] if isinstance(value, np.ndarray) and value.shape[:1] == (1,) else value
            for name, value in values.items()}


def _zeros(info: TensorInfo) -> Any:
    return np.full(info.shape, b'', object) if info.dtype is np.bytes_ else np.zeros(info.shape, info.dtype)
