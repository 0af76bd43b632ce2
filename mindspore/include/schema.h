// SPDX-License-Identifier: Apache-2.0
//
// The operator of a kernel: its value in MindSpore's schema, and its attributes by name. It is
// created from the model's operator, independently of the file format, and is valid during
// Delegate::Build.
#ifndef DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_
#define DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "delegate_c.h"

namespace mindspore {

enum SchemaVersion : int { SCHEMA_INVALID = -1, SCHEMA_CUR = 0, SCHEMA_V0 = 1 };

namespace schema {

// Values of the operators that occur in models, from MindSpore's schema.
enum PrimitiveType : int {
  PrimitiveType_NONE = 0,
  PrimitiveType_Abs = 1,
  PrimitiveType_Activation = 2,
  PrimitiveType_AddFusion = 5,
  PrimitiveType_ArgMaxFusion = 11,
  PrimitiveType_ArgMinFusion = 12,
  PrimitiveType_AvgPoolFusion = 17,
  PrimitiveType_BatchToSpaceND = 22,
  PrimitiveType_BroadcastTo = 27,
  PrimitiveType_Cast = 28,
  PrimitiveType_Ceil = 29,
  PrimitiveType_Concat = 31,
  PrimitiveType_Conv2DFusion = 35,
  PrimitiveType_Conv2dTransposeFusion = 36,
  PrimitiveType_Cos = 37,
  PrimitiveType_DepthToSpace = 45,
  PrimitiveType_DivFusion = 47,
  PrimitiveType_Elu = 51,
  PrimitiveType_Equal = 53,
  PrimitiveType_ExpFusion = 55,
  PrimitiveType_ExpandDims = 56,
  PrimitiveType_Floor = 63,
  PrimitiveType_FloorDiv = 64,
  PrimitiveType_FloorMod = 65,
  PrimitiveType_Fill = 66,
  PrimitiveType_FullConnection = 67,
  PrimitiveType_Gather = 69,
  PrimitiveType_GatherNd = 70,
  PrimitiveType_Greater = 71,
  PrimitiveType_GreaterEqual = 72,
  PrimitiveType_LeakyRelu = 76,
  PrimitiveType_Less = 77,
  PrimitiveType_LessEqual = 78,
  PrimitiveType_Log = 79,
  PrimitiveType_LogicalAnd = 81,
  PrimitiveType_LogicalNot = 82,
  PrimitiveType_LogicalOr = 83,
  PrimitiveType_LRN = 85,
  PrimitiveType_L2NormalizeFusion = 88,
  PrimitiveType_MatMulFusion = 89,
  PrimitiveType_Maximum = 90,
  PrimitiveType_MaxPoolFusion = 92,
  PrimitiveType_Minimum = 96,
  PrimitiveType_MulFusion = 99,
  PrimitiveType_Neg = 101,
  PrimitiveType_NotEqual = 103,
  PrimitiveType_OneHot = 105,
  PrimitiveType_PadFusion = 107,
  PrimitiveType_PowFusion = 110,
  PrimitiveType_PReLUFusion = 112,
  PrimitiveType_QuantDTypeCast = 113,
  PrimitiveType_Rank = 114,
  PrimitiveType_Range = 115,
  PrimitiveType_ReduceFusion = 118,
  PrimitiveType_Reshape = 119,
  PrimitiveType_Resize = 120,
  PrimitiveType_ReverseV2 = 122,
  PrimitiveType_Round = 125,
  PrimitiveType_Rsqrt = 126,
  PrimitiveType_ScatterNd = 128,
  PrimitiveType_Shape = 130,
  PrimitiveType_Sin = 133,
  PrimitiveType_SliceFusion = 135,
  PrimitiveType_Softmax = 138,
  PrimitiveType_SpaceToBatchND = 141,
  PrimitiveType_SpaceToDepth = 142,
  PrimitiveType_Split = 145,
  PrimitiveType_Sqrt = 146,
  PrimitiveType_Squeeze = 147,
  PrimitiveType_Square = 148,
  PrimitiveType_SquaredDifference = 149,
  PrimitiveType_Stack = 150,
  PrimitiveType_StridedSlice = 151,
  PrimitiveType_SubFusion = 152,
  PrimitiveType_TileFusion = 160,
  PrimitiveType_TopKFusion = 161,
  PrimitiveType_Transpose = 162,
  PrimitiveType_Unstack = 166,
  PrimitiveType_Where = 168,
  PrimitiveType_Select = 170,
  PrimitiveType_LogSoftmax = 189,
  PrimitiveType_Custom = 191,
  PrimitiveType_CumSum = 192,
};

class Primitive {
 public:
  explicit Primitive(const DeputyMSPrimitive* primitive) : primitive_(primitive) {}

  PrimitiveType value_type() const {
    return static_cast<PrimitiveType>(DeputyMSPrimitiveType(primitive_));
  }
  std::string type_name() const { return DeputyMSPrimitiveTypeName(primitive_); }
  // Code, version and custom name of the operator in TensorFlow Lite's schema.
  int builtin_code() const { return DeputyMSPrimitiveBuiltinCode(primitive_); }
  int version() const { return DeputyMSPrimitiveVersion(primitive_); }
  std::string custom_name() const { return DeputyMSPrimitiveCustomName(primitive_); }

  // Returns the names of the attributes.
  std::vector<std::string> attributes() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < DeputyMSPrimitiveAttributeCount(primitive_); ++i) {
      names.emplace_back(DeputyMSPrimitiveAttributeName(primitive_, i));
    }
    return names;
  }
  bool has(const char* name) const {
    for (const std::string& attribute : attributes()) {
      if (attribute == name) return true;
    }
    return false;
  }
  // Return an attribute. If no attribute has this name and kind, the result is `default_value`, or
  // empty for a list or string.
  int64_t GetInt(const char* name, int64_t default_value = 0) const {
    DeputyMSPrimitiveGetInt(primitive_, name, &default_value);
    return default_value;
  }
  float GetFloat(const char* name, float default_value = 0) const {
    DeputyMSPrimitiveGetFloat(primitive_, name, &default_value);
    return default_value;
  }
  bool GetBool(const char* name, bool default_value = false) const {
    DeputyMSPrimitiveGetBool(primitive_, name, &default_value);
    return default_value;
  }
  std::vector<int64_t> GetInts(const char* name) const {
    const int64_t* values = nullptr;
    size_t count = 0;
    DeputyMSPrimitiveGetInts(primitive_, name, &values, &count);
    return std::vector<int64_t>(values, values + count);
  }
  std::string GetBytes(const char* name) const {
    const void* bytes = nullptr;
    size_t size = 0;
    DeputyMSPrimitiveGetBytes(primitive_, name, &bytes, &size);
    return std::string(static_cast<const char*>(bytes), size);
  }

 private:
  const DeputyMSPrimitive* primitive_;
};

}  // namespace schema
}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_
