// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions of 3 x 3 and 5 x 5 taps for x86-64 with AVX-512 and VNNI, several
// rows at once. Everything is in the unnamed namespace, and no inline function of a shared header
// is used.
//
// Four input rows are interleaved first, so that the values of one column and channel form a 32-bit
// lane, as VPDPBUSD multiplies them. For 3 x 3 taps, padding the three weights with a zero before
// or after them lets the same four rows serve two output lines; 5 x 5 taps use two groups of four
// rows. Thus a tap column takes one or two instructions per line, and none of them moves bytes.
// With 3 x 3 taps and stride 2 four interleaved rows serve only one output line, so interleaved
// columns are not stored.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__AVX512VNNI__)

#include "kernels/cpu/common/depthwise_s8.inc"
#include "kernels/cpu/x86_64/avx512_vnni/int8.inc"

namespace deputy {
namespace {

inline __m512i Load(const void* from) { return _mm512_loadu_si512(from); }

// ---- Blocks of channels ------------------------------------------------------------------------

// A block has 64 channels, or fewer channels of several columns, side by side in its vectors.
constexpr int kBlock = 64, kMinWidth = 8, kMaxRuns = kBlock / kMinWidth;
// Number of vectors that hold four rows of a column, and bytes per vector.
constexpr int kVectors = 4, kVector = 64;

struct Block {
  int first, width;

  // Returns the number of columns side by side in a vector.
  int runs() const { return kBlock / width; }
  // Returns the channel in a lane: interleaving moves four of the 16 bytes of each 128-bit lane to
  // each vector.
  int ChannelOf(int vector, int lane) const {
    const int position = lane / 4 * 16 + vector * 4 + lane % 4;
    return first + (position & (width - 1));  // the width is a power of two
  }
};

// Blocks that together cover all channels, of which there are at least kMinWidth. The last block
// may overlap the previous one.
struct Blocks {
  int channels;

  int count() const { return whole() + (EndsInWhole() ? 1 : Pieces()); }
  Block operator[](int i) const {
    if (i < whole()) return {i * kBlock, kBlock};
    if (EndsInWhole()) return {channels - kBlock, kBlock};
    int first = whole() * kBlock;
    for (int before = whole(); before < i; ++before) first += WidthOf(channels - first);
    const int width = WidthOf(channels - first);
    return {Min(first, channels - width), width};
  }

 private:
  static int WidthOf(int left) { return left >= 32 ? 32 : left >= 16 ? 16 : kMinWidth; }
  int whole() const { return channels / kBlock; }
  int Pieces() const {
    int pieces = 0;
    for (int left = channels % kBlock; left > 0; left -= WidthOf(left)) ++pieces;
    return pieces;
  }
  // Returns true if a whole block covers the remainder: more than two pieces take as long as a
  // whole block, which requires at least kBlock channels.
  bool EndsInWhole() const { return channels >= kBlock && Pieces() > 2; }
};

// ---- Packed data -------------------------------------------------------------------------------

// Number of interleaved rows (a quad; a new quad begins at every second row), and number of output
// lines for which a quad is used with stride 1.
constexpr int kQuad = 4, kLines = 2;
constexpr int QuadsOf(int size) { return size == 3 ? 1 : 2; }

// Bytes of the bias, and of the factors, in the packed data of a block, which has the weights
// [vector][quad][tap column][line], then the bias, then the factors.
constexpr size_t kNumbersBytes = kBlock * sizeof(int32_t);
constexpr size_t WeightsBytes(int size) {
  return static_cast<size_t>(QuadsOf(size)) * static_cast<size_t>(size) * kLines * kVector;
}
constexpr size_t BlockBytes(int size) { return kVectors * WeightsBytes(size) + 2 * kNumbersBytes; }

size_t PackedBytes(int size, int channels) {
  return static_cast<size_t>(Blocks{channels}.count()) * BlockBytes(size);
}

// ---- Interleaving ------------------------------------------------------------------------------

constexpr size_t kColumnBytes = kVectors * kVector;

template <int kRuns>
inline __m512i LoadRuns(const int8_t* const* from) {
  const auto load16 = [](const int8_t* a) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  };
  const auto load8s = [](const int8_t* a, const int8_t* b) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)));
  };
  const auto halves = [](__m256i a, __m256i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
  };
  if constexpr (kRuns == 1) {
    return Load(from[0]);
  } else if constexpr (kRuns == 2) {
    return halves(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[0])),
                  _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[1])));
  } else if constexpr (kRuns == 4) {
    return halves(_mm256_set_m128i(load16(from[1]), load16(from[0])),
                  _mm256_set_m128i(load16(from[3]), load16(from[2])));
  } else {
    return halves(_mm256_set_m128i(load8s(from[2], from[3]), load8s(from[0], from[1])),
                  _mm256_set_m128i(load8s(from[6], from[7]), load8s(from[4], from[5])));
  }
}

