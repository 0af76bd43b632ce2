// SPDX-License-Identifier: Apache-2.0
//
// A delegate that declares NCHW (deputy_plugin_layout.h) and computes nodes by plain loops over the
// dimensions that it gets: float32, and operators that only move int8 values, if `claims` has them.
// Operators that depend on the layout are refused if their images have other dimensions than NCHW;
// all others are computed in any layout. `claims` lists the nodes to claim, separated by commas;
// "": all with a known operator. `fault` makes a function fail or the results wrong. The delegate
// appends the nodes and tensors of each preview and the number of nodes of each invoke to the file
// `log`.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "deputy/deputy_plugin_entry.h"
#include "deputy/deputy_plugin_layout.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"claims", kDeputyOptionString, 0, "", "Nodes to claim."},
    {"fault", kDeputyOptionString, 1, "", "prepare, invoke or wrong."},
    {"log", kDeputyOptionString, 0, "", "File to which calls are appended."},
    {"dynamic", kDeputyOptionBool, 0, "false", "Accept graphs whose shapes may change."},
    {"full", kDeputyOptionBool, 0, "false", "Promise to claim the whole graph."},
    {"previews", kDeputyOptionBool, 0, "false", "Preview the partitions before the claim."},
};

struct Delegate {
  TfLiteDelegate base{};
  std::string claims, fault, log;
  bool previews = false;
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

void Note(const Delegate& delegate, const std::string& text) {
  if (!delegate.log.empty()) std::ofstream(delegate.log, std::ios::app) << text << "; ";
}

// ---- Arithmetic on tensors of any layout --------------------------------------------------------

using Dims = std::vector<int>;
using Index = std::vector<int>;

struct Value {
  Dims dims;
  std::vector<float> data;

  explicit Value(Dims shape = {}) : dims(std::move(shape)) {
    size_t count = 1;
    for (const int dim : dims) count *= static_cast<size_t>(dim);
    data.resize(count);
  }
  float& At(const Index& index) {
    size_t offset = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (index[i] < 0 || index[i] >= dims[i]) throw std::runtime_error("index out of range");
      offset = offset * static_cast<size_t>(dims[i]) + static_cast<size_t>(index[i]);
    }
    return data[offset];
  }
};

// Calls visit(index) for all indices of a shape.
void ForEach(const Dims& dims, const std::function<void(const Index&)>& visit) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  Index index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

float Activate(TfLiteFusedActivation activation, float x) {
  if (activation == kTfLiteActRelu) return std::max(x, 0.0f);
  if (activation == kTfLiteActRelu6) return std::min(std::max(x, 0.0f), 6.0f);
  if (activation == kTfLiteActNone) return x;
  throw std::runtime_error("unknown activation");
}

void Require(bool holds, const char* text) {
  if (!holds) throw std::runtime_error(text);
}

int PaddingBefore(TfLitePadding padding, int in, int out, int kernel, int stride, int dilation) {
  if (padding == kTfLitePaddingValid) return 0;
  return std::max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in) / 2;
}

struct Op {
  int code;
  std::vector<int> inputs, outputs;
  const void* params;  // owned by the node
};

class Run {
 public:
  Run(TfLiteContext* context, const TfLiteNode* node) : context_(context) {
    for (int i = 0; i < node->outputs->size; ++i) is_output_[node->outputs->data[i]] = true;
  }

  void Compute(const Op& op) {
    const std::vector<Value> results = Evaluate(op);
    Require(results.size() == op.outputs.size(), "wrong number of results");
    for (size_t i = 0; i < results.size(); ++i) Store(op.outputs[i], results[i]);
  }

