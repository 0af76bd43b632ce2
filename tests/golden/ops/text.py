# SPDX-License-Identifier: Apache-2.0
"""SKIP_GRAM, LSH_PROJECTION and HASHTABLE_LOOKUP."""
import numpy as np

from .. import movement
from ..model import EQUAL, ODD, ORDINARY, SMALL
from ..movement import ALL, MOVED_NUMBERS
from ..pieces import In, Out, counts, node

OPERATORS = ["SKIP_GRAM", "LSH_PROJECTION", "HASHTABLE_LOOKUP"]
VERSIONS = {op: 1 for op in OPERATORS}
SPARSE, DENSE = 1, 2
HASHED = tuple(t for t in ALL if t != "str")


def grams(text=b"the quick brown fox jumps", size=2, skip=1, every=False, type="str", out="str",
          texts=None, options=True, **case):
    table = {"SkipGramOptions": dict(ngramSize=size, maxSkipSize=skip, includeAllNgrams=every)}
    texts = [text] if texts is None else texts
    data = texts if type == "str" else None
    return node("SKIP_GRAM", [In(type, (len(texts),), data)], [Out(out, (1,), EQUAL)],
                table=table if options else {}, **case)


def _grams():
    yield grams(name="v1_str_plain", tags=ORDINARY)
    yield grams(b"a b c d e f g", 3, 2, True, name="v1_str_odd", tags=ODD)
    yield grams(b"word", 1, 0, name="v1_str_one", tags=SMALL)
    yield grams(b"", 1, 0, name="v1_str_empty", tags=SMALL)
    for every in (False, True):
        for size in (-1, 0, 1, 2, 3, 5, 6, 2**31 - 1):
            for skip in (-1, 0, 1, 3, 2**31 - 1):
                if size != 0 or skip == 0:
                    wild = "steps outside of the words" if size == 0 else ""
                    yield grams(size=size, skip=skip, every=every, undefined=wild,
                                name=f"size_{size}_skip_{skip}_{every}")
    for number, text in enumerate((b" ", b"  ", b" a", b"a ", b"a  b", b"  a b", b" a  b ", b"\ta\nb\r",
                                   b"\x0ba\x0cb", b"\xff\xfe \x80", b"a\x00b c", b"   a   b   ")):
        for size in (1, 2):
            yield grams(text, size, 1, name=f"spaces_{number}_{size}")
    yield grams(texts=[b"a b", b"c d"], name="two_texts")
    yield grams(texts=[], name="no_text", undefined="reads a text where there is none")
    yield grams(options=False, name="no_options", undefined="steps outside of the words")
    yield grams(type="i32", name="refused_i32")
    yield grams(out="i32", name="refused_output")
    yield from counts("SKIP_GRAM", ((0, 1), (2, 1), (1, 2)))


def project(type="f32", x=(3, 2), hash=(4, 2), kind=SPARSE, weight=None, out="i32", seed=1,
            hash_type="f32", weight_type="f32", data=None, quant=None, version=1, options=True,
            hash_data=None, missing=False, **case):
    # Integer inputs are small: the fingerprints of numbers close to one another differ nevertheless.
    low_high = dict(low=-100, high=100) if type[0] in "iu" and type != "u8" else {}
    if type in ("u8", "u32"):
        low_high = dict(low=0, high=200)
    inputs = [In(hash_type, hash, hash_data), In(type, x, data, quant=quant, **low_high)]
    if weight is not None:
        inputs.append(In(weight_type, weight))
    if missing:
        inputs.append(None)
    table = {"LSHProjectionOptions": dict(type=kind)}
    return node("LSH_PROJECTION", inputs, [Out(out, (1,), EQUAL)], version,
                table if options else {}, seed, type, **case)


def _projections():
    yield from movement.claims(project, (1,), HASHED, {},
                               dict(x=(2, 3, 1, 2), hash=(3, 5), kind=DENSE, weight=(2,)),
                               [dict(x=(1,), hash=(1, 1)), dict(x=(1, 0), hash=(2, 3))])
    # Keys with lengths for every branch of the hash function.
    for length in (0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 28, 29, 40, 60, 61, 62, 100, 124, 125, 188,
                   300):
        yield project("i8", (3, length), (4, 9), DENSE, name=f"length_{length}")
    for kind in (SPARSE, DENSE):
        for bits in (1, 2, 7, 16, 31):
            yield project(hash=(3, bits), kind=kind, name=f"kind_{kind}_bits_{bits}")
            yield project("i32", (5,), hash=(3, bits), kind=kind, weight=(5,),
                          name=f"weighted_{kind}_bits_{bits}")
        yield project(hash=(3, 32), kind=kind, name=f"kind_{kind}_bits_32",
                      undefined="shifts by all bits" if kind == SPARSE else "")
        yield project(hash=(3, 33), kind=kind, name=f"refused_{kind}_bits_33")
        yield project(hash=(0, 3), kind=kind, name=f"kind_{kind}_no_hashes")
        yield project(hash=(3, 0), kind=kind, name=f"kind_{kind}_no_bits")
    yield project(kind=0, name="refused_unknown")
    yield project(options=False, name="refused_no_options")
    yield project(hash=(4,), name="refused_hash_vector")
    yield project(x=(), name="refused_scalar")
    yield project(x=(0, 2), name="refused_no_items")
    yield project(weight=(2,), name="refused_weight_count")
    yield project(weight=(3, 1), name="refused_weight_matrix")
    yield project(missing=True, name="refused_weight_missing")
    yield project(hash_type="f16", name="hash_f16", undefined="reads the seeds as float32")
    yield project(weight=(3,), weight_type="f16", name="weight_f16",
                  undefined="reads the weights as float32")
    yield project(out="i8", name="output_i8", undefined="writes int32 to it")
    yield from counts("LSH_PROJECTION", ((1, 1), (4, 1), (2, 2)),
                      {"LSHProjectionOptions": dict(type=SPARSE)})


