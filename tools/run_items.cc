// SPDX-License-Identifier: Apache-2.0
#include "run_items.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "accuracy.h"
#include "deputy/delegate_serialization.h"
#include "deputy/deputy_process.h"
#include "item_file.h"
#include "json.h"
#include "npy.h"
#include "ordered_work.h"
#include "tensor_data.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

struct SavedOutput {
  std::string name;
  TfLiteType type;
  std::vector<int> shape;
  std::vector<char> bytes;
};

struct ItemResult {
  double milliseconds = 0;
  std::string line;                  // printed or written to the file
  bool is_failure = false;           // `line` has an error
  std::vector<SavedOutput> outputs;  // with --output-dir
};

std::string NumberText(double value) {
  return std::isfinite(value) ? Format("%.9g", value) : "null";
}

// Returns true if results depend on earlier inferences or on the interpreter.
bool KeepsState(const Session& session) {
  TfLiteInterpreter* const interpreter = session.interpreter();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter, s); ++t) {
      const TfLiteTensor* const tensor = DeputyInterpreterGetTensor(interpreter, s, t);
      if (tensor->is_variable || tensor->type == kTfLiteResource) return true;
    }
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof info;
      DeputyInterpreterGetNodeInfo(interpreter, s, n, &info);
      const std::string_view name = info.operator_name == nullptr ? "" : info.operator_name;
      if (name.starts_with("RANDOM_") || name == "MULTINOMIAL") return true;
    }
  }
  return false;
}

// Returns the option that several interpreters do not support; "" if there is none.
std::string OptionForOneWorker(const RunOptions& options, const Session& first) {
  const std::pair<const char*, bool> used[] = {{"--profile", options.profile},
                                               {"--trace", !options.trace.empty()},
                                               {"--validate", first.validates()},
                                               {"--verify", !options.session.verify.empty()},
                                               {"--background", options.session.background},
                                               {"--place", options.session.place.requested},
                                               {"--require", options.require}};
  for (const auto& [name, is_used] : used) {
    if (is_used) return name;
  }
  return "";
}

// Returns the number of interpreters for any number of items. Ends the command with kExitUsage if
// --workers requests several and they are not possible.
size_t MaxWorkers(const RunOptions& options, const Session& first) {
  const std::string excluding = OptionForOneWorker(options, first);
  if (options.workers > 1 && !excluding.empty()) {
    FailUsage("--workers excludes %s", excluding.c_str());
  }
  if (options.workers > 1 && KeepsState(first)) {
    FailUsage(
        "--workers: the model keeps a state between inferences, so that one interpreter runs it");
  }
  if (options.workers > 0) return static_cast<size_t>(options.workers);
  const bool needs_one =
      !excluding.empty() || !options.session.delegates.empty() || KeepsState(first);
  const int useful = needs_one ? 1 : DeputyGetProcessorCount() / options.session.threads;
  return static_cast<size_t>(std::max(1, useful));
}

// Returns a fingerprint of the contents of a file; "" without a path.
std::string FingerprintOf(const std::string& path) {
  if (path.empty()) return "";
  const UserFile file(path);
  DeputyFingerprint fingerprint;
  DeputyFingerprintInit(&fingerprint);
  std::vector<char> part;
  for (uint64_t at = 0; at < file.size(); at += part.size()) {
    part.resize(std::min<uint64_t>(file.size() - at, 1 << 20));
    file.Read(part);
    DeputyFingerprintAdd(&fingerprint, part.data(), part.size());
  }
  return Format("%016llx%016llx", static_cast<unsigned long long>(fingerprint.words[0]),
                static_cast<unsigned long long>(fingerprint.words[1]));
}

// Returns the fingerprints of the files in a list of "NAME=FILE" or "FILE".
std::vector<std::string> FingerprintsOf(const std::vector<std::string>& inputs) {
  std::vector<std::string> fingerprints;
  fingerprints.reserve(inputs.size());
  for (const std::string& input : inputs) {
    fingerprints.push_back(FingerprintOf(input.substr(input.find('=') + 1)));
  }
  return fingerprints;
}

