// SPDX-License-Identifier: Apache-2.0
//
// See session.h.
#include "tools/session.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "c_api/c_api_experimental.h"
#include "tools/tensor_data.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// A model that cannot even be opened is the caller's mistake, not the model's.
void CheckReadable(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) FailUsage("%s: is a folder", path.c_str());
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  std::fclose(file);
}

// Whether the whole of `text` is a number in [0, INT_MAX].
bool ParseNumber(const std::string& text, int* out_number) {
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || errno != 0 || number > INT_MAX) return false;
  *out_number = static_cast<int>(number);
  return true;
}

}  // namespace

void AddSessionOptions(CLI::App* command, SessionOptions* options) {
  command->add_option("MODEL", options->model, "The model, a .tflite file")->type_name("FILE");
  command->add_option("-t,--threads,--num_threads", options->threads, "Threads to work with")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->capture_default_str();
  command->add_flag("--reference", options->reference,
                    "Integer arithmetic bit-exact with TFLite's\nreference kernels");
  command->add_option("--shape", options->shapes, "Resize an input first, e.g. x=1,224,224,3")
      ->type_name("NAME=DIMS")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--delegate", options->delegates,
                   "Give nodes to the delegate of a library, with\n"
                   "options KEY=VALUE; several are applied in order")
      ->type_name("LIB[,K=V..]")
      ->expected(1)
      ->take_all();
}

Session::Session(const SessionOptions& options)
    : path_(options.model),
      model_(nullptr, &TfLiteModelDelete),
      interpreter_(nullptr, &TfLiteInterpreterDelete) {
  if (path_.empty()) FailUsage("no model given (see 'deputy --help')");
  CheckReadable(path_);
  for (const std::string& text : options.delegates) {
    delegates_.push_back(MakeDelegate(ParseDelegateOption(text)));
  }
  double start = NowMs();
  model_.reset(TfLiteModelCreateFromFileWithErrorReporter(path_.c_str(), &Collect, this));
  if (model_ == nullptr) Refuse("is no usable model");
  const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> settings(
      TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
  TfLiteInterpreterOptionsSetNumThreads(settings.get(), options.threads);
  TfLiteInterpreterOptionsSetErrorReporter(settings.get(), &Collect, this);
  if (options.reference) {
    DeputyInterpreterOptionsSetArithmetic(settings.get(), kDeputyArithmeticReference);
  }
  interpreter_.reset(TfLiteInterpreterCreate(model_.get(), settings.get()));
  if (interpreter_ == nullptr) Refuse("cannot be run");
  load_ms_ = NowMs() - start;
  for (const std::string& shape : options.shapes) Resize(shape);
  start = NowMs();
  ApplyDelegates();
  if (TfLiteInterpreterAllocateTensors(interpreter_.get()) != kTfLiteOk) {
    Refuse("cannot be prepared");
  }
  prepare_ms_ = NowMs() - start;
  report_.clear();
}

void Session::Collect(void* session, const char* format, va_list args) {
  auto* self = static_cast<Session*>(session);
  if (!self->report_.empty()) return;
  char text[2048];
  std::vsnprintf(text, sizeof(text), format, args);
  self->report_ = text;
}

void Session::Refuse(const char* what) const {
  FailWork("%s %s: %s", path_.c_str(), what,
           report_.empty() ? "the library gave no reason" : report_.c_str());
}

void Session::Resize(const std::string& assignment) {
  const size_t equals = assignment.rfind('=');
  std::vector<int> dims;
  bool readable = equals != std::string::npos;
  for (size_t at = equals + 1; readable && at <= assignment.size();) {
    const size_t comma = std::min(assignment.find(',', at), assignment.size());
    int dim = 0;
    readable = ParseNumber(assignment.substr(at, comma - at), &dim);
    dims.push_back(dim);
    at = comma + 1;
  }
  if (!readable) FailUsage("--shape %s: expected NAME=1,2,3", assignment.c_str());
  const int index = FindInput(assignment.substr(0, equals));
  if (TfLiteInterpreterResizeInputTensor(interpreter_.get(), index, dims.data(),
                                         static_cast<int32_t>(dims.size())) != kTfLiteOk) {
    Refuse("cannot take this shape");
  }
}

void Session::ApplyDelegates() {
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (TfLiteInterpreterModifyGraphWithDelegate(interpreter_.get(), delegates_[i].get()) ==
        kTfLiteOk) {
      continue;
    }
    Refuse(Format("cannot be given to delegate %zu", i + 1).c_str());
  }
}

int Session::input_count() const {
  return TfLiteInterpreterGetInputTensorCount(interpreter_.get());
}
int Session::output_count() const {
  return TfLiteInterpreterGetOutputTensorCount(interpreter_.get());
}
TfLiteTensor* Session::input(int index) const {
  return TfLiteInterpreterGetInputTensor(interpreter_.get(), index);
}
const TfLiteTensor* Session::output(int index) const {
  return TfLiteInterpreterGetOutputTensor(interpreter_.get(), index);
}

int Session::FindInput(const std::string& name) const {
  for (int i = 0; i < input_count(); ++i) {
    const char* own = TfLiteTensorName(input(i));
    if (own != nullptr && name == own) return i;
  }
  for (int s = 0; s < TfLiteInterpreterGetSignatureCount(interpreter_.get()); ++s) {
    const std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner(
        TfLiteInterpreterGetSignatureRunner(
            interpreter_.get(), TfLiteInterpreterGetSignatureKey(interpreter_.get(), s)),
        &TfLiteSignatureRunnerDelete);
    if (runner == nullptr) continue;
    const TfLiteTensor* tensor = nullptr;
    for (size_t i = 0; i < TfLiteSignatureRunnerGetInputCount(runner.get()); ++i) {
      const char* key = TfLiteSignatureRunnerGetInputName(runner.get(), static_cast<int32_t>(i));
      if (key != nullptr && name == key) {
        tensor = TfLiteSignatureRunnerGetInputTensor(runner.get(), key);
      }
    }
    for (int i = 0; tensor != nullptr && i < input_count(); ++i) {
      if (input(i) == tensor) return i;
    }
  }
  int number = 0;
  if (ParseNumber(name, &number) && number < input_count()) return number;
  std::string names;
  for (int i = 0; i < input_count(); ++i) {
    const char* own = TfLiteTensorName(input(i));
    names += Format("%s%d '%s'", i == 0 ? "" : ", ", i, own == nullptr ? "" : own);
  }
  FailUsage("no input '%s'; the model has %s", name.c_str(),
            names.empty() ? "no inputs" : names.c_str());
}

double Session::Invoke() {
  const double start = NowMs();
  const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_.get());
  const double took = NowMs() - start;
  if (status != kTfLiteOk) Refuse("failed while it ran");
  return took;
}

double NowMs() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Percentile(std::vector<double>* times, double fraction) {
  std::sort(times->begin(), times->end());
  const double at = fraction * static_cast<double>(times->size() - 1);
  const size_t below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, times->size() - 1);
  const double part = at - static_cast<double>(below);
  return (*times)[below] * (1 - part) + (*times)[above] * part;
}

}  // namespace deputy::tools
