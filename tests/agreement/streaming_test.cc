// SPDX-License-Identifier: Apache-2.0
//
// Compares streaming models, which receive one step of a sequence per inference and keep their
// state in variables, and models of TensorFlow's converter with the real TensorFlow Lite: a hundred
// inferences with a reset in between. tests/golden/streams.py makes the streaming models and
// describes the files of results; tests/golden/keras_models.py makes the converted models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::streaming_test {
namespace {

std::vector<uint8_t> BytesOf(const std::string& file) {
  std::ifstream stream(TestDataPath("streams/" + file), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Results {
  int32_t inferences = 0, reset = 0, input_bytes = 0, output_bytes = 0;
  std::vector<uint8_t> rows;

  const uint8_t* input(int number) const {
    return rows.data() + number * (input_bytes + output_bytes);
  }
  const uint8_t* output(int number) const { return input(number) + input_bytes; }
};

Results ReadResults(const std::string& name) {
  const std::vector<uint8_t> bytes = BytesOf(name + ".results");
  Results results;
  int32_t header[4];
  if (bytes.size() < sizeof header) return results;
  std::memcpy(header, bytes.data(), sizeof header);
  results = {header[0], header[1], header[2], header[3], {}};
  results.rows.assign(bytes.begin() + sizeof header, bytes.end());
  return results;
}

// Returns "" or the difference. Floats must be within 1e-5 of the greatest magnitude plus 1e-6; the
// bytes of other types must be equal.
std::string Difference(const TfLiteTensor* tensor, const uint8_t* expected) {
  const size_t bytes = TfLiteTensorByteSize(tensor);
  if (TfLiteTensorType(tensor) != kTfLiteFloat32) {
    return std::memcmp(TfLiteTensorData(tensor), expected, bytes) == 0 ? "" : "other bytes";
  }
  std::vector<float> golden(bytes / sizeof(float));
  std::memcpy(golden.data(), expected, bytes);
  const std::vector<float> found = TestInterpreter::Values<float>(tensor);
  float greatest = 0.0f;
  for (float value : golden) greatest = std::max(greatest, std::fabs(value));
  for (size_t i = 0; i < golden.size(); ++i) {
    if (!(std::fabs(found[i] - golden[i]) <= 1e-5f * greatest + 1e-6f)) {
      return "element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", expected " +
             std::to_string(golden[i]);
    }
  }
  return "";
}

// Returns the first difference of all outputs from `expected`, which holds them in sequence.
std::string DifferenceOf(TfLiteInterpreter* interpreter, const uint8_t* expected, size_t bytes) {
  const int outputs = TfLiteInterpreterGetOutputTensorCount(interpreter);
  size_t at = 0;
  for (int i = 0; i < outputs; ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
    const size_t next = at + TfLiteTensorByteSize(tensor);
    if (next > bytes) return "more bytes";
    const std::string difference = Difference(tensor, expected + at);
    if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
    at = next;
  }
  return at == bytes ? "" : "fewer bytes";
}

// Generates inputs with the random numbers of streams.py, for files of results without inputs.
std::vector<float> DrawnFloats(size_t count, uint32_t* state) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    *state = *state * 1664525 + 1013904223;
    values.push_back(static_cast<float>(*state >> 8) / 8388608.0f - 1.0f);
  }
  return values;
}

void ExpectResults(const char* name, DeputyArithmetic arithmetic) {
  const Results results = ReadResults(name);
  ASSERT_EQ(results.inferences, 100);
  const auto input_bytes = static_cast<size_t>(results.input_bytes);
  const auto output_bytes = static_cast<size_t>(results.output_bytes);
  const bool stored = results.rows.size() != 100u * output_bytes;
  if (stored) {
    ASSERT_EQ(results.rows.size(), 100u * (input_bytes + output_bytes));
  }
  TestInterpreter interpreter(BytesOf(std::string(name) + ".tflite"),
                              [arithmetic](TfLiteInterpreterOptions* options) {
                                DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
                              });
  ASSERT_NE(interpreter.get(), nullptr) << interpreter.log();
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  uint32_t state = 1;
  for (int number = 0; number < results.inferences; ++number) {
    if (number == results.reset) {
      ASSERT_EQ(TfLiteInterpreterResetVariableTensors(interpreter.get()), kTfLiteOk);
    }
    if (stored) {
      interpreter.Set<uint8_t>(0, {results.input(number), results.input(number) + input_bytes});
    } else {
      interpreter.Set<float>(0, DrawnFloats(input_bytes / sizeof(float), &state));
    }
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    const uint8_t* output = stored
                                ? results.output(number)
                                : results.rows.data() + static_cast<size_t>(number) * output_bytes;
    ASSERT_EQ(DifferenceOf(interpreter.get(), output, output_bytes), "") << "inference " << number;
  }
}

class StreamingModels : public testing::TestWithParam<const char*> {};

TEST_P(StreamingModels, agree_over_a_hundred_inferences_and_a_reset) {
  ExpectResults(GetParam(), kDeputyArithmeticDefault);
}

// Without a reset, equal inputs must have different results; otherwise the recorded results would
// not test the stored state.
TEST_P(StreamingModels, reset_clears_the_state) {
  const Results results = ReadResults(GetParam());
  TestInterpreter interpreter(BytesOf(std::string(GetParam()) + ".tflite"));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  const std::vector<uint8_t> first(results.input(0), results.input(1) - results.output_bytes);
  std::vector<std::vector<uint8_t>> outputs;
  for (int number = 0; number < 3; ++number) {
    if (number == 2) {
      ASSERT_EQ(TfLiteInterpreterResetVariableTensors(interpreter.get()), kTfLiteOk);
    }
    interpreter.Set<uint8_t>(0, first);
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
    outputs.push_back(interpreter.Get<uint8_t>(0));
  }
  EXPECT_NE(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[0], outputs[2]);
}

class ConvertedModels : public testing::TestWithParam<const char*> {};

// Runs in the reference arithmetic, whose quantised values equal TensorFlow Lite's.
TEST_P(ConvertedModels, agree_over_a_hundred_inferences_and_a_reset) {
  ExpectResults(GetParam(), kDeputyArithmeticReference);
}

INSTANTIATE_TEST_SUITE_P(Of, ConvertedModels,
                         testing::Values("keras_lstm_f32", "keras_lstm_dynamic",
                                         "keras_lstm_unrolled_i8", "keras_gru_f32",
                                         "keras_gru_dynamic", "keras_gru_unrolled_i8",
                                         "keras_bidirectional_dynamic", "keras_detector_f32",
                                         "keras_detector_dynamic", "keras_boxes_i8",
                                         "keras_fused_lstm_f32", "keras_fused_lstm_dynamic",
                                         "keras_fused_lstm_i8", "keras_fused_bidirectional_i8"),
                         [](const auto& one) { return std::string(one.param); });

INSTANTIATE_TEST_SUITE_P(Of, StreamingModels,
                         testing::Values("lstm_f32", "lstm_hybrid", "lstm_i8", "svdf_i8",
                                         "rnn_f32"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace deputy::streaming_test
