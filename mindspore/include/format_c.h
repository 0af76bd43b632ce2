// SPDX-License-Identifier: Apache-2.0
//
// Tensor layouts of MindSpore Lite's C API, with MindSpore's values. The runtime itself uses NHWC.
#ifndef DEPUTY_MINDSPORE_INCLUDE_FORMAT_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_FORMAT_C_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MSFormat {
  kMSFormatNCHW = 0,
  kMSFormatNHWC = 1,
  kMSFormatNHWC4 = 2,
  kMSFormatHWKC = 3,
  kMSFormatHWCK = 4,
  kMSFormatKCHW = 5,
  kMSFormatCKHW = 6,
  kMSFormatKHWC = 7,
  kMSFormatCHWK = 8,
  kMSFormatHW = 9,
  kMSFormatHW4 = 10,
  kMSFormatNC = 11,
  kMSFormatNC4 = 12,
  kMSFormatNC4HW4 = 13,
  kMSFormatNCDHW = 15,
  kMSFormatNWC = 16,
  kMSFormatNCW = 17,
  kMSFormatNC8HW8 = 18
} MSFormat;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_FORMAT_C_H_
