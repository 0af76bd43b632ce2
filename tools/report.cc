// SPDX-License-Identifier: Apache-2.0
//
// `deputy report`: writes a record of one inference, with notes about the outcome, to one file. The
// delegate runs in child processes, so that the report of a crash is complete.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "bridges/layers/record/record_file.h"
#include "commands.h"
#include "core/support/option_list.h"
#include "in_child.h"
#include "json.h"
#include "records.h"
#include "session.h"
#include "tensor_data.h"
#include "text.h"
#include "tools/explain/report.h"

namespace deputy::tools {
namespace {

constexpr uint64_t kMaxReportBytes = uint64_t{1} << 40;
constexpr const char* kLayers = "DEPUTY_LAYERS";

// Puts the layer `record` outside of all others.
void SetRecordLayer(const ReportOptions& options) {
  std::string value, list;
  AppendOption(options.output, &value, ',');
  if (options.has_model) AppendOption("model", &value, ',');
  AppendOption("record=" + value, &list);
  const char* const others = std::getenv(kLayers);
  if (others != nullptr && *others != '\0') list += std::string(";") + others;
  setenv(kLayers, list.c_str(), 1);
}

// Runs one inference with random inputs. Returns "completed" or the reason of a failure.
std::string RunRecorded(const ReportOptions& options) {
  const ChildResult result = RunInChild([&] {
    SetRecordLayer(options);
    Session session(options.session);
    for (int i = 0; i < session.input_count(); ++i) {
      WriteRandom(static_cast<uint32_t>(i), session.input(i));
    }
    session.Invoke();
    const std::string shortfall = session.Shortfall();
    return shortfall.empty() ? "completed" : "completed; " + shortfall;
  });
  return result.problem.empty() ? result.bytes : result.problem;
}

std::string Explanation(const ReportOptions& options) {
  const ChildResult result = RunInChild([&] {
    SessionOptions session_options = options.session;
    session_options.failed_delegates_are_fine = true;
    const Session session(session_options);
    return JsonText(ExplainSession(session, options.session.model, 0), 2);
  });
  return result.problem.empty() ? result.bytes : result.problem;
}

std::string Environment() {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("DEPUTY_")) text += std::string(*variable) + "\n";
  }
  return text;
}

void AddNotes(const ReportOptions& options, const std::string& outcome) {
  std::string problem;
  const auto writer = record::Writer::OpenToAppend(options.output, kMaxReportBytes, &problem);
  if (writer == nullptr) FailWork("report: %s", problem.c_str());
  const bool is_written = writer->Write(record::Note{"outcome", outcome}) &&
                          writer->Write(record::Note{"model", options.session.model}) &&
                          writer->Write(record::Note{"environment", Environment()}) &&
                          writer->Write(record::Note{"explain", Explanation(options)});
  if (!is_written) FailWork("report: %s", writer->problem().c_str());
}

}  // namespace

void WriteReport(const ReportOptions& options) {
  if (options.session.delegates.size() != 1) {
    FailUsage("report: expected one delegate, found %zu", options.session.delegates.size());
  }
  // The file is a valid record even if the run fails before the layer is created.
  std::string problem;
  if (record::Writer::Open(options.output, kMaxReportBytes, &problem) == nullptr) {
    FailUsage("report: %s", problem.c_str());
  }
  const std::string outcome = RunRecorded(options);
  AddNotes(options, outcome);
  const record::Record record = ReadRecord(options.output);
  std::printf("report %s: %s; outcome: %s\n", options.output.c_str(),
              PluralText(record.calls.size(), "call", "calls").c_str(), OneLine(outcome).c_str());
}

}  // namespace deputy::tools
