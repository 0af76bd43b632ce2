// SPDX-License-Identifier: Apache-2.0
#include "litert/src/dispatch_delegate.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "deputy/c_api_opaque.h"
#include "deputy/common.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/environment.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"
#include "litert/src/requirements.h"
#include "litert/src/runtime_context.h"
#include "litert/src/tensor_buffer.h"

namespace deputy::litert {
namespace {

constexpr char kDelegateName[] = "LiteRtDispatch";

// A device of the plug-in, for one compiled model.
struct DispatchDelegate {
  TfLiteDelegate delegate = TfLiteDelegateCreate();  // first: a client's pointer is this object's
  const DispatchLibrary* library = nullptr;
  LiteRtEnvironment environment = nullptr;
  LiteRtOptions options = nullptr;
  Bytes model;
  const JitHandles* handles = nullptr;  // null: none
  LiteRtDispatchDeviceContext device = nullptr;
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

LiteRtStatus TypeOf(const TfLiteTensor& tensor, LiteRtRankedTensorType* out_type) {
  const int rank = tensor.dims == nullptr ? 0 : tensor.dims->size;
  if (rank > LITERT_TENSOR_MAX_RANK) {
    return Fail(kLiteRtStatusErrorUnsupported,
                "dispatch: tensor '%s': expected a rank of at most %d, found %d", tensor.name,
                LITERT_TENSOR_MAX_RANK, rank);
  }
  *out_type = {};
  // Element types have the numbers of TfLiteType.
  out_type->element_type = static_cast<LiteRtElementType>(tensor.type);
  out_type->layout.rank = static_cast<unsigned>(rank) & 0x7f;
  for (int axis = 0; axis < rank; ++axis) {
    out_type->layout.dimensions[axis] = tensor.dims->data[axis];
  }
  return kLiteRtStatusOk;
}

using RequirementsPtr = std::unique_ptr<LiteRtTensorBufferRequirementsT>;

// The nodes of a partition, which run one after the other.
class DispatchKernel {
 public:
  DispatchKernel(const DispatchDelegate& owner, TfLiteContext* context,
                 const TfLiteDelegateParams& params);
  ~DispatchKernel();
  DispatchKernel(const DispatchKernel&) = delete;
  DispatchKernel& operator=(const DispatchKernel&) = delete;

  LiteRtStatus Create(TfLiteContext* context, const TfLiteDelegateParams& params);
  LiteRtStatus Prepare(TfLiteContext* context);
  LiteRtStatus Invoke(TfLiteContext* context);

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
    TensorBufferPtr buffer;
    LiteRtTensorBufferHandle handle = 0;
    bool is_registered = false;
  };

  LiteRtStatus AddNode(TfLiteContext* context, int index);
  LiteRtStatus FindRequirements(TfLiteContext* context, int index, Tensor* tensor);
  LiteRtStatus UpdateBuffer(TfLiteContext* context, int index, Tensor* tensor);
  LiteRtStatus Attach(Tensor* tensor);
  void Detach(Tensor* tensor);
  LiteRtStatus Copy(const TfLiteTensor& host, const Tensor& tensor, bool to_buffer) const;
  const LiteRtDispatchInterface& calls() const { return owner_.library->calls; }

