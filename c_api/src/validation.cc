// SPDX-License-Identifier: Apache-2.0
//
// Functions of deputy.h for the validation layer: its settings and findings.
#include "c_api/include/deputy.h"
#include "c_api/src/struct_io.h"

using deputy::Finding;
using deputy::Guard;
using deputy::WriteStruct;

namespace {

DeputyFinding Convert(const Finding& finding) {
  const deputy::RuleInfo& rule = deputy::InfoOf(finding.rule);
  DeputyFinding out{};
  out.struct_size = sizeof out;
  out.rule = rule.id;
  out.text = finding.text.c_str();
  out.severity = static_cast<int32_t>(rule.severity);
  out.subgraph_index = finding.subgraph;
  out.node_index = finding.node;
  out.tensor_index = finding.tensor;
  out.count = finding.count;
  out.delegate = finding.delegate;
  out.delegate_name = finding.delegate_name.c_str();
  return out;
}

static_assert(static_cast<int>(deputy::Severity::kError) == kDeputySeverityError);
static_assert(static_cast<int>(deputy::Severity::kSuspicion) == kDeputySeveritySuspicion);
static_assert(static_cast<int>(deputy::Severity::kPortability) == kDeputySeverityPortability);

}  // namespace

TfLiteStatus DeputyInterpreterOptionsSetValidation(TfLiteInterpreterOptions* options,
                                                   const DeputyValidationOptions* validation) {
  DeputyValidationOptions given;
  if (options == nullptr || !deputy::ReadStruct(validation, &given) || given.invoke_budget_ns < 0) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    deputy::ValidationConfig config;
    config.enabled = given.enabled != 0;
    config.invoke_budget_ns = given.invoke_budget_ns;
    if (auto* on_finding = given.on_finding) {
      config.on_finding = [on_finding, user_data = given.user_data](const Finding& finding) {
        const DeputyFinding out = Convert(finding);
        on_finding(user_data, &out);
      };
    }
    options->validation = std::move(config);
    options->validation_set = true;
    return kTfLiteOk;
  });
}

size_t DeputyInterpreterGetFindingCount(const TfLiteInterpreter* interpreter) {
  const deputy::Validation* layer = interpreter == nullptr ? nullptr : interpreter->validation;
  return layer == nullptr ? 0 : layer->finding_count();
}

TfLiteStatus DeputyInterpreterGetFinding(const TfLiteInterpreter* interpreter, size_t index,
                                         DeputyFinding* finding) {
  if (index >= DeputyInterpreterGetFindingCount(interpreter)) return kTfLiteError;
  const DeputyFinding full = Convert(interpreter->validation->finding(index));
  return WriteStruct(full, finding);
}
