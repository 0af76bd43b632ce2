// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/host/served_model.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "bridges/sandbox/digest.h"
#include "bridges/sandbox/node_options.h"
#include "bridges/sandbox/wire.h"
#include "deputy/deputy_graph.h"
#include "deputy/deputy_layout.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {
namespace {

constexpr size_t kMaxMessages = 1000;

// The host's tensors. The callbacks of the stubs have no user data; the process has one model.
const std::vector<HostTensor>* host_tensors = nullptr;

// Gives a handle of a resource the memory that its operator gives it, so that the graph is static.
void PrepareHandle(TfLiteTensor* handle) {
  handle->allocation_type = kTfLiteArenaRwPersistent;
  handle->bytes = sizeof(int32_t);
}

void SetDynamic(bool is_dynamic, TfLiteTensor* tensor) {
  if (is_dynamic == (tensor->allocation_type == kTfLiteDynamic)) return;
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = is_dynamic ? kTfLiteDynamic : kTfLiteArenaRw;
  tensor->data.raw = nullptr;
}

// Gives the outputs the shapes that the host has computed.
TfLiteStatus PrepareStub(TfLiteContext* context, TfLiteNode* node) {
  for (int i = 0; i < node->outputs->size; ++i) {
    const int index = node->outputs->data[i];
    if (index < 0 || static_cast<size_t>(index) >= host_tensors->size()) continue;
    const HostTensor& shape = (*host_tensors)[static_cast<size_t>(index)];
    TfLiteTensor* const output = &context->tensors[index];
    if (!shape.has_dims || output->allocation_type == kTfLiteMmapRo) continue;
    SetDynamic(shape.is_dynamic, output);
    if (shape.is_dynamic) continue;
    TfLiteIntArray* const dims = TfLiteIntArrayCreate(static_cast<int>(shape.dims.size()));
    if (dims == nullptr) return kTfLiteError;
    std::copy(shape.dims.begin(), shape.dims.end(), dims->data);
    TF_LITE_ENSURE_STATUS(context->ResizeTensor(context, output, dims));
    if (output->type == kTfLiteResource) PrepareHandle(output);
  }
  return kTfLiteOk;
}

TfLiteStatus InvokeStub(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

std::span<const int32_t> Span(const int32_t* data, int32_t count) {
  return {data, static_cast<size_t>(count)};
}

std::vector<int32_t> DimsOf(const TfLiteTensor& tensor) {
  if (tensor.dims == nullptr) return {};
  return {tensor.dims->data, tensor.dims->data + tensor.dims->size};
}

bool HasDims(const TfLiteTensor& tensor, const std::vector<int32_t>& dims) {
  return tensor.dims != nullptr && std::equal(dims.begin(), dims.end(), tensor.dims->data,
                                              tensor.dims->data + tensor.dims->size);
}

}  // namespace

ServedModel::ServedModel(int model_fd, const Setup& setup)
    : setup_(setup), tensors_(setup.tensors) {
  host_tensors = &tensors_;
  DeputySetDefaultReporter(&Collect, this);
  struct stat info {};
  if (fstat(model_fd, &info) == 0 && info.st_size > 0) {
    file_bytes_ = static_cast<size_t>(info.st_size);
    file_ = mmap(nullptr, file_bytes_, PROT_READ, MAP_PRIVATE, model_fd, 0);
    if (file_ == MAP_FAILED) file_ = nullptr;
  }
  if (file_ == nullptr) {
    claims_.problem = "the model's file cannot be mapped";
    return;
  }
  model_ = TfLiteModelCreate(file_, file_bytes_);
  if (model_ != nullptr) CreateInterpreter({});
  if (interpreter_ != nullptr) {
    subgraph_ = FindSubgraph();
    if (subgraph_ < 0) return;
    const std::vector<int32_t> unavailable = UnavailableNodes();
    if (!unavailable.empty()) {
      // Unavailable nodes are an option of the interpreter, and the subgraph is known only now.
      TfLiteInterpreterDelete(interpreter_);
      CreateInterpreter(unavailable);
    }
  }
  if (interpreter_ != nullptr) DigestNodes();
  if (interpreter_ != nullptr && ResizeInputs() && ApplyDelegate()) {
    CollectClaims();
    CollectSupport();
    CollectNodeEvents();
  } else if (claims_.problem.empty()) {
    claims_.problem = TakeMessages();
  }
}

ServedModel::~ServedModel() {
  TfLiteInterpreterDelete(interpreter_);
  DeputyPluginDeleteDelegate(delegate_);
  DeputyPluginRelease(plugin_);
  TfLiteModelDelete(model_);
  if (file_ != nullptr) munmap(file_, file_bytes_);
  DeputySetDefaultReporter(nullptr, nullptr);
}

std::string ServedModel::TakeMessages() {
  const std::lock_guard lock(messages_mutex_);
  if (messages_.empty()) return "failed without a message";
  return std::exchange(messages_, "");
}

void ServedModel::Collect(void* model, const char* format, va_list args) {
  auto& self = *static_cast<ServedModel*>(model);
  char line[kMaxMessages];
  std::vsnprintf(line, sizeof line, format, args);
  const std::lock_guard lock(self.messages_mutex_);
  if (!self.messages_.empty()) self.messages_ += "; ";
  self.messages_ += line;
  if (self.messages_.size() > kMaxMessages) self.messages_.resize(kMaxMessages);
}

const TfLiteRegistration* ServedModel::StubFor(int code, const char* name, int version) {
  // Builtin operators have a number as their key; the name of a custom operator follows a space.
  const std::string key = name == nullptr ? std::to_string(code) : " " + std::string(name);
  const auto [entry, added] = stubs_.try_emplace({key, version});
  TfLiteRegistration& stub = entry->second;
  if (added) {
    stub.builtin_code = code;
    if (name != nullptr) stub.custom_name = entry->first.first.c_str() + 1;
    stub.version = version;
    stub.prepare = &PrepareStub;
    stub.invoke = &InvokeStub;
  }
  return &stub;
}

void ServedModel::CreateInterpreter(std::span<const int32_t> unavailable) {
  TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetNumThreads(options, static_cast<int32_t>(setup_.threads));
  DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyTfLite);
  TfLiteInterpreterOptionsSetErrorReporter(options, &Collect, this);
  TfLiteInterpreterOptionsSetOpResolver(
      options,
      [](void* model, TfLiteBuiltinOperator op, int version) {
        return static_cast<ServedModel*>(model)->StubFor(op, nullptr, version);
      },
      [](void* model, const char* name, int version) {
        return static_cast<ServedModel*>(model)->StubFor(kTfLiteBuiltinCustom, name, version);
      },
      this);
  for (const int32_t node : unavailable) {
    DeputyPlacement placement = {};
    placement.struct_size = sizeof placement;
    placement.selector = kDeputySelectIndex;
    placement.subgraph_index = subgraph_;
    placement.node_index = node;
    DeputyInterpreterOptionsAddPlacement(options, &placement);
  }
  interpreter_ = TfLiteInterpreterCreateWithSelectedOps(model_, options);
  TfLiteInterpreterOptionsDelete(options);
}

