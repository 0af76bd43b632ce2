// SPDX-License-Identifier: Apache-2.0
//
// Makes the n-th allocation fail, for every n, through the whole life of an interpreter. Each step
// must then return an error or a right result, leak nothing, and succeed when it is called again.
// This program replaces malloc, which the C++ library's operator new calls, too, and
// pthread_create, which counts as an allocation.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_async.h"
#include "c_api/include/deputy_devices.h"
#include "core/base/processors.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers have their own malloc, which a program must not replace.
TEST(AllocationFailure, skipped_under_sanitizers) { GTEST_SKIP(); }
#else

namespace {

// Counts allocations of the test's thread only; models here run on one thread.
struct Heap {
  bool armed = false;
  bool sticky = false;    // all allocations after `countdown` fail, not only one
  int64_t countdown = 0;  // number of allocations that succeed before the failure
  int64_t refused = 0;
  int64_t live = 0;  // number of blocks allocated while armed or counting and not yet freed
  bool counting = false;
};
thread_local Heap heap;

bool Refuse() {
  if (!heap.armed) return false;
  if (heap.countdown > 0) {
    --heap.countdown;
    return false;
  }
  if (heap.refused > 0 && !heap.sticky) return false;
  ++heap.refused;
  errno = ENOMEM;
  return true;
}

void* Count(void* block) {
  if (heap.counting && block != nullptr) ++heap.live;
  return block;
}

}  // namespace

// Exported, so that the C++ library calls them, too: operator new of over-aligned types calls
// aligned_alloc in g++ 12's library and posix_memalign in g++ 14's.
#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t bytes) { return Refuse() ? nullptr : Count(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) {
  return Refuse() ? nullptr : Count(__libc_calloc(count, bytes));
}
void* realloc(void* block, size_t bytes) {
  if (Refuse()) return nullptr;
  void* moved = __libc_realloc(block, bytes);
  return block == nullptr ? Count(moved) : moved;
}
void* memalign(size_t alignment, size_t bytes) {
  return Refuse() ? nullptr : Count(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* block = memalign(alignment, bytes);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}
void free(void* block) {
  if (heap.counting && block != nullptr) --heap.live;
  __libc_free(block);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return Refuse() ? EAGAIN : create(thread, attributes, start, argument);
}

}  // extern "C"
#pragma GCC visibility pop

namespace {

// Runs the steps of a life cycle. Step runs `step` with failing allocations and, if it fails, again
// without failures; it returns false if the second run fails, too.
class LifeCycle {
 public:
  LifeCycle(int64_t fail_at, bool sticky) {
    heap = Heap{};
    heap.counting = true;
    heap.sticky = sticky;
    heap.countdown = fail_at;
  }

  bool Step(const std::function<bool()>& step) {
    heap.armed = true;
    bool ok = step();
    heap.armed = false;
    // After a failed step the rest of the life runs without failures.
    if (!ok) {
      ++failed_steps;
      heap.countdown = INT64_MAX;
      ok = step();
    }
    return ok;
  }

