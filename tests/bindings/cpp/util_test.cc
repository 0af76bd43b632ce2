// SPDX-License-Identifier: Apache-2.0
//
// Tests util.h and the small headers that it is built from.
#include "tensorflow/lite/util.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/context_util.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/minimal_logging.h"
#include "tensorflow/lite/shared_library.h"
#include "tensorflow/lite/type_to_tflitetype.h"

namespace tflite {
namespace {

std::string reported;

void Report(TfLiteContext* /*context*/, const char* format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  reported = text;
}

TfLiteContext ReportingContext() {
  TfLiteContext context{};
  context.ReportError = &Report;
  reported.clear();
  return context;
}

TEST(ArrayTest, arrays_are_built_from_lists_containers_and_arrays) {
  const IntArrayUniquePtr list = BuildTfLiteArray({4, 5, 6});
  ASSERT_EQ(list->size, 3);
  EXPECT_EQ(list->data[2], 6);
  const FloatArrayUniquePtr converted = BuildTfLiteArray<float>(std::vector<int>{1, 2});
  EXPECT_EQ(converted->data[1], 2.0F);
  const IntArrayUniquePtr copy = BuildTfLiteArray(*list);
  EXPECT_TRUE(TfLiteIntArrayEqual(copy.get(), list.get()));
  EXPECT_EQ(BuildTfLiteArray(0)->size, 0);
  EXPECT_EQ(BuildTfLiteArray(-1), nullptr);
}

// Tensors whose contents interpreters share have the address of the contents in `allocation`.
TEST(InlineFunctionTest, shared_contents_of_a_tensor_are_neither_freed_nor_resized) {
  const char contents[4] = {1, 2, 3, 4};
  TfLiteTensor tensor{};
  tensor.allocation_type = kTfLitePersistentRo;
  tensor.data.raw_const = contents;
  tensor.allocation = contents;
  tensor.bytes = sizeof contents;
  EXPECT_EQ(inline_c::ReallocTensor(2, &tensor), kTfLiteOk);
  EXPECT_NE(tensor.data.raw_const, contents);
  EXPECT_EQ(tensor.allocation, nullptr);
  EXPECT_EQ(std::string(tensor.data.raw, 2), std::string("\1\2"));
  inline_c::FreeTensorData(&tensor);
  EXPECT_EQ(tensor.data.raw, nullptr);

  tensor.data.raw_const = contents;
  tensor.allocation = contents;
  inline_c::FreeTensorData(&tensor);
  EXPECT_EQ(tensor.data.raw, nullptr);
  EXPECT_EQ(tensor.allocation, nullptr);
}

TEST(ArrayTest, a_view_iterates_over_the_elements) {
  const IntArrayUniquePtr array = BuildTfLiteArray({7, -8, 9});
  const TfLiteIntArrayView view(array.get());
  EXPECT_EQ(std::vector<int>(view.begin(), view.end()), (std::vector<int>{7, -8, 9}));
  EXPECT_EQ(view.size(), 3U);
  EXPECT_EQ(view[1], -8);
}

TEST(UtilTest, names_of_operators_have_the_custom_name) {
  TfLiteRegistration registration{};
  registration.builtin_code = 3;
  EXPECT_EQ(GetOpNameByRegistration(registration), "CONV_2D");
  registration.builtin_code = 32;
  registration.custom_name = "FlexAdd";
  EXPECT_EQ(GetOpNameByRegistration(registration), "CUSTOM FlexAdd");
  registration.builtin_code = 9999;
  EXPECT_EQ(GetOpNameByRegistration(registration), "");
  EXPECT_TRUE(IsFlexOp("FlexAdd"));
  EXPECT_FALSE(IsFlexOp("flexAdd"));
  EXPECT_TRUE(IsValidationSubgraph("VALIDATION:x"));
  EXPECT_FALSE(IsValidationSubgraph("VALIDATION"));
}

TEST(UtilTest, an_unresolved_operator_reports_when_it_runs) {
  TfLiteContext context = ReportingContext();
  const TfLiteRegistration registration = CreateUnresolvedCustomOp("Missing");
  EXPECT_TRUE(IsUnresolvedCustomOp(registration));
  EXPECT_FALSE(IsUnresolvedCustomOp(TfLiteRegistration{}));
  EXPECT_EQ(registration.invoke(&context, nullptr), kTfLiteError);
  EXPECT_EQ(reported, "Encountered an unresolved custom op. Did you miss a custom op or delegate?");
}

TEST(UtilTest, hashes_are_those_of_TensorFlow_Lite) {
  EXPECT_EQ(CombineHashes({}), 0U);
  EXPECT_EQ(CombineHashes({0}), 0x9e3779b97f4a7800U);
  EXPECT_EQ(CombineHashes({1}), 0x9e3779b97f4a7801U);
}

TEST(UtilTest, sizes_of_options_are_those_of_the_structs) {
  EXPECT_EQ(GetBuiltinDataSize(BuiltinOperator_CONV_2D),
            static_cast<int>(sizeof(TfLiteConvParams)));
  EXPECT_EQ(GetBuiltinDataSize(BuiltinOperator_WHILE), static_cast<int>(sizeof(TfLiteWhileParams)));
  EXPECT_EQ(GetBuiltinDataSize(BuiltinOperator_EXP), 0);
}

TEST(UtilTest, sizes_in_bytes_are_packed_and_checked) {
  TfLiteContext context = ReportingContext();
  const int dims[] = {3, 5};
  std::size_t bytes = 0;
  EXPECT_EQ(BytesRequired(kTfLiteFloat32, dims, 2, &bytes, &context), kTfLiteOk);
  EXPECT_EQ(bytes, 60U);
  EXPECT_EQ(BytesRequired(kTfLiteInt4, dims, 2, &bytes, &context), kTfLiteOk);
  EXPECT_EQ(bytes, 8U);
  EXPECT_EQ(BytesRequired(kTfLiteInt2, dims, 2, &bytes, &context), kTfLiteOk);
  EXPECT_EQ(bytes, 4U);
  const int huge[] = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_EQ(BytesRequired(kTfLiteInt8, huge, 3, &bytes, &context), kTfLiteError);
  EXPECT_EQ(reported, "BytesRequired number of elements overflowed.\n");
  const int large[] = {1 << 30, 1 << 30};
  EXPECT_EQ(BytesRequired(kTfLiteComplex128, large, 2, &bytes, &context), kTfLiteError);
  EXPECT_EQ(reported, "BytesRequired number of bytes overflowed.\n");
  EXPECT_EQ(BytesRequired(kTfLiteString, dims, 2, &bytes, &context), kTfLiteError);
  EXPECT_EQ(reported.substr(0, 22), "Type 5 is unsupported.");
  EXPECT_EQ(BytesRequired(kTfLiteString, dims, 2, &bytes, nullptr), kTfLiteError);
}

TEST(UtilTest, numbers_of_elements_are_checked) {
  std::size_t count = 0;
  EXPECT_EQ(CheckedNumElements(std::vector<int>{2, 3}, count), kTfLiteOk);
  EXPECT_EQ(count, 6U);
  int small = 1;
  EXPECT_EQ(CheckedNumElements({65536, 65536}, small), kTfLiteError);
  EXPECT_EQ(small, 1);
  EXPECT_EQ(CheckedNumElements({65536, -1}, count), kTfLiteError);
  EXPECT_EQ(CheckedNumElements(static_cast<const TfLiteIntArray*>(nullptr), count), kTfLiteError);
}

TEST(UtilTest, a_tensor_is_built_with_memory_and_freed) {
  const TensorUniquePtr tensor = BuildTfLiteTensor(kTfLiteInt16, {2, 3}, kTfLiteDynamic);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->bytes, 12U);
  EXPECT_EQ(tensor->buffer_handle, kTfLiteNullBufferHandle);
  tensor->data.i16[5] = 9;
  EXPECT_EQ(BuildTfLiteTensor(kTfLiteInt16, IntArrayUniquePtr(), kTfLiteDynamic), nullptr);
  EXPECT_EQ(BuildTfLiteTensor(kTfLiteString, {1}, kTfLiteDynamic), nullptr);
}

TEST(CheckedIntTest, overflow_is_recorded_and_kept) {
  const CheckedInt<std::int8_t> small(100);
  EXPECT_TRUE((small + small).Overflow());
  EXPECT_EQ((small + std::int16_t{100}).Value(), 200);
  CheckedInt<std::int8_t> sum = small;
  sum += small;
  EXPECT_TRUE(sum.Overflow());
  sum -= small;
  EXPECT_TRUE(sum.Overflow());
  EXPECT_EQ(sum.Status(), kTfLiteError);
  EXPECT_TRUE((CheckedInt<int>(std::numeric_limits<int>::max()) * 2).Overflow());
  EXPECT_TRUE((CheckedInt<int>(std::numeric_limits<int>::lowest()) / -1).Overflow());
  EXPECT_TRUE((CheckedInt<int>(5) / 0).Overflow());
  EXPECT_TRUE(CheckedInt<std::uint8_t>(-1).Overflow());
  EXPECT_TRUE(CheckedInt<std::int32_t>(3e9).Overflow());
  // The largest int32, 2^31 - 1, is no float: the next ones are 2^31 - 128 and 2^31.
  EXPECT_FALSE(CheckedInt<std::int32_t>(2147483520.0F).Overflow());
  EXPECT_TRUE(CheckedInt<std::int32_t>(2147483648.0F).Overflow());
  EXPECT_FALSE(CheckedInt<std::int32_t>(2147483647.0).Overflow());
  EXPECT_TRUE(CheckedInt<std::int64_t>(9223372036854775808.0).Overflow());
  EXPECT_FALSE(CheckedInt<std::int32_t>(-2147483648.0F).Overflow());
}

TEST(CheckedIntTest, comparisons_are_exact_for_mixed_signs) {
  EXPECT_TRUE(CheckedInt<int>(-1) < 1U);
  EXPECT_TRUE(2U > CheckedInt<int>(-1));
  EXPECT_FALSE(CheckedInt<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()) == -1);
  EXPECT_TRUE(CheckedInt<std::int64_t>(7) == CheckedInt<std::uint8_t>(7));
}