const TfLiteTensor* ServedModel::Tensor(int index) const {
  return DeputyInterpreterGetTensor(interpreter_, subgraph_, index);
}

bool ServedModel::HasHostsTensors(int subgraph) const {
  const int32_t count = DeputyInterpreterGetTensorCount(interpreter_, subgraph);
  if (setup_.tensors.size() < static_cast<size_t>(count)) return false;
  for (int32_t i = 0; i < count; ++i) {
    const TfLiteTensor* const tensor = DeputyInterpreterGetTensor(interpreter_, subgraph, i);
    if (tensor == nullptr ||
        IdentityOf(*tensor) != setup_.tensors[static_cast<size_t>(i)].identity) {
      return false;
    }
  }
  return true;
}

uint64_t ServedModel::OutlineOf(int subgraph) const {
  Digest all;
  for (const int32_t index : setup_.available) {
    all.AddInt(static_cast<int64_t>(DigestOfNode(subgraph, index, kOutlineConstantBytes)));
  }
  return all.value();
}

int ServedModel::FindSubgraph() const {
  std::vector<int> found;
  for (int i = 0; i < DeputyInterpreterGetSubgraphCount(interpreter_); ++i) {
    if (HasHostsTensors(i)) found.push_back(i);
  }
  if (found.empty()) return -1;
  if (found.size() == 1) return found[0];
  const auto same = std::find_if(found.begin(), found.end(), [this](int subgraph) {
    return OutlineOf(subgraph) == setup_.outline;
  });
  return same == found.end() ? found[0] : *same;
}