  int failed_steps = 0;
};

void Silent(void*, const char*, va_list) {}

struct Outcome {
  bool finished = false;  // every step succeeded, at the first or second call
  int failed_steps = 0;
  int64_t refused = 0;
  int64_t leaked = 0;
  bool right = true;
};

using Body = std::function<bool(LifeCycle*, bool* right)>;

Outcome RunLifeCycle(const Body& body, int64_t fail_at, bool sticky) {
  Outcome outcome;
  {
    LifeCycle life(fail_at, sticky);
    outcome.finished = body(&life, &outcome.right);
    outcome.failed_steps = life.failed_steps;
  }
  heap.counting = false;
  outcome.refused = heap.refused;
  outcome.leaked = heap.live;
  return outcome;
}

void SweepEveryAllocation(const Body& body) {
  DeputySetDefaultReporter(&Silent, nullptr);
  // Runs once without failures: library state that is initialised on first use must not count as a
  // leak.
  ASSERT_TRUE(RunLifeCycle(body, INT64_MAX, false).finished);
  const Outcome clean = RunLifeCycle(body, INT64_MAX, false);
  ASSERT_TRUE(clean.finished);
  ASSERT_EQ(clean.leaked, 0);
  int64_t failures = 0;
  for (bool sticky : {false, true}) {
    for (int64_t n = 0;; ++n) {
      Outcome outcome = RunLifeCycle(body, n, sticky);
      // State that a library allocates once, when an error occurs first, is not a leak.
      if (outcome.leaked != 0) outcome.leaked = RunLifeCycle(body, n, sticky).leaked;
      if (outcome.refused == 0) {
        EXPECT_GT(n, 30) << "a whole life takes more allocations than that";
        break;
      }
      ASSERT_TRUE(outcome.finished)
          << "refused allocation " << n << ": the retry failed: " << DeputyLastError();
      ASSERT_TRUE(outcome.right) << "refused allocation " << n;
      ASSERT_EQ(outcome.leaked, 0) << "refused allocation " << n;
      failures += outcome.failed_steps;
    }
  }
  EXPECT_GT(failures, 30) << "refusals must reach the library";
  DeputySetDefaultReporter(nullptr, nullptr);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Fill(TfLiteTensor* input) {
  const bool is_float = TfLiteTensorType(input) == kTfLiteFloat32;
  const size_t count = TfLiteTensorByteSize(input) / (is_float ? sizeof(float) : 1);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<int8_t>(i * 37);
    if (is_float) {
      static_cast<float*>(TfLiteTensorData(input))[i] = static_cast<float>(value) / 128;
    } else {
      static_cast<int8_t*>(TfLiteTensorData(input))[i] = value;
    }
  }
}

void SweepDigits(const char* file, DeputyPrecision precision) {
  const std::string path = deputy::SourcePath(file);
  ASSERT_FALSE(ReadFile(path).empty()) << path;
  std::vector<int8_t> first_result;
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    TfLiteModel* model = nullptr;
    TfLiteInterpreterOptions* options = nullptr;
    TfLiteInterpreter* interpreter = nullptr;
    std::vector<int8_t> result_bytes;
    bool ok =
        life->Step([&] { return (model = TfLiteModelCreateFromFile(path.c_str())) != nullptr; });
    ok = ok && life->Step([&] { return (options = TfLiteInterpreterOptionsCreate()) != nullptr; });
    DeputyInterpreterOptionsSetPrecision(options, precision);
    ok = ok && life->Step([&] {
      return (interpreter = TfLiteInterpreterCreate(model, options)) != nullptr;
    });
    ok = ok &&
         life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
    if (ok) {
      Fill(TfLiteInterpreterGetInputTensor(interpreter, 0));
      ok = life->Step([&] { return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk; });
      const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
      const auto* values = static_cast<const int8_t*>(TfLiteTensorData(output));
      if (first_result.empty()) {
        heap.counting = false;
        first_result.assign(values, values + TfLiteTensorByteSize(output));
        heap.counting = true;
      }
      *right = memcmp(values, first_result.data(), first_result.size()) == 0;
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return ok;
  });
}

TEST(AllocationFailure, int8_digits_model_survives_every_failure) {
  SweepDigits("examples/digits/digits_int8.tflite", kDeputyPrecisionFloat32);
}

TEST(AllocationFailure, digits_model_in_bfloat16_survives_every_failure) {
  SweepDigits("examples/digits/digits_float.tflite", kDeputyPrecisionBfloat16);
}

// y = x w, 8 x 8, with w in float16 followed by a DEQUANTIZE; all weights are 2.
std::vector<uint8_t> HalfLayer() {
  deputy::ModelBuilder m;
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {8, 8}, std::vector<uint16_t>(64, 0x4000));
  const int w = m.AddTensor(kTfLiteFloat32, {8, 8}, "w");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 8}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {w}, 3);
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          deputy::schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Two interpreters share values computed from constants; the second one runs after the first is
// deleted.
TEST(AllocationFailure, shared_constants_survive_every_failure) {
  const std::vector<uint8_t> bytes = HalfLayer();
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    TfLiteModel* model = nullptr;
    TfLiteInterpreter* interpreters[2] = {};
    bool ok = life->Step(
        [&] { return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr; });
    for (TfLiteInterpreter*& interpreter : interpreters) {
      ok = ok && life->Step([&] {
        return (interpreter = TfLiteInterpreterCreate(model, nullptr)) != nullptr;
      });
      ok = ok &&
           life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
    }
    for (TfLiteInterpreter*& interpreter : interpreters) {
      if (!ok) break;
      auto* const x =
          static_cast<float*>(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)));
      std::fill_n(x, 8, 1.0f);
      ok = life->Step([&] { return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk; });
      const auto* const y = static_cast<const float*>(
          TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)));
      *right &= std::count(y, y + 8, 16.0f) == 8;
      TfLiteInterpreterDelete(std::exchange(interpreter, nullptr));
    }
    for (TfLiteInterpreter* interpreter : interpreters) TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return ok;
  });
}