// Interleaves the bytes of four rows.
inline void Interleave(const __m512i (&rows)[kQuad], __m512i (&quad)[kVectors]) {
  const __m512i low01 = _mm512_unpacklo_epi8(rows[0], rows[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(rows[0], rows[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(rows[2], rows[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(rows[2], rows[3]);
  quad[0] = _mm512_unpacklo_epi16(low01, low23);
  quad[1] = _mm512_unpackhi_epi16(low01, low23);
  quad[2] = _mm512_unpacklo_epi16(high01, high23);
  quad[3] = _mm512_unpackhi_epi16(high01, high23);
}

// Addresses of the input columns of four rows.
struct Source {
  const int8_t* rows[kQuad];  // null for rows outside the input
  const int8_t* outside;      // pixel of zero points, read outside the input
  size_t step;                // distance between columns, in bytes
  int width;                  // number of input columns
  int x;                      // index of the first column
  int starts[kMaxRuns];       // offset of each run, in columns
};

// Iterates over the columns of four rows. Only the first kRead rows are read; the weights of the
// remaining rows are zero.
template <int kRead, int kRuns>
class ColumnReader {
 public:
  explicit ColumnReader(const Source& source)
      : outside_(source.outside), width_(source.width), step_(source.step), x_(source.x) {
    for (int run = 0; run < kRuns; ++run) {
      starts_[run] = source.starts[run];
      further_[run] = static_cast<ptrdiff_t>(starts_[run]) * static_cast<ptrdiff_t>(step_);
    }
    end_ = width_ - starts_[kRuns - 1];
    for (int r = 0; r < kRead; ++r) {
      rows_[r] = source.rows[r];
      if (rows_[r] == nullptr) end_ = 0;
    }
    at_ = static_cast<ptrdiff_t>(x_) * static_cast<ptrdiff_t>(step_);
  }

  // Returns true if the next `count` columns are inside the input in all rows and runs.
  bool IsInside(int count) const { return x_ >= 0 && x_ + count <= end_; }

  template <bool kInside>
  [[gnu::always_inline]] inline void Next(__m512i (&quad)[kVectors]) {
    const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
    __m512i values[kQuad];
#pragma GCC unroll 4
    for (int r = 0; r < kQuad; ++r) {
      const int8_t* runs[kRuns];
#pragma GCC unroll 8
      for (int run = 0; run < kRuns && r < kRead; ++run) {
        runs[run] = kInside ? rows_[r] + at_ + (run == 0 ? 0 : further_[run]) : Pixel(r, run);
      }
      values[r] = r < kRead ? _mm512_xor_si512(LoadRuns<kRuns>(runs), flips) : values[kRead - 1];
    }
    ++x_;
    at_ += static_cast<ptrdiff_t>(step_);
    Interleave(values, quad);
  }

 private:
  const int8_t* Pixel(int row, int run) const {
    const int column = x_ + starts_[run];
    const bool inside = rows_[row] != nullptr && column >= 0 && column < width_;
    return inside ? rows_[row] + at_ + further_[run] : outside_;
  }

  const int8_t* const outside_;
  const int width_;
  const size_t step_;
  int x_, end_;
  ptrdiff_t at_;  // byte offset of column x_
  const int8_t* rows_[kRead];
  int starts_[kRuns];
  ptrdiff_t further_[kRuns];
};

template <int kRuns>
[[gnu::noinline]] void InterleaveColumns(const Source& source, int count, int8_t* out) {
  ColumnReader<kQuad, kRuns> reader(source);
  for (; count > 0; --count, out += kColumnBytes) {
    __m512i quad[kVectors];
    reader.IsInside(1) ? reader.template Next<true>(quad) : reader.template Next<false>(quad);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm512_store_si512(out + kVector * v, quad[v]);
  }
}

// ---- Packing -----------------------------------------------------------------------------------

// Loads the weights of a tap, for each column of a vector; zeros if `row` is outside the filter.
__m512i LoadTap(const int8_t* weights, int size, int channels, const Block& block, int row,
                int column) {
  alignas(kVector) int8_t lanes[kBlock] = {};
  if (row < 0 || row >= size) return Load(lanes);
  const size_t tap =
      static_cast<size_t>(row) * static_cast<size_t>(size) + static_cast<size_t>(column);
  const int8_t* const from = weights + tap * static_cast<size_t>(channels) + block.first;
  for (int i = 0; i < kBlock; i += block.width) {
    std::memcpy(lanes + i, from, static_cast<size_t>(block.width));
  }
  return Load(lanes);
}

void PackWeights(const int8_t* weights, int size, int channels, const Block& block, int8_t* out) {
  for (int quad = 0; quad < QuadsOf(size); ++quad) {
    for (int i = 0; i < size * kLines; ++i, out += kVector) {
      __m512i rows[kQuad], vectors[kVectors];
      for (int r = 0; r < kQuad; ++r) {
        const int row = quad * kQuad + r - i % kLines;
        rows[r] = LoadTap(weights, size, channels, block, row, i / kLines);
      }
      Interleave(rows, vectors);
      for (int v = 0; v < kVectors; ++v) {
        _mm512_storeu_si512(out + static_cast<size_t>(v) * WeightsBytes(size), vectors[v]);
      }
    }
  }
}

bool PackLines(const int8_t* weights, int size, int channels, const int32_t* bias,
               const float* factors, int8_t* out) {
  const Blocks blocks = {channels};
  for (int b = 0; b < blocks.count(); ++b, out += BlockBytes(size)) {
    const Block block = blocks[b];
    PackWeights(weights, size, channels, block, out);
    int8_t* const numbers = out + kVectors * WeightsBytes(size);
    for (int i = 0; i < kBlock; ++i) {
      const int channel = block.ChannelOf(i / 16, i % 16);
      std::memcpy(numbers + 4 * i, bias + channel, 4);
      std::memcpy(numbers + kNumbersBytes + 4 * i, factors + channel, 4);
    }
  }
  return true;
}

// ---- Products ----------------------------------------------------------------------------------

// Computes the sums of kColumns columns in one vector, for one or two lines, and stores them to
// `out` [line][column][kVectors].
template <int kSize, int kStride, int kColumns>
[[gnu::always_inline]] inline void TileVector(const int8_t* const* quads, const int8_t* weights,
                                              const int8_t* bias, __m512i* out) {
  constexpr int kServed = kStride == 1 ? kLines : 1,
                kInputColumns = (kColumns - 1) * kStride + kSize;
  __m512i sums[kServed][kColumns];
  const __m512i start = Load(bias);
#pragma GCC unroll 2
  for (int line = 0; line < kServed; ++line) {
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[line][i] = start;
  }
  for (int quad = 0; quad < QuadsOf(kSize); ++quad) {
    __m512i by[kSize][kServed];
#pragma GCC unroll 5
    for (int tap = 0; tap < kSize; ++tap) {
#pragma GCC unroll 2
      for (int line = 0; line < kServed; ++line) {
        by[tap][line] = Load(weights + ((quad * kSize + tap) * kLines + line) * kVector);
      }
    }
#pragma GCC unroll 32
    for (int input_columns = 0; input_columns < kInputColumns; ++input_columns) {
      const __m512i values = Load(quads[quad] + kColumnBytes * static_cast<size_t>(input_columns));
#pragma GCC unroll 8
      for (int i = 0; i < kColumns; ++i) {
        const int tap = input_columns - i * kStride;
        if (tap < 0 || tap >= kSize) continue;
#pragma GCC unroll 2
        for (int line = 0; line < kServed; ++line) {
          MultiplyAddFours(&sums[line][i], values, by[tap][line]);
        }
      }
    }
  }
#pragma GCC unroll 2
  for (int line = 0; line < kServed; ++line) {
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) {
      _mm512_store_si512(out + (line * kColumns + i) * kVectors, sums[line][i]);
    }
  }
}

// Computes the sums of all vectors of a block, whose packed data is `packed`.
template <int kSize, int kStride, int kColumns>
[[gnu::noinline]] void Tile(const int8_t* first_quad, const int8_t* second_quad,
                            const int8_t* packed, __m512i* out) {
  const int8_t* const bias = packed + kVectors * WeightsBytes(kSize);
  for (int vector = 0; vector < kVectors; ++vector, packed += WeightsBytes(kSize)) {
    const int8_t* const quads[] = {first_quad + kVector * vector, second_quad + kVector * vector};
    TileVector<kSize, kStride, kColumns>(quads, packed, bias + kVector * vector, out + vector);
  }
}

// ---- Requantisation ----------------------------------------------------------------------------

// Requantisation parameters of a block.
struct BlockRequantization {
  __m512 factors[kVectors];
  __m512 high;         // upper bound before the zero point is added
  __m512i zero_point;  // in 16-bit lanes
  __m512i min, max;    // bounds of the quantised result
  bool plain = true;   // true if `high`, `min` and `max` are not needed

  BlockRequantization(const DepthwiseLinesS8& in, const int8_t* packed_factors)
      : high(_mm512_set1_ps(static_cast<float>(in.high - in.zero_point))),
        zero_point(_mm512_set1_epi16(static_cast<int16_t>(in.zero_point))),
        min(_mm512_set1_epi8(static_cast<char>(in.low))),
        max(_mm512_set1_epi8(static_cast<char>(in.high))) {
    // Limit of small factors: their products with 32-bit sums fit in 32 bits, so that only the
    // result needs clamping.
    const __m512 limit = _mm512_set1_ps(0.5f);
    plain = in.low == -128 && in.high == 127;
    for (int v = 0; v < kVectors; ++v) {
      factors[v] = _mm512_loadu_ps(packed_factors + kVector * v);
      plain &= _mm512_cmp_ps_mask(_mm512_abs_ps(factors[v]), limit, _CMP_NLT_UQ) == 0;
    }
  }

  // Requantises the sums of a column to bytes. Values that are too low, and NaN, become the minimum
  // integer first.
  template <bool kPlain>
  [[gnu::always_inline]] inline __m512i Bytes(const __m512i* sums) const {
    __m512i steps[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums + v)), factors[v]);
      if constexpr (!kPlain) scaled = _mm512_min_ps(high, scaled);
      steps[v] = _mm512_cvtps_epi32(scaled);
    }
    const __m512i front = _mm512_adds_epi16(_mm512_packs_epi32(steps[0], steps[1]), zero_point);
    const __m512i back = _mm512_adds_epi16(_mm512_packs_epi32(steps[2], steps[3]), zero_point);
    const __m512i bytes = _mm512_packs_epi16(front, back);
    if constexpr (kPlain) return bytes;
    return _mm512_min_epi8(max, _mm512_max_epi8(bytes, min));
  }
};

template <int kRuns>
inline void StoreRuns(__m512i bytes, int8_t* out, const size_t* starts) {
  const __m256i low = _mm512_castsi512_si256(bytes), high = _mm512_extracti64x4_epi64(bytes, 1);
  if constexpr (kRuns == 1) {
    _mm512_storeu_si512(out, bytes);
  } else if constexpr (kRuns == 2) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + starts[1]), high);
  } else {
    const __m128i quarters[] = {_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1),
                                _mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)};
    constexpr int kEach = kRuns / 4;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      int8_t* const to = out + starts[i * kEach];
      if constexpr (kEach == 1) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), quarters[i]);
      } else {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), quarters[i]);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + starts[i * kEach + 1]),
                         _mm_unpackhi_epi64(quarters[i], quarters[i]));
      }
    }
  }
}

