// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/graph.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>

#include "deputy/builtin_ops.h"
#include "deputy/c_api_opaque.h"
#include "mindspore/schema/model_generated.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

std::vector<int> IndicesOf(const TfLiteIntArray* array) {
  std::vector<int> indices;
  for (int i = 0; array != nullptr && i < array->size; ++i) {
    if (array->data[i] >= 0) indices.push_back(array->data[i]);
  }
  return indices;
}

// Returns the indices of tensors given by handles.
std::vector<int> IndicesOf(const MSTensorHandleArray& handles) {
  std::vector<int> indices;
  for (size_t i = 0; i < handles.handle_num; ++i) {
    if (handles.handle_list[i] != nullptr) {
      indices.push_back(Tensor::Of(handles.handle_list[i])->index());
    }
  }
  return indices;
}

// Returns a name such as "Conv2DFusion-op3".
std::string DefaultNameOf(const DeputyMSKernel& kernel) {
  return std::string(kernel.primitive()->type_name) + "-op" + std::to_string(kernel.node);
}

bool Contains(const std::vector<int>& indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

}  // namespace

// ---- DelegateKernel -----------------------------------------------------------------------------

DelegateKernel::~DelegateKernel() {
  if (functions_.release == nullptr) return;
  Guard([this] { return functions_.release(user_data_), kMSStatusSuccess; });
}

int DelegateKernel::Call(int (*function)(void* user_data)) const {
  if (function == nullptr) return 0;
  return CodeOf(Guard([&] { return StatusOf(function(user_data_)); }));
}

// ---- GraphTensors -------------------------------------------------------------------------------

TfLiteTensor* GraphTensors::At(int index) {
  return index >= 0 && static_cast<size_t>(index) < context_->tensors_size
             ? &context_->tensors[index]
             : nullptr;
}

bool GraphTensors::HasMemory(int index) {
  const TfLiteTensor* tensor = At(index);
  if (tensor == nullptr) return false;
  const bool constant =
      tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
  return constant || phase_ == Phase::kExecute || phase_ == Phase::kIdle;
}

bool GraphTensors::SetShape(int index, std::span<const int64_t> shape) {
  if (node_ == nullptr || (phase_ != Phase::kPrepare && phase_ != Phase::kExecute)) return false;
  TfLiteTensor* tensor = At(index);
  if (tensor == nullptr || !Contains(IndicesOf(node_->outputs), index)) return false;
  if (phase_ == Phase::kExecute && tensor->allocation_type != kTfLiteDynamic) return false;
  TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(shape.size()));
  if (dims == nullptr) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0 || shape[i] > INT32_MAX) {
      TfLiteIntArrayFree(dims);
      return false;
    }
    dims->data[i] = static_cast<int>(shape[i]);
  }
  return context_->ResizeTensor(context_, tensor, dims) == kTfLiteOk;
}

}  // namespace deputy::ms_api

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

// ---- Reading the plan ---------------------------------------------------------------------------

TfLiteStatus DeputyMSGraph::Load() {
  TfLiteContext* const context = tensors->context();
  TfLiteIntArray* plan = nullptr;
  TF_LITE_ENSURE_STATUS(context->GetExecutionPlan(context, &plan));
  const std::vector<int> nodes(plan->data, plan->data + plan->size);
  for (const int node : nodes) TF_LITE_ENSURE_STATUS(AddNode(node));
  ReadStated();
  for (const auto& original : originals) {
    list.push_back(original.get());
    for (const int output : original->output_indices) producers_[output] = original.get();
  }
  FindInputsAndOutputs();
  return kTfLiteOk;
}

