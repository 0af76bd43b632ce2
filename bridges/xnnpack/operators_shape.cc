// SPDX-License-Identifier: Apache-2.0
//
// Operators that move data, resize images, or reduce them.
#include <algorithm>
#include <cstring>
#include <limits>

#include "bridges/xnnpack/operators.h"
#include "deputy/deputy_plugin.h"

namespace deputy::xnnpack {

// Defines MEAN over height and width of images.
bool DefineMean(const Operation& operation) {
  Definition* definition = operation.definition;
  std::vector<int64_t> axes;
  if (!operation.ExpectInputs(2, 2) || !operation.ExpectOneType(1) ||
      !operation.ExpectRank(operation.in[0], 4) || !operation.ReadInts(1, &axes)) {
    return false;
  }
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != std::vector<int64_t>{1, 2}) {
    return definition->Refuse(kDeputyReasonParameter, "expected the mean over axes 1 and 2");
  }
  const Shape kept = {operation.in[0][0], 1, 1, operation.in[0][3]};
  const Shape& out_shape = operation.out[0];
  const bool keeps = out_shape == kept;
  uint32_t in = 0, out = 0;
  if ((!keeps && !operation.ExpectShape(out_shape, {kept[0], kept[3]}, "output")) ||
      !operation.Values(1, &in, &out)) {
    return false;
  }
  uint32_t mean = out;
  if (!keeps && !definition->NewValue(operation.outputs[0], kept, &mean)) return false;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!definition->Accept(xnn_define_global_average_pooling_2d(definition->subgraph(), -kInfinity,
                                                               kInfinity, in, mean, 0))) {
    return false;
  }
  return keeps || definition->Accept(xnn_define_static_reshape(
                      definition->subgraph(), out_shape.size(), out_shape.data(), mean, out, 0));
}

// Reads the padding value: 0, or a constant with one float.
static bool ReadPadding(const Operation& operation, float* value) {
  *value = 0;
  if (operation.inputs.size() < 3) return true;
  const MSTensor& tensor = operation.inputs[2];
  const std::shared_ptr<const void> data = tensor.Data();
  if (!operation.ExpectFloat(1)) return false;
  if (!operation.is_float(tensor) || !tensor.IsConst() || data == nullptr ||
      tensor.DataSize() != sizeof(float)) {
    return operation.definition->Refuse(kDeputyReasonNotConstant,
                                        "value: expected a constant FLOAT32");
  }
  std::memcpy(value, data.get(), sizeof(float));
  return true;
}

bool DefinePad(const Operation& operation) {
  const auto count = static_cast<size_t>(operation.argument);
  std::vector<int64_t> pads;
  float value = 0;
  if (!operation.ExpectInputs(count, count) || !operation.ExpectOneType(1) ||
      !operation.ExpectSameQuantization() || !operation.ReadInts(1, &pads) ||
      !ReadPadding(operation, &value)) {
    return false;
  }
  const Shape& shape = operation.in[0];
  if (pads.size() != 2 * shape.size() || shape.empty()) {
    return operation.definition->Refuse(kDeputyReasonShape, "expected %zu paddings, found %zu",
                                        2 * shape.size(), pads.size());
  }
  Shape before, after, expected;
  for (size_t i = 0; i < shape.size(); ++i) {
    constexpr int64_t kMaxNumber = 1 << 30;
    if (pads[2 * i] < 0 || pads[2 * i + 1] < 0 || pads[2 * i] > kMaxNumber ||
        pads[2 * i + 1] > kMaxNumber) {
      return operation.definition->Refuse(kDeputyReasonParameter, "a padding out of range");
    }
    before.push_back(static_cast<size_t>(pads[2 * i]));
    after.push_back(static_cast<size_t>(pads[2 * i + 1]));
    expected.push_back(before[i] + shape[i] + after[i]);
  }
  uint32_t in = 0, out = 0;
  return operation.ExpectShape(operation.out[0], expected, "output") &&
         operation.Values(1, &in, &out) &&
         operation.definition->Accept(xnn_define_static_constant_pad(
             operation.definition->subgraph(), before.data(), after.data(), value, in, out, 0));
}

bool DefineReshape(const Operation& operation) {
  uint32_t in = 0, out = 0;
  if (!operation.ExpectInputs(1, 2) || !operation.ExpectOneType(1) ||
      !operation.ExpectSameQuantization()) {
    return false;
  }
  if (operation.inputs.size() > 1 && !operation.ExpectConstant(1)) return false;
  if (CountOf(operation.in[0]) != CountOf(operation.out[0])) {
    return operation.definition->Refuse(kDeputyReasonShape,
                                        "expected the same number of elements, found %zu and %zu",
                                        CountOf(operation.in[0]), CountOf(operation.out[0]));
  }
  return operation.Values(1, &in, &out) &&
         operation.definition->Accept(
             xnn_define_static_reshape(operation.definition->subgraph(), operation.out[0].size(),
                                       operation.out[0].data(), in, out, 0));
}

bool DefineResize(const Operation& operation) {
  constexpr int64_t kAsymmetric = 0, kAlignCorners = 1;  // MindSpore's values
  const int64_t mode = operation.attributes->GetInt("coordinate_transform_mode");
  uint32_t in = 0, out = 0, flags = 0;
  if (mode == kAsymmetric) flags = XNN_FLAG_TENSORFLOW_LEGACY_MODE;
  if (mode == kAlignCorners) flags = XNN_FLAG_ALIGN_CORNERS;
  if (!operation.ExpectInputs(2, 2) || !operation.ExpectConstant(1) ||
      !operation.ExpectOneType(1) || !operation.ExpectSameQuantization() ||
      !operation.ExpectRank(operation.in[0], 4) || !operation.ExpectRank(operation.out[0], 4)) {
    return false;
  }
  const Shape &from = operation.in[0], &to = operation.out[0];
  return operation.ExpectShape(to, {from[0], to[1], to[2], from[3]}, "output") &&
         operation.Values(1, &in, &out) &&
         operation.definition->Accept(xnn_define_static_resize_bilinear_2d(
             operation.definition->subgraph(), to[1], to[2], in, out, flags));
}

bool DefineDepthToSpace(const Operation& operation) {
  uint32_t in = 0, out = 0;
  std::vector<uint32_t> block;
  if (!operation.ExpectInputs(1, 1) || !operation.ExpectOneType(1) ||
      !operation.ExpectSameQuantization() || !operation.ExpectRank(operation.in[0], 4) ||
      !operation.ReadNumbers("block_size", 1, 2, &block)) {
    return false;
  }
  const Shape& from = operation.in[0];
  const size_t size = block[0];
  if (from[3] % (size * size) != 0) {
    return operation.definition->Refuse(kDeputyReasonShape,
                                        "%zu channels do not match blocks of %zu", from[3], size);
  }
  return operation.ExpectShape(operation.out[0],
                               {from[0], from[1] * size, from[2] * size, from[3] / (size * size)},
                               "output") &&
         operation.Values(1, &in, &out) &&
         operation.definition->Accept(
             xnn_define_depth_to_space(operation.definition->subgraph(), in, out, block[0], 0));
}

}  // namespace deputy::xnnpack