 private:
  Dims DimsOf(int tensor) const {
    const TfLiteIntArray* dims = context_->tensors[tensor].dims;
    return {dims->data, dims->data + dims->size};
  }
  Value Load(int tensor) {
    const auto known = values_.find(tensor);
    if (known != values_.end()) return known->second;
    const TfLiteTensor& from = context_->tensors[tensor];
    Require(from.data.raw != nullptr, "an input without data");
    Value value(DimsOf(tensor));
    const size_t count = value.data.size();
    if (from.type == kTfLiteInt8) {
      Require(from.bytes == count, "an input of another size");
      std::copy(from.data.int8, from.data.int8 + count, value.data.begin());
    } else {
      Require(from.bytes == count * sizeof(float), "an input of another size");
      memcpy(value.data.data(), from.data.raw, from.bytes);
    }
    return value;
  }
  std::vector<int> Integers(int tensor) const {
    const TfLiteTensor& from = context_->tensors[tensor];
    Require(from.type == kTfLiteInt32 && from.data.raw != nullptr, "expected an int32 constant");
    return {from.data.i32, from.data.i32 + from.bytes / sizeof(int32_t)};
  }
  void Store(int tensor, const Value& value) {
    TfLiteTensor& to = context_->tensors[tensor];
    Require(DimsOf(tensor) == value.dims, "a tensor has another shape than the result");
    values_[tensor] = value;
    if (!is_output_[tensor]) return;
    if (to.type == kTfLiteInt32) {
      std::copy(value.data.begin(), value.data.end(), to.data.i32);
      return;
    }
    if (to.type == kTfLiteInt8) {
      Require(to.data.raw != nullptr && to.bytes == value.data.size(), "an output without memory");
      std::copy(value.data.begin(), value.data.end(), to.data.int8);
      return;
    }
    Require(to.data.raw != nullptr && to.bytes == value.data.size() * sizeof(float),
            "an output without memory");
    memcpy(to.data.raw, value.data.data(), to.bytes);
  }

  std::vector<Value> Evaluate(const Op& op) {
    switch (op.code) {
      case kTfLiteBuiltinConv2d:
        return {Conv(op)};
      case kTfLiteBuiltinDepthwiseConv2d:
        return {Depthwise(op)};
      case kTfLiteBuiltinTransposeConv:
        return {TransposeConv(op)};
      case kTfLiteBuiltinSpaceToBatchNd:
        return {SpaceToBatch(op)};
      case kTfLiteBuiltinArgMax:
        return {ArgMax(op)};
      case kTfLiteBuiltinAveragePool2d:
      case kTfLiteBuiltinMaxPool2d:
        return {Pool(op)};
      case kTfLiteBuiltinResizeNearestNeighbor:
        return {Resize(op)};
      case kTfLiteBuiltinDepthToSpace:
        return {DepthToSpace(op)};
      case kTfLiteBuiltinRelu:
      case kTfLiteBuiltinLogistic:
        return {Unary(op)};
      case kTfLiteBuiltinAdd:
      case kTfLiteBuiltinMul:
      case kTfLiteBuiltinPrelu:
        return {Binary(op)};
      case kTfLiteBuiltinConcatenation:
        return {Concatenate(op)};
      case kTfLiteBuiltinPad:
      case kTfLiteBuiltinPadv2:
        return {Pad(op)};
      case kTfLiteBuiltinSlice:
      case kTfLiteBuiltinStridedSlice:
        return {Slice(op)};
      case kTfLiteBuiltinTile:
        return {Tile(op)};
      case kTfLiteBuiltinSplit:
        return Split(op);
      case kTfLiteBuiltinSplitV:
        return SplitV(op);
      case kTfLiteBuiltinMean:
      case kTfLiteBuiltinSum:
      case kTfLiteBuiltinReduceMax:
        return {Reduce(op)};
      case kTfLiteBuiltinSoftmax:
        return {Softmax(op)};
      default:
        throw std::runtime_error("unknown operator");
    }
  }

  Value Conv(const Op& op) {
    const auto& p = *static_cast<const TfLiteConvParams*>(op.params);
    Value in = Load(op.inputs[0]), filter = Load(op.inputs[1]), out(DimsOf(op.outputs[0]));
    Require(in.dims.size() == 4 && in.dims[1] == filter.dims[3] && out.dims[1] == filter.dims[0],
            "CONV_2D: expected NCHW");
    const int top = PaddingBefore(p.padding, in.dims[2], out.dims[2], filter.dims[1],
                                  p.stride_height, p.dilation_height_factor);
    const int left = PaddingBefore(p.padding, in.dims[3], out.dims[3], filter.dims[2],
                                   p.stride_width, p.dilation_width_factor);
    ForEach(out.dims, [&](const Index& at) {
      float sum = op.inputs.size() > 2 && op.inputs[2] >= 0
                      ? Load(op.inputs[2]).data[static_cast<size_t>(at[1])]
                      : 0;
      ForEach({filter.dims[1], filter.dims[2], filter.dims[3]}, [&](const Index& k) {
        const int y = at[2] * p.stride_height - top + k[0] * p.dilation_height_factor;
        const int x = at[3] * p.stride_width - left + k[1] * p.dilation_width_factor;
        if (y < 0 || y >= in.dims[2] || x < 0 || x >= in.dims[3]) return;
        sum += in.At({at[0], k[2], y, x}) * filter.At({at[1], k[0], k[1], k[2]});
      });
      out.At(at) = Activate(p.activation, sum);
    });
    return out;
  }