std::vector<int32_t> ServedModel::UnavailableNodes() const {
  const std::set<int32_t> available(setup_.available.begin(), setup_.available.end());
  std::vector<int32_t> nodes;
  for (int32_t i = 0; i < DeputyInterpreterGetNodeCount(interpreter_, subgraph_); ++i) {
    if (!available.contains(i)) nodes.push_back(i);
  }
  return nodes;
}

bool ServedModel::ResizeInputs() {
  int32_t count = 0;
  const int32_t* const inputs = DeputyInterpreterGetInputs(interpreter_, subgraph_, &count);
  for (const int32_t index : Span(inputs, count)) {
    if (index < 0 || static_cast<size_t>(index) >= tensors_.size()) continue;
    const HostTensor& shape = tensors_[static_cast<size_t>(index)];
    const TfLiteTensor* const tensor = Tensor(index);
    if (!shape.has_dims || tensor == nullptr || HasDims(*tensor, shape.dims)) continue;
    if (DeputyInterpreterResizeInput(interpreter_, subgraph_, index, shape.dims.data(),
                                     static_cast<int32_t>(shape.dims.size()), false) != kTfLiteOk) {
      return false;
    }
  }
  return true;
}

std::vector<std::pair<std::string, std::string>> ServedModel::OptionsFor(
    const DeputyPluginInfo& info) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto* const end = info.options + info.option_count;
  for (const auto& [key, value] : setup_.options) {
    const bool is_conditional = key.starts_with('?');
    const std::string name = key.substr(is_conditional ? 1 : 0);
    const auto is_named = [&](const DeputyPluginOption& option) { return name == option.name; };
    if (is_conditional && std::none_of(info.options, end, is_named)) {
      claims_.dropped.push_back(key);
    } else {
      options.emplace_back(name, value);
    }
  }
  return options;
}

bool ServedModel::ApplyDelegate() {
  plugin_ = DeputyPluginLoad(setup_.library.c_str());
  if (plugin_ != nullptr) {
    DeputyPluginInfo info = {};
    info.struct_size = sizeof info;
    const bool is_described = DeputyPluginDescribe(plugin_, &info) == kTfLiteOk;
    const auto options = OptionsFor(info);
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    const bool is_stable = is_described && info.kind == kDeputyPluginStable;
    delegate_ = is_stable
                    ? DeputyPluginCreateStableDelegate(plugin_, nullptr)
                    : DeputyPluginCreateDelegate(plugin_, keys.data(), values.data(), keys.size());
  }
  if (delegate_ == nullptr) {
    claims_.problem = TakeMessages();
    return false;
  }
  if (setup_.has_dynamic_sizes) {
    if ((delegate_->flags & kTfLiteDelegateFlagsAllowDynamicTensors) == 0) {
      claims_.problem = "expected a delegate that allows tensors of dynamic size";
      return false;
    }
    // Allocates first, so that the delegate sees the shapes that the host has.
    if (DeputyInterpreterAllocateSubgraph(interpreter_, subgraph_) != kTfLiteOk) return false;
  }
  const int32_t subgraph = subgraph_;
  if (DeputyInterpreterModifySubgraphs(interpreter_, delegate_, &subgraph, 1) != kTfLiteOk) {
    return false;
  }
  // The host has no tensors in NCHW.
  for (int32_t i = 0; i < DeputyInterpreterGetPartitionCount(interpreter_, subgraph_); ++i) {
    DeputyPartition partition = {};
    partition.struct_size = sizeof partition;
    DeputyInterpreterGetPartition(interpreter_, subgraph_, i, &partition);
    if (DeputyInterpreterGetNodeLayout(interpreter_, subgraph_, partition.node_index) ==
        kDeputyNodeInNchw) {
      claims_.problem = "a delegate with images in NCHW cannot run in a process of its own";
      return false;
    }
  }
  return true;
}

void ServedModel::CollectClaims() {
  const int32_t count = DeputyInterpreterGetPartitionCount(interpreter_, subgraph_);
  for (int32_t i = 0; i < count; ++i) {
    DeputyPartition partition = {};
    partition.struct_size = sizeof partition;
    if (DeputyInterpreterGetPartition(interpreter_, subgraph_, i, &partition) != kTfLiteOk)
      continue;
    claims_.claims.push_back(ClaimOf(partition));
    delegate_nodes_.push_back(partition.node_index);
  }
}

