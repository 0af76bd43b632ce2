// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the opaque types of the C API. All functions of the API that may throw run in
// Guard, so that no exception passes to C code.
#ifndef DEPUTY_C_API_SRC_OBJECTS_H_
#define DEPUTY_C_API_SRC_OBJECTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "c_api/src/listeners.h"
#include "c_api/src/resolver.h"
#include "core/async/async_signature_runner.h"
#include "core/async/run_queue.h"
#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/delegation/hot_fallback.h"
#include "core/delegation/placement.h"
#include "core/exec/interpreter.h"
#include "core/validation/validation.h"

struct TfLiteTelemetryProfilerStruct;

struct TfLiteModel {
  std::shared_ptr<const deputy::Model> impl;
};

struct TfLiteInterpreterOptions {
  deputy::InterpreterConfig config;
  // True for settings that functions of the API have set; the environment selects the others.
  bool arithmetic_set = false;
  bool precision_set = false;
  bool policy_set = false;
  bool validation_set = false;
  deputy::ValidationConfig validation;
  std::vector<deputy::Placement> placements;  // constraints on the delegates of nodes
  deputy::OperatorSet operators;
  std::vector<TfLiteDelegate*> delegates;  // borrowed delegates, in the order of application
  bool delegate_fallback = false;
  int requirement = 0;  // minimum part of the model for delegates, a DeputyRequirement
  TfLiteTelemetryProfilerStruct* telemetry = nullptr;  // borrowed callbacks; null: none
};

struct TfLiteInterpreter {
  // Callbacks of kernels call functions of the interpreter while `impl` is destroyed. The
  // destructor of std::unique_ptr may set its pointer to null before it destroys the object.
  ~TfLiteInterpreter() {
    if (runs != nullptr) runs->Shutdown();
    async_runners.clear();
    delete impl.get();
    static_cast<void>(impl.release());
  }

  // Listeners of `impl`, which is destroyed first.
  deputy::ProfileListener profile;
  deputy::WorkerListener workers;
  deputy::TelemetryListener telemetry;
  std::unique_ptr<deputy::Interpreter> impl;
  // Validation layer, owned by `impl`; null: it is disabled.
  deputy::Validation* validation = nullptr;
  bool delegate_fallback = false;
  bool allow_buffer_handle_output = false;
  // Asynchronous runners by the runner that `impl` owns. A task belongs to such a runner, so they
  // live as long as the interpreter.
  mutable std::map<const deputy::SignatureRunner*, deputy::AsyncSignatureRunner> async_runners;
  std::mutex runs_mutex;                   // protects the creation of `runs`
  std::shared_ptr<deputy::RunQueue> runs;  // asynchronous runs; null before the first
};

struct TfLiteSignatureRunner {
  deputy::SignatureRunner* impl = nullptr;         // runner that the interpreter owns
  const TfLiteInterpreter* interpreter = nullptr;  // interpreter that created the runner
};

namespace deputy {

// Implements DeputyInterpreterCheckDelegation without its checks of arguments.
TfLiteStatus CheckDelegation(Interpreter* interpreter, int requirement, int32_t* delegated,
                             int32_t* total);

// Called after the first subgraph of the interpreter was run with this status: notifies the
// telemetry; runs again on the CPU if that was requested for failures of delegates. Returns the
// status for the client.
TfLiteStatus AfterInvoke(TfLiteInterpreter* interpreter, TfLiteStatus status);

// Returns the settings of the layer `verify` of DEPUTY_LAYERS. An invalid value is reported.
Verification VerificationOfEnvironment();

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_OBJECTS_H_