// Describes the settings that the lines of the file depend on.
std::string SettingsText(const RunOptions& options) {
  const SessionOptions& session = options.session;
  Json delegates = Json::array();
  for (const DelegateRequest& request : session.delegates) {
    std::string text = request.path.empty() ? request.provider : request.path;
    for (const auto& [key, value] : request.options) text += "," + key + "=" + value;
    delegates.push_back(text);
  }
  return JsonText({{"version", DeputyVersion()},
                   {"model", FingerprintOf(session.model)},
                   {"delegates", delegates},
                   {"device_policy", session.device_policy},
                   {"policy", session.policy},
                   {"max_partitions", session.limits.max_partitions},
                   {"min_nodes", session.limits.min_nodes},
                   {"reference", session.reference},
                   {"precision", session.precision},
                   {"shapes", session.shapes},
                   {"signature", session.signature},
                   {"inputs", options.inputs},
                   {"input_files", FingerprintsOf(options.inputs)},
                   {"image_input", options.image_input},
                   {"rows_input", options.rows_input},
                   {"random", options.random},
                   {"seed", options.seed},
                   {"range", options.range},
                   {"mean", options.mean},
                   {"scale", options.scale},
                   {"labels", FingerprintOf(options.labels)},
                   {"top_k", options.top_k}});
}

// ---- Results ------------------------------------------------------------------------------------

std::vector<SavedOutput> SavedOutputs(const Session& session) {
  std::vector<SavedOutput> saved;
  for (int i = 0; i < session.output_count(); ++i) {
    const TfLiteTensor* const tensor = session.output(i);
    const char* const data = static_cast<const char*>(TfLiteTensorData(tensor));
    saved.push_back({NameOf(tensor), TfLiteTensorType(tensor), ShapeOf(tensor),
                     std::vector<char>(data, data + TfLiteTensorByteSize(tensor))});
  }
  return saved;
}

// Returns all outputs as one row of numbers.
std::string RowText(const Session& session) {
  std::string line;
  for (int i = 0; i < session.output_count(); ++i) {
    for (const double value : ReadReals(session.output(i))) {
      line += Format("%s%.9g", line.empty() ? "" : ",", value);
    }
  }
  return line;
}

// Returns different names of the outputs, as deputy.batch does: output_0, output_1, … replace empty
// and repeated ones.
std::vector<std::string> OutputNames(const Session& session) {
  std::vector<std::string> names;
  for (int i = 0; i < session.output_count(); ++i) {
    std::string name = NameOf(session.output(i));
    const auto is_used = [&] { return std::find(names.begin(), names.end(), name) != names.end(); };
    if (name.empty() || is_used()) name = Format("output_%d", i);
    while (is_used()) name += '_';
    names.push_back(std::move(name));
  }
  return names;
}

// Runs single items and formats their results.
class ItemRunner {
 public:
  ItemRunner(const RunOptions& options, const Items& items, int input)
      : options_(options), items_(items), input_(input), labels_(ReadLabels(options.labels)) {}

  ItemResult Run(Session* session, size_t item) const {
    ItemResult result;
    try {
      items_.Write(item, session->input(input_));
      result.milliseconds = session->Invoke();
    } catch (const ToolError& error) {
      if (options_.output.empty()) throw;
      result.is_failure = true;
      result.line = ItemFile::ErrorLineOf(items_.NameOf(item), error.what());
      return result;
    }
    CheckLabels(labels_, options_.labels, *session);
    if (!options_.output.empty()) {
      result.line = ItemFile::LineOf(items_.NameOf(item), MembersOf(*session));
    } else if (!options_.output_dir.empty()) {
      result.outputs = SavedOutputs(*session);
    } else if (items_.are_rows() && !shows_classes()) {
      result.line = RowText(*session);
    } else {
      result.line = OneLine(items_.NameOf(item));
      for (const Guess& guess : BestGuesses(*session, top_k())) {
        result.line += Format(" %s %.6f", LabelText(labels_, guess.index).c_str(), guess.score);
      }
    }
    return result;
  }

 private:
  bool shows_classes() const { return options_.top_k > 0 || !labels_.empty(); }
  size_t top_k() const { return static_cast<size_t>(std::max(1, options_.top_k)); }

  // Returns the members of a line in the file after the name.
  std::string MembersOf(const Session& session) const {
    std::string text;
    if (shows_classes()) {
      for (const Guess& guess : BestGuesses(session, top_k())) {
        text += std::string(text.empty() ? "" : ",") +
                "{\"label\":" + JsonText(Json(LabelText(labels_, guess.index))) +
                ",\"score\":" + NumberText(guess.score) + "}";
      }
      return "\"classes\":[" + text + "]";
    }
    const std::vector<std::string> names = OutputNames(session);
    for (int i = 0; i < session.output_count(); ++i) {
      std::string values;
      for (const double value : ReadReals(session.output(i))) {
        values += (values.empty() ? "" : ",") + NumberText(value);
      }
      text +=
          (i == 0 ? "" : ",") + JsonText(Json(names[static_cast<size_t>(i)])) + ":[" + values + "]";
    }
    return "\"outputs\":{" + text + "}";
  }

