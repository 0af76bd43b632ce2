// SPDX-License-Identifier: Apache-2.0
//
// `deputy explain`: shows which engine runs each node of a model, why others do not, and which
// changes would help.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/explain/check.h"
#include "tools/explain/report.h"
#include "tools/session.h"
#include "tools/tensor_data.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// Maximum number of nodes listed in an error message; the report lists all.
constexpr size_t kMaxNamed = 20;

// Runs inferences under a profile callback, because the interpreter accumulates costs only while
// one is installed.
void Measure(Session* session, int inferences) {
  for (int i = 0; i < session->input_count(); ++i) {
    WriteRandom(static_cast<uint32_t>(i), session->input(i));
  }
  session->Invoke();  // excluded, because the first inference is slower
  DeputyInterpreterSetProfileCallback(
      session->interpreter(), [](void*, const DeputyOpEvent*) {}, nullptr);
  for (int i = 0; i < inferences; ++i) session->Invoke();
  DeputyInterpreterSetProfileCallback(session->interpreter(), nullptr, nullptr);
}

void WritePage(const std::string& path, const std::string& page) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  const bool written = std::fwrite(page.data(), 1, page.size(), file.get()) == page.size();
  if (!written || std::fflush(file.get()) != 0) {
    FailWork("%s: %s", path.c_str(), std::strerror(errno));
  }
}

// Ends the command with kExitFailed and a list of the nodes left if less was delegated than
// required.
void CheckRequirement(const Json& report, const std::string& require) {
  const size_t all = report["nodes"], delegated = report["delegated"];
  if (require.empty() || delegated == all || (require == "partial" && delegated > 0)) return;
  std::string list;
  size_t count = 0;
  for (const Json& subgraph : report["subgraphs"]) {
    for (const Json& node : subgraph["nodes"]) {
      if (node["owner"] != -1 || ++count > kMaxNamed) continue;
      list += (list.empty() ? "" : ", ") + JsonText(subgraph["index"]) + "#" +
              JsonText(node["index"]) + " " + node["operator"].get<std::string>();
    }
  }
  if (count > kMaxNamed) list += Format(" and %zu more", count - kMaxNamed);
  FailWork("--require %s: %zu of %zu nodes are delegated; left on the CPU: %s", require.c_str(),
           delegated, all, list.c_str());
}

Json BackgroundJson(const Session& session) {
  const DeputyBackgroundStatus status = session.background_status();
  return {{"text", session.BackgroundText()},
          {"active", status.state == kDeputyBackgroundActive},
          {"failure", status.failure},
          {"prepare_ns", status.prepare_ns},
          {"preparations", status.preparations},
          {"cpu_inferences", status.cpu_inferences},
          {"delegate_inferences", status.delegate_inferences}};
}

// Returns the descriptions of partitions from delegates that provide them.
Json PartitionTexts(const Session& session) {
  const QuietReports quiet;
  Json texts = Json::array();
  for (size_t i = 0; i < session.delegates().size(); ++i) {
    Json found = Json::array();
    const auto add = [](void* data, int32_t first_node, const char* stage, const char* text) {
      static_cast<Json*>(data)->push_back(
          {{"first_node", first_node}, {"stage", stage}, {"text", text}});
    };
    (void)DeputyPluginDescribePartitions(session.delegates()[i].handle.get(), add, &found);
    for (const Json& text : found) {
      texts.push_back({{"delegate", i}});
      texts.back().update(text);
    }
  }
  return texts;
}

}  // namespace

void ExplainModel(const ExplainOptions& options) {
  if (options.check) return CheckSupport(options);
  SessionOptions session_options = options.session;
  session_options.failed_delegates_are_fine = true;
  session_options.missing_operators_are_fine = true;
  session_options.waits_for_background = options.session.background;
  if (options.ir) session_options.delegate_settings = {{"describe", "true"}};
  Session session(session_options);
  const bool runs = MissingLeft(session.missing(), session.interpreter()).empty();
  const int inferences = runs ? options.inferences : 0;
  // The model is also run for the validation layer, most of whose rules concern the execution.
  if (inferences > 0 || (runs && session.validates())) Measure(&session, inferences);
  Json report = ExplainSession(session, options.session.model, static_cast<size_t>(inferences));
  if (!options.session.device_choice.is_null()) {
    report["device_choice"] = options.session.device_choice;
  }
  if (!session.placement().is_null()) report["placement"] = session.placement();
  if (!options.session.weight_cache.empty()) report["weight_cache"] = session.WeightCacheText();
  if (options.session.background) report["background"] = BackgroundJson(session);
  if (options.ir) report["partition_texts"] = PartitionTexts(session);
  if (!options.html.empty()) WritePage(options.html, ExplanationPage(report));
  if (!options.svg.empty()) WritePage(options.svg, ExplanationSvg(report));
  if (!options.dot.empty()) WritePage(options.dot, ExplanationDot(report));
  if (options.json) {
    std::printf("%s\n", JsonText(report, 2).c_str());
  } else {
    PrintExplanation(report);
  }
  session.FailIfMissing();
  CheckRequirement(report, options.require);
  FailOnFindings(session.Close());
}

}  // namespace deputy::tools
