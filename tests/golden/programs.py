# SPDX-License-Identifier: Apache-2.0
"""Random programs for `golden --check LIBRARY --programs N`: models with several subgraphs in which WHILE,
IF, CALL_ONCE and STABLEHLO_COMPOSITE call each other up to three levels deep, and variables are read
and assigned between and within calls. Each is invoked several times, so that errors in kept values of
variables are found. (STABLEHLO_CASE is not used: TFLite refuses it unless its branches are the first
subgraphs.)

All floats have one shape and stay small; control flow (branches, iterations) depends only on integers,
which are bit-identical on both sides. Handles of variables are created in each subgraph, or passed to
it.
"""
import collections
import dataclasses
import pathlib

import numpy as np
from flatbuffers import flexbuffers

from . import agree, tflite
from .model import EQUAL, NONE, SUM, Model

DEEPEST, INVOKES, LARGEST_LOOP = 3, 3, 4
_TRIES = 20
UNARY = {"TANH": {}, "RELU": {}, "LOGISTIC": {}, "ABS": dict(AbsOptions={}), "SIN": {},
         "NEG": dict(NegOptions={})}
BINARY = {"ADD": dict(AddOptions=dict(fusedActivationFunction=NONE)),
          "SUB": dict(SubOptions=dict(fusedActivationFunction=NONE)),
          "MUL": dict(MulOptions=dict(fusedActivationFunction=NONE)),
          "MAXIMUM": dict(MaximumMinimumOptions={}), "MINIMUM": dict(MaximumMinimumOptions={})}
COMPARED = {"LESS": dict(LessOptions={}), "GREATER_EQUAL": dict(GreaterEqualOptions={}),
            "EQUAL": dict(EqualOptions={})}


@dataclasses.dataclass
class Variable:
    name: str
    type: str


class Subgraph:
    """A list of nodes. Values are indices; `types[v]` is f32 (of the program's shape), i32 (one number),
    bool or resource."""

    def __init__(self, inputs):
        self.types = list(inputs)
        self.inputs = list(range(len(inputs)))
        self.nodes = []        # (code, operands, results, options by the indices of the calls, calls)
        self.outputs = []
        self.handles = {}      # name of a variable: the value of its handle in this subgraph

    def node(self, code, operands, types, options=None, calls=()):
        """Adds a node. `operands` are values or arrays; `options(numbers)` receives the indices of the
        called subgraphs."""
        first = len(self.types)
        self.types += types
        results = list(range(first, len(self.types)))
        self.nodes.append((code, operands, results, options or (lambda numbers: {}), calls))
        return results

    def of(self, type):
        return [v for v, t in enumerate(self.types) if t == type]


