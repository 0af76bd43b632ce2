// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/row_product.h"

namespace deputy {

void RowProduct::Multiply(int group, const float* rows, int count, float* out,
                          int64_t out_step) const {
  const GemmPlan::Cut whole = {0, count, 0, columns};
  GemmF32 job = Job(group, out);
  job.out_stride = static_cast<size_t>(out_step);
  RunGemmF32(job, whole, [&](int64_t, int) -> RowBlock<float> {
    return {rows, static_cast<size_t>(depth)};
  });
}

}  // namespace deputy
