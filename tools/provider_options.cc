// SPDX-License-Identifier: Apache-2.0
#include "provider_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "providers.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr const char* kGpuBackend = "--gpu_backend";
constexpr const char* kExternalOptions = "--external_delegate_options";

// Returns both spellings of an option, "--use-npu-stub,--use_npu_stub".
std::string BothSpellings(const std::string& name) {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed + "," + name;
}

void AddPathOption(CLI::App* command, const char* name, const char* help, const char* type,
                   const char* group) {
  command->add_option(BothSpellings(name))
      ->description(help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->group(group);
}

void AddFlags(CLI::App* command, const Provider& provider, const std::string& group) {
  for (const ProviderFlag& flag : provider.flags) {
    if (provider.path_flag != nullptr) {  // these flags set options of a library (RequestsInOrder)
      AddPathOption(command, flag.name, flag.help, flag.type, kDelegatesGroup);
      continue;
    }
    CLI::Option* option = flag.type == nullptr
                              ? command->add_flag(BothSpellings(flag.name))
                              : command->add_option(BothSpellings(flag.name))->type_name(flag.type);
    option->description(flag.help)->group(group);
  }
}

// Returns the options of a provider without a path, as given on the command line.
DelegateSettings OptionsOf(const CLI::App& command, const Provider& provider) {
  DelegateSettings pairs;
  for (const ProviderFlag& flag : provider.flags) {
    const CLI::Option* option = command.get_option(flag.name);
    if (option->count() == 0) continue;
    const std::string value = option->results().back();
    if (std::string(flag.name) == kGpuBackend && !value.empty() && value != "cl") {
      FailUsage("%s: expected cl, found '%s'", kGpuBackend, value.c_str());
    }
    const char* meaning = value == "true" ? flag.if_true : flag.if_false;
    if (flag.key == nullptr || (flag.type == nullptr && meaning == nullptr)) continue;
    pairs.emplace_back(flag.key, flag.type == nullptr ? meaning : value);
  }
  return pairs;
}

// Parses "key:value;key:value", the format of benchmark_model.
DelegateSettings Pairs(const std::string& text) {
  DelegateSettings pairs;
  for (const std::string& pair : SplitText(text, ';')) {
    const size_t colon = pair.find(':');
    if (colon == std::string::npos || colon == 0) {
      FailUsage("%s: expected KEY:VALUE;KEY:VALUE, found '%s'", kExternalOptions, text.c_str());
    }
    pairs.emplace_back(pair.substr(0, colon), pair.substr(colon + 1));
  }
  return pairs;
}

void WarnOfIdleFlags(const CLI::App& command, const std::vector<DelegateRequest>& requests) {
  for (const Provider& provider : Providers()) {
    const bool is_requested =
        std::any_of(requests.begin(), requests.end(),
                    [&](const auto& request) { return request.provider == provider.key; });
    if (is_requested || provider.path_flag != nullptr) continue;
    for (const ProviderFlag& flag : provider.flags) {
      if (command.get_option(flag.name)->count() == 0) continue;
      std::fprintf(stderr, "deputy: warning: %s is ignored: %s is not requested by %s\n", flag.name,
                   provider.name, FlagOf(provider).c_str());
    }
  }
}

// Reads the options of one command line in order.
class Reader {
 public:
  explicit Reader(const CLI::App& command) : command_(command) {}

  std::vector<DelegateRequest> Read() {
    std::map<const CLI::Option*, size_t> seen;
    for (const CLI::Option* option : command_.parse_order()) {
      const size_t occurrence = seen[option]++;
      const bool has_value = occurrence < option->results().size();
      Take(*option, has_value ? option->results()[occurrence] : "");
    }
    if (!early_.empty()) FailUsage("%s needs --external_delegate_path", kExternalOptions);
    return std::move(requests_);
  }

 private:
  void Take(const CLI::Option& option, const std::string& value) {
    if (option.check_name("--delegate")) requests_.push_back(RequestOf(value));
    for (const Provider& provider : Providers()) {
      if (provider.kind == ProviderKind::kNone || !option.check_name(FlagOf(provider))) continue;
      if (provider.path_flag == nullptr) {
        if (value == "true") requests_.push_back({provider.key, "", OptionsOf(command_, provider)});
        continue;
      }
      requests_.push_back({provider.key, value});
      if (provider.kind != ProviderKind::kExternal) continue;
      library_ = requests_.size() - 1;
      requests_.back().options = std::move(early_);
      early_.clear();
    }
    if (!option.check_name(kExternalOptions)) return;
    // The options apply to the preceding library, or to the first one if they precede all.
    DelegateSettings& pairs = library_ == SIZE_MAX ? early_ : requests_[library_].options;
    for (auto& pair : Pairs(value)) pairs.push_back(std::move(pair));
  }

  const CLI::App& command_;
  std::vector<DelegateRequest> requests_;
  DelegateSettings early_;
  size_t library_ = SIZE_MAX;  // index of the preceding library
};

}  // namespace

void AddProviderOptions(CLI::App* command, bool shows_all) {
  for (const Provider& provider : Providers()) {
    if (provider.kind == ProviderKind::kNone) continue;
    if (provider.path_flag != nullptr) {
      AddPathOption(command, provider.path_flag, provider.help, "FILE", kDelegatesGroup);
    } else {
      command->add_flag(BothSpellings(FlagOf(provider)))
          ->description(provider.help)
          ->group(kDelegatesGroup);
    }
    AddFlags(command, provider, shows_all ? "For " + FlagOf(provider) : "");
  }
}

void AddPartitionOptions(CLI::App* command, PartitionLimits* limits) {
  command
      ->add_option("--max-delegated-partitions,--max_delegated_partitions", limits->max_partitions,
                   "Maximum partitions per delegate; 0: unlimited")
      ->type_name("N")
      ->group(kDelegatesGroup);
  command
      ->add_option("--min-nodes-per-partition,--min_nodes_per_partition", limits->min_nodes,
                   "Minimum number of nodes per partition")
      ->type_name("N")
      ->group(kDelegatesGroup);
}

std::vector<DelegateRequest> RequestsInOrder(const CLI::App& command) {
  std::vector<DelegateRequest> requests = Reader(command).Read();
  WarnOfIdleFlags(command, requests);
  return requests;
}

}  // namespace deputy::tools
