// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/sweep.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "kernels/registry.h"
#include "tests/fuzz/deadline.h"
#include "tests/fuzz/hostile.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"

namespace deputy::fuzz {
namespace {

constexpr size_t kLargestCase = 1 << 13;  // maximum size of a case's file, in bytes
constexpr size_t kMaxBlockBytes = 4 << 20;
// Time limit of a variant in milliseconds. A variant that runs longer is treated as an endless loop
// and cancelled.
constexpr int kMilliseconds = 200;
constexpr int kMaxFindings = 5;  // maximum number of findings printed for one model

// Parts of messages about the graph as a whole, which name no operator.
constexpr const char* kOfTheGraph[] = {"no memory for the tensor arena",
                                       "expected calls of subgraphs at most"};

// ---- Selection of cases -------------------------------------------------------------------------

bool Runs(const OpDef& op, const objects::OperatorCodeT& code) {
  if (op.code == kTfLiteBuiltinCustom) return code.custom_code == op.name;
  return static_cast<int>(code.builtin_code) == op.code ||
         (static_cast<int>(code.builtin_code) == 0 && code.deprecated_builtin_code == op.code);
}

// Returns the types of the operator's inputs; empty if subgraph 0 does not run the operator.
std::vector<int> TypesOf(const OpDef& op, const ModelT& model) {
  const objects::SubGraphT& graph = *model.subgraphs[0];
  for (const auto& node : graph.operators) {
    if (!Runs(op, *model.operator_codes[node->opcode_index])) continue;
    std::vector<int> types = {-1};
    for (const int32_t input : node->inputs) {
      if (input >= 0)
        types.push_back(static_cast<int>(graph.tensors[static_cast<size_t>(input)]->type));
    }
    return types;
  }
  return {};
}

// ---- One variant --------------------------------------------------------------------------------

void Note(void* user_data, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(user_data)->append(line).append("\n");
}

void FillStrings(TfLiteTensor* tensor) {
  size_t count = 1;
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) {
    count *= static_cast<size_t>(std::clamp(TfLiteTensorDim(tensor, i), 0, 64));
  }
  if (count > 64) return;
  const std::vector<uint8_t> bytes = StringTensorBytes(std::vector<std::string>(count, "a bc d"));
  if (TfLiteTensorRealloc(bytes.size(), tensor) == kTfLiteOk) {
    memcpy(tensor->data.raw, bytes.data(), bytes.size());
  }
}

// Fills the tensor with `bytes` if their size is the tensor's, otherwise with zeros.
void Fill(TfLiteTensor* tensor, const std::vector<uint8_t>& bytes) {
  if (tensor == nullptr || tensor->allocation_type == kTfLiteMmapRo) return;
  if (TfLiteTensorType(tensor) == kTfLiteString) return FillStrings(tensor);
  const std::vector<uint8_t> zeros(TfLiteTensorByteSize(tensor));
  const auto& from = bytes.size() == zeros.size() ? bytes : zeros;
  if (TfLiteTensorData(tensor) != nullptr) {
    TfLiteTensorCopyFromBuffer(tensor, from.data(), from.size());
  }
}

Owned<TfLiteInterpreterOptions> MakeOptions(bool reference, std::string* log) {
  Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), &Note, log);
  TfLiteInterpreterOptionsSetNumThreads(options.get(), 1);
  TfLiteInterpreterOptionsEnableCancellation(options.get(), true);
  DeputyLimits limits = {};
  limits.struct_size = sizeof limits;
  limits.max_block_bytes = kMaxBlockBytes;
  DeputyInterpreterOptionsSetLimits(options.get(), &limits);
  DeputyInterpreterOptionsSetArithmetic(
      options.get(), reference ? kDeputyArithmeticReference : kDeputyArithmeticDefault);
  return options;
}

TfLiteStatus AllocateAndInvoke(TfLiteInterpreter* interpreter, const Variant& variant) {
  const Deadline deadline(kMilliseconds, [interpreter] { TfLiteInterpreterCancel(interpreter); });
  const TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter);
  if (status != kTfLiteOk) return status;
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    Fill(TfLiteInterpreterGetInputTensor(interpreter, i), variant.feeds[static_cast<size_t>(i)]);
  }
  return TfLiteInterpreterInvoke(interpreter);
}

// Runs a variant. Returns what is wrong with the message of a refusal; "" if nothing is.
std::string CheckVariant(const Variant& variant, const std::vector<std::string>& names,
                         bool reference) {
  std::string log;
  const Owned<TfLiteModel> model(
      TfLiteModelCreateWithErrorReporter(variant.model.data(), variant.model.size(), &Note, &log));
  if (model == nullptr) return log.empty() ? "the file is refused without a word" : "";
  const auto options = MakeOptions(reference, &log);
  const Owned<TfLiteInterpreter> interpreter(TfLiteInterpreterCreate(model.get(), options.get()));
  const TfLiteStatus status =
      interpreter == nullptr ? kTfLiteError : AllocateAndInvoke(interpreter.get(), variant);
  if (status == kTfLiteOk || status == kTfLiteCancelled) return "";
  if (log.empty()) return "refused without a word";
  for (const char* text : kOfTheGraph) {
    if (log.find(text) != std::string::npos) return "";
  }
  for (const std::string& name : names) {
    const size_t at = log.find(name);
    // The reason must follow the name of the operator.
    if (at != std::string::npos && log.size() > at + name.size() + 4) return "";
  }
  return "refused without a name: " + log;
}

}  // namespace

Sweep::Sweep(const std::string& filter, size_t cases) {
  std::vector<OpCase> all;
  for (OpCase& one : AllCases()) {
    if (one.model.size() <= kLargestCase) all.push_back(std::move(one));
  }
  // Cases that are refused are used only if an operator has too few others.
  std::stable_sort(all.begin(), all.end(), [](const OpCase& a, const OpCase& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.model.size() < b.model.size();
  });
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.invoke != nullptr) Choose(op, all, cases);
    }
  }
  std::erase_if(models_, [&](const OpCase& one) { return one.name.find(filter) == one.name.npos; });
}

void Sweep::Choose(const OpDef& op, const std::vector<OpCase>& all, size_t cases) {
  std::set<std::vector<int>> types;
  for (const OpCase& one : all) {
    const auto model = objects::UnPackModel(one.model.data());
    const std::vector<int> found = TypesOf(op, *model);
    if (found.empty() || types.size() == cases || !types.insert(found).second) continue;
    models_.push_back(one);
  }
  if (types.empty()) missing_.emplace_back(op.name);
}

bool Sweep::Run(size_t number, bool verbose) const {
  const OpCase& one = models_[number];
  const auto model = objects::UnPackModel(one.model.data());
  std::vector<std::string> names;
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      const bool runs = std::any_of(model->operator_codes.begin(), model->operator_codes.end(),
                                    [&op](const auto& code) { return Runs(op, *code); });
      if (runs) names.emplace_back(op.name);
    }
  }
  int findings = 0;
  uint64_t tried = 0;
  ForEachVariant(*model, one.feeds, [&](const Variant& variant) {
    if (verbose) printf("%s: %s\n", one.name.c_str(), variant.what.c_str()), fflush(stdout);
    const std::string wrong = CheckVariant(variant, names, tried++ % 2 == 1);
    if (wrong.empty() || ++findings > kMaxFindings) return;
    printf("%s: %s: %s\n", one.name.c_str(), variant.what.c_str(), wrong.c_str());
  });
  return findings == 0;
}

}  // namespace deputy::fuzz
