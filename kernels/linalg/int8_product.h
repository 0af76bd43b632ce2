// SPDX-License-Identifier: Apache-2.0
//
// Products of int8 rows and packed int8 weights, on all threads, for convolutions, fully connected
// layers and batches of matrices. The caller provides the rows and processes the sums.
#ifndef DEPUTY_KERNELS_LINALG_INT8_PRODUCT_H_
#define DEPUTY_KERNELS_LINALG_INT8_PRODUCT_H_

#include "core/kernel_api/scratch.h"
#include "core/support/int_math.h"
#include "kernels/linalg/gemm.h"

namespace deputy {

struct Int8Product {
  const CpuKernels* cpu = nullptr;
  const PackedWeights<int8_t>* weights = nullptr;
  int64_t rows = 0;  // number of rows per job
  int groups = 1, columns = 0, depth = 0;
  int32_t input_zero_point = 0;    // zero point of the inputs as int8
  int32_t weights_zero_point = 0;  // zero point of the weights as int8
  const int32_t* bias = nullptr;   // shape [groups][columns]; null if there is none

  // Returns the bytes of scratch memory of a run on `threads` threads. The result depends only on
  // the sizes and `cpu`.
  size_t ScratchBytes(int threads) const;

  // Runs jobs, each of which multiplies `rows` rows by one group of the weights:
  //   group_of(job) returns that group;
  //   fill(job, row, out) writes the `depth` values of a row in the kernel's LhsEncoding;
  //   finish(job, first_row, rows, first_column, columns, sums, stride) processes a tile of sums of
  //     (input - zero point) * (weight - zero point), including the bias: sums[r * stride + c].
  // `fill` and `finish` are called from several threads. If `context` is null, one thread is used.
  template <typename GroupOf, typename Fill, typename Finish>
  TfLiteStatus Run(TfLiteContext* context, int jobs, const GroupOf& group_of, const Fill& fill,
                   const Finish& finish) const;

 private:
  // Layout of the scratch memory, in bytes: the bias of all groups, then a block of rows for each
  // worker.
  struct Layout {
    size_t row_bytes = 0, bias_bytes = 0, block_bytes = 0;
    GemmPlan plan;
  };
  // Computes the layout; returns false if a size overflows.
  bool LayOut(int threads, Layout* out, size_t* out_bytes) const;
  // Writes the bias of every group, padded, including the contribution of the inputs' zero point.
  void FoldBias(int32_t* out) const;
};

template <typename GroupOf, typename Fill, typename Finish>
TfLiteStatus Int8Product::Run(TfLiteContext* context, int jobs, const GroupOf& group_of,
                              const Fill& fill, const Finish& finish) const {
  Layout layout;
  size_t bytes = 0;
  Scratch scratch;
  if (!LayOut(ThreadCount(context), &layout, &bytes) || !scratch.Acquire(context, bytes)) {
    return KernelError(context, "out of memory for %zu bytes of input rows", bytes);
  }
  int32_t* const folded = scratch.as<int32_t>();
  FoldBias(folded);
  const GemmPlan& plan = layout.plan;
  const size_t used_bytes = static_cast<size_t>(depth) * cpu->gemm_s8.left_bytes();
  const int64_t total = int64_t{jobs} * plan.tasks;
  const int64_t portion = (total >> 20) + 1;
  const int tasks = static_cast<int>(CeilDiv(total, portion));
  const auto run_one = [&](int job, int task, int worker) {
    const int group = group_of(job);
    const GemmSums sums_job = {cpu,
                               weights,
                               group,
                               depth,
                               folded + int64_t{group} * weights->padded_columns(),
                               input_zero_point + cpu->gemm_s8.left_offset(),
                               weights_zero_point};
    auto* const block = reinterpret_cast<uint8_t*>(
        scratch.data() + layout.bias_bytes + static_cast<size_t>(worker) * layout.block_bytes);
    const auto get_rows = [&](int64_t first, int count) -> RowBlock<uint8_t> {
      for (int r = 0; r < count; ++r) {
        uint8_t* row = block + static_cast<size_t>(r) * layout.row_bytes;
        fill(job, first + r, row);
        std::fill(row + used_bytes, row + layout.row_bytes, uint8_t{0});
      }
      return {block, layout.row_bytes};
    };
    RunGemmSums(sums_job, plan, task, get_rows,
                [&](int64_t row, int count, int column, int width, const int32_t* sums,
                    size_t stride) { finish(job, row, count, column, width, sums, stride); });
  };
  ParallelFor(context, tasks, [&](int portion_index, int worker) {
    const int64_t last = std::min(total, (portion_index + 1) * portion);
    for (int64_t i = portion_index * portion; i < last; ++i) {
      run_one(static_cast<int>(i / plan.tasks), static_cast<int>(i % plan.tasks), worker);
    }
  });
  return kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_INT8_PRODUCT_H_
