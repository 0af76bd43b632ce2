// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/graph_snapshot.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

TfLiteIntArray* Copy(const TfLiteIntArray* array) {
  if (array == nullptr) return nullptr;
  TfLiteIntArray* copy = TfLiteIntArrayCopy(array);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

bool SameArray(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  return a == nullptr || b == nullptr ? a == b : TfLiteIntArrayEqual(a, b) != 0;
}

// The tensor's data is a heap block of its own.
bool OwnsData(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteDynamic || tensor.allocation_type == kTfLitePersistentRo;
}

}  // namespace

GraphSnapshot::GraphSnapshot(Subgraph* subgraph)
    : subgraph_(subgraph),
      plan_(subgraph->plan()),
      skippable_count_(subgraph->interpreter()->skippable_count()) {
  nodes_.resize(static_cast<size_t>(subgraph->node_count()));
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const TfLiteNode& node = *subgraph->node(static_cast<int>(i));
    nodes_[i].inputs.reset(Copy(node.inputs));
    nodes_[i].outputs.reset(Copy(node.outputs));
    nodes_[i].temporaries.reset(Copy(node.temporaries));
  }
  tensors_.resize(subgraph->graph().tensors().size());
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].fields = subgraph->graph().tensors()[i];
    tensors_[i].dims.reset(Copy(subgraph->graph().tensors()[i].dims));
  }
}

void GraphSnapshot::NotePrepared(int node_index, size_t first_added) {
  if (static_cast<size_t>(node_index) >= nodes_.size()) return;  // of the delegate being applied
  for (size_t i = first_added; i < subgraph_->graph().tensors().size(); ++i) {
    kept_tensors_.push_back(i);
  }
  const TfLiteIntArray* temporaries = subgraph_->node(node_index)->temporaries;
  IntArray& saved = nodes_[static_cast<size_t>(node_index)].temporaries;
  if (!SameArray(saved.get(), temporaries)) saved.reset(Copy(temporaries));
}

void GraphSnapshot::Restore() noexcept {
  RestoreNodes();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    RestoreTensor(tensors_[i], std::move(tensors_[i].dims), &subgraph_->graph().tensors()[i]);
  }
  RemoveAddedTensors();
  subgraph_->SetPlan(std::move(plan_));
  subgraph_->interpreter()->KeepSkippable(skippable_count_);
  subgraph_->SetUninvokable();
}

void GraphSnapshot::RemoveAddedTensors() {
  Graph& graph = subgraph_->graph();
  auto kept = kept_tensors_.begin();
  for (size_t i = tensors_.size(); i < graph.tensors().size(); ++i) {
    if (kept != kept_tensors_.end() && *kept == i) {
      ++kept;
      continue;
    }
    TfLiteTensor& added = graph.tensors()[i];
    if (added.buffer_handle != kTfLiteNullBufferHandle && added.delegate != nullptr) {
      subgraph_->FreeBufferHandle(static_cast<int>(i));
    }
    TfLiteTensorFree(&added);
    added = TfLiteTensor{};
    added.buffer_handle = kTfLiteNullBufferHandle;
  }
  const size_t count = kept_tensors_.empty() ? tensors_.size() : kept_tensors_.back() + 1;
  graph.RemoveTensorsFrom(static_cast<int>(count));
}

void GraphSnapshot::RestoreNodes() {
  subgraph_->RemoveNodesFrom(static_cast<int>(nodes_.size()));
  for (size_t i = 0; i < nodes_.size(); ++i) {
    TfLiteNode& node = *subgraph_->node(static_cast<int>(i));
    const std::pair<TfLiteIntArray**, IntArray*> arrays[] = {
        {&node.inputs, &nodes_[i].inputs},
        {&node.outputs, &nodes_[i].outputs},
        {&node.temporaries, &nodes_[i].temporaries}};
    for (const auto& [current, saved] : arrays) {
      // Kernels may keep pointers to arrays that did not change.
      if (SameArray(*current, saved->get())) continue;
      TfLiteIntArrayFree(*current);
      *current = saved->release();
    }
  }
}

