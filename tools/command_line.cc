// SPDX-License-Identifier: Apache-2.0
//
// See command_line.h. The options of `deputy bench` are in bench_options.cc.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bench_options.h"
#include "commands.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "option_checks.h"
#include "provider_options.h"
#include "text.h"

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

// Adds MODEL, --threads, --reference, --precision, --shape, --delegate and --policy.
void AddSessionOptions(CLI::App* command, SessionOptions* options) {
  command->add_option("MODEL", options->model, "The model, a .tflite or .ms file")
      ->type_name("FILE");
  command->add_option("-t,--threads,--num_threads", options->threads, "Threads to work with")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->capture_default_str();
  command->add_flag("--reference", options->reference,
                    "Integer arithmetic bit-exact with TFLite's\nreference kernels");
  command
      ->add_option("--precision", options->precision,
                   "Of products: float32; or bf16, where the CPU has\nit: faster, less exact")
      ->type_name("NAME")
      ->check(CLI::IsMember({"float32", "bf16"}).description(""));
  command->add_option("--shape", options->shapes, "Resize an input first, e.g. x=1,224,224,3")
      ->type_name("NAME=DIMS")
      ->expected(1)
      ->take_all();
  command->add_option("--delegate")
      ->description(
          "Give nodes to the delegate of a library, with\n"
          "options KEY=VALUE; several are applied in order")
      ->type_name("LIB[,K=V..]")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--policy", options->policy,
                   "When a delegate fails: hot (the default), the CPU\n"
                   "stands in; tflite, as TFLite does")
      ->type_name("NAME")
      ->check(CLI::IsMember({"tflite", "hot"}).description(""));
  command->add_flag(
      "--validate", options->validate,
      "Watch delegates for breaches of their contract;\nwith findings the exit code is 1");
  command
      ->add_option(
          "--verify", options->verify,
          "Compare delegates' results with the CPU's: first,\nalways, or in every N-th run")
      ->type_name("HOW");
}

void AddSignatureOption(CLI::App* command, SessionOptions* options) {
  command
      ->add_option("--signature,--signature_to_run_for", options->signature,
                   "Run what this signature names, not the first\nsubgraph")
      ->type_name("KEY");
}

void AddTraceOption(CLI::App* command, std::string* path) {
  command
      ->add_option("--trace", *path,
                   "Write when what ran on which thread, delegate and\n"
                   "device, for Perfetto; delegates that\n"
                   "can take the times of their devices do so")
      ->type_name("FILE");
}

// ---- The subcommands ----------------------------------------------------------------------------

void AddPictureOptions(CLI::App* command, RunOptions* options) {
  command->add_option("--image", options->image, "Picture (PNG, JPEG) or a folder of pictures")
      ->type_name("PATH");
  command
      ->add_option("--image-input", options->image_input,
                   "Input that takes the picture (else the first)")
      ->type_name("NAME");
  command
      ->add_option("--range", options->range,
                   "Values that black and white become; 1,0 turns\n"
                   "dark on light around")
      ->type_name("LO,HI")
      ->expected(2)
      ->delimiter(',')
      ->default_str("0,1");
  command
      ->add_option("--mean", options->mean,
                   "Instead of --range: (pixel - mean) * scale, one\nnumber or one per channel")
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
  command->add_option("-k,--top-k", options->top_k, "Show the best N entries of the first output")
      ->type_name("N")
      ->check(AtLeast(1));
  command
      ->add_option("-o,--output-dir", options->output_dir,
                   "Write outputs there as .npy, one file each")
      ->type_name("DIR");
  command->add_option("--max-values", options->max_values, "Print no more values per output")
      ->type_name("N")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--expect-from-name", options->expect_from_name,
                    "Pictures are named ..._<label>: print accuracy,\n"
                    "the wrong ones, latency, who ran what");
  command
      ->add_option("--compare", options->compare,
                   "With --expect-from-name: the same on the CPU and\n"
                   "through each of these delegates, as one table")
      ->type_name("LIB[,K=V..]")
      ->expected(1)
      ->take_all();
  command->add_flag("--profile", options->profile, "Print who ran which operator");
  command->add_flag("--require", options->require,
                    "Exit code 1 unless each delegate is here, takes a\n"
                    "node and runs all that it takes");
  AddTraceOption(command, &options->trace);
  command->add_flag("--progress", options->progress,
                    "Progress bar on standard error (the default on\na terminal)");
}