TEST(TypesTest, types_correspond_in_both_directions) {
  EXPECT_EQ(typeToTfLiteType<float>(), kTfLiteFloat32);
  EXPECT_EQ(typeToTfLiteType<const std::string>(), kTfLiteString);
  EXPECT_EQ(typeToTfLiteType<std::complex<double>>(), kTfLiteComplex128);
  EXPECT_EQ(typeToTfLiteType<std::vector<int>>(), kTfLiteNoType);
  EXPECT_TRUE((std::is_same_v<TfLiteTypeToType<kTfLiteUInt8>::Type, std::uint8_t>));
}

TEST(LoggingTest, messages_below_the_minimum_are_not_printed) {
  const LogSeverity previous = LoggerOptions::SetMinimumLogSeverity(TFLITE_LOG_WARNING);
  testing::internal::CaptureStderr();
  TFLITE_LOG_PROD(TFLITE_LOG_INFO, "unseen");
  TFLITE_LOG_PROD(TFLITE_LOG_ERROR, "%d of %s", 3, "four");
  for (int i = 0; i < 3; ++i) TFLITE_LOG_PROD_ONCE(TFLITE_LOG_WARNING, "once");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ERROR: 3 of four\nWARNING: once\n");
  EXPECT_EQ(LoggerOptions::SetMinimumLogSeverity(previous), TFLITE_LOG_WARNING);
}

TEST(SharedLibraryTest, a_missing_library_has_an_error_text) {
  EXPECT_EQ(SharedLibrary::LoadLibrary("libdoes-not-exist.so.7"), nullptr);
  EXPECT_NE(SharedLibrary::GetError(), nullptr);
  EXPECT_NE(SharedLibrary::GetSymbol("TfLiteVersion"), nullptr);
}

}  // namespace
}  // namespace tflite
