// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/life.h"

#include <cstring>
#include <memory>
#include <string>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/fuzz/compiled_delegate.h"
#include "tests/fuzz/deadline.h"
#include "tests/fuzz/zero_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"

namespace deputy::fuzz {
namespace {

// Maximum size of a block, in bytes. The resource limits of a mutant are sufficient for every seed,
// and small enough that hostile sizes are refused.
constexpr size_t kMaxBlockBytes = 4 << 20;
// Time limit of a mutant in milliseconds. A mutant that runs longer is treated as an endless loop
// and cancelled.
constexpr int kMilliseconds = 100;

void Ignore(void*, const char*, va_list) {}

Owned<TfLiteInterpreterOptions> MakeOptions(Random* random) {
  Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), &Ignore, nullptr);
  TfLiteInterpreterOptionsSetNumThreads(options.get(), random->OneIn(16) ? 2 : 1);
  TfLiteInterpreterOptionsEnableCancellation(options.get(), true);
  DeputyLimits limits = {};
  limits.struct_size = sizeof limits;
  limits.max_block_bytes = kMaxBlockBytes;
  DeputyInterpreterOptionsSetLimits(options.get(), &limits);
  DeputyInterpreterOptionsSetDelegatePolicy(
      options.get(), random->OneIn(4) ? kDeputyPolicyHot : kDeputyPolicyTfLite);
  DeputyInterpreterOptionsSetArithmetic(
      options.get(), random->OneIn(2) ? kDeputyArithmeticReference : kDeputyArithmeticDefault);
  return options;
}

// ---- Inputs -------------------------------------------------------------------------------------

template <typename T>
void FillNumbers(TfLiteTensor* tensor, Random* random) {
  const size_t count = TfLiteTensorByteSize(tensor) / sizeof(T);
  char* to = static_cast<char*>(TfLiteTensorData(tensor));
  for (size_t i = 0; i < count; ++i) {
    const T value =
        std::is_same_v<T, float> ? static_cast<T>(random->Float()) : static_cast<T>(random->Int());
    memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

void FillStrings(TfLiteTensor* tensor, Random* random) {
  size_t count = 1;
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) {
    count *= static_cast<size_t>(TfLiteTensorDim(tensor, i)) % 64;
  }
  if (count > 1000) return;
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.emplace_back(random->Below(4), 'a');
  std::vector<uint8_t> bytes = StringTensorBytes(texts);
  // The caller provides the bytes of a string tensor, so they may be invalid.
  if (random->OneIn(4)) random->Pick(bytes) = static_cast<uint8_t>(random->Next());
  if (TfLiteTensorRealloc(bytes.size(), tensor) != kTfLiteOk) return;
  memcpy(tensor->data.raw, bytes.data(), bytes.size());
}

void Fill(TfLiteTensor* tensor, Random* random) {
  if (tensor == nullptr || tensor->allocation_type == kTfLiteMmapRo) return;
  if (TfLiteTensorType(tensor) == kTfLiteString) return FillStrings(tensor, random);
  if (TfLiteTensorData(tensor) == nullptr) return;
  switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32:
      return FillNumbers<float>(tensor, random);
    case kTfLiteInt32:
      return FillNumbers<int32_t>(tensor, random);
    case kTfLiteInt64:
      return FillNumbers<int64_t>(tensor, random);
    default:
      return FillNumbers<uint8_t>(tensor, random);
  }
}

std::vector<int> RandomDims(int rank, Random* random) {
  std::vector<int> dims(static_cast<size_t>(random->OneIn(4) ? random->Between(0, 6) : rank));
  for (int& extent : dims) extent = random->OneIn(8) ? random->Int() : random->Between(0, 5);
  return dims;
}

// ---- Stages of a life ---------------------------------------------------------------------------

void ResizeSomeInput(TfLiteInterpreter* interpreter, Random* random) {
  const int count = TfLiteInterpreterGetInputTensorCount(interpreter);
  if (count == 0) return;
  const int input = random->Between(0, count - 1);
  const TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter, input);
  if (tensor == nullptr) return;
  const std::vector<int> dims = RandomDims(TfLiteTensorNumDims(tensor), random);
  TfLiteInterpreterResizeInputTensor(interpreter, input, dims.data(),
                                     static_cast<int32_t>(dims.size()));
}

