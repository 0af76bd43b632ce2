// SPDX-License-Identifier: Apache-2.0
//
// Runs the delegate of TensorFlow Lite's documentation on a graph of an ADD and a SUB, with and
// without the delegate. my_delegate.h has the two classes of the page; the test writes it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/delegates/utils/simple_delegate.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/kernel_util.h"
//
#include "my_delegate.h"

namespace {

// The page's class has no DelegateOptions, which is pure virtual in every release.
class CompleteDelegate : public tflite::MyDelegate {
 public:
  Options DelegateOptions() const override { return {}; }
};

// Adds a node without activation: outputs = op(inputs).
bool AddBinary(tflite::Interpreter* interpreter, TfLiteRegistration* op,
               const std::vector<int>& inputs, int output) {
  // TfLiteAddParams and TfLiteSubParams begin with the activation; 0 is none.
  void* parameters = calloc(1, sizeof(TfLiteAddParams) + sizeof(TfLiteSubParams));
  return interpreter->AddNodeWithParameters(inputs, {output}, nullptr, 0, parameters, op) ==
         kTfLiteOk;
}

// Builds a + b and a - c over four elements. The page's delegate has no memory for results that
// only its own nodes read, so no node reads another one's output.
std::unique_ptr<tflite::Interpreter> BuildGraph() {
  auto interpreter = std::make_unique<tflite::Interpreter>();
  bool good = interpreter->AddTensors(5) == kTfLiteOk &&
              interpreter->SetInputs({0, 1, 2}) == kTfLiteOk &&
              interpreter->SetOutputs({3, 4}) == kTfLiteOk;
  for (int i = 0; i < 5; ++i) {
    good &= interpreter->SetTensorParametersReadWrite(i, kTfLiteFloat32, "", std::vector<int>{4},
                                                      TfLiteQuantization()) == kTfLiteOk;
  }
  TfLiteRegistration add = *tflite::ops::builtin::Register_ADD();
  TfLiteRegistration sub = *tflite::ops::builtin::Register_SUB();
  add.builtin_code = kTfLiteBuiltinAdd;
  sub.builtin_code = kTfLiteBuiltinSub;
  good &= AddBinary(interpreter.get(), &add, {0, 1}, 3);
  good &= AddBinary(interpreter.get(), &sub, {0, 2}, 4);
  return good ? std::move(interpreter) : nullptr;
}

// Sets the inputs to i, 10 + i and 20 + i; returns true if the outputs are right.
bool IsRight(tflite::Interpreter* interpreter) {
  if (interpreter->AllocateTensors() != kTfLiteOk) return false;
  for (int input = 0; input < 3; ++input) {
    for (int i = 0; i < 4; ++i) interpreter->typed_input_tensor<float>(input)[i] = 10 * input + i;
  }
  if (interpreter->Invoke() != kTfLiteOk) return false;
  for (int i = 0; i < 4; ++i) {
    if (interpreter->typed_output_tensor<float>(0)[i] != 2 * i + 10) return false;
    if (interpreter->typed_output_tensor<float>(1)[i] != -20) return false;
  }
  return true;
}

}  // namespace

int main() {
  std::unique_ptr<tflite::Interpreter> interpreter = BuildGraph();
  if (interpreter == nullptr || !IsRight(interpreter.get())) {
    std::puts("wrong without the delegate");
    return 1;
  }
  auto delegate = tflite::TfLiteDelegateFactory::Create(std::make_unique<CompleteDelegate>());
  if (interpreter->ModifyGraphWithDelegate(std::move(delegate)) != kTfLiteOk) return 2;
  if (interpreter->execution_plan().size() != 1) {
    std::puts("expected one node, the delegate's");
    return 3;
  }
  if (!IsRight(interpreter.get())) {
    std::puts("wrong with the delegate");
    return 4;
  }
  std::puts("right");
  return 0;
}
