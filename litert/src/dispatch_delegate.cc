// SPDX-License-Identifier: Apache-2.0
#include "litert/src/dispatch_delegate.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "deputy/c_api_opaque.h"
#include "deputy/common.h"
#include "litert/c/internal/litert_dispatch_delegate.h"
#include "litert/src/buffer_context.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/dispatch_source.h"
#include "litert/src/environment.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"
#include "litert/src/metrics.h"
#include "litert/src/plugin_files.h"
#include "litert/src/requirements.h"
#include "litert/src/runtime_context.h"
#include "litert/src/tensor_buffer.h"

namespace deputy::litert {
namespace {

constexpr char kDelegateName[] = "LiteRtDispatch";

class DispatchKernel;

// A device of the plug-in, for one compiled model.
struct DispatchDelegate {
  TfLiteDelegate delegate = TfLiteDelegateCreate();  // first: a client's pointer is this object's
  const DispatchLibrary* library = nullptr;
  LiteRtEnvironment environment = nullptr;
  LiteRtOptions options = nullptr;
  std::shared_ptr<const DispatchSource> source;
  // Chooses the source in each Prepare; failures are then errors of the interpreter. May be null.
  ChooseSource* choose = nullptr;
  LiteRtDispatchDeviceContext device = nullptr;
  std::vector<DispatchKernel*> kernels;  // of all partitions
};

// Logs an error that begins with the plug-in's name and file.
LiteRtStatus Refuse(const DispatchDelegate& owner, LiteRtStatus status, const std::string& reason) {
  return Fail(status, "dispatch: plug-in '%s' (%s): %s", owner.library->vendor.c_str(),
              owner.library->path.c_str(), reason.c_str());
}

// Calls a function of the plug-in; a failure is logged with the function's name.
template <typename Function, typename... Arguments>
LiteRtStatus Call(const DispatchDelegate& owner, const char* name, Function function,
                  Arguments... arguments) {
  const LiteRtStatus status = Guard([&] { return function(arguments...); });
  if (status == kLiteRtStatusOk) return status;
  return Refuse(owner, status, std::string(name) + " failed: " + LiteRtGetStatusString(status));
}

// Calls a function of the plug-in that creates an object.
template <typename Object, typename Function, typename... Arguments>
LiteRtStatus Create(const DispatchDelegate& owner, const char* name, Object* out_object,
                    Function function, Arguments... arguments) {
  LITERT_TRY(Call(owner, name, function, arguments..., out_object));
  if (*out_object != nullptr) return kLiteRtStatusOk;
  return Refuse(owner, kLiteRtStatusErrorRuntimeFailure, std::string(name) + " returned NULL");
}

// The nodes of a partition, which run one after the other.
class DispatchKernel {
 public:
  DispatchKernel(DispatchDelegate* owner, TfLiteContext* context,
                 const TfLiteDelegateParams& params);
  ~DispatchKernel();
  DispatchKernel(const DispatchKernel&) = delete;
  DispatchKernel& operator=(const DispatchKernel&) = delete;

  LiteRtStatus Create(TfLiteContext* context, const TfLiteDelegateParams& params);
  LiteRtStatus Prepare(TfLiteContext* context);
  LiteRtStatus Invoke(TfLiteContext* context);
  const DispatchDelegate& owner() const { return owner_; }

  LiteRtStatus StartMetrics(int detail_level);
  LiteRtStatus StopMetrics(LiteRtMetricsT* metrics);

 private:
  // A node: byte code that the plug-in has prepared.
  struct Node {
    LiteRtDispatchInvocationContext context = nullptr;
    std::vector<int> inputs, outputs;  // tensors, without absent ones
  };
  // An input or output of a node.
  struct Port {
    size_t node = 0;
    int index = 0;
    bool is_input = false;
  };
  // A tensor of the partition and the buffer that is registered for it.
  struct Tensor {
    std::vector<Port> ports;
    RequirementsPtr requirements;
    bool is_inner = false;   // only nodes of the partition use it
    bool is_copied = false;  // the buffer is not the tensor's own memory
    bool is_given = false;   // the buffer is the client's
    TensorBufferPtr buffer;
    // Event of the last asynchronous run that writes the tensor; null: none, or the client's buffer
    // has it.
    std::unique_ptr<LiteRtEventT> event;
    LiteRtTensorBufferHandle handle = 0;
    bool is_registered = false;
  };