TfLiteStatus DeputyMSGraph::AddNode(int node_index) {
  TfLiteContext* const context = tensors->context();
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  TF_LITE_ENSURE_STATUS(context->GetNodeAndRegistration(context, node_index, &node, &registration));
  auto kernel = std::make_unique<DeputyMSKernel>();
  kernel->node = node_index;
  kernel->input_indices = IndicesOf(node->inputs);
  kernel->output_indices = IndicesOf(node->outputs);
  kernel->inputs = tensors->table().Handles(kernel->input_indices);
  kernel->outputs = tensors->table().Handles(kernel->output_indices);
  kernel->foreign = registration->builtin_code == kTfLiteBuiltinDelegate;
  if (kernel->foreign) {
    kernel->name = registration->custom_name == nullptr ? "" : registration->custom_name;
  } else {
    kernel->derived = std::make_unique<DeputyMSPrimitive>(*context, *node, *registration);
    kernel->name = DefaultNameOf(*kernel);
  }
  originals.push_back(std::move(kernel));
  return kTfLiteOk;
}

void DeputyMSGraph::ReadStated() {
  constexpr size_t kAlignment = 16, kGrowth = 16;
  const TfLiteContext* context = tensors->context();
  const char* data = nullptr;
  size_t size = 0;
  if (context->GetModelMetadata == nullptr ||
      context->GetModelMetadata(context, deputy::ms::kNodeListName, &data, &size) != kTfLiteOk) {
    return;
  }
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(data), size);
  std::vector<uint8_t> copy;
  if (reinterpret_cast<uintptr_t>(data) % kAlignment != 0) {
    copy.assign(bytes.begin(), bytes.end());
    bytes = copy;
  }
  std::vector<deputy::ms::ListedNode> nodes;
  if (deputy::ms::ReadNodeList(bytes, &nodes)) return SetStated(nodes, kGrowth * size);
  Log(kDeputyMSLogWarning, "the metadata '%s' of the model is not valid; it is ignored",
      deputy::ms::kNodeListName);
}

// The metadata may come from any model. A primitive is ignored if the operator has fewer inputs
// than readers of the primitive access, or if tables of the metadata share too much.
void DeputyMSGraph::SetStated(const std::vector<deputy::ms::ListedNode>& nodes, size_t budget) {
  std::map<int, DeputyMSKernel*> kernels;
  for (const auto& kernel : originals) kernels[kernel->node] = kernel.get();
  for (const deputy::ms::ListedNode& node : nodes) {
    const auto found = kernels.find(node.op);
    if (found == kernels.end() || found->second->foreign) continue;
    DeputyMSKernel& kernel = *found->second;
    if (kernel.inputs.size() < deputy::ms::MinInputs(node.primitive->value_type())) continue;
    kernel.stated = kernel.derived->WithContents(*node.primitive, &budget);
    kernel.name = DefaultNameOf(kernel);
  }
}

// Finds the inputs and outputs of the graph. Deputy's runtime provides both. For another runtime
// the inputs are tensors that are read, not computed and not constant. The outputs are those of
// nodes of other delegates, and those of the partitions that a replacement of all other nodes would
// produce, which include graph outputs that nodes read.
void DeputyMSGraph::FindInputsAndOutputs() {
  const auto* opaque = reinterpret_cast<const TfLiteOpaqueContext*>(tensors->context());
  const int* first = nullptr;
  int count = 0;
  std::vector<int> input_indices;
  if (TfLiteOpaqueContextGetInputs(opaque, &first, &count) == kTfLiteOk) {
    input_indices.assign(first, first + count);
    TfLiteOpaqueContextGetOutputs(opaque, &first, &count);
    output_indices_.assign(first, first + count);
  } else {
    std::set<int> consumed;
    for (const auto& kernel : originals) {
      for (const int input : kernel->input_indices) {
        const bool end = producers_.count(input) == 0 && consumed.count(input) == 0 &&
                         tensors->At(input)->allocation_type != kTfLiteMmapRo;
        if (end) input_indices.push_back(input);
        consumed.insert(input);
      }
    }
    FindOutputs();
  }
  inputs = tensors->table().Handles(input_indices);
  outputs = tensors->table().Handles(output_indices_);
}

