// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the opaque handles of the C API, and the guard that every function of the API
// runs in: no exception crosses into C.
#ifndef DEPUTY_C_API_OBJECTS_INTERNAL_H_
#define DEPUTY_C_API_OBJECTS_INTERNAL_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "c_api/c_api.h"
#include "c_api/deputy.h"
#include "c_api/resolver_internal.h"
#include "core/interpreter.h"

struct TfLiteTelemetryProfilerStruct;

struct TfLiteModel {
  std::shared_ptr<const deputy::Model> impl;
};

struct TfLiteInterpreterOptions {
  deputy::InterpreterConfig config;
  // The environment may choose the arithmetic as long as nobody called for one.
  bool arithmetic_set = false;
  // Likewise the delegate policy.
  bool policy_set = false;
  // Likewise validation.
  bool validation_set = false;
  deputy::OperatorSet operators;
  std::vector<TfLiteDelegate*> delegates;  // borrowed, in the order of application
  bool delegate_fallback = false;
  int requirement = 0;                                 // a DeputyRequirement
  TfLiteTelemetryProfilerStruct* telemetry = nullptr;  // borrowed
};

struct TfLiteInterpreter {
  std::unique_ptr<deputy::Interpreter> impl;
  bool delegate_fallback = false;
  bool allow_buffer_handle_output = false;
  TfLiteTelemetryProfilerStruct* telemetry = nullptr;
  DeputyProfileCallback profile_callback = nullptr;
  void* profile_user_data = nullptr;
};

struct TfLiteSignatureRunner {
  deputy::SignatureRunner* impl = nullptr;  // owned by the interpreter
};

namespace deputy {

// DeputyInterpreterCheckDelegation without its checks of arguments.
TfLiteStatus CheckDelegation(Interpreter* interpreter, int requirement, int32_t* delegated,
                             int32_t* total);

// Runs `body` and answers `on_failure` when it throws, which in this library means that memory was
// refused.
template <typename Result, typename Body>
Result Guard(Result on_failure, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    ErrorReporter().Report("out of memory");
    return on_failure;
  }
}

template <typename Body>
void GuardVoid(Body&& body) noexcept {
  Guard(0, [&] {
    body();
    return 0;
  });
}

}  // namespace deputy

#endif  // DEPUTY_C_API_OBJECTS_INTERNAL_H_
