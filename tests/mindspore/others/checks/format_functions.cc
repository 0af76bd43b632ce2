// SPDX-License-Identifier: Apache-2.0
//
// Functions of MindSpore Lite, of its converter and of its benchmark over formats and data types.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/data_type.h"
#include "include/api/format.h"
#include "include/api/types.h"
#include "include/c_api/tensor_c.h"
#include "include/errorcode.h"
#include "nnacl/op_base.h"
#include "schema/model_generated.h"
#include "src/common/log_adapter.h"

#define MS_CHECK_TRUE_MSG(value, result, text) \
  do {                                         \
    if (!(value)) return result;               \
  } while (false)
#define CHECK_NULL_RETURN(pointer) MS_CHECK_TRUE_MSG((pointer) != nullptr, lite::RET_NULL_PTR, "")

namespace nvinfer1 {
struct Permutation {
  int order[4];
};
}  // namespace nvinfer1

namespace mindspore {

using STATUS = int;
using lite::RET_ERROR;
using lite::RET_OK;

// The converter's second enumeration, with the same numbers.
enum TypeId : int {
  kNumberTypeBool = 30,
  kNumberTypeInt = 31,
  kNumberTypeInt8 = 32,
  kNumberTypeInt16 = 33,
  kNumberTypeInt32 = 34,
  kNumberTypeUInt = 36,
  kNumberTypeUInt8 = 37,
  kNumberTypeUInt16 = 38,
  kNumberTypeUInt32 = 39,
  kNumberTypeFloat = 41,
  kNumberTypeFloat16 = 42,
  kNumberTypeFloat32 = 43,
  kObjectTypeString = 12,
  kObjectTypeTensorType = 17,
};

namespace dpico {
#include "dpico_formats.inc"

#include "format_name.inc"

#include "format_deduce.inc"
}  // namespace dpico
#include "format_permutations.inc"

namespace pass {
constexpr size_t DIMENSION_4D = 4;
using dpico::FormatEnumToString;
#include "format_pair.inc"

#include "format_is_nchw.inc"

#include "format_pairs.inc"

#include "format_shape.inc"
}  // namespace pass

namespace c_functions {
#include "c_data_type.inc"

#include "c_format.inc"
}  // namespace c_functions

namespace micro {
struct Conv2DBaseCoder {
  std::string LayoutTransformFp32(Format from, Format to);
  std::string LayoutTransformInt8(Format from, Format to);
};
#include "format_micro_conv.inc"
}  // namespace micro

namespace ascend {
constexpr int kNHWCHeightIdx = 1, kNHWCWidthIdx = 2, kNCHWHeightIdx = 2, kNCHWWidthIdx = 3;
constexpr int kImageSizeHwNum = 2;
constexpr size_t kInputDimNum = 4;
struct CustomAscendKernel {
  STATUS GetRealImageSize(std::vector<MSTensor>* inputs, int32_t* image_size, int32_t num);
  size_t InputDataIndex_ = 0;
  struct {
    std::set<std::pair<int32_t, int32_t>> image_size;
  } acl_options_;
};
#include "format_image_size.inc"
}  // namespace ascend

namespace tensorrt {
constexpr int kNHWC_N = 0, kNHWC_H = 1, kNHWC_W = 2, kNHWC_C = 3;
constexpr int kNCHW_N = 0, kNCHW_C = 1, kNCHW_H = 2, kNCHW_W = 3;
#include "format_tensorrt.inc"
}  // namespace tensorrt

namespace converter {
struct Converter {
  void SetInputFormat(Format format);
  Format GetInputFormat() const;
  void SetOutputFormat(Format format);
  void SetInputDataType(DataType type);
  DataType GetInputDataType();

