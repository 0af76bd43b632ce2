// SPDX-License-Identifier: Apache-2.0
//
// Functions and tables over formats and data types.
#include <string>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/data_type.h"
#include "include/api/format.h"
#include "include/api/types.h"
#include "src/common/log_adapter.h"

namespace {

namespace benchmark {
#include "benchmark_formats.inc"
}
namespace transpose {
#include "dpico_formats.inc"
};
namespace converter {
#include "format_name.inc"
}
namespace micro {
using namespace mindspore;  // NOLINT(google-build-using-namespace)
#include "micro_format.inc"
}  // namespace micro
namespace provider {
#include "data_type_size.inc"
}

// Names and numbers of the .ms format.
const std::vector<std::pair<mindspore::Format, std::string>> kFormats = {
    {mindspore::NCHW, "NCHW"}, {mindspore::NHWC, "NHWC"},    {mindspore::NHWC4, "NHWC4"},
    {mindspore::HWKC, "HWKC"}, {mindspore::HWCK, "HWCK"},    {mindspore::KCHW, "KCHW"},
    {mindspore::CKHW, "CKHW"}, {mindspore::KHWC, "KHWC"},    {mindspore::CHWK, "CHWK"},
    {mindspore::HW, "HW"},     {mindspore::HW4, "HW4"},      {mindspore::NC, "NC"},
    {mindspore::NC4, "NC4"},   {mindspore::NC4HW4, "NC4HW4"}};

TEST(FormatsCheck, names) {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    const auto& [format, name] = kFormats[i];
    EXPECT_EQ(static_cast<size_t>(format), i) << name;
    EXPECT_EQ(benchmark::kTensorFormatMap.at(format), name);
    EXPECT_EQ(transpose::kTensorFormatMap.at(format), name);
    EXPECT_EQ(converter::FormatEnumToString(format), name);
  }
  EXPECT_EQ(converter::FormatEnumToString(mindspore::NCDHW), "NCDHW");
  EXPECT_EQ(micro::EnumMicroTensorFormat(mindspore::NHWC), "Format_NHWC");
  EXPECT_EQ(micro::EnumMicroTensorFormat(mindspore::NC4HW4), "Format_NC4HW4");
  EXPECT_EQ(micro::EnumMicroTensorFormat(mindspore::NC), "Format_NUM_OF_FORMAT");
}

TEST(FormatsCheck, sizes_of_data_types_are_those_of_tensors) {
  for (int type = 0; type <= 50; ++type) {
    const auto data_type = static_cast<mindspore::DataType>(type);
    const mindspore::MSTensor tensor("t", data_type, {1}, nullptr, 0);
    if (tensor == nullptr || tensor.DataSize() == 0) continue;
    if (provider::DataTypeSize(data_type) == 0) continue;
    EXPECT_EQ(provider::DataTypeSize(data_type), tensor.DataSize()) << type;
  }
  EXPECT_EQ(provider::DataTypeSize(mindspore::DataType::kNumberTypeFloat32), 4u);
  EXPECT_EQ(provider::DataTypeSize(mindspore::DataType::kNumberTypeBool), 1u);
}

}  // namespace
