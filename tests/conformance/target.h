// SPDX-License-Identifier: Apache-2.0
//
// What a case is run on: the CPU in some way, or a delegate. targets.cc has the table of all;
// PluginTarget and CpuTarget make its rows.
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

// What has to outlive an interpreter, destroyed after it, the last first.
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    while (!things_.empty()) things_.pop_back();
  }
  void Add(std::shared_ptr<void> thing) { things_.push_back(std::move(thing)); }

 private:
  std::vector<std::shared_ptr<void>> things_;
};

// A node of the model that the target's delegate has left to the CPU, after the inference. Tensors
// are the interpreter's, null where an optional one is absent.
struct NodeLeft {
  std::string op;  // "ADD", or a custom operator's name
  int32_t builtin_code = 0;
  std::vector<const TfLiteTensor*> inputs, outputs;
  std::string told;  // the delegate's own reason, "" if it gave none
};

struct Target {
  std::string name;

  // Before an interpreter is created: its options, delegates of the options, the process's state.
  // Text: why this cannot be done, "" if all is well.
  std::function<std::string(TfLiteInterpreterOptions* options, Held* held)> configure;

  // Before the first allocation: applies a delegate, with the status of
  // TfLiteInterpreterModifyGraphWithDelegate; why there is none to apply goes to `out_error`. Null
  // where there is no delegate.
  std::function<TfLiteStatus(TfLiteInterpreter* interpreter, Held* held, std::string* out_error)>
      apply;

  // Why the delegate may leave a node to the CPU; "" says that it has to take it. Null where there
  // is no delegate.
  std::function<std::string(const NodeLeft& node)> may_refuse;

  // Cases and rows by name whose results differ, and why that is right. One that agrees is an
  // error: the entry goes.
  std::map<std::string, std::string> known_differences;

  // How many steps a quantised result may lie from the measure's.
  int steps = 0;

  // The target whose results this one's are measured against, and with the same bits for floats;
  // "": the reference code, by the agreement rule.
  std::string same_bits_as;

  bool has_delegate() const { return apply != nullptr; }
};

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TARGET_H_