// Reads every output byte that a client may read.
uint64_t ReadOutputs(const TfLiteInterpreter* interpreter) {
  uint64_t sum = 0;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
    const auto* bytes =
        static_cast<const uint8_t*>(tensor == nullptr ? nullptr : tensor->data.data);
    for (size_t k = 0; bytes != nullptr && k < tensor->bytes; ++k) sum += bytes[k];
  }
  return sum;
}

TfLiteStatus FillAndInvoke(TfLiteInterpreter* interpreter, Random* random) {
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    Fill(TfLiteInterpreterGetInputTensor(interpreter, i), random);
  }
  const Deadline deadline(kMilliseconds, [interpreter] { TfLiteInterpreterCancel(interpreter); });
  const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter);
  if (status != kTfLiteOk) return status;
  volatile uint64_t read = ReadOutputs(interpreter);
  static_cast<void>(read);
  return kTfLiteOk;
}

void RunSomeSignature(const TfLiteInterpreter* interpreter, Random* random) {
  const int count = TfLiteInterpreterGetSignatureCount(interpreter);
  if (count == 0) return;
  const char* key = TfLiteInterpreterGetSignatureKey(interpreter, random->Between(0, count - 1));
  const Owned<TfLiteSignatureRunner> runner(TfLiteInterpreterGetSignatureRunner(interpreter, key));
  if (runner == nullptr) return;
  const size_t inputs = TfLiteSignatureRunnerGetInputCount(runner.get());
  if (inputs > 0 && random->OneIn(4)) {
    const std::vector<int> dims = RandomDims(2, random);
    TfLiteSignatureRunnerResizeInputTensor(runner.get(),
                                           TfLiteSignatureRunnerGetInputName(runner.get(), 0),
                                           dims.data(), static_cast<int32_t>(dims.size()));
  }
  if (TfLiteSignatureRunnerAllocateTensors(runner.get()) != kTfLiteOk) return;
  for (size_t i = 0; i < inputs; ++i) {
    const char* name = TfLiteSignatureRunnerGetInputName(runner.get(), static_cast<int32_t>(i));
    Fill(TfLiteSignatureRunnerGetInputTensor(runner.get(), name), random);
  }
  const Deadline deadline(kMilliseconds, [&runner] { TfLiteSignatureRunnerCancel(runner.get()); });
  TfLiteSignatureRunnerInvoke(runner.get());
}

}  // namespace

Stage RunLifeCycle(const std::vector<uint8_t>& bytes, Random random) {
  const Owned<TfLiteModel> model(
      TfLiteModelCreateWithErrorReporter(bytes.data(), bytes.size(), &Ignore, nullptr));
  if (model == nullptr) return Stage::kRefusedFile;
  ZeroDelegate zero(Random(random.Next()));
  const bool compiles = random.OneIn(3);
  const CompiledDelegate compiled = compiles ? MakeCompiledDelegate(random.OneIn(2)) : nullptr;
  const bool delegated = compiles || random.OneIn(6);
  auto* const delegate =
      reinterpret_cast<TfLiteOpaqueDelegate*>(compiles ? compiled.get() : zero.get());
  const auto options = MakeOptions(&random);
  if (delegated && random.OneIn(2)) TfLiteInterpreterOptionsAddDelegate(options.get(), delegate);
  const Owned<TfLiteInterpreter> interpreter(TfLiteInterpreterCreate(model.get(), options.get()));
  if (interpreter == nullptr) return Stage::kRefusedInterpreter;
  if (random.OneIn(8)) ResizeSomeInput(interpreter.get(), &random);
  TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter.get());
  Stage stage = status == kTfLiteOk ? Stage::kFailedInvoke : Stage::kRefusedTensors;
  // A client may continue after any failure.
  if (status != kTfLiteOk && random.OneIn(2)) return stage;
  if (FillAndInvoke(interpreter.get(), &random) == kTfLiteOk) stage = Stage::kInvoked;
  if (delegated && random.OneIn(2)) {
    TfLiteInterpreterModifyGraphWithDelegate(interpreter.get(), delegate);
  }
  if (random.OneIn(4)) ResizeSomeInput(interpreter.get(), &random);
  if (random.OneIn(2)) TfLiteInterpreterAllocateTensors(interpreter.get());
  if (random.OneIn(2)) FillAndInvoke(interpreter.get(), &random);
  if (random.OneIn(2)) RunSomeSignature(interpreter.get(), &random);
  return stage;
}

}  // namespace deputy::fuzz
