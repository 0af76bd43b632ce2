// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite's kernels: names of axes, and the macro MS_ASSERT.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_OP_BASE_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_OP_BASE_H_

#include <cassert>

#define MS_ASSERT(condition) assert(condition)

enum { kNHWC_N = 0, kNHWC_H = 1, kNHWC_W = 2, kNHWC_C = 3 };
enum { kNCHW_N = 0, kNCHW_C = 1, kNCHW_H = 2, kNCHW_W = 3 };

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_OP_BASE_H_
