// SPDX-License-Identifier: Apache-2.0
//
// Functions of deputy.h for the verification of delegates: its settings and results.
#include "core/support/verification.h"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "c_api/include/deputy.h"
#include "c_api/src/objects.h"
#include "c_api/src/struct_io.h"
#include "core/delegation/hot_fallback.h"
#include "core/plugin/layers.h"

namespace {

using deputy::Verification;

bool IsValid(const DeputyVerification& given) {
  const bool is_nth = given.mode == kDeputyVerifyEveryNth;
  return given.mode >= kDeputyVerifyNever && given.mode <= kDeputyVerifyAlways &&
         (is_nth ? given.interval >= 1 : given.interval == 0) && given.float32_tolerance >= 0 &&
         given.float16_tolerance >= 0 && given.quantized_steps >= -1;
}

Verification Convert(const DeputyVerification& given) {
  Verification verification;
  switch (given.mode) {
    case kDeputyVerifyFirst:
      verification.mode = Verification::Mode::kFirst;
      break;
    case kDeputyVerifyEveryNth:
      verification.mode = Verification::Mode::kEveryNth;
      verification.interval = given.interval;
      break;
    case kDeputyVerifyAlways:
      verification.mode = Verification::Mode::kAlways;
      break;
    default:
      break;
  }
  if (given.float32_tolerance > 0) verification.float32_tolerance = given.float32_tolerance;
  if (given.float16_tolerance > 0) verification.float16_tolerance = given.float16_tolerance;
  if (given.quantized_steps != 0) verification.quantized_steps = given.quantized_steps;
  if (given.quantized_steps == -1) verification.quantized_steps = 0;
  return verification;
}

}  // namespace

deputy::Verification deputy::VerificationOfEnvironment() {
  deputy::Verification verification;
  const std::optional<std::string> how = deputy::InterpreterLayer("verify");
  if (!how) return verification;
  const char* const end = how->data() + how->size();
  const auto [at, error] = std::from_chars(how->data(), end, verification.interval);
  if (how->empty() || *how == "first") {
    verification.mode = Verification::Mode::kFirst;
  } else if (*how == "always") {
    verification.mode = Verification::Mode::kAlways;
  } else if (error == std::errc() && at == end && verification.interval > 0) {
    verification.mode = Verification::Mode::kEveryNth;
  } else {
    deputy::ReportWarning("DEPUTY_LAYERS: verify: expected first, always or a number, found '%s'",
                          how->c_str());
  }
  return verification;
}

TfLiteStatus DeputyInterpreterOptionsSetVerification(TfLiteInterpreterOptions* options,
                                                     const DeputyVerification* verification) {
  DeputyVerification given;
  if (options == nullptr || !deputy::ReadStruct(verification, &given) || !IsValid(given)) {
    return kTfLiteError;
  }
  options->config.verification = Convert(given);
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterGetVerificationStatus(const TfLiteInterpreter* interpreter,
                                                    DeputyVerificationStatus* status) {
  if (interpreter == nullptr) return kTfLiteError;
  deputy::Interpreter& impl = *interpreter->impl->running();
  DeputyVerificationStatus full{};
  full.subgraph_index = full.node_index = full.tensor_index = -1;
  full.element = -1;
  for (int i = 0; i < impl.subgraph_count(); ++i) {
    const deputy::VerificationStatistics& part =
        deputy::HotFallbackOf(impl.subgraph(i)).verification();
    if (full.wrong == 0 && part.wrong > 0) {
      full.subgraph_index = i;
      full.node_index = part.node;
      full.tensor_index = part.tensor;
      full.element = part.element;
      full.expected = part.expected;
      full.found = part.found;
    }
    full.verified += part.verified;
    full.wrong += part.wrong;
    full.skipped += part.skipped;
    full.spent_ns += part.spent_ns;
  }
  return deputy::WriteStruct(full, status);
}
