// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/background_preparation.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "core/base/guard.h"
#include "core/delegation/delegation.h"

namespace deputy {
namespace {

constexpr size_t kMaxReports = 2000;  // bytes of collected reports

}  // namespace

// ---- Reports ------------------------------------------------------------------------------------

void BackgroundReports::Receive(void* self, const char* format, va_list args) {
  BackgroundReports& reports = *static_cast<BackgroundReports*>(self);
  if (reports.reporter_ != nullptr) {
    reports.reporter_->ReportV(format, args);
    return;
  }
  char text[1024];
  vsnprintf(text, sizeof text, format, args);
  Guard(Ignore, [&] {
    if (reports.text_.size() >= kMaxReports) return;
    if (!reports.text_.empty()) reports.text_ += "; ";
    reports.text_ += text;
  });
}

// ---- The client's thread ------------------------------------------------------------------------

std::shared_ptr<BackgroundPreparation> BackgroundPreparation::Begin(BackgroundTask task) {
  std::shared_ptr<BackgroundPreparation> begun(new BackgroundPreparation(std::move(task)));
  try {
    begun->thread_ = std::thread([begun] { begun->Run(); });
  } catch (const std::system_error& error) {
    begun->plan_.failure = std::string("no thread can be started: ") + error.what();
    begun->done_ = true;
  }
  return begun;
}

BackgroundPreparation::~BackgroundPreparation() {
  if (thread_.joinable()) thread_.detach();
}

bool BackgroundPreparation::is_done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

bool BackgroundPreparation::WaitUntil(Clock::time_point end) {
  std::unique_lock<std::mutex> lock(mutex_);
  return ended_.wait_until(lock, end, [this] { return done_; });
}

BackgroundPlan BackgroundPreparation::Take() {
  if (thread_.joinable()) thread_.join();
  return std::move(plan_);
}

void BackgroundPreparation::Abandon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  abandoned_ = true;
  if (thread_.joinable()) thread_.detach();
}

// ---- The thread ---------------------------------------------------------------------------------

void BackgroundPreparation::Run() noexcept {
  try {
    Prepare();
  } catch (...) {
    plan_.interpreter.reset();
    plan_.failure = "out of memory";  // fits into the string without an allocation
  }
  plan_.duration = Clock::now() - begun_;
  std::unique_lock<std::mutex> lock(mutex_);
  if (abandoned_) {
    // The client no longer waits, so the delegate's kernels are freed on this thread.
    lock.unlock();
    plan_.interpreter.reset();
    lock.lock();
  }
  done_ = true;
  ended_.notify_all();
}

void BackgroundPreparation::Prepare() {
  plan_.reports = std::make_unique<BackgroundReports>();
  task_.config.reporter = ErrorReporter(&BackgroundReports::Receive, plan_.reports.get());
  plan_.interpreter = task_.make(task_.config);
  const TfLiteStatus status = plan_.interpreter == nullptr ? kTfLiteError : ApplyDelegates();
  if (status == kTfLiteOk) return;
  plan_.interpreter.reset();
  plan_.failure = plan_.reports->text();
  if (plan_.failure.empty()) {
    plan_.failure = "status " + std::to_string(status) + ", and no reason was reported";
  }
}

TfLiteStatus BackgroundPreparation::ApplyDelegates() {
  Interpreter& interpreter = *plan_.interpreter;
  for (size_t i = 0; i < task_.placed_nodes.size(); ++i) {
    DelegationOf(interpreter.subgraph(static_cast<int>(i))).placed_nodes() = task_.placed_nodes[i];
  }
  for (const RootShapes& root : task_.shapes) {
    Subgraph& subgraph = *interpreter.subgraph(root.subgraph);
    const std::vector<int>& inputs = subgraph.graph().inputs();
    for (size_t n = 0; n < inputs.size(); ++n) {
      if (inputs[n] < 0) continue;
      const TfLiteStatus resized = subgraph.ResizeInputTensor(inputs[n], root.inputs[n]);
      if (resized != kTfLiteOk) return resized;
    }
  }
  TfLiteStatus failed = kTfLiteOk;
  for (TfLiteDelegate* const delegate : task_.delegates) {
    const TfLiteStatus status = interpreter.ModifyGraphWithDelegate(delegate);
    if (status == kTfLiteOk) continue;
    failed = status;
    if (!interpreter.hot()) return status;
  }
  // Under Hot the delegates that can be applied are sufficient.
  if (failed != kTfLiteOk && !interpreter.HasDelegates()) return failed;
  for (const RootShapes& root : task_.shapes) {
    const TfLiteStatus allocated = interpreter.AllocateTensors(interpreter.subgraph(root.subgraph));
    if (allocated != kTfLiteOk) return allocated;
  }
  return kTfLiteOk;
}

}  // namespace deputy
