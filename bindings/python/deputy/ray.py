# SPDX-License-Identifier: Apache-2.0
"""Ray Data: runs a model on the batches of a dataset (docs/scale.md). Needs the wheel's extra `ray`.

    results = dataset.map_batches(Predictor, fn_constructor_args=('model.tflite',),
                                  fn_constructor_kwargs={'columns': 'image'}, batch_size=64,
                                  num_cpus=1, compute=ray.data.ActorPoolStrategy(size=8))
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._columns import ColumnRunner, check_names
from .batch import Report, Runner

__all__ = ['Predictor', 'report_collector']


class Predictor:
    """A class for Dataset.map_batches with batches of numpy arrays (the default). Each actor opens the
    model once and runs its rows one by one.

    model, options: the arguments of deputy.batch.Runner.
    columns: the column of the items, or a dictionary with the column of each input, by its name.
    keep: the columns of the batch that the result has, too; by default all.
    errors: the column with the text of a row's error, '' without one. A row with an error has what
        `finish` returns for outputs of zeros, or these zeros.
    reports: an actor of report_collector(), which receives the counts of each batch.

    The new columns are the outputs by name, without a first dimension of 1, or the items of the
    dictionary that `finish` returns, or `result` for what else it returns.

    A delegate that ends its process ends one actor, which Ray starts again; with `isolate` it ends
    only its own process. Ray runs one batch per actor at a time; see Runner for threads.
    """

    def __init__(self, model: Union[str, os.PathLike[str], bytes], *,
                 columns: Union[str, Mapping[str, str]], keep: Optional[Sequence[str]] = None,
                 errors: str = 'error', reports: Any = None, **options: Any) -> None:
        self._rows = ColumnRunner(Runner(model, **options), columns, errors)
        self._keep, self._reports = keep, reports
        self._rows.runner.open()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the kept and the new columns of a batch."""
        kept = {name: batch[name] for name in (batch if self._keep is None else self._keep)}
        added = self._rows.run(batch)
        check_names(list(kept), list(added))
        if self._reports is not None:
            self._reports.add.remote(self._rows.runner.take_report())
        return {**kept, **{name: np.asarray(values) for name, values in added.items()}}


class _Collector:
    def __init__(self) -> None:
        self._total = Report()

    def add(self, report: Report) -> None:
        self._total.add(report)

    def total(self) -> Report:
        return self._total


def report_collector() -> Any:
    """Returns a new actor for `reports` of Predictor; ray.get(actor.total.remote()) is the sum. Batches
    that Ray runs again are counted again."""
    import ray
    return ray.remote(num_cpus=0)(_Collector).remote()
