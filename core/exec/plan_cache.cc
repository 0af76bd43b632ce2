// SPDX-License-Identifier: Apache-2.0
#include "core/exec/plan_cache.h"

#include <algorithm>
#include <utility>

#include "core/base/type_size.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph_parts.h"

namespace deputy {
namespace {

// Returns true if the tensor's memory belongs to a plan or to the model, and no delegate writes the
// tensor.
bool CanBeExchanged(const TfLiteTensor& tensor) {
  switch (tensor.allocation_type) {
    case kTfLiteMmapRo:
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLitePersistentRo:
      return tensor.delegate == nullptr;
    default:
      return false;
  }
}

}  // namespace

void PlanCache::NotePrepared() {
  ++preparations_;
  shapes_ = InputShapes();
}

size_t PlanCache::idle_bytes() const {
  size_t bytes = 0;
  for (const Idle& idle : idle_) {
    bytes += idle.plan.memory().arena().bytes() + idle.plan.memory().persistent().bytes();
  }
  return bytes;
}

bool PlanCache::CanKeepCurrent() const {
  const InterpreterState& interpreter = *parts_->interpreter;
  const std::span<const TfLiteTensor> tensors = std::as_const(parts_->graph).tensors();
  return interpreter.max_plans() > 1 && !has_foreign_kernel_ && parts_->built == nullptr &&
         !interpreter.needs_exact_tensors() && !interpreter.keeps_replaced_nodes() &&
         !parts_->delegates.layer->any_applied() && parts_->custom_allocations.empty() &&
         current_->is_complete() && !current_->has_state() &&
         std::all_of(tensors.begin(), tensors.end(), CanBeExchanged);
}

PlanCache::Shapes PlanCache::InputShapes() const {
  Shapes shapes;
  for (const int input : parts_->graph.inputs()) {
    const TfLiteTensor* const tensor = parts_->graph.tensor(input);
    const std::span<const int> dims =
        tensor == nullptr ? std::span<const int>() : IndicesOf(tensor->dims);
    shapes.emplace_back(dims.begin(), dims.end());
  }
  return shapes;
}

void PlanCache::Exchange(Idle* idle) {
  struct InputShape {
    int tensor;
    IntArray dims;
    size_t bytes;
  };
  std::vector<InputShape> inputs;
  for (size_t n = 0; n < shapes_.size(); ++n) {
    const TfLiteTensor* const tensor = parts_->graph.tensor(parts_->graph.inputs()[n]);
    if (tensor == nullptr || tensor->allocation_type == kTfLiteMmapRo) continue;
    size_t bytes = 0;
    // The size cannot overflow, since the tensor had this shape before.
    TensorBytes(tensor->type, shapes_[n], &bytes);
    inputs.push_back({parts_->graph.inputs()[n], MakeArray(shapes_[n]), bytes});
  }
  idle->state.Swap();
  for (InputShape& input : inputs) {
    idle->state.SetShape(input.tensor, input.dims.release(), input.bytes);
  }
  idle->plan.Swap(current_);
  std::swap(idle->shapes, shapes_);
}

TfLiteStatus PlanCache::InitNodes() {
  if (!needs_init_) return kTfLiteOk;
  for (int node = 0; node < parts_->graph.node_count(); ++node) {
    const TfLiteNode& from = *parts_->graph.node(node);
    if (from.user_data != nullptr) continue;
    const std::span<const uint8_t> options = {static_cast<const uint8_t*>(from.custom_initial_data),
                                              static_cast<size_t>(from.custom_initial_data_size)};
    const TfLiteStatus status = InitNode(parts_, node, options);
    if (status != kTfLiteOk) return status;
  }
  needs_init_ = false;
  return kTfLiteOk;
}

bool PlanCache::Select() {
  if (!CanKeepCurrent()) {
    Clear();
    return false;
  }
  const Shapes wanted = InputShapes();
  const auto known = std::find_if(idle_.begin(), idle_.end(),
                                  [&](const Idle& idle) { return idle.shapes == wanted; });
  const bool is_prepared = known != idle_.end() || wanted == shapes_;
  if (known != idle_.end()) {
    Exchange(&*known);
    idle_.splice(idle_.end(), idle_, known);
  } else if (!is_prepared) {
    idle_.emplace_back(parts_, static_cast<int>(parts_->desc->tensors.size()));
    Exchange(&idle_.back());
    needs_init_ = true;
    if (idle_.size() >= static_cast<size_t>(parts_->interpreter->max_plans())) idle_.pop_front();
  }
  if (is_prepared) current_->memory().PointTensors();
  return is_prepared;
}

}  // namespace deputy
