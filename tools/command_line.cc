// SPDX-License-Identifier: Apache-2.0
//
// Defines the subcommands of `deputy` and their options, except those of `deputy bench`
// (bench/options.cc).
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "core/support/option_list.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "device_choice.h"
#include "option_checks.h"
#include "provider_options.h"
#include "text.h"
#include "tools/bench/options.h"

namespace deputy::tools {
namespace {

// CLI11's layout with shorter options: no type suffixes, no "REQUIRED", no "...", and only Deputy's
// spelling of options that have several.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    std::string text;
    for (const std::string& name : option->get_snames())
      text += (text.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames()) {
      if (name.find('_') == std::string::npos) text += (text.empty() ? "--" : ", --") + name;
    }
    return text;
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    return make_option_name(option, true);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) {
      text += " " + option->get_type_name();
    }
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text;
  }
};

// ---- Options of several subcommands -------------------------------------------------------------

// Implements --layer. The layers `validate` and `verify` are options of the interpreter; the
// library reads the others from DEPUTY_LAYERS.
void AddLayers(const std::vector<std::string>& layers, SessionOptions* options) {
  const char* const value = std::getenv("DEPUTY_LAYERS");
  std::string list = value == nullptr ? "" : value;
  for (const std::string& layer : layers) {
    const auto [name, how] = SplitOption(layer);
    if (name == "validate") {
      if (!how.empty()) FailUsage("layer 'validate': expected no value, found '%s'", how.c_str());
      options->validate = true;
    } else if (name == "verify") {
      options->verify = how.empty() ? "first" : how;
    } else {
      AppendOption(layer, &list);
    }
  }
  setenv("DEPUTY_LAYERS", list.c_str(), 1);
}

// Adds --isolate. The library reads its value from DEPUTY_ISOLATE, and so do programs that the
// command executes.
void AddIsolateOption(CLI::App* command) {
  command
      ->add_option_function<std::string>(
          "--isolate",
          [](const std::string& profile) { setenv("DEPUTY_ISOLATE", profile.c_str(), 1); },
          "Run delegates in processes of their own with these\n"
          "restrictions: device (default), strict or none,\n"
          "and with tensors of dynamic size: device+dynamic ...")
      ->type_name("PROFILE")
      ->expected(0, 1)
      ->default_str("device")
      ->check(CLI::IsMember(
                  {"device", "strict", "none", "device+dynamic", "strict+dynamic", "none+dynamic"})
                  .description(""));
}

// Adds MODEL, --threads, --reference, --precision, --shape, --delegate, --policy, --isolate,
// --layer, --validate and --verify.
void AddSessionOptions(CLI::App* command, SessionOptions* options) {
  command->add_option("MODEL", options->model, "The model, a .tflite or .ms file")
      ->type_name("FILE");
  command->add_option("-t,--threads,--num_threads", options->threads, "Number of threads")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->capture_default_str();
  command->add_flag("--reference", options->reference,
                    "Integer arithmetic bit-exact with TFLite's\nreference kernels");
  command
      ->add_option(
          "--precision", options->precision,
          "Precision of products: float32; bf16 or fp16\n(faster, less exact, on CPUs with "
          "such products)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"float32", "bf16", "fp16"}).description(""));
  command
      ->add_option("--precision-plan", options->precision_plan,
                   "Precision of each node, from 'deputy precision'")
      ->type_name("FILE");
  command->add_option("--shape", options->shapes, "Resize an input, e.g. x=1,224,224,3")
      ->type_name("NAME=DIMS")
      ->expected(1)
      ->take_all();
  command->add_option("--delegate")
      ->description(
          "Apply the delegate of a library, with options\n"
          "KEY=VALUE; several are applied in order")
      ->type_name("LIB[,K=V..]")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--policy", options->policy,
                   "On delegate failure: hot = fall back to the CPU\n"
                   "(default); tflite = fail as TFLite does")
      ->type_name("NAME")
      ->check(CLI::IsMember({"tflite", "hot"}).description(""));
  AddIsolateOption(command);
  command
      ->add_option_function<std::vector<std::string>>(
          "--layer",
          [options](const std::vector<std::string>& layers) { AddLayers(layers, options); },
          "Pass calls of delegates through a layer: deadline,\n"
          "fault, isolate, record, validate or verify; the\nfirst is the outermost")
      ->type_name("NAME[=V]")
      ->expected(1)
      ->take_all();
  command->add_flag("--validate", options->validate,
                    "Enable the delegate validation layer; exit code 1\nif it has findings");
  command
      ->add_option(
          "--verify", options->verify,
          "Compare results of delegates with the CPU's in the\nfirst, always, or every N-th run")
      ->type_name("HOW");
}

