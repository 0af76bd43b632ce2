// SPDX-License-Identifier: Apache-2.0
#include "litert/src/table_alignment.h"

#include <cstdint>

namespace deputy::litert {
namespace {

template <typename... Vectors>
bool AreAligned(const Vectors*... vectors) {
  return (... && (vectors == nullptr ||
                  reinterpret_cast<uintptr_t>(vectors->Data()) % alignof(int64_t) == 0));
}

}  // namespace

bool HasAlignedLongs(const schema::Tensor& tensor) {
  const schema::QuantizationParameters* const quantization = tensor.quantization();
  return quantization == nullptr || AreAligned(quantization->zero_point());
}

bool HasAlignedLongs(const schema::Operator& op) {
  if (const auto* const of = op.builtin_options_2_as_StablehloGatherOptions()) {
    return AreAligned(of->offset_dims(), of->collapsed_slice_dims(), of->start_index_map(),
                      of->slice_sizes());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloTransposeOptions()) {
    return AreAligned(of->permutation());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloDotGeneralOptions()) {
    return AreAligned(of->lhs_batching_dimensions(), of->rhs_batching_dimensions(),
                      of->lhs_contracting_dimensions(), of->rhs_contracting_dimensions());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloReduceWindowOptions()) {
    return AreAligned(of->window_dimensions(), of->window_strides(), of->base_dilations(),
                      of->window_dilations(), of->padding());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloBroadcastInDimOptions()) {
    return AreAligned(of->broadcast_dimensions());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloDynamicSliceOptions()) {
    return AreAligned(of->slice_sizes());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloPadOptions()) {
    return AreAligned(of->edge_padding_low(), of->edge_padding_high(), of->interior_padding());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloReduceOptions()) {
    return AreAligned(of->dimensions());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloSliceOptions()) {
    return AreAligned(of->start_indices(), of->limit_indices(), of->strides());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloConvolutionOptions()) {
    return AreAligned(of->window_strides(), of->padding(), of->lhs_dilation(), of->rhs_dilation(),
                      of->input_spatial_dimensions(), of->kernel_spatial_dimensions(),
                      of->output_spatial_dimensions());
  }
  if (const auto* const of = op.builtin_options_2_as_StablehloScatterOptions()) {
    return AreAligned(of->update_window_dims(), of->inserted_window_dims(),
                      of->scatter_dims_to_operand_dims());
  }
  return true;
}

}  // namespace deputy::litert