void DeputyMSGraph::FindOutputs() {
  TfLiteContext* const context = tensors->context();
  std::set<int> outputs_found;
  TfLiteIntArray* nodes = TfLiteIntArrayCreate(static_cast<int>(originals.size()));
  if (nodes == nullptr) return;
  nodes->size = 0;
  for (const auto& kernel : originals) {
    if (!kernel->foreign) nodes->data[nodes->size++] = kernel->node;
    const std::vector<int>& produced = kernel->output_indices;
    if (kernel->foreign) outputs_found.insert(produced.begin(), produced.end());
  }
  TfLiteDelegateParams* partitions = nullptr;
  int count = 0;
  if (context->PreviewDelegatePartitioning(context, nodes, &partitions, &count) == kTfLiteOk) {
    for (int i = 0; i < count; ++i) {
      const TfLiteIntArray* partition_outputs = partitions[i].output_tensors;
      outputs_found.insert(partition_outputs->data,
                           partition_outputs->data + partition_outputs->size);
    }
  }
  TfLiteIntArrayFree(nodes);
  output_indices_.assign(outputs_found.begin(), outputs_found.end());
}

// ---- Edits --------------------------------------------------------------------------------------

MSStatus DeputyMSGraph::Refuse(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (failure.empty()) failure = text;
  return Fail(kMSStatusLiteParamInvalid, "%s", text);
}

DeputyMSKernel* DeputyMSGraph::OriginalOf(int node) const {
  const auto found = std::find_if(originals.begin(), originals.end(),
                                  [node](const auto& original) { return original->node == node; });
  return found == originals.end() ? nullptr : found->get();
}

const char* DeputyMSGraph::NameOfTensor(int index) {
  const TfLiteTensor* tensor = tensors->At(index);
  return tensor == nullptr || tensor->name == nullptr ? "" : tensor->name;
}

DeputyMSKernel* DeputyMSGraph::Wrap(std::unique_ptr<DelegateKernel> kernel) {
  auto entry = std::make_unique<DeputyMSKernel>();
  entry->name = kernel->name();
  entry->kernel = std::move(kernel);
  added.push_back(std::move(entry));
  return added.back().get();
}

MSStatus DeputyMSGraph::Replace(size_t from, size_t end, std::unique_ptr<DelegateKernel> kernel,
                                size_t* next) {
  if (!kernel->IsValid()) {
    return Refuse("Replace: the kernel has no functions, or an invalid struct_size");
  }
  if (from >= end || end > list.size()) {
    return Refuse("Replace: expected a range of a list of %zu kernels, found [%zu, %zu)",
                  list.size(), from, end);
  }
  const std::vector<DeputyMSKernel*> range(list.begin() + static_cast<ptrdiff_t>(from),
                                           list.begin() + static_cast<ptrdiff_t>(end));
  for (const DeputyMSKernel* replaced : range) {
    if (replaced->foreign) {
      return Refuse("Replace: kernel '%s' belongs to another delegate", replaced->name.c_str());
    }
    if (replaced->kernel == nullptr) {
      kernel->nodes.push_back(replaced->node);
    } else {
      kernel->nodes.insert(kernel->nodes.end(), replaced->kernel->nodes.begin(),
                           replaced->kernel->nodes.end());
    }
  }
  DeputyMSKernel* const entry = Wrap(std::move(kernel));
  const auto first = list.erase(list.begin() + static_cast<ptrdiff_t>(from),
                                list.begin() + static_cast<ptrdiff_t>(end));
  list.insert(first, entry);
  // Kernels of the delegate that this replacement has replaced are freed.
  std::erase_if(added, [&range](const auto& old) {
    return std::find(range.begin(), range.end(), old.get()) != range.end();
  });
  if (next != nullptr) *next = from + 1;
  return kMSStatusSuccess;
}

MSStatus DeputyMSGraph::SetList(const DeputyMSKernelEntry* entries, size_t count) {
  // The kernels of an earlier list are kept until the new list is accepted.
  const size_t old_count = added.size();
  std::vector<DeputyMSKernel*> new_list;
  MSStatus status = ReadEntries({entries, count}, &new_list);
  if (status == kMSStatusSuccess) status = CheckCoverage(new_list);
  if (status == kMSStatusSuccess) status = CheckOrder(new_list);
  if (status != kMSStatusSuccess) {
    added.resize(old_count);
    return status;
  }
  added.erase(added.begin(), added.begin() + static_cast<ptrdiff_t>(old_count));
  list = std::move(new_list);
  return kMSStatusSuccess;
}