void AddDevicePolicyOption(CLI::App* command, SessionOptions* options) {
  command
      ->add_option("--device-policy", options->device_policy,
                   "Apply the delegate of the device that a policy\n"
                   "chooses: performance, efficiency, latency,\n"
                   "prefer-npu or prefer-gpu (see 'deputy devices')")
      ->type_name("NAME")
      ->check(CLI::IsMember(DevicePolicyNames()).description(""));
}

void AddBackgroundOption(CLI::App* command, SessionOptions* options) {
  command->add_flag("--background", options->background,
                    "Prepare delegates on another thread; the CPU runs\n"
                    "the model until they are ready");
}

void AddWeightCacheOption(CLI::App* command, SessionOptions* options) {
  command
      ->add_option("--weight-cache", options->weight_cache,
                   "File with packed constants: written by the first\n"
                   "process, mapped by later ones (docs/weight-cache.md)")
      ->type_name("FILE");
}

void AddPlaceOptions(CLI::App* command, SessionOptions* options) {
  command->add_flag("--place", options->place.requested,
                    "Place nodes on the delegates and the CPU by measured\n"
                    "times");
  command
      ->add_option("--place-budget", options->place.budget_ms,
                   "Time for the measurements of --place in milliseconds\n(default: 10000)")
      ->type_name("MS")
      ->check(CLI::Range(1, 1000000).description(""));
  command
      ->add_option("--place-cache", options->place.directory,
                   "Directory in which --place stores its results")
      ->type_name("DIR");
}

void AddSignatureOption(CLI::App* command, SessionOptions* options) {
  command
      ->add_option("--signature,--signature_to_run_for", options->signature,
                   "Run the subgraph of this signature instead of the\nfirst subgraph")
      ->type_name("KEY");
}

void AddTraceOption(CLI::App* command, std::string* path) {
  command
      ->add_option("--trace", *path,
                   "Write a timeline trace (Perfetto JSON) of threads,\n"
                   "delegates and, if they measure times, devices")
      ->type_name("FILE");
}

// ---- The subcommands ----------------------------------------------------------------------------

void AddImageOptions(CLI::App* command, RunOptions* options) {
  command->add_option("--image", options->image, "Image (PNG, JPEG) or a directory of images")
      ->type_name("PATH");
  command
      ->add_option("--image-input", options->image_input,
                   "Input for the image (default: the first)")
      ->type_name("NAME");
  command
      ->add_option("--range", options->range,
                   "Value range that pixel values 0 and 255 map to;\n"
                   "1,0 inverts")
      ->type_name("LO,HI")
      ->expected(2)
      ->delimiter(',')
      ->default_str("0,1");
  command
      ->add_option("--mean", options->mean,
                   "Instead of --range: (pixel - mean) * scale; one\nnumber or one per channel")
      ->type_name("M,..")
      ->delimiter(',')
      ->excludes("--range");
  command->add_option("--scale", options->scale, "See --mean")
      ->type_name("S,..")
      ->delimiter(',')
      ->excludes("--range");
}