// CONV_2D, RELU and ADD, which run as one fusion group: y = max(0, 2 * x - 1) + x over 2x1 pixels
// of three channels.
std::vector<uint8_t> OneStep() {
  deputy::ModelBuilder m;
  const std::vector<int32_t> shape = {1, 2, 1, 3};
  const int x = m.AddTensor(kTfLiteFloat32, shape, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, 1, 1, 3}, {2, 0, 0, 0, 2, 0, 0, 0, 2});
  const int b = m.AddConstant<float>(kTfLiteFloat32, {3}, {-1, -1, -1});
  const int c = m.AddTensor(kTfLiteFloat32, shape, "c");
  const int r = m.AddTensor(kTfLiteFloat32, shape, "r");
  const int y = m.AddTensor(kTfLiteFloat32, shape, "y");
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          deputy::schema::CreateConv2DOptions(m.fbb(), deputy::schema::Padding::SAME, 1, 1));
  m.AddOp(kTfLiteBuiltinRelu, {c}, {r});
  m.AddOp(kTfLiteBuiltinAdd, {r, x}, {y}, deputy::schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Layers that are computed strip by strip: y = 2 * x - 1 over 12x1 pixels of three channels, by a
// CONV_2D of one row, or of three rows with zeros around it, and a DEPTHWISE_CONV_2D that is the
// identity.
std::vector<uint8_t> Strips(int rows) {
  deputy::ModelBuilder m;
  const std::vector<int32_t> shape = {1, 12, 1, 3};
  const int x = m.AddTensor(kTfLiteFloat32, shape, "x");
  std::vector<float> weights(static_cast<size_t>(9 * rows), 0.0f);
  for (int i = 0; i < 3; ++i) weights[static_cast<size_t>((i * rows + rows / 2) * 3 + i)] = 2;
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, rows, 1, 3}, weights);
  const int b = m.AddConstant<float>(kTfLiteFloat32, {3}, {-1, -1, -1});
  std::vector<float> taps(27, 0.0f);
  std::fill_n(taps.begin() + 12, 3, 1.0f);
  const int middle = m.AddConstant<float>(kTfLiteFloat32, {1, 3, 3, 3}, taps);
  const int zeros = m.AddConstant<float>(kTfLiteFloat32, {3}, {0, 0, 0});
  const int c = m.AddTensor(kTfLiteFloat32, shape, "c");
  const int y = m.AddTensor(kTfLiteFloat32, shape, "y");
  const auto same = deputy::schema::Padding::SAME;
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          deputy::schema::CreateConv2DOptions(m.fbb(), same, 1, 1));
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {c, middle, zeros}, {y},
          deputy::schema::CreateDepthwiseConv2DOptions(m.fbb(), same, 1, 1, 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Runs images of three channels and width 1 with several heights in sequence: another height
// rebuilds the fusion groups unless the interpreter, which stays prepared for `prepared_shapes`
// shapes, has run it before. The groups must run with node 0 as their head in more than 30 lives.
void SweepSteps(const std::vector<uint8_t>& bytes, const std::vector<int>& heights, int last_node,
                float (*expected)(float x), int prepared_shapes = 1) {
  int fused_life_cycles = 0;
  TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
  DeputyInterpreterOptionsSetPreparedShapes(options, prepared_shapes);
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    TfLiteModel* model = nullptr;
    TfLiteInterpreter* interpreter = nullptr;
    bool ok = life->Step(
        [&] { return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr; });
    ok = ok && life->Step([&] {
      return (interpreter = TfLiteInterpreterCreate(model, options)) != nullptr;
    });
    for (int height : heights) {
      ok = ok && life->Step([&] {
        const int dims[] = {1, height, 1, 3};
        return TfLiteInterpreterResizeInputTensor(interpreter, 0, dims, 4) == kTfLiteOk;
      });
      ok = ok &&
           life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
      const size_t count = static_cast<size_t>(height) * 3;
      const auto value = [](size_t i) { return static_cast<float>(i % 7) / 2 - 1; };
      ok = ok && life->Step([&] {
        auto* const input =
            static_cast<float*>(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)));
        for (size_t i = 0; i < count; ++i) input[i] = value(i);
        return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
      });
      if (!ok) break;
      const auto* const output = static_cast<const float*>(
          TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)));
      for (size_t i = 0; i < count; ++i) *right &= output[i] == expected(value(i));
    }
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (ok && DeputyInterpreterGetNodeRun(interpreter, 0, last_node, &run) == kTfLiteOk) {
      fused_life_cycles += run.group_head == 0;
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return ok;
  });
  TfLiteInterpreterOptionsDelete(options);
  EXPECT_GT(fused_life_cycles, 30);
}

