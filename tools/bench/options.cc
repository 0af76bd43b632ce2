// SPDX-License-Identifier: Apache-2.0
//
// Defines the options of `deputy bench` and warns of unknown ones.
#include "tools/bench/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "tools/bench/inputs.h"
#include "tools/device_choice.h"
#include "tools/option_checks.h"
#include "tools/provider_options.h"
#include "tools/text.h"
#include "tools/trace.h"

namespace deputy::tools {
namespace {

// Options of benchmark_model that have no effect here. Command lines that contain them keep
// working: each prints a warning, as does any unknown option in that program's spelling, with
// underscores.
struct OptionWithoutEffect {
  const char* name;
  const char* why;
};
constexpr OptionWithoutEffect kWithoutEffect[] = {
    {"benchmark_name", "it is not printed"},
    {"disable_delegate_clustering", "delegates are not clustered"},
    {"enable_builtin_cast_constant_cache", "there is no such cache"},
    {"export_model_runtime_info", "see --json, or deputy explain --json"},
    {"gpu_invoke_loop_times", "only special builds of benchmark_model have it"},
    {"gpu_wait_type", "the GPU delegate selects it"},
    {"memory_footprint_check_interval_ms", "the kernel records the peak"},
    {"model_runtime_info_output_file", "see --json, or deputy explain --json"},
    {"optimize_memory_for_large_tensors", "memory is always planned by lifetime"},
    {"output_prefix", "it is not printed"},
    {"output_proto_filepath", "see --output_filepath"},
    {"release_dynamic_tensors", "memory of dynamic tensors is kept for the next inference"},
    {"result_file_path", "see --json"},
    {"use_caching", "constants are always packed once"},
    {"xnnpack_force_fp16", "the XNNPACK delegate has no such option"},
    {"xnnpack_runtime_flags", "the XNNPACK delegate has no such option"},
    {"xnnpack_weight_cache_file_path", "the XNNPACK delegate has no such option"},
    {"ynnpack_consistent_arithmetic", "there is no YNNPACK"},
    {"ynnpack_fast_math", "there is no YNNPACK"},
    {"ynnpack_no_excess_precision", "there is no YNNPACK"},
    {"ynnpack_static_shape", "there is no YNNPACK"},
};

// Warns of unknown options; ends the command with kExitUsage unless they are spelled
// "--like_this=value", as benchmark_model's flags are.
void WarnOfUnknownOptions(const CLI::App& command) {
  for (const std::string& text : command.remaining()) {
    const std::string name = text.substr(0, text.find('='));
    const bool is_flag = name.starts_with("--");
    const std::string bare = is_flag ? name.substr(2) : name;
    const char* why = nullptr;
    for (const OptionWithoutEffect& row : kWithoutEffect) {
      if (is_flag && bare == row.name) why = row.why;
    }
    const bool is_theirs =
        is_flag && bare.find('_') != std::string::npos && bare.find('-') == std::string::npos;
    if (why == nullptr && !is_theirs) {
      FailUsage("The following argument was not expected: %s (see 'deputy --help')", text.c_str());
    }
    std::fprintf(stderr, "deputy: warning: %s is ignored: %s\n", OneLine(name).c_str(),
                 why == nullptr ? "unknown option" : why);
  }
}

// Values of options that are accepted without effect.
struct Ignored {
  int buffer_entries = 0;
  bool buffer_increase = false;
};

void AddRunOptions(CLI::App* command, BenchOptions* options) {
  const CLI::Validator at_least_one = AtLeast(1);
  const CLI::Validator not_negative = AtLeast(0);
  command->add_option("-n,--runs,--num_runs", options->runs, "Minimum number of inferences")
      ->type_name("N")
      ->check(at_least_one)
      ->capture_default_str();
  command->add_option("--min-secs,--min_secs", options->min_secs, "Minimum duration in seconds")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  command->add_option("--max-secs,--max_secs", options->max_secs, "Maximum duration in seconds")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  command->add_option("--warmup,--warmup_runs", options->warmup, "Warm-up inferences; 0 for none")
      ->type_name("N")
      ->check(not_negative)
      ->capture_default_str();
  command
      ->add_option("--warmup-secs,--warmup_min_secs", options->warmup_secs,
                   "Minimum warm-up in seconds")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  // The default of benchmark_model is -1, no delay.
  command
      ->add_option("--run-delay,--run_delay", options->run_delay,
                   "Pause in seconds after each inference")
      ->type_name("S")
      ->capture_default_str();
  command
      ->add_option("--run-frequency,--run_frequency", options->run_frequency,
                   "Inferences per second, instead of a fixed pause;\nlate ones start immediately")
      ->type_name("HZ");
  command->add_flag("--dry-run,--dry_run", options->dry_run, "Do everything except inferences");
}

// Adds the options that print more than the times.
void AddShowOptions(CLI::App* command, BenchOptions* options) {
  constexpr const char* kGroup = "Additional output";
  const auto flag = [&](const char* spellings, bool* value, const char* help) {
    command->add_flag(spellings, *value, help)->group(kGroup);
  };
  flag("--verbose", &options->verbose, "All options with their values");
  flag("--print-preinvoke-state,--print_preinvoke_state", &options->preinvoke_state,
       "Tensors, memory and nodes before inferences");
  flag("--print-postinvoke-state,--print_postinvoke_state", &options->postinvoke_state,
       "Tensors, memory and nodes after inferences");
  flag("--report-peak-memory-footprint,--report_peak_memory_footprint", &options->peak_memory,
       "Memory, in the format of benchmark_model");
  flag("--list-signatures,--list_signatures", &options->list_signatures,
       "Signatures with inputs and outputs");
  const auto width = [&](const char* spellings, unsigned* value, const char* help) {
    command->add_option(spellings, *value, help)
        ->type_name("N")
        ->check(AtLeast(4))
        ->capture_default_str()
        ->group(kGroup);
  };
  width("--tensor-name-display-length,--tensor_name_display_length", &options->columns.name,
        "Column width of names in these lists");
  width("--tensor-type-display-length,--tensor_type_display_length", &options->columns.type,
        "Column width of types");
  width("--alloc-type-display-length,--alloc_type_display_length", &options->columns.memory,
        "Column width of memory kinds");
  command
      ->add_option("--output-filepath,--output_filepath", options->output_file,
                   "Write the bytes of all outputs to this file,\nconcatenated")
      ->type_name("FILE")
      ->group(kGroup);
}

// Adds benchmark_model's flag for the setting of --precision.
void AddPrecisionFlag(CLI::App* command, SessionOptions* options) {
  command->add_flag(
      "--allow-fp16,--allow_fp16",
      [options](int64_t count) { options->precision = count > 0 ? "fp16" : "float32"; },
      "Same as --precision fp16");
}

void AddInputOptions(CLI::App* command, BenchInputOptions* inputs) {
  command->add_option("--input-layer,--input_layer", inputs->layers, "Inputs to reshape, e.g. a,b")
      ->type_name("NAMES")
      ->group("Inputs");
  command
      ->add_option("--input-layer-shape,--input_layer_shape", inputs->shapes,
                   "Their shapes, e.g. 1,224,224,3:1,10")
      ->type_name("DIMS")
      ->group("Inputs");
  command
      ->add_option("--input-layer-value-range,--input_layer_value_range", inputs->ranges,
                   "Range of random values, e.g. a,0,255")
      ->type_name("RANGES")
      ->group("Inputs");
  command
      ->add_option("--input-layer-value-files,--input_layer_value_files", inputs->files,
                   "Values from raw or .npy files, e.g. a:x.npy")
      ->type_name("FILES")
      ->group("Inputs");
  command->add_option("--seed", inputs->seed, "Random seed")
      ->type_name("N")
      ->capture_default_str()
      ->group("Inputs");
}

void AddDelegateOptions(CLI::App* command, BenchOptions* options) {
  AddProviderOptions(command, true);
  const auto number = [&](const char* spellings, auto* value, const char* help) {
    command->add_option(spellings, *value, help)->type_name("N")->group(kDelegatesGroup);
  };
  AddPartitionOptions(command, &options->session.limits);
  number("--first-delegate-node-index,--first_delegate_node_index",
         &options->session.first_delegate_node, "Nodes before this one stay on the CPU");
  number("--last-delegate-node-index,--last_delegate_node_index",
         &options->session.last_delegate_node, "Nodes after this one stay on the CPU");
  command
      ->add_flag("--require-delegate,--require_delegate", options->require_delegate,
                 "Fail unless each delegate claims a node")
      ->group(kDelegatesGroup);
  command
      ->add_flag("--require-full-delegation,--require_full_delegation",
                 options->require_full_delegation, "Fail if a node stays on the CPU")
      ->group(kDelegatesGroup);
  command
      ->add_flag("--show-cpu-nodes,--show_cpu_nodes", options->show_cpu_nodes,
                 "List the nodes that no delegate claimed")
      ->group(kDelegatesGroup);
  command
      ->add_flag("--all-delegates,--all_delegates", options->all_delegates,
                 "Print one table instead: the CPU, each available\ndelegate and each given one, "
                 "separately")
      ->group(kDelegatesGroup);
}

void AddProfileOptions(CLI::App* command, BenchOptions* options, std::shared_ptr<Ignored> ignored) {
  command->add_option("--nodes", options->nodes, "Show the N most expensive nodes")
      ->type_name("N")
      ->check(AtLeast(0))
      ->capture_default_str()
      ->group("Profile");
  command
      ->add_flag("--enable-op-profiling,--enable_op_profiling", options->whole_profile,
                 "Also profile all nodes in execution order;\n=false disables profiling")
      ->group("Profile");
  command
      ->add_option("--op-profiling-output-mode,--op_profiling_output_mode", options->profile_mode,
                   "stdout or csv")
      ->type_name("MODE")
      ->check(CLI::IsMember({"stdout", "csv"}).description(""))
      ->capture_default_str()
      ->group("Profile");
  command
      ->add_option(
          "--op-profiling-output-file,--op_profiling_output_file,--profiling_output_csv_file",
          options->profile_file, "File for the CSV profile")
      ->type_name("FILE")
      ->group("Profile");
  command
      ->add_option("--max-profiling-buffer-entries,--max_profiling_buffer_entries",
                   ignored->buffer_entries, "Accepted without effect: there is no such limit")
      ->type_name("N")
      ->group("Profile");
  command
      ->add_flag(
          "--allow-dynamic-profiling-buffer-increase,"
          "--allow_dynamic_profiling_buffer_increase",
          [ignored](int64_t count) { ignored->buffer_increase = count > 0; },
          "Accepted without effect: there is no such limit")
      ->group("Profile");
}

// Returns "--like_this" and the value of every option, from the command line or the default.
std::vector<std::pair<std::string, std::string>> ValuesOf(const CLI::App& command) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || option->check_name("--help")) continue;
    std::string value;
    for (const std::string& each : option->results()) value += (value.empty() ? "" : " ") + each;
    if (value.empty()) value = option->get_default_str();
    // Prefer the spelling of benchmark_model if there is one.
    const std::vector<std::string>& names = option->get_lnames();
    for (const std::string& name : names) {
      const bool is_theirs = name.find('_') != std::string::npos;
      if (is_theirs || &name == &names.back()) values.emplace_back("--" + name, value);
    }
  }
  return values;
}