void AddOutputOptions(CLI::App* command, RunOptions* options) {
  command->add_option("--labels", options->labels, "Text file, one label per line")
      ->type_name("FILE");
  command
      ->add_option("-k,--top-k", options->top_k, "Show the N highest entries of the first output")
      ->type_name("N")
      ->check(AtLeast(1));
  command
      ->add_option("-o,--output-dir", options->output_dir, "Write each output to a .npy file there")
      ->type_name("DIR");
  command
      ->add_option("--output", options->output,
                   "With --image or --rows: write one line of JSON per\n"
                   "input, as soon as it is complete (docs/batch.md)")
      ->type_name("FILE");
  command->add_flag("--resume", options->resume,
                    "Continue the file of --output after an interruption");
  command
      ->add_option("--workers", options->workers,
                   "Interpreters for --image and --rows (default: one\n"
                   "per processor; one with delegates or a state)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command
      ->add_option("--max-values", options->max_values,
                   "Maximum number of values printed per output")
      ->type_name("N")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--expect-from-name", options->expect_from_name,
                    "Images are named ..._<label>: print accuracy,\n"
                    "wrong results, latency and owners of nodes");
  command
      ->add_option("--compare", options->compare,
                   "With --expect-from-name: compare the CPU with each\n"
                   "of these delegates in one table")
      ->type_name("LIB[,K=V..]")
      ->expected(1)
      ->take_all();
  command->add_flag("--profile", options->profile, "Print the time and the owner of each operator");
  command->add_flag("--require", options->require,
                    "Exit code 1 unless each delegate is available,\n"
                    "claims a node and runs all nodes that it claims");
  AddTraceOption(command, &options->trace);
  command->add_flag("--progress", options->progress,
                    "Progress bar on standard error (default on a\nterminal)");
}

void AddRunCommand(CLI::App* app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app->add_subcommand("run", "Run a model and show its outputs");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddDevicePolicyOption(command, &options->session);
  AddBackgroundOption(command, &options->session);
  AddWeightCacheOption(command, &options->session);
  AddPlaceOptions(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
  command
      ->add_option("-i,--input", options->inputs,
                   "Raw bytes or .npy for an input, named or\n"
                   "numbered; .npy values are quantised if necessary")
      ->type_name("[NAME=]FILE")
      ->expected(1)
      ->take_all();
  command->add_flag("--random", options->random, "Random values for all other inputs");
  command->add_option("--seed", options->seed, "Random seed")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--rows", options->rows,
                   "One inference per row of a CSV file, - for standard\n"
                   "input, or per .npy, .raw or .bin of a directory")
      ->type_name("PATH");
  command->add_option("--rows-input", options->rows_input, "Input for the row (default: the first)")
      ->type_name("NAME");
  AddImageOptions(command, options.get());
  AddOutputOptions(command, options.get());
  command->footer(
      "Quantised inputs and outputs are shown and expected as real values; .npy\n"
      "outputs contain the stored values.\n\n"
      "  deputy run digits.tflite --image seven.png --labels labels.txt -k 3\n"
      "  deputy run m.tflite -i x=a.npy -i y=b.raw --output-dir out\n"
      "  deputy run m.tflite --image images/ --output results.jsonl --resume");
  command->callback([options, command] {
    SessionOptions& session = options->session;
    session.delegates = RequestsInOrder(*command);
    session.device_choice = ChooseDevice(session.device_policy, &session.delegates);
    RunModel(*options);
  });
}

void AddBenchCommand(CLI::App* app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app->add_subcommand("bench", "Benchmark a model and its operators");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddDevicePolicyOption(command, &options->session);
  AddBackgroundOption(command, &options->session);
  AddWeightCacheOption(command, &options->session);
  AddPlaceOptions(command, &options->session);
  AddBenchOptions(command, options.get());
  AddTraceOption(command, &options->trace);
  command->add_flag("--json", options->json, "Print JSON, with all nodes");
  command->footer(
      "Inputs are random by default, times are in milliseconds. The\n"
      "spellings of TFLite's benchmark_model are accepted: --num_runs, --use_xnnpack,\n"
      "--external_delegate_path, ...\n\n"
      "  deputy bench m.tflite --threads 2 --delegate gpu\n"
      "  deputy bench m.tflite --all-delegates --json");
  command->callback([options, command] {
    FinishBenchOptions(*command, options.get());
    BenchModel(*options);
  });
}

