// SPDX-License-Identifier: Apache-2.0
//
// `deputy run`: fills the inputs of a model, runs it and shows the outputs. A directory of images
// gives one inference per image; file names "..._<label>.png" can serve as expected results.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "accuracy.h"
#include "commands.h"
#include "device_choice.h"
#include "image.h"
#include "npy.h"
#include "output_files.h"
#include "profile.h"
#include "run_items.h"
#include "session.h"
#include "tensor_data.h"
#include "tensor_file.h"
#include "text.h"
#include "trace.h"

namespace deputy::tools {
namespace {

PixelScaling ScalingOf(const RunOptions& options) {
  return {options.range[0], options.range[1], options.mean, options.scale};
}

bool ShowsProgress(const RunOptions& options, size_t images) {
  return options.progress || (images > 1 && isatty(STDERR_FILENO));
}

void Compare(const RunOptions& options) {
  AccuracyTask task;
  task.images = FindImages(options.image);
  task.scaling = ScalingOf(options);
  task.labels = ReadLabels(options.labels);
  task.labels_path = options.labels;
  task.input = options.image_input;
  task.shows_progress = ShowsProgress(options, task.images.size());
  CompareAccuracy(options.session, options.compare, task);
}

// Returns the session's options. For a trace, enables measurement of device times in delegates that
// support it.
SessionOptions SessionOf(const RunOptions& options) {
  SessionOptions session = options.session;
  if (!options.trace.empty()) session.delegate_settings = {{kTimesFlag, "true"}};
  return session;
}

// Runs the subcommand once.
class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options),
        labels_(ReadLabels(options.labels)),
        items_(options),
        session_(SessionOf(options)) {}

  void Run() {
    CheckRequirement();
    FindItemInput();
    FillInputs(&session_);
    if (options_.expect_from_name || options_.profile || !options_.trace.empty()) {
      profile_.emplace(session_, !options_.trace.empty());
    }
    if (options_.expect_from_name) {
      ClassifyImages();
    } else if (items_.are_rows() || items_.count() > 1 || !options_.output.empty()) {
      times_ = RunItems(options_, items_, &session_, item_input_,
                        [this](Session* session) { FillInputs(session); });
    } else {
      if (items_.count() == 1) items_.Write(0, session_.input(item_input_));
      times_.push_back(session_.Invoke());
      CheckLabels(labels_, options_.labels, session_);
      ShowOutputs();
    }
    if (options_.profile && !options_.expect_from_name) PrintProfile();
    if (!options_.trace.empty()) WriteRunTrace();
    WarnOfChoice(options_.session.device_choice);
    session_.WarnIfDegraded();
    CheckRequirement();
    session_.ReportVerification();
    profile_.reset();
    FailOnFindings(session_.Close());
  }

 private:
  // Fails with --require if delegates did less than requested. Called before the first and after
  // the last inference, because delegates may fail at run time.
  void CheckRequirement() const {
    if (!options_.require) return;
    const std::string shortfall = session_.Shortfall();
    if (!shortfall.empty()) FailWork("--require: %s", shortfall.c_str());
  }

  // Selects the input that receives images or rows.
  void FindItemInput() {
    if (items_.count() == 0) return;
    const std::string& name = items_.are_rows() ? options_.rows_input : options_.image_input;
    if (!name.empty()) {
      item_input_ = session_.FindInput(name);
    } else if (session_.input_count() == 0) {
      FailUsage("%s: the model has no inputs", items_.are_rows() ? "--rows" : "--image");
    } else {
      item_input_ = 0;
    }
  }

  // Fills all inputs of a session but that of the items.
  void FillInputs(Session* session) const {
    std::vector<bool> given(static_cast<size_t>(session->input_count()), false);
    if (item_input_ >= 0) given[static_cast<size_t>(item_input_)] = true;
    for (const std::string& assignment : options_.inputs) {
      const size_t index = static_cast<size_t>(InputOf(assignment, *session));
      if (given[index]) FailUsage("input %zu is given twice", index);
      given[index] = true;
      WriteInput(assignment, *session);
    }
    for (int i = 0; i < session->input_count(); ++i) {
      if (given[static_cast<size_t>(i)]) continue;
      TfLiteTensor* tensor = session->input(i);
      if (!options_.random) {
        FailUsage("input %d '%s' (%s %s) is not given: use --input, --image or --random", i,
                  TfLiteTensorName(tensor), TfLiteTypeGetName(TfLiteTensorType(tensor)),
                  ShapeText(ShapeOf(tensor)).c_str());
      }
      WriteRandom(options_.seed + static_cast<uint32_t>(i), tensor);
    }
  }

  // Shows the outputs of one inference as .npy files, as class scores or as numbers.
  void ShowOutputs() {
    if (!options_.output_dir.empty()) {
      SaveOutputs();
    } else if (options_.top_k > 0 || !labels_.empty()) {
      std::string line;
      for (const Guess& guess : BestGuesses(session_, top_k())) {
        line += Format("%s%s %.6f", line.empty() ? "" : " ",
                       LabelText(labels_, guess.index).c_str(), guess.score);
      }
      std::printf("%s\n", line.c_str());
    } else {
      PrintOutputs();
    }
  }

