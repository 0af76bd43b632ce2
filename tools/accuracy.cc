// SPDX-License-Identifier: Apache-2.0
//
// Classifies labelled images on several engines and prints the table of accuracy.
#include "accuracy.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "tensor_data.h"
#include "text.h"
#include "tools/explain/report.h"
#include "user_file.h"

namespace deputy::tools {

std::vector<Guess> BestGuesses(const Session& session, size_t count) {
  const std::vector<double> scores = ReadReals(session.output(0));
  if (scores.empty()) FailWork("output 0 is empty: nothing to choose from");
  std::vector<Guess> guesses(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) guesses[i] = {i, scores[i]};
  std::stable_sort(guesses.begin(), guesses.end(),
                   [](const Guess& a, const Guess& b) { return a.score > b.score; });
  guesses.resize(std::min(count, guesses.size()));
  return guesses;
}

std::vector<std::string> ReadLabels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  std::string line;
  for (const char c : ReadFile(path, kMaxLabelsBytes)) {
    if (c == '\n') {
      labels.push_back(OneLine(line));
      line.clear();
    } else {
      line += c;
    }
  }
  if (!line.empty()) labels.push_back(OneLine(line));
  if (labels.empty()) FailUsage("%s: contains no labels", path.c_str());
  return labels;
}

void CheckLabels(const std::vector<std::string>& labels, const std::string& path,
                 const Session& session) {
  if (labels.empty() || session.output_count() == 0) return;
  const size_t values = ElementCount(ShapeOf(session.output(0)));
  if (labels.size() >= values) return;
  FailUsage("%s: contains %s, but output 0 has %zu values", path.c_str(),
            PluralText(labels.size(), "label", "labels").c_str(), values);
}

std::string LabelText(const std::vector<std::string>& labels, size_t index) {
  return index < labels.size() ? labels[index] : std::to_string(index);
}

std::string ExpectedLabel(const std::string& path, const std::vector<std::string>& labels,
                          const std::string& labels_path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const size_t underscore = stem.rfind('_');
  if (underscore == std::string::npos || underscore + 1 == stem.size()) {
    FailUsage("%s: --expect-from-name needs a name that ends in _<label>", path.c_str());
  }
  std::string expected = stem.substr(underscore + 1);
  if (!labels.empty() && std::find(labels.begin(), labels.end(), expected) == labels.end()) {
    FailUsage("%s: '%s' is not in %s", path.c_str(), expected.c_str(), labels_path.c_str());
  }
  return expected;
}

std::string FileNameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// ---- Comparison ---------------------------------------------------------------------------------

namespace {

// The result of classifying the images on one engine.
struct Result {
  std::string name;
  std::string problem;  // the reason if there is no result, otherwise ""
  std::vector<std::string> labels;
  size_t right = 0;
  double median_ms = 0;
  size_t nodes = 0, delegated = 0, partitions = 0;
  std::string left;  // operators left to the CPU
  bool degraded = false;
  size_t findings = 0;  // number of findings of the validation layer
};

// Returns the operators of the nodes left to the CPU, the most frequent first: "4
// DEPTHWISE_CONV_2D, 2 FULLY_CONNECTED".
std::string NodesLeft(const Json& report) {
  std::map<std::string, size_t> counts;
  for (const Json& subgraph : report["subgraphs"]) {
    for (const Json& node : subgraph["nodes"]) {
      if (node["owner"] == -1) ++counts[OneLine(node["operator"].get<std::string>())];
    }
  }
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, count] : sorted) {
    text += Format("%s%zu %s", text.empty() ? "" : ", ", count, name.c_str());
  }
  return text;
}

void Describe(const Session& session, const std::string& model, Result* result) {
  const Json report = ExplainSession(session, model, 0);
  result->nodes = report["nodes"];
  result->delegated = report["delegated"];
  for (const Json& delegate : report["delegates"]) {
    result->partitions += delegate["partitions"].get<size_t>();
    const std::string name = delegate["name"];
    if (!name.empty()) result->name = OneLine(name);
  }
  result->left = NodesLeft(report);
  result->degraded = session.delegation_status().degraded != 0;
}

void Classify(const SessionOptions& options, const AccuracyTask& task, Result* result) {
  Session session(options);
  if (session.input_count() != 1) {
    FailUsage("--compare: expected a model with one input, found %d", session.input_count());
  }
  const int input = task.input.empty() ? 0 : session.FindInput(task.input);
  std::vector<double> times;
  ProgressBar progress(task.images.size(), task.shows_progress);
  for (const std::string& image : task.images) {
    WriteImage(image, task.scaling, session.input(input));
    times.push_back(session.Invoke());
    CheckLabels(task.labels, task.labels_path, session);
    const std::string label = LabelText(task.labels, BestGuesses(session, 1)[0].index);
    result->right += label == ExpectedLabel(image, task.labels, task.labels_path) ? 1 : 0;
    result->labels.push_back(label);
    progress.Show(result->labels.size());
  }
  result->median_ms = Percentile(&times, 0.5);
  Describe(session, options.model, result);
  result->findings = session.Close();
}

std::string RowText(const Result& result) {
  if (!result.problem.empty()) return "not available: " + OneLine(result.problem);
  if (result.delegated == 0) return result.degraded ? "all nodes (degraded)" : "all nodes";
  const std::string left = result.left.empty() ? "nothing" : result.left;
  return result.degraded ? left + " (degraded)" : left;
}

void AddRow(const Result& result, const Result& cpu, Table* table) {
  if (!result.problem.empty()) {
    table->Add({result.name, "-", "-", "-", "-", "-", RowText(result)});
    return;
  }
  size_t same = 0;
  for (size_t i = 0; i < cpu.labels.size(); ++i) same += cpu.labels[i] == result.labels[i];
  const double percent =
      100.0 * static_cast<double>(result.right) / static_cast<double>(result.labels.size());
  table->Add({result.name, Format("%.2f %%", percent),
              &result == &cpu ? "" : Format("%zu of %zu", same, cpu.labels.size()),
              Format("%.3f", result.median_ms),
              Format("%zu of %zu", result.delegated, result.nodes),
              &result == &cpu ? "" : std::to_string(result.partitions), RowText(result)});
}

}  // namespace

void CompareAccuracy(const SessionOptions& session, const std::vector<std::string>& delegates,
                     const AccuracyTask& task) {
  std::vector<Result> results(1 + delegates.size());
  results[0].name = "CPU";
  SessionOptions options = session;
  options.delegates.clear();
  Classify(options, task, &results[0]);
  for (size_t i = 0; i < delegates.size(); ++i) {
    Result& result = results[1 + i];
    const DelegateOption delegate = ParseDelegateOption(delegates[i]);
    result.name = FileNameOf(delegate.library);
    result.problem = TryLoadDelegate(delegate).problem;
    if (!result.problem.empty()) continue;
    options.delegates = {RequestOf(delegates[i])};
    Classify(options, task, &result);
  }
  std::printf("%s, %s, %s\n\n", FileNameOf(session.model).c_str(),
              PluralText(task.images.size(), "image", "images").c_str(),
              PluralText(static_cast<size_t>(session.threads), "thread", "threads").c_str());
  Table table("<>>>>><", {"run by", "accuracy", "agrees with CPU", "median ms", "nodes claimed",
                          "partitions", "left to the CPU"});
  for (const Result& result : results) AddRow(result, results[0], &table);
  table.Print();
  size_t findings = 0;
  for (const Result& result : results) findings += result.findings;
  FailOnFindings(findings);
}

}  // namespace deputy::tools
