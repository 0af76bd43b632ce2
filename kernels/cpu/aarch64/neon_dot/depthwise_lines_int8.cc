// SPDX-License-Identifier: Apache-2.0
//
// int8 depthwise convolutions of 3 x 3 and 5 x 5 taps by dot products of four values (SDOT), two
// output rows at once.
//
// Four rows of an input column are interleaved channel by channel, so that one 32-bit lane holds
// four vertical taps of a channel. Such a vector is multiplied for all output columns and both
// output rows that contain it. Rows outside of the input have weights of zero, and their zero
// points are added to the bias.
#include "kernels/cpu/aarch64/neon/neon.inc"
#include "kernels/cpu/common/depthwise_s8.inc"

namespace deputy {
namespace {

constexpr int kBlock = 8, kHalves = 2, kHalf = kBlock / kHalves;  // channels
constexpr int kGroup = 4;                                         // rows in a vector

// ---- Packing ------------------------------------------------------------------------------------

constexpr int GroupsOf(int size) { return (size + kGroup - 1) / kGroup; }
constexpr int BlocksOf(int channels) { return (channels + kBlock - 1) / kBlock; }
// Returns the first channel of a block. The last block may overlap the previous one.
constexpr int FirstOf(int block, int channels) { return Min(block * kBlock, channels - kBlock); }

// Layout of a block: [tap of a row][group of rows][half] vectors of weights, each with 4 channels
// of 4 rows; the bias plus kShiftBits; the factors.
constexpr size_t kVectorBytes = 16, kNumbersBytes = kBlock * sizeof(int32_t);
constexpr size_t WeightBytes(int size) {
  return static_cast<size_t>(size * GroupsOf(size) * kHalves) * kVectorBytes;
}
constexpr size_t BlockBytes(int size) { return WeightBytes(size) + 2 * kNumbersBytes; }

size_t PackedBytes(int size, int channels) {
  return static_cast<size_t>(BlocksOf(channels)) * BlockBytes(size);
}

// Returns true if the sums of all inputs are small enough for ShiftedWords.
bool Fits(const int8_t* weights, int size, int channels, int channel, int32_t bias, float factor) {
  int64_t largest = bias < 0 ? -int64_t{bias} : int64_t{bias};
  for (int tap = 0; tap < size * size; ++tap) {
    const int weight = weights[static_cast<size_t>(tap) * static_cast<size_t>(channels) +
                               static_cast<size_t>(channel)];
    largest += 128 * (weight < 0 ? -weight : weight);
  }
  return AreShiftedSums(largest, factor < 0 ? -factor : factor);
}

void PackWeights(const int8_t* weights, int size, int channels, int first, int8_t* out) {
  for (int x = 0; x < size; ++x) {
    for (int row = 0; row < GroupsOf(size) * kGroup; row += kGroup) {
      for (int i = 0; i < kBlock * kGroup; ++i) {
        const int y = row + i % kGroup, tap = y * size + x, channel = first + i / kGroup;
        *out++ = y < size ? weights[static_cast<size_t>(tap) * static_cast<size_t>(channels) +
                                    static_cast<size_t>(channel)]
                          : int8_t{0};
      }
    }
  }
}

bool PackLines(const int8_t* weights, int size, int channels, const int32_t* bias,
               const float* factors, int8_t* out) {
  for (int c = 0; c < channels; ++c) {
    if (!Fits(weights, size, channels, c, bias[c], factors[c])) return false;
  }
  for (int block = 0; block < BlocksOf(channels); ++block, out += BlockBytes(size)) {
    const int first = FirstOf(block, channels);
    PackWeights(weights, size, channels, first, out);
    int32_t shifted[kBlock];
    for (int i = 0; i < kBlock; ++i) shifted[i] = bias[first + i] + kShiftBits;
    int8_t* const numbers = out + WeightBytes(size);
    std::memcpy(numbers, shifted, kNumbersBytes);
    std::memcpy(numbers + kNumbersBytes, factors + first, kNumbersBytes);
  }
  return true;
}

// ---- Rows of a strip ----------------------------------------------------------------------------

// A strip is kLines adjacent output rows. Its input rows are numbered from 0.
template <int kSize, int kStride, int kLines>
struct Strip {
  static constexpr int kRows = (kLines - 1) * kStride + kSize;
  // Number of groups of rows. With 3 rows and stride 2, each output row has a group of its own.
  static constexpr bool kOwnGroups = kSize == 3 && kStride == 2;
  static constexpr int kGroups = kOwnGroups ? kLines : GroupsOf(kSize);
  static constexpr int FirstRow(int group) { return group * (kOwnGroups ? kStride : kGroup); }
  static constexpr bool Uses(int line, int group) { return !kOwnGroups || line == group; }
  // Number of output columns whose sums are in progress, and of input columns after which the
  // assignment of columns to sums repeats.
  static constexpr int kSlots = (kSize + kStride - 1) / kStride, kPeriod = kSlots * kStride;

