// SPDX-License-Identifier: Apache-2.0
#include "bench_delegates.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "delegate_option.h"
#include "deputy/builtin_ops.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "deputy/external_delegate.h"
#include "stable_settings.h"
#include "text.h"

namespace deputy::tools {
namespace {

// What is to be said of a delegate that was made, or was not.
struct Made {
  std::string problem;                // without a delegate, why
  std::vector<std::string> declared;  // keys of the request's settings that it knows
};

// Each returns null with the reason in `made`.
TfLiteDelegate* CreateExternal(const DelegateRequest& request, Made* made) {
  TfLiteExternalDelegateOptions options =
      TfLiteExternalDelegateOptionsDefault(request.path.c_str());
  for (const auto& [key, value] : request.options) {
    if (TfLiteExternalDelegateOptionsInsert(&options, key.c_str(), value.c_str()) != kTfLiteOk) {
      FailUsage("--external_delegate_options: expected at most %d pairs, found %zu",
                kExternalDelegateMaxOptions, request.options.size());
    }
  }
  TfLiteDelegate* delegate = TfLiteExternalDelegateCreate(&options);
  if (delegate == nullptr) made->problem = DeputyLastError();
  return delegate;
}

TfLiteDelegate* CreateFromLibrary(const DelegateRequest& request, Made* made) {
  LoadedDelegate loaded = LoadDelegate({request.path, request.options}, request.settings);
  made->declared = loaded.declared;
  return loaded.handle.release();
}

// One of ours, by the provider's name.
TfLiteDelegate* CreateOwn(const DelegateRequest& request, Made* made) {
  LoadedDelegate loaded = TryLoadDelegate({request.provider, request.options}, request.settings);
  *made = {loaded.problem, loaded.declared};
  return loaded.handle.release();
}

// The path is that of a file of settings.
TfLiteDelegate* CreateStable(const DelegateRequest& request, Made* made) {
  return MakeStableDelegate(request.path, &made->problem);
}

// Options of benchmark_model that are a setting of delegates.
constexpr std::pair<const char*, const char*> kSettingFlags[] = {
    {"max_partitions", "--max_delegated_partitions"},
    {"min_nodes", "--min_nodes_per_partition"},
};

void WarnOfUndeclared(const std::vector<DelegateRequest>& requests,
                      const std::set<std::string>& declared) {
  for (const auto& [key, flag] : kSettingFlags) {
    const auto has_key = [&key = key](const auto& setting) { return setting.first == key; };
    const bool wanted = std::any_of(requests.begin(), requests.end(), [&](const auto& request) {
      return std::any_of(request.settings.begin(), request.settings.end(), has_key);
    });
    if (!wanted || declared.contains(key)) continue;
    std::fprintf(stderr, "deputy: warning: %s is ignored: no delegate here has the option %s\n",
                 flag, key);
  }
}

// The list of delegates: a row here is all that a new one needs.
struct Provider {
  const char* key;      // --use_<key>
  const char* name;     // for reports; where there is a path, the option before it
  const char* help;     // null: asked for by an option of its own, followed by a path
  const char* missing;  // why it is not available here; null if it may be
  TfLiteDelegate* (*create)(const DelegateRequest& request, Made* made);
  void (*destroy)(TfLiteDelegate*);
};

constexpr Provider kProviders[] = {
    {"xnnpack", "XNNPACK", "XNNPACK, where Deputy was built with it", nullptr, &CreateOwn,
     &DeputyPluginDeleteDelegate},
    {"gpu", "GPU", "OpenCL, on a GPU or what else there is", nullptr, &CreateOwn,
     &DeputyPluginDeleteDelegate},
    {"nnapi", "NNAPI", "Android's NNAPI", "NNAPI is a part of Android", nullptr, nullptr},
    {"hexagon", "Hexagon", "Qualcomm's Hexagon", "Deputy has no Hexagon delegate", nullptr,
     nullptr},
    {"coreml", "Core ML", "Apple's Core ML", "Core ML is a part of Apple's systems", nullptr,
     nullptr},
    {"ynnpack", "YNNPACK", "Google's YNNPACK", "Deputy has no YNNPACK delegate", nullptr, nullptr},
    {"external", "--external_delegate_path=", nullptr, nullptr, &CreateExternal,
     &TfLiteExternalDelegateDelete},
    {"library", "--delegate ", nullptr, nullptr, &CreateFromLibrary, &DeputyPluginDeleteDelegate},
    {"stable", "--stable_delegate_settings_file=", nullptr, nullptr, &CreateStable,
     &DeputyPluginDeleteDelegate},
};

const Provider& ProviderOf(const std::string& key) {
  for (const Provider& provider : kProviders) {
    if (key == provider.key) return provider;
  }
  FailUsage("no delegate is called '%s'", key.c_str());
}

// The library reports what goes wrong while a delegate is made; here it becomes part of a warning.
class QuietLibrary {
 public:
  QuietLibrary() { DeputySetDefaultReporter(&Ignore, nullptr); }
  ~QuietLibrary() { DeputySetDefaultReporter(nullptr, nullptr); }
  QuietLibrary(const QuietLibrary&) = delete;
  QuietLibrary& operator=(const QuietLibrary&) = delete;

