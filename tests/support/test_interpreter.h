// SPDX-License-Identifier: Apache-2.0
//
// A model with one interpreter, for tests: owns both, stores reported messages, and reads and
// writes tensors as vectors.
#ifndef DEPUTY_TESTS_SUPPORT_TEST_INTERPRETER_H_
#define DEPUTY_TESTS_SUPPORT_TEST_INTERPRETER_H_

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"

namespace deputy {

class TestInterpreter {
 public:
  // Changes the options before the interpreter is created.
  using Configure = std::function<void(TfLiteInterpreterOptions*)>;

  explicit TestInterpreter(std::vector<uint8_t> model, const Configure& configure = {});
  ~TestInterpreter();
  TestInterpreter(const TestInterpreter&) = delete;
  TestInterpreter& operator=(const TestInterpreter&) = delete;

  // model() and get() return null if the model or interpreter was refused. The interpreter has a
  // custom operator Backwards, which reverses the elements of a float32 tensor and which no
  // delegate supports.
  TfLiteModel* model() const { return model_; }
  TfLiteInterpreter* get() const { return interpreter_; }
  // Returns all messages reported so far, one per line.
  const std::string& log() const { return log_; }
  void ClearLog() { log_.clear(); }

  TfLiteStatus Allocate() { return TfLiteInterpreterAllocateTensors(interpreter_); }
  TfLiteStatus Invoke() { return TfLiteInterpreterInvoke(interpreter_); }
  TfLiteStatus Resize(int input, const std::vector<int>& dims) {
    return TfLiteInterpreterResizeInputTensor(interpreter_, input, dims.data(),
                                              static_cast<int32_t>(dims.size()));
  }
  TfLiteTensor* Tensor(int index) { return TfLiteInterpreterGetTensor(interpreter_, index); }

  template <typename T>
  void Set(int input, const std::vector<T>& values) {
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter_, input);
    ASSERT_EQ(TfLiteTensorCopyFromBuffer(tensor, values.data(), values.size() * sizeof(T)),
              kTfLiteOk);
  }
  template <typename T>
  std::vector<T> Get(int output) {
    return Values<T>(TfLiteInterpreterGetOutputTensor(interpreter_, output));
  }
  template <typename T>
  static std::vector<T> Values(const TfLiteTensor* tensor) {
    std::vector<T> values(TfLiteTensorByteSize(tensor) / sizeof(T));
    if (!values.empty()) {
      memcpy(values.data(), TfLiteTensorData(tensor), values.size() * sizeof(T));
    }
    return values;
  }
  static std::vector<int> Shape(const TfLiteTensor* tensor) {
    std::vector<int> dims(TfLiteTensorNumDims(tensor));
    for (size_t i = 0; i < dims.size(); ++i) {
      dims[i] = TfLiteTensorDim(tensor, static_cast<int32_t>(i));
    }
    return dims;
  }

 private:
  std::vector<uint8_t> bytes_;
  std::string log_;
  TfLiteModel* model_ = nullptr;
  TfLiteInterpreter* interpreter_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_TEST_INTERPRETER_H_
