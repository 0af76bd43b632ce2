// SPDX-License-Identifier: Apache-2.0
//
// One model on one target, through the public C API: loaded, shaped, delegated, allocated, fed,
// run. What came of it is handed back as values; nothing is judged here but the delegate, which has
// to take each node or to have a reason.
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

// How far a model came, in this order. The numbers are those of the golden files.
enum class Outcome : uint8_t {
  kAnswered,
  kRefusedCreate,
  kRefusedResize,
  kRefusedAllocate,
  kRefusedInvoke,
  kUndefined,  // TensorFlow Lite died of a signal, or returned what was in memory by chance
};

// "refused at allocate".
const char* Name(Outcome outcome);

struct Job {
  std::span<const uint8_t> model;
  DeputyArithmetic arithmetic = kDeputyArithmeticDefault;
  int passes = 1;  // inferences on one interpreter
  // Resizes inputs, before a delegate is applied; null resizes none.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter)> shape;
  // Before the first allocation, behind the delegate: custom allocations. Null: nothing.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter)> before_allocation;
  // Sets all inputs, before each inference.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter, int pass)> feed;
};

struct Result {
  Outcome outcome = Outcome::kAnswered;
  std::string log;  // everything that was reported, a line each
  std::vector<std::string> output_names;
  std::vector<std::vector<TensorValue>> passes;  // the outputs of each inference

  // Of targets with a delegate.
  int delegated = 0;              // nodes of the model that its kernels have run
  std::vector<std::string> left;  // "ADD: only float32": nodes it left to the CPU, and why
  std::string complaint;          // what is wrong with the delegate, "" if nothing
};

Result Run(const Job& job, const Target& target);

// Sets a tensor's bytes. Strings bring their own size, so the tensor gets memory for them.
TfLiteStatus SetInput(TfLiteTensor* tensor, std::span<const uint8_t> data);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_RUN_H_
