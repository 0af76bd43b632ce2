// SPDX-License-Identifier: Apache-2.0
//
// Runs one model on one target through the public C API: load, resize, apply the delegate,
// allocate, set inputs, invoke. Returns the result as values, without judging it, except that a
// delegate must claim each node or give a reason.
#ifndef DEPUTY_TESTS_CONFORMANCE_RUN_H_
#define DEPUTY_TESTS_CONFORMANCE_RUN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/agreement.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

// The stage at which a run ended; refusals are in the order of the stages. The numbers are also
// used in the golden files.
enum class Outcome : uint8_t {
  kInvoked,
  kRefusedCreate,
  kRefusedResize,
  kRefusedAllocate,
  kRefusedInvoke,
  kUndefined,  // TensorFlow Lite was killed by a signal, or returned uninitialised memory
};

// Returns an outcome as text: "refused at allocate".
const char* Name(Outcome outcome);

struct Job {
  std::span<const uint8_t> model;
  DeputyArithmetic arithmetic = kDeputyArithmeticDefault;
  int passes = 1;  // number of inferences on one interpreter
  // Resizes the inputs before a delegate is applied; may be null.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter)> shape;
  // Called after the delegate is applied, before the first allocation: sets custom allocations. May
  // be null.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter)> before_allocation;
  // Sets all inputs before inference number `pass`.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter, int pass)> feed;
};

struct Result {
  Outcome outcome = Outcome::kInvoked;
  std::string log;  // everything that was reported, one message per line
  std::vector<std::string> output_names;
  std::vector<std::vector<TensorValue>> passes;  // outputs of each inference

  // The following fields are set for targets with a delegate, and `complaint` also if a target
  // cannot be configured.
  int delegated = 0;  // number of the model's nodes that the delegate's kernels have run
  std::vector<std::string> left;  // nodes left to the CPU, with the reason: "ADD: only float32"
  std::string complaint;          // problem of the target; "" if there is none
};

Result Run(const Job& job, const Target& target);

// Copies `data` into an input tensor. A string tensor is reallocated, because its size depends on
// its contents.
TfLiteStatus SetInput(TfLiteTensor* tensor, std::span<const uint8_t> data);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_RUN_H_
