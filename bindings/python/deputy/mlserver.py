# SPDX-License-Identifier: Apache-2.0
"""MLServer: a runtime for models in the V2 protocol (docs/serving.md). Needs the wheel's extra `mlserver`.

model-settings.json:

    {"name": "digits", "implementation": "deputy.mlserver.DeputyModel",
     "parameters": {"uri": "model.tflite", "extra": {"delegates": ["gpu"], "instances": 2}}}
"""
from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError, MLServerError
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor
from mlserver.utils import get_model_uri

from .batch import ItemError, Runner, TensorInfo

__all__ = ['DeputyModel']


class DeputyModel(MLModel):
    """Runs each request in a thread with its own interpreter. `parameters.extra` has the arguments of
    deputy.batch.Runner, and `instances`: the number of threads, by default 1. If the model's inputs have
    a first dimension of 1, the first dimension of a request is the number of items, which run one by one.
    """

    async def load(self) -> bool:
        """Opens the model."""
        options = dict(getattr(self._settings.parameters, 'extra', None) or {})
        self._threads = ThreadPoolExecutor(options.pop('instances', 1))
        path = await get_model_uri(self._settings, wellknown_filenames=['model.tflite'])
        self._runner = Runner(path, **options)
        await self._in_thread(self._runner.open)
        self._rows = all(info.shape[:1] == (1,) for info in self._runner.inputs.values())
        self.inputs = getattr(self, 'inputs', None) or [_metadata(*each) for each in self._runner.inputs.items()]
        self.outputs = getattr(self, 'outputs', None) or [_metadata(*each) for each in self._runner.outputs.items()]
        return True

    async def unload(self) -> bool:
        """Deletes the interpreters."""
        self._threads.shutdown()
        self._runner.close()
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Runs a request."""
        inputs = {each.name: NumpyCodec.decode_input(each) for each in payload.inputs}
        try:
            outputs = await self._in_thread(self._run, inputs)
        except ItemError as error:
            kind = InferenceError if error.stage == 'input' else MLServerError
            raise kind(str(error)) from error
        return InferenceResponse(model_name=self.name, model_version=self.version,
                                 outputs=[NumpyCodec.encode_output(*each) for each in outputs.items()])

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def _run(self, inputs: dict[str, Any]) -> dict[str, Any]:
        counts = {len(array) if array.ndim else 0 for array in inputs.values()}
        if not self._rows or counts == {1}:
            return dict(self._runner.run_one(inputs).get())
        if len(counts) != 1 or counts == {0}:
            raise ItemError('input', f'expected one number of items, found {sorted(counts)}')
        items = [{name: array[i:i + 1] for name, array in inputs.items()} for i in range(counts.pop())]
        results = [result.get() for result in self._runner.run(items)]
        return {name: np.concatenate([result[name] for result in results]) for name in results[0]}


def _metadata(name: str, info: TensorInfo) -> MetadataTensor:
    output = NumpyCodec.encode_output(name, np.zeros(info.shape, info.dtype))
    return MetadataTensor(name=name, datatype=output.datatype, shape=list(info.shape))
