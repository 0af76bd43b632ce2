// SPDX-License-Identifier: Apache-2.0
//
// What the tests of delegates share: a chain of nodes that the scripted delegate can take, and that
// delegate as an object.
#ifndef DEPUTY_TESTS_DELEGATE_SUPPORT_H_
#define DEPUTY_TESTS_DELEGATE_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "tests/model_builder.h"
#include "tests/scripted_delegate.h"

namespace deputy {

// `length` nodes over one row of four float32, ADD and MUL in turn: y0 = x + c, y1 = y0 * c, and so
// on, in the current subgraph, which gives out the last.
void AddChain(ModelBuilder* m, int length);
std::vector<uint8_t> Chain(int length);

// A scripted delegate that takes the nodes it is told to. Declare it before the interpreter.
struct Scripted {
  explicit Scripted(const std::set<int>& claims, int64_t flags = kTfLiteDelegateFlagsNone);
  // The callback answers an error at that call, counted from 0.
  void FailAt(ScriptedCallback callback, int call);
  TfLiteDelegate* get() { return &script->base; }
  ScriptedDelegate* operator->() { return script.get(); }

  std::unique_ptr<ScriptedDelegate> script;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_DELEGATE_SUPPORT_H_
