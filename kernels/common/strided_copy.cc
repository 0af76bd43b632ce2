// SPDX-License-Identifier: Apache-2.0
//
// Loops of a strided copy, for each element size.
#include "kernels/common/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/common/copy_runs.h"

namespace deputy {

namespace {

// Number of elements in a 16-byte vector.
template <typename T>
struct Side {
  static constexpr bool kHas = std::is_arithmetic_v<T> && sizeof(T) <= 8;
  static constexpr int kCount = kHas ? 16 / static_cast<int>(sizeof(T)) : 1;
};

template <typename T>
struct Sixteen {
  typedef T Row __attribute__((vector_size(16)));
  static constexpr int kCount = Side<T>::kCount;

  // Interleaves the lower or upper halves of both rows.
  template <bool high, int... i>
  static Row Interleave(const Row& a, const Row& b, std::integer_sequence<int, i...>) {
    constexpr int kFirst = high ? kCount / 2 : 0;
    return __builtin_shufflevector(a, b, (kFirst + i / 2 + i % 2 * kCount)...);
  }
  // Reverses the elements of a vector, from memory to memory. g++ 12 splits vectors with elements
  // of less than four bytes, hence the word operations.
  static void Reverse(const T* in, T* out) {
    if constexpr (sizeof(T) == 1) {
      uint64_t low, high;
      std::memcpy(&low, in, sizeof low);
      std::memcpy(&high, in + 8, sizeof high);
      low = __builtin_bswap64(low);
      high = __builtin_bswap64(high);
      std::memcpy(out, &high, sizeof high);
      std::memcpy(out + 8, &low, sizeof low);
    } else {
      typedef uint32_t Words __attribute__((vector_size(16)));
      Words words;
      std::memcpy(&words, in, sizeof words);
      words = sizeof(T) == 8 ? __builtin_shufflevector(words, words, 2, 3, 0, 1)
                             : __builtin_shufflevector(words, words, 3, 2, 1, 0);
      if constexpr (sizeof(T) == 2) words = words << 16 | words >> 16;
      std::memcpy(out, &words, sizeof words);
    }
  }

  // Transposes a square of kCount x kCount elements. The bits of an element's row and column form
  // its position; each pass rotates them by one bit.
  static void Transpose(const T* in, int64_t step_in, T* out, int64_t step_out) {
    constexpr auto kAll = std::make_integer_sequence<int, kCount>();
    Row rows[kCount], next[kCount];
    for (int i = 0; i < kCount; ++i) std::memcpy(&rows[i], in + i * step_in, sizeof rows[i]);
#pragma GCC unroll 4
    for (int pass = 1; pass < kCount; pass *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kCount / 2; ++i) {
        next[2 * i] = Interleave<false>(rows[i], rows[i + kCount / 2], kAll);
        next[2 * i + 1] = Interleave<true>(rows[i], rows[i + kCount / 2], kAll);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) rows[i] = next[i];
    }
    for (int i = 0; i < kCount; ++i) std::memcpy(out + i * step_out, &rows[i], sizeof rows[i]);
  }
};

// Transposes a block; both counts are multiples of Side<T>::kCount. Not inlined, because its caller
// would lose other optimisations.
template <typename T>
[[gnu::noinline]] void TransposeBlock(const T* in, int64_t step_in, T* out, int64_t step_out,
                                      int64_t rows, int64_t count) {
  constexpr int kCount = Side<T>::kCount;
  for (int64_t r = 0; r < rows; r += kCount) {
    for (int64_t c = 0; c < count; c += kCount) {
      Sixteen<T>::Transpose(in + r + c * step_in, step_in, out + r * step_out + c, step_out);
    }
  }
}

// Copies `runs` runs with the elements of each in reverse order; `in` points to the last element of
// the first run. Runs begin `step_in` and `step_out` elements apart.
template <typename T>
[[gnu::noinline]] void ReverseRuns(int64_t runs, int64_t count, const T* in, int64_t step_in,
                                   T* out, int64_t step_out) {
  for (; runs > 0; --runs, in += step_in, out += step_out) {
    if constexpr (Side<T>::kHas) {
      constexpr int kCount = Side<T>::kCount;
      if (count >= kCount) {
        // The last vector overlaps the previous one.
        const int64_t last = count - kCount;
        for (int64_t i = 0; i < last; i += kCount) {
          Sixteen<T>::Reverse(in - i - (kCount - 1), out + i);
        }
        Sixteen<T>::Reverse(in - (count - 1), out + last);
        continue;
      }
    }
    for (int64_t i = 0; i < count; ++i) out[i] = in[-i];
  }
}

}  // namespace

template <typename T>
void StridedCopy::Run(const T* in, T* out) const {
  if (empty_) return;
  if (rank_ == 0) {
    *out = *in;
  } else {
    Level(0, in, out);
  }
}

template <typename T>
void StridedCopy::Run(TfLiteContext* context, const T* in, T* out) const {
  if (empty_ || rank_ == 0) return Run(in, out);
  const Axis &outer = axes_[0], &second = axes_[1];
  int64_t inner = 1;
  for (int i = 1; i < rank_; ++i) inner *= axes_[static_cast<size_t>(i)].extent;
  if (rank_ > 2 && outer.extent < 4 * int64_t{ThreadCount(context)}) {
    // The first axis has too few steps for all threads, so the second one is divided, too.
    ParallelRanges(context, outer.extent * second.extent,
                   kElementsPerTask / (inner / second.extent) + 1,
                   [&](int64_t first, int64_t last) {
                     StridedCopy part = *this;
                     part.axes_[0].extent = 1;
                     for (int64_t count; first < last; first += count) {
                       const int64_t i = first / second.extent, j = first % second.extent;
                       count = std::min(last - first, second.extent - j);
                       part.axes_[1].extent = count;
                       part.Level(0, in + i * outer.step_in + j * second.step_in,
                                  out + i * outer.step_out + j * second.step_out);
                     }
                   });
    return;
  }
  ParallelRanges(context, outer.extent, kElementsPerTask / inner + 1,
                 [&](int64_t first, int64_t last) {
                   StridedCopy part = *this;
                   part.axes_[0].extent = last - first;
                   part.Level(0, in + first * outer.step_in, out + first * outer.step_out);
                 });
}

template <typename T>
void StridedCopy::Level(int level, const T* in, T* out) const {
  const Axis& axis = axes_[static_cast<size_t>(level)];
  if (level + 1 == rank_) return Row(axis, axis.extent, in, out);
  if (blocked_ && level + 2 == rank_) {
    return Block(axis, axes_[static_cast<size_t>(level) + 1], in, out);
  }
  if (level + 2 == rank_) {
    const Axis& run = axes_[static_cast<size_t>(level) + 1];
    if (run.step_in == 1 && run.step_out == 1) {
      return CopyRuns(axis.extent, run.extent, in, axis.step_in, out, axis.step_out);
    }
    if (run.step_in == -1 && run.step_out == 1) {
      return ReverseRuns(axis.extent, run.extent, in, axis.step_in, out, axis.step_out);
    }
  }
  for (int64_t i = 0; i < axis.extent; ++i) {
    Level(level + 1, in + i * axis.step_in, out + i * axis.step_out);
  }
}

template <typename T>
void StridedCopy::Row(const Axis& axis, int64_t count, const T* in, T* out) {
  if (axis.step_out != 1) {
    for (int64_t i = 0; i < count; ++i) out[i * axis.step_out] = in[i * axis.step_in];
  } else if (axis.step_in == 1) {
    std::copy_n(in, count, out);
  } else if (axis.step_in == 0) {
    std::fill_n(out, count, *in);
  } else if (axis.step_in == -1) {
    ReverseRuns(1, count, in, 0, out, 0);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * axis.step_in];
  }
}

template <typename T>
void StridedCopy::Block(const Axis& a, const Axis& b, const T* in, T* out) {
  for (int64_t i = 0; i < a.extent; i += kBlock) {
    const int64_t rows = std::min(kBlock, a.extent - i);
    for (int64_t j = 0; j < b.extent; j += kBlock) {
      const int64_t count = std::min(kBlock, b.extent - j);
      const T* from = in + i * a.step_in + j * b.step_in;
      T* to = out + i * a.step_out + j * b.step_out;
      // The copy is transposed in squares if the source is contiguous along `a` and the destination
      // along `b`.
      int64_t square_rows = 0, square_columns = 0;
      if constexpr (Side<T>::kHas) {
        if (a.step_in == 1 && b.step_out == 1) {
          square_rows = rows - rows % Side<T>::kCount;
          square_columns = count - count % Side<T>::kCount;
          TransposeBlock(from, b.step_in, to, a.step_out, square_rows, square_columns);
        }
      }
      for (int64_t r = square_columns == count ? square_rows : 0; r < rows; ++r) {
        const int64_t done = r < square_rows ? square_columns : 0;
        Row(b, count - done, from + r * a.step_in + done * b.step_in,
            to + r * a.step_out + done * b.step_out);
      }
    }
  }
}

template void StridedCopy::Run(const uint8_t*, uint8_t*) const;
template void StridedCopy::Run(const uint16_t*, uint16_t*) const;
template void StridedCopy::Run(const uint32_t*, uint32_t*) const;
template void StridedCopy::Run(const uint64_t*, uint64_t*) const;
template void StridedCopy::Run(const std::string_view*, std::string_view*) const;

template void StridedCopy::Run(TfLiteContext*, const uint8_t*, uint8_t*) const;
template void StridedCopy::Run(TfLiteContext*, const uint16_t*, uint16_t*) const;
template void StridedCopy::Run(TfLiteContext*, const uint32_t*, uint32_t*) const;
template void StridedCopy::Run(TfLiteContext*, const uint64_t*, uint64_t*) const;
template void StridedCopy::Run(TfLiteContext*, const std::string_view*, std::string_view*) const;

}  // namespace deputy
