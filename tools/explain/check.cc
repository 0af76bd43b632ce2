// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/check.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "deputy/deputy.h"
#include "tools/device_choice.h"
#include "tools/explain/report.h"
#include "tools/json.h"
#include "tools/session.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// The support results of one delegate, filled in by OnSupport.
struct QueryResult {
  TfLiteInterpreter* interpreter;
  Json nodes = Json::array();
  size_t supported = 0;
};

void OnSupport(void* user_data, int32_t subgraph, int32_t node, const DeputyNodeSupport* support) {
  auto* result = static_cast<QueryResult*>(user_data);
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  DeputyInterpreterGetNodeInfo(result->interpreter, subgraph, node, &info);
  result->supported += support->delegated != 0 ? 1 : 0;
  result->nodes.push_back(
      {{"subgraph", subgraph},
       {"index", node},
       {"operator", info.operator_name == nullptr ? "" : info.operator_name},
       {"version", info.version},
       {"supported", support->delegated != 0},
       {"reason", support->reason},
       {"reason_name", support->reason_name},
       {"text", support->text},
       {"group", support->group},
       {"cost_ns", support->cost_ns < 0 ? Json(nullptr) : Json(support->cost_ns)}});
}

// Returns the support results of one delegate. "problem" is "" if the delegate has given a result
// for every node.
Json DelegateJson(const Session& session, size_t index) {
  const LoadedDelegate& delegate = session.delegates()[index];
  QueryResult result{session.interpreter()};
  const TfLiteStatus status = DeputyInterpreterCheckDelegate(
      session.interpreter(), delegate.handle.get(), OnSupport, &result);
  return {{"index", index},
          {"name", delegate.name},
          {"version", delegate.version},
          {"vendor", delegate.vendor},
          {"path", delegate.library},
          {"problem", status == kTfLiteOk ? "" : DeputyLastError()},
          {"supported", result.supported},
          {"nodes", std::move(result.nodes)}};
}

// Prints a row per operator and result: "12  CONV_2D  supported".
void PrintOperators(const Json& delegate) {
  std::map<std::pair<std::string, std::string>, size_t> rows;
  for (const Json& node : delegate["nodes"]) {
    std::string outcome = "supported";
    if (!node["supported"].get<bool>()) {
      outcome = node["reason_name"].get<std::string>();
      const std::string text = node["text"];
      if (!text.empty()) outcome += ": " + text;
    }
    ++rows[{node["operator"], outcome}];
  }
  for (const auto& [row, count] : rows) {
    PrintWrapped(Format("%6zu  %-20s ", count, Shorten(OneLine(row.first), 20).c_str()),
                 row.second);
  }
}

void PrintSupport(const Json& report) {
  PrintWrapped("model      ", report["model"]);
  PrintChoice(report["device_choice"]);
  for (const Json& absent : report["absent"]) {
    PrintWrapped("delegate   ", "not available, " + absent["flag"].get<std::string>() + ": " +
                                    absent["problem"].get<std::string>());
  }
  for (const Json& delegate : report["delegates"]) {
    PrintWrapped("delegate   ", "[" + JsonText(delegate["index"]) + "] " + DelegateText(delegate));
    const std::string problem = delegate["problem"];
    if (!problem.empty()) PrintWrapped("problem    ", problem);
    std::printf("supported  %zu of %s\n", delegate["supported"].get<size_t>(),
                PluralText(report["nodes"], "node", "nodes").c_str());
    PrintOperators(delegate);
  }
  if (report["delegates"].empty() && report["absent"].empty()) {
    std::printf("delegate   none (use --delegate)\n");
  }
}

// Returns the number of nodes that at least one delegate supports.
size_t CountSupported(const Json& report) {
  std::map<std::pair<int, int>, bool> supported;
  for (const Json& delegate : report["delegates"]) {
    for (const Json& node : delegate["nodes"]) {
      if (node["supported"].get<bool>()) supported[{node["subgraph"], node["index"]}] = true;
    }
  }
  return supported.size();
}

void RequireSupport(const Json& report, const std::string& require) {
  const size_t all = report["nodes"], supported = report["supported"];
  if (require.empty() || supported == all || (require == "partial" && supported > 0)) return;
  FailWork("--require %s: %zu of %zu nodes are supported", require.c_str(), supported, all);
}

}  // namespace

void CheckSupport(const ExplainOptions& options) {
  SessionOptions session_options = options.session;
  session_options.apply_delegates = false;
  session_options.missing_operators_are_fine = true;
  const Session session(session_options);
  int32_t all = 0;
  DeputyInterpreterCheckDelegation(session.interpreter(), kDeputyRequireNothing, nullptr, &all);
  Json report = {{"model", session_options.model},
                 {"nodes", all},
                 {"delegates", Json::array()},
                 {"absent", Json::array()}};
  std::string problem;
  for (const auto& [flag, why] : session.absent()) {
    report["absent"].push_back({{"flag", flag}, {"problem", why}});
    if (problem.empty()) problem = flag + " is not available";
  }
  for (size_t i = 0; i < session.delegates().size(); ++i) {
    report["delegates"].push_back(DelegateJson(session, i));
    const std::string said = report["delegates"].back()["problem"];
    if (problem.empty() && !said.empty()) problem = said;
  }
  report["supported"] = CountSupported(report);
  if (!session_options.device_choice.is_null()) {
    report["device_choice"] = session_options.device_choice;
  }
  if (options.json) {
    std::printf("%s\n", JsonText(report, 2).c_str());
  } else {
    PrintSupport(report);
  }
  if (!problem.empty()) FailWork("--check: %s", OneLine(problem).c_str());
  RequireSupport(report, options.require);
}

}  // namespace deputy::tools