  const RunOptions& options_;
  const Items& items_;
  const int input_;
  const std::vector<std::string> labels_;
};

// Writes the results in the order of the items.
class ItemWriter {
 public:
  ItemWriter(const RunOptions& options, const Items& items) : items_(items) {
    if (!options.output.empty()) {
      file_.emplace(options.output, options.resume, SettingsText(options), items.count(),
                    [&items](size_t item) { return items.NameOf(item); });
    }
    if (!options.output_dir.empty()) files_ = OutputFiles::In(options.output_dir);
  }

  // Number of items whose results an earlier run has written.
  size_t done() const { return file_.has_value() ? file_->done() : 0; }
  // Number of failed items, including those of an earlier run.
  size_t failures() const { return failures_ + (file_.has_value() ? file_->failed_before() : 0); }

  void Write(size_t item, const ItemResult& result) {
    failures_ += result.is_failure ? 1 : 0;
    if (file_.has_value()) {
      file_->Append(result.line);
    } else if (files_.has_value()) {
      files_->Begin(items_.StemOf(item));
      for (size_t i = 0; i < result.outputs.size(); ++i) {
        const SavedOutput& output = result.outputs[i];
        WriteNpy(files_->PathOf(static_cast<int>(i), output.name), output.type, output.shape,
                 output.bytes.data(), output.bytes.size());
      }
    } else {
      std::printf("%s\n", result.line.c_str());
    }
  }

  void Finish() {
    if (file_.has_value()) file_->Finish();
  }

 private:
  const Items& items_;
  std::optional<ItemFile> file_;
  std::optional<OutputFiles> files_;
  size_t failures_ = 0;
};

}  // namespace

// ---- Items --------------------------------------------------------------------------------------

Items::Items(const RunOptions& options)
    : scaling_{options.range[0], options.range[1], options.mean, options.scale},
      images_(options.image.empty() ? std::vector<std::string>() : FindImages(options.image)),
      rows_(options.rows.empty() ? std::vector<InputRow>() : ReadRows(options.rows)) {}

std::string Items::NameOf(size_t item) const {
  return are_rows() ? rows_[item].name : FileNameOf(images_[item]);
}

std::string Items::StemOf(size_t item) const {
  return are_rows() && rows_[item].file.empty() ? Format("row%zu", item + 1) : NameOf(item);
}

void Items::Write(size_t item, TfLiteTensor* input) const {
  if (are_rows()) {
    WriteRow(rows_[item], input);
  } else {
    WriteImage(images_[item], scaling_, input);
  }
}

std::vector<double> RunItems(const RunOptions& options, const Items& items, Session* first,
                             int input, const std::function<void(Session*)>& fill) {
  const ItemRunner runner(options, items, input);
  const size_t max_workers = MaxWorkers(options, *first);
  ItemWriter writer(options, items);
  const size_t begin = writer.done(), count = items.count();
  const size_t workers = std::min(max_workers, std::max<size_t>(1, count - begin));
  std::vector<std::unique_ptr<Session>> others;
  std::vector<Session*> sessions = {first};
  while (sessions.size() < workers) {
    SessionOptions shared = options.session;
    shared.shares_model_of = first;
    others.push_back(std::make_unique<Session>(shared));
    fill(others.back().get());
    sessions.push_back(others.back().get());
  }
  const bool prints_lines = options.output.empty() && options.output_dir.empty();
  const bool shows_progress = options.progress || (isatty(STDERR_FILENO) != 0 && count > 1);
  std::vector<double> times;
  {
    ProgressBar progress(count, shows_progress && !(prints_lines && isatty(STDOUT_FILENO) != 0),
                         begin);
    OrderedWork<ItemResult> work(begin, count, workers);
    work.Execute([&](size_t worker, size_t item) { return runner.Run(sessions[worker], item); },
                 [&](size_t item, const ItemResult& result) {
                   writer.Write(item, result);
                   if (!result.is_failure) times.push_back(result.milliseconds);
                   progress.Show(item + 1);
                 });
  }
  writer.Finish();
  for (const std::unique_ptr<Session>& session : others) session->WarnIfDegraded();
  if (!options.output.empty()) {
    std::printf("%s: %s in %s, %zu from an earlier run, %zu failed\n", options.output.c_str(),
                PluralText(count, "line", "lines").c_str(),
                PluralText(workers, "interpreter", "interpreters").c_str(), begin,
                writer.failures());
  }
  if (writer.failures() > 0) {
    FailWork("%s: %s", options.output.c_str(),
             PluralText(writer.failures(), "input failed", "inputs failed").c_str());
  }
  return times;
}

}  // namespace deputy::tools