void AddCompareCommand(CLI::App* app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app->add_subcommand("compare", "Compare a delegate or model with another");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
  command->add_option("--against", options->against, "Reference: the CPU, or another model")
      ->type_name("cpu|FILE")
      ->capture_default_str();
  command
      ->add_option("-i,--input", options->inputs,
                   "Raw bytes or .npy for an input, named or\nnumbered; the others are random")
      ->type_name("[NAME=]FILE")
      ->expected(1)
      ->take_all();
  command->add_option("--seed", options->seed, "Random seed")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "Relative tolerance (fraction of the tensor's\nlargest magnitude)")
      ->type_name("REL")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, with all tensors");
  command->footer(
      "Both receive equal inputs. Tensors are compared in the order in which the CPU\n"
      "computes them; those of two models are matched by name. An unexpected NaN is a\n"
      "difference. The exit code is 1 if an output differs.\n\n"
      "  deputy compare m.tflite --delegate ./libmine.so\n"
      "  deputy compare m_int8.tflite --against m_float.tflite --tolerance 0.05");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    CompareModel(*options);
  });
}

void AddInspectCommand(CLI::App* app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      app->add_subcommand("inspect", "Show operators, tensors, signatures, memory map");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  command->add_flag("--operators", options->operators, "Only the operators");
  command->add_flag("--tensors", options->tensors, "Only the tensors");
  command->add_flag("--memory", options->memory, "Only the memory map");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->footer(
      "Runs no inference; memory is planned as for the first inference.\n\n"
      "  deputy inspect m.tflite --memory\n"
      "  deputy inspect m.tflite --delegate npu_stub --operators");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    InspectModel(*options);
  });
}

// Parses the optional number N of --profile. If it is omitted, CLI11 parses a following MODEL as N,
// which is corrected here.
void FinishProfile(const std::string& profile, ExplainOptions* options) {
  if (ParseNumber(profile, &options->inferences)) return;
  if (!options->session.model.empty()) {
    FailUsage("--profile: expected a number of inferences, found '%s'", profile.c_str());
  }
  options->session.model = profile;
  options->inferences = 10;
}

void AddExplainCommand(CLI::App* app) {
  auto options = std::make_shared<ExplainOptions>();
  auto profile = std::make_shared<std::string>("0");
  CLI::App* command = app->add_subcommand("explain", "Show the owner of each node, with reasons");
  AddSessionOptions(command, &options->session);
  AddDevicePolicyOption(command, &options->session);
  AddBackgroundOption(command, &options->session);
  AddWeightCacheOption(command, &options->session);
  AddPlaceOptions(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
  command
      ->add_option("--pin", options->session.pins, "Reserve nodes for one delegate, e.g. op:ADD=0")
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
  command->add_flag("--check", options->check,
                    "Query which nodes delegates support, without\n"
                    "applying them; exit code 1 if a query fails");
  command->add_option("--profile", *profile, "Measure nodes over N inferences")
      ->type_name("[N]")
      ->expected(0, 1)
      ->default_str("10");
  command->add_flag("--ir", options->ir,
                    "Print the compiler's representation of each\n"
                    "partition, for delegates that provide it");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_option("--html", options->html, "Also write an HTML page with the graph")
      ->type_name("FILE");
  command->add_option("--svg", options->svg, "Also write the graph as an SVG image")
      ->type_name("FILE");
  command->add_option("--dot", options->dot, "Also write the graph for Graphviz")
      ->type_name("FILE");
  command->footer(
      "NODES is #12, 1#12 (node 12 of subgraph 1), op:CONV_2D or tensor:NAME, the\n"
      "node that produces that tensor. Delegates are numbered from 0.\n\n"
      "  deputy explain m.tflite --delegate ./libmine.so,threads=2 --profile\n"
      "  deputy explain m.tflite --delegate ./a.so --delegate ./b.so --pin '#3=1'");
  command->callback([options, profile, command] {
    FinishProfile(*profile, options.get());
    SessionOptions& session = options->session;
    session.delegates = RequestsInOrder(*command);
    session.device_choice = ChooseDevice(session.device_policy, &session.delegates);
    ExplainModel(*options);
  });
}

void AddPluginsCommand(CLI::App* app) {
  auto options = std::make_shared<PluginsOptions>();
  CLI::App* command = app->add_subcommand("plugins", "List delegate libraries and their options");
  command->add_option("PATH", options->paths, "Libraries, or directories of libraries")
      ->type_name("PATH");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Without PATH, lists the colon-separated entries of the environment variable\n"
      "DEPUTY_PLUGIN_PATH. Files that cannot be loaded are listed with the reason, and\n"
      "the exit code is 1.\n\n"
      "  deputy plugins\n"
      "  deputy plugins ./libmine.so --json");
  command->callback([options] { ListPlugins(*options); });
}

