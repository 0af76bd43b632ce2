// SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests of DeputyInterpreterRunAsync: events without a time, and a run with float32
// inputs and outputs.
#ifndef DEPUTY_TESTS_SUPPORT_RUN_CASE_H_
#define DEPUTY_TESTS_SUPPORT_RUN_CASE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "c_api/include/deputy_async.h"

namespace deputy::run_case {

// A counter that threads raise and wait for. A wait ends after a minute, so that a failing test
// ends, too.
class Counter {
 public:
  void Raise() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  // Returns whether the count reached `count`.
  bool WaitFor(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return count_ >= count; });
  }
  // Raises the count and waits until it reaches `count`.
  bool Meet(int count) {
    Raise();
    return WaitFor(count);
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A run over vectors, or with functions of the test in place of copies.
struct TestRun {
  explicit TestRun(std::vector<std::vector<float>> in = {}, std::vector<size_t> out_sizes = {})
      : inputs(std::move(in)) {
    for (const size_t size : out_sizes) outputs.emplace_back(size, -1.0f);
  }
  ~TestRun() { DeputyRunDelete(run); }
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  TfLiteStatus Start(TfLiteInterpreter* interpreter) {
    std::vector<DeputyRunInput> in;
    std::vector<DeputyRunOutput> out;
    in.reserve(inputs.size());
    out.reserve(outputs.size());
    for (const auto& values : inputs) in.push_back({values.data(), values.size() * sizeof(float)});
    for (auto& values : outputs) out.push_back({values.data(), values.size() * sizeof(float)});
    DeputyRunRequest request{};
    request.struct_size = sizeof request;
    request.user_data = this;
    if (copy_in) {
      request.copy_in = [](void* self, int32_t index, void* data, size_t size) {
        return static_cast<TestRun*>(self)->copy_in(index, static_cast<float*>(data),
                                                    size / sizeof(float));
      };
    } else {
      request.inputs = in.data();
      request.input_count = static_cast<int32_t>(in.size());
    }
    if (copy_out) {
      request.copy_out = [](void* self, int32_t index, const void* data, size_t size) {
        return static_cast<TestRun*>(self)->copy_out(index, static_cast<const float*>(data),
                                                     size / sizeof(float));
      };
    } else {
      request.outputs = out.data();
      request.output_count = static_cast<int32_t>(out.size());
    }
    request.done = [](void* self, TfLiteStatus status) {
      auto* const test = static_cast<TestRun*>(self);
      test->done_status = status;
      ++test->done_calls;
      if (test->done) test->done();
    };
    return DeputyInterpreterRunAsync(interpreter, &request, &run);
  }

  bool HasEnded() { return DeputyRunWait(run, 0, nullptr); }
  // Returns the status at the end; kTfLiteUnresolvedOps if the run does not end within a minute.
  TfLiteStatus Wait() {
    TfLiteStatus status = kTfLiteUnresolvedOps;
    DeputyRunWait(run, 60'000'000, &status);
    return status;
  }
  TfLiteStatus Cancel() { return DeputyRunCancel(run); }

  std::vector<std::vector<float>> inputs, outputs;
  std::function<TfLiteStatus(int index, float* data, size_t count)> copy_in;
  std::function<TfLiteStatus(int index, const float* data, size_t count)> copy_out;
  std::function<void()> done;
  TfLiteStatus done_status = kTfLiteUnresolvedOps;
  int done_calls = 0;
  DeputyRun* run = nullptr;
};

}  // namespace deputy::run_case

#endif  // DEPUTY_TESTS_SUPPORT_RUN_CASE_H_
