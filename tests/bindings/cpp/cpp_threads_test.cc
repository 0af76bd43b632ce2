// SPDX-License-Identifier: Apache-2.0
//
// Tests the C++ API on several threads: interpreters, delegates and signature runners of one model
// and one resolver, and cancellation. Checks results, and, with ThreadSanitizer, data races.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "tensorflow/lite/delegates/utils/simple_delegate.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/signature_runner.h"
#include "tests/bindings/cpp/support/sum_model.h"
#include "tests/support/paths.h"

namespace deputy::cpp_test {
namespace {

using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::InterpreterBuilder;
using tflite::ops::builtin::BuiltinOpResolver;

constexpr int kThreads = 4;
constexpr int kRuns = 20;

// Calls `function` on several threads with the thread's index. It returns the number of wrong
// results, which must be 0.
void ExpectNoWrongResults(const std::function<int(int)>& function) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&wrong, &function, i] { wrong += function(i); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Classifies one image, generated from `seed`, and returns the ten scores; empty after a failure.
std::vector<int8_t> Classify(Interpreter* interpreter, int seed) {
  auto* const pixels = interpreter->typed_input_tensor<int8_t>(0);
  for (size_t i = 0; i < interpreter->input_tensor(0)->bytes; ++i) {
    pixels[i] = static_cast<int8_t>(i * 31 + static_cast<size_t>(seed) * 17);
  }
  if (interpreter->Invoke() != kTfLiteOk) return {};
  const auto* const scores = interpreter->typed_output_tensor<int8_t>(0);
  return {scores, scores + interpreter->output_tensor(0)->bytes};
}

class DigitsThreads : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = SourcePath("examples/digits/digits_int8.tflite");
    model_ = FlatBufferModel::BuildFromFile(path.c_str());
    ASSERT_NE(model_, nullptr);
    const auto single = FlatBufferModel::BuildFromFile(path.c_str());
    const auto interpreter = Make(*single, 1);
    ASSERT_NE(interpreter, nullptr);
    for (int seed = 0; seed < kThreads; ++seed)
      expected_.push_back(Classify(interpreter.get(), seed));
    ASSERT_EQ(expected_[0].size(), 10u);
  }

  // Returns null after a failure.
  std::unique_ptr<Interpreter> Make(const FlatBufferModel& model, int threads) const {
    std::unique_ptr<Interpreter> interpreter;
    InterpreterBuilder(model, resolver_)(&interpreter, threads);
    if (interpreter == nullptr || interpreter->AllocateTensors() != kTfLiteOk) return nullptr;
    return interpreter;
  }

  BuiltinOpResolver resolver_;
  std::unique_ptr<FlatBufferModel> model_;
  std::vector<std::vector<int8_t>> expected_;
};

// The first interpreters of `model_` are built concurrently.
TEST_F(DigitsThreads, interpreters_of_one_model_have_the_same_outputs) {
  for (const int threads : {1, 2}) {
    ExpectNoWrongResults([this, threads](int seed) {
      const auto interpreter = Make(*model_, threads);
      if (interpreter == nullptr) return kRuns;
      int wrong = 0;
      for (int run = 0; run < kRuns; ++run) {
        wrong += Classify(interpreter.get(), seed) != expected_[static_cast<size_t>(seed)];
      }
      return wrong;
    });
  }
}

TEST_F(DigitsThreads, cancel_from_another_thread_ends_an_invoke_or_has_no_effect) {
  const auto interpreter = Make(*model_, 2);
  ASSERT_EQ(interpreter->EnableCancellation(), kTfLiteOk);
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) interpreter->Cancel();
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int wrong = 0, cancelled = 0;
  for (int run = 0; run < 200 || cancelled == 0; ++run) {
    const TfLiteStatus status = interpreter->Invoke();
    cancelled += status == kTfLiteCancelled;
    wrong += status != kTfLiteOk && status != kTfLiteCancelled;
    if (std::chrono::steady_clock::now() > deadline) break;
  }
  done = true;
  canceller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(Classify(interpreter.get(), 1), expected_[1]);
}

TEST(SignatureThreads, runners_of_one_model_have_the_right_outputs) {
  const std::string bytes = SumModel();
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
  const BuiltinOpResolver resolver;
  ExpectNoWrongResults([&](int i) {
    std::unique_ptr<Interpreter> interpreter;
    InterpreterBuilder(*model, resolver)(&interpreter);
    tflite::SignatureRunner* const runner = interpreter->GetSignatureRunner("square");
    if (runner == nullptr || runner->AllocateTensors() != kTfLiteOk) return kRuns;
    int wrong = 0;
    for (int run = 0; run < kRuns; ++run) {
      const auto value = static_cast<float>(i + run);
      runner->input_tensor("value")->data.f[0] = value;
      wrong += runner->Invoke() != kTfLiteOk ||
               runner->output_tensor("result")->data.f[0] != value * value;
    }
    return wrong;
  });
}

