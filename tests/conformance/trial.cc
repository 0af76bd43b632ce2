// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/trial.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "c_api/include/c_api_experimental.h"
#include "tests/cases/case.h"

namespace deputy::conformance {
namespace {

constexpr size_t kShown = 3;  // maximum number of findings in the report of a case

void Append(void* log, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(log)->append(line).append("; ");
}

std::string FirstOf(const std::vector<std::string>& texts) {
  std::string all;
  for (size_t i = 0; i < std::min(texts.size(), kShown); ++i) {
    all += (i == 0 ? "" : "; ") + texts[i];
  }
  if (texts.size() > kShown) all += "; " + std::to_string(texts.size() - kShown) + " more";
  return all;
}

// Returns a kernel for kUnknownOperator that copies its input to its output.
const TfLiteRegistration* UnknownOperatorRegistration() {
  static const TfLiteRegistration kRegistration = [] {
    TfLiteRegistration registration = {};
    registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
      return context->ResizeTensor(
          context, &context->tensors[node->outputs->data[0]],
          TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims));
    };
    registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteTensor& from = context->tensors[node->inputs->data[0]];
      std::memcpy(context->tensors[node->outputs->data[0]].data.raw, from.data.raw, from.bytes);
      return kTfLiteOk;
    };
    return registration;
  }();
  return &kRegistration;
}

std::vector<uint8_t> RandomContents(const TfLiteTensor* tensor, uint32_t seed) {
  std::vector<uint8_t> bytes(TfLiteTensorByteSize(tensor));
  switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32: {
      const std::vector<float> values = RandomFloats(bytes.size() / sizeof(float), seed);
      if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
      break;
    }
    case kTfLiteBool:
      std::fill(bytes.begin(), bytes.end(), static_cast<uint8_t>(seed % 2));
      break;
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt16: {
      const std::vector<int8_t> values = RandomInt8(bytes.size(), seed);
      std::copy(values.begin(), values.end(), bytes.begin());
      break;
    }
    default:  // indices and sizes: zero is always valid
      break;
  }
  return bytes;
}

size_t EntriesOf(const char* folder) {
  std::error_code error;
  size_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

void Demand(bool condition, const std::string& otherwise) {
  if (!condition) throw CaseFailed(otherwise);
}

// ---- Findings -----------------------------------------------------------------------------------

void Findings::Observe(TfLiteInterpreterOptions* options) {
  DeputyValidationOptions validation = {};
  validation.struct_size = sizeof validation;
  validation.enabled = 1;
  validation.user_data = this;
  validation.on_finding = [](void* self, const DeputyFinding* finding) {
    static_cast<Findings*>(self)->Add(*finding);
  };
  DeputyInterpreterOptionsSetValidation(options, &validation);
}

void Findings::Add(const DeputyFinding& finding) {
  const std::lock_guard lock(mutex_);
  (finding.severity == kDeputySeverityError ? errors_ : remarks_).emplace_back(finding.text);
}

std::string Findings::errors() const {
  const std::lock_guard lock(mutex_);
  return FirstOf(errors_);
}

std::string Findings::remarks() const {
  const std::lock_guard lock(mutex_);
  return FirstOf(remarks_);
}

std::shared_ptr<TfLiteDelegate> CaseContext::CreateDelegate() {
  std::string error;
  auto delegate = library_->Create(&error);
  Demand(delegate != nullptr, "it returns no delegate: " + error);
  return delegate;
}

// ---- Pair ---------------------------------------------------------------------------------------

Pair::Pair(CaseContext* context, std::span<const uint8_t> model,
           std::shared_ptr<TfLiteDelegate> delegate, Mode mode)
    : context_(mode == Mode::kPlain ? nullptr : context),
      delegate_(std::move(delegate)),
      model_(TfLiteModelCreateWithErrorReporter(model.data(), model.size(), &Append, &log_),
             &TfLiteModelDelete),
      cpu_(nullptr, &TfLiteInterpreterDelete),
      interpreter_(nullptr, &TfLiteInterpreterDelete) {
  Demand(model_ != nullptr, "the model is refused: " + log_);
  cpu_ = Create(nullptr, Mode::kPlain, nullptr);
  Demand(cpu_ != nullptr, "the interpreter cannot be created: " + log_);
  interpreter_ = Create(mode == Mode::kDelegateInOptions ? delegate_.get() : nullptr, mode,
                        mode == Mode::kPlain ? nullptr : &context->findings());
  Demand(interpreter_ != nullptr, "the interpreter with the delegate cannot be created: " + log_);
}

Pair::InterpreterOwner Pair::Create(TfLiteDelegate* in_options, Mode mode, Findings* findings) {
  const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> options(
      TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), &Append, &log_);
  TfLiteInterpreterOptionsAddCustomOp(options.get(), kUnknownOperator,
                                      UnknownOperatorRegistration(), 1, 1);
  DeputyInterpreterOptionsSetDelegatePolicy(
      options.get(), mode == Mode::kHot ? kDeputyPolicyHot : kDeputyPolicyTfLite);
  if (findings != nullptr) findings->Observe(options.get());
  if (in_options != nullptr) TfLiteInterpreterOptionsAddDelegate(options.get(), in_options);
  return {TfLiteInterpreterCreate(model_.get(), options.get()), &TfLiteInterpreterDelete};
}

