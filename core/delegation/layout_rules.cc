// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/layout_rules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/builtin_ops.h"
#include "core/base/type_size.h"
#include "core/graph/graph.h"

namespace deputy {
namespace {

using Params = LayoutRule::Params;
constexpr uint8_t kAll = LayoutRule::kAllInputs;

// An operator that depends on the layout; `image` is the position of its image, `shapes` the mask
// of inputs with one entry per dimension.
constexpr LayoutRule Bound(int code, size_t params_size, int image = 0, uint8_t shapes = 0) {
  return {static_cast<int16_t>(code), true,          static_cast<uint8_t>(1u << image), shapes,
          InputChange::kPerDimension, Params::kNone, static_cast<uint8_t>(params_size)};
}

constexpr LayoutRule Elementwise(int code, size_t params_size = 0) {
  return {static_cast<int16_t>(code),       false, kAll, 0, InputChange::kNone, Params::kNone,
          static_cast<uint8_t>(params_size)};
}

// An operator whose inputs of the mask `changed` refer to dimensions.
constexpr LayoutRule Dimensional(int code, InputChange change, uint8_t changed, size_t params_size,
                                 Params params = Params::kNone, int image = 0) {
  return {static_cast<int16_t>(code),
          false,
          static_cast<uint8_t>(1u << image),
          changed,
          change,
          params,
          static_cast<uint8_t>(params_size)};
}

constexpr LayoutRule Reduction(int code) {
  return Dimensional(code, InputChange::kAxes, 2, sizeof(TfLiteReducerParams), Params::kReducer);
}

constexpr LayoutRule kRules[] = {
    Bound(kTfLiteBuiltinConv2d, sizeof(TfLiteConvParams)),
    Bound(kTfLiteBuiltinDepthwiseConv2d, sizeof(TfLiteDepthwiseConvParams)),
    Bound(kTfLiteBuiltinTransposeConv, sizeof(TfLiteTransposeConvParams), 2, 1),
    Bound(kTfLiteBuiltinAveragePool2d, sizeof(TfLitePoolParams)),
    Bound(kTfLiteBuiltinMaxPool2d, sizeof(TfLitePoolParams)),
    Bound(kTfLiteBuiltinL2Pool2d, sizeof(TfLitePoolParams)),
    Bound(kTfLiteBuiltinResizeBilinear, sizeof(TfLiteResizeBilinearParams)),
    Bound(kTfLiteBuiltinResizeNearestNeighbor, sizeof(TfLiteResizeNearestNeighborParams)),
    Bound(kTfLiteBuiltinDepthToSpace, sizeof(TfLiteDepthToSpaceParams)),
    Bound(kTfLiteBuiltinSpaceToDepth, sizeof(TfLiteSpaceToDepthParams)),
    Bound(kTfLiteBuiltinSpaceToBatchNd, 0),
    Bound(kTfLiteBuiltinBatchToSpaceNd, 0),
    Bound(kTfLiteBuiltinLocalResponseNormalization, sizeof(TfLiteLocalResponseNormParams)),

    Elementwise(kTfLiteBuiltinAdd, sizeof(TfLiteAddParams)),
    Elementwise(kTfLiteBuiltinSub, sizeof(TfLiteSubParams)),
    Elementwise(kTfLiteBuiltinMul, sizeof(TfLiteMulParams)),
    Elementwise(kTfLiteBuiltinDiv, sizeof(TfLiteDivParams)),
    Elementwise(kTfLiteBuiltinLeakyRelu, sizeof(TfLiteLeakyReluParams)),
    Elementwise(kTfLiteBuiltinGelu, sizeof(TfLiteGeluParams)),
    Elementwise(kTfLiteBuiltinCast, sizeof(TfLiteCastParams)),
    Elementwise(kTfLiteBuiltinAddN),
    Elementwise(kTfLiteBuiltinMaximum),
    Elementwise(kTfLiteBuiltinMinimum),
    Elementwise(kTfLiteBuiltinPow),
    Elementwise(kTfLiteBuiltinSquaredDifference),
    Elementwise(kTfLiteBuiltinFloorDiv),
    Elementwise(kTfLiteBuiltinFloorMod),
    Elementwise(kTfLiteBuiltinEqual),
    Elementwise(kTfLiteBuiltinNotEqual),
    Elementwise(kTfLiteBuiltinLess),
    Elementwise(kTfLiteBuiltinLessEqual),
    Elementwise(kTfLiteBuiltinGreater),
    Elementwise(kTfLiteBuiltinGreaterEqual),
    Elementwise(kTfLiteBuiltinLogicalAnd),
    Elementwise(kTfLiteBuiltinLogicalOr),
    Elementwise(kTfLiteBuiltinLogicalNot),
    Elementwise(kTfLiteBuiltinSelectV2),
    Elementwise(kTfLiteBuiltinPrelu),
    Elementwise(kTfLiteBuiltinRelu),
    Elementwise(kTfLiteBuiltinRelu6),
    Elementwise(kTfLiteBuiltinReluN1To1),
    Elementwise(kTfLiteBuiltinRelu0To1),
    Elementwise(kTfLiteBuiltinElu),
    Elementwise(kTfLiteBuiltinLogistic),
    Elementwise(kTfLiteBuiltinTanh),
    Elementwise(kTfLiteBuiltinHardSwish),
    Elementwise(kTfLiteBuiltinAbs),
    Elementwise(kTfLiteBuiltinNeg),
    Elementwise(kTfLiteBuiltinSign),
    Elementwise(kTfLiteBuiltinExp),
    Elementwise(kTfLiteBuiltinLog),
    Elementwise(kTfLiteBuiltinSqrt),
    Elementwise(kTfLiteBuiltinRsqrt),
    Elementwise(kTfLiteBuiltinSquare),
    Elementwise(kTfLiteBuiltinSin),
    Elementwise(kTfLiteBuiltinCos),
    Elementwise(kTfLiteBuiltinFloor),
    Elementwise(kTfLiteBuiltinCeil),
    Elementwise(kTfLiteBuiltinRound),
    Elementwise(kTfLiteBuiltinQuantize),
    Elementwise(kTfLiteBuiltinDequantize),

    {kTfLiteBuiltinConcatenation, false, kAll, 0, InputChange::kNone, Params::kConcatenation,
     sizeof(TfLiteConcatenationParams)},
    Dimensional(kTfLiteBuiltinPad, InputChange::kPerDimension, 2, 0),
    Dimensional(kTfLiteBuiltinPadv2, InputChange::kPerDimension, 2, 0),
    Dimensional(kTfLiteBuiltinMirrorPad, InputChange::kPerDimension, 2,
                sizeof(TfLiteMirrorPaddingParams)),
    Dimensional(kTfLiteBuiltinSlice, InputChange::kPerDimension, 6, 0),
    Dimensional(kTfLiteBuiltinStridedSlice, InputChange::kPerDimension, 14,
                sizeof(TfLiteStridedSliceParams), Params::kStridedSlice),
    Dimensional(kTfLiteBuiltinTile, InputChange::kPerDimension, 2, 0),
    Dimensional(kTfLiteBuiltinSplit, InputChange::kAxes, 1, sizeof(TfLiteSplitParams),
                Params::kNone, 1),
    Dimensional(kTfLiteBuiltinSplitV, InputChange::kAxes, 4, sizeof(TfLiteSplitVParams)),
    Dimensional(kTfLiteBuiltinArgMax, InputChange::kAxes, 2, sizeof(TfLiteArgMaxParams),
                Params::kRemovesAxis),
    Dimensional(kTfLiteBuiltinArgMin, InputChange::kAxes, 2, sizeof(TfLiteArgMinParams),
                Params::kRemovesAxis),
    Reduction(kTfLiteBuiltinMean),
    Reduction(kTfLiteBuiltinSum),
    Reduction(kTfLiteBuiltinReduceMax),
    Reduction(kTfLiteBuiltinReduceMin),
    Reduction(kTfLiteBuiltinReduceProd),
    Reduction(kTfLiteBuiltinReduceAny),
    Reduction(kTfLiteBuiltinReduceAll),
};

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw != nullptr;
}

int RankOf(const TfLiteTensor& tensor) { return tensor.dims == nullptr ? -1 : tensor.dims->size; }

std::span<const int> DimsOf(const TfLiteTensor& tensor) { return IndicesOf(tensor.dims); }

bool HasOneElement(const TfLiteTensor& tensor) {
  const std::span<const int> dims = DimsOf(tensor);
  return std::all_of(dims.begin(), dims.end(), [](int dim) { return dim == 1; });
}

bool IsImage(const TfLiteTensor& tensor) {
  return RankOf(tensor) == kImageRank && !tensor.is_variable && tensor.sparsity == nullptr &&
         TypeBits(tensor.type) >= 8;
}

// Returns true if the constant has one entry or group of entries per dimension.
bool HasEntryPerDimension(const TfLiteTensor& tensor) {
  const std::span<const int> dims = DimsOf(tensor);
  return (tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64) && !dims.empty() &&
         dims[0] == kImageRank && tensor.bytes > 0;
}

// Returns a mask of the dimensions in a constant; -1 if one is out of range or not an int32.
int AxesOf(const TfLiteTensor& tensor) {
  if (tensor.type != kTfLiteInt32) return -1;
  int mask = 0;
  for (size_t i = 0; i < tensor.bytes / sizeof(int32_t); ++i) {
    const int axis = tensor.data.i32[i];
    if (axis < -kImageRank || axis >= kImageRank) return -1;
    mask |= 1 << (axis < 0 ? axis + kImageRank : axis);
  }
  return mask;
}

// Returns true if the dimensions that remain without those of the mask have the same order in both
// layouts.
bool KeepsOrder(int removed) {
  const bool keeps_channels = (removed & 8) == 0, keeps_pixels = (removed & 6) != 6;
  return !keeps_channels || !keeps_pixels;
}

const char* WhyNotInput(const TfLiteTensor& input, int position, const LayoutRule& rule) {
  switch (ChangeOfInput(input, position, rule)) {
    case InputChange::kImage:
      return IsImage(input) ? nullptr : "an input is not a plain 4-D image";
    case InputChange::kConstant: {
      size_t bytes = 0;
      const bool is_plain = input.sparsity == nullptr && TypeBits(input.type) >= 8 &&
                            TensorBytes(input.type, DimsOf(input), &bytes) && bytes == input.bytes;
      const bool may_broadcast = rule.params != Params::kConcatenation;
      const int rank = RankOf(input);
      return is_plain && (rank == kImageRank || (may_broadcast && rank < kImageRank))
                 ? nullptr
                 : "a constant cannot be transposed";
    }
    case InputChange::kPerDimension:
      return IsConstant(input) && HasEntryPerDimension(input)
                 ? nullptr
                 : "an input with an entry per dimension is not constant";
    case InputChange::kAxes:
      return IsConstant(input) && AxesOf(input) >= 0 ? nullptr
                                                     : "its axes are not constant or out of range";
    default:
      return nullptr;
  }
}

// Returns null if the node's parameters can be converted.
const char* WhyNotParams(const Graph& graph, const TfLiteNode& node, const LayoutRule& rule) {
  if (rule.params == Params::kNone) return nullptr;
  if (node.builtin_data == nullptr) return "it has no parameters";
  bool keeps_images = true;
  switch (rule.params) {
    case Params::kConcatenation: {
      const int axis = static_cast<const TfLiteConcatenationParams*>(node.builtin_data)->axis;
      return axis >= -kImageRank && axis < kImageRank ? nullptr : "its axis is out of range";
    }
    case Params::kStridedSlice: {
      const auto& params = *static_cast<const TfLiteStridedSliceParams*>(node.builtin_data);
      const bool is_plain =
          params.ellipsis_mask == 0 && params.new_axis_mask == 0 && params.shrink_axis_mask == 0;
      return is_plain ? nullptr : "it adds or removes dimensions";
    }
    case Params::kReducer:
      keeps_images = static_cast<const TfLiteReducerParams*>(node.builtin_data)->keep_dims;
      break;
    default:
      keeps_images = false;
  }
  const bool is_same = keeps_images || KeepsOrder(AxesOf(*graph.tensor(node.inputs->data[1])));
  return is_same ? nullptr : "its result would have another order of dimensions";
}

// Returns true if the outputs are images; false if they have lost dimensions.
bool HasImageOutputs(const TfLiteNode& node, const LayoutRule& rule) {
  if (rule.params == Params::kRemovesAxis) return false;
  return rule.params != Params::kReducer ||
         static_cast<const TfLiteReducerParams*>(node.builtin_data)->keep_dims;
}

int ConvertMask(int mask) {
  int converted = 0;
  for (int i = 0; i < kImageRank; ++i) converted |= (mask >> i & 1) << kToNhwc[i];
  return converted;
}

// Copies `images` blocks of [pixels, channels] elements to [channels, pixels].
void TransposeElements(const char* from, char* to, size_t images, size_t pixels, size_t channels,
                       size_t size) {
  for (size_t n = 0; n < images; ++n, from += pixels * channels * size) {
    for (size_t c = 0; c < channels; ++c) {
      for (size_t p = 0; p < pixels; ++p, to += size) {
        memcpy(to, from + (p * channels + c) * size, size);
      }
    }
  }
}

}  // namespace

