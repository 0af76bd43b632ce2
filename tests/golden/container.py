# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/golden/*.golden; tests/conformance/golden_reader.h describes the format and reads it.

The rows of a file are packed with a small LZ77 (unlimited window), because rows of one operator are
near copies of one another and the tests have no decompressor.
"""
import struct

import numpy as np

from . import generator, model

MAGIC = b"DEPGOLD1"
BOTH, HASHES = 0, 1
HASH_BLOCK = 256
LENIENT = 1
_MINIMUM = 6


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def _varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def compress(data):
    """Returns `data` as tokens: the varint 2n precedes n literal bytes; the varint 2n + 1 and a varint distance
    copy n bytes."""
    seen, out, literal, at, end = {}, bytearray(), 0, 0, len(data)
    while at + _MINIMUM <= end:
        best, length = -1, 0
        for candidate in seen.get(data[at:at + _MINIMUM], ()):
            n = _common(data, candidate, at, end)
            if n > length:
                best, length = candidate, n
        step = length if length >= _MINIMUM else 1
        if length >= _MINIMUM:
            if literal < at:
                out += _varint(2 * (at - literal)) + data[literal:at]
            out += _varint(2 * length + 1) + _varint(at - best)
            literal = at + length
        for position in range(at, min(at + step, at + 64, end - _MINIMUM + 1)):
            chain = seen.setdefault(data[position:position + _MINIMUM], [])
            chain.insert(0, position)
            del chain[6:]
        at += step
    if literal < end:
        out += _varint(2 * (end - literal)) + data[literal:end]
    return bytes(out)


def _common(data, a, b, end):
    """Returns the number of equal bytes from a and from b."""
    n, step = 0, 64
    while step:
        while b + n + step <= end and data[a + n:a + n + step] == data[b + n:b + n + step]:
            n += step
            step = min(step * 2, 1 << 16) if step >= 64 else step
        step //= 2
    return n


def _text(text):
    data = text.encode()[:255]
    return struct.pack("<B", len(data)) + data


def _dims(shape):
    return struct.pack(f"<B{len(shape)}i", len(shape), *shape)


def _fill(fill):
    return struct.pack("<Qddd", fill.seed, fill.low, fill.high, fill.step)


def row(case, results):
    """Returns the bytes of one row. `results`: {"reference": Result, "optimised": Result}."""
    blank = bytearray(case.model)
    for patch in case.patches:
        size = patch.count * np.dtype(model.TYPES[patch.type][2]).itemsize
        blank[patch.offset:patch.offset + size] = bytes(size)
    reference, optimised = results["reference"], results["optimised"]
    out = _text(case.name) + _text(case.op)
    out += struct.pack("<HBBBBBHf", case.version, model.TYPES[case.type][1], case.tags,
                       LENIENT if case.lenient else 0, reference.outcome, optimised.outcome,
                       case.steps, case.factor)
    out += _text(reference.message or optimised.message)
    out += struct.pack("<I", len(blank)) + blank
    out += struct.pack("<B", len(case.patches))
    for patch in case.patches:
        out += struct.pack("<IIBB", patch.offset, patch.count, model.TYPES[patch.type][1],
                           patch.fill.kind) + _fill(patch.fill)
    out += struct.pack("<B", len(case.feeds))
    for feed in case.feeds:
        out += struct.pack("<BB", model.TYPES[feed.type][1], feed.resize) + _dims(feed.shape)
        if isinstance(feed.data, generator.Fill):
            out += struct.pack("<B", feed.data.kind) + _fill(feed.data)
        else:
            out += struct.pack("<B", generator.RAW) + _contents(feed.type, feed.values())
    return out + _outputs(case, reference, optimised)


def _outputs(case, reference, optimised):
    given = [a for a in (reference, optimised) if a.outputs]
    if not given:
        return struct.pack("<B", 0)
    out = struct.pack("<B", len(given[0].outputs))
    for number, first in enumerate(given[0].outputs):
        arrays = [a.outputs[number] for a in given]
        if any(a.shape != first.shape or a.dtype != first.dtype for a in arrays):
            raise ValueError(f"{case.name}: the resolvers disagree about an output's shape")
        type = model.TYPE_OF_NUMPY[first.dtype]
        kind = model.TYPES[type][1]
        out += struct.pack("<BB", case.rules[number], kind) + _dims(first.shape)
        out += struct.pack("<B", HASHES if case.exact else BOTH)
        if case.exact:
            data = first.tobytes()
            out += b"".join(struct.pack("<Q", fnv1a(data[i:i + HASH_BLOCK]))
                            for i in range(0, len(data), HASH_BLOCK))
        else:
            out += b"".join(_contents(type, a) for a in arrays)
    return out


def _contents(type, values):
    """Returns the bytes of contents; those of strings are preceded by their size."""
    data = model.to_bytes(type, values)
    return struct.pack("<I", len(data)) + data if type == "str" else data


def write(path, rows):
    payload = b"".join(struct.pack("<I", len(r)) + r for r in rows)
    path.write_bytes(MAGIC + struct.pack("<II", len(rows), len(payload)) + compress(payload))
