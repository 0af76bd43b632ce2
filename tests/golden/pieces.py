# SPDX-License-Identifier: Apache-2.0
"""Models of one node whose tensors are listed one by one."""
import dataclasses

from .model import ELEMENT, Model


@dataclasses.dataclass
class In:
    """An input of the node: a graph input or a constant."""
    type: str
    shape: tuple
    data: object = None
    const: bool = False
    quant: object = None
    low: object = None
    high: object = None
    resize: tuple = None

    def add(self, m):
        more = dict(data=self.data, low=self.low, high=self.high)
        if self.const:
            return m.const(self.type, self.shape, self.quant, **more)
        return m.input(self.type, self.shape, self.quant, resize=self.resize, **more)


@dataclasses.dataclass
class Out:
    type: str
    shape: tuple = (1,)
    rule: int = ELEMENT
    quant: object = None

    def add(self, m):
        return m.output(self.type, self.shape, self.quant, rule=self.rule)


def node(op, inputs, outputs, version=1, table=None, seed=1, type=None, **case):
    """Returns a case of one operator; None among the inputs is an absent tensor. `table` is {options: fields}."""
    m = Model(seed)
    numbers = [-1 if one is None else one.add(m) for one in inputs]
    m.op(op, numbers, [one.add(m) for one in outputs], version, **(table or {}))
    return m.case(type=type or inputs[0].type, **case)


def counts(op, numbers, table=None):
    """Yields cases with numbers of inputs and outputs that the operator does not accept."""
    for inputs, outputs in numbers:
        yield node(op, [In("f32", (2,)) for _ in range(inputs)],
                   [Out("f32", (2,)) for _ in range(outputs)], table=table, type="f32",
                   name=f"refused_{inputs}_inputs_{outputs}_outputs")
