// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy_runs.h"

namespace deputy {

template void CopyRuns(int64_t, int64_t, const uint8_t*, int64_t, uint8_t*, int64_t);
template void CopyRuns(int64_t, int64_t, const uint16_t*, int64_t, uint16_t*, int64_t);
template void CopyRuns(int64_t, int64_t, const uint32_t*, int64_t, uint32_t*, int64_t);
template void CopyRuns(int64_t, int64_t, const uint64_t*, int64_t, uint64_t*, int64_t);

}  // namespace deputy