  // Addresses of the rows' first pixels. A row outside of the input has another row's address.
  const int8_t* rows[kRows];
  bool missing[kRows];
  int width;  // 0 if no row is inside of the input

  Strip(const DepthwiseLinesS8& in, int line) : width(in.width) {
    const int8_t* any = nullptr;
    for (int r = 0; r < kRows; ++r) {
      const int of = Min(r / kStride, kLines - 1);
      rows[r] = in.inputs[(line + of) * kSize + r - of * kStride];
      missing[r] = rows[r] == nullptr;
      if (!missing[r]) any = rows[r];
    }
    for (int r = 0; r < kRows; ++r) {
      if (any == nullptr) missing[r] = false;
      if (rows[r] == nullptr) rows[r] = any;
    }
    if (any == nullptr) width = 0;
  }

  bool IsWhole() const {
    bool whole = true;
    for (int r = 0; r < kRows; ++r) whole = whole && !missing[r];
    return whole;
  }
};

// ---- Weights ------------------------------------------------------------------------------------

// Returns the four bytes of `low` and `high`, which follow each other in each lane, from byte
// kFirst on; bytes before and after them are zero.
template <int kFirst>
[[gnu::always_inline]] inline int8x16_t BytesFrom(int8x16_t low, int8x16_t high) {
  const uint32x4_t front = vreinterpretq_u32_s8(low), back = vreinterpretq_u32_s8(high);
  if constexpr (kFirst == 0) {
    return low;
  } else if constexpr (kFirst == kGroup) {
    return high;
  } else if constexpr (kFirst < 0) {
    return vreinterpretq_s8_u32(vshlq_n_u32(front, -8 * kFirst));
  } else {
    return vreinterpretq_s8_u32(
        vorrq_u32(vshrq_n_u32(front, 8 * kFirst), vshlq_n_u32(back, 32 - 8 * kFirst)));
  }
}

// Weights and biases of a block of channels in the order of a strip's groups.
template <int kSize, int kStride, int kLines>
struct Weights {
  using S = Strip<kSize, kStride, kLines>;

  int8x16_t at[kSize][S::kGroups][kLines][kHalves];
  int32x4_t bias[kLines][kHalves];

  [[gnu::always_inline]] explicit Weights(const int8_t* packed) {
#pragma GCC unroll 5
    for (int x = 0; x < kSize; ++x) LoadTap(packed, x);
    const int8_t* const numbers = packed + WeightBytes(kSize);
#pragma GCC unroll 2
    for (int line = 0; line < kLines; ++line) {
#pragma GCC unroll 2
      for (int half = 0; half < kHalves; ++half) {
        bias[line][half] = vreinterpretq_s32_s8(vld1q_s8(numbers + 16 * half));
      }
    }
  }

  // Clears the weights of missing rows and adds their zero points to the bias.
  [[gnu::always_inline]] void Skip(const bool (&missing)[S::kRows], int32_t zero_point) {
    const int8x16_t outside = vdupq_n_s8(static_cast<int8_t>(zero_point));
#pragma GCC unroll 2
    for (int group = 0; group < S::kGroups; ++group) {
      uint32_t bytes = 0;
      for (int i = 0; i < kGroup; ++i) {
        const int row = S::FirstRow(group) + i;
        if (row < S::kRows && missing[row]) bytes |= 0xffu << (8 * i);
      }
      const int8x16_t cleared = vreinterpretq_s8_u32(vdupq_n_u32(bytes));
#pragma GCC unroll 2
      for (int line = 0; line < kLines; ++line) {
#pragma GCC unroll 10
        for (int i = 0; i < kSize * kHalves; ++i) {
          int8x16_t& weights = at[i / kHalves][group][line][i % kHalves];
          if (!S::Uses(line, group)) continue;
          int32x4_t& sums = bias[line][i % kHalves];
          sums = vdotq_s32(sums, vandq_s8(weights, cleared), outside);
          weights = vbicq_s8(weights, cleared);
        }
      }
    }
  }

 private:
  [[gnu::always_inline]] void LoadTap(const int8_t* packed, int x) {
#pragma GCC unroll 2
    for (int half = 0; half < kHalves; ++half) {
      constexpr int kPacked = GroupsOf(kSize);
      const int8_t* const from =
          packed + kVectorBytes * static_cast<size_t>(x * kPacked * kHalves + half);
      const int8x16_t low = vld1q_s8(from);
      const int8x16_t high = kPacked > 1 ? vld1q_s8(from + kVectorBytes * kHalves) : vdupq_n_s8(0);
      LoadGroup<0, 0>(low, high, x, half);
      if constexpr (S::kGroups > 1) LoadGroup<1, 0>(low, high, x, half);
      if constexpr (kLines > 1) LoadGroup<0, 1>(low, high, x, half);
      if constexpr (kLines > 1 && S::kGroups > 1) LoadGroup<1, 1>(low, high, x, half);
    }
  }

