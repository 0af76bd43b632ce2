// SPDX-License-Identifier: Apache-2.0
//
// Verification of runs with operators of compiler plug-ins: the layer `verify` of DEPUTY_LAYERS.
// The CPU computes the original model from the same inputs.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/support/option_list.h"
#include "litert/src/compiled_model.h"
#include "litert/src/log.h"

using deputy::Verification;
using deputy::litert::Guard;
using deputy::litert::Log;

namespace {

// Changes the last bit of each float32 value; infinities and NaN are unchanged.
void ChangeLastBits(const TfLiteTensor& tensor) {
  constexpr uint32_t kExponent = 0x7f800000;
  if (tensor.type != kTfLiteFloat32) return;
  for (size_t at = 0; at + sizeof(uint32_t) <= tensor.bytes; at += sizeof(uint32_t)) {
    uint32_t bits = 0;
    std::memcpy(&bits, tensor.data.raw + at, sizeof bits);
    if ((bits & kExponent) == kExponent) continue;
    bits ^= 1U;
    std::memcpy(tensor.data.raw + at, &bits, sizeof bits);
  }
}

// Returns true if equal inputs give equal outputs.
bool IsDeterministic(const LiteRtModelT& model) {
  for (const auto& subgraph : model.subgraphs) {
    for (const auto& tensor : subgraph->tensors) {
      if (tensor->is_variable) return false;
    }
    for (const auto& op : subgraph->ops) {
      switch (op->code) {
        case kLiteRtOpCodeTflVarHandle:
        case kLiteRtOpCodeTflRandomStandardNormal:
        case kLiteRtOpCodeTflRandomUniform:
        case kLiteRtOpCodeTflMultinomial:
          return false;
        default:
          break;
      }
    }
  }
  return true;
}

}  // namespace

Verification LiteRtCompiledModelT::GivenVerification() {
  Verification verification;
  const char* const layers = std::getenv("DEPUTY_LAYERS");
  if (layers == nullptr) return verification;
  for (const std::string& layer : deputy::SplitOptions(layers)) {
    const auto [name, how] = deputy::SplitOption(layer);
    if (name != "verify") continue;
    // Interpreters report other values.
    int interval = 0;
    (void)std::from_chars(how.data(), how.data() + how.size(), interval);
    if (how.empty() || how == "first") verification.mode = Verification::Mode::kFirst;
    if (how == "always") verification.mode = Verification::Mode::kAlways;
    if (interval > 0) {
      verification.mode = Verification::Mode::kEveryNth;
      verification.interval = interval;
    }
    break;
  }
  return verification;
}

// Creates the compiled model with which the CPU computes expected outputs. Fails without a log line
// if outputs do not depend on inputs alone, or inputs are in memory that the client has bound.
LiteRtStatus LiteRtCompiledModelT::CreateReference() {
  const LiteRtModelT* original = nullptr;
  LITERT_TRY(FindOriginal(&original));
  if (!IsDeterministic(*original) || !bindings_.empty()) return kLiteRtStatusErrorUnsupported;
  auto created = std::make_unique<LiteRtCompiledModelT>(environment_);
  created->has_cpu_ = true;
  created->cpu_ = cpu_;
  created->runtime_.signatures = runtime_.signatures;
  LITERT_TRY(created->CompileNow(*original, &cpu_options_));
  reference_ = std::move(created);
  return kLiteRtStatusOk;
}

// Computes a signature on the CPU. `perturbs`: the last bits of float inputs are changed.
LiteRtStatus LiteRtCompiledModelT::RunReference(size_t signature, Buffers inputs, bool perturbs) {
  LiteRtCompiledModelT& cpu = *reference_;
  const Signature& found = cpu.signatures_[signature];
  for (size_t i = 0; i < inputs.size(); ++i) {
    LITERT_TRY(cpu.ResizeToBuffer(found, i, *inputs[i]));
  }
  LITERT_TRY(cpu.Allocate(found));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TfLiteTensor& tensor = *cpu.TensorOf(found, found.inputs[i]);
    if (tensor.type == kTfLiteString) return kLiteRtStatusErrorUnsupported;
    void* memory = nullptr;
    LITERT_TRY(inputs[i]->Lock(kLiteRtTensorBufferLockModeRead, &memory));
    if (tensor.data.raw != nullptr && tensor.bytes <= inputs[i]->bytes - inputs[i]->offset) {
      std::memcpy(tensor.data.raw, static_cast<const char*>(memory) + inputs[i]->offset,
                  tensor.bytes);
      if (perturbs) ChangeLastBits(tensor);
    }
    LITERT_TRY(inputs[i]->Unlock());
  }
  return cpu.Invoke(found);
}

