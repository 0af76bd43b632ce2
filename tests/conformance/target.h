// SPDX-License-Identifier: Apache-2.0
//
// A target that runs cases: the CPU in some configuration, or a delegate. targets.cc has the table
// of all targets, which PluginTarget and CpuTarget create.
#ifndef DEPUTY_TESTS_CONFORMANCE_TARGET_H_
#define DEPUTY_TESTS_CONFORMANCE_TARGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"

namespace deputy::conformance {

// Objects that must outlive an interpreter. They are destroyed after it in reverse order.
class KeepAlive {
 public:
  KeepAlive() = default;
  KeepAlive(const KeepAlive&) = delete;
  KeepAlive& operator=(const KeepAlive&) = delete;
  ~KeepAlive() {
    while (!objects_.empty()) objects_.pop_back();
  }
  void Add(std::shared_ptr<void> object) { objects_.push_back(std::move(object)); }

 private:
  std::vector<std::shared_ptr<void>> objects_;
};

// A node of the model that the target's delegate has left to the CPU, as seen after the inference.
// The interpreter owns the tensors; an absent optional tensor is null.
struct NodeLeft {
  std::string op;  // operator name: "ADD", or that of a custom operator
  int32_t builtin_code = 0;
  std::vector<const TfLiteTensor*> inputs, outputs;
  std::string delegate_reason;  // the delegate's reason; "" if it reported none
};

struct Target {
  std::string name;

  // Called before an interpreter is created: sets its options, delegates in the options, and
  // process state. Returns "" or the reason why this is not possible.
  std::function<std::string(TfLiteInterpreterOptions* options, KeepAlive* keep_alive)> configure;

  // Called before the first allocation: applies a delegate and returns the status of
  // TfLiteInterpreterModifyGraphWithDelegate. If there is no delegate to apply, `out_error`
  // receives the reason. Null for targets without a delegate.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter, KeepAlive* keep_alive,
                             std::string* out_error)>
      apply;

  // Returns the reason why the delegate may leave a node to the CPU; "" if it must claim it. Null
  // for targets without a delegate.
  std::function<std::string(const NodeLeft& node)> may_refuse;

  // Reasons of known differences by name of case or row. An entry whose case agrees is an error: it
  // must be removed.
  std::map<std::string, std::string> known_differences;

  // Maximum difference, in quantisation steps, of a quantised result from the expected one.
  int steps = 0;

  // Name of the target whose results this one must equal bit by bit, also in floats. "": compare
  // with the reference code by the agreement rule.
  std::string same_bits_as;

  bool has_delegate() const { return apply != nullptr; }
};

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TARGET_H_
