// SPDX-License-Identifier: Apache-2.0
//
// Prints the findings of the validation layer as they occur, and counts them.
#include "findings.h"

#include <cstdio>
#include <cstdlib>

#include "text.h"

namespace deputy::tools {

void Findings::Watch(TfLiteInterpreterOptions* options) {
  DeputyValidationOptions validation = {};
  validation.struct_size = sizeof(validation);
  validation.enabled = 1;
  validation.on_finding = &OnFinding;
  validation.user_data = this;
  (void)DeputyInterpreterOptionsSetValidation(options, &validation);
}

void Findings::OnFinding(void* findings, const DeputyFinding* finding) {
  auto* self = static_cast<Findings*>(findings);
  ++self->count_;
  if (*self->report_ == finding->text) self->report_->clear();
  std::fprintf(stderr, "deputy: validation: %s\n", OneLine(finding->text).c_str());
}

bool ValidationIsInEnvironment() {
  const char* value = std::getenv("DEPUTY_VALIDATION");
  return value != nullptr && std::string(value) == "1";
}

Json FindingsJson(const TfLiteInterpreter* interpreter) {
  Json findings = Json::array();
  for (size_t i = 0; i < DeputyInterpreterGetFindingCount(interpreter); ++i) {
    DeputyFinding finding = {};
    finding.struct_size = sizeof(finding);
    if (DeputyInterpreterGetFinding(interpreter, i, &finding) != kTfLiteOk) continue;
    constexpr const char* kSeverities[] = {"error", "suspicion", "portability"};
    findings.push_back({{"rule", finding.rule},
                        {"text", finding.text},
                        {"severity", kSeverities[finding.severity]},
                        {"subgraph", finding.subgraph_index},
                        {"node", finding.node_index},
                        {"tensor", finding.tensor_index},
                        {"count", finding.count},
                        {"delegate_name", finding.delegate_name}});
  }
  return findings;
}

void FailOnFindings(size_t count) {
  if (count == 0) return;
  FailWork("the validation layer has %s", PluralText(count, "finding", "findings").c_str());
}

}  // namespace deputy::tools