  Value Depthwise(const Op& op) {
    const auto& p = *static_cast<const TfLiteDepthwiseConvParams*>(op.params);
    Value in = Load(op.inputs[0]), filter = Load(op.inputs[1]), bias = Load(op.inputs[2]);
    Value out(DimsOf(op.outputs[0]));
    Require(in.dims.size() == 4 && in.dims[1] * p.depth_multiplier == filter.dims[3] &&
                out.dims[1] == filter.dims[3],
            "DEPTHWISE_CONV_2D: expected NCHW");
    const int top = PaddingBefore(p.padding, in.dims[2], out.dims[2], filter.dims[1],
                                  p.stride_height, p.dilation_height_factor);
    const int left = PaddingBefore(p.padding, in.dims[3], out.dims[3], filter.dims[2],
                                   p.stride_width, p.dilation_width_factor);
    ForEach(out.dims, [&](const Index& at) {
      float sum = bias.data[static_cast<size_t>(at[1])];
      ForEach({filter.dims[1], filter.dims[2]}, [&](const Index& k) {
        const int y = at[2] * p.stride_height - top + k[0] * p.dilation_height_factor;
        const int x = at[3] * p.stride_width - left + k[1] * p.dilation_width_factor;
        if (y < 0 || y >= in.dims[2] || x < 0 || x >= in.dims[3]) return;
        sum += in.At({at[0], at[1] / p.depth_multiplier, y, x}) * filter.At({0, k[0], k[1], at[1]});
      });
      out.At(at) = Activate(p.activation, sum);
    });
    return out;
  }

  Value TransposeConv(const Op& op) {
    const auto& p = *static_cast<const TfLiteTransposeConvParams*>(op.params);
    Value filter = Load(op.inputs[1]), in = Load(op.inputs[2]), out(DimsOf(op.outputs[0]));
    Require(Integers(op.inputs[0]) == out.dims && in.dims[1] == filter.dims[3] &&
                out.dims[1] == filter.dims[0],
            "TRANSPOSE_CONV: expected NCHW");
    const int top =
        PaddingBefore(p.padding, out.dims[2], in.dims[2], filter.dims[1], p.stride_height, 1);
    const int left =
        PaddingBefore(p.padding, out.dims[3], in.dims[3], filter.dims[2], p.stride_width, 1);
    ForEach(in.dims, [&](const Index& at) {
      ForEach({filter.dims[0], filter.dims[1], filter.dims[2]}, [&](const Index& k) {
        const int y = at[2] * p.stride_height - top + k[1];
        const int x = at[3] * p.stride_width - left + k[2];
        if (y < 0 || y >= out.dims[2] || x < 0 || x >= out.dims[3]) return;
        out.At({at[0], k[0], y, x}) += in.At(at) * filter.At({k[0], k[1], k[2], at[1]});
      });
    });
    return out;
  }

  Value SpaceToBatch(const Op& op) {
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    const std::vector<int> block = Integers(op.inputs[1]), paddings = Integers(op.inputs[2]);
    Require(block.size() == 2 && out.dims[1] == in.dims[1], "SPACE_TO_BATCH_ND: expected NCHW");
    ForEach(out.dims, [&](const Index& at) {
      const int part = at[0] / in.dims[0];
      const int y = at[2] * block[0] + part / block[1] - paddings[0];
      const int x = at[3] * block[1] + part % block[1] - paddings[2];
      if (y < 0 || y >= in.dims[2] || x < 0 || x >= in.dims[3]) return;
      out.At(at) = in.At({at[0] % in.dims[0], at[1], y, x});
    });
    return out;
  }

