// SPDX-License-Identifier: Apache-2.0
//
// `deputy ops`: lists the operators with kernels, or those that a model needs, with the engines
// that run them and the missing ones. The text is written from the JSON document, so that both
// agree.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "delegate_option.h"
#include "deputy/deputy.h"
#include "findings.h"
#include "json.h"
#include "model_file.h"
#include "provide.h"
#include "providers.h"
#include "session.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

// ---- Available operators ------------------------------------------------------------------------

Json TypesJson(uint64_t types) {
  Json names = Json::array();
  for (; types != 0; types &= types - 1) {
    names.push_back(TfLiteTypeGetName(static_cast<TfLiteType>(std::countr_zero(types))));
  }
  return names;
}

Json KernelsJson() {
  std::vector<DeputyOperator> operators;
  for (size_t i = 0; i < DeputyGetOperatorCount(); ++i) {
    DeputyOperator op = {};
    op.struct_size = sizeof op;
    if (DeputyGetOperator(i, &op) == kTfLiteOk) operators.push_back(op);
  }
  std::sort(operators.begin(), operators.end(),
            [](const DeputyOperator& a, const DeputyOperator& b) {
              return std::string_view(a.name) < std::string_view(b.name);
            });
  Json all = Json::array();
  for (const DeputyOperator& op : operators) {
    all.push_back({{"operator", op.name},
                   {"builtin_code", op.builtin_code},
                   {"min_version", op.min_version},
                   {"max_version", op.max_version},
                   {"types", TypesJson(op.types)},
                   {"delegates", Json::object()}});
  }
  return all;
}

// Data for EnterOperator: the rows of KernelsJson(), and the delegate whose operators are added.
struct Entering {
  Json* rows;
  std::string delegate;
};

void EnterOperator(void* data, const DeputyDelegateOperator* op) {
  const auto& entering = *static_cast<const Entering*>(data);
  for (Json& row : *entering.rows) {
    if (row["builtin_code"] != op->builtin_code) continue;
    if (op->custom_name != nullptr && row["operator"] != op->custom_name) continue;
    row["delegates"][entering.delegate] = op->max_version;
  }
}

// Adds the operators of each library's delegate. Libraries without this query are skipped; failing
// to load a library of --delegate is an error, one of a provider's flag a warning.
void EnterDelegates(const SessionOptions& options, Json* rows) {
  const QuietReports quiet;
  std::vector<DelegateRequest> requests = options.delegates;
  for (const Provider& provider : Providers()) {
    if (!options.delegates.empty() || provider.kind != ProviderKind::kOwn) continue;
    requests.push_back({provider.key, ""});
  }
  for (const DelegateRequest& request : requests) {
    const std::string library = request.path.empty() ? request.provider : request.path;
    const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
        DeputyPluginLoad(LibraryPath(library).c_str()), &DeputyPluginRelease);
    DeputyPluginInfo info = {};
    info.struct_size = sizeof info;
    if (plugin == nullptr || DeputyPluginDescribe(plugin.get(), &info) != kTfLiteOk) {
      if (options.delegates.empty()) continue;
      if (request.provider == kGivenLibrary) FailWork("%s", DeputyLastError());
      WarnOfAbsence(FlagOf(request), Provide(request).problem);
      continue;
    }
    Entering entering = {rows, info.name};
    DeputyPluginListOperators(plugin.get(), &EnterOperator, &entering);
  }
}

std::string VersionsText(const Json& op) {
  const int first = op["min_version"], last = op["max_version"];
  return first == last ? std::to_string(first)
                       : std::to_string(first) + " to " + std::to_string(last);
}

std::string TypesText(const Json& op) {
  std::string text;
  for (const Json& type : op["types"]) text += (text.empty() ? "" : " ") + type.get<std::string>();
  return text;
}

// Returns the delegates that support an operator, "gpu, npu_stub to 3": with the highest supported
// version if that is lower than the CPU's.
std::string DelegatesText(const Json& op) {
  std::string text;
  for (const auto& [name, version] : op["delegates"].items()) {
    if (!text.empty()) text += ", ";
    text += OneLine(name);
    if (version.get<int>() < op["max_version"].get<int>()) text += " to " + JsonText(version);
  }
  return text;
}

void PrintKernels(const Json& all, bool markdown) {
  if (!markdown) {
    Table table("<<<<", {"operator", "versions", "types", "delegates"});
    for (const Json& op : all) {
      table.Add({op["operator"], VersionsText(op), TypesText(op), DelegatesText(op)});
    }
    table.Print();
    return;
  }
  std::printf("| operator | versions | types | delegates |\n|---|---|---|---|\n");
  for (const Json& op : all) {
    std::printf("| %s | %s | %s | %s |\n", op["operator"].get<std::string>().c_str(),
                VersionsText(op).c_str(), TypesText(op).c_str(), DelegatesText(op).c_str());
  }
}