  template <int kGroupIndex, int kLine>
  [[gnu::always_inline]] void LoadGroup(int8x16_t low, int8x16_t high, int x, int half) {
    if constexpr (S::Uses(kLine, kGroupIndex)) {
      constexpr int kFirst = S::FirstRow(kGroupIndex) - kLine * kStride;
      at[x][kGroupIndex][kLine][half] = BytesFrom<kFirst>(low, high);
    }
  }
};

// ---- Columns ------------------------------------------------------------------------------------

[[gnu::always_inline]] inline int8x16_t Widened(int8x8_t values) {
  return vcombine_s8(values, vdup_n_s8(0));
}

// Computes all columns of a strip and a block of channels.
template <int kSize, int kStride, int kLines>
class Columns {
 public:
  using S = Strip<kSize, kStride, kLines>;

  [[gnu::always_inline]] Columns(const DepthwiseLinesS8& in, const S& strip, int block, int8_t* out)
      : weights_(in.packed + static_cast<size_t>(block) * BlockBytes(kSize)),
        requantization_(in),
        outside_(vdupq_n_s8(static_cast<int8_t>(in.input_zero_point))),
        step_(static_cast<size_t>(in.channels)),
        line_step_(static_cast<size_t>(in.columns) * step_),
        width_(strip.width),
        before_(in.before),
        inputs_((in.columns - 1) * kStride + kSize),
        out_(out) {
    const int first = FirstOf(block, in.channels);
#pragma GCC unroll 8
    for (int r = 0; r < S::kRows; ++r) rows_[r] = strip.rows[r] + first;
    const int8_t* const factors = in.packed + static_cast<size_t>(block) * BlockBytes(kSize) +
                                  WeightBytes(kSize) + kNumbersBytes;
    factors_[0] = vreinterpretq_f32_s8(vld1q_s8(factors));
    factors_[1] = vreinterpretq_f32_s8(vld1q_s8(factors + 16));
    if (!strip.IsWhole()) weights_.Skip(strip.missing, in.input_zero_point);
  }

  [[gnu::always_inline]] void Run() {
    const int inside = Min(before_ + width_, inputs_);
    for (int n = 0; n < inputs_; n += S::kPeriod) {
      if (n >= Max(before_, kSize - 1) && n + S::kPeriod <= inside) {
        Period<false>(n);
      } else {
        Period<true>(n);
      }
    }
  }

 private:
  static constexpr int Max(int a, int b) { return a > b ? a : b; }

  // A column of the input: 4 channels of the 4 rows of each group.
  struct Column {
    int8x16_t at[S::kGroups][kHalves];
  };

  // Adds input columns [n, n + kPeriod), numbered from the first column that an output contains.
  template <bool kChecked>
  [[gnu::always_inline]] void Period(int n) {
    Add<0, kChecked>(n);
    Add<1, kChecked>(n);
    Add<2, kChecked>(n);
    if constexpr (S::kPeriod > 3) Add<3, kChecked>(n);
    if constexpr (S::kPeriod > 4) Add<4, kChecked>(n);
    if constexpr (S::kPeriod > 5) Add<5, kChecked>(n);
  }

  template <int kPhase, bool kChecked>
  [[gnu::always_inline]] void Add(int n) {
    const int x = n + kPhase - before_;
    Column column;
    if (kChecked && (x < 0 || x >= width_)) {
#pragma GCC unroll 4
      for (int i = 0; i < S::kGroups * kHalves; ++i) column.at[i / kHalves][i % kHalves] = outside_;
    } else {
      column = Load(static_cast<size_t>(x) * step_);
    }
#pragma GCC unroll 5
    for (int tap = kSize - 1; tap >= 0; --tap) {
      const int of = (kPhase - tap + S::kPeriod) % S::kPeriod;
      if (of % kStride == 0) Multiply(column, tap, sums_[of / kStride]);
    }
    constexpr int kDone = (kPhase - (kSize - 1) + S::kPeriod) % S::kPeriod;
    if constexpr (kDone % kStride == 0) {
      if (kChecked && (n + kPhase < kSize - 1 || n + kPhase >= inputs_)) return;
      Finish(sums_[kDone / kStride]);
    }
  }