// Products of 24 rows of 3 with themselves, SOFTMAX, and a product with V, which run as a row-wise
// fusion group. Q, K and V are the same input.
std::vector<uint8_t> OneAttention() {
  deputy::ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {24, 3}, "x");
  const int scores = m.AddTensor(kTfLiteFloat32, {24, 24}, "scores");
  const int shares = m.AddTensor(kTfLiteFloat32, {24, 24}, "shares");
  const int y = m.AddTensor(kTfLiteFloat32, {24, 3}, "y");
  m.AddOp(kTfLiteBuiltinBatchMatmul, {x, x}, {scores},
          deputy::schema::CreateBatchMatMulOptions(m.fbb(), false, true));
  m.AddOp(kTfLiteBuiltinSoftmax, {scores}, {shares},
          deputy::schema::CreateSoftmaxOptions(m.fbb(), 1));
  m.AddOp(kTfLiteBuiltinBatchMatmul, {shares, x}, {y},
          deputy::schema::CreateBatchMatMulOptions(m.fbb(), false, false));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(AllocationFailure, row_groups_survive_every_failure) {
  const std::vector<uint8_t> bytes = OneAttention();
  int fused_life_cycles = 0;
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    TfLiteModel* model = nullptr;
    TfLiteInterpreter* interpreter = nullptr;
    bool ok = life->Step(
        [&] { return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr; });
    ok = ok && life->Step([&] {
      return (interpreter = TfLiteInterpreterCreate(model, nullptr)) != nullptr;
    });
    ok = ok &&
         life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
    ok = ok && life->Step([&] {
      // All rows of the input are equal, so every weighted mean of them equals a row.
      std::array<float, 72> x;
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 3) - 1;
      TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x.data(),
                                 sizeof x);
      return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
    });
    if (ok) {
      const auto* const y = static_cast<const float*>(
          TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)));
      for (int i = 0; i < 72; ++i)
        *right &= std::fabs(y[i] - static_cast<float>(i % 3) + 1) < 1e-5f;
    }
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (ok && DeputyInterpreterGetNodeRun(interpreter, 0, 0, &run) == kTfLiteOk) {
      fused_life_cycles += run.group_head == 2;
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return ok;
  });
  EXPECT_GT(fused_life_cycles, 30);
}

TEST(AllocationFailure, fusion_groups_survive_every_failure) {
  SweepSteps(OneStep(), {2, 1}, 2, [](float x) { return std::max(0.0f, 2 * x - 1) + x; });
}

TEST(AllocationFailure, plans_for_two_shapes_survive_every_failure) {
  SweepSteps(
      OneStep(), {2, 1, 2, 1}, 2, [](float x) { return std::max(0.0f, 2 * x - 1) + x; }, 2);
}

