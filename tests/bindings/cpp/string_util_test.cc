// SPDX-License-Identifier: Apache-2.0
//
// Tests string_util.h.
#include "tensorflow/lite/string_util.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/util.h"

namespace tflite {
namespace {

std::string StringAt(const TfLiteTensor* tensor, int index) {
  const StringRef text = GetString(tensor, index);
  return std::string(text.str, text.len);
}

TEST(StringUtilTest, contents_have_count_offsets_and_characters) {
  DynamicBuffer buffer;
  ASSERT_EQ(buffer.AddString("ab", 2), kTfLiteOk);
  ASSERT_EQ(buffer.AddString("", 0), kTfLiteOk);
  char* contents = nullptr;
  ASSERT_EQ(buffer.WriteToBuffer(&contents), 18);
  const int expected[] = {2, 16, 18, 18};
  EXPECT_EQ(std::memcmp(contents, expected, 16), 0);
  EXPECT_EQ(std::string(contents + 16, 2), "ab");
  std::free(contents);
}

TEST(StringUtilTest, a_tensor_receives_strings_and_a_shape) {
  const TensorUniquePtr tensor = BuildTfLiteTensor(kTfLiteInt8, {4}, kTfLiteDynamic);
  tensor->type = kTfLiteString;
  DynamicBuffer buffer;
  ASSERT_EQ(buffer.AddString(StringRef{"xyz", 2}), kTfLiteOk);
  buffer.AddJoinedString({{"one", 3}, {"", 0}, {"two", 3}}, ',');
  buffer.AddJoinedString({{"a", 1}, {"b", 1}}, StringRef{" - ", 3});
  buffer.WriteToTensorAsVector(tensor.get());
  ASSERT_EQ(tensor->dims->size, 1);
  EXPECT_EQ(tensor->dims->data[0], 3);
  ASSERT_EQ(GetStringCount(tensor.get()), 3);
  EXPECT_EQ(StringAt(tensor.get(), 0), "xy");
  EXPECT_EQ(StringAt(tensor.get(), 1), "one,,two");
  EXPECT_EQ(StringAt(tensor.get(), 2), "a - b");
  EXPECT_EQ(tensor->bytes, 20U + 15U);
  EXPECT_EQ(tensor->type, kTfLiteString);
  // A null shape keeps that of the tensor.
  DynamicBuffer other;
  ASSERT_EQ(other.AddString("q", 1), kTfLiteOk);
  other.WriteToTensor(tensor.get(), nullptr);
  EXPECT_EQ(tensor->dims->data[0], 3);
  EXPECT_EQ(StringAt(tensor.get(), 0), "q");
}

TEST(StringUtilTest, the_limit_is_checked) {
  DynamicBuffer buffer(10);
  EXPECT_EQ(buffer.AddString("0123456789a", 11), kTfLiteError);
  EXPECT_EQ(buffer.AddString("01234", 5), kTfLiteOk);
  EXPECT_EQ(buffer.AddString("56789", 5), kTfLiteError);
  EXPECT_EQ(buffer.AddString("5678", 4), kTfLiteOk);
}

}  // namespace
}  // namespace tflite
