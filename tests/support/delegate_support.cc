// SPDX-License-Identifier: Apache-2.0
#include "tests/support/delegate_support.h"

#include <string>

namespace deputy {

void AddChain(ModelBuilder* m, int length) {
  const int x = m->AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int c = m->AddConstant<float>(kTfLiteFloat32, {1, 4}, {1, 2, -1, 0.5f}, "c");
  int last = x;
  for (int i = 0; i < length; ++i) {
    const int next = m->AddTensor(kTfLiteFloat32, {1, 4}, "y" + std::to_string(i));
    if (i % 2 == 0) {
      m->AddOp(kTfLiteBuiltinAdd, {last, c}, {next}, schema::CreateAddOptions(m->fbb()));
    } else {
      m->AddOp(kTfLiteBuiltinMul, {last, c}, {next}, schema::CreateMulOptions(m->fbb()));
    }
    last = next;
  }
  m->SetInputs({x});
  m->SetOutputs({last});
}

std::vector<uint8_t> Chain(int length) {
  ModelBuilder m;
  AddChain(&m, length);
  return m.Finish();
}

TfLiteStatus Apply(TestInterpreter* t, TfLiteDelegate* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate);
}

Scripted::Scripted(const std::set<int>& claims, int64_t flags) : script(new ScriptedDelegate) {
  ScriptedDelegateInit(script.get(), flags);
  for (int node : claims) script->claims[node] = true;
}

void Scripted::FailAt(ScriptedCallback callback, int call) {
  script->failing_callback = callback;
  script->failing_call = call;
  script->failure = kScriptedErrorStatus;
}

}  // namespace deputy