  [[gnu::always_inline]] Column Load(size_t offset) const {
    int8x16_t rows[S::kRows];
#pragma GCC unroll 8
    for (int r = 0; r < S::kRows; ++r) rows[r] = Widened(vld1_s8(rows_[r] + offset));
    Column column;
#pragma GCC unroll 2
    for (int group = 0; group < S::kGroups; ++group) {
      const int r = S::FirstRow(group);
      const auto row = [&](int i) { return rows[Min(r + i, S::kRows - 1)]; };
      const int16x8_t front = vreinterpretq_s16_s8(vzip1q_s8(row(0), row(1)));
      const int16x8_t back = vreinterpretq_s16_s8(vzip1q_s8(row(2), row(3)));
      column.at[group][0] = vreinterpretq_s8_s16(vzip1q_s16(front, back));
      column.at[group][1] = vreinterpretq_s8_s16(vzip2q_s16(front, back));
    }
    return column;
  }

  using Sums = int32x4_t[kLines][kHalves];

  // Adds the products with a tap of each row; the first tap starts the sums.
  [[gnu::always_inline]] void Multiply(const Column& column, int tap, Sums& sums) const {
#pragma GCC unroll 2
    for (int line = 0; line < kLines; ++line) {
#pragma GCC unroll 2
      for (int half = 0; half < kHalves; ++half) {
        if (tap == 0) sums[line][half] = weights_.bias[line][half];
#pragma GCC unroll 2
        for (int group = 0; group < S::kGroups; ++group) {
          if (!S::Uses(line, group)) continue;
          sums[line][half] = vdotq_s32(sums[line][half], column.at[group][half],
                                       weights_.at[tap][group][line][half]);
        }
      }
    }
  }

  // Stores the results of an output column.
  [[gnu::always_inline]] void Finish(const Sums& sums) {
    const int32x4_t(&last)[kHalves] = sums[kLines - 1];
    const int8x16_t bytes =
        requantization_.Apply<true>({{sums[0][0], sums[0][1], last[0], last[1]}},
                                    {{factors_[0], factors_[1], factors_[0], factors_[1]}});
    vst1_s8(out_, vget_low_s8(bytes));
    if constexpr (kLines > 1) vst1_s8(out_ + line_step_, vget_high_s8(bytes));
    out_ += step_;
  }

  Weights<kSize, kStride, kLines> weights_;
  Requantization requantization_;
  int32x4_t sums_[S::kSlots][kLines][kHalves];
  float32x4_t factors_[kHalves];
  int8x16_t outside_;
  const int8_t* rows_[S::kRows];
  size_t step_, line_step_;
  int width_, before_, inputs_;
  int8_t* out_;
};

// ---- Lines --------------------------------------------------------------------------------------

template <int kSize, int kStride>
class Lines {
 public:
  explicit Lines(const DepthwiseLinesS8& in) : in_(in) {}

  void Run() const {
    int line = 0;
    for (; line + 2 <= in_.lines; line += 2) RunStrip<2>(line);
    if (line < in_.lines) RunStrip<1>(line);
  }

 private:
  template <int kLines>
  [[gnu::noinline]] void RunStrip(int line) const {
    const Strip<kSize, kStride, kLines> strip(in_, line);
    for (int block = 0; block < BlocksOf(in_.channels); ++block) {
      int8_t* const out = in_.out + FirstOf(block, in_.channels) +
                          static_cast<size_t>(line) * static_cast<size_t>(in_.columns) *
                              static_cast<size_t>(in_.channels);
      Columns<kSize, kStride, kLines>(in_, strip, block, out).Run();
    }
  }

  const DepthwiseLinesS8& in_;
};

void Pixel(const DepthwisePixelS8& pixel) { kDepthwiseS8Neon.pixel(pixel); }
size_t PackTaps(const int8_t* weights, int taps, int channels, int period, int8_t* out) {
  return kDepthwiseS8Neon.pack(weights, taps, channels, period, out);
}
void RunColumns(const DepthwiseColumnsS8& columns) { kDepthwiseS8Neon.columns(columns); }
void Order(const int32_t* values, int channels, int period, int32_t* out) {
  kDepthwiseS8Neon.order(values, channels, period, out);
}
constexpr int kLanesOfColumns = 16;

constexpr DepthwiseLinesS8Kernels kLinesS8 = {.accepts = &AcceptsLines<kBlock>,
                                              .bytes = &PackedBytes,
                                              .pack = &PackLines,
                                              .run = &DepthwiseLines<Lines>};

}  // namespace

constexpr DepthwiseS8Kernels kDepthwiseS8NeonDot = {.name = "neon_dot",
                                                    .left = LhsEncoding::kInt8,
                                                    .pixel = &Pixel,
                                                    .pack = &PackTaps,
                                                    .columns = &RunColumns,
                                                    .order = &Order,
                                                    .lanes = kLanesOfColumns,
                                                    .lines = &kLinesS8};

}  // namespace deputy