void AddCompileCommand(CLI::App* app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App* command =
      app->add_subcommand("compile", "Write a model and its compiled programs to a file");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  command->add_option("-o,--output", options->output, "The file to write")->type_name("FILE");
  CLI::Option* const plugins = command
                                   ->add_option("--plugin", options->plugins,
                                                "Compile with compiler plug-ins of LiteRT, for\n"
                                                "programs with libLiteRt.so and a dispatch plug-in")
                                   ->type_name("FOLDER");
  command->add_option("--soc", options->soc, "Device for which --plugin compiles")
      ->type_name("NAME")
      ->needs(plugins);
  command
      ->add_flag("--keep-original", options->keep_original,
                 "Also store the original model, which the CPU runs if the\n"
                 "plug-in of --plugin fails; the file is larger")
      ->needs(plugins);
  command
      ->add_option("--timeout", options->timeout,
                   "Run the plug-ins of --plugin in a process of their\n"
                   "own, at most this time in seconds")
      ->type_name("S")
      ->check(CLI::PositiveNumber.description(""))
      ->needs(plugins);
  command->add_flag("--check", options->check,
                    "Report for the CPU and each delegate whether MODEL is\n"
                    "usable, must be compiled again, or is unusable");
  command->footer(
      "All other commands accept the file as MODEL. A delegate compiles again if its\n"
      "options differ from those of the compilation. With --check the exit code is 1\n"
      "unless all results are 'usable'.\n\n"
      "  deputy compile m.tflite --delegate npu_stub -o m.compiled\n"
      "  deputy run m.compiled --random --delegate npu_stub\n"
      "  deputy compile m.tflite --plugin FOLDER -o m.npu.tflite");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    CompileModel(*options);
  });
}

void AddPrecisionCommand(CLI::App* app) {
  auto options = std::make_shared<PrecisionOptions>();
  CLI::App* command =
      app->add_subcommand("precision", "Choose bf16 or fp16 within a bound on the error");
  RunOptions* const inputs = &options->inputs;
  AddSessionOptions(command, &inputs->session);
  command
      ->add_option("--bound", options->bound,
                   "Largest error of an output, as a fraction of the\noutput's largest magnitude")
      ->type_name("REL")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "The file to write")->type_name("FILE");
  command
      ->add_option("--rows", inputs->rows,
                   "Inputs from a CSV file, or from .npy, .raw or .bin\nfiles of a directory")
      ->type_name("PATH");
  command->add_option("--rows-input", inputs->rows_input, "Input for the row (default: the first)")
      ->type_name("NAME");
  AddImageOptions(command, inputs);
  command
      ->add_option("--inputs", options->random_inputs,
                   "Number of random inputs without --rows and --image")
      ->type_name("N")
      ->check(CLI::Range(2, 100000).description(""))
      ->capture_default_str();
  command->add_option("--seed", inputs->seed, "Random seed")->type_name("N")->capture_default_str();
  command->add_option("--measure", options->measure_ms, "Time of each measurement in milliseconds")
      ->type_name("MS")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, with all nodes");
  command->footer(
      "Every second input is held out: the plan is verified with it. The exit code is\n"
      "1 if all nodes must stay in float32.\n\n"
      "  deputy precision m.tflite --bound 1e-2 --image images/ -o m.precision\n"
      "  deputy run m.tflite --image images/ --precision-plan m.precision");
  command->callback([options, command] {
    if (command->count("--delegate") > 0)
      FailUsage("a plan has nodes on the CPU only: expected no --delegate");
    ChoosePrecision(*options);
  });
}