  struct Parameters {
    Format input_format = NHWC, spec_input_format = DEFAULT_FORMAT,
           spec_output_format = DEFAULT_FORMAT;
    DataType input_data_type = DataType::kTypeUnknown;
  };
  std::shared_ptr<Parameters> data_;
};
#include "converter_formats.inc"

#include "converter_data_types.inc"

#include "converter_names_of_types.inc"

#include "file_name_tables.inc"

#include "file_name.inc"
}  // namespace converter

namespace benchmark {
#include "benchmark_types.inc"

#include "benchmark_formats.inc"

#include "benchmark_file_name.inc"
}  // namespace benchmark

namespace benchmark_train {
struct NetTrainBase {
  static std::string GenerateOutputFileName(MSTensor* tensor, const std::string& op_name,
                                            const std::string& file_type, const size_t& idx);
};
#include "train_tables.inc"

#include "train_file_name.inc"
}  // namespace benchmark_train

namespace options {
namespace names {
#include "acl_names_of_types.inc"
}
namespace types {
#include "acl_types_of_names.inc"
}
#include "acl_options.inc"

#include "llm_tensor.inc"

#include "pool_tensor.inc"

#include "ascend_kernel_types.inc"
}  // namespace options

namespace python {
// Replaces pybind11's letters for types.
namespace py {
template <typename T>
struct format_descriptor {
  static std::string format() {
    const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
    return kind + std::to_string(sizeof(T));
  }
};
}  // namespace py
#include "python_type_format.inc"
}  // namespace python

namespace {

using Shape = std::vector<int64_t>;
using Permutation = std::vector<int>;

TEST(FormatFunctions, permutations) {
  Permutation found;
  EXPECT_EQ(dpico::DeduceDimConvertion(NHWC, NCHW, &found), RET_OK);
  EXPECT_EQ(found, (Permutation{0, 3, 1, 2}));
  EXPECT_EQ(dpico::DeduceDimConvertion(KHWC, CKHW, &found), RET_OK);
  EXPECT_EQ(found, (Permutation{3, 0, 1, 2}));
  EXPECT_EQ(dpico::DeduceDimConvertion(NHWC, NC, &found), RET_ERROR);
  found.clear();
  EXPECT_EQ(GetTransposePerm(NHWC, NCHW, &found), RET_OK);
  EXPECT_EQ(found, (Permutation{0, 3, 1, 2}));
  found.clear();
  EXPECT_EQ(GetTransposePermSharing(NHWC, NCHW, &found), RET_OK);
  EXPECT_EQ(found, (Permutation{0, 2, 3, 1}));
  EXPECT_EQ(GetTransposePerm(NHWC, KHWC, &found), RET_ERROR);
  EXPECT_EQ(tensorrt::GetOutputFormat(NHWC, {{0, 3, 2, 1}}), NCHW);
  EXPECT_EQ(tensorrt::GetOutputFormat(NCHW, {{0, 2, 3, 1}}), NHWC);
  EXPECT_EQ(tensorrt::GetOutputFormat(NC4HW4, {{0, 1, 2, 3}}), NC4HW4);
}

TEST(FormatFunctions, pairs_and_shapes) {
  const pass::TransInfoPair none, forth(NHWC, NCHW), back(NCHW, NHWC);
  EXPECT_TRUE(pass::IsNoneTranspose(none));
  EXPECT_FALSE(pass::IsNoneTranspose(forth));
  EXPECT_TRUE(pass::IsSameTranspose(forth, {NHWC, NCHW}));
  EXPECT_FALSE(pass::IsSameTranspose(forth, back));
  EXPECT_TRUE(pass::IsOppositiveTranspose(forth, back));
  EXPECT_FALSE(pass::IsOppositiveTranspose(forth, forth));
  EXPECT_TRUE(pass::IsNCHWFormat(NC8HW8));
  EXPECT_FALSE(pass::IsNCHWFormat(NHWC));
  bool good = false;
  EXPECT_EQ(pass::TransShape(Shape{1, 2, 3, 4}, forth, &good), (Shape{1, 4, 2, 3}));
  EXPECT_EQ(pass::TransShape(Shape{1, 4, 2, 3}, back, &good), (Shape{1, 2, 3, 4}));
  EXPECT_TRUE(good);
  EXPECT_EQ(pass::TransShape(Shape{1, 2, 3, 4}, {KHWC, NCHW}, &good), Shape{});
  EXPECT_FALSE(good);
}

TEST(FormatFunctions, names_of_transforms) {
  micro::Conv2DBaseCoder coder;
  EXPECT_EQ(coder.LayoutTransformFp32(NHWC, NC4HW4), "PackNHWCToNC4HW4Fp32");
  EXPECT_EQ(coder.LayoutTransformFp32(NC4HW4, NHWC), "PackNC4HW4ToNHWCFp32");
  EXPECT_EQ(coder.LayoutTransformFp32(NHWC, NCHW), "");
  EXPECT_EQ(coder.LayoutTransformInt8(NHWC, NHWC4), "PackNHWCToNHWC4Int8");
}

TEST(FormatFunctions, settings) {
  converter::Converter converter{std::make_shared<converter::Converter::Parameters>()};
  converter.SetInputFormat(NCHW);
  converter.SetOutputFormat(NC);
  converter.SetInputDataType(converter::StrToEnumDataTypeMap.at("UINT8"));
  EXPECT_EQ(converter.GetInputFormat(), NCHW);
  EXPECT_EQ(converter.data_->spec_output_format, NC);
  EXPECT_EQ(converter.GetInputDataType(), DataType::kNumberTypeUInt8);
  EXPECT_EQ(converter::Converter().GetInputFormat(), DEFAULT_FORMAT);
  EXPECT_EQ(converter::Converter().GetInputDataType(), DataType::kTypeUnknown);
  for (const auto& [name, type] : options::types::kSupportedDtypeOptionMap) {
    EXPECT_EQ(options::names::kSupportedDtypeOptionMap.at(type), name);
  }
  options::AclModelOptionCfg configuration{};
  configuration.output_type = DataType::kNumberTypeFloat16;
  EXPECT_EQ(static_cast<int>(configuration.output_type), 42);
  const options::LLMTensorInfo llm{"x", {1}, DataType::kNumberTypeInt64};
  EXPECT_EQ(static_cast<int>(llm.dtype), 35);
  const options::TensorInfo pool{"x", DataType::kNumberTypeInt8, {1}, NHWC, {}};
  EXPECT_EQ(MSTensor(pool.name, pool.data_type, pool.shape, nullptr, 0).DataSize(), 1U);
  EXPECT_EQ(pool.format, NHWC);
}

TEST(FormatFunctions, sizes_of_data_types) {
#include "size_of_types.inc"
  for (const auto& [type, size] : TypeByte) {
    if (size == 0) continue;
    EXPECT_EQ(MSTensor("t", type, {1}, nullptr, 0).DataSize(), size) << static_cast<int>(type);
  }
  EXPECT_EQ(python::GetPyTypeFormat(DataType::kNumberTypeFloat32), "f4");
  EXPECT_EQ(python::GetPyTypeFormat(DataType::kNumberTypeInt64), "i8");
  EXPECT_EQ(python::GetPyTypeFormat(DataType::kNumberTypeFloat16), "e");
  EXPECT_EQ(python::GetPyTypeFormat(DataType::kTypeUnknown), "");
  EXPECT_EQ(TypeByte.at(options::kFloat16) + TypeByte.at(options::kInt8), 3U);
}

TEST(FormatFunctions, tensors) {
  MSTensor tensor("x/y", DataType::kNumberTypeFloat32, {1, 2, 3, 4}, nullptr, 0);
  c_functions::MSTensorSetFormat(&tensor, kMSFormatNCHW);
  EXPECT_EQ(tensor.format(), NCHW);
  EXPECT_EQ(c_functions::MSTensorGetFormat(&tensor), kMSFormatNCHW);
  c_functions::MSTensorSetDataType(&tensor, kMSDataTypeNumberTypeInt32);
  EXPECT_EQ(tensor.DataType(), DataType::kNumberTypeInt32);
  EXPECT_EQ(c_functions::MSTensorGetDataType(&tensor), kMSDataTypeNumberTypeInt32);
  const std::string name = "x.y_in_0_shape_1_2_3_4_Int32_NCHW.bin";
  EXPECT_EQ(converter::GenerateOutputFileName(&tensor, "x/y", "in", 0), name + ".bin");
  EXPECT_EQ(benchmark::GenerateOutputFileName(&tensor, "x/y", "in", 0), name);
  EXPECT_EQ(benchmark_train::NetTrainBase::GenerateOutputFileName(&tensor, "x/y", "in", 0),
            name + ".bin");
}

TEST(FormatFunctions, height_and_width_of_images) {
  ascend::CustomAscendKernel kernel;
  kernel.acl_options_.image_size = {{3, 4}};
  std::vector<MSTensor> inputs = {
      MSTensor("x", DataType::kNumberTypeFloat32, {1, 2, 3, 4}, nullptr, 0)};
  inputs[0].SetFormat(NCHW);
  int32_t size[2] = {};
  EXPECT_EQ(kernel.GetRealImageSize(&inputs, size, 2), RET_OK);
  EXPECT_EQ(size[0], 3);
  EXPECT_EQ(size[1], 4);
  inputs[0].SetFormat(NHWC);
  EXPECT_EQ(kernel.GetRealImageSize(&inputs, size, 2), RET_ERROR) << "2 x 3 is not in the list";
}

}  // namespace
}  // namespace mindspore
