# SPDX-License-Identifier: Apache-2.0
"""Extracts single operators from a model and times each in our library and in TFLite's kernels.

The whole model runs once in TFLite with every tensor kept; each operator is then put into a model
of its own with its recorded inputs. Tensors that are constant in the whole model, and results of
nodes with constant inputs only, are constants of the small one. Operators that differ in their
values only are timed once and counted.

An operator that takes less than 100 microseconds is repeated in its model, all copies reading the
same inputs, to make the overhead of the call negligible.
"""
import collections
import copy
import dataclasses
import math

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from engines import Ours, Peer, Refused, race, random_inputs
from golden.model import _AlignedBuffer as AlignedBuffer

_LEAST_MS = 0.1
_MOST_COPIES = 64
_NAMES = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}


@dataclasses.dataclass
class Timing:
    operator: str
    shapes: str
    count: int  # number of equivalent nodes in all models
    model: str  # the first model that contains it
    ours: float = 0.0      # milliseconds, best
    peer: float = 0.0
    refused: str = ""

    @property
    def ratio(self):
        return self.ours / self.peer if self.peer else math.nan


def pack(model):
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def aligned_buffer(data):
    buffer = AlignedBuffer()
    buffer.data = data
    return buffer


def code_of(model, node):
    code = model.operatorCodes[node.opcodeIndex]
    return max(code.builtinCode, code.deprecatedBuiltinCode), code


def operator_name(model, node):
    number, code = code_of(model, node)
    return code.customCode.decode() if code.customCode else _NAMES[number]


def plain_tflite(content):
    """Rewrites the model for the real TFLite: MediaPipe's Convolution2DTransposeBias, which TFLite
    does not support, becomes the equivalent TRANSPOSE_CONV version 3 with bias."""
    if b"Convolution2DTransposeBias" not in content:
        return content
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    # Pack() drops the 16-byte alignment of buffers unless they are AlignedBuffers.
    model.buffers = [aligned_buffer(buffer.data) for buffer in model.buffers]
    number = len(model.operatorCodes)
    transpose = schema.BuiltinOperator.TRANSPOSE_CONV
    for graph in model.subgraphs:
        for node in graph.operators:
            if code_of(model, node)[1].customCode != b"Convolution2DTransposeBias":
                continue
            padding, stride_w, stride_h = np.frombuffer(
                np.asarray(node.customOptions, np.uint8).tobytes(), np.int32, 3)
            output = graph.tensors[node.outputs[0]]
            model.buffers.append(aligned_buffer(np.int32(output.shape).tobytes()))
            graph.tensors.append(schema.TensorT(
                shape=np.int32([4]), type=schema.TensorType.INT32, name=b"output_shape",
                buffer=len(model.buffers) - 1))
            source, weights, bias = node.inputs
            node.inputs = np.int32([len(graph.tensors) - 1, weights, source, bias])
            node.opcodeIndex, node.customOptions = number, None
            node.builtinOptionsType = schema.BuiltinOptions.TransposeConvOptions
            node.builtinOptions = schema.TransposeConvOptionsT(
                padding=schema.Padding.SAME if padding == 1 else schema.Padding.VALID,
                strideW=int(stride_w), strideH=int(stride_h))
    model.operatorCodes.append(schema.OperatorCodeT(
        deprecatedBuiltinCode=transpose, builtinCode=transpose, version=3))
    return pack(model)


def _constants(model, graph):
    """Returns the tensors whose values are equal in every inference."""
    constant = {i for i, tensor in enumerate(graph.tensors)
                if model.buffers[tensor.buffer].data is not None}
    for node in graph.operators:
        inputs = [i for i in node.inputs if i >= 0]
        if inputs and all(i in constant for i in inputs):
            constant.update(int(i) for i in node.outputs)
    return constant


def _describe(tensor, shape):
    types = {v: k for k, v in vars(schema.TensorType).items() if isinstance(v, int)}
    return f"{types[tensor.type].lower()}[{'x'.join(map(str, shape))}]"