  const DispatchDelegate& owner_;
  std::vector<int> inputs_, outputs_;  // of the partition
  std::vector<Node> nodes_;
  std::map<int, Tensor> tensors_;
};

DispatchKernel::DispatchKernel(const DispatchDelegate& owner, TfLiteContext*,
                               const TfLiteDelegateParams& params)
    : owner_(owner),
      inputs_(params.input_tensors->data, params.input_tensors->data + params.input_tensors->size),
      outputs_(params.output_tensors->data,
               params.output_tensors->data + params.output_tensors->size) {}

DispatchKernel::~DispatchKernel() {
  for (auto& [index, tensor] : tensors_) Detach(&tensor);
  for (const Node& node : nodes_) {
    (void)Call(owner_, "invocation_context_destroy", calls().invocation_context_destroy,
               node.context);
  }
}

LiteRtStatus DispatchKernel::Create(TfLiteContext* context, const TfLiteDelegateParams& params) {
  for (int i = 0; i < params.nodes_to_replace->size; ++i) {
    LITERT_TRY(AddNode(context, params.nodes_to_replace->data[i]));
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
  LITERT_TRY(FindByteCode(options, owner_.model, &byte_code));
  Node node;
  const auto add = [&](const TfLiteIntArray& list, bool is_input, std::vector<int>* to) {
    for (int i = 0; i < list.size; ++i) {
      if (list.data[i] < 0) continue;
      tensors_[list.data[i]].ports.push_back(
          {.node = nodes_.size(), .index = static_cast<int>(to->size()), .is_input = is_input});
      to->push_back(list.data[i]);
    }
  };
  add(*from->inputs, true, &node.inputs);
  add(*from->outputs, false, &node.outputs);
  LiteRtMemBuffer memory = {.fd = -1,
                            .base_addr = owner_.model.data(),
                            .offset = options.offset,
                            .size = options.size,
                            .alloc_base_file_offset = 0};
  LiteRtDispatchExecutableType type = kLiteRtDispatchExecutableTypeMlModel;
  if (owner_.handles != nullptr && owner_.handles->count(options.name) > 0) {
    memory.base_addr = owner_.handles->at(options.name);
    memory.offset = memory.size = 0;
    type = kLiteRtDispatchExecutableTypeJitHandle;
  }
  LITERT_TRY(litert::Create(
      owner_, "invocation_context_create", &node.context, calls().invocation_context_create,
      RuntimeContext(), owner_.device, type, &memory, options.name.c_str(),
      static_cast<int>(node.inputs.size()), static_cast<int>(node.outputs.size())));
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
  for (auto& [index, tensor] : tensors_) {
    Detach(&tensor);
    LITERT_TRY(FindRequirements(context, index, &tensor));
  }
  return kLiteRtStatusOk;
}

// Provides the buffer of a tensor: the tensor's own memory if the plug-in can use it, else a buffer
// of the type that the plug-in prefers.
LiteRtStatus DispatchKernel::UpdateBuffer(TfLiteContext* context, int index, Tensor* tensor) {
  const TfLiteTensor& own = context->tensors[index];
  const LiteRtTensorBufferRequirementsT& wanted = *tensor->requirements;
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
    (void)Call(owner_, "unregister_tensor_buffer", calls().unregister_tensor_buffer, owner_.device,
               tensor->handle);
  }
  tensor->is_registered = false;
  tensor->buffer.reset();
}

LiteRtStatus DispatchKernel::Copy(const TfLiteTensor& host, const Tensor& tensor,
                                  bool to_buffer) const {
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

LiteRtStatus DispatchKernel::Invoke(TfLiteContext* context) {
  for (auto& [index, tensor] : tensors_) LITERT_TRY(UpdateBuffer(context, index, &tensor));
  for (const int index : inputs_) {
    const auto found = tensors_.find(index);
    if (found != tensors_.end() && found->second.is_copied) {
      LITERT_TRY(Copy(context->tensors[index], found->second, true));
    }
  }
  for (const Node& node : nodes_) LITERT_TRY(Call(owner_, "invoke", calls().invoke, node.context));
  for (const int index : outputs_) {
    const auto found = tensors_.find(index);
    if (found != tensors_.end() && found->second.is_copied) {
      LITERT_TRY(Copy(context->tensors[index], found->second, false));
    }
  }
  return kLiteRtStatusOk;
}

// ---- Functions of the delegate and its kernel ---------------------------------------------------

void* InitKernel(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  const auto& owner = *static_cast<const DispatchDelegate*>(params.delegate->data_);
  std::unique_ptr<DispatchKernel> kernel;
  const LiteRtStatus status = Guard([&] {
    kernel = std::make_unique<DispatchKernel>(owner, context, params);
    return kernel->Create(context, params);
  });
  return status == kLiteRtStatusOk ? kernel.release() : nullptr;
}

void FreeKernel(TfLiteContext*, void* kernel) { delete static_cast<DispatchKernel*>(kernel); }

// Calls a function with a node's kernel. Fails if the kernel was not created, which was reported.
template <typename Function>
TfLiteStatus Run(TfLiteNode* node, const Function& function) {
  auto* const kernel = static_cast<DispatchKernel*>(node->user_data);
  if (kernel == nullptr) return kTfLiteError;
  return Guard([&] { return function(kernel); }) == kLiteRtStatusOk ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return Run(node, [&](DispatchKernel* kernel) { return kernel->Prepare(context); });
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return Run(node, [&](DispatchKernel* kernel) { return kernel->Invoke(context); });
}

bool IsDispatchOp(const TfLiteRegistration& registration) {
  return registration.builtin_code == kTfLiteBuiltinCustom && registration.custom_name != nullptr &&
         std::strcmp(registration.custom_name, kDispatchOpCode) == 0;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const std::vector<int> order(plan->data, plan->data + plan->size);
  std::vector<int> claimed;
  for (const int index : order) {
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

}  // namespace

thread_local Bytes ModelBeingCompiled::bytes_;
thread_local const JitHandles* ModelBeingCompiled::handles_ = nullptr;

TfLiteOpaqueDelegate* CreateDispatchDelegate(const DispatchLibrary& library,
                                             LiteRtEnvironment environment, LiteRtOptions options,
                                             Bytes model, const JitHandles* handles) {
  auto created = std::make_unique<DispatchDelegate>();
  created->library = &library;
  created->environment = environment;
  created->options = options;
  created->model = model;
  created->handles = handles;
  created->delegate.data_ = created.get();
  created->delegate.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    TfLiteStatus status = kTfLiteError;
    (void)Guard([&] {
      status = PrepareDelegate(context, delegate);
      return kLiteRtStatusOk;
    });
    return status;
  };
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
  Log(kLiteRtLogSeverityError, "operator %s: no dispatch plug-in runs it: %s", kDispatchOpCode,
      static_cast<const MissingDispatch*>(self)->reason.c_str());
  return kTfLiteError;
}

}  // namespace deputy::litert
