# SPDX-License-Identifier: Apache-2.0
"""NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5."""
import numpy as np

from .. import generator
from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL
from ..pieces import In, Out, counts, node

OPERATORS = ["NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"]
VERSIONS = {op: 1 for op in OPERATORS}


def boxes_of(seed, count):
    """Returns boxes whose sides are about a third of the image's, so that many overlap."""
    corner = generator.uniform(seed, 0, 1).values((count, 2), np.float32)
    size = generator.uniform(seed + 1, 0.05, 0.6).values((count, 2), np.float32)
    return np.concatenate([corner, corner + size], 1)


def scores_of(seed, count):
    return generator.uniform(seed + 2, 0, 1).values((count,), np.float32)


def suppress(op, count=12, most=6, overlap=0.5, score=0.2, sigma=0.5, how="input", boxes=None,
             scores=None, seed=7, soft=None, boxes_shape=None, types=(), scalar=(), outs=None,
             scores_count=None, **case):
    soft = op.endswith("5") if soft is None else soft
    kinds = list(types) or ["f32", "f32", "i32", "f32", "f32", "f32"]
    const = how == "const"
    boxes = boxes_of(seed, count) if boxes is None else np.float32(boxes)
    scores = scores_of(seed, scores_count or count) if scores is None else np.float32(scores)
    shape = boxes.shape if boxes_shape is None else boxes_shape
    inputs = [In(kinds[0], shape, np.resize(boxes, shape)), In(kinds[1], scores.shape, scores)]
    for kind, value in zip(kinds[2:], (most, overlap, score) + ((sigma,) if soft else ())):
        inputs.append(In(kind, scalar, np.full(scalar, value), const))
    outputs = [Out("i32", (1,), EQUAL), Out("f32", (1,), ELEMENT), Out("i32", (), EQUAL)]
    return node(op, inputs, outputs if soft else outputs[::2] if outs is None else outs, type="f32",
                **case)


def cases(op):
    yield suppress(op, name="v1_f32_plain", tags=ORDINARY)
    yield suppress(op, 31, 40, 0.3, 0.0, 0.1, "const", name="v1_f32_odd", tags=ODD)
    yield suppress(op, 1, 1, name="v1_f32_one", tags=SMALL)
    yield suppress(op, 0, 3, name="v1_f32_none", tags=SMALL)
    for how in ("const", "input"):
        for overlap in (0.0, 0.1, 0.5, 0.9, 1.0, -1.0, 2.0):
            yield suppress(op, 20, 8, overlap, how=how, name=f"{how}_overlap_{overlap}")
        for score in (-1.0, 0.0, 0.5, 0.99, 2.0):
            yield suppress(op, 20, 8, score=score, how=how, name=f"{how}_score_{score}")
        for most in (0, 1, 5, 50):
            yield suppress(op, 20, most, how=how, name=f"{how}_most_{most}")
        for sigma in (0.0, 0.01, 1.0, 100.0) if op.endswith("5") else ():
            yield suppress(op, 20, 15, 0.7, 0.01, sigma, how, name=f"{how}_sigma_{sigma}")
            yield suppress(op, 20, 15, 1.0, 0.3, sigma, how, name=f"{how}_sigma_{sigma}_again")
        yield suppress(op, most=-1, how=how, name=f"refused_{how}_most")
        yield suppress(op, most=-2**31, how=how, name=f"refused_{how}_least")
        if op.endswith("5"):
            yield suppress(op, sigma=-0.5, how=how, name=f"refused_{how}_sigma")
        yield suppress(op, sigma=-0.5, how=how, name=f"{how}_other_form", soft=op.endswith("4"),
                       lenient=True)
    for most in (3, 9):
        yield suppress(op, 9, most, 0.5, scores=[0.5] * 9, name=f"equal_scores_{most}")
        yield suppress(op, 9, most, 0.5, scores=[0.5, 0.7] * 4 + [0.9], name=f"two_scores_{most}")
    flipped = boxes_of(3, 8)[:, [2, 3, 0, 1]]
    yield suppress(op, 8, boxes=flipped, name="flipped_boxes")
    yield suppress(op, 4, boxes=[[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]], score=0.0,
                   name="boxes_without_area")
    wild = np.float32([[0, 0, 1, 1], [np.nan, 0, 1, 1], [0, 0, np.inf, 1], [-np.inf, 0, np.inf, 1]])
    yield suppress(op, 4, boxes=wild, score=0.0, name="wild_boxes")
    yield suppress(op, 4, scores=[np.nan, np.inf, -np.inf, 0.5], name="wild_scores")
    yield suppress(op, overlap=np.nan, name="no_overlap")
    yield suppress(op, score=np.nan, name="no_score")
    yield from _refused(op)


def _refused(op):
    yield suppress(op, boxes_shape=(12, 3), name="refused_boxes_of_3")
    yield suppress(op, boxes_shape=(12, 4, 1), name="refused_boxes_rank_3")
    yield suppress(op, scores_count=11, name="refused_scores")
    yield suppress(op, scalar=(1,), name="refused_vectors")
    good = ["f32", "f32", "i32", "f32", "f32", "f32"]
    for number, wrong in enumerate(["f16", "f64", "i64", "f64", "i32", "f16"]):
        if number < 5 or op.endswith("5"):
            types = good[:number] + [wrong] + good[number + 1:]
            yield suppress(op, types=types, name=f"refused_type_{number}")
    yield suppress(op, soft=False, outs=[Out("i32")], name="refused_one_output")
    yield suppress(op, soft=False, outs=[Out("i32"), Out("f32"), Out("i32")], name="refused_three")
    yield suppress(op, soft=False, outs=[Out("f32"), Out("i64")], name="output_types",
                   undefined="the outputs' types in the file are not the operator's")
    yield from counts(op, ((4, 2), (7, 3), (0, 2)))


def draw(op, random):
    count = int(random.integers(0, 60))
    return suppress(op, count, int(random.integers(0, 40)), float(random.uniform(0, 1)),
                    float(random.uniform(0, 0.6)), float(random.choice([0, 0.1, 0.5, 2])),
                    str(random.choice(["const", "input"])), seed=int(random.integers(1, 2**30)),
                    name=f"draw_{count}")
