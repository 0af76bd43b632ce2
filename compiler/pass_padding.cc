// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/compose.h"
#include "compiler/copy.h"
#include "compiler/facts.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// Rows and columns around an image.
struct Border {
  int top, left, bottom, right;
};

// Returns the border that a copy adds around an image; nullopt if the copy does anything else.
std::optional<Border> BorderOf(const Rewrite& rewrite, const Operation& operation) {
  const auto* copy = std::get_if<Copy>(&operation.kind);
  if (copy == nullptr || copy->regions.size() != 1) return std::nullopt;
  const Shape& from = rewrite.value(operation.inputs[0]).shape;
  const Shape& to = rewrite.value(operation.output()).shape;
  if (from.size() != 4 || to.size() != 4 || from[0] != to[0] || from[3] != to[3]) return {};
  if (ElementCount(from) == 0 || ElementCount(to) == 0) return std::nullopt;
  const int64_t pixel = copy->regions[0].to / to[3];
  const int top = static_cast<int>(pixel / to[2]), left = static_cast<int>(pixel % to[2]);
  const Box box{0, from, {0, 0, 0, 0}, {0, top, left, 0}, {}, {}};
  if (top + from[1] > to[1] || left + from[2] > to[2]) return std::nullopt;
  if (RegionOf(box, from, to) != Simplify(copy->regions[0])) return std::nullopt;
  return Border{top, left, to[1] - top - from[1], to[2] - left - from[2]};
}

// Returns a lower bound on the elements of a value, derived from its producer.
double LowerBoundOf(const Rewrite& rewrite, ValueId id) {
  const Operation* producer = rewrite.Producer(id);
  if (producer == nullptr) return -INFINITY;
  const auto* kind = std::get_if<Elementwise>(&producer->kind);
  const Expression& expression = kind == nullptr ? producer->epilogue : kind->expression;
  return expression.empty() ? -INFINITY : FactsOf(expression).min;
}

// Returns whether every window overlaps the image; a window that does not would have no maximum.
bool AllWindowsOverlap(int extent, int before, int window, int dilation, int stride, int outputs) {
  const int first_end = -before + (window - 1) * dilation;
  const int last_start = -before + (outputs - 1) * stride;
  // With a dilation, the rows of a window may lie on both sides of a small image and not overlap
  // it.
  return dilation == 1 && first_end >= 0 && last_start < extent;
}

bool IsMaximumKept(const Rewrite& rewrite, const Operation& pool, const Window& merged,
                   ValueId image, double fill) {
  if (std::get<Pool2d>(pool.kind).kind != PoolKind::kMax) return false;
  const Shape& in = rewrite.value(image).shape;
  const Shape& out = rewrite.value(pool.output()).shape;
  return fill <= LowerBoundOf(rewrite, image) &&
         AllWindowsOverlap(in[1], merged.top, merged.height, merged.dilation_y, merged.stride_y,
                           out[1]) &&
         AllWindowsOverlap(in[2], merged.left, merged.width, merged.dilation_x, merged.stride_x,
                           out[2]);
}

Window* WindowOf(Operation* operation) {
  if (auto* conv = std::get_if<Conv2d>(&operation->kind)) return &conv->window;
  if (auto* depthwise = std::get_if<DepthwiseConv2d>(&operation->kind)) return &depthwise->window;
  if (auto* pool = std::get_if<Pool2d>(&operation->kind)) return &pool->window;
  return nullptr;
}

bool Merge(const Rewrite& rewrite, Operation* operation) {
  Window* window = WindowOf(operation);
  const Operation* padding = rewrite.Producer(operation->inputs[0]);
  if (window == nullptr || padding == nullptr) return false;
  const std::optional<Border> border = BorderOf(rewrite, *padding);
  if (!border) return false;
  Window merged = *window;
  merged.top += border->top;
  merged.left += border->left;
  merged.bottom += border->bottom;
  merged.right += border->right;
  const Number fill = std::get<Copy>(padding->kind).fill;
  const ValueId image = padding->inputs[0];
  const bool is_pool = std::holds_alternative<Pool2d>(operation->kind);
  // Convolutions pad with zeros, those of integers with their zero point; pools ignore padding.
  const bool is_zero = IsFloat(rewrite.value(image).type)
                           ? fill.real == 0
                           : fill.integer == ZeroPointOf(operation->kind);
  if (is_pool ? !IsMaximumKept(rewrite, *operation, merged, image, fill.real) : !is_zero) {
    return false;
  }
  *window = merged;
  operation->inputs[0] = image;
  return true;
}

}  // namespace

int MergePadding(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    if (!operation.inputs.empty() && Merge(rewrite, &operation)) rewrite.CountChange();
    rewrite.Add(std::move(operation));
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