// Compares the outputs of a run with those of the CPU. Stores whether one is wrong.
LiteRtStatus LiteRtCompiledModelT::CompareWithCpu(size_t signature, Buffers inputs, Buffers outputs,
                                                  bool* out_is_wrong) {
  constexpr double kRoundingFactor = 8;
  for (LiteRtTensorBuffer input : inputs) {
    // The run has overwritten the input.
    if (std::count(outputs.begin(), outputs.end(), input) > 0) {
      return kLiteRtStatusErrorUnsupported;
    }
  }
  if (reference_ == nullptr) LITERT_TRY(CreateReference());
  LITERT_TRY(RunReference(signature, inputs, false));
  LiteRtCompiledModelT& cpu = *reference_;
  const Signature& found = cpu.signatures_[signature];
  int32_t nodes = 0;
  (void)DeputyInterpreterGetExecutionPlan(cpu.interpreter_, found.subgraph, &nodes);
  std::vector<std::vector<char>> expected(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TfLiteTensor& tensor = *cpu.TensorOf(found, found.outputs[i]);
    if (tensor.data.raw == nullptr) continue;
    expected[i].assign(tensor.data.raw, tensor.data.raw + tensor.bytes);
  }
  bool is_perturbed = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    void* memory = nullptr;
    LITERT_TRY(outputs[i]->Lock(kLiteRtTensorBufferLockModeRead, &memory));
    const std::vector<char> actual(
        static_cast<const char*>(memory) + outputs[i]->offset,
        static_cast<const char*>(memory) + std::max(outputs[i]->bytes, outputs[i]->offset));
    LITERT_TRY(outputs[i]->Unlock());
    TfLiteTensor tensor = *cpu.TensorOf(found, found.outputs[i]);
    tensor.data.raw = expected[i].data();
    tensor.bytes = expected[i].size();
    if (tensor.bytes == 0 || tensor.bytes > actual.size()) continue;
    const auto compare = [&](double spread) {
      return deputy::FindWrongElement(tensor, actual.data(), static_cast<size_t>(nodes), spread,
                                      verification_);
    };
    auto wrong = compare(0);
    if (wrong && tensor.type == kTfLiteFloat32) {
      if (!is_perturbed) LITERT_TRY(RunReference(signature, inputs, true));
      is_perturbed = true;
      const TfLiteTensor& other = *cpu.TensorOf(found, found.outputs[i]);
      // The size of a dynamic tensor may depend on the changed bits.
      if (other.bytes == tensor.bytes && other.data.raw != nullptr) {
        wrong = compare(kRoundingFactor * deputy::MaxDifference(tensor, other.data.raw));
      }
    }
    if (!wrong) continue;
    Log(kLiteRtLogSeverityWarning,
        "compiled model: output '%s' of compiler plug-ins is wrong: element %lld: expected %.9g, "
        "found %.9g",
        tensor.name, static_cast<long long>(wrong->element), wrong->expected, wrong->found);
    *out_is_wrong = true;
    return kLiteRtStatusOk;
  }
  return kLiteRtStatusOk;
}

// Returns true if an output of a run that has ended is wrong.
bool LiteRtCompiledModelT::IsWrong(size_t signature, Buffers inputs, Buffers outputs) {
  bool is_wrong = false;
  const LiteRtStatus status =
      Guard([&] { return CompareWithCpu(signature, inputs, outputs, &is_wrong); });
  if (status == kLiteRtStatusOk) return is_wrong;
  Log(kLiteRtLogSeverityWarning, "compiled model: its runs cannot be verified: %s",
      LiteRtGetStatusString(status));
  verification_ = {};
  return false;
}
