// SPDX-License-Identifier: Apache-2.0
//
// An interpreter whose graph a test builds in code with deputy_graph.h.
#ifndef DEPUTY_TESTS_SUPPORT_BUILT_INTERPRETER_H_
#define DEPUTY_TESTS_SUPPORT_BUILT_INTERPRETER_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/deputy_graph.h"

namespace deputy {

class BuiltInterpreter {
 public:
  // Creates an empty interpreter; the options may be null and are the caller's.
  explicit BuiltInterpreter(TfLiteInterpreterOptions* options = nullptr);
  ~BuiltInterpreter();
  BuiltInterpreter(const BuiltInterpreter&) = delete;
  BuiltInterpreter& operator=(const BuiltInterpreter&) = delete;

  TfLiteInterpreter* get() const { return interpreter_; }
  // Returns all messages reported so far, one per line.
  const std::string& log() const { return log_; }
  void ClearLog() { log_.clear(); }

  // Adds `count` float32 tensors of this shape; returns the index of the first.
  int AddFloats(int count, const std::vector<int>& dims, int subgraph = 0);
  static DeputyTensorParameters Floats(const std::vector<int>& dims);
  TfLiteStatus Set(int tensor, const DeputyTensorParameters& parameters, int subgraph = 0) {
    return DeputyInterpreterSetTensor(interpreter_, subgraph, tensor, &parameters);
  }
  TfLiteStatus AddNode(const std::vector<int>& inputs, const std::vector<int>& outputs,
                       const TfLiteRegistration* registration, void* builtin_data = nullptr,
                       int subgraph = 0);
  void SetInputs(const std::vector<int>& tensors, int subgraph = 0);
  void SetOutputs(const std::vector<int>& tensors, int subgraph = 0);

  TfLiteTensor* Tensor(int index, int subgraph = 0) const {
    return &DeputyInterpreterGetContext(interpreter_, subgraph)->tensors[index];
  }
  void Write(int tensor, const std::vector<float>& values, int subgraph = 0);
  std::vector<float> Read(int tensor, int subgraph = 0) const;
  std::vector<int> Plan(int subgraph = 0) const;
  TfLiteStatus Allocate() { return TfLiteInterpreterAllocateTensors(interpreter_); }
  TfLiteStatus Invoke() { return TfLiteInterpreterInvoke(interpreter_); }

 private:
  TfLiteInterpreter* interpreter_ = nullptr;
  std::string log_;
};

// Kernel of a client that doubles a float32 tensor. Its calls are counted, and the number of live
// user data.
struct Doubler {
  static TfLiteRegistration Registration();
  static int prepared, invoked, alive;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_BUILT_INTERPRETER_H_