void ServedModel::CollectSupport() {
  for (const int32_t index : setup_.available) {
    DeputyNodeSupport found = {};
    found.struct_size = sizeof found;
    if (DeputyInterpreterGetNodeSupport(interpreter_, subgraph_, index, 0, &found) != kTfLiteOk) {
      continue;
    }
    NodeSupport support = {index, found.reason, found.group, ""};
    switch (found.reason) {
      case kDeputyReasonNone:
      case kDeputyReasonNotClaimed:
      case kDeputyReasonNotQueried:
        support.reason = kDeputyReasonNone;  // the host derives these reasons itself
        break;
      default:
        // Plug-ins cannot give the reasons of the runtime.
        if (found.reason > kDeputyReasonNotClaimed) support.reason = kDeputyReasonOther;
        support.text = std::string(found.text).substr(0, NodeSupport::kMaxText);
    }
    if (support.reason != kDeputyReasonNone || support.group >= 0) {
      claims_.support.push_back(std::move(support));
    }
  }
}

void ServedModel::CollectNodeEvents() {
  const TfLiteOpaqueDelegateBuilder* const builder =
      delegate_->Prepare == nullptr ? delegate_->opaque_delegate_builder : nullptr;
  const int64_t flags = builder == nullptr ? delegate_->flags : builder->flags;
  claims_.has_node_events = (flags & kTfLiteDelegateFlagsPerOperatorProfiling) != 0;
  if (!claims_.has_node_events) return;
  const auto collect = [](void* records, const DeputyOpEvent* event) {
    auto& all = static_cast<Records*>(records)->records;
    if (event->delegate_node < 0 || all.size() >= Records::kMaxCount) return;
    Record& record = all.emplace_back();
    record.node = event->node_index == event->delegate_node ? -1 : event->node_index;
    record.name = event->detail;
    record.begin_ns = event->begin_ns;
    record.duration_ns = event->duration_ns;
  };
  (void)DeputyInterpreterSetProfileCallback(interpreter_, collect, &node_events_);
}

std::string ServedModel::SetOptions(const OptionChanges& changes) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : changes.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const TfLiteStatus status =
      DeputyPluginSetDelegateOptions(delegate_, keys.data(), values.data(), keys.size());
  return status == kTfLiteOk ? "" : DeputyLastError();
}

Records ServedModel::Query(CallKind kind, uint32_t claim) {
  Records found;
  if (kind == CallKind::kNodeEvents && claim == newest_claim_) found = node_events_;
  if (kind == CallKind::kPartitionTexts) {
    const auto add = [](void* records, int32_t first_node, const char* stage, const char* text) {
      auto& all = static_cast<Records*>(records)->records;
      if (all.size() < Records::kMaxCount) all.push_back({first_node, -1, stage, text});
    };
    (void)DeputyPluginDescribePartitions(delegate_, add, &found);
  }
  if (kind == CallKind::kDeviceEvents) {
    const auto add = [](void* records, const DeputyDeviceEvent* event) {
      auto& all = static_cast<Records*>(records)->records;
      if (all.size() >= Records::kMaxCount) return;
      all.push_back({event->first_node, event->node, event->name, event->kernel, event->queued_ns,
                     event->begin_ns, event->duration_ns});
    };
    (void)DeputyPluginTakeEvents(delegate_, add, &found);
  }
  return found;
}

uint64_t ServedModel::DigestOfNode(int subgraph, int node, size_t constant_bytes) const {
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  Digest digest(constant_bytes);
  if (DeputyInterpreterGetNodeInfo(interpreter_, subgraph, node, &info) == kTfLiteOk) {
    const auto tensor = [&](int index) {
      return DeputyInterpreterGetTensor(interpreter_, subgraph, index);
    };
    digest.AddNode(info.builtin_code, info.operator_name, Span(info.inputs, info.input_count),
                   Span(info.outputs, info.output_count), tensor);
    AddOptions(info.builtin_code, DeputyInterpreterGetNode(interpreter_, subgraph, node)->node,
               &digest);
  }
  return digest.value();
}