const LayoutRule* FindLayoutRule(int builtin_code) {
  const auto* const found =
      std::find_if(std::begin(kRules), std::end(kRules),
                   [builtin_code](const LayoutRule& rule) { return rule.code == builtin_code; });
  return found == std::end(kRules) ? nullptr : found;
}

InputChange ChangeOfInput(const TfLiteTensor& input, int position, const LayoutRule& rule) {
  const auto has = [position](uint8_t mask) { return position < 8 && (mask >> position & 1) != 0; };
  if (has(rule.changed)) return rule.change;
  if (rule.images != LayoutRule::kAllInputs && !has(rule.images)) return InputChange::kNone;
  if (!IsConstant(input)) return InputChange::kImage;
  return RankOf(input) < kImageRank && HasOneElement(input) ? InputChange::kNone
                                                            : InputChange::kConstant;
}

const char* WhyNotConvertible(const Graph& graph, int node_index, const LayoutRule& rule) {
  const TfLiteNode& node = *graph.node(node_index);
  if (node.delegate != nullptr) return "another delegate runs it";
  bool has_image = false;
  int position = 0;
  for (const int index : IndicesOf(node.inputs)) {
    if (index >= 0) {
      const TfLiteTensor& input = *graph.tensor(index);
      if (const char* why = WhyNotInput(input, position, rule)) return why;
      has_image = has_image || ChangeOfInput(input, position, rule) == InputChange::kImage;
    } else if (rule.images == LayoutRule::kAllInputs ||
               ((rule.images | rule.changed) >> position & 1) != 0) {
      return "an input is absent";
    }
    ++position;
  }
  if (!has_image) return "its image is a constant";
  // Trailing inputs may be absent, too.
  for (int i = 0; i < 8; ++i) {
    if ((rule.changed >> i & 1) != 0 && i >= node.inputs->size) return "an input is absent";
  }
  if (const char* why = WhyNotParams(graph, node, rule)) return why;
  if (!HasImageOutputs(node, rule)) return nullptr;
  for (const int index : IndicesOf(node.outputs)) {
    if (index < 0 || !IsImage(*graph.tensor(index))) return "an output is not a plain 4-D image";
  }
  return nullptr;
}