TfLiteStatus Pair::TryApply() {
  return TfLiteInterpreterModifyGraphWithDelegate(interpreter_.get(), delegate_.get());
}

void Pair::Apply() { Demand(TryApply() == kTfLiteOk, "it cannot be applied: " + log_); }

void Pair::Resize(const std::vector<int>& dims) {
  const auto size = static_cast<int32_t>(dims.size());
  for (TfLiteInterpreter* interpreter : {cpu_.get(), interpreter_.get()}) {
    Demand(TfLiteInterpreterResizeInputTensor(interpreter, 0, dims.data(), size) == kTfLiteOk,
           "the input cannot be resized to " + Describe(kTfLiteNoType, dims) + ": " + log_);
  }
}

std::string Pair::TryAllocate() {
  Demand(TfLiteInterpreterAllocateTensors(cpu_.get()) == kTfLiteOk,
         "the CPU cannot allocate the model: " + log_);
  log_.clear();
  if (TfLiteInterpreterAllocateTensors(interpreter_.get()) == kTfLiteOk) return "";
  return log_.empty() ? "without a reason" : log_;
}

void Pair::Allocate() {
  const std::string problem = TryAllocate();
  Demand(problem.empty(), "its graph cannot be allocated: " + problem);
}

void Pair::Infer(uint32_t seed) {
  if (context_ != nullptr) context_->NotePart("inference " + std::to_string(++inferences_));
  FeedInputs(cpu_.get(), seed);
  FeedInputs(interpreter_.get(), seed);
  Demand(TfLiteInterpreterInvoke(cpu_.get()) == kTfLiteOk, "the CPU fails: " + log_);
  Demand(TfLiteInterpreterInvoke(interpreter_.get()) == kTfLiteOk, "an inference fails: " + log_);
  Compare();
}

std::vector<TensorValue> Pair::Outputs() const { return CopyOutputs(interpreter_.get()); }

void Pair::Compare() const {
  const std::vector<TensorValue> expected = CopyOutputs(cpu_.get()), found = Outputs();
  for (size_t i = 0; i < found.size(); ++i) {
    const auto difference =
        conformance::Compare({&expected[i], 1}, found[i], SubjectAgreement(found[i].type));
    if (difference) {
      throw CaseFailed("output " + std::to_string(i) + " " + difference->text +
                       " (compared with the CPU)");
    }
  }
}

int Pair::DelegatedNodes() const {
  int delegated = 0;
  for (int32_t s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_.get()); ++s) {
    for (int32_t n = 0; n < DeputyInterpreterGetNodeCount(interpreter_.get(), s); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof info;
      DeputyNodeRun run = {};
      run.struct_size = sizeof run;
      const bool is_known =
          DeputyInterpreterGetNodeInfo(interpreter_.get(), s, n, &info) == kTfLiteOk &&
          DeputyInterpreterGetNodeRun(interpreter_.get(), s, n, &run) == kTfLiteOk;
      if (is_known && info.builtin_code != kTfLiteBuiltinDelegate && run.delegate_index >= 0) {
        ++delegated;
      }
    }
  }
  return delegated;
}

