// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/rescale.h"

#include <array>
#include <cmath>
#include <vector>

#include "core/kernel_api/fusion.h"
#include "core/kernel_api/scratch.h"
#include "kernels/common/views.h"

namespace deputy {
namespace {

bool HasSteps(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}

bool HasScale(const TfLiteTensor* tensor) {
  return tensor->params.scale > 0.0f && std::isfinite(tensor->params.scale);
}

template <typename T, typename Function>
void MapSteps(TfLiteContext* context, const void* in, int64_t count, void* out,
              const Function& function) {
  const T* const from = static_cast<const T*>(in);
  T* const to = static_cast<T*>(out);
  ParallelRanges(context, count, kElementsPerTask, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) to[i] = function(from[i]);
  });
}

// Rescales 8-bit values with a table of all 256 results.
template <typename T>
void RescaleBytes(TfLiteContext* context, const Rescaler& rescaler, const void* in, int64_t count,
                  void* out) {
  std::array<T, 256> table;
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = rescaler.Steps<T>(static_cast<T>(static_cast<uint8_t>(i)));
  }
  MapSteps<T>(context, in, count, out, [&](T step) { return table[static_cast<uint8_t>(step)]; });
}

bool IsRescaledInput(const MoveScales& scales, int input) {
  return scales.inputs == kAllInputs || (input < 32 && (scales.inputs >> input & 1) != 0);
}

// RAII guard: replaces the data of a node's inputs by rescaled copies.
class RescaledInputs {
 public:
  ~RescaledInputs() {
    for (const Saved& saved : saved_) {
      saved.tensor->data.data = saved.data;
      saved.tensor->params = saved.params;
    }
  }

  TfLiteStatus Rescale(TfLiteContext* context, TfLiteNode* node, const MoveScales& scales) {
    const TfLiteTensor* output = Output(context, node, 0);
    size_t bytes = 0;
    for (int i = 0; i < node->inputs->size; ++i) {
      TfLiteTensor* input = Input(context, node, i);
      if (input == nullptr || !IsRescaledInput(scales, i)) continue;
      if (NeedsRescaling(context, input, output)) bytes += CopyBytes(input);
    }
    if (!scratch_.Acquire(context, bytes)) {
      return TensorError(context, output, "out of memory for rescaled inputs");
    }
    char* copy = scratch_.data();
    for (int i = 0; i < node->inputs->size; ++i) {
      TfLiteTensor* input = Input(context, node, i);
      if (input == nullptr || !IsRescaledInput(scales, i)) continue;
      // An input that occurs twice in the node has been rescaled already and needs no second copy.
      if (!NeedsRescaling(context, input, output)) continue;
      RescaleSteps(context, input, output, input->data.data, ElementCount(input), copy);
      saved_.push_back({input, input->data.data, input->params});
      input->data.data = copy;
      input->params = output->params;
      copy += CopyBytes(input);
    }
    return kTfLiteOk;
  }

 private:
  struct Saved {
    TfLiteTensor* tensor;
    void* data;
    TfLiteQuantizationParams params;
  };

  // Size of a copy, aligned like a tensor.
  static size_t CopyBytes(const TfLiteTensor* tensor) {
    const size_t bytes = static_cast<size_t>(ElementCount(tensor)) *
                         (tensor->type == kTfLiteInt16 ? sizeof(int16_t) : 1);
    return (bytes + 63) / 64 * 64;
  }

  Scratch scratch_;
  std::vector<Saved> saved_;
};

}  // namespace

bool NeedsRescaling(const TfLiteContext* context, const TfLiteTensor* from,
                    const TfLiteTensor* to) {
  return HasSteps(to->type) && from->type == to->type &&
         (from->params.scale != to->params.scale ||
          from->params.zero_point != to->params.zero_point) &&
         HasScale(from) && HasScale(to) && ArithmeticOf(context) == Arithmetic::kDefault;
}

void RescaleSteps(TfLiteContext* context, const TfLiteTensor* from, const TfLiteTensor* to,
                  const void* in, int64_t count, void* out) {
  const Rescaler rescaler(from, to);
  if (to->type == kTfLiteInt8) return RescaleBytes<int8_t>(context, rescaler, in, count, out);
  if (to->type == kTfLiteUInt8) return RescaleBytes<uint8_t>(context, rescaler, in, count, out);
  MapSteps<int16_t>(context, in, count, out,
                    [&](int16_t step) { return rescaler.Steps<int16_t>(step); });
}

namespace {

// Returns true if any tensor selected by `scales` needs rescaling.
bool MoveNeedsRescaling(TfLiteContext* context, const TfLiteNode* node, MoveScales scales) {
  const TfLiteTensor* output = Output(context, node, 0);
  if (output == nullptr || !HasSteps(output->type)) return false;
  if (scales.inputs == 0) {
    const TfLiteTensor* source = Input(context, node, scales.source);
    for (int i = 0; i < node->outputs->size; ++i) {
      if (NeedsRescaling(context, source, Output(context, node, i))) return true;
    }
    return false;
  }
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* input = Input(context, node, i);
    if (input != nullptr && IsRescaledInput(scales, i) && NeedsRescaling(context, input, output)) {
      return true;
    }
  }
  return false;
}

// Rescales the selected inputs before `eval`, or the outputs after it.
TfLiteStatus EvalRescaled(TfLiteContext* context, TfLiteNode* node, MoveScales scales,
                          OpFunction eval) {
  if (scales.inputs != 0) {
    RescaledInputs inputs;
    DEPUTY_TRY(inputs.Rescale(context, node, scales));
    return eval(context, node);
  }
  DEPUTY_TRY(eval(context, node));
  const TfLiteTensor* source = Input(context, node, scales.source);
  for (int i = 0; i < node->outputs->size; ++i) {
    TfLiteTensor* output = Output(context, node, i);
    if (!NeedsRescaling(context, source, output)) continue;
    RescaleSteps(context, source, output, output->data.data, ElementCount(output),
                 output->data.data);
  }
  return kTfLiteOk;
}

}  // namespace

TfLiteStatus PrepareMove(TfLiteContext* context, TfLiteNode* node, MoveScales scales,
                         OpFunction prepare) {
  DEPUTY_TRY(prepare(context, node));
  if (!MoveNeedsRescaling(context, node, scales)) return kTfLiteOk;
  OfferFusion(context, node, {});
  OfferViews(context, node, {.kind = ViewOffer::Kind::kRefused});
  return kTfLiteOk;
}

TfLiteStatus EvalMove(TfLiteContext* context, TfLiteNode* node, MoveScales scales,
                      OpFunction eval) {
  if (MoveNeedsRescaling(context, node, scales)) [[unlikely]] {
    return EvalRescaled(context, node, scales, eval);
  }
  return eval(context, node);
}

}  // namespace deputy
