# SPDX-License-Identifier: Apache-2.0
"""TFLite_Detection_PostProcess, a custom operator that TensorFlow Lite includes."""
import numpy as np
from flatbuffers import flexbuffers

from .. import generator
from ..model import ELEMENT, q
from ..pieces import In, Out, counts, node

OPERATORS = ["TFLite_Detection_PostProcess"]
VERSIONS = {OPERATORS[0]: 1}
UNWRITTEN = "leaves what nothing is detected for unwritten"


def anchors_of(count):
    at = np.arange(count)
    return np.float32(np.stack([0.1 + at * 7 % 10 / 12, 0.1 + at * 3 % 10 / 12,
                                0.2 + at % 3 / 10, 0.2 + at % 4 / 10], 1))


def detect(boxes=12, classes=3, background=1, most=4, each=1, per_class=100, regular=False,
           score=0.0, overlap=0.5, numbers=4, type="f32", quant=None, seed=1, anchors=None,
           boxes_shape=None, scores_shape=None, anchor_shape=None, anchor_type=None, outs=4,
           options=None, score_data=None, drop=(), raw=None, **case):
    table = dict(max_detections=most, max_classes_per_detection=each, detections_per_class=per_class,
                 use_regular_nms=regular, nms_score_threshold=score, nms_iou_threshold=overlap,
                 num_classes=classes, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
    table.update(options or {})
    for name in drop:
        del table[name]
    custom = bytes(flexbuffers.Dumps(table)) if raw is None else raw
    width = classes + background
    scores = generator.uniform(seed + 50, 0, 1).values((1, boxes, width), np.float32)
    qa = qs = None
    data = anchors_of(boxes) if anchors is None else anchors
    if type == "u8":
        quant, qa, qs = q(0.05, 128), q(0.01, 20), q(1 / 255)
        data, scores = np.clip(data / 0.01 + 20, 0, 255).astype(np.uint8), None
    inputs = [In(type, boxes_shape or (1, boxes, numbers), quant=quant),
              In(type, scores_shape or (1, boxes, width), None if scores_shape else
                 scores if score_data is None else score_data, quant=qs),
              In(anchor_type or type, anchor_shape or (boxes, 4),
                 None if anchor_shape or anchor_type else data, const=True, quant=qa)]
    return node(OPERATORS[0], inputs, [Out("f32", (1,), ELEMENT) for _ in range(outs)], seed=seed,
                table=dict(custom=custom), **case)


def cases(op):
    for type in ("f32", "u8"):
        for number, more in enumerate((dict(), dict(classes=1), dict(background=0), dict(each=2),
                                       dict(each=3, most=2), dict(numbers=7), dict(boxes=40, most=5),
                                       dict(overlap=0.1, most=2), dict(overlap=1.0, most=12))):
            yield detect(type=type, **more, name=f"{type}_fast_{number}")
        for number, more in enumerate((dict(), dict(classes=1), dict(background=0), dict(most=30),
                                       dict(each=3, most=2), dict(per_class=1), dict(boxes=40, most=9),
                                       dict(score=0.6), dict(score=2.0), dict(overlap=0.1))):
            wild = UNWRITTEN if number == 4 else ""
            yield detect(type=type, regular=True, **more, undefined=wild,
                         name=f"{type}_regular_{number}")
        yield detect(type=type, score=0.7, most=9, name=f"{type}_few", undefined=UNWRITTEN)
        yield detect(type=type, each=5, name=f"{type}_many_classes", undefined=UNWRITTEN)
    yield detect(drop=("use_regular_nms", "detections_per_class"), name="defaults")
    yield detect(drop=("detections_per_class",), regular=True, name="default_per_class")
    yield detect(options=dict(max_detections=4.0, nms_iou_threshold=1, y_scale=10), name="other_types")
    equal = np.full((1, 12, 4), 0.5, np.float32)
    yield detect(score_data=equal, name="equal_scores")
    yield detect(score_data=equal, regular=True, name="equal_scores_regular")
    yield detect(overlap=0.0, name="refused_overlap_0")
    yield detect(overlap=1.5, name="refused_overlap_more")
    yield detect(most=-1, name="refused_most")
    yield detect(each=0, name="each_0", lenient=True)
    yield detect(regular=True, per_class=0, name="refused_per_class")
    yield detect(classes=5, scores_shape=(1, 12, 4), name="refused_classes")
    yield detect(classes=2, scores_shape=(1, 12, 4), name="refused_background")
    yield detect(classes=0, name="no_classes", undefined="takes the best of no classes")
    yield detect(anchors=-anchors_of(12), name="refused_negative_boxes")
    yield detect(boxes_shape=(2, 12, 4), name="refused_two_batches")
    yield detect(boxes_shape=(1, 12, 3), name="refused_three_numbers")
    yield detect(boxes_shape=(12, 4), name="refused_rank_2")
    yield detect(scores_shape=(1, 11, 4), name="refused_scores")
    yield detect(anchor_shape=(11, 4), name="few_anchors", undefined="reads past the anchors")
    yield detect(anchor_shape=(12, 3), name="narrow_anchors", undefined="reads past the anchors")
    yield detect(anchor_type="u8", name="refused_anchor_type")
    yield detect(outs=3, name="refused_three_outputs")
    yield detect(raw=b"", name="no_options", undefined="reads options where there are none")
    for size in (1, 7, 20, 60):
        yield detect(raw=b"\xff" * size, name=f"wild_options_{size}",
                     undefined="follows any offset in its options")
    yield from counts(op, ((2, 4), (4, 4)), dict(custom=bytes(flexbuffers.Dumps({}))))


def draw(op, random):
    return detect(int(random.integers(20, 60)), int(random.integers(1, 5)),
                  int(random.integers(0, 2)), int(random.integers(1, 4)), 1, regular=True,
                  overlap=float(random.uniform(0.2, 1)), seed=int(random.integers(1, 2**20)),
                  name="draw")
