// SPDX-License-Identifier: Apache-2.0
//
// Implements in_place.h. The tensors' sizes are known only after the first allocation; then both
// tensors receive the same block and the interpreter allocates again.
#include "tests/conformance/in_place.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "c_api/include/c_api_experimental.h"
#include "tests/cases/case.h"
#include "tests/conformance/check.h"

namespace deputy::conformance {
namespace {

constexpr size_t kAlignment = 64;  // alignment that custom allocations require, in bytes

using Block = std::unique_ptr<void, decltype(&std::free)>;

Block MakeBlock(size_t bytes) {
  const size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  return {std::aligned_alloc(kAlignment, rounded), &std::free};
}

// Finds the tensors' indices; returns "" or the reason why they cannot share memory.
std::string FindTensors(const TfLiteInterpreter* interpreter, const Sharing& sharing,
                        int32_t* out_input, int32_t* out_output) {
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyInterpreterGetNodeInfo(interpreter, 0, 0, &info) != kTfLiteOk) return "no node";
  if (sharing.input >= info.input_count || sharing.output >= info.output_count) return "no tensor";
  *out_input = info.inputs[sharing.input];
  *out_output = info.outputs[sharing.output];
  return *out_input < 0 || *out_output < 0 ? "an optional tensor is absent" : "";
}

std::string SeparateReason(const TfLiteTensor* input, const TfLiteTensor* output) {
  if (input->allocation_type != kTfLiteArenaRw || output->allocation_type != kTfLiteArenaRw) {
    return "a tensor is not in the arena";
  }
  return output->bytes > input->bytes ? "the output is larger" : "";
}

// Gives both tensors the block and returns "", or returns a problem. The interpreter must allocate
// afterwards.
std::string Share(TfLiteInterpreter* interpreter, const Sharing& sharing, Block* block) {
  if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk)
    return "the graph cannot be allocated";
  int32_t input = -1, output = -1;
  std::string why_not = FindTensors(interpreter, sharing, &input, &output);
  if (!why_not.empty()) return why_not;
  const TfLiteTensor* from = DeputyInterpreterGetTensor(interpreter, 0, input);
  why_not = SeparateReason(from, DeputyInterpreterGetTensor(interpreter, 0, output));
  if (!why_not.empty()) return why_not;
  *block = MakeBlock(from->bytes);
  const TfLiteCustomAllocation allocation = {block->get(), std::max(from->bytes, size_t{1})};
  for (const int32_t tensor : {input, output}) {
    if (TfLiteInterpreterSetCustomAllocationForTensor(interpreter, tensor, &allocation, 0) !=
        kTfLiteOk) {
      return "a tensor accepts no custom allocation";
    }
  }
  return "";
}

}  // namespace

InPlaceResult RunCaseInPlace(const OpCase& op_case, const Target& target,
                             DeputyArithmetic arithmetic, const Sharing& sharing) {
  InPlaceResult both;
  Block block(nullptr, &std::free);
  Job job;
  job.before_allocation = [&](TfLiteInterpreter* interpreter) {
    both.impossible = Share(interpreter, sharing, &block);
    return both.impossible.empty() ? kTfLiteOk : kTfLiteError;
  };
  both.result = RunCase(op_case, target, arithmetic, &job);
  return both;
}

std::vector<Sharing> SharingsOf(uint64_t mask, int inputs, int outputs) {
  std::vector<Sharing> sharings;
  for (int i = 0; i < std::min(inputs, kTfLiteMaxSharableOpInputs); ++i) {
    const bool is_shared = (mask & (uint64_t{kTfLiteInplaceOpInput0Shared} << i)) != 0;
    if (is_shared && outputs > 0) sharings.push_back({i, 0});
  }
  if ((mask & kTfLiteInplaceOpDataUnmodified) != 0 && inputs > 0 && outputs > 0) {
    sharings.push_back({0, 0});
  }
  if ((mask & kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput) != 0) {
    for (int i = 0; i < std::min(inputs, outputs); ++i) sharings.push_back({i, i});
  }
  return sharings;
}

}  // namespace deputy::conformance
