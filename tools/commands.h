// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of `deputy`: the options of each, and the function that runs it, in a file with
// the subcommand's name (devices.cc, bench/bench.cc, ...). They do not depend on the command line
// parser: they rely on the checks of single options, reject combinations that such checks cannot
// detect, and end the command early by throwing a ToolError.
//
// A new subcommand `x` needs
//   - a struct XOptions and a function here, and a file x.cc that defines the function;
//   - in command_line.cc, AddXCommand with its options and help, and a line in RunCommandLine;
//   - tests in tests/tools/cli_test.py.
// Only command_line.cc, bench/options.cc, provider_options.cc and option_checks.h, which they
// share, include CLI11: it adds seconds of compile time to each file.
#ifndef DEPUTY_TOOLS_COMMANDS_H_
#define DEPUTY_TOOLS_COMMANDS_H_

#include <string>
#include <vector>

#include "session.h"
#include "tools/bench/config.h"

namespace deputy::tools {

struct RunOptions {
  SessionOptions session;
  std::vector<std::string> inputs;  // "NAME=FILE" or "FILE"
  std::string image, image_input;
  std::string rows, rows_input;  // table, and the input that receives its rows (input_rows.h)
  std::vector<float> range = {0, 1}, mean, scale;
  bool random = false;
  unsigned seed = 0;  // seed of the random values
  std::string labels, output_dir;
  std::string output;   // file with one line of JSON per image or row (item_file.h); "": none
  bool resume = false;  // continue `output`
  int workers = 0;      // number of interpreters for images or rows; 0: chosen by RunItems
  int top_k = 0;  // number of classes to show; 0: one with labels or several images, else none
  int max_values = 1000;
  std::string trace;
  std::vector<std::string> compare;  // delegates to compare
  bool expect_from_name = false, progress = false, profile = false;
  bool require = false;  // fail unless every delegate runs all nodes that it claims
};
void RunModel(const RunOptions& options);

// Runs `deputy bench`, whose options are in bench/config.h.
void BenchModel(const BenchOptions& options);

struct CompareOptions {
  SessionOptions session;           // including the delegates under comparison
  std::string against = "cpu";      // "cpu", or a second model
  std::vector<std::string> inputs;  // "NAME=FILE" or "FILE"; others are random
  unsigned seed = 0;
  double tolerance = 1e-3;  // fraction of a tensor's largest magnitude
  bool json = false;
};
void CompareModel(const CompareOptions& options);

struct InspectOptions {
  SessionOptions session;
  bool json = false;
  bool operators = false, tensors = false, memory = false;  // all false: show everything
};
void InspectModel(const InspectOptions& options);

struct ExplainOptions {
  SessionOptions session;
  std::string require, html, svg, dot;
  int inferences = 0;  // number of inferences to measure; 0: none
  bool json = false, ir = false, check = false;
};
// Runs `deputy explain`. With `check`, delegates are queried and not applied (explain/check.h).
void ExplainModel(const ExplainOptions& options);

struct PluginsOptions {
  std::vector<std::string> paths;
  bool json = false;
};
void ListPlugins(const PluginsOptions& options);

struct DevicesOptions {
  std::vector<std::string> libraries;
  bool json = false;
};
void ListDevices(const DevicesOptions& options);

struct CertifyOptions {
  std::string library;              // "LIB.so,KEY=VALUE"
  std::vector<std::string> models;  // files that replace the generated models
  std::string only, html, junit, badge;
  int jobs = 1, timeout = 60;
  double max_slowdown = 0;  // relative to the CPU; 0: unlimited
  bool json = false, all = false, list = false, progress = false;
};
void CertifyLibrary(const CertifyOptions& options);

struct OpsOptions {
  SessionOptions session;
  bool json = false, markdown = false;
};
void ListOperators(const OpsOptions& options);

struct CompileOptions {
  SessionOptions session;
  std::string output;
  std::string plugins, soc;  // folder with compiler plug-ins, and the device to compile for
  bool keep_original = false;  // the file of --plugin contains the original model, too
  bool check = false;
  double timeout = 0;  // of compiler plug-ins, in seconds; 0: none
};
void CompileModel(const CompileOptions& options);

struct PrecisionOptions {
  RunOptions inputs;         // session, images or rows, and the random seed
  double bound = 1e-2;       // largest error of an output, relative to its largest magnitude
  std::string output;        // file with the plan
  int random_inputs = 16;    // number of random inputs without images and rows
  double measure_ms = 2000;  // time of each measurement
  bool json = false;
};
void ChoosePrecision(const PrecisionOptions& options);

struct ReplayOptions {
  std::string record, model;
  std::string delegate;  // "LIB.so,KEY=VALUE"
  bool inspect = false, json = false;
};
void ReplayRecord(const ReplayOptions& options);

struct ReportOptions {
  SessionOptions session;
  std::string output;
  bool has_model = false;  // the report contains the model
};
void WriteReport(const ReportOptions& options);

struct DivergeOptions {
  std::string a, b;      // records
  double tolerance = 0;  // fraction of a tensor's largest magnitude
  bool json = false;
};
void DivergeRecords(const DivergeOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_COMMANDS_H_