// Output columns of a block. Columns of a run are `stride` bytes apart; each run begins at its
// offset in `starts`.
struct Columns {
  size_t stride;
  size_t starts[kMaxRuns];
};

template <bool kPlain, int kRuns>
[[gnu::noinline]] void FinishColumns(const BlockRequantization& finish, const __m512i* sums,
                                     int count, const Columns& columns, int8_t* out) {
  // Local copies: as far as the compiler knows, the stores below could change the originals.
  const BlockRequantization finished = finish;
  const Columns to = columns;
  for (int i = 0; i < count; ++i, sums += kVectors, out += to.stride) {
    StoreRuns<kRuns>(finished.Bytes<kPlain>(sums), out, to.starts);
  }
}

// ---- 3 x 3 taps ---------------------------------------------------------------------------------

// Computes the outputs of a line in order: sums are requantised while the next products are
// computed, without a round trip through memory, and weights stay in registers.
template <bool kPlain, int kRuns>
class Line {
 public:
  using Sums = __m512i[kVectors];
  using Quad = __m512i[kVectors];

  // `line` selects one of the lines for which a quad is used. `packed` is the packed data of the
  // block.
  Line(const BlockRequantization& finish, const int8_t* packed, int line, const Columns& columns,
       int8_t* out)
      : finish_(finish), bias_(packed + kVectors * WeightsBytes(3)), columns_(columns), out_(out) {
    for (int v = 0; v < kVectors; ++v) {
      for (int tap = 0; tap < 3; ++tap) {
        weights_[tap][v] = Load(packed + static_cast<size_t>(v) * WeightsBytes(3) +
                                static_cast<size_t>(tap * kLines + line) * kVector);
      }
    }
  }

