# SPDX-License-Identifier: Apache-2.0
"""AudioSpectrogram and Mfcc, custom operators that TensorFlow Lite includes."""
import numpy as np
from flatbuffers import flexbuffers

from ..model import SUM
from ..pieces import In, Out, counts, node

SPECTROGRAM, MFCC = OPERATORS = ["AudioSpectrogram", "Mfcc"]
VERSIONS = dict.fromkeys(OPERATORS, 1)


def options(table, drop=(), raw=None):
    return bytes(flexbuffers.Dumps({k: v for k, v in table.items() if k not in drop})
                 if raw is None else raw)


def spectrogram(samples=40, channels=1, window=16, stride=8, squared=True, type="f32", shape=None,
                out="f32", data=None, drop=(), raw=None, seed=1, outs=1, resize=None, **case):
    table = dict(window_size=window, stride=stride, magnitude_squared=squared)
    return node(SPECTROGRAM, [In(type, (samples, channels) if shape is None else shape, data,
                                 resize=resize)],
                [Out(out, (1,), SUM) for _ in range(outs)], seed=seed,
                table=dict(custom=options(table, drop, raw)), **case)


def _spectrogram():
    for number, more in enumerate((
            dict(), dict(squared=False), dict(channels=3), dict(window=2, stride=1),
            dict(window=3, stride=5), dict(window=17, stride=40), dict(window=40), dict(window=41),
            dict(window=33, stride=1, channels=2, squared=False), dict(samples=0), dict(channels=0),
            dict(samples=700, window=480, stride=160), dict(window=15), dict(stride=2**31 - 1),
            dict(window=64, samples=10), dict(squared=2), dict(window=16.0, stride=7.9))):
        yield spectrogram(**more, name=f"forms_{number}")
    tone = np.sin(np.arange(600) * 0.3).reshape(600, 1)
    for squared in (False, True):
        yield spectrogram(600, window=512, stride=20, squared=squared, data=np.float32(tone),
                          name=f"tone_{squared}")
        yield spectrogram(20, squared=squared, data=np.zeros((20, 1), np.float32),
                          name=f"silence_{squared}")
    wild = np.ones((20, 1), np.float32)
    for number, value in enumerate((np.nan, np.inf, 3e38)):
        wild[9] = value
        yield spectrogram(20, window=4, stride=4, data=wild.copy(), name=f"wild_{number}",
                          undefined="multiplies infinities by 0 or not, as its transform goes"
                          if number == 1 else "")
    yield spectrogram(20, resize=(50, 2), name="resized")
    for window in (1, 0, -5):
        yield spectrogram(window=window, name=f"refused_window_{window}",
                          undefined="computes a negative number of elements" if window < 0 else "")
    for stride in (0, -1, -2**31):
        yield spectrogram(stride=stride, name=f"refused_stride_{stride}")
    for window in (2**30 + 1, 2**31 - 1):
        yield spectrogram(window=window, name=f"huge_window_{window}",
                          undefined="the length of its transforms overflows")
    for drop in ("window_size", "stride", "magnitude_squared"):
        yield spectrogram(drop=(drop,), name=f"{'refused' if drop != 'magnitude_squared' else 'no'}_{drop}")
    yield spectrogram(raw=b"", name="no_options", undefined="reads options where there are none")
    for size in (1, 3, 20):
        yield spectrogram(raw=b"\xff" * size, name=f"wild_options_{size}",
                          undefined="follows any offset in its options")
    yield spectrogram(shape=(40,), name="refused_rank_1")
    yield spectrogram(shape=(1, 40, 1), name="refused_rank_3")
    yield spectrogram(type="i16", name="refused_i16")
    yield spectrogram(out="f64", name="refused_output")
    table = dict(window_size=16, stride=8, magnitude_squared=True)
    yield from counts(SPECTROGRAM, ((0, 1), (2, 1), (1, 2)), dict(custom=options(table)))


def mfcc(shape=(1, 3, 129), rate=16000, upper=4000, lower=20, bands=40, coefficients=13, const=True,
         rate_type="i32", rate_shape=(), type="f32", out="f32", data=None, low=0, high=4, drop=(),
         raw=None, seed=1, resize=None, **case):
    table = dict(upper_frequency_limit=upper, lower_frequency_limit=lower,
                 filterbank_channel_count=bands, dct_coefficient_count=coefficients)
    inputs = [In(type, shape, data, low=low, high=high, resize=resize),
              In(rate_type, rate_shape, np.full(rate_shape, rate), const)]
    return node(MFCC, inputs, [Out(out, (1,), SUM)], seed=seed,
                table=dict(custom=options(table, drop, raw)), **case)