TEST(AllocationFailure, layers_in_strips_survive_every_failure) {
  // With a second-level cache of this size the layers run in strips: a strip of one row takes 48
  // bytes, the intermediate values take 144.
  deputy::OverrideSecondLevelCache(48);
  for (int rows : {1, 3}) {
    SweepSteps(Strips(rows), {12, 15}, 1, [](float x) { return 2 * x - 1; });
  }
  deputy::OverrideSecondLevelCache(0);
}

// Subgraph 0: z = a + b; subgraph 1: q = s * s; each has a signature.
std::vector<uint8_t> TwoSignatures() {
  deputy::ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {2}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {2}, "b");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {z}, deputy::schema::CreateAddOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({z});
  m.AddSubgraph("square");
  const int s = m.AddTensor(kTfLiteFloat32, {1, 2}, "s", {.signature = {-1, 2}});
  const int q = m.AddTensor(kTfLiteFloat32, {1, 2}, "q");
  m.AddOp(kTfLiteBuiltinMul, {s, s}, {q}, deputy::schema::CreateMulOptions(m.fbb()));
  m.SetInputs({s});
  m.SetOutputs({q});
  m.AddSignature("sum", {{"left", 0}, {"right", 1}}, {{"total", 2}}, 0);
  m.AddSignature("square", {{"value", 0}}, {{"result", 1}}, 1);
  return m.Finish();
}

TEST(AllocationFailure, signatures_of_two_subgraphs_survive_every_failure) {
  const std::vector<uint8_t> bytes = TwoSignatures();
  const float four[] = {1, 2, 3, 4};
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    TfLiteModel* model = nullptr;
    TfLiteInterpreter* interpreter = nullptr;
    TfLiteSignatureRunner *sum = nullptr, *square = nullptr;
    bool ok = life->Step(
        [&] { return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr; });
    ok = ok && life->Step([&] {
      return (interpreter = TfLiteInterpreterCreate(model, nullptr)) != nullptr;
    });
    ok = ok && life->Step([&] {
      return (sum = TfLiteInterpreterGetSignatureRunner(interpreter, "sum")) != nullptr;
    });
    ok = ok && life->Step([&] {
      return (square = TfLiteInterpreterGetSignatureRunner(interpreter, "square")) != nullptr;
    });
    ok = ok && life->Step([&] {
      const int dims[] = {2, 2};
      return TfLiteSignatureRunnerResizeInputTensor(square, "value", dims, 2) == kTfLiteOk;
    });
    for (TfLiteSignatureRunner* runner : {sum, square}) {
      ok = ok &&
           life->Step([&] { return TfLiteSignatureRunnerAllocateTensors(runner) == kTfLiteOk; });
    }
    if (ok) {
      TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(sum, "left"), four, 8);
      TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(sum, "right"), four + 2, 8);
      TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(square, "value"), four, 16);
    }
    for (TfLiteSignatureRunner* runner : {sum, square}) {
      ok = ok && life->Step([&] { return TfLiteSignatureRunnerInvoke(runner) == kTfLiteOk; });
    }
    if (ok) {
      const auto* total = static_cast<const float*>(
          TfLiteTensorData(TfLiteSignatureRunnerGetOutputTensor(sum, "total")));
      const auto* result = static_cast<const float*>(
          TfLiteTensorData(TfLiteSignatureRunnerGetOutputTensor(square, "result")));
      *right = total[0] == 4 && total[1] == 6 && result[0] == 1 && result[3] == 16;
    }
    TfLiteSignatureRunnerDelete(sum);
    TfLiteSignatureRunnerDelete(square);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return ok;
  });
}

// ---- With a delegate ----------------------------------------------------------------------------

// y = (x + x) * (x + x), z = y + x. The delegate claims the first two nodes. It allocates nothing
// itself, so every failing allocation is the library's.
std::vector<uint8_t> DoubledAndSquared() {
  deputy::ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x"), d = m.AddTensor(kTfLiteFloat32, {2}, "d");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y"), z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {d}, deputy::schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {d, d}, {y}, deputy::schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {y, x}, {z}, deputy::schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

