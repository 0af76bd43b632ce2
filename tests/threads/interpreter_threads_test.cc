// SPDX-License-Identifier: Apache-2.0
//
// Tests one model with many interpreters and threads: with separate pools, with one shared pool,
// and cancelled from another thread. Checks results, and, with ThreadSanitizer, data races.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace deputy::interpreter_threads_test {
namespace {

constexpr int kInterpreters = 4;
constexpr int kRuns = 20;

std::vector<char> DigitsModel() {
  std::ifstream file(SourcePath("examples/digits/digits_int8.tflite"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Classifies one image, generated from `seed`, and returns the ten scores.
std::vector<int8_t> Classify(TfLiteInterpreter* interpreter, int seed) {
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, 0);
  auto* pixels = static_cast<int8_t*>(TfLiteTensorData(input));
  for (size_t i = 0; i < TfLiteTensorByteSize(input); ++i) {
    pixels[i] = static_cast<int8_t>(i * 31 + static_cast<size_t>(seed) * 17);
  }
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return {};
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
  const auto* scores = static_cast<const int8_t*>(TfLiteTensorData(output));
  return {scores, scores + TfLiteTensorByteSize(output)};
}

class InterpreterThreads : public testing::Test {
 protected:
  void SetUp() override {
    bytes_ = DigitsModel();
    model_ = TfLiteModelCreate(bytes_.data(), bytes_.size());
    ASSERT_NE(model_, nullptr);
    TfLiteInterpreter* single = Make(1, nullptr);
    for (int seed = 0; seed < kInterpreters; ++seed) expected_.push_back(Classify(single, seed));
    TfLiteInterpreterDelete(single);
  }
  void TearDown() override { TfLiteModelDelete(model_); }

  TfLiteInterpreter* Make(int threads, DeputyThreadPool* pool) {
    TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    DeputyInterpreterOptionsSetThreadPool(options, pool);
    TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model_, options);
    TfLiteInterpreterOptionsDelete(options);
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    return interpreter;
  }

  // Creates, uses and deletes an interpreter on each of kInterpreters threads.
  void RunTogether(int threads_each, DeputyThreadPool* pool) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int seed = 0; seed < kInterpreters; ++seed) {
      threads.emplace_back([&, seed] {
        TfLiteInterpreter* interpreter = Make(threads_each, pool);
        for (int run = 0; run < kRuns; ++run) {
          if (Classify(interpreter, seed) != expected_[seed]) ++wrong;
        }
        TfLiteInterpreterDelete(interpreter);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }

  std::vector<char> bytes_;
  TfLiteModel* model_ = nullptr;
  std::vector<std::vector<int8_t>> expected_;
};

// The test runs enough inferences for the library to try some without workers.
TEST_F(InterpreterThreads, short_inferences_have_the_same_outputs_with_and_without_workers) {
  TfLiteInterpreter* interpreter = Make(2, nullptr);
  int wrong = 0;
  for (int run = 0; run < 1500; ++run) {
    const int seed = run % kInterpreters;
    if (Classify(interpreter, seed) != expected_[seed]) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
  TfLiteInterpreterDelete(interpreter);
}

TEST_F(InterpreterThreads, share_one_model_with_a_thread_each) { RunTogether(1, nullptr); }

TEST_F(InterpreterThreads, share_one_model_with_two_threads_each) { RunTogether(2, nullptr); }

// A model of y = x w with w in float16. Interpreters that are prepared concurrently compute and
// pack w once.
std::vector<uint8_t> HalfLayer(int width) {
  ModelBuilder m;
  const auto count = static_cast<size_t>(width) * static_cast<size_t>(width);
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {width, width}, std::vector<uint16_t>(count, 0x3c00));
  const int weights = m.AddTensor(kTfLiteFloat32, {width, width}, "w");
  const int x = m.AddTensor(kTfLiteFloat32, {1, width}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, width}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {weights}, 3);
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

size_t PackedBytes(const TfLiteInterpreter* interpreter) {
  const DeputyMemoryMap map = MemoryMapOf(interpreter);
  return map.packed_bytes;
}

TEST(SharedConstantsThreads, constants_are_computed_once_by_concurrent_preparations) {
  constexpr int kWidth = 128;
  const std::vector<uint8_t> bytes = HalfLayer(kWidth);
  size_t alone = 0;
  for (int round = 0; round < 6; ++round) {
    TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
    const int count = round == 0 ? 1 : kInterpreters;
    std::vector<TfLiteInterpreter*> interpreters;
    for (int i = 0; i < count; ++i) {
      TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
      TfLiteInterpreterOptionsSetNumThreads(options, 1 + i % 2);
      interpreters.push_back(TfLiteInterpreterCreate(model, options));
      TfLiteInterpreterOptionsDelete(options);
    }
    TfLiteModelDelete(model);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (TfLiteInterpreter* const interpreter : interpreters) {
      threads.emplace_back([&wrong, interpreter] {
        if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) ++wrong;
        auto* const x =
            static_cast<float*>(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)));
        std::fill_n(x, kWidth, 1.0f);
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) ++wrong;
        const auto* const y = static_cast<const float*>(
            TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)));
        wrong += static_cast<int>(kWidth - std::count(y, y + kWidth, float{kWidth}));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    if (round == 0) alone = PackedBytes(interpreters[0]);
    EXPECT_EQ(PackedBytes(interpreters[0]), alone);
    // The interpreters are also deleted concurrently.
    threads.clear();
    for (TfLiteInterpreter* const interpreter : interpreters) {
      threads.emplace_back([interpreter] { TfLiteInterpreterDelete(interpreter); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(InterpreterThreads, share_one_pool) {
  DeputyThreadPool* pool = DeputyThreadPoolCreate(3);
  RunTogether(2, pool);
  DeputyThreadPoolDelete(pool);
}

// Returns the number of threads of this process.
ptrdiff_t ThreadCount() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST_F(InterpreterThreads, of_one_pool_start_no_threads) {
  DeputyThreadPool* pool = DeputyThreadPoolCreate(2);
  std::vector<TfLiteInterpreter*> interpreters;
  const ptrdiff_t before = ThreadCount();
  for (int i = 0; i < 4; ++i) {
    interpreters.push_back(Make(2, pool));
    EXPECT_EQ(Classify(interpreters.back(), 0), expected_[0]);
  }
  EXPECT_LE(ThreadCount() - before, 1);
  for (TfLiteInterpreter* interpreter : interpreters) TfLiteInterpreterDelete(interpreter);
  DeputyThreadPoolDelete(pool);
}

TEST_F(InterpreterThreads, a_deleted_pool_exists_until_its_last_interpreter) {
  DeputyThreadPool* pool = DeputyThreadPoolCreate(2);
  TfLiteInterpreter* interpreter = Make(2, pool);
  DeputyThreadPoolDelete(pool);
  EXPECT_EQ(Classify(interpreter, 0), expected_[0]);
  TfLiteInterpreterDelete(interpreter);
}

struct Parts {
  std::thread::id invoker = std::this_thread::get_id();
  std::vector<DeputyWorkerEvent> waiting;  // parts of the operator that has not ended yet
  int helped = 0, of_nodes = 0;
};

TEST_F(InterpreterThreads, work_of_each_thread_is_reported_to_the_invoking_one) {
  Parts parts;
  TfLiteInterpreter* interpreter = Make(2, nullptr);
  DeputyInterpreterSetWorkerCallback(
      interpreter,
      [](void* data, const DeputyWorkerEvent* event) {
        auto& received = *static_cast<Parts*>(data);
        EXPECT_EQ(std::this_thread::get_id(), received.invoker);
        EXPECT_GT(event->tiles, 0);
        EXPECT_TRUE(event->worker == 0 || event->worker == 1) << event->worker;
        received.helped += event->worker == 1;
        received.waiting.push_back(*event);
      },
      &parts);
  DeputyInterpreterSetProfileCallback(
      interpreter,
      [](void* data, const DeputyOpEvent* event) {
        auto& received = *static_cast<Parts*>(data);
        for (const DeputyWorkerEvent& part : received.waiting) {
          EXPECT_EQ(part.subgraph_index, event->subgraph_index);
          EXPECT_EQ(part.node_index, event->node_index);
          EXPECT_GE(part.begin_ns, event->begin_ns);
          EXPECT_LE(part.begin_ns + part.duration_ns, event->begin_ns + event->duration_ns);
        }
        received.of_nodes += !received.waiting.empty();
        received.waiting.clear();
      },
      &parts);
  // The other thread need not take part in the first inferences.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (parts.helped == 0 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_EQ(Classify(interpreter, 0), expected_[0]);
  }
  EXPECT_GT(parts.helped, 0);
  EXPECT_GT(parts.of_nodes, 0);
  parts.helped = parts.of_nodes = 0;
  EXPECT_EQ(DeputyInterpreterSetWorkerCallback(interpreter, nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetWorkerCallback(nullptr, nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(Classify(interpreter, 1), expected_[1]);
  EXPECT_EQ(parts.helped + parts.of_nodes, 0);
  TfLiteInterpreterDelete(interpreter);
}

TEST_F(InterpreterThreads, cancel_from_another_thread_ends_an_invoke_or_has_no_effect) {
  TfLiteInterpreter* interpreter = Make(1, nullptr);
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) TfLiteInterpreterCancel(interpreter);
  });
  // The other thread may get no processor during the first inferences.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int cancelled = 0;
  for (int run = 0; run < 200 || (cancelled == 0 && std::chrono::steady_clock::now() < deadline);
       ++run) {
    const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter);
    ASSERT_TRUE(status == kTfLiteOk || status == kTfLiteCancelled) << status;
    cancelled += status == kTfLiteCancelled;
  }
  done = true;
  canceller.join();
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(Classify(interpreter, 1), expected_[1]);
  TfLiteInterpreterDelete(interpreter);
}

}  // namespace
}  // namespace deputy::interpreter_threads_test
