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
#include "input_rows.h"
#include "npy.h"
#include "output_files.h"
#include "profile.h"
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
        images_(options.image.empty() ? std::vector<std::string>{} : FindImages(options.image)),
        rows_(options.rows.empty() ? std::vector<InputRow>{} : ReadRows(options.rows)),
        session_(SessionOf(options)),
        given_(static_cast<size_t>(session_.input_count()), false) {
    scaling_ = ScalingOf(options);
  }

  void Run() {
    CheckRequirement();
    FindItemInput();
    ReadInputFiles();
    FillTheRest();
    if (!options_.output_dir.empty()) output_files_ = OutputFiles::In(options_.output_dir);
    if (options_.expect_from_name || options_.profile || !options_.trace.empty()) {
      profile_.emplace(session_, !options_.trace.empty());
    }
    if (!rows_.empty()) {
      ShowRows();
    } else if (images_.empty()) {
      session_.Invoke();
      CheckLabels(labels_, options_.labels, session_);
      ShowOutputs("");
    } else if (options_.expect_from_name) {
      ClassifyImages();
    } else {
      ShowImages();
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
    if (images_.empty() && rows_.empty()) return;
    const std::string& name = rows_.empty() ? options_.image_input : options_.rows_input;
    if (!name.empty()) {
      item_input_ = session_.FindInput(name);
    } else if (session_.input_count() == 0) {
      FailUsage("%s: the model has no inputs", rows_.empty() ? "--image" : "--rows");
    }
    given_[static_cast<size_t>(item_input_)] = true;
  }

  void ReadInputFiles() {
    for (const std::string& assignment : options_.inputs) {
      const size_t index = static_cast<size_t>(InputOf(assignment, session_));
      if (given_[index]) FailUsage("input %zu is given twice", index);
      given_[index] = true;
      WriteInput(assignment, session_);
    }
  }

  void FillTheRest() {
    for (int i = 0; i < session_.input_count(); ++i) {
      if (given_[static_cast<size_t>(i)]) continue;
      TfLiteTensor* tensor = session_.input(i);
      if (!options_.random) {
        FailUsage("input %d '%s' (%s %s) is not given: use --input, --image or --random", i,
                  TfLiteTensorName(tensor), TfLiteTypeGetName(TfLiteTensorType(tensor)),
                  ShapeText(ShapeOf(tensor)).c_str());
      }
      WriteRandom(options_.seed + static_cast<uint32_t>(i), tensor);
    }
  }

  // Runs the model on one image and records the time.
  void RunImage(const std::string& path) {
    WriteImage(path, scaling_, session_.input(item_input_));
    times_.push_back(session_.Invoke());
    CheckLabels(labels_, options_.labels, session_);
  }

  bool wants_guesses() const {
    return images_.size() > 1 || options_.top_k > 0 || !labels_.empty();
  }

  // Shows outputs as .npy files, as class scores or as numbers. `prefix` distinguishes the files of
  // images.
  void ShowOutputs(const std::string& prefix) {
    if (!options_.output_dir.empty()) {
      SaveOutputs(prefix);
    } else if (wants_guesses()) {
      std::string line = prefix;
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

  void SaveOutputs(const std::string& item) {
    output_files_->Begin(item);
    for (int i = 0; i < session_.output_count(); ++i) {
      const TfLiteTensor* tensor = session_.output(i);
      const char* name = TfLiteTensorName(tensor);
      WriteNpy(output_files_->PathOf(i, name == nullptr ? "" : name), TfLiteTensorType(tensor),
               ShapeOf(tensor), TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor));
    }
  }

  // Runs the model on each image and shows the outputs, as one line if they are class scores.
  void ShowImages() {
    ProgressBar progress(images_.size(), shows_progress() && !isatty(STDOUT_FILENO));
    for (size_t i = 0; i < images_.size(); ++i) {
      RunImage(images_[i]);
      ShowOutputs(images_.size() > 1 ? OneLine(FileNameOf(images_[i])) : "");
      progress.Show(i + 1);
    }
  }

  // Runs the model on each row and saves the outputs, or prints one line: class scores if
  // requested, otherwise all outputs as a row of numbers.
  void ShowRows() {
    ProgressBar progress(rows_.size(), shows_progress() && !isatty(STDOUT_FILENO));
    for (size_t i = 0; i < rows_.size(); ++i) {
      WriteRow(rows_[i], session_.input(item_input_));
      times_.push_back(session_.Invoke());
      CheckLabels(labels_, options_.labels, session_);
      if (!options_.output_dir.empty()) {
        SaveOutputs(rows_[i].file.empty() ? Format("row%zu", i + 1) : rows_[i].name);
      } else if (options_.top_k > 0 || !labels_.empty()) {
        ShowOutputs(OneLine(rows_[i].name));
      } else {
        PrintOutputRow();
      }
      progress.Show(i + 1);
    }
  }

  void PrintOutputRow() const {
    std::string line;
    for (int i = 0; i < session_.output_count(); ++i) {
      for (const double value : ReadReals(session_.output(i))) {
        line += Format("%s%.9g", line.empty() ? "" : ",", value);
      }
    }
    std::printf("%s\n", line.c_str());
  }

  // Prints the misclassified images, accuracy, time, and the engines that ran nodes.
  void ClassifyImages() {
    std::vector<std::string> wrong;
    {
      ProgressBar progress(images_.size(), shows_progress());
      for (size_t i = 0; i < images_.size(); ++i) {
        const std::string expected = ExpectedLabel(images_[i], labels_, options_.labels);
        RunImage(images_[i]);
        const Guess best = BestGuesses(session_, 1)[0];
        const std::string answer = LabelText(labels_, best.index);
        if (answer != expected) {
          wrong.push_back(Format("%s: expected %s, found %s (%.3f)", FileNameOf(images_[i]).c_str(),
                                 expected.c_str(), answer.c_str(), best.score));
        }
        progress.Show(i + 1);
      }
    }
    const size_t right = images_.size() - wrong.size();
    std::printf(
        "%s, %s, %s\n", FileNameOf(options_.session.model).c_str(),
        PluralText(images_.size(), "image", "images").c_str(),
        PluralText(static_cast<size_t>(options_.session.threads), "thread", "threads").c_str());
    std::printf("accuracy  %.2f %% (%zu of %zu)\n",
                100.0 * static_cast<double>(right) / static_cast<double>(images_.size()), right,
                images_.size());
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
  bool shows_progress() const {
    return ShowsProgress(options_, std::max(images_.size(), rows_.size()));
  }

  const RunOptions& options_;
  std::vector<std::string> labels_;
  std::vector<std::string> images_;
  std::vector<InputRow> rows_;
  Session session_;
  std::vector<bool> given_;  // input has a file or receives items, by input
  int item_input_ = 0;
  PixelScaling scaling_;
  std::optional<OutputFiles> output_files_;
  std::optional<Profile> profile_;
  std::vector<double> times_;
};

}  // namespace

void RunModel(const RunOptions& options) {
  if (options.expect_from_name && options.image.empty()) {
    FailUsage("--expect-from-name needs --image");
  }
  if (!options.rows.empty() && !options.image.empty()) FailUsage("--rows excludes --image");
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