// Rejects options that apply to a single run and have no column in the ranking.
void CheckRanking(const CLI::App& command) {
  for (const char* name :
       {"--verify", "--trace", "--dry_run", "--output_filepath", "--require_delegate",
        "--require_full_delegation", "--show_cpu_nodes", "--enable_op_profiling",
        "--op_profiling_output_file", "--print_preinvoke_state", "--print_postinvoke_state",
        "--device-policy", "--background", "--place"}) {
    if (command.get_option(name)->count() > 0) FailUsage("--all-delegates excludes %s", name);
  }
}

}  // namespace

void AddBenchOptions(CLI::App* command, BenchOptions* options) {
  command->allow_extras();  // see WarnOfUnknownOptions
  command->add_option("--graph", options->session.model, "Same as MODEL")->type_name("FILE");
  AddPrecisionFlag(command, &options->session);
  AddRunOptions(command, options);
  AddShowOptions(command, options);
  AddInputOptions(command, &options->inputs);
  AddDelegateOptions(command, options);
  AddProfileOptions(command, options, std::make_shared<Ignored>());
}

void FinishBenchOptions(const CLI::App& command, BenchOptions* options) {
  WarnOfUnknownOptions(command);
  if (options->all_delegates) CheckRanking(command);
  if (options->verbose) options->values = ValuesOf(command);
  options->delegates = RequestsInOrder(command);
  options->session.device_choice =
      ChooseDevice(options->session.device_policy, &options->delegates);
  options->settings = WithThreads({}, options->session.threads);
  const DelegateSettings limits = SettingsOf(options->session.limits);
  options->settings.insert(options->settings.end(), limits.begin(), limits.end());
  for (DelegateRequest& request : options->delegates) request.settings = options->settings;
  const bool nothing_requested = options->delegates.empty();
  if ((options->require_delegate || options->require_full_delegation) && nothing_requested) {
    FailUsage("%s needs a delegate, e.g. %s",
              options->require_delegate ? "--require_delegate" : "--require_full_delegation",
              "--external_delegate_path");
  }
  // count() includes "--enable_op_profiling=false", so the value decides.
  const CLI::Option* profiling = command.get_option("--enable_op_profiling");
  options->profile = profiling->count() == 0 || options->whole_profile;
  if (!options->profile_file.empty()) options->profile_mode = "csv";
  if (!options->profile && options->profile_mode == "csv") {
    FailUsage("--op_profiling_output_mode=csv needs a profile: drop --enable_op_profiling=false");
  }
  if (!options->trace.empty()) {
    if (!options->profile) FailUsage("--trace needs a profile: drop --enable_op_profiling=false");
    for (DelegateRequest& request : options->delegates) {
      request.settings.emplace_back(kTimesFlag, "true");
    }
  }
  AddInputShapes(options->inputs, &options->session);
}

}  // namespace deputy::tools