  [[gnu::always_inline]] inline void Start(Sums& sums) const {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[v] = Load(bias_ + kVector * v);
  }
  template <int kTap>
  [[gnu::always_inline]] inline void Add(const Quad& quad, Sums& sums) const {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) MultiplyAddFours(&sums[v], quad[v], weights_[kTap][v]);
  }
  [[gnu::always_inline]] inline void Store(const Sums& sums) {
    StoreRuns<kRuns>(finish_.template Bytes<kPlain>(sums), out_, columns_.starts);
    out_ += columns_.stride;
  }

 private:
  // Copies of the arguments: as far as the compiler knows, the stores of results could change the
  // originals.
  const BlockRequantization finish_;
  const int8_t* const bias_;
  const Columns columns_;
  int8_t* out_;
  __m512i weights_[3][kVectors];
};

// Computes `count` outputs of a line from quads in memory.
template <bool kPlain, int kRuns>
[[gnu::noinline]] void LineOfQuads(const BlockRequantization& finish, const int8_t* packed,
                                   int which, const int8_t* quads, int count,
                                   const Columns& columns,
                                   // NOLINTNEXTLINE(readability-non-const-parameter): Line stores
                                   int8_t* out) {
  Line<kPlain, kRuns> line(finish, packed, which, columns, out);
  __m512i quad[kVectors], a[kVectors], b[kVectors], c[kVectors];
  const auto next = [&]() __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) quad[v] = _mm512_load_si512(quads + kVector * v);
    quads += kColumnBytes;
  };
  // Adds the products of an input column's quad: those of the last tap column to `oldest`, of the
  // middle one to `middle`, of the first one to `newest`.
  const auto step = [&](auto& oldest, auto& middle, auto& newest) __attribute__((always_inline)) {
    line.Start(newest);
    next();
    line.template Add<2>(quad, oldest);
    line.template Add<1>(quad, middle);
    line.template Add<0>(quad, newest);
    line.Store(oldest);
  };
  line.Start(a);
  line.Start(b);
  next();
  line.template Add<0>(quad, a);
  next();
  line.template Add<1>(quad, a);
  line.template Add<0>(quad, b);
  for (; count >= 3; count -= 3) {
    step(a, b, c);
    step(b, c, a);
    step(c, a, b);
  }
  if (count == 0) return;
  next();
  line.template Add<2>(quad, a);
  line.Store(a);
  if (count == 1) return;
  line.template Add<1>(quad, b);
  next();
  line.template Add<2>(quad, b);
  line.Store(b);
}

