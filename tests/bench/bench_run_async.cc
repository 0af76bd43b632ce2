// SPDX-License-Identifier: Apache-2.0
//
// Inferences per second of blocking calls and of asynchronous runs. The program converts pixels to
// the input and the output to pixels; a delegate works between, as long as one conversion takes: it
// only waits, or it computes in the first half of the time and waits in the second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/deputy_async.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::bench_run_async {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kValues = 1 << 20;
constexpr size_t kRuns = 4;  // runs in flight, and different images of the program

std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {kValues}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {kValues}, "y");
  m.AddOp(kTfLiteBuiltinRelu, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

struct Images {
  std::vector<uint8_t> from = std::vector<uint8_t>(kValues, 200),
                       to = std::vector<uint8_t>(kValues);
  DeputyRun* run = nullptr;
};

TfLiteStatus ReadPixels(void* images, int32_t, void* data, size_t) {
  const auto& from = static_cast<Images*>(images)->from;
  std::transform(from.begin(), from.end(), static_cast<float*>(data),
                 [](uint8_t pixel) { return static_cast<float>(pixel) / 127.5f - 1.0f; });
  return kTfLiteOk;
}

TfLiteStatus WritePixels(void* images, int32_t, const void* data, size_t) {
  const auto* const values = static_cast<const float*>(data);
  std::transform(values, values + kValues, static_cast<Images*>(images)->to.begin(), [](float y) {
    return static_cast<uint8_t>(std::clamp(y * 127.5f + 127.5f, 0.0f, 255.0f));
  });
  return kTfLiteOk;
}

// Returns the median time of a conversion, of which many are made first so that the clock rises.
Clock::duration TimeOfConversion() {
  Images images;
  std::vector<float> values(kValues);
  std::vector<Clock::duration> times(101);
  for (Clock::duration& time : times) {
    const auto begin = Clock::now();
    ReadPixels(&images, 0, values.data(), 0);
    WritePixels(&images, 0, values.data(), 0);
    time = (Clock::now() - begin) / 2;
  }
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  return times[50];
}

struct Pipeline {
  explicit Pipeline(bool computes) : delegate(ClaimingBody({0})) {
    static const Clock::duration stage = TimeOfConversion();
    delegate.invoke = [computes](TfLiteContext*, TfLiteNode*) {
      const auto begin = Clock::now();
      while (computes && Clock::now() - begin < stage / 2) {
      }
      std::this_thread::sleep_until(begin + stage);
      return kTfLiteOk;
    };
    t = std::make_unique<TestInterpreter>(Model());
    Apply(t.get(), &delegate.base);
    t->Allocate();
  }
  ProgrammedDelegate delegate;
  std::unique_ptr<TestInterpreter> t;
};

void Blocking(benchmark::State& state) {
  const Pipeline p(state.range(0) != 0);
  std::vector<Images> images(kRuns);
  size_t next = 0;
  for (auto _ : state) {
    Images* const now = &images[next++ % kRuns];
    ReadPixels(now, 0, TfLiteTensorData(TfLiteInterpreterGetInputTensor(p.t->get(), 0)), 0);
    p.t->Invoke();
    WritePixels(now, 0, TfLiteTensorData(TfLiteInterpreterGetOutputTensor(p.t->get(), 0)), 0);
  }
  state.SetItemsProcessed(state.iterations());
}

void Asynchronous(benchmark::State& state) {
  const Pipeline p(state.range(0) != 0);
  std::vector<Images> images(kRuns);
  const auto end = [](Images* now) {
    if (now->run == nullptr) return;
    DeputyRunWait(now->run, -1, nullptr);
    DeputyRunDelete(std::exchange(now->run, nullptr));
  };
  size_t next = 0;
  for (auto _ : state) {
    Images* const now = &images[next++ % kRuns];
    end(now);
    DeputyRunRequest request{};
    request.struct_size = sizeof request;
    request.user_data = now;
    request.copy_in = &ReadPixels;
    request.copy_out = &WritePixels;
    DeputyInterpreterRunAsync(p.t->get(), &request, &now->run);
  }
  for (Images& now : images) end(&now);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(Blocking)->Name("run_async/blocking/computes")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(Asynchronous)->Name("run_async/asynchronous/computes")->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace deputy::bench_run_async