// Adds two tensors and 100.
class SumKernel : public tflite::SimpleDelegateKernelInterface {
 public:
  TfLiteStatus Init(TfLiteContext* /*context*/, const TfLiteDelegateParams* /*params*/) override {
    return kTfLiteOk;
  }
  TfLiteStatus Prepare(TfLiteContext* /*context*/, TfLiteNode* /*node*/) override {
    return kTfLiteOk;
  }
  TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) override {
    TfLiteTensor* const output = tflite::GetOutput(context, node, 0);
    const auto* const a = tflite::GetTensorData<float>(tflite::GetInput(context, node, 0));
    const auto* const b = tflite::GetTensorData<float>(tflite::GetInput(context, node, 1));
    for (int64_t i = 0; i < tflite::NumElements(output); ++i) {
      tflite::GetTensorData<float>(output)[i] = a[i] + b[i] + 100;
    }
    return kTfLiteOk;
  }
};

class SumDelegate : public tflite::SimpleDelegateInterface {
 public:
  bool IsNodeSupportedByDelegate(const TfLiteRegistration* registration, const TfLiteNode* /*node*/,
                                 TfLiteContext* /*context*/) const override {
    return registration->builtin_code == kTfLiteBuiltinAdd;
  }
  TfLiteStatus Initialize(TfLiteContext* /*context*/) override { return kTfLiteOk; }
  const char* Name() const override { return "sum"; }
  std::unique_ptr<tflite::SimpleDelegateKernelInterface> CreateDelegateKernelInterface() override {
    return std::make_unique<SumKernel>();
  }
  Options DelegateOptions() const override { return {}; }
};

// Builds an interpreter, applies the delegate and computes several sums; returns the number of
// wrong ones.
int WrongSums(const FlatBufferModel& model, const BuiltinOpResolver& resolver,
              Interpreter::TfLiteDelegatePtr delegate) {
  std::unique_ptr<Interpreter> interpreter;
  InterpreterBuilder(model, resolver)(&interpreter);
  if (interpreter->ModifyGraphWithDelegate(std::move(delegate)) != kTfLiteOk ||
      interpreter->AllocateTensors() != kTfLiteOk) {
    return kRuns;
  }
  int wrong = 0;
  for (int run = 0; run < kRuns; ++run) {
    for (int i = 0; i < 2; ++i)
      interpreter->typed_input_tensor<float>(i)[1] = static_cast<float>(run);
    wrong += interpreter->Invoke() != kTfLiteOk ||
             interpreter->typed_output_tensor<float>(0)[1] != static_cast<float>(2 * run + 100);
  }
  return wrong;
}

TEST(DelegateThreads, a_delegate_per_interpreter_runs_its_nodes) {
  const std::string bytes = SumModel();
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
  const BuiltinOpResolver resolver;
  ExpectNoWrongResults([&](int /*thread*/) {
    return WrongSums(*model, resolver,
                     tflite::TfLiteDelegateFactory::Create(std::make_unique<SumDelegate>()));
  });
}

// The interpreters borrow the delegate.
TEST(DelegateThreads, several_interpreters_share_a_delegate) {
  const std::string bytes = SumModel();
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
  const BuiltinOpResolver resolver;
  const auto delegate = tflite::TfLiteDelegateFactory::Create(std::make_unique<SumDelegate>());
  ExpectNoWrongResults([&](int /*thread*/) {
    return WrongSums(*model, resolver, {delegate.get(), [](TfLiteDelegate*) {}});
  });
}

TEST(DelegateThreads, a_library_is_loaded_concurrently) {
  const std::string library = BuildPath("examples/libmultiply_add_delegate.so");
  const std::string path = SourcePath("examples/cpp_delegate/multiply_add.tflite");
  const auto model = FlatBufferModel::BuildFromFile(path.c_str());
  const BuiltinOpResolver resolver;
  ExpectNoWrongResults([&](int /*thread*/) {
    const TfLiteExternalDelegateOptions options =
        TfLiteExternalDelegateOptionsDefault(library.c_str());
    Interpreter::TfLiteDelegatePtr delegate(TfLiteExternalDelegateCreate(&options),
                                            TfLiteExternalDelegateDelete);
    std::unique_ptr<Interpreter> interpreter;
    InterpreterBuilder(*model, resolver)(&interpreter);
    if (interpreter->ModifyGraphWithDelegate(std::move(delegate)) != kTfLiteOk) return 1;
    return static_cast<int>(interpreter->AllocateTensors() != kTfLiteOk ||
                            interpreter->Invoke() != kTfLiteOk);
  });
}

}  // namespace
}  // namespace deputy::cpp_test