TfLiteStatus ClaimFirstTwo(TfLiteContext* context, TfLiteDelegate* delegate) {
  static const struct {
    int size;
    int data[2];
  } nodes = {2, {0, 1}};
  TfLiteRegistration kernel{};
  kernel.invoke = [](TfLiteContext* invoked, TfLiteNode* node) {
    auto* fail_next = static_cast<bool*>(node->delegate->data_);
    if (*fail_next) {
      *fail_next = false;
      return kTfLiteError;
    }
    const float* x = invoked->tensors[node->inputs->data[0]].data.f;
    float* y = invoked->tensors[node->outputs->data[0]].data.f;
    for (int i = 0; i < 2; ++i) y[i] = 4 * x[i] * x[i];
    return kTfLiteOk;
  };
  kernel.custom_name = "FirstTwo";
  kernel.version = 1;
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, kernel, reinterpret_cast<const TfLiteIntArray*>(&nodes), delegate);
}

void SweepDelegate(DeputyDelegatePolicy policy) {
  const std::vector<uint8_t> bytes = DoubledAndSquared();
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    // Under the policy Hot the delegate's first inference fails, and the library computes its nodes
    // on the CPU.
    bool fail_next = policy == kDeputyPolicyHot;
    TfLiteDelegate delegate = TfLiteDelegateCreate();
    delegate.data_ = &fail_next;
    delegate.Prepare = &ClaimFirstTwo;
    TfLiteModel* model = nullptr;
    TfLiteInterpreterOptions* options = nullptr;
    TfLiteInterpreter* interpreter = nullptr;
    bool ok = life->Step(
        [&] { return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr; });
    ok = ok && life->Step([&] { return (options = TfLiteInterpreterOptionsCreate()) != nullptr; });
    if (ok) DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
    ok = ok && life->Step([&] {
      return (interpreter = TfLiteInterpreterCreate(model, options)) != nullptr;
    });
    ok = ok && life->Step([&] {
      const uint64_t digest = DeputyInterpreterGetGraphDigest(interpreter);
      if (TfLiteInterpreterModifyGraphWithDelegate(interpreter, &delegate) == kTfLiteOk) {
        return true;
      }
      if (policy == kDeputyPolicyHot) {
        *right &= DeputyInterpreterGetGraphDigest(interpreter) == digest;
      }
      return false;
    });
    ok = ok &&
         life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
    for (int i = 0; i < 2 && ok; ++i) {
      const float x[] = {1, 3};
      ok = life->Step([&] {
        TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x, sizeof x);
        return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
      });
      const auto* z = static_cast<const float*>(
          TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)));
      *right &= ok && z[0] == 5 && z[1] == 39;
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return ok;
  });
}

TEST(AllocationFailure, delegates_survive_every_failure) { SweepDelegate(kDeputyPolicyTfLite); }

TEST(AllocationFailure, hot_delegates_survive_every_failure) { SweepDelegate(kDeputyPolicyHot); }

// ---- With a plug-in that allocates --------------------------------------------------------------

// Runs one inference of a model on an input of all ones, with a plug-in's delegate, or without a
// delegate if `plugin` is null. Returns whether every step succeeded, at the first or second call.
bool RunLifeCycleWithPlugin(LifeCycle* life, DeputyPlugin* plugin,
                            const std::vector<uint8_t>& bytes, std::vector<float>* output) {
  TfLiteDelegate* delegate = nullptr;
  TfLiteModel* model = nullptr;
  TfLiteInterpreter* interpreter = nullptr;
  bool ok = plugin == nullptr || life->Step([&] {
    return (delegate = DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0)) != nullptr;
  });
  ok = ok && life->Step([&] {
    return (model = TfLiteModelCreate(bytes.data(), bytes.size())) != nullptr;
  });
  ok = ok && life->Step([&] {
    return (interpreter = TfLiteInterpreterCreate(model, nullptr)) != nullptr;
  });
  ok = ok && (plugin == nullptr || life->Step([&] {
         return TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate) == kTfLiteOk;
       }));
  ok = ok && life->Step([&] { return TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk; });
  if (ok) {
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const size_t count = TfLiteTensorByteSize(input) / sizeof(float);
    for (size_t i = 0; i < count; ++i) input->data.f[i] = 1;
    ok = life->Step([&] { return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk; });
  }
  if (ok) {
    const TfLiteTensor* result = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    for (size_t i = 0; i < output->size(); ++i) (*output)[i] = result->data.f[i];
  }
  TfLiteInterpreterDelete(interpreter);
  TfLiteModelDelete(model);
  if (delegate != nullptr) DeputyPluginDeleteDelegate(delegate);
  return ok;
}