def _mfcc():
    for const in (True, False):
        for number, more in enumerate((
                dict(), dict(shape=(2, 5, 65)), dict(bands=3, coefficients=3), dict(coefficients=1),
                dict(bands=1, coefficients=1), dict(bands=200, coefficients=20), dict(lower=0),
                dict(upper=8000), dict(upper=8001), dict(upper=8062), dict(upper=8063), dict(upper=9000),
                dict(upper=200000), dict(rate=1), dict(rate=2**31 - 1), dict(lower=3990, upper=4000),
                dict(lower=7999, upper=8000), dict(shape=(1, 3, 2)), dict(coefficients=0),
                dict(shape=(1, 0, 129)), dict(shape=(0, 3, 129)), dict(shape=(1, 0, 0)),
                dict(rate_shape=(1,)), dict(rate_shape=(1, 1)), dict(upper=4000.9, lower=20.9),
                dict(shape=(1, 0, 129), rate=0), dict(coefficients=40), dict(rate=8000, upper=3999))):
            yield mfcc(**more, const=const, name=f"forms_{'const' if const else 'input'}_{number}")
        for rate in (0, -1, -2**31):
            yield mfcc(rate=rate, const=const, name=f"refused_rate_{rate}_{const}")
    yield mfcc(data=np.zeros((1, 3, 129), np.float32), name="silence")
    yield mfcc(low=-1, high=1, name="negative")
    wild = np.ones((1, 3, 129), np.float32)
    wild[0, 0, 30], wild[0, 1, 30] = np.nan, np.inf
    yield mfcc(data=wild, name="wild")
    yield mfcc(resize=(2, 2, 33), name="resized")
    for number, more in enumerate((dict(bands=0), dict(bands=-1), dict(coefficients=41),
                                   dict(coefficients=-1), dict(lower=-1), dict(lower=5000),
                                   dict(lower=4000), dict(shape=(1, 3, 1)), dict(shape=(1, 3, 0)))):
        yield mfcc(**more, name=f"refused_numbers_{number}")
    for number, more in enumerate((dict(bands=2**31 - 1), dict(bands=2**30, coefficients=2**30))):
        yield mfcc(**more, name=f"huge_{number}", undefined="takes gigabytes, or dies for want of them")
    for drop in ("upper_frequency_limit", "filterbank_channel_count"):
        yield mfcc(drop=(drop,), name=f"refused_{drop}")
    for drop in ("lower_frequency_limit", "dct_coefficient_count"):
        yield mfcc(drop=(drop,), name=f"no_{drop}")
    yield mfcc(raw=b"", name="no_options", undefined="reads options where there are none")
    for size in (1, 3, 20):
        yield mfcc(raw=b"\xff" * size, name=f"wild_options_{size}",
                   undefined="follows any offset in its options")
    yield mfcc((3, 129), name="refused_rank_2")
    yield mfcc((1, 1, 3, 129), name="refused_rank_4")
    yield mfcc(type="f64", name="refused_f64")
    yield mfcc(out="f64", name="refused_output")
    yield mfcc(rate_type="i64", name="refused_rate_i64")
    yield mfcc(rate_type="f32", name="refused_rate_f32")
    yield mfcc(rate_shape=(2,), name="refused_two_rates")
    yield mfcc(rate_shape=(0,), name="refused_no_rate")
    table = dict(upper_frequency_limit=4000, lower_frequency_limit=20, filterbank_channel_count=4,
                 dct_coefficient_count=3)
    yield from counts(MFCC, ((1, 1), (3, 1), (2, 2)), dict(custom=options(table)))


def cases(op):
    yield from (_spectrogram if op == SPECTROGRAM else _mfcc)()


def draw(op, random):
    seed = int(random.integers(1, 2**20))
    if op == SPECTROGRAM:
        return spectrogram(int(random.integers(0, 300)), int(random.integers(1, 4)),
                           int(random.integers(2, 100)), int(random.integers(1, 60)),
                           bool(random.integers(2)), seed=seed, name="draw")
    bands = int(random.integers(1, 50))
    return mfcc(tuple(int(n) for n in (*random.integers(1, 4, 2), random.integers(2, 300))),
                int(random.integers(4000, 48000)), int(random.integers(1000, 9000)),
                int(random.integers(0, 900)), bands, int(random.integers(1, bands + 1)), seed=seed,
                name="draw")