void AddDevicesCommand(CLI::App* app) {
  auto options = std::make_shared<DevicesOptions>();
  CLI::App* command = app->add_subcommand("devices", "List the devices that delegates can use");
  command->add_option("LIB", options->libraries, "Delegate libraries (default: all that are found)")
      ->type_name("LIB");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Without LIB, lists the devices of Deputy's delegates and of the libraries in\n"
      "DEPUTY_PLUGIN_PATH, or the reasons why there are none. Select a device by the\n"
      "delegate's options, for example --delegate gpu,device=0, or with the option\n"
      "--device-policy of run, bench and explain. The exit code is 1 if there is no\n"
      "device.\n\n"
      "  deputy devices\n"
      "  deputy devices gpu --json");
  command->callback([options] { ListDevices(*options); });
}

void AddOpsCommand(CLI::App* app) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* command = app->add_subcommand("ops", "List operators: all, or a model's");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--markdown", options->markdown, "Without a model: print a Markdown table");
  command->footer(
      "The exit code is 1 if an operator of the model has no kernel.\n\n"
      "  deputy ops --markdown\n"
      "  deputy ops m.tflite");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    ListOperators(*options);
  });
}

void AddCertifyCommand(CLI::App* app) {
  auto options = std::make_shared<CertifyOptions>();
  CLI::App* command = app->add_subcommand("certify", "Run the conformance suite on a delegate");
  command->add_option("LIB", options->library, "The library, with options KEY=VALUE")
      ->type_name("LIB[,K=V..]")
      ->required();
  command
      ->add_option("--model", options->models,
                   "Run the lifecycle tests on this model instead of\non generated ones")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  command->add_option("--only", options->only, "Run only cases whose names contain TEXT")
      ->type_name("TEXT");
  command->add_option("--jobs", options->jobs, "Parallel cases (speed is measured separately)")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--timeout", options->timeout,
                   "Time limit in seconds (default 60) of each\noperation of a case")
      ->type_name("S")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--max-slowdown", options->max_slowdown,
                   "Fail if it takes more than X times the CPU's time\n(default: a remark)")
      ->type_name("X")
      ->check(CLI::PositiveNumber.description(""));
  AddIsolateOption(command);
  command->add_flag("--all", options->all, "Also print passed and skipped cases");
  command->add_flag("--list", options->list, "Print the cases and the expected behaviour only");
  command->add_flag("--progress", options->progress,
                    "Print one line per finished case on standard\nerror (default on a terminal: "
                    "one status line)");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--html", options->html, "Also write an HTML page")->type_name("FILE");
  command->add_option("--junit", options->junit, "Also write JUnit XML")->type_name("FILE");
  command->add_option("--badge", options->badge, "Also write the summary as an SVG")
      ->type_name("FILE");
  command->footer(
      "Each case runs in its own process, so that a crash is one line of the\n"
      "report. The exit code is 1 if the library is not certified. See\n"
      "docs/certify.md.\n\n"
      "  deputy certify ./libmine.so --jobs 2 --html report.html\n"
      "  deputy certify ./libmine.so,threads=2 --only operators/ADD");
  command->callback([options] { CertifyLibrary(*options); });
}

