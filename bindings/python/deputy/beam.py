# SPDX-License-Identifier: Apache-2.0
"""Apache Beam: runs a model by RunInference (docs/scale.md). Needs the wheel's extra `beam`.

    predictions = images | RunInference(ModelHandler('model.tflite'))
    results, errors = predictions | SplitErrors()
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.ml.inference import base
from apache_beam.ml.inference.base import PredictionResult

from .batch import ItemError, Report, Runner

__all__ = ['ModelHandler', 'SplitErrors']

NAMESPACE = 'deputy'


class ModelHandler(base.ModelHandler[Any, PredictionResult, Runner]):
    """Runs elements, which are items of deputy.batch.Runner or what its `read` accepts, and returns a
    PredictionResult for each. Use base.KeyedModelHandler for elements with keys.

    model, options: the arguments of deputy.batch.Runner.
    errors: 'results': the inference of an element that cannot be read or run is an ItemError, which
        SplitErrors() separates; 'raise': the error is raised, so that Beam runs the batch again or,
        with RunInference.with_exception_handling(), moves the whole batch to the failed elements.
    min_batch_size, max_batch_size, max_batch_duration_secs: bounds of Beam's batches, by default
        1 and 64. Elements run one by one: the size has no influence on the time of an element.
    share_model_across_processes: the processes of a machine share one process that runs the model,
        for models that need more memory than they have time to transfer elements. Without it each
        process maps the model's file, whose pages all processes share.
    model_copies: the number of such processes.

    The counters of the namespace 'deputy' have the numbers of deputy.batch.Report: items, failed,
    degraded, recomputed_nodes, verified, wrong, node_runs_BACKEND, and read_us, run_us, open_us.
    Threads of a process share one Runner; see there for pickle, fork and threads.
    """

    def __init__(self, model: Union[str, os.PathLike[str], bytes], *, errors: str = 'results',
                 min_batch_size: int = 1, max_batch_size: int = 64,
                 max_batch_duration_secs: Optional[int] = None,
                 share_model_across_processes: bool = False, model_copies: Optional[int] = None,
                 **options: Any) -> None:
        if errors not in ('results', 'raise'):
            raise ValueError(f"errors: expected 'results' or 'raise', found {errors!r}")
        super().__init__(min_batch_size=min_batch_size, max_batch_size=max_batch_size,
                         max_batch_duration_secs=max_batch_duration_secs,
                         large_model=share_model_across_processes, model_copies=model_copies)
        self._runner = Runner(model, **options)
        self._errors = errors

    def load_model(self) -> Runner:
        """Opens the model in a worker."""
        runner = self._runner.with_model(self._runner.model)
        runner.open()
        return runner

    def run_inference(self, batch: Sequence[Any], model: Runner,
                      inference_args: Optional[dict[str, Any]] = None) -> Iterable[PredictionResult]:
        """Returns the predictions of a batch, in order."""
        results = model.run_batch(batch)
        _add_counters(model.take_report())
        if self._errors == 'raise':
            for result in results:
                result.get()
        model_id = None if isinstance(self._runner.model, bytes) else self._runner.model
        return [PredictionResult(element, result.outputs if result.ok else result.error, model_id)
                for element, result in zip(batch, results)]

    def get_num_bytes(self, batch: Sequence[Any]) -> int:
        """Returns the size of arrays, texts and bytes in a batch."""
        return sum(map(_size, batch))

    def get_metrics_namespace(self) -> str:
        """Returns the namespace of Beam's own metrics of RunInference, too."""
        return NAMESPACE

    def update_model_path(self, model_path: Optional[str] = None) -> None:
        """Replaces the model by the file of a side input (model_metadata_pcoll of RunInference)."""
        if model_path:
            self._runner = self._runner.with_model(model_path)


class SplitErrors(beam.PTransform):
    """Separates predictions, with or without keys: `results, errors = predictions | SplitErrors()`.
    The elements of `errors` are predictions whose inference is an ItemError."""

    def expand(self, predictions: Any) -> Any:
        """Returns the results and the errors."""
        split = predictions | beam.ParDo(_Split()).with_outputs('errors', main='results')
        return split.results, split.errors


class _Split(beam.DoFn):
    def process(self, element: Any) -> Iterator[Any]:
        prediction = element if isinstance(element, PredictionResult) else element[1]
        failed = isinstance(prediction.inference, ItemError)
        yield beam.pvalue.TaggedOutput('errors', element) if failed else element


def _add_counters(report: Report) -> None:
    counts = {name: getattr(report, name)
              for name in ('items', 'failed', 'degraded', 'recomputed_nodes', 'verified', 'wrong')}
    counts.update((f'{stage}_us', int(getattr(report, f'{stage}_seconds') * 1e6))
                  for stage in ('read', 'run', 'open'))
    counts.update((f'node_runs_{name}', runs) for name, runs in report.node_runs.items())
    for name, count in counts.items():
        if count:
            Metrics.counter(NAMESPACE, name).inc(count)


def _size(element: Any) -> int:
    if isinstance(element, Mapping):
        return sum(map(_size, element.values()))
    if isinstance(element, (str, bytes)):
        return len(element)
    return int(getattr(element, 'nbytes', 0))