  Value ArgMax(const Op& op) {
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    const int given = Integers(op.inputs[1])[0];
    const int axis = given < 0 ? given + static_cast<int>(in.dims.size()) : given;
    ForEach(out.dims, [&](const Index& at) {
      Index from = at, best = at;
      from.insert(from.begin() + axis, 0);
      best = from;
      for (int i = 0; i < in.dims[static_cast<size_t>(axis)]; ++i) {
        from[static_cast<size_t>(axis)] = i;
        if (in.At(from) > in.At(best)) best = from;
      }
      out.At(at) = static_cast<float>(best[static_cast<size_t>(axis)]);
    });
    return out;
  }

  Value Pool(const Op& op) {
    const auto& p = *static_cast<const TfLitePoolParams*>(op.params);
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    Require(in.dims.size() == 4 && in.dims[1] == out.dims[1], "pooling: expected NCHW");
    const bool is_max = op.code == kTfLiteBuiltinMaxPool2d;
    const int top =
        PaddingBefore(p.padding, in.dims[2], out.dims[2], p.filter_height, p.stride_height, 1);
    const int left =
        PaddingBefore(p.padding, in.dims[3], out.dims[3], p.filter_width, p.stride_width, 1);
    ForEach(out.dims, [&](const Index& at) {
      float result = is_max ? -INFINITY : 0;
      int count = 0;
      ForEach({p.filter_height, p.filter_width}, [&](const Index& k) {
        const int y = at[2] * p.stride_height - top + k[0];
        const int x = at[3] * p.stride_width - left + k[1];
        if (y < 0 || y >= in.dims[2] || x < 0 || x >= in.dims[3]) return;
        const float value = in.At({at[0], at[1], y, x});
        result = is_max ? std::max(result, value) : result + value;
        ++count;
      });
      out.At(at) = Activate(p.activation, is_max ? result : result / static_cast<float>(count));
    });
    return out;
  }

  Value Resize(const Op& op) {
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    const std::vector<int> size = Integers(op.inputs[1]);
    Require(in.dims.size() == 4 && out.dims[1] == in.dims[1] && out.dims[2] == size[0] &&
                out.dims[3] == size[1],
            "RESIZE: expected NCHW");
    ForEach(out.dims, [&](const Index& at) {
      out.At(at) =
          in.At({at[0], at[1], at[2] * in.dims[2] / out.dims[2], at[3] * in.dims[3] / out.dims[3]});
    });
    return out;
  }

  Value DepthToSpace(const Op& op) {
    const int block = static_cast<const TfLiteDepthToSpaceParams*>(op.params)->block_size;
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    Require(in.dims[1] == out.dims[1] * block * block, "DEPTH_TO_SPACE: expected NCHW");
    ForEach(out.dims, [&](const Index& at) {
      const int part = at[2] % block * block + at[3] % block;
      out.At(at) = in.At({at[0], part * out.dims[1] + at[1], at[2] / block, at[3] / block});
    });
    return out;
  }

  Value Unary(const Op& op) {
    Value out = Load(op.inputs[0]);
    for (float& x : out.data) {
      x = op.code == kTfLiteBuiltinRelu ? std::max(x, 0.0f) : 1 / (1 + std::exp(-x));
    }
    return out;
  }

  Value Binary(const Op& op) {
    Value a = Load(op.inputs[0]), b = Load(op.inputs[1]);
    const size_t rank = std::max(a.dims.size(), b.dims.size());
    Dims dims(rank, 1);
    for (Value* const operand : {&a, &b}) {
      operand->dims.insert(operand->dims.begin(), rank - operand->dims.size(), 1);
      for (size_t i = 0; i < rank; ++i) dims[i] = std::max(dims[i], operand->dims[i]);
    }
    Value out(dims);
    const auto operand_at = [](Value* operand, Index at) {
      for (size_t i = 0; i < at.size(); ++i) {
        if (operand->dims[i] == 1) at[i] = 0;
      }
      return operand->At(at);
    };
    TfLiteFusedActivation activation = kTfLiteActNone;
    if (op.code == kTfLiteBuiltinAdd) {
      activation = static_cast<const TfLiteAddParams*>(op.params)->activation;
    } else if (op.code == kTfLiteBuiltinMul) {
      activation = static_cast<const TfLiteMulParams*>(op.params)->activation;
    }
    ForEach(dims, [&](const Index& at) {
      const float x = operand_at(&a, at), y = operand_at(&b, at);
      const float product = op.code == kTfLiteBuiltinPrelu && x >= 0 ? x : x * y;
      out.At(at) = Activate(activation, op.code == kTfLiteBuiltinAdd ? x + y : product);
    });
    return out;
  }