void ServedModel::DigestNodes() {
  const int32_t count = DeputyInterpreterGetNodeCount(interpreter_, subgraph_);
  for (int32_t i = 0; i < count; ++i) {
    node_digests_.push_back(DigestOfNode(subgraph_, i, Digest::kAllBytes));
  }
}

Claim ServedModel::ClaimOf(const DeputyPartition& partition) const {
  DeputyNodeInfo node = {};
  node.struct_size = sizeof node;
  Claim claim;
  Digest digest;
  for (const int32_t index : Span(partition.nodes, partition.node_count)) {
    claim.nodes.push_back(index);
    digest.AddInt(static_cast<int64_t>(node_digests_.at(static_cast<size_t>(index))));
  }
  claim.digest = digest.value();
  if (DeputyInterpreterGetNodeInfo(interpreter_, subgraph_, partition.node_index, &node) !=
      kTfLiteOk) {
    return claim;
  }
  claim.name = node.operator_name;
  for (const int32_t index : Span(node.inputs, node.input_count)) {
    const TfLiteTensor* const input = Tensor(index);
    if (input != nullptr && input->allocation_type != kTfLiteMmapRo) claim.inputs.push_back(index);
  }
  for (const int32_t index : Span(node.outputs, node.output_count)) claim.outputs.push_back(index);
  return claim;
}

Ready ServedModel::Map(const Mapping& mapping, char* memory, char* inputs) {
  memory_ = memory;
  inputs_ = inputs;
  inputs_bytes_ = mapping.inputs_size;
  memory_bytes_ = mapping.size;
  return Allocate(mapping.slots, 0);
}

Ready ServedModel::Resize(uint32_t claim, const sandbox::Resize& message) {
  Ready ready;
  if (!setup_.has_dynamic_sizes || claim >= delegate_nodes_.size()) {
    ready.problem = "there is no partition " + std::to_string(claim) + " to resize";
    return ready;
  }
  tensors_ = message.tensors;
  MakeLaterNodesDynamic(delegate_nodes_[claim]);
  places_.clear();
  if (DeputyInterpreterClearCustomAllocations(interpreter_, subgraph_) != kTfLiteOk ||
      !ResizeInputs()) {
    ready.problem = TakeMessages();
    return ready;
  }
  return Allocate(message.slots, claim + size_t{1});
}

bool ServedModel::CanChangeSize(int tensor, size_t claims) const {
  const auto has = [tensor](const std::vector<int32_t>& tensors) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  const auto begin = claims_.claims.begin();
  return std::any_of(begin, claims_.claims.end(),
                     [&](const Claim& claim) { return has(claim.outputs); }) &&
         std::none_of(begin, begin + static_cast<std::ptrdiff_t>(claims),
                      [&](const Claim& claim) { return has(claim.inputs); });
}

bool ServedModel::IsInMemory(const Slot& slot) const {
  return slot.offset >= kPageBytes && slot.bytes >= 0 &&
         slot.bytes <= memory_bytes_ - slot.offset &&
         (slot.input_offset < 0 || slot.bytes <= inputs_bytes_ - slot.input_offset);
}

Ready ServedModel::Allocate(const std::vector<Slot>& slots, size_t claims) {
  Ready ready;
  for (const Slot& slot : slots) {
    if (!IsInMemory(slot)) {
      ready.problem =
          "tensor " + std::to_string(slot.tensor) + ": expected a slot in the shared memory";
      return ready;
    }
    const Place place = {memory_ + slot.offset, static_cast<size_t>(slot.bytes),
                         slot.input_offset < 0 ? nullptr : inputs_ + slot.input_offset};
    const TfLiteCustomAllocation allocation = {place.shared == nullptr ? place.data : place.shared,
                                               place.bytes};
    places_[slot.tensor] = place;
    const bool is_copied = setup_.has_dynamic_sizes && CanChangeSize(slot.tensor, claims);
    auto* const tensor = const_cast<TfLiteTensor*>(Tensor(slot.tensor));
    if (!is_copied && tensor != nullptr) SetDynamic(false, tensor);
    if (slot.bytes > 0 && !is_copied &&
        DeputyInterpreterSetCustomAllocation(interpreter_, subgraph_, slot.tensor, &allocation,
                                             kTfLiteCustomAllocationFlagsNone) != kTfLiteOk) {
      ready.problem = TakeMessages();
      return ready;
    }
  }
  if (DeputyInterpreterAllocateSubgraph(interpreter_, subgraph_) != kTfLiteOk) {
    ready.problem = TakeMessages();
  } else if (setup_.has_dynamic_sizes) {
    ready.partitions = partitions_ = ShapesOfPartitions();
  }
  return ready;
}

