// SPDX-License-Identifier: Apache-2.0
#include "core/exec/run_hooks.h"

#include "core/base/foreign_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

// Calls a function of the delegate's plug-in. While it runs, the subgraph counts as running.
template <typename Function>
TfLiteStatus Call(Subgraph* subgraph, Callback callback, const RunHook& hook,
                  const Function& function) {
  InterpreterState& interpreter = *subgraph->interpreter();
  const CallDepth depth(&interpreter);
  const SubgraphRun running(&subgraph->parts());
  const ForeignCall call = {
      .callback = callback, .context = subgraph->context(), .delegate = hook.delegate};
  const CallResult result = CallForeign(interpreter.call_observer(), call,
                                        [&](CallResult* out) { out->status = function(); });
  if (result.status == kTfLiteOk) return kTfLiteOk;
  const char* problem = callback == Callback::kRunStart ? "run_start failed" : "run_end failed";
  if (result.exception != nullptr) problem = result.exception;
  const char* const name = hook.plugin->name;
  return Fail(interpreter.reporter(), kTfLiteError, "subgraph %d: delegate '%s': %s",
              subgraph->index(), name == nullptr ? "" : name, problem);
}

}  // namespace

void RunHooks::Update() {
  if (!interpreter_->delegates_changed()) return;
  hooks_.clear();
  for (int i = 0; i < interpreter_->subgraph_count(); ++i) {
    interpreter_->subgraph(i)->delegation().AddRunHooks(&hooks_);
  }
  interpreter_->set_delegates_changed(false);
}

TfLiteStatus RunHooks::Start(Subgraph* subgraph) {
  for (RunHook& hook : hooks_) hook.started = false;
  TF_LITE_ENSURE_STATUS(subgraph->CheckInvokable());
  for (RunHook& hook : hooks_) {
    const auto start = [&] {
      return hook.plugin->run_start == nullptr
                 ? kTfLiteOk
                 : hook.plugin->run_start(hook.delegate, subgraph->context());
    };
    hook.started = Call(subgraph, Callback::kRunStart, hook, start) == kTfLiteOk;
    if (hook.started) continue;
    if (!interpreter_->hot()) return kTfLiteError;
    for (int i = 0; i < interpreter_->subgraph_count(); ++i) {
      interpreter_->subgraph(i)->fallback().BackOff(hook.delegate);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus RunHooks::End(Subgraph* subgraph, TfLiteStatus status) {
  TfLiteStatus result = status;
  for (auto hook = hooks_.rbegin(); hook != hooks_.rend(); ++hook) {
    if (!hook->started || hook->plugin->run_end == nullptr) continue;
    const TfLiteStatus ended = Call(subgraph, Callback::kRunEnd, *hook, [&] {
      return hook->plugin->run_end(hook->delegate, subgraph->context(), status);
    });
    if (ended != kTfLiteOk && !interpreter_->hot() && result == kTfLiteOk) result = ended;
  }
  return result;
}

}  // namespace deputy