def _key(model, graph, node, values, constant):
    """Returns a key that is equal for operators that need the same work."""
    parts = [code_of(model, node)[0], code_of(model, node)[1].version]
    if node.builtinOptions is not None:
        parts.append(tuple(sorted((k, str(v)) for k, v in vars(node.builtinOptions).items())))
    for i in [*node.inputs, *node.outputs]:
        if i < 0:
            parts.append(None)
            continue
        tensor, quantization = graph.tensors[i], graph.tensors[i].quantization
        scales = quantization.scale if quantization is not None else None
        parts.append((tensor.type, values[i].shape, i in constant,
                      0 if scales is None else len(scales)))
        if i in constant and values[i].size <= 16 and values[i].dtype.kind == "i":
            parts.append(values[i].tobytes())  # axes, paddings and shapes determine the work
    return tuple(parts)


def single(model, graph, node, values, constant, copies):
    """Returns (bytes of a model with `copies` of this operator, the values of its inputs)."""
    tensors, feeds, inputs, outputs, operators = [], [], [], [], []
    buffers, place = [aligned_buffer(None)], {-1: -1}

    def add(index, data=None):
        old = graph.tensors[index]
        if data is not None:
            buffers.append(aligned_buffer(data))
        tensors.append(schema.TensorT(
            shape=np.int32(values[index].shape), type=old.type, quantization=old.quantization,
            buffer=len(buffers) - 1 if data is not None else 0, name=b"t%d" % len(tensors)))
        return len(tensors) - 1

    for i in dict.fromkeys(int(i) for i in node.inputs if i >= 0):
        place[i] = add(i, values[i].tobytes() if i in constant else None)
        if i not in constant:
            inputs.append(place[i])
            feeds.append(values[i])
    for _ in range(copies):
        twin = copy.copy(node)
        twin.opcodeIndex = 0
        twin.inputs = np.int32([place[int(i)] for i in node.inputs])
        twin.outputs = np.int32([add(int(i)) for i in node.outputs])
        outputs += list(twin.outputs)
        operators.append(twin)
    small = schema.ModelT(
        version=3, buffers=buffers, operatorCodes=[code_of(model, node)[1]],
        subgraphs=[schema.SubGraphT(tensors=tensors, inputs=np.int32(inputs),
                                    outputs=np.int32(outputs), operators=operators)])
    return pack(small), feeds


def distinct_operators(paths):
    """Returns [(Timing, make)] of all models: make(copies) returns what `single` returns."""
    found, order = {}, []
    for path in paths:
        content = plain_tflite(path.read_bytes())
        model = schema.ModelT.InitFromPackedBuf(content, 0)
        graph = model.subgraphs[0]
        peer = Peer(content, 1, keep_all=True)
        peer.feed(random_inputs(peer.input_details()))
        constant = _constants(model, graph)
        for node in graph.operators:
            used = [int(i) for i in [*node.inputs, *node.outputs] if i >= 0]
            if all(i in constant for i in node.inputs if i >= 0):
                continue  # computed once, not in every inference
            values = {i: peer.tensor(i) for i in used}
            key = _key(model, graph, node, values, constant)
            if key in found:
                found[key].count += 1
                continue
            shapes = [_describe(graph.tensors[i], values[i].shape) for i in node.inputs if i >= 0]
            found[key] = Timing(operator_name(model, node), " ".join(shapes), 1, path.stem)

            def make(copies, model=model, graph=graph, node=node, values=values,
                     constant=constant):
                return single(model, graph, node, values, constant, copies)
            order.append((found[key], make))
    return order


def time_one(library, timing, make, rounds, seconds):
    content, feeds = make(1)
    peer = Peer(content, 1)
    peer.feed(feeds)
    once = race({"peer": peer}, 1, 0.0005)["peer"][1]
    copies = min(_MOST_COPIES, max(1, math.ceil(_LEAST_MS / max(once, 1e-4))))
    content, feeds = make(copies)
    engines = {"peer": Peer(content, 1)}
    try:
        engines["ours"] = Ours(library, content, 1)
        for engine in engines.values():
            engine.feed(feeds)
    except Refused as refusal:
        timing.refused = str(refusal)
        return
    times = race(engines, rounds, seconds)
    timing.ours, timing.peer = times["ours"][1] / copies, times["peer"][1] / copies


def by_operator(timings):
    """Returns [(operator, nodes, ours ms, peer ms)], largest ratio first, without rejected ones."""
    sums = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for timing in timings:
        if not timing.refused:
            row = sums[timing.operator]
            row[0] += timing.count
            row[1] += timing.count * timing.ours
            row[2] += timing.count * timing.peer
    return sorted(((name, *row) for name, row in sums.items()), key=lambda r: -r[2] / r[3])