  Value Concatenate(const Op& op) {
    Value out(DimsOf(op.outputs[0]));
    int axis = static_cast<const TfLiteConcatenationParams*>(op.params)->axis, begin = 0;
    if (axis < 0) axis += static_cast<int>(out.dims.size());
    for (const int input : op.inputs) {
      Value in = Load(input);
      ForEach(in.dims, [&](const Index& at) {
        Index to = at;
        to[static_cast<size_t>(axis)] += begin;
        out.At(to) = in.At(at);
      });
      begin += in.dims[static_cast<size_t>(axis)];
    }
    Require(begin == out.dims[static_cast<size_t>(axis)], "CONCATENATION: wrong shape");
    return out;
  }

  Value Pad(const Op& op) {
    Value in = Load(op.inputs[0]);
    const std::vector<int> paddings = Integers(op.inputs[1]);
    Dims dims = in.dims;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] += paddings[2 * i] + paddings[2 * i + 1];
    Value out(dims);
    if (op.code == kTfLiteBuiltinPadv2) {
      std::fill(out.data.begin(), out.data.end(), Load(op.inputs[2]).data[0]);
    }
    ForEach(in.dims, [&](const Index& at) {
      Index to = at;
      for (size_t i = 0; i < to.size(); ++i) to[i] += paddings[2 * i];
      out.At(to) = in.At(at);
    });
    return out;
  }

  Value Slice(const Op& op) {
    Value in = Load(op.inputs[0]), out(DimsOf(op.outputs[0]));
    const bool strided = op.code == kTfLiteBuiltinStridedSlice;
    const std::vector<int> begin = Integers(op.inputs[1]), end = Integers(op.inputs[2]);
    const std::vector<int> strides = strided ? Integers(op.inputs[3]) : std::vector<int>(4, 1);
    const auto* const p =
        strided ? static_cast<const TfLiteStridedSliceParams*>(op.params) : nullptr;
    for (size_t i = 0; i < 4; ++i) {
      const bool from_start = p != nullptr && (p->begin_mask >> i & 1) != 0;
      const bool to_end = p != nullptr && (p->end_mask >> i & 1) != 0;
      const int first = from_start ? 0 : begin[i];
      const int last = to_end ? in.dims[i] : std::min(end[i], in.dims[i]);
      int count = strided ? (last - first + strides[i] - 1) / strides[i] : end[i];
      if (!strided && count == -1) count = in.dims[i] - first;
      Require(count == out.dims[i], "slice: wrong shape");
    }
    ForEach(out.dims, [&](const Index& at) {
      Index from = at;
      for (size_t i = 0; i < 4; ++i) {
        const bool from_start = p != nullptr && (p->begin_mask >> i & 1) != 0;
        from[i] = (from_start ? 0 : begin[i]) + at[i] * strides[i];
      }
      out.At(at) = in.At(from);
    });
    return out;
  }

  Value Tile(const Op& op) {
    Value in = Load(op.inputs[0]);
    const std::vector<int> multiples = Integers(op.inputs[1]);
    Dims dims = in.dims;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] *= multiples[i];
    Value out(dims);
    ForEach(dims, [&](const Index& at) {
      Index from = at;
      for (size_t i = 0; i < from.size(); ++i) from[i] %= in.dims[i];
      out.At(at) = in.At(from);
    });
    return out;
  }

  std::vector<Value> Split(const Op& op) {
    Value in = Load(op.inputs[1]);
    int axis = Integers(op.inputs[0])[0];
    if (axis < 0) axis += static_cast<int>(in.dims.size());
    Dims dims = in.dims;
    const auto at_axis = static_cast<size_t>(axis);
    dims[at_axis] /= static_cast<int>(op.outputs.size());
    std::vector<Value> parts;
    for (size_t part = 0; part < op.outputs.size(); ++part) {
      Value out(dims);
      ForEach(dims, [&](const Index& at) {
        Index from = at;
        from[at_axis] += static_cast<int>(part) * dims[at_axis];
        out.At(at) = in.At(from);
      });
      parts.push_back(out);
    }
    return parts;
  }

  std::vector<Value> SplitV(const Op& op) {
    Value in = Load(op.inputs[0]);
    const std::vector<int> sizes = Integers(op.inputs[1]);
    const int axis = Integers(op.inputs[2])[0];
    const auto at_axis = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
    std::vector<Value> parts;
    int begin = 0;
    for (const int size : sizes) {
      Dims dims = in.dims;
      dims[at_axis] = size;
      Value out(dims);
      ForEach(dims, [&](const Index& at) {
        Index from = at;
        from[at_axis] += begin;
        out.At(at) = in.At(from);
      });
      parts.push_back(out);
      begin += size;
    }
    return parts;
  }

  Value Reduce(const Op& op) {
    Value in = Load(op.inputs[0]);
    const bool keeps = static_cast<const TfLiteReducerParams*>(op.params)->keep_dims;
    std::vector<bool> reduced(in.dims.size());
    for (const int axis : Integers(op.inputs[1])) {
      reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int>(in.dims.size()) : axis)] =
          true;
    }
    Dims kept, dims;
    float count = 1;
    for (size_t i = 0; i < in.dims.size(); ++i) {
      kept.push_back(reduced[i] ? 1 : in.dims[i]);
      if (reduced[i]) count *= static_cast<float>(in.dims[i]);
      if (!reduced[i] || keeps) dims.push_back(kept.back());
    }
    const bool is_max = op.code == kTfLiteBuiltinReduceMax;
    Value out(kept);
    if (is_max) std::fill(out.data.begin(), out.data.end(), -INFINITY);
    ForEach(in.dims, [&](const Index& at) {
      Index to = at;
      for (size_t i = 0; i < to.size(); ++i) {
        if (reduced[i]) to[i] = 0;
      }
      float& result = out.At(to);
      result = is_max ? std::max(result, in.At(at)) : result + in.At(at);
    });
    if (op.code == kTfLiteBuiltinMean) {
      for (float& x : out.data) x /= count;
    }
    out.dims = dims;
    return out;
  }

  // Normalises along the last dimension.
  Value Softmax(const Op& op) {
    Value out = Load(op.inputs[0]);
    const auto depth = static_cast<size_t>(out.dims.back());
    for (size_t row = 0; row + depth <= out.data.size(); row += depth) {
      float sum = 0;
      for (size_t i = row; i < row + depth; ++i) sum += out.data[i] = std::exp(out.data[i]);
      for (size_t i = row; i < row + depth; ++i) out.data[i] /= sum;
    }
    return out;
  }

  TfLiteContext* const context_;
  std::map<int, Value> values_;
  std::map<int, bool> is_output_;
};