  LiteRtStatus AddPrograms(const TfLiteIntArray& nodes);
  LiteRtStatus AddNode(TfLiteContext* context, int index);
  LiteRtStatus AddProgram(LiteRtDispatchExecutableType type, const LiteRtMemBuffer& memory,
                          const std::string& name, std::span<const int> inputs,
                          std::span<const int> outputs);
  LiteRtStatus FindRequirements(TfLiteContext* context, int index, Tensor* tensor);
  LiteRtStatus UpdateBuffer(TfLiteContext* context, int index, Tensor* tensor);
  // Sets options and scheduling information of a run.
  LiteRtStatus ConfigureRun(const Node& node);
  LiteRtStatus RunNodes();
  LiteRtStatus StartNodes();
  LiteRtStatus StartNode(const Node& node);
  void ClearEvents();  // of the client's output buffers
  LiteRtStatus TakeEvents(const Node& node, std::vector<LiteRtEvent>* events);
  // Waits until the tasks of asynchronous runs have ended. Returns the first failure of one.
  LiteRtStatus WaitForTasks();
  // Unregisters buffers of tasks that have ended.
  void ReleaseBuffers();
  // Returns true if tasks may continue after the run: they use the client's memory only.
  bool CanContinue(const TfLiteContext& context) const;
  LiteRtStatus Attach(Tensor* tensor);
  void Detach(Tensor* tensor);
  void Unregister(LiteRtTensorBufferHandle handle);
  LiteRtStatus Copy(const TfLiteTensor& host, const Tensor& tensor, bool to_buffer) const;
  const LiteRtDispatchInterface& calls() const { return owner_.library->calls; }