  void PrintOutputs() const {
    for (int i = 0; i < session_.output_count(); ++i) {
      const TfLiteTensor* tensor = session_.output(i);
      const TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
      std::string remark;
      if (quantization.scale != 0) {
        remark = Format(", real values, scale %g, zero point %d",
                        static_cast<double>(quantization.scale), quantization.zero_point);
      }
      const char* name = TfLiteTensorName(tensor);
      std::printf("output %d '%s' %s %s%s\n", i, OneLine(name == nullptr ? "" : name).c_str(),
                  TfLiteTypeGetName(TfLiteTensorType(tensor)), ShapeText(ShapeOf(tensor)).c_str(),
                  remark.c_str());
      PrintTensor(tensor, static_cast<size_t>(options_.max_values));
    }
  }

  void SaveOutputs() const {
    OutputFiles files = OutputFiles::In(options_.output_dir);
    files.Begin("");
    for (int i = 0; i < session_.output_count(); ++i) {
      const TfLiteTensor* tensor = session_.output(i);
      const char* name = TfLiteTensorName(tensor);
      WriteNpy(files.PathOf(i, name == nullptr ? "" : name), TfLiteTensorType(tensor),
               ShapeOf(tensor), TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor));
    }
  }

  // Prints the misclassified images, accuracy, time, and the engines that ran nodes.
  void ClassifyImages() {
    std::vector<std::string> wrong;
    {
      ProgressBar progress(items_.count(), ShowsProgress(options_, items_.count()));
      for (size_t i = 0; i < items_.count(); ++i) {
        const std::string name = items_.NameOf(i);
        const std::string expected = ExpectedLabel(name, labels_, options_.labels);
        items_.Write(i, session_.input(item_input_));
        times_.push_back(session_.Invoke());
        CheckLabels(labels_, options_.labels, session_);
        const Guess best = BestGuesses(session_, 1)[0];
        const std::string answer = LabelText(labels_, best.index);
        if (answer != expected) {
          wrong.push_back(Format("%s: expected %s, found %s (%.3f)", name.c_str(), expected.c_str(),
                                 answer.c_str(), best.score));
        }
        progress.Show(i + 1);
      }
    }
    const size_t right = items_.count() - wrong.size();
    std::printf(
        "%s, %s, %s\n", FileNameOf(options_.session.model).c_str(),
        PluralText(items_.count(), "image", "images").c_str(),
        PluralText(static_cast<size_t>(options_.session.threads), "thread", "threads").c_str());
    std::printf("accuracy  %.2f %% (%zu of %zu)\n",
                100.0 * static_cast<double>(right) / static_cast<double>(items_.count()), right,
                items_.count());
    for (const std::string& line : wrong) std::printf("wrong     %s\n", OneLine(line).c_str());
    PrintProfile();
  }

  void PrintProfile() {
    if (!times_.empty()) {
      const double median = Percentile(&times_, 0.5), p90 = Percentile(&times_, 0.9);
      std::printf("latency   median %s, p90 %s\n", MillisecondsText(median, p90).c_str(),
                  MillisecondsText(p90, p90).c_str());
    }
    std::printf("\n");
    profile_->PrintByOperator(std::max<size_t>(1, times_.size()));
  }

  void WriteRunTrace() const {
    std::vector<TfLiteDelegate*> delegates;
    for (const LoadedDelegate& loaded : session_.delegates()) {
      delegates.push_back(loaded.handle.get());
    }
    WriteTrace(options_.trace, *profile_, delegates, TakeDeviceWork(delegates));
  }

  size_t top_k() const { return options_.top_k == 0 ? 1 : static_cast<size_t>(options_.top_k); }

  const RunOptions& options_;
  std::vector<std::string> labels_;
  Items items_;
  Session session_;
  int item_input_ = -1;  // input that receives images or rows; negative: none
  std::optional<Profile> profile_;
  std::vector<double> times_;
};

}  // namespace

void RunModel(const RunOptions& options) {
  if (options.expect_from_name && options.image.empty()) {
    FailUsage("--expect-from-name needs --image");
  }
  if (!options.rows.empty() && !options.image.empty()) FailUsage("--rows excludes --image");
  if (options.rows.empty() && options.image.empty()) {
    if (!options.output.empty()) FailUsage("--output needs --image or --rows");
    if (options.workers > 0) FailUsage("--workers needs --image or --rows");
  }
  if (options.resume && options.output.empty()) FailUsage("--resume needs --output");
  if (!options.output.empty()) {
    if (!options.output_dir.empty()) FailUsage("--output excludes --output-dir");
    if (options.expect_from_name) FailUsage("--output excludes --expect-from-name");
  }
  if (options.workers > 1 && options.expect_from_name) {
    FailUsage("--workers excludes --expect-from-name");
  }
  if (options.require && !options.compare.empty()) FailUsage("--require excludes --compare");
  if (options.require && options.session.delegates.empty()) {
    FailUsage("--require needs a delegate, e.g. --delegate");
  }
  if (!options.compare.empty()) {
    if (!options.expect_from_name) FailUsage("--compare needs --expect-from-name");
    if (!options.session.delegates.empty()) FailUsage("--compare excludes --delegate");
    Compare(options);
    return;
  }
  Runner(options).Run();
}

}  // namespace deputy::tools