void AddRunCommand(CLI::App* app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app->add_subcommand("run", "Give a model inputs, run it, show the outputs");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
  command
      ->add_option("-i,--input", options->inputs,
                   "Raw bytes or .npy for an input, named or\n"
                   "numbered; .npy values are quantised if need be")
      ->type_name("[NAME=]FILE")
      ->expected(1)
      ->take_all();
  command->add_flag("--random", options->random, "Random values for inputs not given");
  command->add_option("--seed", options->seed, "Other random values for another number")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--rows", options->rows,
                   "One inference per row of a CSV file, - for standard\n"
                   "input, or per .npy, .raw or .bin of a folder")
      ->type_name("PATH");
  command
      ->add_option("--rows-input", options->rows_input, "Input that takes the row (else the first)")
      ->type_name("NAME");
  AddPictureOptions(command, options.get());
  AddOutputOptions(command, options.get());
  command->footer(
      "Quantised inputs and outputs are given and shown as real values; .npy\n"
      "outputs hold what the tensor holds.\n\n"
      "  deputy run digits.tflite --image seven.png --labels labels.txt -k 3\n"
      "  deputy run m.tflite -i x=a.npy -i y=b.raw --output-dir out");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    RunModel(*options);
  });
}

void AddBenchCommand(CLI::App* app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app->add_subcommand("bench", "Measure a model, whole and by operator");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddBenchOptions(command, options.get());
  AddTraceOption(command, &options->trace);
  command->add_flag("--json", options->json, "Print JSON, with all nodes");
  command->footer(
      "Inputs are random unless said otherwise, times in milliseconds. The\n"
      "spellings of TFLite's benchmark_model work too: --num_runs, --use_xnnpack,\n"
      "--external_delegate_path, ...");
  command->callback([options, command] {
    FinishBenchOptions(*command, options.get());
    BenchModel(*options);
  });
}

void AddCompareCommand(CLI::App* app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app->add_subcommand("compare", "Show where a delegate or model differs");
  AddSessionOptions(command, &options->session);
  AddSignatureOption(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
  command->add_option("--against", options->against, "The CPU without delegates, or another model")
      ->type_name("cpu|FILE")
      ->capture_default_str();
  command
      ->add_option("-i,--input", options->inputs,
                   "Raw bytes or .npy for an input, named or\nnumbered; the others are random")
      ->type_name("[NAME=]FILE")
      ->expected(1)
      ->take_all();
  command->add_option("--seed", options->seed, "Other random values for another number")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "Differences that are none, as a part of a tensor's\nlargest value")
      ->type_name("PART")
      ->check(AtLeast(0))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, with all tensors");
  command->footer(
      "Both get the same inputs. Tensors are compared in the order in which the CPU\n"
      "computes them, those of two models by name. NaN where none is expected is a\n"
      "difference. The exit code is 1 when an output differs.\n\n"
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
  command->footer("Nothing is run; memory is planned as for the first inference.");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    InspectModel(*options);
  });
}

// The N of --profile is optional; without it CLI11 parses a following MODEL as N.
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
  CLI::App* command =
      app->add_subcommand("explain", "Show who runs which node, why, and what would help");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  AddPartitionOptions(command, &options->session.limits);
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
  command->add_flag("--check", options->check,
                    "Ask delegates which nodes they would take; apply\n"
                    "and run nothing. Exit code 1 if one cannot say");
  command->add_option("--profile", *profile, "Measure nodes, over N inferences")
      ->type_name("[N]")
      ->expected(0, 1)
      ->default_str("10");
  command->add_flag("--ir", options->ir,
                    "Print each partition as its delegate's compiler has\n"
                    "it, if it has one");
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_option("--html", options->html, "Write a page with the graph, too")
      ->type_name("FILE");
  command->add_option("--svg", options->svg, "Write the graph as a picture, too")
      ->type_name("FILE");
  command->add_option("--dot", options->dot, "Write the graph for Graphviz, too")
      ->type_name("FILE");
  command->footer(
      "NODES is #12, 1#12 (node 12 of subgraph 1), op:CONV_2D or tensor:NAME, the\n"
      "node that gives out that tensor. Delegates are numbered from 0.\n\n"
      "  deputy explain m.tflite --delegate ./libmine.so,threads=2 --profile\n"
      "  deputy explain m.tflite --delegate ./a.so --delegate ./b.so --pin '#3=1'");
  command->callback([options, profile, command] {
    FinishProfile(*profile, options.get());
    options->session.delegates = RequestsInOrder(*command);
    ExplainModel(*options);
  });
}

