// SPDX-License-Identifier: Apache-2.0
//
// Delegates and operators whose functions are provided by the test. An empty function does nothing
// and returns kTfLiteOk. The runtime does not own them: declare them before the interpreter.
#ifndef DEPUTY_TESTS_SUPPORT_PROGRAMMED_H_
#define DEPUTY_TESTS_SUPPORT_PROGRAMMED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/common.h"
#include "c_api/include/operator.h"
#include "tests/support/delegate_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

using KernelFunction = std::function<TfLiteStatus(TfLiteContext*, TfLiteNode*)>;

// Returns a new array, which the caller owns.
TfLiteIntArray* NewIntArray(const std::vector<int>& values);
std::vector<int> ToVector(const TfLiteIntArray* array);

// Returns the plan as a delegate reads it; {-1} if it is not accessible.
std::vector<int> PlanOf(TfLiteContext* context);

// A plain delegate, and the kernel with which ClaimNodes replaces nodes.
struct ProgrammedDelegate : Programmed {
  using Programmed::Programmed;

  std::function<void(TfLiteContext*, const TfLiteDelegateParams*, size_t length)> init;
  KernelFunction prepare, invoke;
  std::function<void()> free;
};

// Replaces `nodes` by the kernel of `delegate`, a ProgrammedDelegate; for use in its body.
TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate,
                        const std::vector<int>& nodes);
// Returns the body of a delegate that claims `nodes` of each subgraph.
Programmed::Body ClaimingBody(std::vector<int> nodes);

// An opaque delegate whose functions are given by the test.
struct ProgrammedOpaque {
  using Body = std::function<TfLiteStatus(TfLiteOpaqueContext*, TfLiteOpaqueDelegate*)>;

  explicit ProgrammedOpaque(Body prepare_delegate, int64_t flags = kTfLiteDelegateFlagsNone);
  ~ProgrammedOpaque();
  ProgrammedOpaque(const ProgrammedOpaque&) = delete;
  ProgrammedOpaque& operator=(const ProgrammedOpaque&) = delete;

  Body body;
  TfLiteOpaqueDelegate* delegate;
};

// A custom operator of version 1 whose functions are given by the test.
struct ProgrammedOperator {
  explicit ProgrammedOperator(const char* name);
  ~ProgrammedOperator();
  ProgrammedOperator(const ProgrammedOperator&) = delete;
  ProgrammedOperator& operator=(const ProgrammedOperator&) = delete;

  // Returns a function that adds the operator to the options.
  TestInterpreter::Configure Configure();

  // If `init` is empty, the node's user data is this object, so that `free` is called.
  std::function<void*(TfLiteContext*, const char* options, size_t length)> init;
  KernelFunction prepare, invoke;
  std::function<void(TfLiteContext*, void* user_data)> free;
  TfLiteOperator* op;
};

// A model of y = name(x), one node over four float32.
std::vector<uint8_t> CustomNode(const std::string& name, int version = 1);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_PROGRAMMED_H_