// ---- The delegate -------------------------------------------------------------------------------

struct Kernel {
  Delegate* delegate;
  std::vector<Op> ops;
};

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  std::unique_ptr<Kernel> kernel(new Kernel{&Of(params.delegate), {}});
  for (int i = 0; i < params.nodes_to_replace->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    Require(context->GetNodeAndRegistration(context, params.nodes_to_replace->data[i], &node,
                                            &registration) == kTfLiteOk,
            "a node cannot be read");
    kernel->ops.push_back({registration->builtin_code,
                           {node->inputs->data, node->inputs->data + node->inputs->size},
                           {node->outputs->data, node->outputs->data + node->outputs->size},
                           node->builtin_data});
  }
  return kernel.release();
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const Kernel& kernel = *static_cast<const Kernel*>(node->user_data);
  if (kernel.delegate->fault != "prepare") return kTfLiteOk;
  context->ReportError(context, "nchw: prepare fails as requested");
  return kTfLiteError;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel& kernel = *static_cast<const Kernel*>(node->user_data);
  Note(*kernel.delegate, "invoke " + std::to_string(kernel.ops.size()));
  try {
    Require(kernel.delegate->fault != "invoke", "invoke fails as requested");
    Run run(context, node);
    for (const Op& op : kernel.ops) run.Compute(op);
  } catch (const std::exception& error) {
    context->ReportError(context, "nchw: %s", error.what());
    return kTfLiteError;
  }
  if (kernel.delegate->fault == "wrong") {
    context->tensors[node->outputs->data[0]].data.f[0] += 100;
  }
  return kTfLiteOk;
}