// Computes `count` outputs of a line with stride 2; the quads go from the input directly into
// registers.
template <bool kPlain, int kRuns>
[[gnu::noinline]] void LineOfSteps(const BlockRequantization& finish, const int8_t* packed,
                                   const Source& source, int count, const Columns& columns,
                                   // NOLINTNEXTLINE(readability-non-const-parameter): Line stores
                                   int8_t* out) {
  Line<kPlain, kRuns> line(finish, packed, 0, columns, out);
  ColumnReader<3, kRuns> reader(source);
  __m512i quad[kVectors], even[kVectors], odd[kVectors];
  const auto step = [&]<bool kInside>(auto& sums, auto& next) __attribute__((always_inline)) {
    line.Start(next);
    reader.template Next<kInside>(quad);
    line.template Add<1>(quad, sums);
    reader.template Next<kInside>(quad);
    line.template Add<2>(quad, sums);
    line.template Add<0>(quad, next);
    line.Store(sums);
  };
  line.Start(even);
  reader.template Next<false>(quad);
  line.template Add<0>(quad, even);
  while (count > 0) {
    if (count >= 2 && reader.IsInside(4)) {
      step.template operator()<true>(even, odd);
      step.template operator()<true>(odd, even);
      count -= 2;
    } else {
      step.template operator()<false>(even, odd);
      if (--count == 0) return;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) even[v] = odd[v];
    }
  }
}

