// SPDX-License-Identifier: Apache-2.0
//
// The function of TensorFlow's string header that label_image uses: it converts a little-endian
// number. Deputy's platforms are little-endian.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TSL_PLATFORM_CTSTRING_INTERNAL_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TSL_PLATFORM_CTSTRING_INTERNAL_H_

#include <cstdint>

inline uint32_t TF_le32toh(uint32_t value) { return value; }

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TSL_PLATFORM_CTSTRING_INTERNAL_H_