// Reads the entries of a new list. Takes ownership of all new kernels, even if an entry is invalid.
MSStatus DeputyMSGraph::ReadEntries(std::span<const DeputyMSKernelEntry> entries,
                                    std::vector<DeputyMSKernel*>* out_list) {
  MSStatus status = kMSStatusSuccess;
  for (size_t i = 0; i < entries.size(); ++i) {
    const DeputyMSKernelEntry& entry = entries[i];
    if (entry.original != nullptr) {
      out_list->push_back(OriginalOf(entry.original->node));
      if (out_list->back() != entry.original)
        status = Refuse("the list contains an unknown kernel");
      continue;
    }
    DeputyMSKernel* const kernel = Wrap(std::make_unique<DelegateKernel>(
        *entry.functions, entry.user_data, entry.name == nullptr ? "" : entry.name));
    if (entry.struct_size < sizeof entry || entry.functions->execute == nullptr) {
      status = Refuse("entry %zu of the list has no functions, or an invalid struct_size", i);
      continue;
    }
    kernel->input_indices = IndicesOf(entry.inputs);
    kernel->output_indices = IndicesOf(entry.outputs);
    for (size_t k = 0; k < entry.replaced_count; ++k) {
      const DeputyMSKernel* const old = entry.replaced == nullptr ? nullptr : entry.replaced[k];
      if (old == nullptr || OriginalOf(old->node) != old) {
        status =
            Refuse("entry %zu of the list: replaced kernel %zu is not a kernel of the model", i, k);
        continue;
      }
      kernel->kernel->nodes.push_back(old->node);
    }
    out_list->push_back(kernel);
  }
  return status;
}

// Checks that each kernel of the model is in the list once or replaced by exactly one kernel.
MSStatus DeputyMSGraph::CheckCoverage(const std::vector<DeputyMSKernel*>& new_list) {
  std::set<const DeputyMSKernel*> removed;
  for (const auto& original : originals) removed.insert(original.get());
  for (const DeputyMSKernel* kernel : new_list) {
    if (kernel->kernel == nullptr && removed.erase(kernel) == 0) {
      return Refuse("kernel '%s' is in the list twice", kernel->name.c_str());
    }
  }
  for (const DeputyMSKernel* kernel : removed) {
    if (!kernel->foreign) continue;
    return Refuse("kernel '%s' belongs to another delegate and must stay", kernel->name.c_str());
  }
  std::set<const DeputyMSKernel*> uncovered = removed;
  for (DeputyMSKernel* kernel : new_list) {
    if (kernel->kernel == nullptr) continue;
    if (kernel->kernel->nodes.empty()) {
      if (const MSStatus status = FindNodesOf(kernel, removed); status != kMSStatusSuccess) {
        return status;
      }
    }
    for (const int node : kernel->kernel->nodes) {
      if (uncovered.erase(OriginalOf(node)) > 0) continue;
      return Refuse(
          "kernel '%s' of the model is replaced by '%s' and also remains in the list or is "
          "replaced twice",
          OriginalOf(node)->name.c_str(), kernel->name.c_str());
    }
  }
  if (uncovered.empty()) return kMSStatusSuccess;
  return Refuse("kernel '%s' is missing from the list, and no new kernel replaces it",
                (*uncovered.begin())->name.c_str());
}