// ---- Operators of a model -----------------------------------------------------------------------

Json NeededJson(const TfLiteModel* model) {
  Json needed = Json::array();
  for (size_t i = 0; i < DeputyModelGetOperatorCount(model); ++i) {
    DeputyModelOperator op = {};
    op.struct_size = sizeof op;
    if (DeputyModelGetOperator(model, i, &op) != kTfLiteOk || op.node_count == 0) continue;
    needed.push_back({{"operator", op.name},
                      {"builtin_code", op.builtin_code},
                      {"version", op.version},
                      {"nodes", op.node_count},
                      {"kernel", op.has_kernel != 0},
                      {"runs", Json::object()}});
  }
  return needed;
}

std::string OwnerOf(const TfLiteInterpreter* interpreter, int subgraph, int node) {
  DeputyNodeRun run = {};
  run.struct_size = sizeof run;
  if (DeputyInterpreterGetNodeRun(interpreter, subgraph, node, &run) != kTfLiteOk) return "CPU";
  DeputyDelegateInfo delegate = {};
  delegate.struct_size = sizeof delegate;
  if (run.delegate_index < 0 ||
      DeputyInterpreterGetDelegateInfo(interpreter, run.delegate_index, &delegate) != kTfLiteOk) {
    return run.runner < 0 ? "computed once" : "CPU";
  }
  return delegate.name == nullptr ? "a delegate" : delegate.name;
}

// Counts the nodes of every operator by the engine that runs them.
void AddOwners(const TfLiteInterpreter* interpreter, Json* needed) {
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      DeputyNodeInfo node = {};
      node.struct_size = sizeof node;
      if (DeputyInterpreterGetNodeInfo(interpreter, s, n, &node) != kTfLiteOk) continue;
      for (Json& op : *needed) {
        if (op["operator"] != node.operator_name || op["version"] != node.version) continue;
        Json& count = op["runs"][OwnerOf(interpreter, s, n)];
        count = count.is_null() ? 1 : count.get<int>() + 1;
      }
    }
  }
}

std::string OwnersText(const Json& op) {
  if (!op["kernel"] && op["runs"].empty()) return "none: no kernel for this version";
  std::string text;
  for (const auto& [owner, count] : op["runs"].items()) {
    if (!text.empty()) text += ", ";
    text += OneLine(owner);
    if (op["runs"].size() > 1) text += " " + std::to_string(count.get<int>());
  }
  return text;
}

void PrintNeeded(const Json& needed) {
  Table table("<>><", {"operator", "version", "nodes", "run by"});
  for (const Json& op : needed) {
    table.Add({OneLine(op["operator"].get<std::string>()), std::to_string(op["version"].get<int>()),
               std::to_string(op["nodes"].get<int>()), OwnersText(op)});
  }
  table.Print();
}

void Print(const Json& json, const OpsOptions& options) {
  if (options.json) {
    std::printf("%s\n", JsonText(json, 2).c_str());
  } else if (options.session.model.empty()) {
    PrintKernels(json, options.markdown);
  } else {
    PrintNeeded(json);
  }
}

// Collects the error report of a model that is rejected.
void CollectReport(void* user_data, const char* format, va_list args) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, args);
  *static_cast<std::string*>(user_data) = text;
}

// Returns the library's error text if it extends the report.
std::string Known(const std::string& report) {
  const std::string known = DeputyLastError();
  return known.starts_with(report) ? known : report;
}

}  // namespace

void ListOperators(const OpsOptions& options) {
  const std::string& path = options.session.model;
  if (path.empty()) {
    Json kernels = KernelsJson();
    EnterDelegates(options.session, &kernels);
    return Print(kernels, options);
  }
  CheckReadable(path);
  std::string report;
  const ModelFile file(path, ms::Unmapped::kKeep, &CollectReport, &report);
  if (file.get() == nullptr) {
    FailWork("%s is not a usable model: %s", path.c_str(), Known(report).c_str());
  }
  Json needed = NeededJson(file.get());
  const auto missing =
      std::count_if(needed.begin(), needed.end(), [](const Json& op) { return !op["kernel"]; });
  if (missing > 0) {
    Print(needed, options);
    const std::string count =
        PluralText(static_cast<size_t>(missing), "operator has", "operators have");
    FailWork("%s: %s no kernel", path.c_str(), count.c_str());
  }
  Session session(options.session);
  AddOwners(session.interpreter(), &needed);
  Print(needed, options);
  FailOnFindings(session.Close());
}

}  // namespace deputy::tools
