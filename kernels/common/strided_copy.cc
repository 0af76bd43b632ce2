// SPDX-License-Identifier: Apache-2.0
//
// The loops of a strided copy, for every size of elements.
#include "kernels/common/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "kernels/common/copy_runs.h"

namespace deputy {

namespace {

// Four by four elements whose rows and columns change places.
using Four = uint32_t __attribute__((vector_size(16)));

void TransposeFours(const uint32_t* in, int64_t step_in, uint32_t* out, int64_t step_out) {
  Four rows[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], in + i * step_in, sizeof rows[i]);
  const Four a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const Four columns[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(out + i * step_out, &columns[i], sizeof columns[i]);
}

// So many rows of so many, both multiples of four. Apart from its caller, which would lose other
// optimisations.
[[gnu::noinline]] void TransposeBlock(const uint32_t* in, int64_t step_in, uint32_t* out,
                                      int64_t step_out, int64_t rows, int64_t count) {
  for (int64_t r = 0; r < rows; r += 4) {
    for (int64_t c = 0; c < count; c += 4) {
      TransposeFours(in + r + c * step_in, step_in, out + r * step_out + c, step_out);
    }
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
  if (empty_ || rank_ < 2) return Run(in, out);
  const Axis& outer = axes_[0];
  int64_t inner = 1;
  for (int i = 1; i < rank_; ++i) inner *= axes_[static_cast<size_t>(i)].extent;
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
    for (int64_t i = 0; i < count; ++i) out[i] = in[-i];
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
      // Of four by four elements, what is contiguous along `a` on one side and along `b` on the
      // other.
      int64_t row_fours = 0, column_fours = 0;
      if constexpr (std::is_same_v<T, uint32_t>) {
        if (a.step_in == 1 && b.step_out == 1) {
          row_fours = rows / 4 * 4;
          column_fours = count / 4 * 4;
        }
        TransposeBlock(from, b.step_in, to, a.step_out, row_fours, column_fours);
      }
      for (int64_t r = column_fours == count ? row_fours : 0; r < rows; ++r) {
        const int64_t done = r < row_fours ? column_fours : 0;
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