// Finds the kernels from the tensors that a new kernel writes back to those that it reads.
MSStatus DeputyMSGraph::FindNodesOf(DeputyMSKernel* entry,
                                    const std::set<const DeputyMSKernel*>& removed) {
  std::set<int> nodes;
  std::vector<int> open = entry->output_indices;
  while (!open.empty()) {
    const int tensor = open.back();
    open.pop_back();
    if (Contains(entry->input_indices, tensor)) continue;
    const auto producer = producers_.find(tensor);
    if (producer == producers_.end()) {
      const TfLiteTensor* constant = tensors->At(tensor);
      if (constant != nullptr && constant->allocation_type == kTfLiteMmapRo) continue;
      return Refuse("new kernel '%s' needs tensor %d '%s', which is not among its inputs",
                    entry->name.c_str(), tensor, NameOfTensor(tensor));
    }
    if (removed.count(producer->second) == 0) {
      return Refuse(
          "new kernel '%s' needs tensor %d '%s', an output of kernel '%s', which stays in the "
          "list; "
          "the tensor is not among its inputs",
          entry->name.c_str(), tensor, NameOfTensor(tensor), producer->second->name.c_str());
    }
    if (!nodes.insert(producer->second->node).second) continue;
    const std::vector<int>& more = producer->second->input_indices;
    open.insert(open.end(), more.begin(), more.end());
  }
  if (nodes.empty()) return Refuse("new kernel '%s' replaces no kernel", entry->name.c_str());
  for (const auto& original : originals) {
    if (nodes.count(original->node) > 0) entry->kernel->nodes.push_back(original->node);
  }
  return kMSStatusSuccess;
}

// Checks that each entry comes after the producers of its inputs.
MSStatus DeputyMSGraph::CheckOrder(const std::vector<DeputyMSKernel*>& new_list) {
  std::set<const DeputyMSKernel*> done;
  for (const DeputyMSKernel* entry : new_list) {
    std::vector<const DeputyMSKernel*> covered = {entry};
    if (entry->kernel != nullptr) {
      covered.clear();
      for (const int node : entry->kernel->nodes) covered.push_back(OriginalOf(node));
    }
    for (const DeputyMSKernel* original : covered) done.insert(original);
    for (const DeputyMSKernel* original : covered) {
      for (const int input : original->input_indices) {
        const auto producer = producers_.find(input);
        if (producer == producers_.end() || done.count(producer->second) > 0) continue;
        return Refuse("kernel '%s' precedes '%s', whose output it reads", entry->name.c_str(),
                      producer->second->name.c_str());
      }
    }
  }
  return kMSStatusSuccess;
}

// ---- The C API ----------------------------------------------------------------------------------

namespace {

// Copies a client's function table into the current layout. Functions beyond its size are null,
// and all if it is NULL.
DeputyMSKernelFunctions ReadFunctions(const DeputyMSKernelFunctions* functions) {
  DeputyMSKernelFunctions known = {};
  if (functions == nullptr) return known;
  const size_t size = std::min(functions->struct_size, sizeof known);
  std::memcpy(&known, functions, size - size % sizeof(void*));
  return known;
}

// Returns the distance in bytes between the entries of a client's list: the size of the struct in
// the header with which the client was compiled, which the first entry states. A size that no
// header has is replaced by that of this library.
size_t StrideOf(const DeputyMSKernelEntry* entries) {
  const size_t size = entries->struct_size;
  return size >= sizeof *entries && size % alignof(DeputyMSKernelEntry) == 0 ? size
                                                                             : sizeof *entries;
}

// Copies an entry of a client. An entry whose size differs from the distance between entries keeps
// only the fields that identify its kernel, if its size covers them.
DeputyMSKernelEntry ReadEntry(const DeputyMSKernelEntry& entry, size_t stride) {
  if (entry.struct_size == stride && stride >= sizeof entry) return entry;
  DeputyMSKernelEntry known = {};  // struct_size 0 is invalid
  if (entry.struct_size < offsetof(DeputyMSKernelEntry, name)) return known;
  known.functions = entry.functions;
  known.user_data = entry.user_data;
  return known;
}

}  // namespace

size_t DeputyMSGraphKernelCount(const DeputyMSGraph* graph) {
  return graph == nullptr ? 0 : graph->list.size();
}

const DeputyMSKernel* DeputyMSGraphKernelAt(const DeputyMSGraph* graph, size_t index) {
  return index < DeputyMSGraphKernelCount(graph) ? graph->list[index] : nullptr;
}

MSTensorHandleArray DeputyMSGraphInputs(const DeputyMSGraph* graph) {
  return graph == nullptr ? MSTensorHandleArray{} : ArrayOf(graph->inputs);
}

MSTensorHandleArray DeputyMSGraphOutputs(const DeputyMSGraph* graph) {
  return graph == nullptr ? MSTensorHandleArray{} : ArrayOf(graph->outputs);
}

