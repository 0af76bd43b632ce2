// SPDX-License-Identifier: Apache-2.0
//
// Delegates that are prepared in the background.
#include <chrono>

#include "c_api/include/deputy.h"
#include "c_api/src/struct_io.h"
#include "core/delegation/background_delegates.h"

using deputy::BackgroundDelegates;
using deputy::Fail;
using deputy::Guard;
using deputy::Interpreter;

namespace {

BackgroundDelegates* BackgroundOf(const TfLiteInterpreter* interpreter) {
  return static_cast<BackgroundDelegates*>(interpreter->impl->background_plans());
}

// Returns a function that creates interpreters with the model and the kernels of `impl`. Their
// builtin operators get options from this library's parsers.
deputy::BackgroundTask::MakeInterpreter CopiesOf(const Interpreter& impl) {
  return [model = impl.shared_model(),
          operators = impl.operators()](const deputy::InterpreterConfig& config) {
    const deputy::OperatorSet none;
    deputy::ClientResolver parsers(none, true);
    return Interpreter::Create(model, config, operators, &parsers);
  };
}

bool ReadOptions(const DeputyBackgroundOptions* options, BackgroundDelegates::Settings* settings) {
  DeputyBackgroundOptions given{};
  if (options != nullptr && !deputy::ReadStruct(options, &given)) return false;
  if (given.max_shapes < 0 || given.time_limit_ms < 0) return false;
  if (given.max_shapes > 0) settings->max_plans = static_cast<size_t>(given.max_shapes);
  settings->time_limit = std::chrono::milliseconds(given.time_limit_ms);
  return true;
}

int32_t StateOf(const BackgroundDelegates& background) {
  switch (background.state()) {
    case BackgroundDelegates::State::kWaiting:
      return kDeputyBackgroundWaiting;
    case BackgroundDelegates::State::kPreparing:
      return kDeputyBackgroundPreparing;
    case BackgroundDelegates::State::kReady:
      return kDeputyBackgroundReady;
    case BackgroundDelegates::State::kActive:
      return kDeputyBackgroundActive;
    case BackgroundDelegates::State::kFailed:
      return kDeputyBackgroundFailed;
    case BackgroundDelegates::State::kTimedOut:
      return kDeputyBackgroundTimedOut;
  }
  return kDeputyBackgroundNone;
}

}  // namespace

TfLiteStatus DeputyInterpreterApplyInBackground(TfLiteInterpreter* interpreter,
                                                TfLiteDelegate* const* delegates, size_t count,
                                                const DeputyBackgroundOptions* options) {
  BackgroundDelegates::Settings settings;
  if (interpreter == nullptr || delegates == nullptr || count == 0 ||
      !ReadOptions(options, &settings)) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    Interpreter& impl = *interpreter->impl;
    TF_LITE_ENSURE_STATUS(impl.run_gate()->Check("DeputyInterpreterApplyInBackground"));
    settings.delegates.assign(delegates, delegates + count);
    std::string refusal = impl.is_running() ? "expected an interpreter that does not run"
                                            : BackgroundDelegates::RefusalOf(&impl);
    if (!impl.shared_states().empty()) refusal = "expected no shared states";
    if (std::count(delegates, delegates + count, nullptr) > 0) refusal = "expected no NULL";
    if (!refusal.empty()) {
      return Fail(impl.reporter(), kTfLiteApplicationError, "%s: %s",
                  "DeputyInterpreterApplyInBackground", refusal.c_str());
    }
    impl.SetBackgroundPlans(
        std::make_unique<BackgroundDelegates>(&impl, std::move(settings), CopiesOf(impl)));
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterWaitForBackground(TfLiteInterpreter* interpreter,
                                                int64_t timeout_ms) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    TF_LITE_ENSURE_STATUS(
        interpreter->impl->run_gate()->Check("DeputyInterpreterWaitForBackground"));
    BackgroundDelegates* const background = BackgroundOf(interpreter);
    if (background == nullptr) return kTfLiteOk;
    const std::chrono::milliseconds timeout(timeout_ms);
    return background->Wait(timeout) ? kTfLiteOk : kTfLiteError;
  });
}

TfLiteStatus DeputyInterpreterGetBackgroundStatus(const TfLiteInterpreter* interpreter,
                                                  DeputyBackgroundStatus* status) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    TF_LITE_ENSURE_STATUS(
        interpreter->impl->run_gate()->Check("DeputyInterpreterGetBackgroundStatus"));
    DeputyBackgroundStatus full{};
    full.failure = "";
    if (const BackgroundDelegates* const background = BackgroundOf(interpreter)) {
      const BackgroundDelegates::Statistics& counts = background->statistics();
      full.state = StateOf(*background);
      full.kept_shapes = static_cast<int32_t>(background->plan_count());
      full.preparations = counts.preparations;
      full.cpu_inferences = counts.cpu_inferences;
      full.delegate_inferences = counts.delegate_inferences;
      full.first_inference = counts.first_inference;
      full.prepare_ns = counts.prepared_in.count();
      full.failure = background->failure();
    }
    return deputy::WriteStruct(full, status);
  });
}
