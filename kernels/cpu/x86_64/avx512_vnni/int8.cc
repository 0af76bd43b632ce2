// SPDX-License-Identifier: Apache-2.0
//
// int8 products for x86-64 with AVX-512 (F, BW, DQ, VL) and VNNI. This folder is compiled with
// flags for this instruction set, so everything is in the unnamed namespace and no inline function
// of a shared header is used. The code of a tile is always inlined: g++ 12 keeps tiles in registers
// only in functions without calls.
//
// The products use the 8-bit form of VNNI (vpdpbusd): four products at a time of an unsigned left
// operand, which is therefore offset by 128, and signed weights. Nothing saturates.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__AVX512VNNI__)

#include "kernels/cpu/x86_64/avx512_vnni/int8.inc"

namespace deputy {
namespace {

constexpr int kRowsS8 = 8, kColumnsS8 = 32, kRunS8 = 4;
// Maximum depths, for products of one part and of several, at which requantisation takes a
// noticeable share of the time and a block of columns fits in the first-level cache.
constexpr int kShallowS8 = 640, kShallowPartsS8 = 512;
// Number of product steps over which the previous rows are requantised and stored, without and with
// an addend, and minimum number with an addend: more work is spread over more steps.
constexpr int kPlainPipelineSteps = 2, kAddendPipelineSteps = 16, kMinAddendPipelineSteps = 8;

// ---- int8 GEMM --------------------------------------------------------------------------------

template <int kRows, int kPanels>
inline void GemmS8Block(const GemmTileS8& tile, int first) {
  constexpr int kVectors = 2 * kPanels;
  const size_t panel_stride = static_cast<size_t>(tile.depth) * kColumnsS8;
  const int8_t* b = tile.b + static_cast<size_t>(first / kColumnsS8) * panel_stride;
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m512i bias = _mm512_loadu_si512(tile.bias + first + 16 * v);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r][v] = bias;
  }
  for (int d = 0; d < tile.depth; d += kRunS8) {
    __m512i weights[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = _mm512_loadu_si512(b + static_cast<size_t>(v / 2) * panel_stride + 64 * (v % 2));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, tile.a + static_cast<size_t>(r) * tile.a_stride + d, sizeof four);
      const __m512i value = _mm512_set1_epi32(four);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) MultiplyAddFours(&sums[r][v], value, weights[v]);
    }
    b += kRunS8 * kColumnsS8;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_si512(tile.sums + static_cast<size_t>(r) * tile.sums_stride + first + 16 * v,
                          sums[r][v]);
    }
  }
}

template <int kRows>
void GemmS8Rows(const GemmTileS8& tile) {
  int first = 0;
  if constexpr (kRows <= 2) {
    for (; tile.columns - first > kColumnsS8; first += 2 * kColumnsS8) {
      GemmS8Block<kRows, 2>(tile, first);
    }
  }
  for (; first < tile.columns; first += kColumnsS8) GemmS8Block<kRows, 1>(tile, first);
}

void GemmS8(const GemmTileS8& tile) {
  constexpr void (*kBySize[])(const GemmTileS8&) = {&GemmS8Rows<1>, &GemmS8Rows<2>, &GemmS8Rows<3>,
                                                    &GemmS8Rows<4>, &GemmS8Rows<5>, &GemmS8Rows<6>,
                                                    &GemmS8Rows<7>, &GemmS8Rows<8>};
  kBySize[tile.rows - 1](tile);
}

// ---- int8 rows with requantisation ------------------------------------------------------------

// Parameters of a block of 16 * kVectors columns of a job that are the same for all its rows.
template <int kVectors>
struct ColumnBlock {
  // Number of rows that are narrowed together: four vectors, of one, two or four rows.
  static constexpr int kTogether = kVectors > 2 ? 1 : 4 / kVectors;

  const GemmRowsS8& job;
  const Requantization& requantization;
  const int8_t* b;  // panels of weights of the columns
  const int32_t* bias;
  int8_t* out;       // output of the first row
  ptrdiff_t addend;  // distance of an output's addend from the output, in bytes
  __mmask64 exist;   // mask of a row's bytes that exist
  bool dense;        // rows that are narrowed together are contiguous
  alignas(64) float factors[16 * kVectors];

  ColumnBlock(const GemmRowsS8& whole, const Requantization& how, int column)
      : job(whole),
        requantization(how),
        b(whole.b + static_cast<size_t>(column / kColumnsS8) * whole.panel_stride),
        bias(whole.bias + column),
        out(whole.out + column),
        addend(whole.addend == nullptr ? 0 : whole.addend->values - whole.out),
        exist(FirstBytes(Min(whole.columns - column, 16 * kVectors))),
        dense(kTogether > 1 && column + 16 * kVectors <= whole.columns &&
              whole.out_stride == 16 * kVectors) {
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 lanes = FirstLanes(whole.columns - column - 16 * v);
      _mm512_storeu_ps(factors + 16 * v,
                       _mm512_maskz_loadu_ps(lanes, whole.factors + column + 16 * v));
    }
  }
  int8_t* Out(int row) const { return out + static_cast<size_t>(row) * job.out_stride; }
};

// Requantisation with small factors and no clamp other than int8's range. Its members, except the
// factors, are copies of the parameters: as far as the compiler knows, stores of bytes could change
// the originals.
struct PlainEpilogue {
  static constexpr bool kAdds = false;

  const float* factors;
  __m512i zero_point;
  __mmask64 exist;
  size_t out_stride;
  bool dense;

  template <int kVectors>
  explicit PlainEpilogue(const ColumnBlock<kVectors>& block)
      : factors(block.factors),
        zero_point(block.requantization.zero_point),
        exist(block.exist),
        out_stride(block.job.out_stride),
        dense(block.dense) {}

  [[gnu::always_inline]] inline __m512i Steps(__m512i sums, int vector) const {
    const __m512 scale = _mm512_load_ps(factors + 16 * vector);
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
  }
  [[gnu::always_inline]] inline __m512i Narrow(const __m512i steps[4]) const {
    return NarrowSteps(steps, zero_point);
  }
};
struct AddendEpilogue : PlainEpilogue {
  static constexpr bool kAdds = true;

  StepSum sum;
  ptrdiff_t addend;

  template <int kVectors>
  explicit AddendEpilogue(const ColumnBlock<kVectors>& block)
      : PlainEpilogue(block), sum(*block.job.addend), addend(block.addend) {}
};

// Sums of kRows rows by 16 * kVectors columns.
template <int kRows, int kVectors>
struct SumsS8 {
  static constexpr int kTogether = ColumnBlock<kVectors>::kTogether;

  __m512i sums[kRows][kVectors];

  [[gnu::always_inline]] inline void Start(const int32_t* from) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __m512i bias = _mm512_loadu_si512(from + 16 * v);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][v] = bias;
    }
  }
  // Adds the products of the four values at `offset` of each row.
  [[gnu::always_inline]] inline void Step(const void* const* rows, size_t offset, const int8_t* b,
                                          size_t panel_stride) {
    __m512i weights[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = _mm512_loadu_si512(b + static_cast<size_t>(v / 2) * panel_stride + 64 * (v % 2));
      // The weights are kept in a register: g++ 12 otherwise reloads them for every row, because it
      // assumes 16 registers.
      __asm__("" : "+v"(weights[v]));
    }
    // The addresses of more than four rows do not fit in general registers, so they are reloaded.
    if (kRows > 4) __asm__("" : "+r"(rows));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, static_cast<const int8_t*>(rows[r]) + offset, sizeof four);
      const __m512i value = _mm512_set1_epi32(four);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) MultiplyAddFours(&sums[r][v], value, weights[v]);
    }
  }
  // Requantises and stores the first `count` rows, without an addend.
  [[gnu::always_inline]] inline void Store(const ColumnBlock<kVectors>& block, int count,
                                           int8_t* out, size_t stride) const {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r += kTogether) {
      __m512i steps[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                          _mm512_setzero_si512()};
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) {
        if (r + i >= kRows) continue;
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          steps[i * kVectors + v] =
              block.requantization.Steps(sums[r + i][v], _mm512_loadu_ps(block.factors + 16 * v));
        }
      }
      const __m512i bytes = block.requantization.Narrow(steps);
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i, out += stride) {
        if (r + i >= kRows || r + i >= count) return;
        StorePart<kTogether>(bytes, i, block.exist, out);
      }
    }
  }
};

// Requantisation and store of a block of rows, divided into stages that run between the product
// steps of the next block: executed at once the stages would fill the processor's queues.
template <int kRows, int kVectors, typename Epilogue>
struct RowsEpilogue {
  static constexpr int kTogether = ColumnBlock<kVectors>::kTogether;
  static constexpr int kPieces = kRows / kTogether;
  static constexpr int kPieceStages = Epilogue::kAdds ? 7 : 2;
  static constexpr int kStages = kPieces * kPieceStages;

  const SumsS8<kRows, kVectors>& sums;
  const Epilogue& end;
  int8_t* const out;
  __m512i steps[4], bytes, values;

  [[gnu::always_inline]] inline RowsEpilogue(const SumsS8<kRows, kVectors>& of,
                                             const Epilogue& with, int8_t* first)
      : sums(of), end(with), out(first) {}

  [[gnu::always_inline]] inline void Stage(int stage) {
    const int piece = stage / kPieceStages;
    int8_t* const first = out + static_cast<size_t>(piece * kTogether) * end.out_stride;
    switch (stage % kPieceStages) {
      case 0:
        return MakeSteps(piece * kTogether);
      case 1:
        bytes = end.Narrow(steps);
        if constexpr (Epilogue::kAdds) return Load(first);
        return Store(first);
      default:
        if constexpr (Epilogue::kAdds) {
          switch (stage % kPieceStages) {
            case 2:
              steps[0] = end.sum.template Steps<0, true>(bytes, values);
              return;
            case 3:
              steps[1] = end.sum.template Steps<1, true>(bytes, values);
              return;
            case 4:
              steps[2] = end.sum.template Steps<2, true>(bytes, values);
              return;
            case 5:
              steps[3] = end.sum.template Steps<3, true>(bytes, values);
              return;
            default:
              bytes = end.sum.Narrow(steps);
              return Store(first);
          }
        }
    }
  }

 private:
  [[gnu::always_inline]] inline void MakeSteps(int row) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      steps[v] = v < kTogether * kVectors
                     ? end.Steps(sums.sums[row + v / kVectors][v % kVectors], v % kVectors)
                     : _mm512_setzero_si512();
    }
  }
  [[gnu::always_inline]] inline void Load(const int8_t* first) {
    if (kTogether > 1 && end.dense) {
      values = _mm512_loadu_si512(first + end.addend);
    } else {
      values = _mm512_setzero_si512();
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i) {
        const int8_t* from = first + end.addend + static_cast<size_t>(i) * end.out_stride;
        values = LoadPart<kTogether>(values, i, end.exist, from);
      }
    }
  }
  [[gnu::always_inline]] static inline void StoreTwentyFour(__m256i bytes, int8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 16), _mm256_extracti128_si256(bytes, 1));
  }
  [[gnu::always_inline]] inline void Store(int8_t* first) const {
    if (kTogether > 1 && end.dense) {
      _mm512_storeu_si512(first, bytes);
    } else if (Epilogue::kAdds && kTogether == 2 && end.exist == FirstBytes(24)) {
      // Stores exactly 24 bytes: masked-out bytes of a store still delay loads of the next rows'
      // addends, which may be in those bytes.
      StoreTwentyFour(_mm512_castsi512_si256(bytes), first);
      StoreTwentyFour(_mm512_extracti64x4_epi64(bytes, 1), first + end.out_stride);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < kTogether; ++i, first += end.out_stride) {
        StorePart<kTogether>(bytes, i, end.exist, first);
      }
    }
  }
};

// Adds the addend to `count` requantised rows, which are kChunk bytes apart, and stores them.
[[gnu::noinline]] void StoreSums(const GemmRowsS8& job, const int8_t* made, int count,
                                 __mmask64 exist, ptrdiff_t addend, int8_t* out) {
  const StepSum sum(*job.addend);
  for (int r = 0; r < count; ++r, made += kChunk, out += job.out_stride) {
    const __m512i values = _mm512_maskz_loadu_epi8(exist, out + addend);
    _mm512_mask_storeu_epi8(out, exist, sum(_mm512_load_si512(made), values));
  }
}

// Prefetches the next columns' weights, which other layers have evicted to memory or the shared
// cache, step by step while the current columns are computed.
struct WeightsPrefetch {
  const int8_t* at;
  const int8_t* end;

  WeightsPrefetch(const GemmRowsS8& job, int column) : at(job.b), end(job.b) {
    constexpr int kPanels = kChunk / kColumnsS8;
    // Maximum size of the panels that are prefetched at once; larger ones would evict the current
    // columns' weights.
    constexpr size_t kMaxBytes = 384 * 1024;
    const int next = column / kColumnsS8 + kPanels;
    const int all = (job.columns + kColumnsS8 - 1) / kColumnsS8;
    if (next >= all || kPanels * job.panel_stride > kMaxBytes) return;
    at += static_cast<size_t>(next) * job.panel_stride;
    end += static_cast<size_t>(Min(next + kPanels, all)) * job.panel_stride;
  }
  [[gnu::always_inline]] inline void Fetch() {
    _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1);
    at += at < end ? 64 : 0;
  }
};

// Accumulates the products from value `done` of the first part on; `b` points to the weights of
// that value.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void SumUp(const GemmRowsS8& job, const void* const* rows,
                                         size_t done, const int8_t* b,
                                         SumsS8<kRows, kVectors>* sums,
                                         WeightsPrefetch* prefetch = nullptr) {
  const size_t panel_stride = job.panel_stride;
  size_t last = static_cast<size_t>(job.depth);
  for (int part = 0; part < job.parts; ++part) {
    for (; done < last; done += kRunS8, b += kRunS8 * kColumnsS8) {
      if (prefetch != nullptr) prefetch->Fetch();
      sums->Step(rows, done, b, panel_stride);
    }
    last += job.part_step;
    done = last - static_cast<size_t>(job.depth);
  }
}

// Computes a block of kRows rows, of which `count` exist.
template <int kRows, int kVectors>
[[gnu::noinline]] void RequantizedBlock(const ColumnBlock<kVectors>& block, const void* const* rows,
                                        int count, int8_t* out, WeightsPrefetch* prefetch) {
  SumsS8<kRows, kVectors> sums;
  sums.Start(block.bias);
  WeightsPrefetch next = *prefetch;
  SumUp(block.job, rows, 0, block.b, &sums, &next);
  *prefetch = next;
  if (block.job.addend == nullptr) {
    sums.Store(block, count, out, block.job.out_stride);
    return;
  }
  alignas(64) int8_t made[kRows * kChunk];
  sums.Store(block, count, made, kChunk);
  StoreSums(block.job, made, count, block.exist, block.addend, out);
}

// Computes rows in software-pipelined blocks of kRows: each block is requantised and stored while
// the next one is multiplied, which keeps all execution units busy. The first part must have at
// least kSteps steps.
template <int kRows, int kVectors, typename Epilogue, int kSteps>
struct PipelinedBlocks {
  using Sums = SumsS8<kRows, kVectors>;
  const GemmRowsS8& job;
  const int8_t* b;
  const int32_t* bias;
  size_t panel_stride;
  Epilogue end;

  explicit PipelinedBlocks(const ColumnBlock<kVectors>& block)
      : job(block.job),
        b(block.b),
        bias(block.bias),
        panel_stride(block.job.panel_stride),
        end(block) {}

  [[gnu::always_inline]] inline void Both(
      const void* const* rows, const Sums& before, Sums* sums,
      // NOLINTNEXTLINE(readability-non-const-parameter): stages store
      int8_t* out) const {
    RowsEpilogue<kRows, kVectors, Epilogue> last(before, end, out);
    sums->Start(bias);
    constexpr int kStages = last.kStages;
#pragma GCC unroll 16
    for (int step = 0; step < kSteps; ++step) {
      const auto offset = static_cast<size_t>(step) * kRunS8;
      sums->Step(rows, offset, b + offset * kColumnsS8, panel_stride);
#pragma GCC unroll 32
      for (int stage = 0; stage < kStages; ++stage) {
        const int position = stage * kSteps;
        if (position >= step * kStages && position < (step + 1) * kStages) last.Stage(stage);
      }
    }
    SumUp(job, rows, kSteps * kRunS8, b + kSteps * kRunS8 * kColumnsS8, sums);
  }
};

// Computes as many whole blocks of kRows rows as there are, pipelined; returns the number of rows
// computed.
template <int kRows, int kVectors, typename Epilogue, int kSteps>
[[gnu::noinline]] int RequantizedPipelined(const ColumnBlock<kVectors>& block) {
  const PipelinedBlocks<kRows, kVectors, Epilogue, kSteps> pipeline(block);
  const int blocks = pipeline.job.rows / kRows;
  if (blocks == 0) return 0;
  const size_t step = kRows * pipeline.end.out_stride;
  const void* const* rows = pipeline.job.a;
  int8_t* out = block.out;
  // With an even number of blocks the loop starts in its middle, so that the sums of the last block
  // are in `even`.
  SumsS8<kRows, kVectors> even, odd;
  even.Start(pipeline.bias);
  SumUp(pipeline.job, rows, 0, pipeline.b, &even);
  bool begins_odd = blocks % 2 == 0;
  if (begins_odd) odd = even;
  for (int left = blocks / 2; left > 0; --left) {
    if (!begins_odd) {
      rows += kRows;
      pipeline.Both(rows, even, &odd, out);
      out += step;
    }
    begins_odd = false;
    rows += kRows;
    pipeline.Both(rows, odd, &even, out);
    out += step;
  }
  RowsEpilogue<kRows, kVectors, Epilogue> last(even, pipeline.end, out);
#pragma GCC unroll 32
  for (int stage = 0; stage < last.kStages; ++stage) last.Stage(stage);
  return blocks * kRows;
}

template <int kRows, int kVectors>
void LastRows(const ColumnBlock<kVectors>& block, int row, WeightsPrefetch* prefetch) {
  const int count = block.job.rows - row;
  const void* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = block.job.a[row + (r < count ? r : count - 1)];
  RequantizedBlock<kRows, kVectors>(block, rows, count, block.Out(row), prefetch);
}

// Computes all rows of 16 * kVectors columns, in blocks of kRows or, if they are pipelined, of
// kRows / 2 rows; the remaining rows in the smallest block that fits.
template <int kVectors, int kRows, int... kSmaller>
void RequantizedColumns(const GemmRowsS8& job, const Requantization& requantization, int column) {
  const ColumnBlock<kVectors> block(job, requantization, column);
  // True if there is pipelined code for an addend: only for the column counts that networks have
  // (many, 32, 24).
  constexpr bool kAdds = kVectors == 4 || kVectors == 2;
  WeightsPrefetch prefetch(job, column);
  int row = 0;
  const bool adds = job.addend != nullptr;
  const bool plain = requantization.small && requantization.all_steps &&
                     (!adds || (kAdds && StepSum::IsPlain(*job.addend)));
  if (plain && job.parts * job.depth <= (job.parts == 1 ? kShallowS8 : kShallowPartsS8) &&
      job.depth >= (adds ? kMinAddendPipelineSteps : kPlainPipelineSteps) * kRunS8) {
    // Number of rows per pipelined block: enough to hide the latency of the products, but few
    // enough to leave registers for the requantisation.
    constexpr int kEach = kRows / 2;
    if constexpr (kAdds) {
      if (adds) {
        row =
            job.depth >= kAddendPipelineSteps * kRunS8
                ? RequantizedPipelined<kEach, kVectors, AddendEpilogue, kAddendPipelineSteps>(block)
                : RequantizedPipelined<kEach, kVectors, AddendEpilogue, kMinAddendPipelineSteps>(
                      block);
      }
    }
    if (!adds)
      row = RequantizedPipelined<kEach, kVectors, PlainEpilogue, kPlainPipelineSteps>(block);
  } else {
    for (; row + kRows <= job.rows; row += kRows) {
      RequantizedBlock<kRows, kVectors>(block, job.a + row, kRows, block.Out(row), &prefetch);
    }
  }
  const int left = job.rows - row;
  if (left == 0) return;
  // Function for the remaining rows. Sizes are in descending order, so the last one that suffices
  // is used.
  void (*last)(const ColumnBlock<kVectors>&, int, WeightsPrefetch*) = &LastRows<kRows, kVectors>;
  ((left <= kSmaller ? void(last = &LastRows<kSmaller, kVectors>) : void()), ...);
  last(block, row, &prefetch);
}

// Computes requantised rows for any number of columns, with as many accumulators as fit in
// registers.
void RequantizedRows(const GemmRowsS8& job) {
  const Requantization requantization(job, job.columns);
  for (int column = 0; column < job.columns; column += kChunk) {
    const int left = job.columns - column;
    if (left > 48) {
      RequantizedColumns<4, 6, 4, 3, 2, 1>(job, requantization, column);
    } else if (left > 32) {
      RequantizedColumns<3, 8, 4, 2, 1>(job, requantization, column);
    } else if (left > 16) {
      RequantizedColumns<2, 12, 8, 4, 2, 1>(job, requantization, column);
    } else {
      RequantizedColumns<1, 16, 8, 4, 1>(job, requantization, column);
    }
  }
}

void LeftFromS8(const int8_t* values, size_t count, void* out) {
  auto* bytes = static_cast<uint8_t*>(out);
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
  for (size_t i = 0; i < count; i += 64) {
    const size_t left = count - i;
    const __mmask64 lanes = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const __m512i steps = _mm512_maskz_loadu_epi8(lanes, values + i);
    _mm512_mask_storeu_epi8(bytes + i, lanes, _mm512_xor_si512(steps, flips));
  }
}

// Copies the values unchanged: uint8 less 128 is int8, and plus 128 is uint8 again.
void LeftFromU8(const uint8_t* values, size_t count, void* out) { std::memcpy(out, values, count); }

}  // namespace

constexpr GemmS8Kernels kGemmS8Avx512Vnni = {.name = "avx512-vnni",
                                             .rows = kRowsS8,
                                             .columns = kColumnsS8,
                                             .run = kRunS8,
                                             .left = LhsEncoding::kBiasedUInt8,
                                             .left_from_s8 = &LeftFromS8,
                                             .left_from_u8 = &LeftFromU8,
                                             .tile = &GemmS8,
                                             .requantized = &RequantizedRows,
                                             .requantizes_left = true,
                                             .adds = true};
}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif
