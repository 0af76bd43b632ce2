# SPDX-License-Identifier: Apache-2.0
"""Random graphs of 3 to 12 operators for `golden --check LIBRARY --graphs N`.

Half of them are float32. The others are int8 and made as by a converter: the float graph is drawn
first, TFLite computes the range of each tensor, and the graph is written again with scales from those
ranges. graph_nodes.py holds the operators.

The bounds are those for random graphs in docs/design/agreement.md: ten times the float bounds, 3 +
nodes / 2 steps for quantised tensors in default mode, and equality with the reference kernels in
reference mode.

A bound is meaningless if the graph itself magnifies rounding (a TANH of a coarse scale, a difference of
large numbers). Such graphs are discarded and counted: int8 graphs if the possible error, in steps, over
all operators exceeds the bound, float graphs if TFLite's own two resolvers differ by more than the
bound.
"""
import dataclasses
import pathlib

import numpy as np

from . import agree, graph_nodes, tflite
from .graph_nodes import MOVED, Constant, Graph
from .model import ELEMENT, EQUAL, SUM, Model, q

LEAST, MOST = 3, 12
_TRIES = 50
# Versions that TFLite's converter writes for int8; 2 for operators not listed. For float32 the
# table below is used; 1 for operators not listed.
_INT8_VERSION = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "TRANSPOSE_CONV": 3,
                 "RESHAPE": 1, "SQUEEZE": 1, "EXPAND_DIMS": 1, "HARD_SWISH": 1, "PRELU": 1,
                 "ELU": 1, "REDUCE_MIN": 2, "MIRROR_PAD": 2, "DEPTH_TO_SPACE": 1, "ARG_MAX": 2,
                 "SPACE_TO_DEPTH": 1, "TILE": 1, "BROADCAST_TO": 2, "SELECT_V2": 1}
_FLOAT_VERSION = {"TRANSPOSE_CONV": 3, "BROADCAST_TO": 2}


class IllConditioned(Exception):
    """The graph magnifies rounding so much that an error could not be recognised."""


@dataclasses.dataclass
class Drawn:
    case: object
    nodes: int
    scales: dict           # output index: the scale after a DEQUANTIZE
    text: str              # one line that lists the contents


def _describe(graph):
    return " ".join(f"{node.code}{list(graph.values[node.outputs[0]].shape)}"
                    for node in graph.nodes)


def _leaves(graph):
    used = {i for node in graph.nodes for i in node.inputs if isinstance(i, int)}
    return [o for node in graph.nodes for o in node.outputs if o not in used]


def _float_rule(value):
    if value.type != "f32":
        return EQUAL
    return SUM if value.sums else EQUAL if value.history <= MOVED else ELEMENT


def write_float(graph, outputs, name, seed):
    """Returns a Case of the graph as drawn; `outputs` are the values that are compared."""
    m, place = Model(seed), {}
    for i in graph.inputs:
        place[i] = m.input("f32", graph.values[i].shape)
    for node in graph.nodes:
        inputs = [m.const(i.type, i.data.shape, data=i.data) if isinstance(i, Constant)
                  else place[i] for i in node.inputs]
        for o in node.outputs:
            value = graph.values[o]
            place[o] = (m.output(value.type, value.shape, rule=_float_rule(value))
                        if o in outputs else m.tensor(value.type, value.shape))
        m.op(node.code, inputs, [place[o] for o in node.outputs],
             _FLOAT_VERSION.get(node.code, 1), **node.options)
    # The rules must be in the order of m.outputs, the order of the nodes; they are.
    return m.case(name, "f32", factor=10.0)


def _ranges(graph, name, seed):
    """Returns {value: (minimum, maximum)} from the reference kernels' results for the float graph."""
    everything = [o for node in graph.nodes for o in node.outputs]
    case = write_float(graph, everything, name, seed)
    result = tflite.run(case, "reference")
    if result.outcome != tflite.INVOKED:
        raise IllConditioned(f"TFLite: {result.message}")
    found = {i: (-2.0, 2.0) for i in graph.inputs}
    for o, array in zip(everything, result.outputs):
        if array.dtype == np.float32:
            if not np.isfinite(array).all() or np.abs(array).max(initial=0) > 1e3:
                raise IllConditioned("values too large")
            found[o] = float(array.min(initial=0)), float(array.max(initial=0))
    return found


def _from_range(low, high):
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32(max(high - low, 1e-3) / 255)
    return q(float(scale), int(np.clip(round(-128 - low / float(scale)), -128, 127)))