class Program:
    def __init__(self, random):
        self.random = random
        self.shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
        self.variables = [Variable(f"f{i}", "f32") for i in range(self.integer(1, 2))]
        self.variables.append(Variable("n", "i32"))
        self.codes = set()
        self.start = self.initialiser()
        self.main = Subgraph(["f32"] * self.integer(1, 2) + ["i32"])
        self.call_once(self.main)
        self.grow(self.main, self.integer(5, 9), 0)
        self.finish(self.main, ["f32", "f32", "i32"])
        self.main.outputs += [self.read(self.main, v) for v in self.variables]

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def value(self, sub, type):
        """Returns a value of the type; later ones are more probable."""
        values = sub.of(type)
        return values[max(self.integer(0, len(values) - 1), self.integer(0, len(values) - 1))]

    def floats(self):
        return np.float32(self.random.uniform(-1, 1, self.shape))

    # ---- Variables --------------------------------------------------------------------------------

    def handle(self, sub, variable):
        if variable.name not in sub.handles:
            name = variable.name
            sub.handles[name], = sub.node(
                "VAR_HANDLE", [], ["resource"],
                lambda _: dict(VarHandleOptions=dict(container="", sharedName=name)))
        return sub.handles[variable.name]

    def read(self, sub, variable):
        return sub.node("READ_VARIABLE", [self.handle(sub, variable)], [variable.type])[0]

    def assign(self, sub, variable, value):
        sub.node("ASSIGN_VARIABLE", [self.handle(sub, variable), value], [])

    def initialiser(self):
        sub = Subgraph([])
        for variable in self.variables:
            data = self.floats() if variable.type == "f32" else np.int32([self.integer(0, 3)])
            self.assign(sub, variable, data)
        return sub

    def call_once(self, sub):
        sub.node("CALL_ONCE", [], [],
                 lambda n: dict(CallOnceOptions=dict(initSubgraphIndex=n[0])), [self.start])

    # ---- Plain operators --------------------------------------------------------------------------

    def plain(self, sub):
        kind = self.integer(0, 6)
        x, y = self.value(sub, "f32"), self.value(sub, "f32")
        if kind == 0:
            code = self.pick(list(UNARY))
            sub.node(code, [x], ["f32"], lambda _: UNARY[code])
        elif kind <= 2:
            code = self.pick(list(BINARY))
            other = y if kind == 1 else self.floats()
            made, = sub.node(code, [x, other], ["f32"], lambda _: BINARY[code])
            sub.node("TANH", [made], ["f32"])
        elif kind == 3:
            depth = self.shape[-1]
            weights = np.float32(self.random.uniform(-1, 1, (depth, depth)) / depth)
            sub.node("FULLY_CONNECTED", [x, weights, np.zeros(depth, np.float32)], ["f32"],
                     lambda _: dict(FullyConnectedOptions=dict(
                         fusedActivationFunction=NONE, keepNumDims=True)))
        elif kind == 4:
            sub.node("REVERSE_V2", [x, np.int32([0])], ["f32"], lambda _: dict(ReverseV2Options={}))
        elif kind == 5:
            which, = sub.node("LESS", [self.value(sub, "i32"), np.int32([self.integer(-2, 6)])],
                              ["bool"], lambda _: COMPARED["LESS"])
            sub.node("SELECT_V2", [which, x, y], ["f32"], lambda _: dict(SelectV2Options={}))
        else:
            made, = sub.node("ADD", [self.value(sub, "i32"), np.int32([self.integer(-2, 2)])],
                             ["i32"], lambda _: BINARY["ADD"])
            sub.node("MINIMUM", [made, np.int32([9])], ["i32"], lambda _: BINARY["MINIMUM"])

    def variable_use(self, sub):
        variable = self.pick(self.variables)
        if self.integer(0, 1):
            self.read(sub, variable)
        else:
            self.assign(sub, variable, self.value(sub, variable.type))

    # ---- Calls ------------------------------------------------------------------------------------

    def carried(self, sub):
        """Returns the values that a call passes: an integer, floats, and perhaps a handle."""
        operands = [self.value(sub, "i32")] + [self.value(sub, "f32")
                                               for _ in range(self.integer(1, 2))]
        variable = self.pick(self.variables) if self.integer(0, 3) == 0 else None
        if variable is not None:
            operands.append(self.handle(sub, variable))
        return operands, [sub.types[v] for v in operands], variable

    def body(self, types, variable, depth, passes_handle=False):
        """Returns a subgraph with these inputs and outputs; outputs that are handles are the inputs
        themselves."""
        sub = Subgraph(types)
        if variable is not None:
            sub.handles[variable.name] = len(types) - 1
        self.grow(sub, self.integer(1, 4), depth + 1)
        if passes_handle:
            self.finish(sub, [t for t in types if t != "resource"])
            sub.outputs += [v for v in sub.inputs if sub.types[v] == "resource"]
        return sub

    def finish(self, sub, types):
        """Creates outputs that are no inputs and differ from each other."""
        for type in types:
            x = self.value(sub, type)
            other = self.floats() if type == "f32" else np.int32([self.integer(0, 1)])
            made, = sub.node("ADD", [x, other], [type], lambda _: BINARY["ADD"])
            if type == "f32":
                made, = sub.node("TANH", [made], ["f32"])
            sub.outputs.append(made)

    def condition(self, sub):
        code = self.pick(list(COMPARED))
        return sub.node(code, [self.value(sub, "i32"), np.int32([self.integer(-1, 5)])], ["bool"],
                        lambda _: COMPARED[code])[0]

    def branches(self, sub, depth):
        operands, types, variable = self.carried(sub)
        results = ["i32"] + ["f32"] * self.integer(1, 2)
        parts = [self.body(types, variable, depth) for _ in range(2)]
        for part in parts:
            self.finish(part, results)
        sub.node("IF", [self.condition(sub), *operands], results,
                 lambda n: dict(IfOptions=dict(thenSubgraphIndex=n[0], elseSubgraphIndex=n[1])),
                 parts)

    def composite(self, sub, depth):
        operands, types, variable = self.carried(sub)
        results = ["f32"] * self.integer(1, 2)
        part = self.body(types, variable, depth)
        self.finish(part, results)
        sub.node("STABLEHLO_COMPOSITE", operands, results, lambda n: dict(
            StableHLOCompositeOptions=dict(name="deputy.program", version=1,
                                           decompositionSubgraphIndex=n[0],
                                           compositeAttributes=list(flexbuffers.Dumps({})))), [part])

    def loop(self, sub, depth):
        """Adds a WHILE. The first value counts from 0; the others are carried through the iterations."""
        operands, types, variable = self.carried(sub)
        zero, = sub.node("SUB", [operands[0], operands[0]], ["i32"], lambda _: BINARY["SUB"])
        types = ["i32", *types]
        condition = Subgraph(types)
        limit = np.int32([self.integer(0, LARGEST_LOOP)])
        if self.integer(0, 2) == 0:   # also limited by the carried integer
            limit, = condition.node("MINIMUM", [1, limit], ["i32"], lambda _: BINARY["MINIMUM"])
        condition.outputs = condition.node("LESS", [0, limit], ["bool"], lambda _: COMPARED["LESS"])
        body = self.body(types, variable, depth, passes_handle=True)
        body.outputs[0], = body.node("ADD", [0, np.int32([1])], ["i32"], lambda _: BINARY["ADD"])
        sub.node("WHILE", [zero, *operands], types, lambda n: dict(
            WhileOptions=dict(condSubgraphIndex=n[0], bodySubgraphIndex=n[1])), [condition, body])

    def grow(self, sub, count, depth):
        for _ in range(count):
            kind = self.integer(0, 9)
            if depth < DEEPEST and kind in (0, 1):
                self.loop(sub, depth)
            elif depth < DEEPEST and kind in (2, 3):
                self.branches(sub, depth)
            elif depth < DEEPEST and kind == 4:
                self.composite(sub, depth)
            elif kind == 5 and depth and self.integer(0, 3) == 0:
                self.call_once(sub)
            elif kind in (5, 6, 7):
                self.variable_use(sub)
            else:
                self.plain(sub)

    # ---- The model --------------------------------------------------------------------------------

    def write(self, name, seed):
        order = [self.main]
        for sub in order:
            for part in (part for node in sub.nodes for part in node[4]):
                if part not in order:
                    order.append(part)
        numbers = {id(sub): number for number, sub in enumerate(order)}
        m = Model(seed)
        for number, sub in enumerate(order):
            if number:
                m.next_subgraph()
            self._write(m, sub, numbers)
        self.subgraphs, self.nodes = len(order), sum(len(sub.nodes) for sub in order)
        case = m.case(name, "f32", factor=10.0)
        case.invokes = INVOKES
        case.rules = case.rules * INVOKES
        return case

    def _write(self, m, sub, numbers):
        shapes = {"f32": self.shape, "i32": (1,), "bool": (1,), "resource": ()}
        place = {}
        for v in sub.inputs:
            more = dict(low=-2, high=4) if sub.types[v] == "i32" else dict(low=-1, high=1)
            place[v] = m.input(sub.types[v], shapes[sub.types[v]],
                               **({} if sub.types[v] == "resource" else more))
        for v, type in enumerate(sub.types):
            if v in sub.inputs:
                continue
            rule = SUM if type == "f32" else EQUAL
            place[v] = (m.output(type, shapes[type], rule=rule) if v in sub.outputs
                        else m.tensor(type, shapes[type]))
        # Restores the program's order: m.output has added the outputs in the order of the values.
        rules = {m.outputs[i]: rule for i, rule in enumerate(m.rules)} if not m.finished else {}
        m.outputs = [place[v] for v in sub.outputs]
        if rules:
            m.rules = [rules[t] for t in m.outputs]
        for code, operands, results, options, calls in sub.nodes:
            self.codes.add(code)
            inputs = [place[o] if isinstance(o, int) else
                      m.const("f32" if o.dtype == np.float32 else "i32", o.shape, data=o)
                      for o in operands]
            m.op(code, inputs, [place[r] for r in results], 1, **options(
                [numbers[id(part)] for part in calls]))