std::vector<int> NchwDims(const TfLiteIntArray& nhwc) {
  std::vector<int> dims(kImageRank);
  for (int i = 0; i < kImageRank; ++i) {
    dims[static_cast<size_t>(i)] = kToNchw[i] < nhwc.size ? nhwc.data[kToNchw[i]] : 1;
  }
  return dims;
}

bool ConvertConstant(const TfLiteTensor& source, InputChange change, const Limits& limits,
                     std::vector<int>* dims, Block* data) {
  const std::span<const int> from = DimsOf(source);
  const char* const bytes = source.data.raw_const;
  if (change == InputChange::kConstant) {
    int nhwc[kImageRank] = {1, 1, 1, 1};
    std::copy(from.begin(), from.end(), nhwc + kImageRank - from.size());
    dims->clear();
    for (const int dimension : kToNchw) dims->push_back(nhwc[dimension]);
    const auto pixels = static_cast<size_t>(nhwc[1]) * static_cast<size_t>(nhwc[2]);
    const auto channels = static_cast<size_t>(nhwc[3]);
    if (pixels <= 1 || channels <= 1 || source.bytes == 0) return true;
    if (!data->Reserve(source.bytes, 0, limits)) return false;
    TransposeElements(bytes, data->data(), static_cast<size_t>(nhwc[0]), pixels, channels,
                      TypeBits(source.type) / 8);
    return true;
  }
  dims->assign(from.begin(), from.end());
  if (!data->Reserve(source.bytes, 0, limits)) return false;
  if (change == InputChange::kPerDimension) {
    const size_t group = source.bytes / kImageRank;
    for (size_t i = 0; i < kImageRank; ++i) {
      memcpy(data->data() + i * group, bytes + static_cast<size_t>(kToNchw[i]) * group, group);
    }
    return true;
  }
  for (size_t i = 0; i < source.bytes / sizeof(int32_t); ++i) {
    const int axis = source.data.i32[i];
    const int32_t converted = kToNhwc[axis < 0 ? axis + kImageRank : axis];
    memcpy(data->data() + i * sizeof converted, &converted, sizeof converted);
  }
  return true;
}

void* ConvertParams(const TfLiteNode& node, const LayoutRule& rule) {
  if (node.builtin_data == nullptr || rule.params_size == 0) return nullptr;
  void* const copy = malloc(rule.params_size);
  if (copy == nullptr) throw std::bad_alloc();
  memcpy(copy, node.builtin_data, rule.params_size);
  if (rule.params == Params::kConcatenation) {
    int& axis = static_cast<TfLiteConcatenationParams*>(copy)->axis;
    axis = kToNhwc[axis < 0 ? axis + kImageRank : axis];
  } else if (rule.params == Params::kStridedSlice) {
    auto& params = *static_cast<TfLiteStridedSliceParams*>(copy);
    params.begin_mask = ConvertMask(params.begin_mask);
    params.end_mask = ConvertMask(params.end_mask);
  }
  return copy;
}

}  // namespace deputy