int32_t DeputyMSGraphSchemaVersion(const DeputyMSGraph* graph) { return graph == nullptr ? -1 : 0; }

const char* DeputyMSKernelName(const DeputyMSKernel* kernel) {
  return kernel == nullptr ? "" : kernel->name.c_str();
}

const char* DeputyMSKernelTypeName(const DeputyMSKernel* kernel) {
  return DeputyMSPrimitiveTypeName(kernel == nullptr ? nullptr : kernel->primitive());
}

MSTensorHandleArray DeputyMSKernelInputs(const DeputyMSKernel* kernel) {
  return kernel == nullptr ? MSTensorHandleArray{} : ArrayOf(kernel->inputs);
}

MSTensorHandleArray DeputyMSKernelOutputs(const DeputyMSKernel* kernel) {
  return kernel == nullptr ? MSTensorHandleArray{} : ArrayOf(kernel->outputs);
}

const DeputyMSPrimitive* DeputyMSGraphGetPrimitive(const DeputyMSGraph* graph,
                                                   const DeputyMSKernel* kernel) {
  return graph == nullptr || kernel == nullptr ? nullptr : kernel->primitive();
}

const DeputyMSPrimitive* DeputyMSGraphGetDerivedPrimitive(const DeputyMSGraph* graph,
                                                          const DeputyMSKernel* kernel) {
  return graph == nullptr || kernel == nullptr ? nullptr : kernel->derived.get();
}

MSStatus DeputyMSGraphReplace(DeputyMSGraph* graph, size_t from, size_t end,
                              const DeputyMSKernelFunctions* functions, void* user_data,
                              const char* name, size_t* next) {
  if (graph == nullptr) return Fail(kMSStatusLiteNullptr, "Replace: the graph is NULL");
  return Guard([&] {
    return graph->Replace(from, end,
                          std::make_unique<DelegateKernel>(ReadFunctions(functions), user_data,
                                                           name == nullptr ? "" : name),
                          next);
  });
}

MSStatus DeputyMSGraphRefuse(DeputyMSGraph* graph, const DeputyMSKernel* kernel, int32_t reason,
                             const char* text) {
  if (graph == nullptr || kernel == nullptr) {
    return Fail(kMSStatusLiteNullptr, "Refuse: the graph or the kernel is NULL");
  }
  constexpr int32_t kMaxReason = 99;  // larger values are reserved for the runtime
  if (reason <= 0 || reason > kMaxReason || kernel->node < 0) {
    return Fail(kMSStatusLiteParamInvalid,
                "Refuse: expected a kernel of the model and a reason of 1 to %d, found '%s' and %d",
                kMaxReason, kernel->name.c_str(), reason);
  }
  return Guard([&] {
    // Clients have a const pointer to a kernel that the graph owns.
    auto* mutable_kernel = const_cast<DeputyMSKernel*>(kernel);
    mutable_kernel->refusal = reason;
    mutable_kernel->refusal_text = text == nullptr ? "" : text;
    return kMSStatusSuccess;
  });
}

MSStatus DeputyMSGraphSetKernels(DeputyMSGraph* graph, const DeputyMSKernelEntry* entries,
                                 size_t count) {
  if (graph == nullptr || (entries == nullptr && count > 0)) {
    return Fail(kMSStatusLiteNullptr, "the graph or its list is NULL");
  }
  return Guard([&]() -> MSStatus {
    std::vector<DeputyMSKernelEntry> known(count);
    std::vector<DeputyMSKernelFunctions> functions(count);
    const size_t stride = count == 0 ? 0 : StrideOf(entries);
    for (size_t i = 0; i < count; ++i) {
      const char* const first = reinterpret_cast<const char*>(entries) + i * stride;
      known[i] = ReadEntry(*reinterpret_cast<const DeputyMSKernelEntry*>(first), stride);
      functions[i] = ReadFunctions(known[i].original == nullptr ? known[i].functions : nullptr);
      known[i].functions = &functions[i];
    }
    return graph->SetList(known.data(), count);
  });
}