class _Int8Writer:
    """Writes a drawn graph with quantised tensors; `off` is the possible error of each value, in steps."""

    def __init__(self, graph, ranges, random, seed):
        self.graph, self.ranges, self.random = graph, ranges, random
        self.m = Model(seed)
        self.place, self.quant, self.off = {}, {}, {}
        self.nodes, self.scales = 0, {}

    def _op(self, code, inputs, outputs, **options):
        self.m.op(code, inputs, outputs, _INT8_VERSION.get(code, 2), **options)
        self.nodes += 1

    def _inputs(self):
        for i in self.graph.inputs:
            shape, quant = self.graph.values[i].shape, _from_range(*self.ranges[i])
            self.quant[i], self.off[i] = quant, 0.0
            if self.random.random() < 0.5:
                self.place[i] = self.m.input("i8", shape, quant)
                continue
            outside = self.m.input("f32", shape)
            self.place[i], self.off[i] = self.m.tensor("i8", shape, quant), 1.0
            self._op("QUANTIZE", [outside], [self.place[i]])

    def _requantised(self, i, quant):
        """Returns the tensor of value i with the given scale, adding a QUANTIZE if it differs."""
        if self.quant[i] == quant:
            return self.place[i]
        tensor = self.m.tensor("i8", self.graph.values[i].shape, quant)
        self._op("QUANTIZE", [self.place[i]], [tensor])
        return tensor

    def _output_quant(self, node, o):
        if node.quant == "same":
            return self.quant[node.inputs[node.main]]
        if isinstance(node.quant, tuple):
            return q(*node.quant)
        values = [i for i in node.inputs if isinstance(i, int)] if node.quant == "joint" else []
        spans = [self.ranges[i] for i in [o, *values]]
        return _from_range(min(low for low, _ in spans), max(high for _, high in spans))

    def _constant(self, node, constant, weight):
        """Returns (tensor, its Quantization) of a constant operand."""
        if constant.role == "raw":
            return self.m.const(constant.type, constant.data.shape, data=constant.data), None
        data = constant.data
        if constant.role == "bias":
            scale = np.float32(weight.scale) * np.float32(self.quant[node.inputs[node.main]].scale)
            steps = np.rint(data / scale).astype(np.int32)
            return self.m.const("i32", data.shape, q(scale), steps), None
        if constant.role == "weight":
            others = tuple(d for d in range(data.ndim) if d != constant.axis)
            scale = np.maximum(np.abs(data).max(axis=others, keepdims=True), 1e-3) / 127
            quant = q(np.float32(scale).reshape(-1), 0, constant.axis)
            steps = np.clip(np.rint(data / scale), -127, 127)
        else:
            quant = _from_range(float(data.min()), float(data.max()))
            steps = np.clip(np.rint(data / quant.scale) + quant.zero, -128, 127)
        return self.m.const("i8", data.shape, quant, steps.astype(np.int8)), quant

    def _steps_off(self, node, quant, inputs_quant):
        """Returns one step plus the operator's effect on its inputs' errors."""
        steps = 0.0 if node.quant == "same" else 1.0
        for number, i in enumerate(node.inputs):
            if isinstance(i, int):
                gain = node.gains[number] if isinstance(node.gains, list) else node.gains
                steps += gain * self.off[i] * inputs_quant[i].scale / quant.scale
        return steps

    def _node(self, node, outputs):
        weight, inputs = None, []
        quants = {o: self._output_quant(node, o) for o in node.outputs
                  if self.graph.values[o].type == "f32"}
        first = next(iter(quants.values()), None)
        for i in node.inputs:
            if isinstance(i, Constant):
                tensor, quant = self._constant(node, i, weight)
                weight = quant if quant is not None and weight is None else weight
                inputs.append(tensor)
            elif node.quant == "joint" and i in self.quant:
                inputs.append(self._requantised(i, first))
            else:
                inputs.append(self.place[i])
        for o in node.outputs:
            value = self.graph.values[o]
            if value.type != "f32":
                self.place[o] = (self.m.output(value.type, value.shape, rule=EQUAL)
                                 if o in outputs else self.m.tensor(value.type, value.shape))
                self.off[o] = 0.0
                continue
            self.quant[o] = quants[o]
            known = {i: self.quant.get(i, quants[o]) for i in node.inputs if isinstance(i, int)}
            self.off[o] = self._steps_off(node, quants[o], known)
            self.place[o] = (self.m.output("i8", value.shape, quants[o]) if o in outputs
                             else self.m.tensor("i8", value.shape, quants[o]))
        self._op(node.code, inputs, [self.place[o] for o in node.outputs], **node.options)

    def write(self, outputs, name):
        self._inputs()
        for node in self.graph.nodes:
            self._node(node, outputs)
        number = {tensor: k for k, tensor in enumerate(self.m.outputs)}
        for o in outputs:
            if o in self.quant and self.random.random() < 0.3 and graph_nodes.has("DEQUANTIZE"):
                # The output of DEQUANTIZE replaces the quantised output at its position, so that
                # the order is kept.
                shape, k = self.graph.values[o].shape, number[self.place[o]]
                outside = self.m.tensor("f32", shape)
                self._op("DEQUANTIZE", [self.place[o]], [outside])
                self.m.outputs[k], self.scales[k] = outside, self.quant[o].scale
        steps = 3 + self.nodes // 2
        if any(self.off[o] > steps for o in outputs):
            raise IllConditioned("steps add up")
        return self.m.case(name, "i8", steps=steps)


def _draw_once(random, int8, name):
    graph = Graph(random, int8)
    wanted = int(random.integers(LEAST, MOST + 1))
    for _ in range(20 * wanted):
        if len(graph.nodes) >= wanted:
            break
        graph.grow(most=MOST)
    if len(graph.nodes) < LEAST:
        raise IllConditioned("did not grow")
    outputs = _leaves(graph)
    seed = int(random.integers(1, 2**30))
    ranges = _ranges(graph, name, seed)
    if not int8:
        return Drawn(write_float(graph, outputs, name, seed), len(graph.nodes), {},
                     _describe(graph))
    writer = _Int8Writer(graph, ranges, random, seed)
    case = writer.write(outputs, name)
    return Drawn(case, writer.nodes, writer.scales, _describe(graph))


def _as_steps(result, scales):
    """Converts dequantised outputs to steps, so that they are compared as quantised ones."""
    for number, scale in scales.items():
        if result.outputs:
            result.outputs[number] = np.rint(result.outputs[number] / scale).astype(np.int32)
    return result


def draw(seed, number):
    """Returns (Drawn, TFLite's two results, the number of graphs discarded before it)."""
    for attempt in range(_TRIES):
        random = np.random.default_rng([seed, number, attempt])
        try:
            drawn = _draw_once(random, number % 2 == 1, f"graph_{seed}_{number}")
        except IllConditioned:
            continue
        results = [_as_steps(tflite.run(drawn.case, name), drawn.scales)
                   for name in tflite.RESOLVERS]
        if drawn.case.type == "f32" and all(a.outputs for a in results) and agree.compare(
                drawn.case, results[:1], results[1].outputs, False):
            continue
        return drawn, results, attempt
    raise RuntimeError(f"no graph for seed {seed}, number {number}")


def check(library, count, seed, judge, keep=None):
    """Compares `count` graphs, prints the findings and returns the number of failed runs."""
    known = {}

    def is_registered(code):
        if code not in known:
            probe = graph_nodes.probe(code, _FLOAT_VERSION.get(code, 1))
            result = library.run(probe, False)
            known[code] = result.outcome != tflite.REFUSED_CREATE
        return known[code]

    graph_nodes.is_registered = is_registered
    runs = bad = again = refused = nodes = 0
    seen = set()
    for number in range(count):
        drawn, results, thrown = draw(seed, number)
        again, nodes = again + thrown, nodes + drawn.nodes
        refused += not any(a.outputs for a in results)
        seen.update(word.split("[")[0] for word in drawn.text.split("] "))
        for reference_mode in (False, True):
            mine = _as_steps(library.run(drawn.case, reference_mode), drawn.scales)
            why = judge(drawn.case, results, mine, reference_mode)
            runs += 1
            if why:
                bad += 1
                mode = "reference" if reference_mode else "default"
                print(f"{drawn.case.name} {drawn.case.type} ({mode}): {why}\n    {drawn.text}")
                if keep:
                    pathlib.Path(keep, drawn.case.name + ".tflite").write_bytes(drawn.case.model)
    print(f"{runs - bad} of {runs} runs of {count} random graphs agree with TFLite (seed {seed}; "
          f"{nodes} nodes of {len(seen)} operators, {refused} graphs refused by TFLite, "
          f"{again} ill-conditioned drawn again)")
    missing = sorted(code for code, there in known.items() if not there)
    if missing:
        print("not in this library yet, so in no graph: " + " ".join(missing))
    return bad