def lookup(type="f32", at=(3, 7, -5, 3), keys=(-5, 3, 4, 9), row=(2,), version=1, quant=None, out=None,
           hits="u8", at_type="i32", key_type="i32", rows=None, at_dims=None, key_dims=None, seed=1,
           values=None, **case):
    at, keys = np.asarray(at, np.int64), np.asarray(keys, np.int64)
    shape = values if values is not None else ((keys.size if rows is None else rows,) + tuple(row))
    inputs = [In(at_type, at.shape if at_dims is None else at_dims, at),
              In(key_type, keys.shape if key_dims is None else key_dims, keys, True),
              In(type, shape, quant=quant, const=type == "str")]
    return node("HASHTABLE_LOOKUP", inputs, [Out(out or type, (1,), EQUAL), Out(hits, (1,), EQUAL)],
                version, seed=seed, type=type, **case)


def _lookups():
    none = dict(at=(), at_dims=(0,))
    yield from movement.claims(lookup, (1,), MOVED_NUMBERS, {}, dict(row=(2, 1, 3)),
                               [dict(at=(4,), keys=(4,), row=()), none])
    yield from movement.claims(lookup, (1,), ("str",), dict(row=()), dict(at=(9, 9, 1), row=()),
                               [dict(at=(4,), keys=(4,), row=()), dict(none, row=())])
    yield lookup(keys=(5, 5, 5, 5, 7), at=(5, 7), name="equal_keys")
    yield lookup(keys=(9, 1, 5, 3), at=(9, 1, 5, 3, 2), name="unsorted_keys")
    yield lookup(keys=np.arange(0, 300, 3), at=np.arange(-3, 305), name="many_keys")
    yield lookup(keys=(-2**31, 0, 2**31 - 1), at=(-2**31, 2**31 - 1, 0, 5), name="far_keys",
                 undefined="compares keys by their difference, which overflows")
    yield lookup(row=(0,), name="rows_of_nothing")
    yield lookup(keys=(), key_dims=(0,), name="refused_no_rows")
    yield lookup(rows=3, name="refused_rows")
    yield lookup(values=(), name="refused_scalar_values")
    yield lookup("str", row=(2,), name="refused_str_matrix")
    yield lookup(at=3, at_dims=(), name="refused_lookup_scalar")
    yield lookup(keys=((1, 2), (3, 4)), rows=2, name="refused_key_matrix")
    yield lookup(at_type="i64", name="refused_lookup_i64")
    yield lookup(key_type="i64", name="refused_keys_i64")
    yield lookup(hits="i8", name="refused_hits_i8")
    yield lookup(out="i32", name="refused_output")
    yield from counts("HASHTABLE_LOOKUP", ((2, 2), (4, 2), (3, 1), (3, 3)))


def cases(op):
    yield from {"SKIP_GRAM": _grams, "LSH_PROJECTION": _projections,
                "HASHTABLE_LOOKUP": _lookups}[op]()


def draw(op, random):
    seed = int(random.integers(1, 2**30))
    if op == "SKIP_GRAM":
        words = [b"w" * int(n) for n in random.integers(0, 4, random.integers(0, 8))]
        return grams(b" ".join(words), int(random.integers(1, 5)), int(random.integers(0, 4)),
                     bool(random.integers(0, 2)), name=f"draw_{len(words)}")
    if op == "LSH_PROJECTION":
        type, x = str(random.choice(HASHED)), tuple(int(n) for n in random.integers(1, 20, 2))
        return project(type, x, tuple(int(n) for n in random.integers(1, 9, 2)),
                       int(random.integers(1, 3)), (x[0],) if random.random() < 0.5 else None,
                       seed=seed, name=f"draw_{type}_{x}")
    type, keys = str(random.choice(HASHED)), np.unique(random.integers(-50, 50, 20))
    return lookup(type, random.integers(-50, 50, int(random.integers(0, 30))), keys,
                  tuple(int(n) for n in random.integers(1, 4, random.integers(0, 3))), seed=seed,
                  name=f"draw_{type}")