void FeedInputs(TfLiteInterpreter* interpreter, uint32_t seed) {
  for (int32_t i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
    const auto bytes = RandomContents(tensor, seed + 1000 * static_cast<uint32_t>(i));
    Demand(TfLiteTensorCopyFromBuffer(tensor, bytes.data(), bytes.size()) == kTfLiteOk,
           "input " + std::to_string(i) + " cannot be written");
  }
}

std::vector<TensorValue> CopyOutputs(const TfLiteInterpreter* interpreter) {
  std::vector<TensorValue> values;
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
    TensorValue value;
    value.type = TfLiteTensorType(tensor);
    for (int d = 0; d < TfLiteTensorNumDims(tensor); ++d) {
      value.dims.push_back(TfLiteTensorDim(tensor, d));
    }
    value.data.resize(TfLiteTensorByteSize(tensor));
    Demand(value.data.empty() ||
               TfLiteTensorCopyToBuffer(tensor, value.data.data(), value.data.size()) == kTfLiteOk,
           "output " + std::to_string(i) + " cannot be read");
    values.push_back(std::move(value));
  }
  return values;
}

// ---- Resources of the process -------------------------------------------------------------------

Usage MeasureUsage() {
  Usage usage;
#ifdef __GLIBC__  // the allocator of musl counts nothing
  const struct mallinfo2 heap = mallinfo2();
  usage.heap_bytes = heap.uordblks + heap.hblkhd;
#endif
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages >> pages;
  usage.resident_bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  usage.files = EntriesOf("/proc/self/fd");
  usage.threads = EntriesOf("/proc/self/task");
  return usage;
}

namespace {

// Returns the minimum growth of a field from one part of the rounds to the next.
size_t MinGrowth(const std::vector<Usage>& usage, size_t Usage::*field) {
  size_t least = SIZE_MAX;
  for (size_t i = 1; i < usage.size(); ++i) {
    const size_t before = usage[i - 1].*field, after = usage[i].*field;
    least = std::min(least, after > before ? after - before : 0);
  }
  return least;
}

// Returns the first resource that grew in every part of the rounds, as text; "" if none did.
std::string FindGrowth(const std::vector<Usage>& usage, size_t rounds) {
  constexpr size_t kPage = 4096;
  constexpr size_t kMinBlock = 32;  // minimum size in bytes of a block of malloc
  const struct {
    size_t Usage::*field;
    size_t allowed;
    const char* unit;
  } kFields[] = {
      {&Usage::heap_bytes, rounds * kMinBlock - 1, "bytes"},
      {&Usage::files, rounds - 1, "open files"},
      {&Usage::threads, rounds - 1, "threads"},
      {&Usage::resident_bytes, std::max(rounds, size_t{64}) * kPage, "bytes of memory"},
  };
  for (const auto& [field, allowed, unit] : kFields) {
    const size_t growth = MinGrowth(usage, field);
    if (growth <= allowed) continue;
    return std::to_string(growth / rounds) + " " + unit + " every time; now " +
           std::to_string(usage.back().*field) + " in total";
  }
  return "";
}

}  // namespace

// Runs the rounds in several parts. Caches are filled and pools grow at first: only a resource that
// grows in every part of each of eight attempts counts as a leak.
void DemandNoGrowth(CaseContext* context, int rounds, const std::string& what,
                    const std::function<void()>& round) {
  constexpr int kAttempts = 8, kParts = 3;
  int done = 0;
  const auto do_part = [&] {
    for (int i = 0; i < rounds; ++i) {
      context->Note(what + ", the " + std::to_string(++done) + ". time");
      round();
    }
    return MeasureUsage();
  };
  do_part();  // warm up
  std::string growth;
  for (int i = 0; i < kAttempts; ++i) {
    std::vector<Usage> usage = {do_part()};
    for (int part = 0; part < kParts; ++part) usage.push_back(do_part());
    growth = FindGrowth(usage, static_cast<size_t>(rounds));
    if (growth.empty()) return;
  }
  throw CaseFailed(what + " leaks " + growth + " after " + std::to_string(done));
}

}  // namespace deputy::conformance
