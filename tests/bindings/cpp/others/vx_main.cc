// SPDX-License-Identifier: Apache-2.0
//
// Runs VeriSilicon's delegate on a graph of one ADD, with the test double of its driver library.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "delegate_main.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/interpreter.h"

namespace {

constexpr int kCount = 6;

bool BuildGraph(tflite::Interpreter* interpreter) {
  bool good = interpreter->AddTensors(3) == kTfLiteOk &&
              interpreter->SetInputs({0, 1}) == kTfLiteOk &&
              interpreter->SetOutputs({2}) == kTfLiteOk;
  for (int tensor = 0; tensor < 3; ++tensor) {
    good &=
        interpreter->SetTensorParametersReadWrite(
            tensor, kTfLiteFloat32, "", std::vector<int>{2, 3}, TfLiteQuantization()) == kTfLiteOk;
  }
  TfLiteRegistration add = *tflite::ops::builtin::Register_ADD();
  add.builtin_code = kTfLiteBuiltinAdd;
  add.version = 1;
  void* parameters = calloc(1, sizeof(TfLiteAddParams));
  return good &&
         interpreter->AddNodeWithParameters({0, 1}, {2}, nullptr, 0, parameters, &add) == kTfLiteOk;
}

}  // namespace

int main() {
  vx::delegate::VxDelegateOptions options = vx::delegate::VxDelegateOptionsDefault();
  TfLiteDelegate* delegate = vx::delegate::VxDelegateCreate(&options);
  {
    tflite::Interpreter interpreter;
    if (!BuildGraph(&interpreter)) return 1;
    if (interpreter.ModifyGraphWithDelegate(delegate) != kTfLiteOk ||
        interpreter.AllocateTensors() != kTfLiteOk) {
      return 2;
    }
    const auto* node = interpreter.node_and_registration(interpreter.execution_plan()[0]);
    if (interpreter.execution_plan().size() != 1 || node->first.delegate != delegate) return 3;
    for (int i = 0; i < kCount; ++i) {
      interpreter.typed_input_tensor<float>(0)[i] = static_cast<float>(i);
      interpreter.typed_input_tensor<float>(1)[i] = 0.5F;
    }
    if (interpreter.Invoke() != kTfLiteOk) return 4;
    for (int i = 0; i < kCount; ++i) {
      if (interpreter.typed_output_tensor<float>(0)[i] != static_cast<float>(i) + 0.5F) {
        std::printf("wrong at %d\n", i);
        return 5;
      }
    }
  }
  vx::delegate::VxDelegateDelete(delegate);
  return 0;
}
