// SPDX-License-Identifier: Apache-2.0
//
// Copies of many short runs, for which memcpy calls would cost more than the copies.
#ifndef DEPUTY_KERNELS_COMMON_COPY_RUNS_H_
#define DEPUTY_KERNELS_COMMON_COPY_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/support/int_math.h"

namespace deputy {

// Copies `count` contiguous elements. Source and destination must not overlap.
template <typename T>
inline void CopyRun(const T* in, int64_t count, T* out) {
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 8) {
    constexpr int64_t kChunk = 16 / static_cast<int64_t>(sizeof(T));
    if (count <= 16 * kChunk) {
      for (; count >= kChunk; count -= kChunk, in += kChunk, out += kChunk) {
        std::memcpy(out, in, 16);
      }
      for (; count > 0; --count) *out++ = *in++;
      return;
    }
  }
  std::copy_n(in, count, out);
}

namespace copy_runs {

// Copies `runs` runs of a constant number of elements, `count`. Unrolled, because the speed of a
// loop over a few bytes depends on its alignment in the instruction cache.
template <int64_t count, typename T>
void OfLength(int64_t runs, const T* in, int64_t step_in, T* out, int64_t step_out) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < runs; ++i) std::copy_n(in + i * step_in, count, out + i * step_out);
}

// Copies runs of `bytes` bytes; returns false if `count` elements have another size.
template <int64_t bytes, typename T>
bool OfBytes(int64_t runs, int64_t count, const T* in, int64_t step_in, T* out, int64_t step_out) {
  if constexpr (std::is_trivially_copyable_v<T> && bytes % sizeof(T) == 0) {
    constexpr int64_t kCount = bytes / static_cast<int64_t>(sizeof(T));
    if (count != kCount) return false;
    OfLength<kCount>(runs, in, step_in, out, step_out);
    return true;
  }
  return false;
}

}  // namespace copy_runs

// Copies `runs` runs of `count` elements; they begin `step_in` and `step_out` elements apart. Not
// inlined: each of the hundreds of broadcasting operators would have a copy of the code.
template <typename T>
[[gnu::noinline]] void CopyRuns(int64_t runs, int64_t count, const T* in, int64_t step_in, T* out,
                                int64_t step_out) {
  switch (count) {
    case 1:
      return copy_runs::OfLength<1>(runs, in, step_in, out, step_out);
    case 2:
      return copy_runs::OfLength<2>(runs, in, step_in, out, step_out);
    case 4:
      return copy_runs::OfLength<4>(runs, in, step_in, out, step_out);
    default:
      break;
  }
  if (copy_runs::OfBytes<16>(runs, count, in, step_in, out, step_out) ||
      copy_runs::OfBytes<32>(runs, count, in, step_in, out, step_out) ||
      copy_runs::OfBytes<64>(runs, count, in, step_in, out, step_out) ||
      copy_runs::OfBytes<128>(runs, count, in, step_in, out, step_out) ||
      copy_runs::OfBytes<256>(runs, count, in, step_in, out, step_out)) {
    return;
  }
  for (int64_t i = 0; i < runs; ++i) CopyRun(in + i * step_in, count, out + i * step_out);
}

// CopyRuns of unsigned integers is instantiated in copy_runs.cc: if several files had instances,
// the linker could select one that was compiled for size.
extern template void CopyRuns(int64_t, int64_t, const uint8_t*, int64_t, uint8_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint16_t*, int64_t, uint16_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint32_t*, int64_t, uint32_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint64_t*, int64_t, uint64_t*, int64_t);

// Concatenates the runs of `length` elements, 1 or more, that begin at `offsets` in `in`, which has
// `count` elements.
template <typename T>
[[gnu::noinline]] void PickRuns(const T* in, int64_t count, std::span<const int64_t> offsets,
                                int64_t length, T* out) {
  constexpr int64_t kChunk = 16 / static_cast<int64_t>(sizeof(T)), kMaxChunks = 4;
  auto offset = offsets.begin();
  if (length <= kMaxChunks * kChunk) {
    // Copies whole chunks: bytes stored after the end of a run are overwritten by the runs that
    // follow.
    const int64_t stored = RoundUp(length, kChunk);
    const auto runs = static_cast<int64_t>(offsets.size());
    const auto last = offset + std::max<int64_t>(0, runs - (stored - 1) / length);
    for (; offset != last && *offset + stored <= count; ++offset, out += length) {
      for (int64_t i = 0; i < stored; i += kChunk) std::memcpy(out + i, in + *offset + i, 16);
    }
  }
  for (; offset != offsets.end(); ++offset) out = std::copy_n(in + *offset, length, out);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_COPY_RUNS_H_