def draw(seed, number):
    """Returns (Program, its Case, TFLite's two results, the number of programs discarded before it)."""
    for attempt in range(_TRIES):
        random = np.random.default_rng([seed, number, attempt])
        program = Program(random)
        case = program.write(f"program_{seed}_{number}", int(random.integers(1, 2**30)))
        results = [tflite.run(case, name) for name in tflite.RESOLVERS]
        if all(a.outputs for a in results) and agree.compare(case, results[:1],
                                                             results[1].outputs, False):
            continue
        return program, case, results, attempt
    raise RuntimeError(f"no program for seed {seed}, number {number}")


def check(library, count, seed, judge, keep=None):
    """Compares `count` programs, prints the findings and returns the number of failed runs."""
    runs = bad = again = nodes = subgraphs = 0
    codes, refused = collections.Counter(), collections.Counter()
    for number in range(count):
        program, case, results, thrown = draw(seed, number)
        again += thrown
        nodes, subgraphs = nodes + program.nodes, subgraphs + program.subgraphs
        codes.update(program.codes)
        if not any(a.outputs for a in results):
            refused[results[0].message[:60]] += 1
        for reference_mode in (False, True):
            mine = library.run(case, reference_mode)
            why = judge(case, results, mine, reference_mode)
            runs += 1
            if why:
                bad += 1
                mode = "reference" if reference_mode else "default"
                print(f"{case.name} ({mode}): {why}")
                if keep:
                    pathlib.Path(keep, case.name + ".tflite").write_bytes(case.model)
    print(f"{runs - bad} of {runs} runs of {count} random programs agree with TFLite (seed {seed}; "
          f"{nodes} nodes in {subgraphs} subgraphs, {sum(refused.values())} programs without a "
          f"result of TFLite, {again} ill-conditioned drawn again)")
    print("    programs with " + ", ".join(f"{code} {n}" for code, n in codes.most_common()))
    for message, n in refused.most_common():
        print(f"    {n} without a result: {message}")
    return bad