  DispatchDelegate& owner_;
  const std::shared_ptr<const DispatchSource> source_;
  LiteRtExternalLiteRtBufferContext buffers_ = nullptr;  // of the compiled model; null: none
  int32_t subgraph_ = 0;
  bool has_scheduling_ = false, has_run_options_ = false;  // of the last run
  // Events of tasks that may not have ended, and buffers to unregister once they have.
  std::vector<std::unique_ptr<LiteRtEventT>> tasks_;
  std::vector<std::pair<LiteRtTensorBufferHandle, TensorBufferPtr>> retired_;
  std::vector<int> inputs_, outputs_;  // of the partition
  std::vector<Node> nodes_;
  std::map<int, Tensor> tensors_;
};

DispatchKernel::DispatchKernel(DispatchDelegate* owner, TfLiteContext* context,
                               const TfLiteDelegateParams& params)
    : owner_(*owner),
      source_(owner->source),
      buffers_(static_cast<LiteRtExternalLiteRtBufferContext>(
          context->GetExternalContext(context, kTfLiteLiteRtBufferContext))),
      inputs_(params.input_tensors->data, params.input_tensors->data + params.input_tensors->size),
      outputs_(params.output_tensors->data,
               params.output_tensors->data + params.output_tensors->size) {
  owner_.kernels.push_back(this);
  TensorId id;
  if (buffers_ != nullptr && !buffers_->Find(context->tensors, &id)) buffers_ = nullptr;
  if (buffers_ != nullptr) subgraph_ = id.first;
}

DispatchKernel::~DispatchKernel() {
  (void)WaitForTasks();
  owner_.kernels.erase(std::find(owner_.kernels.begin(), owner_.kernels.end(), this));
  if (buffers_ != nullptr) buffers_->RemoveRequirements(this);
  for (auto& [index, tensor] : tensors_) Detach(&tensor);
  for (const Node& node : nodes_) {
    (void)Call(owner_, "invocation_context_destroy", calls().invocation_context_destroy,
               node.context);
  }
}

LiteRtStatus DispatchKernel::Create(TfLiteContext* context, const TfLiteDelegateParams& params) {
  if (!source_->programs.empty()) {
    LITERT_TRY(AddPrograms(*params.nodes_to_replace));
  } else {
    for (int i = 0; i < params.nodes_to_replace->size; ++i) {
      LITERT_TRY(AddNode(context, params.nodes_to_replace->data[i]));
    }
  }
  for (auto& [index, tensor] : tensors_) {
    tensor.is_inner = std::count(inputs_.begin(), inputs_.end(), index) == 0 &&
                      std::count(outputs_.begin(), outputs_.end(), index) == 0;
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::AddNode(TfLiteContext* context, int index) {
  TfLiteNode* from = nullptr;
  TfLiteRegistration* registration = nullptr;
  if (context->GetNodeAndRegistration(context, index, &from, &registration) != kTfLiteOk) {
    return kLiteRtStatusErrorRuntimeFailure;
  }
  DispatchOptions options;
  Bytes byte_code;
  LITERT_TRY(ReadDispatchOptions({static_cast<const uint8_t*>(from->custom_initial_data),
                                  static_cast<size_t>(from->custom_initial_data_size)},
                                 &options));
  LITERT_TRY(FindByteCode(options, source_->file, &byte_code));
  LiteRtMemBuffer memory = {.fd = -1,
                            .base_addr = source_->file.data(),
                            .offset = options.offset,
                            .size = options.size,
                            .alloc_base_file_offset = 0};
  LiteRtDispatchExecutableType type = kLiteRtDispatchExecutableTypeMlModel;
  if (source_->handles != nullptr && source_->handles->count(options.name) > 0) {
    memory.base_addr = source_->handles->at(options.name);
    memory.offset = memory.size = 0;
    type = kLiteRtDispatchExecutableTypeJitHandle;
  }
  return AddProgram(type, memory, options.name,
                    {from->inputs->data, static_cast<size_t>(from->inputs->size)},
                    {from->outputs->data, static_cast<size_t>(from->outputs->size)});
}

// Adds the programs that replace these nodes.
LiteRtStatus DispatchKernel::AddPrograms(const TfLiteIntArray& nodes) {
  std::set<int> left(nodes.data, nodes.data + nodes.size);
  for (const DispatchProgram& program : source_->programs) {
    if (left.count(program.nodes.front()) == 0) continue;
    for (const int node : program.nodes) {
      if (left.erase(node) > 0) continue;
      return Refuse(owner_, kLiteRtStatusErrorInvalidGraphInvariant,
                    "expected all nodes of program '" + program.name + "' in one partition; node " +
                        std::to_string(node) + " is in another one");
    }
    LiteRtMemBuffer memory = {.fd = -1,
                              .base_addr = program.byte_code.data(),
                              .offset = 0,
                              .size = program.byte_code.size(),
                              .alloc_base_file_offset = 0};
    LiteRtDispatchExecutableType type = kLiteRtDispatchExecutableTypeMlModel;
    if (program.handle != nullptr) {
      memory.base_addr = program.handle;
      type = kLiteRtDispatchExecutableTypeJitHandle;
    }
    LITERT_TRY(AddProgram(type, memory, program.name, program.inputs, program.outputs));
  }
  if (left.empty()) return kLiteRtStatusOk;
  return Refuse(owner_, kLiteRtStatusErrorInvalidGraphInvariant,
                "no program replaces node " + std::to_string(*left.begin()));
}

LiteRtStatus DispatchKernel::AddProgram(LiteRtDispatchExecutableType type,
                                        const LiteRtMemBuffer& memory, const std::string& name,
                                        std::span<const int> inputs, std::span<const int> outputs) {
  Node node;
  const auto add = [&](std::span<const int> list, bool is_input, std::vector<int>* to) {
    for (const int tensor : list) {
      if (tensor < 0) continue;
      tensors_[tensor].ports.push_back(
          {.node = nodes_.size(), .index = static_cast<int>(to->size()), .is_input = is_input});
      to->push_back(tensor);
    }
  };
  add(inputs, true, &node.inputs);
  add(outputs, false, &node.outputs);
  LITERT_TRY(litert::Create(owner_, "invocation_context_create", &node.context,
                            calls().invocation_context_create, RuntimeContext(), owner_.device,
                            type, &memory, name.c_str(), static_cast<int>(node.inputs.size()),
                            static_cast<int>(node.outputs.size())));
  nodes_.push_back(std::move(node));
  return kLiteRtStatusOk;
}

// Joins the requirements of all nodes that use the tensor.
LiteRtStatus DispatchKernel::FindRequirements(TfLiteContext* context, int index, Tensor* tensor) {
  LiteRtRankedTensorType type;
  LITERT_TRY(TypeOf(context->tensors[index], &type));
  tensor->requirements.reset();
  for (const Port& port : tensor->ports) {
    const char* const name = port.is_input ? "get_input_requirements" : "get_output_requirements";
    LiteRtTensorBufferRequirements found = nullptr;
    LITERT_TRY(
        Call(owner_, name,
             port.is_input ? calls().get_input_requirements : calls().get_output_requirements,
             nodes_[port.node].context, port.index, &type, &found));
    const auto refuse = [&](LiteRtStatus status, const std::string& reason) {
      return Refuse(
          owner_, status,
          std::string(name) + ": tensor '" + context->tensors[index].name + "': " + reason);
    };
    if (!TakeRequirements(found)) {
      return refuse(kLiteRtStatusErrorRuntimeFailure,
                    std::string("expected requirements of the plug-in, found ") +
                        (found == nullptr ? "NULL" : "an object that the host has not created"));
    }
    RequirementsPtr added(found);
    if (!added->strides.empty()) {
      return refuse(kLiteRtStatusErrorUnsupported, "strides are not supported");
    }
    for (const LiteRtTensorBufferType& each : added->types) {
      if (NumberOf(each) < 0 || NumberOf(each) > kLiteRtTensorBufferTypeUserCustomBufferEnd) {
        return refuse(kLiteRtStatusErrorInvalidArgument,
                      "unknown type of buffers " + std::to_string(NumberOf(each)));
      }
    }
    if (tensor->requirements != nullptr) {
      LiteRtTensorBufferRequirements joined = nullptr;
      LITERT_TRY(
          LiteRtJoinTensorBufferRequirements(tensor->requirements.get(), added.get(), &joined));
      (void)TakeRequirements(joined);
      added.reset(joined);
    }
    tensor->requirements = std::move(added);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::Prepare(TfLiteContext* context) {
  (void)WaitForTasks();
  for (auto& [index, tensor] : tensors_) {
    Detach(&tensor);
    LITERT_TRY(FindRequirements(context, index, &tensor));
    if (buffers_ == nullptr || tensor.is_inner) continue;
    // Other users of the tensor may have other requirements; each one copies it then.
    (void)buffers_->SetRequirements({subgraph_, index}, this, *tensor.requirements);
  }
  return kLiteRtStatusOk;
}

// Provides the buffer of a tensor: the client's buffer, or the tensor's own memory, if the plug-in
// can use it, else a buffer of the type that the plug-in prefers.
LiteRtStatus DispatchKernel::UpdateBuffer(TfLiteContext* context, int index, Tensor* tensor) {
  const TfLiteTensor& own = context->tensors[index];
  const LiteRtTensorBufferRequirementsT& wanted = *tensor->requirements;
  LiteRtTensorBufferT* const given =
      buffers_ == nullptr || tensor->is_inner ? nullptr : buffers_->Buffer({subgraph_, index});
  if (given != nullptr && Accepts(wanted, *given)) {
    if (tensor->is_given && tensor->buffer.get() == given) return kLiteRtStatusOk;
    Detach(tensor);
    given->Retain();
    tensor->buffer.reset(given);
    tensor->is_given = true;
    tensor->is_copied = false;
    const LiteRtStatus status = Attach(tensor);
    if (status != kLiteRtStatusOk) Detach(tensor);
    return status;
  }
  if (tensor->is_given) Detach(tensor);
  const bool accepts_host =
      std::count(wanted.types.begin(), wanted.types.end(), kLiteRtTensorBufferTypeHostMemory) > 0;
  const bool fits = accepts_host && !tensor->is_inner && own.data.raw != nullptr &&
                    wanted.bytes <= own.bytes && wanted.alignment > 0 &&
                    reinterpret_cast<uintptr_t>(own.data.raw) % wanted.alignment == 0;
  if (tensor->buffer != nullptr &&
      (fits ? tensor->buffer->address == own.data.raw : tensor->is_copied || tensor->is_inner)) {
    return kLiteRtStatusOk;
  }
  Detach(tensor);
  LiteRtRankedTensorType type;
  LITERT_TRY(TypeOf(own, &type));
  if (fits) {
    tensor->buffer.reset(
        new LiteRtTensorBufferT(type, kLiteRtTensorBufferTypeHostMemory, own.bytes, 0));
    tensor->buffer->address = own.data.raw;
    tensor->is_copied = false;
  } else {
    LiteRtTensorBuffer created = nullptr;
    LiteRtTensorBufferRequirementsT padded = wanted;
    padded.bytes = std::max(padded.bytes, PackedBytes(type).value_or(own.bytes));
    padded.alignment = std::max<size_t>(padded.alignment, LITERT_HOST_MEMORY_BUFFER_ALIGNMENT);
    const LiteRtStatus status = LiteRtCreateManagedTensorBufferFromRequirements(
        owner_.environment, &type, &padded, &created);
    if (status != kLiteRtStatusOk) {
      return Refuse(owner_, status,
                    std::string("tensor '") + own.name + "': a buffer of type " +
                        std::to_string(NumberOf(padded.types.front())) + " and " +
                        std::to_string(padded.bytes) + " bytes cannot be created");
    }
    tensor->buffer.reset(created);
    tensor->is_copied = !tensor->is_inner;
  }
  const LiteRtStatus status = Attach(tensor);
  if (status != kLiteRtStatusOk) Detach(tensor);
  return status;
}

LiteRtStatus DispatchKernel::Attach(Tensor* tensor) {
  tensor->handle = 0;
  LITERT_TRY(Call(owner_, "register_tensor_buffer", calls().register_tensor_buffer, owner_.device,
                  tensor->buffer.get(), &tensor->handle));
  tensor->is_registered = true;
  for (const Port& port : tensor->ports) {
    LITERT_TRY(Call(owner_, port.is_input ? "attach_input" : "attach_output",
                    port.is_input ? calls().attach_input : calls().attach_output,
                    nodes_[port.node].context, port.index, tensor->handle));
  }
  return kLiteRtStatusOk;
}

void DispatchKernel::Detach(Tensor* tensor) {
  if (tensor->is_registered) {
    for (const Port& port : tensor->ports) {
      (void)Call(owner_, port.is_input ? "detach_input" : "detach_output",
                 port.is_input ? calls().detach_input : calls().detach_output,
                 nodes_[port.node].context, port.index, tensor->handle);
    }
    if (tasks_.empty()) {
      Unregister(tensor->handle);
    } else {
      retired_.emplace_back(tensor->handle, std::move(tensor->buffer));
    }
  }
  tensor->is_registered = tensor->is_given = false;
  tensor->buffer.reset();
}

void DispatchKernel::Unregister(LiteRtTensorBufferHandle handle) {
  (void)Call(owner_, "unregister_tensor_buffer", calls().unregister_tensor_buffer, owner_.device,
             handle);
}

void DispatchKernel::ReleaseBuffers() {
  const auto has_ended = [](const std::unique_ptr<LiteRtEventT>& event) {
    bool is_signaled = false;
    return event->IsSignaled(&is_signaled) != kLiteRtStatusOk || is_signaled;
  };
  tasks_.erase(std::remove_if(tasks_.begin(), tasks_.end(), has_ended), tasks_.end());
  if (!tasks_.empty()) return;
  for (const auto& [handle, buffer] : retired_) Unregister(handle);
  retired_.clear();
}

LiteRtStatus DispatchKernel::WaitForTasks() {
  LiteRtStatus status = kLiteRtStatusOk;
  for (const auto& event : tasks_) {
    const LiteRtStatus ended = event->Wait(-1);
    if (status == kLiteRtStatusOk) status = ended;
  }
  tasks_.clear();
  ReleaseBuffers();
  if (status == kLiteRtStatusOk) return status;
  return Refuse(owner_, status,
                std::string("an asynchronous run failed: ") + LiteRtGetStatusString(status));
}

bool DispatchKernel::CanContinue(const TfLiteContext& context) const {
  const auto is_clients = [&](int index) {
    const auto found = tensors_.find(index);
    return found == tensors_.end() || found->second.is_given;
  };
  const auto is_constant = [&](int index) {
    return context.tensors[index].allocation_type == kTfLiteMmapRo;
  };
  return std::all_of(inputs_.begin(), inputs_.end(),
                     [&](int index) { return is_constant(index) || is_clients(index); }) &&
         std::all_of(outputs_.begin(), outputs_.end(), is_clients);
}

LiteRtStatus DispatchKernel::ConfigureRun(const Node& node) {
  if (buffers_ == nullptr) return kLiteRtStatusOk;
  const auto is_failure = [](LiteRtStatus status) {
    return status != kLiteRtStatusOk && status != kLiteRtStatusErrorUnsupported;
  };
  const auto set_scheduling = calls().invocation_context_set_scheduling_info;
  if (set_scheduling != nullptr && (buffers_->scheduling != nullptr || has_scheduling_)) {
    const LiteRtStatus status =
        Guard([&] { return set_scheduling(node.context, buffers_->scheduling); });
    if (is_failure(status)) {
      Log(kLiteRtLogSeverityWarning,
          "dispatch: plug-in '%s' (%s): invocation_context_set_scheduling_info failed: %s",
          owner_.library->vendor.c_str(), owner_.library->path.c_str(),
          LiteRtGetStatusString(status));
    }
  }
  const auto set_options = calls().invocation_context_set_options;
  if (set_options != nullptr && (buffers_->run_options != nullptr || has_run_options_)) {
    const LiteRtStatus status =
        Guard([&] { return set_options(node.context, buffers_->run_options); });
    if (is_failure(status)) {
      return Refuse(
          owner_, status,
          std::string("invocation_context_set_options failed: ") + LiteRtGetStatusString(status));
    }
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::RunNodes() {
  for (const auto& [index, tensor] : tensors_) {
    if (!tensor.is_given || tensor.buffer->event == nullptr) continue;
    LITERT_TRY(tensor.buffer->event->Wait(-1));
  }
  for (const Node& node : nodes_) {
    LITERT_TRY(ConfigureRun(node));
    LITERT_TRY(Call(owner_, "invoke", calls().invoke, node.context));
  }
  return kLiteRtStatusOk;
}

// Starts the task of a node, which waits for the events of its inputs.
LiteRtStatus DispatchKernel::StartNode(const Node& node) {
  const LiteRtDispatchAsyncInterface& async = owner_.library->async_calls;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& input = tensors_.at(node.inputs[i]);
    LiteRtEvent event = input.event.get();
    if (event == nullptr && input.is_given) event = input.buffer->event.get();
    if (event == nullptr) continue;
    LITERT_TRY(Call(owner_, "attach_input_event", async.attach_input_event, node.context,
                    static_cast<int>(i), event));
  }
  LITERT_TRY(ConfigureRun(node));
  std::vector<LiteRtEvent> events(node.outputs.size(), nullptr);
  LITERT_TRY(Call(owner_, "invoke_async", async.invoke_async, node.context,
                  static_cast<int>(events.size()), events.data()));
  return TakeEvents(node, &events);
}

// Stores the events of a node's outputs. An output without an event is complete.
LiteRtStatus DispatchKernel::TakeEvents(const Node& node, std::vector<LiteRtEvent>* events) {
  std::vector<std::unique_ptr<LiteRtEventT>> owned;
  for (auto each = events->begin(); each != events->end(); ++each) {
    const bool is_valid = *each == nullptr || LiteRtEventT::Exists(*each);
    if (!is_valid || (*each != nullptr && std::find(events->begin(), each, *each) != each)) {
      return Refuse(owner_, kLiteRtStatusErrorRuntimeFailure,
                    std::string("invoke_async returned ") +
                        (is_valid ? "an event twice" : "an event that does not exist"));
    }
    owned.emplace_back(*each);
  }
  for (size_t i = 0; i < owned.size(); ++i) {
    Tensor& output = tensors_.at(node.outputs[i]);
    std::unique_ptr<LiteRtEventT> event = std::move(owned[i]);
    if (event == nullptr) continue;
    std::unique_ptr<LiteRtEventT> copy = event->Duplicate();
    if (copy == nullptr) {
      LITERT_TRY(event->Wait(-1));
      continue;
    }
    tasks_.push_back(std::move(copy));
    (output.is_given ? output.buffer->event : output.event) = std::move(event);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::StartNodes() {
  LiteRtStatus status = kLiteRtStatusOk;
  for (const Node& node : nodes_) {
    status = Guard([&] { return StartNode(node); });
    if (status != kLiteRtStatusOk) break;
  }
  if (status != kLiteRtStatusOk) {
    (void)WaitForTasks();
    ClearEvents();
  }
  return status;
}

void DispatchKernel::ClearEvents() {
  for (const int index : outputs_) {
    const auto found = tensors_.find(index);
    if (found != tensors_.end() && found->second.is_given) found->second.buffer->event.reset();
  }
}

LiteRtStatus DispatchKernel::Copy(const TfLiteTensor& host, const Tensor& tensor,
                                  bool to_buffer) const {
  // Tensors before a delegate may be dynamic.
  if (host.bytes > tensor.buffer->bytes - tensor.buffer->offset) {
    return Refuse(owner_, kLiteRtStatusErrorRuntimeFailure,
                  std::string("tensor '") + host.name + "': expected at most " +
                      std::to_string(tensor.buffer->bytes - tensor.buffer->offset) +
                      " bytes, found " + std::to_string(host.bytes));
  }
  void* memory = nullptr;
  const LiteRtStatus status = tensor.buffer->Lock(
      to_buffer ? kLiteRtTensorBufferLockModeWrite : kLiteRtTensorBufferLockModeRead, &memory);
  if (status != kLiteRtStatusOk) {
    return Refuse(owner_, status,
                  std::string("the buffer of tensor '") + host.name + "' cannot be locked");
  }
  if (to_buffer) {
    std::memcpy(memory, host.data.raw, host.bytes);
  } else {
    std::memcpy(host.data.raw, memory, host.bytes);
  }
  return tensor.buffer->Unlock();
}

LiteRtStatus DispatchKernel::StartMetrics(int detail_level) {
  const auto start = calls().start_metrics_collection;
  if (start == nullptr) return kLiteRtStatusErrorUnsupported;
  for (const Node& node : nodes_) {
    LITERT_TRY(Call(owner_, "start_metrics_collection", start, node.context, detail_level));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::StopMetrics(LiteRtMetricsT* metrics) {
  constexpr int kMaxMetrics = 65536;
  const auto stop = calls().stop_metrics_collection;
  const auto count = calls().get_num_metrics;
  const auto get = calls().get_metric;
  const auto destroy = calls().destroy_metrics;
  if (stop == nullptr || count == nullptr || get == nullptr || destroy == nullptr) {
    return kLiteRtStatusErrorUnsupported;
  }
  for (const Node& node : nodes_) {
    LiteRtDispatchMetrics found = nullptr;
    LITERT_TRY(litert::Create(owner_, "stop_metrics_collection", &found, stop, node.context));
    int number = 0;
    LiteRtStatus status = Call(owner_, "get_num_metrics", count, found, &number);
    if (number < 0 || number > kMaxMetrics) {
      status = Refuse(owner_, kLiteRtStatusErrorRuntimeFailure,
                      "get_num_metrics returned " + std::to_string(number));
    }
    for (int i = 0; i < number && status == kLiteRtStatusOk; ++i) {
      LiteRtMetric metric = {};
      std::string name, text;
      status = Call(owner_, "get_metric", get, found, i, &metric);
      if (status != kLiteRtStatusOk) break;
      const bool is_text = NumberOf(metric.value.type) == kLiteRtAnyTypeString;
      if (!CopyText(metric.name, &name) || (is_text && !CopyText(metric.value.str_value, &text))) {
        status = Refuse(owner_, kLiteRtStatusErrorRuntimeFailure,
                        "get_metric returned no readable text");
        break;
      }
      if (is_text) metric.value.str_value = text.c_str();
      metric.name = name.c_str();
      status = LiteRtAppendMetric(metrics, &metric);
    }
    (void)Call(owner_, "destroy_metrics", destroy, found);
    LITERT_TRY(status);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus DispatchKernel::Invoke(TfLiteContext* context) {
  ReleaseBuffers();
  for (auto& [index, tensor] : tensors_) {
    tensor.event.reset();
    LITERT_TRY(UpdateBuffer(context, index, &tensor));
  }
  for (const int index : inputs_) {
    const auto found = tensors_.find(index);
    if (found != tensors_.end() && found->second.is_copied) {
      LITERT_TRY(Copy(context->tensors[index], found->second, true));
    }
  }
  if (buffers_ != nullptr && buffers_->is_async && owner_.library->is_async) {
    const bool can_continue = CanContinue(*context);
    // Earlier tasks may use the tensors between the nodes, and memory of the interpreter.
    if (!can_continue || nodes_.size() > 1) (void)WaitForTasks();
    LITERT_TRY(StartNodes());
    if (!can_continue) {
      const LiteRtStatus status = WaitForTasks();
      ClearEvents();
      LITERT_TRY(status);
    }
  } else {
    (void)WaitForTasks();
    LITERT_TRY(RunNodes());
  }
  if (buffers_ != nullptr) {
    has_scheduling_ = buffers_->scheduling != nullptr;
    has_run_options_ = buffers_->run_options != nullptr;
  }
  for (const int index : outputs_) {
    const auto found = tensors_.find(index);
    if (found != tensors_.end() && found->second.is_copied) {
      LITERT_TRY(Copy(context->tensors[index], found->second, false));
    }
  }
  return kLiteRtStatusOk;
}

// ---- Functions of the delegate and its kernel ---------------------------------------------------

// Calls a function that returns a status. A failure is logged or, if the delegate chooses its
// source, an error of the interpreter.
template <typename Function>
TfLiteStatus Run(const DispatchDelegate& owner, TfLiteContext* context, const Function& function) {
  std::optional<KeptMessages> kept;
  if (owner.choose != nullptr) kept.emplace();
  if (Guard(function) == kLiteRtStatusOk) return kTfLiteOk;
  if (kept) context->ReportError(context, "%s", kept->text());
  return kTfLiteError;
}

void* InitKernel(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  auto* const owner = static_cast<DispatchDelegate*>(params.delegate->data_);
  std::unique_ptr<DispatchKernel> kernel;
  const TfLiteStatus status = Run(*owner, context, [&] {
    kernel = std::make_unique<DispatchKernel>(owner, context, params);
    return kernel->Create(context, params);
  });
  return status == kTfLiteOk ? kernel.release() : nullptr;
}

void FreeKernel(TfLiteContext*, void* kernel) { delete static_cast<DispatchKernel*>(kernel); }

// Calls a function with a node's kernel. Fails if the kernel was not created, which was reported.
template <typename Function>
TfLiteStatus RunNode(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  auto* const kernel = static_cast<DispatchKernel*>(node->user_data);
  if (kernel == nullptr) return kTfLiteError;
  return Run(kernel->owner(), context, [&] { return function(kernel); });
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(context, node, [&](DispatchKernel* kernel) { return kernel->Prepare(context); });
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(context, node, [&](DispatchKernel* kernel) { return kernel->Invoke(context); });
}

bool IsDispatchOp(const TfLiteRegistration& registration) {
  return registration.builtin_code == kTfLiteBuiltinCustom && registration.custom_name != nullptr &&
         std::strcmp(registration.custom_name, kDispatchOpCode) == 0;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const std::vector<int> order(plan->data, plan->data + plan->size);
  const DispatchSource& source = *static_cast<const DispatchDelegate*>(delegate->data_)->source;
  std::vector<int> claimed;
  for (const DispatchProgram& program : source.programs) {
    claimed.insert(claimed.end(), program.nodes.begin(), program.nodes.end());
  }
  for (const int index : order) {
    if (!source.programs.empty()) break;
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return kTfLiteError;
    }
    if (IsDispatchOp(*registration)) claimed.push_back(index);
  }
  TfLiteRegistration kernel = {};
  kernel.init = &InitKernel;
  kernel.free = &FreeKernel;
  kernel.prepare = &PrepareKernel;
  kernel.invoke = &InvokeKernel;
  kernel.custom_name = kDelegateName;
  kernel.version = 1;
  kernel.builtin_code = kTfLiteBuiltinDelegate;
  const std::unique_ptr<TfLiteIntArray, void (*)(TfLiteIntArray*)> nodes(
      TfLiteIntArrayCreate(static_cast<int>(claimed.size())), &TfLiteIntArrayFree);
  if (nodes == nullptr) return kTfLiteError;
  std::copy(claimed.begin(), claimed.end(), nodes->data);
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes.get(), delegate);
}

TfLiteStatus PrepareOf(TfLiteContext* context, TfLiteDelegate* delegate) {
  auto* const owner = static_cast<DispatchDelegate*>(delegate->data_);
  const TfLiteStatus chosen = Run(*owner, context, [&] {
    if (owner->choose == nullptr) return kLiteRtStatusOk;
    return (*owner->choose)(context, &owner->source);
  });
  if (chosen != kTfLiteOk) return chosen;
  TfLiteStatus status = kTfLiteError;
  (void)Guard([&] {
    status = PrepareDelegate(context, delegate);
    return kLiteRtStatusOk;
  });
  return status;
}

}  // namespace

thread_local Bytes ModelBeingCompiled::bytes_;
thread_local const JitHandles* ModelBeingCompiled::handles_ = nullptr;

TfLiteOpaqueDelegate* CreateDispatchDelegate(const DispatchLibrary& library,
                                             LiteRtEnvironment environment, LiteRtOptions options,
                                             Bytes model, const JitHandles* handles) {
  auto source = std::make_shared<DispatchSource>();
  source->file = model;
  source->handles = handles;
  return CreateDispatchDelegate(library, environment, options, std::move(source), nullptr);
}

TfLiteOpaqueDelegate* CreateDispatchDelegate(const DispatchLibrary& library,
                                             LiteRtEnvironment environment, LiteRtOptions options,
                                             std::shared_ptr<const DispatchSource> source,
                                             ChooseSource* choose) {
  auto created = std::make_unique<DispatchDelegate>();
  created->library = &library;
  created->environment = environment;
  created->options = options;
  created->source = std::move(source);
  created->choose = choose;
  created->delegate.data_ = created.get();
  created->delegate.Prepare = &PrepareOf;
  if (Create(
          *created, "device_context_create", &created->device, library.calls.device_context_create,
          static_cast<const LiteRtRuntimeContext*>(RuntimeContext()), options) != kLiteRtStatusOk) {
    return nullptr;
  }
  return reinterpret_cast<TfLiteOpaqueDelegate*>(&created.release()->delegate);
}

void DeleteDispatchDelegate(TfLiteOpaqueDelegate* delegate) {
  const std::unique_ptr<DispatchDelegate> owned(
      static_cast<DispatchDelegate*>(reinterpret_cast<TfLiteDelegate*>(delegate)->data_));
  (void)Call(*owned, "device_context_destroy", owned->library->calls.device_context_destroy,
             owned->device);
}

MissingDispatch::MissingDispatch() {
  operator_ = TfLiteOperatorCreate(kTfLiteBuiltinCustom, kDispatchOpCode, 1, this);
  if (operator_ == nullptr) return;
  TfLiteOperatorSetInvokeWithData(operator_, &MissingDispatch::Refuse);
}

MissingDispatch::~MissingDispatch() { TfLiteOperatorDelete(operator_); }

TfLiteStatus MissingDispatch::Refuse(void* self, TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
  const std::string& missing = static_cast<const MissingDispatch*>(self)->reason;
  if (missing.empty()) {
    Log(kLiteRtLogSeverityInfo, "operator %s: the CPU cannot compute it", kDispatchOpCode);
  } else {
    Log(kLiteRtLogSeverityError, "operator %s: no dispatch plug-in runs it: %s", kDispatchOpCode,
        missing.c_str());
  }
  return kTfLiteError;
}

static DispatchDelegate* DispatchDelegateOf(TfLiteOpaqueDelegate* delegate) {
  auto* const own = reinterpret_cast<TfLiteDelegate*>(delegate);
  if (own == nullptr || own->Prepare != &PrepareOf) return nullptr;
  return static_cast<DispatchDelegate*>(own->data_);
}

}  // namespace deputy::litert

using deputy::litert::DispatchDelegateOf;
using deputy::litert::DispatchKernel;

LiteRtStatus LiteRtDispatchDelegateStartMetricsCollection(TfLiteOpaqueDelegate* delegate,
                                                          int detail_level) {
  const auto* const owner = DispatchDelegateOf(delegate);
  if (owner == nullptr) return kLiteRtStatusErrorInvalidArgument;
  for (DispatchKernel* const kernel : owner->kernels) {
    LITERT_TRY(kernel->StartMetrics(detail_level));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtDispatchDelegateStopMetricsCollection(TfLiteOpaqueDelegate* delegate,
                                                         LiteRtMetrics metrics) {
  const auto* const owner = DispatchDelegateOf(delegate);
  if (owner == nullptr || metrics == nullptr) return kLiteRtStatusErrorInvalidArgument;
  for (DispatchKernel* const kernel : owner->kernels) {
    LITERT_TRY(deputy::litert::Guard([&] { return kernel->StopMetrics(metrics); }));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtDispatchDelegateGetHooks(TfLiteOpaqueDelegate* delegate, LiteRtHook* hook,
                                            void** user_data) {
  const auto* const owner = DispatchDelegateOf(delegate);
  if (owner == nullptr || hook == nullptr || user_data == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const auto get_hooks = owner->library->calls.get_hooks;
  if (get_hooks == nullptr) return kLiteRtStatusErrorUnsupported;
  return Call(*owner, "get_hooks", get_hooks, owner->device, hook, user_data);
}
