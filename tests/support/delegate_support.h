// SPDX-License-Identifier: Apache-2.0
//
// Shared code for the tests of delegates: a chain of nodes that the scripted delegate can claim,
// the scripted delegate as an object, and a delegate whose Prepare is given by the test.
#ifndef DEPUTY_TESTS_SUPPORT_DELEGATE_SUPPORT_H_
#define DEPUTY_TESTS_SUPPORT_DELEGATE_SUPPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

// Adds `length` nodes over one row of four float32, alternating ADD and MUL: y0 = x + c, y1 = y0 *
// c, and so on, to the current subgraph; the last result is its output.
void AddChain(ModelBuilder* m, int length);
std::vector<uint8_t> Chain(int length);

TfLiteStatus Apply(TestInterpreter* t, TfLiteDelegate* delegate);

// A scripted delegate that claims the given nodes. Declare it before the interpreter.
struct Scripted {
  explicit Scripted(const std::set<int>& claims, int64_t flags = kTfLiteDelegateFlagsNone);
  // Makes the callback return an error at that call, counted from 0.
  void FailAt(ScriptedCallback callback, int call);
  TfLiteDelegate* get() { return &script->base; }
  ScriptedDelegate* operator->() { return script.get(); }

  std::unique_ptr<ScriptedDelegate> script;
};

// A delegate whose Prepare is a function of the test. Declare it before the interpreter.
struct Programmed {
  using Body = std::function<TfLiteStatus(TfLiteContext*, TfLiteDelegate*)>;
  explicit Programmed(Body prepare, int64_t flags = kTfLiteDelegateFlagsNone)
      : body(std::move(prepare)) {
    base = TfLiteDelegateCreate();
    base.data_ = this;
    base.flags = flags;
    base.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
      return static_cast<Programmed*>(delegate->data_)->body(context, delegate);
    };
  }
  TfLiteDelegate base;
  Body body;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_DELEGATE_SUPPORT_H_