void ServedModel::MakeLaterNodesDynamic(int node) {
  bool is_later = false;
  int32_t count = 0;
  const int32_t* const plan = DeputyInterpreterGetExecutionPlan(interpreter_, subgraph_, &count);
  for (const int32_t index : Span(plan, count)) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter_, subgraph_, index, &info) != kTfLiteOk) continue;
    for (const int32_t output : Span(info.outputs, info.output_count)) {
      if (output < 0 || static_cast<size_t>(output) >= tensors_.size()) continue;
      tensors_[static_cast<size_t>(output)].is_dynamic = is_later;
    }
    is_later = is_later || index == node;
  }
}

std::vector<PartitionShapes> ServedModel::ShapesOfPartitions() const {
  std::vector<PartitionShapes> partitions(delegate_nodes_.size());
  // After a dynamic output of the host the process has not prepared the nodes. After one of the
  // delegate it prepares them in a call, so that the shapes are not known.
  bool is_prepared = true, is_known = true;
  int32_t count = 0;
  const int32_t* const plan = DeputyInterpreterGetExecutionPlan(interpreter_, subgraph_, &count);
  for (const int32_t index : Span(plan, count)) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(interpreter_, subgraph_, index, &info) != kTfLiteOk) continue;
    std::vector<Shape> outputs;
    bool any_dynamic = false;
    for (const int32_t output : Span(info.outputs, info.output_count)) {
      const TfLiteTensor* const tensor = Tensor(output);
      const bool is_dynamic = tensor == nullptr || tensor->allocation_type == kTfLiteDynamic;
      any_dynamic = any_dynamic || is_dynamic;
      const bool has_shape = !is_dynamic && is_known && is_prepared;
      outputs.push_back({!has_shape, has_shape ? DimsOf(*tensor) : std::vector<int32_t>()});
    }
    const auto claim = std::find(delegate_nodes_.begin(), delegate_nodes_.end(), index);
    if (claim == delegate_nodes_.end()) {
      is_prepared = is_prepared && !any_dynamic;
      continue;
    }
    partitions[static_cast<size_t>(claim - delegate_nodes_.begin())] = {is_prepared,
                                                                        std::move(outputs)};
    is_known = is_known && !any_dynamic;
  }
  return partitions;
}

std::string ServedModel::CopyOutput(int index) {
  const auto place = places_.find(index);
  // The host reads only tensors that have a place.
  return place == places_.end() ? "" : CopyOutput(index, place->second);
}

std::string ServedModel::CopyOutput(int index, const Place& to) {
  if (DeputyInterpreterEnsureReadable(interpreter_, subgraph_, index) != kTfLiteOk) {
    return TakeMessages();
  }
  const TfLiteTensor* const tensor = Tensor(index);
  if (tensor == nullptr || tensor->bytes != to.bytes) {
    return "tensor " + std::to_string(index) + ": expected " + std::to_string(to.bytes) +
           " bytes, found " + std::to_string(tensor == nullptr ? 0 : tensor->bytes);
  }
  // A delegate may have given the tensor other memory.
  if (tensor->data.raw != to.data && to.bytes > 0) {
    if (tensor->data.raw == nullptr) return "tensor " + std::to_string(index) + " has no data";
    std::memcpy(to.data, tensor->data.raw, to.bytes);
  }
  return "";
}

void ServedModel::SetCancellation(void* data, bool (*is_cancelled)(void* data)) {
  (void)DeputyInterpreterSetCancellationFunction(interpreter_, data, is_cancelled);
}

