// SPDX-License-Identifier: Apache-2.0
//
// RESHAPE. The wanted shape comes from the second input if that is a vector of int32, else from the
// options (a second input of any other form is ignored, as upstream does). If it is not a constant
// the output's shape is known only while running, and the output is a dynamic tensor.
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/registry.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillReshape(const OpOptions& options, TfLiteReshapeParams* params) {
  const std::span<const int32_t> shape = options.Ints(0);
  if (shape.size() > std::size(params->shape)) return false;
  std::copy(shape.begin(), shape.end(), params->shape);
  params->num_dimensions = static_cast<int>(shape.size());
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

// The second input if it counts.
const TfLiteTensor* ShapeTensor(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 1);
  return shape != nullptr && shape->type == kTfLiteInt32 && Rank(shape) == 1 ? shape : nullptr;
}

std::span<const int32_t> WantedShape(TfLiteContext* context, const TfLiteNode* node) {
  if (const TfLiteTensor* shape = ShapeTensor(context, node)) {
    return {Data<int32_t>(shape), static_cast<size_t>(Dim(shape, 0))};
  }
  const auto& params = ParamsOf<TfLiteReshapeParams>(node);
  // Old models spell a scalar [0].
  if (params.num_dimensions == 1 && params.shape[0] == 0) return {};
  return {params.shape, static_cast<size_t>(params.num_dimensions)};
}

// Resizes the output to the wanted shape, with at most one -1 replaced by what is left over.
TfLiteStatus ResizeOutput(TfLiteContext* context, TfLiteNode* node) {
  const std::span<const int32_t> wanted = WantedShape(context, node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (wanted.size() > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %zu", kMaxRank,
                       wanted.size());
  }
  int dims[kMaxRank];
  int stretched = -1;
  size_t product = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    dims[i] = wanted[i];
    if (wanted[i] == -1 && stretched < 0) {
      stretched = static_cast<int>(i);
    } else if (wanted[i] < 0) {
      return TensorError(context, output, "expected dimensions of 0 or more and at most one -1, "
                         "found %d in dimension %zu", wanted[i], i);
    } else if (!MultiplySizes(product, static_cast<size_t>(wanted[i]), &product)) {
      return TensorError(context, output, "its new size would overflow");
    }
  }
  const size_t count = static_cast<size_t>(ElementCount(input));
  if (stretched >= 0) {
    const size_t left_over = product == 0 ? 0 : count / product;
    if (left_over > static_cast<size_t>(INT32_MAX)) {
      return TensorError(context, output, "its dimension %d would overflow", stretched);
    }
    dims[stretched] = static_cast<int>(left_over);
    product *= left_over;
  }
  if (product != count) {
    return TensorError(context, output, "expected a shape of %zu elements like tensor %d, "
                       "found one of %zu", count, static_cast<int>(input - context->tensors),
                       product);
  }
  return ResizeTo(context, output, {dims, wanted.size()});
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* shape = ShapeTensor(context, node);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (input->type == kTfLiteString || (shape != nullptr && !IsReadableConstant(shape))) {
    MakeDynamic(output);
    return kTfLiteOk;
  }
  return ResizeOutput(context, node);
}

// ---- Eval -------------------------------------------------------------------------------------

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeOutput(context, node));
  if (output->type == kTfLiteString &&
      TfLiteTensorRealloc(input->bytes, output) != kTfLiteOk) {
    return TensorError(context, output, "out of memory for %zu bytes", input->bytes);
  }
  if (output->bytes != input->bytes) {
    return TensorError(context, output, "expected %zu bytes, found %zu", input->bytes,
                       output->bytes);
  }
  // The two may share their memory.
  if (input->bytes > 0 && output->data.data != input->data.data) {
    std::memcpy(output->data.data, input->data.data, input->bytes);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "RESHAPE",
     .code = kTfLiteBuiltinReshape,
     .min_version = 1,
     .max_version = 1,
     .types = kFloat32Bit | kFloat16Bit | kInt8Bit | kInt32Bit | TypeBit(kTfLiteUInt8) |
              TypeBit(kTfLiteInt16) | TypeBit(kTfLiteInt64) | TypeBit(kTfLiteBool),
     .options = {1, 17},
     .params_size = sizeof(TfLiteReshapeParams),
     .parse = &ParseOptions<17, TfLiteReshapeParams, &FillReshape>,
     .init = nullptr,
     .free = nullptr,
     .prepare = &Guarded<&Prepare>,
     .invoke = &Guarded<&Eval>,
     .inplace = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified},
};

}  // namespace

constexpr std::span<const OpDef> kShapeOps = kTable;

}  // namespace deputy