void AddPluginsCommand(CLI::App* app) {
  auto options = std::make_shared<PluginsOptions>();
  CLI::App* command = app->add_subcommand("plugins", "List delegate libraries and their options");
  command->add_option("PATH", options->paths, "Libraries, or folders of libraries")
      ->type_name("PATH");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Without PATH, those of the environment variable DEPUTY_PLUGIN_PATH, separated\n"
      "by colons. Files that cannot be loaded are listed with the reason and make\n"
      "the exit code 1.");
  command->callback([options] { ListPlugins(*options); });
}

void AddDevicesCommand(CLI::App* app) {
  auto options = std::make_shared<DevicesOptions>();
  CLI::App* command = app->add_subcommand("devices", "List the devices that delegates can work on");
  command->add_option("LIB", options->libraries, "Delegate libraries (else gpu, our own)")
      ->type_name("LIB");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "The number of a device is what the delegate's option takes:\n"
      "--delegate gpu,device=0. Without any device the exit code is 1.");
  command->callback([options] { ListDevices(*options); });
}

void AddOpsCommand(CLI::App* app) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* command = app->add_subcommand("ops", "List operators: all, or a model's");
  AddSessionOptions(command, &options->session);
  AddProviderOptions(command, false);
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--markdown", options->markdown, "Without a model: as a table for a page");
  command->footer("The exit code is 1 when an operator of the model has no kernel.");
  command->callback([options, command] {
    options->session.delegates = RequestsInOrder(*command);
    ListOperators(*options);
  });
}

void AddCertifyCommand(CLI::App* app) {
  auto options = std::make_shared<CertifyOptions>();
  CLI::App* command =
      app->add_subcommand("certify", "Try a delegate library in 200 cases, judge it");
  command->add_option("LIB", options->library, "The library, with options KEY=VALUE")
      ->type_name("LIB[,K=V..]")
      ->required();
  command
      ->add_option("--model", options->models,
                   "Try its life on this model, not on small ones of\noperators that it takes")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  command->add_option("--only", options->only, "Only cases that have TEXT in their names")
      ->type_name("TEXT");
  command->add_option("--jobs", options->jobs, "Cases at a time (speed is measured alone)")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--timeout", options->timeout,
                   "Seconds (else 60) for each step of a case, as an\ninference")
      ->type_name("S")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--max-slowdown", options->max_slowdown,
                   "Not certified if it takes more than X times the\nCPU's time (else a remark)")
      ->type_name("X")
      ->check(CLI::PositiveNumber.description(""));
  command->add_flag("--all", options->all, "Print what is right, too");
  command->add_flag("--list", options->list, "Print the cases and what must hold, run none");
  command->add_flag("--progress", options->progress,
                    "A line on standard error for each case that is\ndone (a terminal has one line "
                    "for all, else)");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--html", options->html, "Write a page, too")->type_name("FILE");
  command->add_option("--junit", options->junit, "Write JUnit's XML, too")->type_name("FILE");
  command->add_option("--badge", options->badge, "Write the summary as an SVG, too")
      ->type_name("FILE");
  command->footer(
      "Each case runs in a process of its own, so that a crash is a line of the\n"
      "report. The exit code is 1 when the library is not certified. See\n"
      "docs/certify.md.");
  command->callback([options] { CertifyLibrary(*options); });
}

}  // namespace

void RunCommandLine(int argc, char** argv) {
  CLI::App app("Runs, measures and shows TensorFlow Lite models.", "deputy");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(28);
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "This text; also after a subcommand");
  app.set_version_flag(
      "--version",
      [] { return std::string("deputy ") + DeputyVersion() + " (TFLite " + TfLiteVersion() + ")"; },
      "Versions of Deputy and of the TFLite API");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 model refused or work failed, 2 bad option or\n"
      "unreadable file. 'deputy run --help' and so on tell the rest.");
  // The order here is the order in the help.
  AddRunCommand(&app);
  AddBenchCommand(&app);
  AddCompareCommand(&app);
  AddInspectCommand(&app);
  AddExplainCommand(&app);
  AddPluginsCommand(&app);
  AddDevicesCommand(&app);
  AddOpsCommand(&app);
  AddCertifyCommand(&app);
  // Without this check CLI11 would only report that a subcommand is required.
  const std::string word = argc > 1 ? argv[1] : "-";
  const auto is_word = [&](const CLI::App* command) { return command->check_name(word); };
  if (word[0] != '-' && app.get_subcommands(is_word).empty()) {
    throw ToolError(kExitUsage, "no subcommand '" + word + "' (see 'deputy --help')");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);  // --help or --version
  } catch (const CLI::ParseError& error) {
    throw ToolError(kExitUsage, std::string(error.what()) + " (see 'deputy --help')");
  }
}

}  // namespace deputy::tools
