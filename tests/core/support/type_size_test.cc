// SPDX-License-Identifier: Apache-2.0
//
// Compares sizes of element types with literal values, for every number that a type may have, and
// tests the sets of types that their users support.
#include "core/support/type_size.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compiler/number.h"
#include "kernels/common/elements.h"
#include "mindspore/ms/read.h"

namespace deputy::type_size_test {
namespace {

const std::map<TfLiteType, size_t> kBits = {
    {kTfLiteFloat32, 32}, {kTfLiteInt32, 32},   {kTfLiteUInt8, 8},        {kTfLiteInt64, 64},
    {kTfLiteBool, 8},     {kTfLiteInt16, 16},   {kTfLiteComplex64, 64},   {kTfLiteInt8, 8},
    {kTfLiteFloat16, 16}, {kTfLiteFloat64, 64}, {kTfLiteComplex128, 128}, {kTfLiteUInt64, 64},
    {kTfLiteUInt32, 32},  {kTfLiteUInt16, 16},  {kTfLiteInt4, 4},         {kTfLiteBFloat16, 16},
    {kTfLiteInt2, 2},     {kTfLiteUInt4, 4},    {kTfLiteFloat8E4M3FN, 8}, {kTfLiteFloat8E5M2, 8},
};
const std::set<TfLiteType> kCompilerTypes = {
    kTfLiteFloat32, kTfLiteFloat16, kTfLiteFloat64, kTfLiteInt8,   kTfLiteInt16,  kTfLiteInt32,
    kTfLiteInt64,   kTfLiteUInt8,   kTfLiteUInt16,  kTfLiteUInt32, kTfLiteUInt64, kTfLiteBool};
const std::set<TfLiteType> kKernelTypes = {
    kTfLiteFloat32, kTfLiteFloat16, kTfLiteFloat64, kTfLiteBFloat16, kTfLiteComplex64,
    kTfLiteInt8,    kTfLiteInt16,   kTfLiteInt32,   kTfLiteInt64,    kTfLiteUInt8,
    kTfLiteUInt16,  kTfLiteUInt32,  kTfLiteUInt64,  kTfLiteBool};

// Visits all values that the enumeration can hold.
template <typename Check>
void ForEachNumber(const Check& check) {
  for (int number = 0; number < 32; ++number) {
    SCOPED_TRACE(number);
    check(static_cast<TfLiteType>(number));
  }
}

size_t BitsOf(TfLiteType type) {
  const auto row = kBits.find(type);
  return row == kBits.end() ? 0 : row->second;
}

TEST(TypeSize, every_type_has_its_size) {
  ForEachNumber([](TfLiteType type) {
    const size_t bits = BitsOf(type);
    EXPECT_EQ(TypeBits(type), bits);
    EXPECT_EQ(TypeBytes(type), bits == 0 ? 0 : bits < 8 ? 1 : bits / 8);
    EXPECT_EQ(HasFixedSize(type), bits != 0);
  });
}

TEST(TypeSize, a_set_limits_the_types) {
  ForEachNumber([](TfLiteType type) {
    EXPECT_EQ(TypeBytesIfIn(0, type), 0u);
    EXPECT_EQ(TypeBytesIfIn(UINT32_MAX, type), TypeBytes(type));
    EXPECT_EQ(TypeBytesIfIn(1u << kTfLiteInt64, type), type == kTfLiteInt64 ? 8u : 0u);
  });
}

TEST(TypeSize, kernels_and_the_compiler_support_their_types_only) {
  ForEachNumber([](TfLiteType type) {
    const size_t bytes = BitsOf(type) / 8;
    EXPECT_EQ(compiler::ElementBytes(type), kCompilerTypes.contains(type) ? bytes : 0);
    EXPECT_EQ(static_cast<size_t>(ElementBytes(type)), kKernelTypes.contains(type) ? bytes : 0);
    const bool packed = BitsOf(type) == 2 || BitsOf(type) == 4;
    EXPECT_EQ(static_cast<size_t>(PackedBits(type)), packed ? BitsOf(type) : 0);
  });
}

TEST(TypeSize, types_of_mindspore_have_the_size_of_their_counterparts) {
  const std::map<int, std::pair<TfLiteType, size_t>> types = {
      {30, {kTfLiteBool, 1}},    {32, {kTfLiteInt8, 1}},    {33, {kTfLiteInt16, 2}},
      {34, {kTfLiteInt32, 4}},   {35, {kTfLiteInt64, 8}},   {37, {kTfLiteUInt8, 1}},
      {38, {kTfLiteUInt16, 2}},  {39, {kTfLiteUInt32, 4}},  {40, {kTfLiteUInt64, 8}},
      {42, {kTfLiteFloat16, 2}}, {43, {kTfLiteFloat32, 4}}, {44, {kTfLiteFloat64, 8}}};
  for (int number = -1; number <= 60; ++number) {
    SCOPED_TRACE(number);
    const auto row = types.find(number);
    const bool known = row != types.end();
    EXPECT_EQ(ms::TfLiteTypeOf(static_cast<ms::Type>(number)),
              known ? row->second.first : kTfLiteNoType);
    EXPECT_EQ(ms::ElementSize(static_cast<ms::Type>(number)), known ? row->second.second : 0);
  }
}

}  // namespace
}  // namespace deputy::type_size_test
