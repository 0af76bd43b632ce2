// SPDX-License-Identifier: Apache-2.0
//
// `deputy explain`: who runs which node of a model, why not somebody else, and what would help.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "explain_report.h"
#include "session.h"
#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

struct ExplainOptions {
  SessionOptions session;
  std::string require, html;
  std::string profile = "0";  // inferences, as text; see FinishOptions
  int inferences = 0;
  bool json = false, ir = false;
};

// Leftovers named in a refusal; the report has them all.
constexpr size_t kMaxNamed = 20;

// The N of --profile may be left out, and then a model behind it looks like one.
void FinishOptions(ExplainOptions* options) {
  if (ParseNumber(options->profile, &options->inferences)) return;
  if (!options->session.model.empty()) {
    FailUsage("--profile: expected a number of inferences, found '%s'", options->profile.c_str());
  }
  options->session.model = options->profile;
  options->inferences = 10;
}

// Costs are kept by the interpreter while somebody listens.
void Measure(Session* session, int inferences) {
  for (int i = 0; i < session->input_count(); ++i) {
    WriteRandom(static_cast<uint32_t>(i), session->input(i));
  }
  session->Invoke();  // the first one is slower
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

// Ends the command with kExitFailed, naming what was left, if less was delegated than required.
void CheckRequirement(const Json& report, const std::string& require) {
  const size_t all = report["nodes"], delegated = report["delegated"];
  if (require.empty() || delegated == all || (require == "partial" && delegated > 0)) return;
  std::string list;
  size_t count = 0;
  for (const Json& subgraph : report["subgraphs"]) {
    for (const Json& node : subgraph["nodes"]) {
      if (node["owner"] != -1 || ++count > kMaxNamed) continue;
      list += (list.empty() ? "" : ", ") + subgraph["index"].dump() + "#" + node["index"].dump() +
              " " + node["operator"].get<std::string>();
    }
  }
  if (count > kMaxNamed) list += Format(" and %zu more", count - kMaxNamed);
  FailWork("--require %s: %zu of %zu nodes are delegated; left on the CPU: %s", require.c_str(),
           delegated, all, list.c_str());
}

// What the delegates that can say so tell of their partitions.
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

void Explain(const ExplainOptions& options) {
  Session session(options.session);
  if (options.inferences > 0) Measure(&session, options.inferences);
  Json report =
      ExplainSession(session, options.session.model, static_cast<size_t>(options.inferences));
  if (options.ir) report["partition_texts"] = PartitionTexts(session);
  if (!options.html.empty()) WritePage(options.html, ExplanationPage(report));
  if (options.json) {
    // Names come out of the model and may be no UTF-8.
    std::printf("%s\n", report.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    PrintExplanation(report);
  }
  CheckRequirement(report, options.require);
}

}  // namespace

void AddExplainCommand(CLI::App* app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app->add_subcommand("explain", "Show who runs which node, why, and what would help");
  options->session.failed_delegates_are_fine = true;
  AddSessionOptions(command, &options->session);
  AddUseOptions(command, &options->session);
  command->add_option("--pin", options->session.pins, "Keep nodes for one delegate, e.g. op:ADD=0")
      ->type_name("NODES=DELEGATE")
      ->expected(1)
      ->take_all();
  command->add_option("--exclude", options->session.excludes, "Keep nodes on the CPU")
      ->type_name("NODES")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--require", options->require,
                   "Fail unless some (partial) or all (full) nodes\nare delegated")
      ->type_name("HOW")
      ->check(CLI::IsMember({"partial", "full"}).description(""));
  command->add_option("--profile", options->profile, "Measure nodes, over N inferences")
      ->type_name("[N]")
      ->expected(0, 1)
      ->default_str("10");
  command->add_flag("--ir", options->ir,
                    "Print each partition as its delegate's compiler has\n"
                    "it, if it has one");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_option("--html", options->html, "Write a page with the graph, too")
      ->type_name("FILE");
  command->footer(
      "NODES is #12, 1#12 (node 12 of subgraph 1), op:CONV_2D or tensor:NAME, the\n"
      "node that gives out that tensor. Delegates are numbered from 0.\n\n"
      "  deputy explain m.tflite --delegate ./libmine.so,threads=2 --profile\n"
      "  deputy explain m.tflite --delegate ./a.so --delegate ./b.so --pin '#3=1'");
  command->callback([options] {
    FinishOptions(options.get());
    if (options->ir) options->session.delegate_settings = {{"describe", "true"}};
    Explain(*options);
  });
}

}  // namespace deputy::tools