// ---- Lines -------------------------------------------------------------------------------------

// Functions that compute a piece, for one number of runs and for plain or other requantisation.
struct PieceCode {
  decltype(&InterleaveColumns<1>) interleave;
  decltype(&FinishColumns<true, 1>) finish;
  decltype(&LineOfQuads<true, 1>) line_of_quads;
  decltype(&LineOfSteps<true, 1>) line_of_steps;

  template <bool kPlain, int kRuns>
  static constexpr PieceCode Of() {
    return {&InterleaveColumns<kRuns>, &FinishColumns<kPlain, kRuns>, &LineOfQuads<kPlain, kRuns>,
            &LineOfSteps<kPlain, kRuns>};
  }
};
// Functions of pieces, indexed by whether requantisation is plain, and by log2 of the number of
// runs.
constexpr PieceCode kPieceCodes[2][4] = {{PieceCode::Of<false, 1>(), PieceCode::Of<false, 2>(),
                                          PieceCode::Of<false, 4>(), PieceCode::Of<false, 8>()},
                                         {PieceCode::Of<true, 1>(), PieceCode::Of<true, 2>(),
                                          PieceCode::Of<true, 4>(), PieceCode::Of<true, 8>()}};

template <int kSize, int kStride>
class Lines {
 public:
  explicit Lines(const DepthwiseLinesS8& in) : in_(in) {
    _mm512_store_si512(outside_, _mm512_set1_epi8(static_cast<char>(in.input_zero_point)));
  }