bool IsKnown(int code) {
  for (const int known : {kTfLiteBuiltinConv2d,
                          kTfLiteBuiltinDepthwiseConv2d,
                          kTfLiteBuiltinAveragePool2d,
                          kTfLiteBuiltinMaxPool2d,
                          kTfLiteBuiltinResizeNearestNeighbor,
                          kTfLiteBuiltinDepthToSpace,
                          kTfLiteBuiltinRelu,
                          kTfLiteBuiltinLogistic,
                          kTfLiteBuiltinAdd,
                          kTfLiteBuiltinMul,
                          kTfLiteBuiltinPrelu,
                          kTfLiteBuiltinConcatenation,
                          kTfLiteBuiltinPad,
                          kTfLiteBuiltinSlice,
                          kTfLiteBuiltinStridedSlice,
                          kTfLiteBuiltinTile,
                          kTfLiteBuiltinSplit,
                          kTfLiteBuiltinMean,
                          kTfLiteBuiltinSum,
                          kTfLiteBuiltinReduceMax,
                          kTfLiteBuiltinSoftmax,
                          kTfLiteBuiltinTransposeConv,
                          kTfLiteBuiltinSpaceToBatchNd,
                          kTfLiteBuiltinArgMax,
                          kTfLiteBuiltinPadv2,
                          kTfLiteBuiltinSplitV}) {
    if (code == known) return true;
  }
  return false;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* base) {
  Delegate& delegate = Of(base);
  std::vector<int> claimed = {0};  // laid out as a TfLiteIntArray
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  std::vector<int> nodes;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    const TfLiteStatus status =
        context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
    if (status != kTfLiteOk) return status;
    const int output = node->outputs->size > 0 ? node->outputs->data[0] : -1;
    const bool is_float = output >= 0 && (context->tensors[output].type == kTfLiteFloat32 ||
                                          registration->builtin_code == kTfLiteBuiltinArgMax);
    if (is_float && IsKnown(registration->builtin_code)) nodes.push_back(plan->data[i]);
  }
  if (!delegate.claims.empty()) {
    nodes.clear();
    std::stringstream list(delegate.claims);
    for (std::string entry; std::getline(list, entry, ',');) nodes.push_back(std::stoi(entry));
  }
  claimed.insert(claimed.end(), nodes.begin(), nodes.end());
  claimed[0] = static_cast<int>(claimed.size()) - 1;
  const auto* const array = reinterpret_cast<const TfLiteIntArray*>(claimed.data());
  if (delegate.previews) {
    TfLiteDelegateParams* partitions = nullptr;
    int count = 0;
    if (context->PreviewDelegatePartitioning(context, array, &partitions, &count) != kTfLiteOk) {
      return kTfLiteError;
    }
    for (int i = 0; i < count; ++i) {
      std::string text = "preview";
      for (const TfLiteIntArray* list :
           {partitions[i].nodes_to_replace, partitions[i].input_tensors,
            partitions[i].output_tensors}) {
        for (int k = 0; k < list->size; ++k) text += ' ' + std::to_string(list->data[k]);
        text += " |";
      }
      Note(delegate, text);
    }
  }
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = [](TfLiteContext*, void* data) { delete static_cast<Kernel*>(data); };
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "Nchw";
  registration.version = 1;
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, array, base);
}

TfLiteStatus SetOptions(TfLiteDelegate* base, const char* const* keys, const char* const* values,
                        size_t count, void (*)(const char*)) {
  Delegate& delegate = Of(base);
  for (size_t i = 0; i < count; ++i) {
    const std::string key = keys[i], value = values[i];
    const bool is_true = value == "true" || value == "1";
    if (key == "claims") delegate.claims = value;
    if (key == "fault") delegate.fault = value;
    if (key == "log") delegate.log = value;
    if (key == "previews") delegate.previews = is_true;
    if (key == "full" && is_true) {
      delegate.base.flags = kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate;
    }
    if (key == "dynamic" && is_true) delegate.base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  }
  return kTfLiteOk;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*report_error)(const char*)) {
  std::unique_ptr<Delegate> delegate(new Delegate);
  delegate->base.data_ = delegate.get();
  delegate->base.Prepare = &Apply;
  SetOptions(&delegate->base, keys, values, count, report_error);
  return &delegate.release()->base;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("nchw", "1", "Deputy");
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &Create;
    plugin.destroy = [](TfLiteDelegate* delegate) { delete &Of(delegate); };
    plugin.set_options = &SetOptions;
    plugin.flags = kDeputyPluginNchw;
    plugin.preferred_layout = kDeputyLayoutNchw;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
