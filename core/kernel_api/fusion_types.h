// SPDX-License-Identifier: Apache-2.0
//
// The fusion groups that kernels offer and run: the roles of nodes, and the kinds of groups.
// core/kernel_api/fusion.h describes how they are used.
#ifndef DEPUTY_CORE_KERNEL_API_FUSION_TYPES_H_
#define DEPUTY_CORE_KERNEL_API_FUSION_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "c_api/include/common.h"
#include "core/kernel_api/row_kernel.h"

namespace deputy {

// Zero padding around an image [batches][height][width][channels].
struct ImagePadding {
  int top = 0, bottom = 0, left = 0, right = 0;
  int channels = 0;  // zero channels that are added after the last one

  bool pads_image() const { return (top | bottom | left | right) != 0; }
};

// Subsampling of an image: every y-th row and every x-th column, starting with the first.
struct PixelStride {
  int y = 1, x = 1;

  bool any() const { return y != 1 || x != 1; }
  // rows() and columns() return how many of `all` rows or columns remain.
  int rows(int all) const { return (all - 1) / y + 1; }
  int columns(int all) const { return (all - 1) / x + 1; }
  friend bool operator==(const PixelStride&, const PixelStride&) = default;
  friend PixelStride operator*(const PixelStride& a, const PixelStride& b) {
    return {a.y * b.y, a.x * b.x};
  }
};

// Requantisation of an int8 sum in float: round(clamp(a * factors[0] + b * factors[1] + offset)) +
// zero_point, rounded to nearest even.
struct SumScales {
  float factors[2] = {0, 0};
  float offset = 0;
  int32_t zero_point = 0;
};

// ---- Roles of a node in a group -----------------------------------------------------------------

// Describes an image layer whose output can be computed row by row, for layers that are computed
// strip by strip (core/fusion/strips.h).
struct StripOffer {
  int batches = 0, rows = 0;  // size of the output; rows = 0: strips are not supported
  size_t row_bytes = 0;       // bytes per row of the output
  int64_t reach = 1;          // rows of input 0 that one output row reads
  int stride = 1;             // distance in input rows between adjacent output rows

  // Returns the number of input rows that `count` adjacent output rows read.
  int64_t InputRows(int64_t count) const { return (count - 1) * stride + reach; }
};

// A layer that can apply an epilogue to its results: the head of a group.
struct HeadRole {
  // True if the layer can absorb a preceding PAD, or a preceding multiplication by a factor per
  // channel.
  bool absorbs_padding = false, absorbs_factors = false;
  // `subsamples`: the layer supports a subsampled output and a subsampled input. `pointwise`: each
  // output pixel reads one pixel of input 0; adjacent output pixels read pixels that are `stride`
  // apart.
  bool subsamples = false, pointwise = false;
  PixelStride stride = {};
  StripOffer strip = {};
};
// Clamps input 0.
struct ClampRole {
  float low = 0, high = 0;
};
// Clamped sum of two inputs.
struct SumRole {
  float low = 0, high = 0;
  // Bit i: input i has the output's shape, so that elements match by index.
  uint32_t matching_inputs = 0;
  SumScales scales = {};  // for int8: scales of the sum
};
// PRELU of input 0. It joins a group only with one slope per channel.
struct PreluRole {};
// HARD_SWISH of input 0.
struct HardSwishRole {};
// Pads input 0 with zeros.
struct PadRole {
  ImagePadding margins = {};
};
// Multiplies its two inputs. It joins a group only if one of them is a factor per channel. Bit i of
// `matching_inputs`: input i has the output's shape.
struct ScaleRole {
  uint32_t matching_inputs = 0;
};

// Role of a node in a group. monostate: the node has no role; it may still be computed by rows.
using FusionRole = std::variant<std::monostate, HeadRole, ClampRole, SumRole, PreluRole,
                                HardSwishRole, PadRole, ScaleRole>;

// ---- Groups. Tensors are given by index, -1: absent ---------------------------------------------

// Run of a layer with its epilogue. The members are in the order in which the operations are
// applied.
struct LayerRun {
  enum class Activation : uint8_t { kNone, kPrelu, kHardSwish };

  // Tensor that is read in place of input 0; `margins` is padding in addition to the head's own.
  int input = -1;
  ImagePadding margins = {};
  int factors = -1;  // tensor of factors per channel by which the input is multiplied
  // Bounds of the clamp after the head's own operator.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  int addend = -1;  // tensor to add; may have fewer channels than the output: the others are 0
  float sum_low = 0, sum_high = 0;
  SumScales scales = {};  // for int8: factors of the computed value and of the addend
  Activation activation = Activation::kNone;
  int slopes = -1;  // tensor with the slopes of kPrelu
  int output = -1;  // tensor that is written in place of the head's own output
  // Subsampling of input 0 and of the output: only these pixels are stored, contiguously, but the
  // shapes still count all pixels.
  PixelStride input_stride = {}, output_stride = {};
};

struct StripLayer {
  int position = -1;           // position of the layer's node in the plan
  TfLiteNode* node = nullptr;  // set before the kernel's run or announce is called
  LayerRun run;
};
inline constexpr int kMaxStripLayers = 8;

// Run of layers that are computed strip by strip. Each layer reads the output of the one before it;
// the last one computes `rows` rows at a time.
struct StripRun {
  std::vector<StripLayer> layers;
  int rows = 0;
  int output = -1;
};

// Run of a row-wise group.
struct RowRun {
  RowProgram program;
  int output = -1;
};

using GroupRun = std::variant<LayerRun, StripRun, RowRun>;

inline int OutputOf(const GroupRun& run) {
  return std::visit([](const auto& kind) { return kind.output; }, run);
}

// ---- Offers -------------------------------------------------------------------------------------

// Describes a node that only copies, so that its outputs can alias its inputs: the parts follow
// each other without gaps inside one tensor, the whole, starting at byte `offset`.
struct ViewOffer {
  // kRefused: no output of the node may use an input's memory, whatever its registration allows.
  enum class Kind : uint8_t { kNone, kInputsInOutput, kOutputsInInput, kRefused };
  Kind kind = Kind::kNone;
  int whole = 0;  // index of the whole among the node's outputs or inputs
  size_t offset = 0;
};

struct FusionOffer {
  // Function that the kernel registers as invoke: a node whose registration has another one is not
  // fused.
  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*) = nullptr;
  // Called in place of `invoke` to compute the whole group if the node is its head.
  TfLiteStatus (*run)(TfLiteContext*, TfLiteNode*, const GroupRun&) = nullptr;
  // Announces the scratch memory of a group with strips or factors, if the node is its head. Called
  // when the tensors have memory.
  void (*announce)(TfLiteContext*, const GroupRun&) = nullptr;
  FusionRole role = {};
  RowOffer by_rows = {};
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_FUSION_TYPES_H_
