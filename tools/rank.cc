// SPDX-License-Identifier: Apache-2.0
//
// Ranks the delegates. Each contender runs in its own process: memory peaks are independent, a
// crash becomes a row, and libraries, devices and caches initialised by one contender do not affect
// the next. The CPU runs first; the others inherit its outputs and compare with them.
#include "rank.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "delegate_option.h"
#include "deputy/deputy.h"
#include "difference.h"
#include "in_child.h"
#include "json.h"
#include "providers.h"
#include "tensor_data.h"
#include "text.h"
#include "tools/bench/delegates.h"
#include "tools/bench/inputs.h"
#include "tools/bench/report.h"
#include "tools/bench/series.h"

namespace deputy::tools {
namespace {

// The measurements of a child, as sent through the pipe. Times are in milliseconds.
struct Figures {
  double init, first, median, p99;
  size_t runs;
  size_t added_bytes, peak_bytes;  // growth and peak of the child's resident memory
  size_t nodes, node_count, partitions;
  size_t findings;  // number of findings of the validation layer
  double difference, relative;
  size_t nans;      // number of NaN on one side only
  bool is_applied;  // false: the reason follows, and only the findings are valid
  bool is_degraded;
};
static_assert(std::is_trivially_copyable_v<Figures>);

struct Contender {
  std::string name;
  std::vector<DelegateRequest> requests;  // at most one; none for the CPU
  std::string problem;                    // the reason if there are no figures, otherwise ""
  Figures figures = {};
};

// ---- Contenders ---------------------------------------------------------------------------------

std::string LibraryOf(const DelegateRequest& request) {
  return request.path.empty() ? request.provider : request.path;
}

std::string FileOf(const std::string& library) {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(LibraryPath(library), error);
  return error ? library : path.string();
}

// Returns the library with the options that distinguish it from other requests of the same one.
std::string LongNameOf(const DelegateRequest& request) {
  std::string name = request.path.empty() ? request.provider : NameOf(request);
  for (const auto& [key, value] : request.options) name.append(",").append(key + "=" + value);
  return name;
}

// Returns path, name and error of each library that `deputy plugins` lists, one per line. Runs in a
// child, because loading a faulty library may end the process.
std::string ListPlugins() {
  setenv("DEPUTY_PLUGIN_PROBE", "1", 1);
  const QuietReports quiet;
  const std::unique_ptr<DeputyPluginList, void (*)(DeputyPluginList*)> list(
      DeputyPluginListCreate(nullptr), &DeputyPluginListDelete);
  std::string lines;
  for (size_t i = 0; i < DeputyPluginListGetCount(list.get()); ++i) {
    DeputyPluginInfo info = {};
    info.struct_size = sizeof info;
    const DeputyPlugin* plugin = DeputyPluginListGetPlugin(list.get(), i);
    const bool is_fine = plugin != nullptr && DeputyPluginDescribe(plugin, &info) == kTfLiteOk;
    lines += DeputyPluginListGetPath(list.get(), i);
    lines.append("\n").append(is_fine ? OneLine(info.name) : "").append("\n");
    lines.append(is_fine ? "" : OneLine(DeputyPluginListGetError(list.get(), i))).append("\n");
  }
  return lines;
}

// Returns Deputy's own delegates, those in plug-in directories, and those of the command line.
// Duplicates are removed, except on the command line, where options may differ.
std::vector<Contender> FindContenders(const BenchOptions& options) {
  std::vector<Contender> contenders(1);
  contenders[0].name = "CPU";
  const DelegateSettings& settings = options.settings;
  std::set<std::string> known;
  for (const DelegateRequest& request : options.delegates) {
    known.insert(FileOf(LibraryOf(request)));
  }
  for (const Provider& provider : Providers()) {
    if (provider.kind != ProviderKind::kOwn || !known.insert(FileOf(provider.key)).second) continue;
    contenders.push_back({provider.key, {{provider.key, "", {}, settings}}, ""});
  }
  const ChildResult listed = RunInChild(&ListPlugins);
  std::vector<std::string> lines;
  std::istringstream text(listed.bytes);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (size_t i = 0; i + 2 < lines.size(); i += 3) {
    if (!known.insert(FileOf(lines[i])).second) continue;
    const std::string file = std::filesystem::path(lines[i]).filename().string();
    contenders.push_back({lines[i + 1].empty() ? file : lines[i + 1],
                          {{kGivenLibrary, lines[i], {}, settings}},
                          lines[i + 2]});
  }
  if (!listed.problem.empty()) {
    contenders.push_back({"other plug-ins", {}, "listing failed: " + listed.problem});
  }
  for (const DelegateRequest& request : options.delegates) {
    contenders.push_back({LongNameOf(request), {request}, ""});
  }
  return contenders;
}

// ---- In the child -------------------------------------------------------------------------------

// Returns the numbers of all outputs, concatenated; strings and similar types are skipped.
std::vector<double> Outputs(const Session& session) {
  std::vector<double> all;
  for (int i = 0; i < session.output_count(); ++i) {
    if (!IsNumeric(TfLiteTensorType(session.output(i)))) continue;
    const std::vector<double> values = ReadReals(session.output(i));
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Compares each output separately, because the relative difference refers to its largest magnitude.
void CompareOutputs(const Session& session, std::span<const double> expected, Figures* figures) {
  if (Outputs(session).size() != expected.size()) {
    FailWork("its outputs have %zu values, the CPU's have %zu", Outputs(session).size(),
             expected.size());
  }
  for (int i = 0; i < session.output_count(); ++i) {
    if (!IsNumeric(TfLiteTensorType(session.output(i)))) continue;
    const std::vector<double> values = ReadReals(session.output(i));
    const auto difference = Compare(values, expected.first(values.size()));
    expected = expected.subspan(values.size());
    figures->difference = std::max(figures->difference, difference->largest);
    figures->relative = std::max(figures->relative, difference->relative());
    figures->nans += difference->lone_nans;
  }
}

std::string Bytes(const Figures& figures) {
  return {reinterpret_cast<const char*>(&figures), sizeof figures};
}

// Measures one contender. Returns the figures, followed by the outputs of the first inference if
// `expected` is null.
std::string MeasureOne(const BenchOptions& options, const Contender& contender,
                       const std::vector<double>* expected) {
  const size_t at_start = PeakResidentBytes();
  BenchDelegates delegates(contender.requests, {});
  for (const DelegateReport& report : delegates.reports()) {
    if (!report.available) FailWork("%s", report.problem.c_str());
  }
  const std::unique_ptr<Session> session = OpenForBench(options.session);
  delegates.Apply(*session);
  const double init = session->load_ms() + session->prepare_ms() + delegates.apply_ms();
  Figures figures = {};
  for (const DelegateReport& report : delegates.reports()) {
    if (!report.available) {
      figures.findings = session->Close();
      return Bytes(figures) + "it cannot be applied: " + report.problem;
    }
    figures.nodes = report.nodes;
    figures.partitions = report.partitions;
  }
  figures.node_count = delegates.node_count();
  (void)FillInputs(options.inputs, *session);
  const double first = session->Invoke();
  const std::vector<double> outputs = Outputs(*session);
  if (expected != nullptr) CompareOutputs(*session, *expected, &figures);
  (void)WarmUp(session.get(), options);
  const BenchTimes times = SummariseTimes(init, {first}, Measure(session.get(), SeriesOf(options)));
  figures.init = times.init;
  figures.first = times.first;
  figures.median = times.median;
  figures.p99 = times.p99;
  figures.runs = times.runs;
  figures.peak_bytes = PeakResidentBytes();
  figures.added_bytes = figures.peak_bytes - at_start;
  const DeputyDelegationStatus status = session->delegation_status();
  figures.is_degraded = status.degraded != 0 || status.recomputed_nodes > 0;
  figures.findings = session->Close();
  figures.is_applied = true;
  std::string bytes = Bytes(figures);
  if (expected == nullptr) {
    bytes.append(reinterpret_cast<const char*>(outputs.data()), outputs.size() * sizeof(double));
  }
  return bytes;
}

// ---- The table ----------------------------------------------------------------------------------

void MeasureAll(const BenchOptions& options, std::vector<Contender>* contenders) {
  std::vector<double> expected;
  ProgressBar progress(contenders->size(), isatty(STDERR_FILENO) != 0);
  for (size_t i = 0; i < contenders->size(); ++i) {
    Contender& contender = (*contenders)[i];
    if (!contender.problem.empty()) continue;
    const ChildResult result =
        RunInChild([&] { return MeasureOne(options, contender, i == 0 ? nullptr : &expected); });
    contender.problem = result.problem;
    if (i == 0 && result.exit_code != 0) throw ToolError(result.exit_code, result.problem);
    if (result.exit_code != 0) continue;
    std::memcpy(&contender.figures, result.bytes.data(), sizeof(Figures));
    if (!contender.figures.is_applied) contender.problem = result.bytes.substr(sizeof(Figures));
    if (i == 0) {
      expected.resize((result.bytes.size() - sizeof(Figures)) / sizeof(double));
      std::memcpy(expected.data(), result.bytes.data() + sizeof(Figures),
                  expected.size() * sizeof(double));
    }
    progress.Show(i + 1);
  }
}

std::string Remark(const Contender& contender) {
  const Figures& figures = contender.figures;
  if (!contender.problem.empty()) return "not available: " + contender.problem;
  if (contender.requests.empty()) return "";
  if (figures.is_degraded) return "degraded: it failed, the CPU replaced it";
  return figures.nodes == 0 ? "claims no node" : "";
}

std::string DifferenceText(const Figures& figures) {
  if (figures.nans > 0) return Format("%zu NaN", figures.nans);
  return Format("%.3g", figures.difference);
}

void PrintTable(const std::vector<Contender>& sorted, const Figures& cpu) {
  Table table(">>>>>>>><<", {"init ms", "first ms", "median ms", "p99 ms", "speed-up", "memory",
                             "nodes claimed", "difference", "run by", ""});
  for (const Contender& contender : sorted) {
    const Figures& figures = contender.figures;
    const std::string remark = OneLine(Remark(contender)), name = OneLine(contender.name);
    if (!contender.problem.empty()) {
      table.Add({"-", "-", "-", "-", "-", "-", "-", "-", name, remark});
      continue;
    }
    const bool is_cpu = contender.requests.empty();
    table.Add({Format("%.3f", figures.init), Format("%.3f", figures.first),
               Format("%.3f", figures.median), Format("%.3f", figures.p99),
               Format("%.2f", cpu.median / figures.median), BytesText(figures.added_bytes),
               Format("%zu of %zu", figures.nodes, figures.node_count),
               is_cpu ? "" : DifferenceText(figures), name, remark});
  }
  table.Print();
}

Json ContenderJson(const Contender& contender) {
  const Figures& figures = contender.figures;
  Json row = {{"name", contender.name}, {"available", contender.problem.empty()}};
  if (!contender.requests.empty()) row["library"] = FileOf(LibraryOf(contender.requests[0]));
  if (!contender.problem.empty()) {
    row["problem"] = contender.problem;
    return row;
  }
  row.update({{"init_ms", figures.init},
              {"first_ms", figures.first},
              {"median_ms", figures.median},
              {"p99_ms", figures.p99},
              {"runs", figures.runs},
              {"added_bytes", figures.added_bytes},
              {"resident_peak_bytes", figures.peak_bytes},
              {"nodes", figures.nodes},
              {"partitions", figures.partitions}});
  if (contender.requests.empty()) return row;
  row.update({{"largest_difference", figures.difference},
              {"relative_difference", figures.relative},
              {"nan", figures.nans},
              {"degraded", figures.is_degraded}});
  return row;
}

}  // namespace

void RankDelegates(const BenchOptions& options) {
  std::vector<Contender> contenders = FindContenders(options);
  MeasureAll(options, &contenders);
  const Figures cpu = contenders[0].figures;
  size_t findings = 0;
  for (const Contender& contender : contenders) findings += contender.figures.findings;
  std::stable_sort(contenders.begin(), contenders.end(), [](const auto& a, const auto& b) {
    if (!a.problem.empty() || !b.problem.empty()) return a.problem.empty() && !b.problem.empty();
    return a.figures.median < b.figures.median;
  });
  if (options.json) {
    Json rows = Json::array();
    for (const Contender& contender : contenders) rows.push_back(ContenderJson(contender));
    const Json report = {{"model", options.session.model},
                         {"threads", options.session.threads},
                         {"kernels", DeputyCpuTable()},
                         {"node_count", cpu.node_count},
                         {"ranking", rows}};
    std::printf("%s\n", JsonText(report, 2).c_str());
  } else {
    std::printf("model      %s\nthreads    %d, kernels %s\n\n",
                OneLine(options.session.model).c_str(), options.session.threads, DeputyCpuTable());
    PrintTable(contenders, cpu);
  }
  FailOnFindings(findings);
}

}  // namespace deputy::tools