 private:
  static void Ignore(void*, const char*, va_list) {}
};

struct PlanNode {
  int subgraph, node;
  auto operator<=>(const PlanNode&) const = default;
};

// The nodes of all plans, with whether they belong to a delegate.
std::vector<std::pair<PlanNode, DeputyNodeInfo>> PlanOf(const Session& session) {
  std::vector<std::pair<PlanNode, DeputyNodeInfo>> nodes;
  TfLiteInterpreter* interpreter = session.interpreter();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof(info);
      const TfLiteStatus status = DeputyInterpreterGetNodeInfo(interpreter, s, n, &info);
      if (status == kTfLiteOk && info.plan_position >= 0) nodes.push_back({{s, n}, info});
    }
  }
  return nodes;
}

std::set<PlanNode> NodesOfDelegates(const Session& session, bool of_delegates) {
  std::set<PlanNode> nodes;
  for (const auto& [node, info] : PlanOf(session)) {
    if ((info.builtin_code == kTfLiteBuiltinDelegate) == of_delegates) nodes.insert(node);
  }
  return nodes;
}

}  // namespace

std::vector<const char*> FlaggedProviders() {
  std::vector<const char*> keys;
  for (const Provider& provider : kProviders) {
    if (provider.help != nullptr) keys.push_back(provider.key);
  }
  return keys;
}

const char* DelegateHelp(const std::string& provider) { return ProviderOf(provider).help; }

BenchDelegates::BenchDelegates(const std::vector<DelegateRequest>& requests) {
  std::set<std::string> declared;
  for (const DelegateRequest& request : requests) {
    const Provider& provider = ProviderOf(request.provider);
    DelegateReport report;
    report.name = provider.name;
    report.flag = "--use_" + request.provider;
    if (provider.help == nullptr) {
      report.name = std::filesystem::path(request.path).filename().string();
      report.flag = provider.name + request.path;
    }
    Delegate delegate(nullptr, provider.destroy);
    if (provider.missing != nullptr) {
      report.problem = provider.missing;
    } else {
      const QuietLibrary quiet;
      Made made;
      delegate.reset(provider.create(request, &made));
      report.available = delegate != nullptr;
      if (delegate == nullptr) report.problem = OneLine(made.problem);
      // A value that it refuses is no option that is ignored.
      declared.insert(made.declared.begin(), made.declared.end());
    }
    delegates_.push_back(std::move(delegate));
    reports_.push_back(std::move(report));
  }
  WarnOfUndeclared(requests, declared);
}

void BenchDelegates::WarnOfAbsent(bool required) const {
  for (const DelegateReport& report : reports_) {
    if (report.available) continue;
    const std::string text = report.flag + " is not available: " + report.problem;
    if (required) FailWork("--require_delegate: %s", text.c_str());
    std::fprintf(stderr, "deputy: warning: %s\n", OneLine(text).c_str());
  }
}

void BenchDelegates::Apply(const Session& session) {
  node_count_ = PlanOf(session).size();
  const double start = NowMs();
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (delegates_[i] == nullptr) continue;
    const size_t cpu_before = NodesOfDelegates(session, false).size();
    const std::set<PlanNode> before = NodesOfDelegates(session, true);
    if (TfLiteInterpreterModifyGraphWithDelegate(session.interpreter(), delegates_[i].get()) !=
        kTfLiteOk) {
      if (session.delegation_status().policy == kDeputyPolicyHot) {
        reports_[i].available = false;
        reports_[i].problem = OneLine(DeputyInterpreterLastError(session.interpreter()));
        continue;  // the graph is as it was before
      }
      FailWork("%s: the delegate %s cannot be applied: %s", reports_[i].flag.c_str(),
               reports_[i].name.c_str(), DeputyInterpreterLastError(session.interpreter()));
    }
    reports_[i].nodes = cpu_before - NodesOfDelegates(session, false).size();
    for (const PlanNode& node : NodesOfDelegates(session, true)) {
      reports_[i].partitions += before.count(node) == 0 ? 1 : 0;
    }
  }
  apply_ms_ = NowMs() - start;
  for (const auto& [node, info] : PlanOf(session)) {
    if (info.builtin_code == kTfLiteBuiltinDelegate) continue;
    cpu_nodes_.push_back({node.subgraph, node.node, info.operator_name});
  }
}

std::vector<TfLiteDelegate*> BenchDelegates::handles() const {
  std::vector<TfLiteDelegate*> handles;
  handles.reserve(delegates_.size());
  for (const Delegate& delegate : delegates_) handles.push_back(delegate.get());
  return handles;
}

void BenchDelegates::CheckRequirements(const BenchOptions& options) const {
  for (const DelegateReport& report : reports_) {
    if (!options.require_delegate) break;
    if (report.nodes == 0) {
      FailWork("--require_delegate: %s took none of %zu nodes", report.name.c_str(), node_count_);
    }
  }
  if (options.require_full_delegation && !cpu_nodes_.empty()) {
    FailWork("--require_full_delegation: %zu of %zu nodes run on the CPU, the first is node %d %s",
             cpu_nodes_.size(), node_count_, cpu_nodes_[0].node,
             cpu_nodes_[0].operator_name.c_str());
  }
}

std::string BenchDelegates::Summary() const {
  std::string text;
  for (const DelegateReport& report : reports_) {
    if (report.nodes == 0) continue;
    text += PluralText(report.nodes, "node", "nodes") + " in " + report.name + ", ";
  }
  const bool used = !text.empty();
  text += used ? std::to_string(cpu_nodes_.size()) : PluralText(cpu_nodes_.size(), "node", "nodes");
  return text + (used ? " on the CPU" : " on the CPU, no delegate used");
}

}  // namespace deputy::tools
