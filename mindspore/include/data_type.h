// SPDX-License-Identifier: Apache-2.0
//
// Element types of MindSpore Lite's C++ API, with MindSpore's values.
#ifndef DEPUTY_MINDSPORE_INCLUDE_DATA_TYPE_H_
#define DEPUTY_MINDSPORE_INCLUDE_DATA_TYPE_H_

#include <cstdint>

namespace mindspore {

enum class DataType : int {
  kTypeUnknown = 0,
  kObjectTypeString = 12,
  kObjectTypeList = 13,
  kObjectTypeTuple = 14,
  kObjectTypeTensorType = 17,
  kNumberTypeBegin = 29,
  kNumberTypeBool = 30,
  kNumberTypeInt8 = 32,
  kNumberTypeInt16 = 33,
  kNumberTypeInt32 = 34,
  kNumberTypeInt64 = 35,
  kNumberTypeUInt8 = 37,
  kNumberTypeUInt16 = 38,
  kNumberTypeUInt32 = 39,
  kNumberTypeUInt64 = 40,
  kNumberTypeFloat16 = 42,
  kNumberTypeFloat32 = 43,
  kNumberTypeFloat64 = 44,
  kNumberTypeBFloat16 = 45,
  kNumberTypeComplex64 = 51,
  kNumberTypeComplex128 = 52,
  kNumberTypeEnd = 53,
  kInvalidType = INT32_MAX,
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_DATA_TYPE_H_