void GraphSnapshot::RestoreTensor(const TensorState& state, IntArray dims, TfLiteTensor* tensor) {
  const TfLiteTensor& saved = state.fields;
  if (tensor->buffer_handle != saved.buffer_handle && tensor->delegate != nullptr &&
      tensor->buffer_handle != kTfLiteNullBufferHandle) {
    subgraph_->FreeBufferHandle(subgraph_->IndexOf(tensor));
  }
  tensor->delegate = saved.delegate;
  tensor->buffer_handle = saved.buffer_handle;
  tensor->data_is_stale = saved.data_is_stale;
  tensor->type = saved.type;
  tensor->params = saved.params;
  if (tensor->allocation_type != saved.allocation_type || tensor->bytes != saved.bytes) {
    if (OwnsData(*tensor)) TfLiteTensorDataFree(tensor);
    // Fixed memory comes back with the fields, planned memory with the next plan.
    const bool fixed =
        saved.allocation_type == kTfLiteMmapRo || saved.allocation_type == kTfLiteCustom;
    tensor->data.raw = fixed ? saved.data.raw : nullptr;
    tensor->allocation_type = saved.allocation_type;
    tensor->bytes = saved.bytes;
  }
  if (!SameArray(tensor->dims, dims.get())) {
    TfLiteIntArrayFree(tensor->dims);
    tensor->dims = dims.release();
  }
}

// ---- Digest -------------------------------------------------------------------------------------

namespace {

// FNV-1a over the bytes of what it is fed.
class Hash {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_scalar_v<T>);
    if constexpr (std::is_pointer_v<T>) {
      const auto address = reinterpret_cast<uintptr_t>(value);
      AddBytes(&address, sizeof address);
    } else {
      AddBytes(&value, sizeof value);
    }
  }
  void AddArray(const TfLiteIntArray* array) {
    Add(array == nullptr ? -1 : array->size);
    if (array != nullptr) AddBytes(array->data, sizeof(int) * static_cast<size_t>(array->size));
  }
  void AddArray(const TfLiteFloatArray* array) {
    Add(array == nullptr ? -1 : array->size);
    if (array != nullptr) AddBytes(array->data, sizeof(float) * static_cast<size_t>(array->size));
  }
  uint64_t value() const { return value_; }

 private:
  void AddBytes(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
    }
  }

  uint64_t value_ = 14695981039346656037u;
};

void AddTensor(const TfLiteTensor& tensor, Hash* hash) {
  hash->Add(tensor.type);
  hash->AddArray(tensor.dims);
  hash->Add(tensor.bytes);
  hash->Add(tensor.params.scale);
  hash->Add(tensor.params.zero_point);
  hash->Add(tensor.quantization.type);
  if (tensor.quantization.type == kTfLiteAffineQuantization &&
      tensor.quantization.params != nullptr) {
    const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
    hash->AddArray(affine->scale);
    hash->AddArray(affine->zero_point);
    hash->Add(affine->quantized_dimension);
  }
  hash->Add(tensor.allocation_type);
  hash->Add(tensor.delegate);
  hash->Add(tensor.buffer_handle);
  hash->Add(tensor.data_is_stale);
}

void AddNode(const TfLiteNode& node, const TfLiteRegistration& registration, Hash* hash) {
  hash->AddArray(node.inputs);
  hash->AddArray(node.outputs);
  hash->AddArray(node.temporaries);
  hash->Add(node.builtin_data);
  hash->Add(node.user_data);
  hash->Add(node.delegate);
  hash->Add(registration.init);
  hash->Add(registration.free);
  hash->Add(registration.prepare);
  hash->Add(registration.invoke);
  hash->Add(registration.builtin_code);
  hash->Add(registration.custom_name);
  hash->Add(registration.version);
}

}  // namespace

uint64_t GraphDigest(const Subgraph& subgraph, const AppliedDelegates::Order& applied) {
  Subgraph& graph =
      const_cast<Subgraph&>(subgraph);  // its accessors are not const; nothing changes
  Hash hash;
  for (int node : graph.plan()) hash.Add(node);
  for (int i = 0; i < graph.node_count(); ++i) {
    AddNode(*graph.node(i), graph.registration(i), &hash);
  }
  for (int i = 0; i < graph.tensor_count(); ++i) AddTensor(*graph.tensor(i), &hash);
  for (const AppliedDelegate* delegate : applied) hash.Add(delegate->handle);
  return hash.value();
}

}  // namespace deputy
