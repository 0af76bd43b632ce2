// SPDX-License-Identifier: Apache-2.0
//
// Operators that move data, resize or reduce.
#include <algorithm>
#include <vector>

#include "bridges/hexagon/operators.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

namespace deputy::hexagon {
namespace {

// Maximum height and width of a resized image: larger results are slower on the DSP than on the
// CPU.
constexpr int kMaxResizedExtent = 65;

std::vector<int32_t> IntsOf(const TfLiteTensor& tensor) {
  return {tensor.data.i32, tensor.data.i32 + tensor.bytes / sizeof(int32_t)};
}

// Converts an axis of the host's tensor to one of the DSP's four dimensions.
int32_t DeviceAxis(int32_t axis, int rank) { return axis < 0 ? axis + 4 : axis + 4 - rank; }

NnInput AddReshape(NnInput from, const Dims& dims, GraphBuilder* graph) {
  const NnInput shape = graph->AddInts({1, 1, 1, 4}, {dims.begin(), dims.end()});
  return graph->AddNode(kNnReshape, kNnPadNone, {from, shape}, dims, 1);
}

// ---- RESHAPE ------------------------------------------------------------------------------------

// Checks a RESHAPE. The shape is taken from the output tensor, but the shape input must be
// constant, so that the output's shape is known.
Refusal CheckReshape(const Node& node) {
  if (node.input_count() > 1) {
    if (Refusal refusal = CheckConstantInts(node, 1); refusal.reason != 0) return refusal;
  }
  return CheckSameRange(node, 0);
}

void TranslateReshape(const Node& node, Translation* translation) {
  translation->SetOutput(
      node, AddReshape(translation->Tensor(node, 0), DimsOf(node.output()), &translation->graph()));
}

// ---- CONCATENATION ------------------------------------------------------------------------------

Refusal CheckConcatenation(const Node& node) {
  for (int i = 0; i < node.input_count(); ++i) {
    const TfLiteTensor* tensor = node.input(i);
    const std::string which = "input " + std::to_string(i);
    if (tensor == nullptr || tensor->type != node.output().type) {
      return Refuse(kDeputyReasonType, which + ": expected the type of the output");
    }
    if (tensor->dims->size != node.output().dims->size) {
      return Refuse(kDeputyReasonShape, which + ": expected the rank of the output");
    }
    const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor->quantization.params);
    if (tensor->quantization.type != kTfLiteAffineQuantization || affine == nullptr ||
        affine->scale == nullptr || affine->scale->size != 1 || affine->zero_point == nullptr) {
      return Refuse(kDeputyReasonQuantization, which + ": expected one scale and zero point");
    }
  }
  return CheckActivation(node, node.params<TfLiteConcatenationParams>().activation);
}

void TranslateConcatenation(const Node& node, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const int rank = node.output().dims->size;
  const int32_t axis = DeviceAxis(node.params<TfLiteConcatenationParams>().axis, rank);
  std::vector<NnInput> inputs = {graph.AddInt(axis)}, mins, maxs;
  for (int i = 0; i < node.input_count(); ++i) {
    const Quantized each = translation->TensorWithRange(node, i);
    inputs.push_back(each.data);
    mins.push_back(each.min);
    maxs.push_back(each.max);
  }
  inputs.insert(inputs.end(), mins.begin(), mins.end());
  inputs.insert(inputs.end(), maxs.begin(), maxs.end());
  const Dims dims = DimsOf(node.output());
  const Quantized computed = graph.AddQuantized(kNnConcat8, kNnPadNone, std::move(inputs), dims);
  const Range output = RangeOf(node.output());
  bool same = true;
  for (int i = 0; i < node.input_count(); ++i) same = same && RangeOf(*node.input(i)) == output;
  translation->SetOutput(
      node, same ? computed.data : graph.AddRequantize(kNnRequantize8to8, computed, output, dims));
}

// ---- PAD ----------------------------------------------------------------------------------------

Refusal CheckPad(const Node& node) {
  if (node.input_count() != 2) return Refuse(kDeputyReasonOther, "expected two inputs");
  const Refusal refusal = CheckConstantInts(node, 1);
  return refusal.reason != 0 ? refusal : CheckSameRange(node, 0);
}

void TranslatePad(const Node& node, Translation* translation) {
  const std::vector<int32_t> given = IntsOf(*node.input(1));
  std::vector<int32_t> paddings(8, 0);
  const size_t count = std::min(given.size(), paddings.size());
  std::copy_n(given.end() - static_cast<std::ptrdiff_t>(count), count,
              paddings.end() - static_cast<std::ptrdiff_t>(count));
  const Quantized from = translation->TensorWithRange(node, 0);
  const NnInput amounts = translation->graph().AddInts({1, 1, 4, 2}, paddings);
  translation->SetOutput(
      node, translation->graph()
                .AddQuantized(kNnPad8, kNnPadNone, {from.data, from.min, from.max, amounts},
                              DimsOf(node.output()))
                .data);
}

// ---- RESIZE_BILINEAR ----------------------------------------------------------------------------

Refusal CheckResize(const Node& node) {
  if (Refusal refusal = CheckConstantInts(node, 1); refusal.reason != 0) return refusal;
  if (node.input(0)->dims->size != 4) {
    return Refuse(kDeputyReasonShape, "input 0: expected 4 dimensions");
  }
  if (node.params<TfLiteResizeBilinearParams>().half_pixel_centers) {
    return Refuse(kDeputyReasonParameter, "expected no half_pixel_centers");
  }
  const TfLiteIntArray& dims = *node.output().dims;
  if (std::max(dims.data[1], dims.data[2]) > kMaxResizedExtent) {
    return Refuse(kDeputyReasonCost, "expected a result of " + std::to_string(kMaxResizedExtent) +
                                         " rows and columns at most");
  }
  return CheckSameRange(node, 0);
}

void TranslateResize(const Node& node, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const Dims dims = DimsOf(node.output());
  const Quantized from = translation->TensorWithRange(node, 0);
  const NnInput size = graph.AddInts({1, 1, 1, 2}, {dims[1], dims[2]});
  const NnInput corners =
      graph.AddInt(node.params<TfLiteResizeBilinearParams>().align_corners ? 1 : 0);
  translation->SetOutput(node,
                         graph
                             .AddQuantized(kNnResizeBilinear8, kNnPadNone,
                                           {from.data, size, from.min, from.max, corners}, dims)
                             .data);
}

// ---- MEAN ---------------------------------------------------------------------------------------

Refusal CheckMean(const Node& node) { return CheckConstantInts(node, 1); }

// Translates MEAN. The DSP keeps reduced axes with extent 1; a RESHAPE removes them.
void TranslateMean(const Node& node, Translation* translation) {
  GraphBuilder& graph = translation->graph();
  const TfLiteTensor& input = *node.input(0);
  std::vector<int32_t> axes = IntsOf(*node.input(1));
  Dims kept = DimsOf(input);
  for (int32_t& axis : axes) {
    axis = DeviceAxis(axis, input.dims->size);
    kept[static_cast<size_t>(axis)] = 1;
  }
  const Quantized from = translation->TensorWithRange(node, 0);
  const Range output = RangeOf(node.output());
  const NnInput which = graph.AddInts({1, 1, 1, static_cast<int>(axes.size())}, axes);
  const NnInput min = graph.AddFloat(output.min), max = graph.AddFloat(output.max);
  const Quantized computed = graph.AddQuantized(
      kNnMean8, kNnPadNone, {from.data, from.min, from.max, which, min, max}, kept);
  const NnInput result = graph.AddRequantize(kNnRequantize8to8, computed, output, kept);
  const Dims dims = DimsOf(node.output());
  translation->SetOutput(node, kept == dims ? result : AddReshape(result, dims, &graph));
}

// ---- TRANSPOSE ----------------------------------------------------------------------------------

Refusal CheckTranspose(const Node& node) {
  if (Refusal refusal = CheckConstantInts(node, 1); refusal.reason != 0) return refusal;
  return CheckSameRange(node, 0);
}

void TranslateTranspose(const Node& node, Translation* translation) {
  const int rank = node.output().dims->size;
  std::vector<int32_t> order = {0, 1, 2, 3};
  const std::vector<int32_t> given = IntsOf(*node.input(1));
  for (size_t i = 0; i < given.size(); ++i) {
    const int32_t axis = given[i] < 0 ? given[i] + rank : given[i];
    order[order.size() - given.size() + i] = axis + 4 - rank;
  }
  const Quantized from = translation->TensorWithRange(node, 0);
  const NnInput axes = translation->graph().AddInts({1, 1, 1, 4}, order);
  translation->SetOutput(
      node, translation->graph()
                .AddQuantized(kNnTranspose8, kNnPadNone, {from.data, axes, from.min, from.max},
                              DimsOf(node.output()))
                .data);
}

constexpr OperatorRow kRows[] = {
    {kTfLiteBuiltinReshape, 1, false, CheckReshape, TranslateReshape},
    {kTfLiteBuiltinConcatenation, 2, true, CheckConcatenation, TranslateConcatenation},
    {kTfLiteBuiltinPad, 2, false, CheckPad, TranslatePad},
    {kTfLiteBuiltinResizeBilinear, 2, true, CheckResize, TranslateResize},
    {kTfLiteBuiltinMean, 2, false, CheckMean, TranslateMean},
    {kTfLiteBuiltinTranspose, 2, false, CheckTranspose, TranslateTranspose},
};

}  // namespace

std::span<const OperatorRow> ShapeOperators() { return kRows; }

}  // namespace deputy::hexagon