  void Run() {
    const Blocks blocks = {in_.channels};
    for (int b = 0; b < blocks.count(); ++b) {
      const Block block = blocks[b];
      const int8_t* const packed = in_.packed + static_cast<size_t>(b) * BlockBytes(kSize);
      // Maximum number of columns of a piece. The pieces of a line have equal lengths, except the
      // last one, which may be shorter.
      const int max = kMaxColumns * block.runs();
      const int pieces = (in_.columns - 1) / max + 1;
      const int columns = (in_.columns + pieces - 1) / pieces;
      for (int column = 0; column < in_.columns; column += columns) {
        RunPiece(Piece(block, column, Min(columns, in_.columns - column)), packed);
      }
    }
  }

 private:
  static constexpr bool kKeepsQuads = kSize > 3 || kStride == 1;
  // Number of output lines for which a quad is used.
  static constexpr int kServed = kStride == 1 ? kLines : 1;
  static constexpr int kWidest = 8;  // maximum number of columns of a tile
  static constexpr int kInputColumns =
      kSize == 3 ? 72 : 44;  // maximum number of input columns in the buffer
  static constexpr int kMaxColumns = kKeepsQuads ? (kInputColumns - kSize) / kStride - 1 : 1 << 24;
  static constexpr int kBufferedQuads = kSize == 3 ? 1 : 3;  // number of quads in the buffer

  // Columns of a block that are computed together, in runs of equal lengths; the last runs may
  // overlap.
  struct Piece {
    Block block;
    int column, count;
    int starts[kMaxRuns] = {};

    Piece(const Block& of, int first, int columns)
        : block(of), column(first), count((columns + of.runs() - 1) / of.runs()) {
      for (int run = 0; run < of.runs(); ++run) {
        starts[run] = Min(run * count, columns - count);
      }
    }
  };

  // Returns an input row, counted from the first row that these lines read, or null for a row of
  // zero points.
  const int8_t* RowAt(int row) const {
    const int line = Min(row / kStride, in_.lines - 1), tap = row - line * kStride;
    return tap < kSize ? in_.inputs[line * kSize + tap] : nullptr;
  }

  int8_t* QuadAt(int quad) { return quads_[quad % kBufferedQuads]; }

  // Finds the four rows of the quad that begins with row `first`.
  void FindRows(const Block& block, int first, Source* source) const {
    for (int r = 0; r < kQuad; ++r) {
      const int8_t* const row = RowAt(first + r);
      source->rows[r] = row == nullptr ? nullptr : row + block.first;
    }
  }