void AddReplayCommand(CLI::App* app) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command =
      app->add_subcommand("replay", "Repeat or show the record of a delegate's calls");
  command->add_option("RECORD", options->record, "The record, see --layer record=FILE")
      ->type_name("FILE")
      ->required();
  command->add_option("MODEL", options->model, "The model, unless it is in the record")
      ->type_name("FILE");
  command
      ->add_option("--delegate", options->delegate,
                   "Repeat the calls with the delegate of this library\n"
                   "and compare its calls and results with the record")
      ->type_name("LIB[,K=V..]");
  command->add_flag("--inspect", options->inspect, "Show the recorded calls");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "The exit code is 1 if a call differs from the record. To run a model with the\n"
      "record in place of its delegate, use the delegate replay.\n\n"
      "  deputy run m.tflite --random --delegate ./libmine.so --layer record=m.rec\n"
      "  deputy replay m.rec --inspect\n"
      "  deputy replay m.rec m.tflite --delegate ./libmine.so\n"
      "  deputy run m.tflite --random --delegate replay,record=m.rec");
  command->callback([options] { ReplayRecord(*options); });
}

void AddReportCommand(CLI::App* app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app->add_subcommand("report", "Write a report about a delegate's fault to one file");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  command->add_option("-o,--output", options->output, "The report, a record with notes")
      ->type_name("FILE")
      ->required();
  command->add_flag("--include-model", options->has_model,
                    "Include the model; otherwise its size and digest");
  command->footer(
      "Runs one inference with random inputs in a process of its own, and records the\n"
      "calls of the delegate. The report contains the inputs and outputs of the\n"
      "delegate, machine, options, environment variables DEPUTY_*, the outcome and the\n"
      "output of 'deputy explain --json'. See 'deputy replay --inspect'.\n\n"
      "  deputy report m.tflite --delegate ./libmine.so -o bug.report");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    WriteReport(*options);
  });
}

void AddDivergeCommand(CLI::App* app) {
  auto options = std::make_shared<DivergeOptions>();
  CLI::App* command =
      app->add_subcommand("diverge", "Find the first difference between two records");
  command->add_option("A", options->a, "A record")->type_name("FILE")->required();
  command->add_option("B", options->b, "The record to compare it with")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--tolerance", options->tolerance,
                   "Relative tolerance (fraction of the tensor's\nlargest magnitude)")
      ->type_name("REL")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Compares the tensors at the borders of partitions, matched by name. The exit\n"
      "code is 1 if the records differ.\n\n"
      "  deputy diverge a.rec b.rec --tolerance 0.001");
  command->callback([options] { DivergeRecords(*options); });
}

}  // namespace

void RunCommandLine(int argc, char** argv) {
  CLI::App app("Runs, measures and inspects TensorFlow Lite models.", "deputy");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(28);
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "Print this help; also after a subcommand");
  app.set_version_flag(
      "--version",
      [] { return std::string("deputy ") + DeputyVersion() + " (TFLite " + TfLiteVersion() + ")"; },
      "Versions of Deputy and of the TFLite API");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success, 1 model rejected or work failed, 2 bad option or\n"
      "unreadable file. See 'deputy COMMAND --help'.\n\n"
      "  deputy run digits.tflite --image seven.png --top-k 3\n"
      "  deputy explain m.tflite --delegate gpu");
  // The help lists the subcommands in the order of these calls.
  AddRunCommand(&app);
  AddBenchCommand(&app);
  AddCompareCommand(&app);
  AddInspectCommand(&app);
  AddExplainCommand(&app);
  AddPluginsCommand(&app);
  AddCompileCommand(&app);
  AddPrecisionCommand(&app);
  AddDevicesCommand(&app);
  AddOpsCommand(&app);
  AddCertifyCommand(&app);
  AddReplayCommand(&app);
  AddDivergeCommand(&app);
  AddReportCommand(&app);
  // Without this check CLI11 would only report that a subcommand is required.
  const std::string word = argc > 1 ? argv[1] : "-";
  const auto is_word = [&](const CLI::App* command) { return command->check_name(word); };
  if (word[0] != '-' && app.get_subcommands(is_word).empty()) {
    throw ToolError(kExitUsage, "no subcommand '" + word + "' (see 'deputy --help')");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);  // --help or --version
  } catch (const CLI::ParseError& error) {
    throw ToolError(kExitUsage, std::string(error.what()) + " (see 'deputy --help')");
  }
}

}  // namespace deputy::tools
