// SPDX-License-Identifier: Apache-2.0
//
// Runs NXP's Neutron delegate on a graph of one NeutronGraph node, with the test double of its
// driver (doubles/neutron).
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "neutron_delegate.h"
#include "tensorflow/lite/interpreter.h"

namespace {

constexpr int kCount = 4;

// Tensors: 0 input, 1 microcode, 2 weights, 3 output, 4 scratch memory of the driver.
bool BuildGraph(tflite::Interpreter* interpreter) {
  static constexpr int32_t kMicrocode[1] = {kCount};
  static constexpr int8_t kWeights[kCount] = {1, 2, 3, 4};
  const TfLiteQuantization none = {kTfLiteNoQuantization, nullptr};
  bool good = interpreter->AddTensors(5) == kTfLiteOk && interpreter->SetInputs({0}) == kTfLiteOk &&
              interpreter->SetOutputs({3}) == kTfLiteOk;
  for (int tensor : {0, 3, 4}) {
    good &= interpreter->SetTensorParametersReadWrite(tensor, kTfLiteInt8, "",
                                                      std::vector<int>{kCount}, none) == kTfLiteOk;
  }
  good &= interpreter->SetTensorParametersReadOnly(1, kTfLiteInt32, "", std::vector<int>{1}, none,
                                                   reinterpret_cast<const char*>(kMicrocode),
                                                   sizeof(kMicrocode)) == kTfLiteOk;
  good &= interpreter->SetTensorParametersReadOnly(2, kTfLiteInt8, "", std::vector<int>{kCount},
                                                   none, reinterpret_cast<const char*>(kWeights),
                                                   sizeof(kWeights)) == kTfLiteOk;
  TfLiteRegistration op = {};
  op.builtin_code = kTfLiteBuiltinCustom;
  op.custom_name = NEUTRON_CUSTOM_NAME;
  op.version = 1;
  return good && interpreter->AddNodeWithParameters({0, 1, 2}, {3, 4}, nullptr, 0, nullptr, &op) ==
                     kTfLiteOk;
}

}  // namespace

int main() {
  tflite::Interpreter interpreter;
  if (!BuildGraph(&interpreter)) return 1;
  auto delegate = NeutronDelegateCreateUnique(nullptr);
  if (interpreter.ModifyGraphWithDelegate(delegate.get()) != kTfLiteOk ||
      interpreter.AllocateTensors() != kTfLiteOk) {
    return 2;
  }
  for (int i = 0; i < kCount; ++i) {
    interpreter.typed_input_tensor<int8_t>(0)[i] = static_cast<int8_t>(10 * i);
  }
  if (interpreter.Invoke() != kTfLiteOk) return 3;
  for (int i = 0; i < kCount; ++i) {
    if (interpreter.typed_output_tensor<int8_t>(0)[i] != 11 * i + 1) {
      std::printf("wrong at %d\n", i);
      return 4;
    }
  }
  return 0;
}