  void RunPiece(const Piece& piece, const int8_t* packed) {
    const BlockRequantization finish(in_, packed + kVectors * WeightsBytes(kSize) + kNumbersBytes);
    const int runs = piece.block.runs();
    const PieceCode& code =
        kPieceCodes[finish.plain ? 1 : 0][__builtin_ctz(static_cast<unsigned>(runs))];
    const auto channels = static_cast<size_t>(in_.channels);
    Source source = {{}, outside_, channels, in_.width, piece.column * kStride - in_.before, {}};
    Columns columns = {channels, {}};
    for (int run = 0; run < kMaxRuns; ++run) {
      source.starts[run] = piece.starts[run] * kStride;
      columns.starts[run] = static_cast<size_t>(piece.starts[run]) * channels;
    }
    int8_t* out = in_.out + static_cast<size_t>(piece.column) * channels + piece.block.first;
    const size_t line_bytes = static_cast<size_t>(in_.columns) * channels;
    const int input_columns = (piece.count - 1) * kStride + kSize;
    for (int line = 0, quad = 0; line < in_.lines; line += kServed, ++quad) {
      if constexpr (!kKeepsQuads) {
        FindRows(piece.block, line * kStride, &source);
        code.line_of_steps(finish, packed, source, piece.count, columns, out);
      } else {
        // Distance between the two quads of a line: with filters of five rows, a quad is used
        // together with the second next one.
        constexpr int kQuadDistance = kBufferedQuads - 1;
        for (int next = quad == 0 ? 0 : quad + kQuadDistance; next <= quad + kQuadDistance;
             ++next) {
          FindRows(piece.block, next * (kQuad / 2), &source);
          code.interleave(source, input_columns, QuadAt(next));
        }
        const int lines = Min(kServed, in_.lines - line);
        if constexpr (kSize == 3) {
          for (int l = 0; l < lines; ++l) {
            code.line_of_quads(finish, packed, l, QuadAt(quad), piece.count, columns,
                               out + static_cast<size_t>(l) * line_bytes);
          }
        } else {
          const int8_t* const quads[] = {QuadAt(quad), QuadAt(quad + kQuadDistance)};
          RunTiles(code, piece.count, quads, lines, packed, finish, columns, out);
        }
      }
      out += kServed * line_bytes;
    }
  }

  // Computes `count` columns of lines in tiles, from two quads.
  void RunTiles(const PieceCode& code, int count, const int8_t* const (&quads)[2], int lines,
                const int8_t* packed, const BlockRequantization& finish, const Columns& columns,
                int8_t* out) {
    const size_t line_bytes = static_cast<size_t>(in_.columns) * columns.stride;
    for (int i = 0, width; i < count;
         i += width, out += static_cast<size_t>(width) * columns.stride) {
      width = Width(count - i);
      const size_t input_columns = static_cast<size_t>(i * kStride) * kColumnBytes;
      const int made = Multiply(width, quads[0] + input_columns, quads[1] + input_columns, packed);
      for (int l = 0; l < lines; ++l) {
        code.finish(finish, sums_ + l * made * kVectors, width, columns,
                    out + static_cast<size_t>(l) * line_bytes);
      }
    }
  }

  // Returns the width of the next tile; the remaining columns are divided evenly.
  static int Width(int left) {
    const int tiles = (left + kWidest - 1) / kWidest;
    return (left + tiles - 1) / tiles;
  }

  // Computes the sums of at least `width` columns; returns the number of columns.
  int Multiply(int width, const int8_t* first_quad, const int8_t* second_quad,
               const int8_t* packed) {
    if (width > 7) return Tile<kSize, kStride, 8>(first_quad, second_quad, packed, sums_), 8;
    if (width > 6) return Tile<kSize, kStride, 7>(first_quad, second_quad, packed, sums_), 7;
    if (width > 4) return Tile<kSize, kStride, 6>(first_quad, second_quad, packed, sums_), 6;
    if (width > 2) return Tile<kSize, kStride, 4>(first_quad, second_quad, packed, sums_), 4;
    return Tile<kSize, kStride, 2>(first_quad, second_quad, packed, sums_), 2;
  }

  const DepthwiseLinesS8& in_;
  alignas(64) int8_t outside_[kBlock];
  alignas(64) int8_t quads_[kBufferedQuads][(kInputColumns + kStride) * kColumnBytes];
  alignas(64) __m512i sums_[kServed * kWidest * kVectors];
};

}  // namespace

constexpr DepthwiseLinesS8Kernels kDepthwiseLinesS8Avx512Vnni = {
    .accepts = &AcceptsLines<kMinWidth>,
    .bytes = &PackedBytes,
    .pack = &PackLines,
    .run = &DepthwiseLines<Lines>};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif
