// SPDX-License-Identifier: Apache-2.0
//
// Copies of many short runs, for which calls of memcpy would cost more than the copying.
#ifndef DEPUTY_KERNELS_COMMON_COPY_RUNS_H_
#define DEPUTY_KERNELS_COMMON_COPY_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace deputy {

// `count` elements that lie side by side. The sides may not overlap.
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

// Unrolled, since how fast a loop of a few bytes runs depends on where it lies in the instruction
// cache.
template <int64_t count, typename T>
void OfLength(int64_t runs, const T* in, int64_t step_in, T* out, int64_t step_out) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < runs; ++i) std::copy_n(in + i * step_in, count, out + i * step_out);
}

// The same of so many bytes.
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

// `runs` runs of `count` elements, which begin so many elements apart on either side. Out of line:
// broadcasting operators, of which there are hundreds, would have a copy each.
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

// In copy_runs.cc: of the copies that several files have the linker might take one that is not
// compiled to be fast.
extern template void CopyRuns(int64_t, int64_t, const uint8_t*, int64_t, uint8_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint16_t*, int64_t, uint16_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint32_t*, int64_t, uint32_t*, int64_t);
extern template void CopyRuns(int64_t, int64_t, const uint64_t*, int64_t, uint64_t*, int64_t);

// The runs of `length` elements, 1 or more, that begin at `places` of `count` elements, one behind
// the other.
template <typename T>
[[gnu::noinline]] void PickRuns(const T* in, int64_t count, std::span<const int64_t> places,
                                int64_t length, T* out) {
  constexpr int64_t kChunk = 16 / static_cast<int64_t>(sizeof(T)), kMostChunks = 4;
  auto place = places.begin();
  if (length <= kMostChunks * kChunk) {
    // Whole chunks: what they store too much belongs to runs that are still to come.
    const int64_t stored = (length + kChunk - 1) / kChunk * kChunk;
    const auto runs = static_cast<int64_t>(places.size());
    const auto last = place + std::max<int64_t>(0, runs - (stored - 1) / length);
    for (; place != last && *place + stored <= count; ++place, out += length) {
      for (int64_t i = 0; i < stored; i += kChunk) std::memcpy(out + i, in + *place + i, 16);
    }
  }
  for (; place != places.end(); ++place) out = std::copy_n(in + *place, length, out);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_COPY_RUNS_H_
