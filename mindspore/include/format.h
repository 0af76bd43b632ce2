// SPDX-License-Identifier: Apache-2.0
//
// Layouts of tensors in MindSpore Lite's C++ API, with MindSpore's values.
#ifndef DEPUTY_MINDSPORE_INCLUDE_FORMAT_H_
#define DEPUTY_MINDSPORE_INCLUDE_FORMAT_H_

#include <cstdint>

namespace mindspore {

enum Format : int64_t {
  DEFAULT_FORMAT = -1,
  NCHW = 0,
  NHWC = 1,
  NHWC4 = 2,
  HWKC = 3,
  HWCK = 4,
  KCHW = 5,
  CKHW = 6,
  KHWC = 7,
  CHWK = 8,
  HW = 9,
  HW4 = 10,
  NC = 11,
  NC4 = 12,
  NC4HW4 = 13,
  NUM_OF_FORMAT = 14,
  NCDHW = 15,
  NWC = 16,
  NCW = 17,
  NC8HW8 = 18,
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_FORMAT_H_
