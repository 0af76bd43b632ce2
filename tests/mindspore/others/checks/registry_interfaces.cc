// SPDX-License-Identifier: Apache-2.0
//
// Calls the shape inference that the DPICO adapter registers for its custom operators.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/types.h"
#include "include/registry/register_kernel_interface.h"
#include "schema/model_generated.h"

namespace {

using mindspore::MSTensor;
using Shape = std::vector<int64_t>;
namespace schema = mindspore::schema;

struct Attribute {
  const char* name;
  std::vector<uint8_t> bytes;
};

template <class T>
Attribute Value(const char* name, T value) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  return {name, {first, first + sizeof value}};
}

// A custom operator of this type with attributes.
class CustomPrimitive {
 public:
  CustomPrimitive(const std::string& type, const std::vector<Attribute>& attributes) {
    std::vector<flatbuffers::Offset<schema::Attribute>> list;
    for (const Attribute& attribute : attributes) {
      const auto name = fbb_.CreateString(attribute.name);
      list.push_back(schema::CreateAttribute(fbb_, name, fbb_.CreateVector(attribute.bytes)));
    }
    const auto name = fbb_.CreateString(type);
    const auto custom = schema::CreateCustom(fbb_, name, fbb_.CreateVector(list));
    fbb_.Finish(schema::CreatePrimitive(fbb_, schema::PrimitiveType_Custom, custom.Union()));
  }
  const schema::Primitive* get() const {
    return flatbuffers::GetRoot<schema::Primitive>(fbb_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder fbb_;
};

// Returns the shape of the output; empty if the inference fails or there is none for the type.
Shape Infer(const std::string& type, const std::vector<Shape>& inputs,
            const std::vector<Attribute>& attributes = {}) {
  const CustomPrimitive primitive(type, attributes);
  const auto interface = mindspore::registry::RegisterKernelInterface::GetKernelInterface(
      "DPICO", primitive.get(), nullptr);
  if (interface == nullptr) return {};
  const auto float32 = mindspore::DataType::kNumberTypeFloat32;
  std::vector<MSTensor> from, to;
  for (const Shape& shape : inputs) from.emplace_back("x", float32, shape, nullptr, 0);
  to.emplace_back("y", float32, Shape{7, 7}, nullptr, 0);
  const mindspore::Status status = interface->Infer(&from, &to, primitive.get(), nullptr);
  return status == mindspore::kSuccess ? to[0].Shape() : Shape{};
}

TEST(RegistryInterfaces, operators_that_keep_the_shape) {
  for (const char* type :
       {"Normalize", "Threshold", "X_LOG_Y",     "X_DIV_Y",  "Bnll",    "ShuffleChannel",
        "Mvn",       "Nop",       "Bias",        "Eltwise",  "Hardmax", "Mod",
        "Shrink",    "BitShift",  "Acos",        "Acosh",    "Asinh",   "Atanh",
        "Cosh",      "Sinh",      "HardSigmoid", "Softsign", "Xor",     "Mish"}) {
    EXPECT_EQ(Infer(type, {{2, 3, 4}}), (Shape{2, 3, 4})) << type;
    EXPECT_EQ(Infer(type, {}), Shape{}) << type;
  }
}

TEST(RegistryInterfaces, operators_with_attributes) {
  EXPECT_EQ(Infer("PassThrough", {{1, 3, 8, 6}},
                  {Value("num_output", 5U), Value("block_height", 2U), Value("block_width", 3U)}),
            (Shape{1, 5, 4, 2}));
  EXPECT_EQ(
      Infer("PsRoiPool", {{1, 3, 8, 6}, {9, 5}}, {Value("group_size", 7), Value("output_dim", 4)}),
      (Shape{9, 4, 7, 7}));
  EXPECT_EQ(Infer("Upsample", {{1, 3, 8, 6}}, {Value("scale", 2.0F)}), (Shape{1, 3, 16, 12}));
  EXPECT_EQ(Infer("Upsample", {{1, 3, 8, 6}}), Shape{});
  EXPECT_EQ(Infer("MaxUnpool", {{1, 3, 8, 6}}, {Value("strides", 2), Value("kernel_shape", 3)}),
            (Shape{1, 3, 17, 13}));
  EXPECT_EQ(Infer("Lstm", {{5, 2, 8}, {1}, {12, 3}, {1}}), (Shape{1, 2, 3}));
}

TEST(RegistryInterfaces, all_types_are_registered) {
  for (const char* type : {"DecBBox", "DetectionOutput", "Extract", "LSTM", "Rnn", "Gru", "BiLstm",
                           "RoiAlign", "Spp", "DPICO", "Custom"}) {
    const CustomPrimitive primitive(type, {});
    EXPECT_NE(mindspore::registry::RegisterKernelInterface::GetKernelInterface(
                  "DPICO", primitive.get(), nullptr),
              nullptr)
        << type;
    EXPECT_EQ(Infer(type, {}), Shape{}) << type;
  }
}

}  // namespace