void SweepPlugin(const char* library) {
  const std::string path = deputy::BuildPath(library);
  DeputyPlugin* plugin = DeputyPluginLoad(path.c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  const std::vector<uint8_t> bytes = deputy::ConvModel({.size = 4});
  std::vector<float> expected(3), found(3);
  LifeCycle without_failures(INT64_MAX, false);
  ASSERT_TRUE(RunLifeCycleWithPlugin(&without_failures, nullptr, bytes, &expected));
  heap.counting = false;
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    const bool ok = RunLifeCycleWithPlugin(life, plugin, bytes, &found);
    for (size_t i = 0; i < found.size(); ++i) *right &= std::abs(found[i] - expected[i]) < 1e-5;
    return ok;
  });
  DeputyPluginRelease(plugin);
}

TEST(AllocationFailure, npu_stub_survives_every_failure) { SweepPlugin("libdeputy_npu_stub.so"); }

TEST(AllocationFailure, cpu_delegate_survives_every_failure) { SweepPlugin("libdeputy_cpu.so"); }

TEST(AllocationFailure, delegates_in_nchw_survive_every_failure) {
  SweepPlugin("tests/plugins/libnchw.so");
}

// Allocations are refused while a run is started: the first one creates threads and slots. Memory
// is not counted, since the queue's threads free some of it.
TEST(AllocationFailure, asynchronous_runs_survive_every_failure) {
  const std::vector<uint8_t> bytes = HalfLayer();
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    heap.counting = false;
    TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
    TfLiteInterpreter* const interpreter = TfLiteInterpreterCreate(model, nullptr);
    bool ok = TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    for (int i = 0; i < 8 && ok; ++i) {
      std::array<float, 8> x, y{};
      x.fill(static_cast<float>(i));
      const DeputyRunInput input = {x.data(), sizeof x};
      const DeputyRunOutput output = {y.data(), sizeof y};
      DeputyRunRequest request{};
      request.struct_size = sizeof request;
      request.inputs = &input;
      request.input_count = 1;
      request.outputs = &output;
      request.output_count = 1;
      DeputyRun* run = nullptr;
      ok = life->Step([&] {
        const bool started = DeputyInterpreterRunAsync(interpreter, &request, &run) == kTfLiteOk;
        *right &= started == (run != nullptr);
        return started;
      });
      TfLiteStatus status = kTfLiteError;
      *right &= DeputyRunWait(run, -1, &status) && status == kTfLiteOk;
      *right &= y[0] == 16.0f * static_cast<float>(i) && y[7] == y[0];
      DeputyRunDelete(run);
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return ok;
  });
}

// The plug-in itself needs no memory; without memory its list of 40 devices is NULL or has an entry
// with the reason.
TEST(AllocationFailure, device_lists_survive_every_failure) {
  const std::string path = deputy::BuildPath("tests/plugins/libdevices.so");
  std::string types = "NPU";
  for (int i = 1; i < 40; ++i) types += ",NPU";
  setenv("ELEMENTWISE_DEVICES", types.c_str(), 1);
  SweepEveryAllocation([&](LifeCycle* life, bool* right) {
    DeputyDeviceList* list = nullptr;
    const bool ok = life->Step([&] {
      list = DeputyDeviceListCreate(path.c_str());
      const DeputyDeviceInfo* const* const devices = DeputyDeviceListGetDevices(list);
      const bool complete = list != nullptr && DeputyDeviceListGetCount(list) == 40 &&
                            devices[39] != nullptr &&
                            strcmp(devices[39]->options, "device=39") == 0;
      *right &= complete || list == nullptr || devices[0] == nullptr;
      if (!complete) DeputyDeviceListDelete(list);
      return complete;
    });
    if (ok) DeputyDeviceListDelete(list);
    return ok;
  });
  unsetenv("ELEMENTWISE_DEVICES");
}

}  // namespace

#endif  // no sanitizer