std::string ServedModel::ReadInput(int index, bool in_slots) {
  auto* const input = const_cast<TfLiteTensor*>(Tensor(index));
  if (input == nullptr) return "";
  // The host has written the input, so that a copy on the delegate's device is out of date.
  input->data_is_stale = false;
  const auto place = places_.find(index);
  if (place != places_.end() && place->second.shared != nullptr) {
    input->data.raw = in_slots ? place->second.data : place->second.shared;
  }
  if (!setup_.has_dynamic_sizes) return "";
  const std::vector<int32_t>& dims = tensors_.at(static_cast<size_t>(index)).dims;
  if (!HasDims(*input, dims) && input->allocation_type == kTfLiteDynamic) {
    TfLiteIntArray* const array = TfLiteIntArrayCreate(static_cast<int>(dims.size()));
    if (array == nullptr) return "out of memory";
    std::copy(dims.begin(), dims.end(), array->data);
    TfLiteContext* const context = DeputyInterpreterGetContext(interpreter_, subgraph_);
    if (context->ResizeTensor(context, input, array) != kTfLiteOk) return TakeMessages();
  }
  if (place == places_.end() || !HasDims(*input, dims) || input->bytes != place->second.bytes) {
    return "tensor " + std::to_string(index) + ": expected the host's shape";
  }
  if (input->data.raw == place->second.data || input->bytes == 0) return "";
  if (input->data.raw == nullptr) return "tensor " + std::to_string(index) + " has no data";
  std::memcpy(input->data.raw, place->second.data, input->bytes);
  return "";
}

std::string ServedModel::ReadInputs(const Claim& claim, bool in_slots) {
  for (const int32_t index : claim.inputs) {
    std::string problem = ReadInput(index, in_slots);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string ServedModel::Run(uint32_t claim, bool inputs_in_slots, Sizes* sizes) {
  {
    const std::lock_guard lock(messages_mutex_);
    messages_.clear();
  }
  node_events_.records.clear();
  newest_claim_ = claim;
  if (claim >= delegate_nodes_.size()) return "there is no partition " + std::to_string(claim);
  const Claim& at = claims_.claims[claim];
  std::string problem = ReadInputs(at, inputs_in_slots);
  if (!problem.empty()) return problem;
  const auto begin = Clock::now();
  const TfLiteStatus status =
      DeputyInterpreterInvokeNode(interpreter_, subgraph_, delegate_nodes_[claim]);
  invoke_ns_ = std::chrono::nanoseconds(Clock::now() - begin).count();
  if (status != kTfLiteOk) return TakeMessages();
  for (const int32_t index : at.inputs) {
    const TfLiteTensor* const input = Tensor(index);
    if (input == nullptr || !input->is_variable) continue;
    problem = CopyOutput(index);
    if (!problem.empty()) return problem;
  }
  if (setup_.has_dynamic_sizes && !HaveSizesOfSlots(claim)) {
    for (const int32_t index : at.outputs) {
      const TfLiteTensor* const output = Tensor(index);
      sizes->dims.push_back(output == nullptr ? std::vector<int32_t>() : DimsOf(*output));
    }
    return "";
  }
  for (const int32_t index : at.outputs) {
    problem = CopyOutput(index);
    if (!problem.empty()) return problem;
  }
  return "";
}

bool ServedModel::HaveSizesOfSlots(uint32_t claim) const {
  const std::vector<int32_t>& outputs = claims_.claims[claim].outputs;
  const std::vector<Shape>& shapes = partitions_.at(claim).outputs;
  if (std::any_of(shapes.begin(), shapes.end(), [](const Shape& at) { return at.is_dynamic; })) {
    return false;
  }
  return std::all_of(outputs.begin(), outputs.end(), [this](int32_t index) {
    const auto place = places_.find(index);
    const TfLiteTensor* const tensor = Tensor(index);
    return place != places_.end() && tensor != nullptr && tensor->bytes == place->second.bytes;
  });
}

std::string ServedModel::Fetch(uint32_t claim, const Mapping& mapping) {
  if (claim >= delegate_nodes_.size()) return "there is no partition " + std::to_string(claim);
  const std::vector<int32_t>& outputs = claims_.claims[claim].outputs;
  for (const Slot& slot : mapping.slots) {
    const bool is_output = std::find(outputs.begin(), outputs.end(), slot.tensor) != outputs.end();
    if (!is_output || !IsInMemory(slot)) {
      return "tensor " + std::to_string(slot.tensor) + ": expected a slot for an output";
    }
    std::string problem =
        CopyOutput(slot.tensor, {memory_ + slot.offset, static_cast<size_t>(slot.bytes)});
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace deputy::sandbox
