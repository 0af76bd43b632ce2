// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/interposer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bridges/layers/async_kernel.h"
#include "bridges/layers/error_texts.h"
#include "core/base/delegate_call.h"
#include "core/base/operator_object.h"

namespace deputy::layers {

// A kernel of the wrapper: a node's user data.
struct Kernel {
  Interposer* interposer = nullptr;
  int number = -1;
  // The delegate that replaced the nodes, its registration and parameters, and its user data.
  TfLiteDelegate* owner = nullptr;
  TfLiteRegistration registration{};
  std::shared_ptr<TfLiteOperator> adopted_op;  // keeps the operator of the registration
  TfLiteDelegateParams params{};
  TfLiteOpaqueDelegateParams opaque_params{};
  void* user_data = nullptr;
  std::vector<std::unique_ptr<AsyncKernel>> async_kernels;

  const TfLiteOperator* op() const { return registration.registration_external; }
};

namespace {

using ReplaceFunction = decltype(TfLiteContext::ReplaceNodeSubsetsWithDelegateKernels);

TfLiteOpaqueContext* Opaque(TfLiteContext* context) {
  return reinterpret_cast<TfLiteOpaqueContext*>(context);
}
TfLiteOpaqueNode* Opaque(TfLiteNode* node) { return reinterpret_cast<TfLiteOpaqueNode*>(node); }
TfLiteOpaqueTensor* Opaque(TfLiteTensor* tensor) {
  return reinterpret_cast<TfLiteOpaqueTensor*>(tensor);
}

// The value that init returns on failure.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
void* InitFailed() { return reinterpret_cast<void*>(intptr_t{-1}); }

// ---- The inner delegate's view of nodes and tensors ---------------------------------------------

// RAII guard: sets the delegate of a tensor to `inner` if it is `outer`.
class TensorView {
 public:
  TensorView(TfLiteTensor* tensor, TfLiteDelegate* outer, TfLiteDelegate* inner)
      : tensor_(tensor), outer_(outer), inner_(inner) {
    if (tensor_->delegate == outer_) tensor_->delegate = inner_;
  }
  ~TensorView() {
    if (tensor_->delegate == inner_) tensor_->delegate = outer_;
  }
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;

 private:
  TfLiteTensor* const tensor_;
  TfLiteDelegate *const outer_, *const inner_;
};

// RAII guard: sets the fields of a node and its tensors to those that the inner delegate expects.
class NodeView {
 public:
  NodeView(TfLiteContext* context, TfLiteNode* node, Kernel* kernel)
      : context_(context), node_(node), kernel_(kernel), params_(node->builtin_data) {
    TfLiteDelegate* const outer = kernel->interposer->table();
    ForEachTensor([&](int index, const TfLiteTensor& tensor) {
      if (tensor.delegate == kernel->owner) own_.push_back(index);
    });
    if (node->delegate == outer) node->delegate = kernel->owner;
    node->user_data = kernel->user_data;
    node->builtin_data = kernel->op() != nullptr ? static_cast<void*>(&kernel->opaque_params)
                                                 : static_cast<void*>(&kernel->params);
    ExchangeTensors(outer, kernel->owner);
  }
  ~NodeView() {
    TfLiteDelegate* const outer = kernel_->interposer->table();
    ExchangeTensors(kernel_->owner, outer);
    node_->builtin_data = params_;
    kernel_->user_data = node_->user_data;
    node_->user_data = kernel_;
    if (node_->delegate == kernel_->owner) node_->delegate = outer;
  }
  NodeView(const NodeView&) = delete;
  NodeView& operator=(const NodeView&) = delete;

 private:
  template <typename Function>
  void ForEachTensor(const Function& function) const {
    for (const TfLiteIntArray* list : {node_->inputs, node_->outputs, node_->temporaries}) {
      for (int i = 0; list != nullptr && i < list->size; ++i) {
        const int tensor = list->data[i];
        if (tensor < 0 || static_cast<size_t>(tensor) >= context_->tensors_size) continue;
        function(tensor, context_->tensors[tensor]);
      }
    }
  }
  void ExchangeTensors(const TfLiteDelegate* from, TfLiteDelegate* to) const {
    ForEachTensor([&](int index, TfLiteTensor& tensor) {
      const bool is_own = std::find(own_.begin(), own_.end(), index) != own_.end();
      if (tensor.delegate == from && !is_own) tensor.delegate = to;
    });
  }

  TfLiteContext* const context_;
  TfLiteNode* const node_;
  Kernel* const kernel_;
  void* const params_;
  // Tensors that belong to the inner delegate itself, if it is applied without the wrapper, too.
  std::vector<int> own_;
};

// ---- Calls of the inner delegate's kernels ------------------------------------------------------

void* InnerInit(TfLiteContext* context, const Kernel& kernel, size_t length) {
  const TfLiteOperator* const op = kernel.op();
  if (op == nullptr) {
    if (kernel.registration.init == nullptr) return nullptr;
    return kernel.registration.init(context, reinterpret_cast<const char*>(&kernel.params), length);
  }
  const char* const params = reinterpret_cast<const char*>(&kernel.opaque_params);
  const size_t size = sizeof kernel.opaque_params;
  if (op->init_with_data != nullptr) {
    return op->init_with_data(op->user_data, Opaque(context), params, size);
  }
  return op->init == nullptr ? nullptr : op->init(Opaque(context), params, size);
}

// Runtimes do not call free without user data.
void InnerFree(TfLiteContext* context, const Kernel& kernel) {
  if (kernel.user_data == nullptr) return;
  const TfLiteOperator* const op = kernel.op();
  if (op == nullptr) {
    if (kernel.registration.free != nullptr) kernel.registration.free(context, kernel.user_data);
  } else if (op->free_with_data != nullptr) {
    op->free_with_data(op->user_data, Opaque(context), kernel.user_data);
  } else if (op->free != nullptr) {
    op->free(Opaque(context), kernel.user_data);
  }
}

TfLiteStatus InnerPrepare(TfLiteContext* context, TfLiteNode* node, const Kernel& kernel) {
  const TfLiteOperator* const op = kernel.op();
  if (op == nullptr) {
    return kernel.registration.prepare == nullptr ? kTfLiteOk
                                                  : kernel.registration.prepare(context, node);
  }
  if (op->prepare_with_data != nullptr) {
    return op->prepare_with_data(op->user_data, Opaque(context), Opaque(node));
  }
  return op->prepare == nullptr ? kTfLiteOk : op->prepare(Opaque(context), Opaque(node));
}

TfLiteStatus InnerInvoke(TfLiteContext* context, TfLiteNode* node, const Kernel& kernel) {
  const TfLiteOperator* const op = kernel.op();
  if (op == nullptr) {
    return kernel.registration.invoke == nullptr ? kTfLiteError
                                                 : kernel.registration.invoke(context, node);
  }
  if (op->invoke_with_data != nullptr) {
    return op->invoke_with_data(op->user_data, Opaque(context), Opaque(node));
  }
  return op->invoke == nullptr ? kTfLiteError : op->invoke(Opaque(context), Opaque(node));
}

// ---- Kernels of the wrapper ---------------------------------------------------------------------

// A replacement of nodes in progress on this thread.
struct Replacement {
  const Interposer* interposer;
  const TfLiteRegistration* registration;
  std::shared_ptr<TfLiteOperator> op;  // of the registration
  TfLiteDelegate* owner;
  const Replacement* outer;
};
thread_local const Replacement* replacements = nullptr;

LayerCall CallOf(CallKind kind, TfLiteContext* context, const Kernel& kernel) {
  LayerCall call;
  call.kind = kind;
  call.context = context;
  call.registration = &kernel.registration;
  call.params = &kernel.params;
  call.kernel = kernel.number;
  return call;
}

// Sets the parameters that the inner delegate expects.
void SetParams(const TfLiteDelegateParams& params, Kernel* kernel) {
  kernel->params = params;
  kernel->params.delegate = kernel->owner;
  const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(kernel->owner);
  kernel->opaque_params.delegate = kernel->owner;
  kernel->opaque_params.delegate_data = builder == nullptr ? nullptr : builder->data;
  kernel->opaque_params.nodes_to_replace = params.nodes_to_replace;
  kernel->opaque_params.input_tensors = params.input_tensors;
  kernel->opaque_params.output_tensors = params.output_tensors;
}

void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  Interposer& interposer = Interposer::Of(params.delegate);
  const Replacement* replacement = replacements;
  while (replacement != nullptr && replacement->interposer != &interposer) {
    replacement = replacement->outer;
  }
  if (replacement == nullptr) return InitFailed();
  auto kernel = std::make_unique<Kernel>();
  kernel->interposer = &interposer;
  kernel->number = interposer.CountKernel();
  kernel->owner = replacement->owner;
  kernel->registration = *replacement->registration;
  kernel->adopted_op = replacement->op;
  SetParams(params, kernel.get());
  bool called = false;
  const LayerCall call = CallOf(CallKind::kInit, context, *kernel);
  const auto init = [&] {
    called = true;
    const GraphCalls calls(call, &interposer);
    kernel->user_data = InnerInit(context, *kernel, length);
    return kernel->user_data == InitFailed() ? kTfLiteError : kTfLiteOk;
  };
  if (interposer.Run(call, init) == kTfLiteOk) {
    return kernel.release();
  }
  // A layer has reported a failure although the inner delegate's init was successful.
  if (called && kernel->user_data != InitFailed()) InnerFree(context, *kernel);
  return InitFailed();
}

void Free(TfLiteContext* context, void* data) {
  if (data == nullptr || data == InitFailed()) return;
  const std::unique_ptr<Kernel> kernel(static_cast<Kernel*>(data));
  if (kernel->user_data == nullptr) return;
  (void)kernel->interposer->Run(CallOf(CallKind::kFree, context, *kernel), [&] {
    InnerFree(context, *kernel);
    return kTfLiteOk;
  });
}

template <typename Function>
TfLiteStatus RunNode(CallKind kind, TfLiteContext* context, TfLiteNode* node,
                     const Function& function) {
  if (node->user_data == nullptr || node->user_data == InitFailed()) return kTfLiteError;
  auto* const kernel = static_cast<Kernel*>(node->user_data);
  LayerCall call = CallOf(kind, context, *kernel);
  call.node = node;
  return kernel->interposer->Run(call, [&] {
    const NodeView view(context, node, kernel);
    const GraphCalls calls(call, kernel->interposer);
    return function(context, node, *kernel);
  });
}

TfLiteStatus PrepareNode(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(CallKind::kPrepare, context, node, &InnerPrepare);
}
TfLiteStatus InvokeNode(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(CallKind::kInvoke, context, node, &InnerInvoke);
}

// Returns a registration whose functions are those of this file.
TfLiteRegistration Wrap(const TfLiteRegistration& inner) {
  TfLiteRegistration wrapped{};
  wrapped.init = &Init;
  wrapped.free = &Free;
  wrapped.prepare = &PrepareNode;
  wrapped.invoke = &InvokeNode;
  wrapped.builtin_code = inner.builtin_code;
  wrapped.custom_name = inner.custom_name;
  wrapped.version = inner.version;
  const TfLiteOperator* const op = inner.registration_external;
  if (op != nullptr && wrapped.custom_name == nullptr) wrapped.custom_name = op->custom_name;
  return wrapped;
}

// ---- Replacement of nodes -----------------------------------------------------------------------

// RAII guard: exchanges the context's function that replaces nodes while an inner delegate
// prepares.
class ReplaceHook {
 public:
  ReplaceHook(TfLiteContext* context, Interposer* interposer)
      : context_(context),
        interposer_(interposer),
        function_(context->ReplaceNodeSubsetsWithDelegateKernels),
        outer_(innermost) {
    innermost = this;
    context_->ReplaceNodeSubsetsWithDelegateKernels = &Entry;
  }
  ~ReplaceHook() {
    innermost = outer_;
    context_->ReplaceNodeSubsetsWithDelegateKernels = function_;
  }
  ReplaceHook(const ReplaceHook&) = delete;
  ReplaceHook& operator=(const ReplaceHook&) = delete;

 private:
  static TfLiteStatus Entry(TfLiteContext* context, TfLiteRegistration registration,
                            const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
    if (innermost == nullptr || innermost->context_ != context) return kTfLiteError;
    return innermost->Replace(registration, nodes, delegate);
  }

  TfLiteStatus Replace(TfLiteRegistration registration, const TfLiteIntArray* nodes,
                       TfLiteDelegate* delegate) {
    if (delegate == nullptr) {
      return function_(context_, registration, nodes, delegate);
    }
    // Delegates that were compiled with old headers leave the last fields of the struct
    // uninitialised. The operator is used only if the registration itself has no functions.
    const bool has_functions = registration.init != nullptr || registration.free != nullptr ||
                               registration.prepare != nullptr || registration.invoke != nullptr;
    if (has_functions) registration.registration_external = nullptr;
    interposer_->SetOwner(delegate);
    adopted_.push_back(interposer_->Adopt(registration.registration_external));
    LayerCall call;
    call.kind = CallKind::kReplace;
    call.context = context_;
    call.registration = &registration;
    call.nodes = nodes;
    return interposer_->Run(call, [&] { return CallRuntime(registration, nodes, delegate); });
  }

  TfLiteStatus CallRuntime(const TfLiteRegistration& registration, const TfLiteIntArray* nodes,
                           TfLiteDelegate* delegate) {
    const Restore restore(this);
    const Replacement replacement = {interposer_, &registration, adopted_.back(), delegate,
                                     replacements};
    replacements = &replacement;
    return function_(context_, Wrap(registration), nodes, interposer_->table());
  }

  // RAII guard: restores the context's functions while the runtime replaces nodes: the function
  // that replaces nodes before this hook, which may be that of an outer hook, and the ones that
  // ErrorTexts and GraphCalls exchange.
  class Restore {
   public:
    explicit Restore(ReplaceHook* hook)
        : hook_(hook),
          replacements_(replacements),
          suspended_errors_(hook->context_),
          suspended_calls_(hook->context_) {
      innermost = hook->outer_;
      hook->context_->ReplaceNodeSubsetsWithDelegateKernels = hook->function_;
    }
    ~Restore() {
      replacements = replacements_;
      innermost = hook_;
      hook_->context_->ReplaceNodeSubsetsWithDelegateKernels = &Entry;
    }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

   private:
    ReplaceHook* const hook_;
    const Replacement* const replacements_;
    const ErrorTexts::Suspended suspended_errors_;
    const GraphCalls::Suspended suspended_calls_;
  };

  static thread_local ReplaceHook* innermost;
  TfLiteContext* const context_;
  Interposer* const interposer_;
  const ReplaceFunction function_;
  ReplaceHook* const outer_;
  // A delegate may use its operators until its Prepare returns.
  std::vector<std::shared_ptr<TfLiteOperator>> adopted_;
};

thread_local ReplaceHook* ReplaceHook::innermost = nullptr;

// ---- Functions of the wrapper's table -----------------------------------------------------------

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  Interposer& interposer = Interposer::Of(delegate);
  LayerCall call;
  call.kind = CallKind::kDelegatePrepare;
  call.context = context;
  call.flags = delegate->flags;
  return interposer.Run(call, [&] {
    const ReplaceHook hook(context, &interposer);
    const GraphCalls calls(call, &interposer);
    return ForwardDelegatePrepare(context, interposer.inner());
  });
}

template <typename Function>
TfLiteStatus RunCopy(CallKind kind, TfLiteContext* context, const TfLiteDelegate* delegate,
                     TfLiteBufferHandle handle, TfLiteTensor* tensor, const Function& function) {
  Interposer& interposer = Interposer::Of(delegate);
  LayerCall call;
  call.kind = kind;
  call.context = context;
  call.tensor = tensor;
  call.handle = &handle;
  return interposer.Run(call, [&] {
    const TensorView view(tensor, interposer.table(), interposer.owner());
    return function(interposer.inner());
  });
}

TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                      TfLiteTensor* tensor) {
  return RunCopy(CallKind::kCopyFrom, context, delegate, handle, tensor,
                 [&](TfLiteDelegate* inner) {
                   const auto* const builder = BuilderOf(inner);
                   return builder == nullptr
                              ? inner->CopyFromBufferHandle(context, inner, handle, tensor)
                              : builder->CopyFromBufferHandle(Opaque(context), inner, builder->data,
                                                              handle, Opaque(tensor));
                 });
}

TfLiteStatus CopyTo(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                    TfLiteTensor* tensor) {
  return RunCopy(CallKind::kCopyTo, context, delegate, handle, tensor, [&](TfLiteDelegate* inner) {
    const auto* const builder = BuilderOf(inner);
    return builder == nullptr ? inner->CopyToBufferHandle(context, inner, handle, tensor)
                              : builder->CopyToBufferHandle(Opaque(context), inner, builder->data,
                                                            handle, Opaque(tensor));
  });
}

void FreeHandle(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle* handle) {
  const Interposer& interposer = Interposer::Of(delegate);
  LayerCall call;
  call.kind = CallKind::kFreeHandle;
  call.context = context;
  call.handle = handle;
  (void)interposer.Run(call, [&] {
    ForwardFreeBufferHandle(context, interposer.inner(), handle);
    return kTfLiteOk;
  });
}

}  // namespace

// ---- Interposer ---------------------------------------------------------------------------------

Interposer::Interposer(TfLiteDelegate* inner, bool reports_events,
                       std::vector<std::unique_ptr<Layer>> layers)
    : inner_(inner), layers_(std::move(layers)), owner_(inner) {
  const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(inner);
  const auto has = [&](auto plain, auto opaque) {
    return builder != nullptr ? builder->*opaque != nullptr : inner->*plain != nullptr;
  };
  table_.data_ = this;
  table_.flags = builder != nullptr ? builder->flags : inner->flags;
  if (!reports_events) table_.flags &= ~int64_t{kTfLiteDelegateFlagsPerOperatorProfiling};
  table_.Prepare = &PrepareDelegate;
  if (has(&TfLiteDelegate::CopyFromBufferHandle,
          &TfLiteOpaqueDelegateBuilder::CopyFromBufferHandle)) {
    table_.CopyFromBufferHandle = &CopyFrom;
  }
  if (has(&TfLiteDelegate::CopyToBufferHandle, &TfLiteOpaqueDelegateBuilder::CopyToBufferHandle)) {
    table_.CopyToBufferHandle = &CopyTo;
  }
  if (has(&TfLiteDelegate::FreeBufferHandle, &TfLiteOpaqueDelegateBuilder::FreeBufferHandle)) {
    table_.FreeBufferHandle = &FreeHandle;
  }
}

namespace {

// Calls the layers from number `next` on, then the inner delegate.
class LayersFrom final : public Rest {
 public:
  LayersFrom(const std::vector<std::unique_ptr<Layer>>& layers, size_t next, const LayerCall& call,
             const std::function<TfLiteStatus()>& call_inner)
      : layers_(layers), next_(next), call_(call), call_inner_(call_inner) {}
  TfLiteStatus operator()() const override {
    if (next_ == layers_.size()) return call_inner_();
    return layers_[next_]->Around(call_, LayersFrom(layers_, next_ + 1, call_, call_inner_));
  }

 private:
  const std::vector<std::unique_ptr<Layer>>& layers_;
  const size_t next_;
  const LayerCall& call_;
  const std::function<TfLiteStatus()>& call_inner_;
};

}  // namespace

TfLiteStatus Interposer::Run(const LayerCall& call,
                             const std::function<TfLiteStatus()>& call_inner) const {
  return LayersFrom(layers_, 0, call, call_inner)();
}

void Interposer::SetModel(const void* data, size_t size) const {
  for (const auto& layer : layers_) layer->SetModel(data, size);
}

TfLiteStatus Interposer::NodeEvents(const DeputyDelegatePlugin& plugin, TfLiteContext* context,
                                    TfLiteNode* node, DeputyNodeEventCallback callback,
                                    void* user_data) const {
  auto* const kernel = static_cast<Kernel*>(node->user_data);
  const NodeView view(context, node, kernel);
  return plugin.node_events(inner_, context, node, callback, user_data);
}

TfLiteAsyncKernel* Interposer::NewAsyncKernel(const DeputyDelegatePlugin& plugin,
                                              TfLiteContext* context, TfLiteNode* node,
                                              const DeputyAsyncRuntime* runtime) const {
  if (plugin.async_kernel == nullptr) return nullptr;
  for (const auto& layer : layers_) {
    const std::string problem = layer->AsyncProblem();
    if (problem.empty()) continue;
    context->ReportError(context, "%s", problem.c_str());
    return nullptr;
  }
  auto* const kernel = static_cast<Kernel*>(node->user_data);
  TfLiteNode inner_node;
  TfLiteAsyncKernel* inner = nullptr;
  {
    const NodeView view(context, node, kernel);
    inner_node = *node;
    inner = plugin.async_kernel(inner_, context, node, runtime);
  }
  if (inner == nullptr) return nullptr;
  const LayerCall call = CallOf(CallKind::kTaskStart, context, *kernel);
  kernel->async_kernels.push_back(std::make_unique<AsyncKernel>(this, call, inner_node, inner));
  return kernel->async_kernels.back()->table();
}

int Interposer::CountKernel() {
  const std::lock_guard lock(mutex_);
  return kernels_++;
}

void Interposer::SetOwner(TfLiteDelegate* owner) {
  const std::lock_guard lock(mutex_);
  owner_ = owner;
}

std::shared_ptr<TfLiteOperator> Interposer::Adopt(TfLiteOperator* op) {
  if (op == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  std::erase_if(operators_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<TfLiteOperator>& known = operators_[op];
  std::shared_ptr<TfLiteOperator> shared = known.lock();
  if (shared == nullptr) known = shared = std::shared_ptr<TfLiteOperator>(op);
  return shared;
}

TfLiteDelegate* Interposer::owner() const {
  const std::lock_guard lock(mutex_);
  return owner_;
}

const char* NameOf(CallKind kind) {
  switch (kind) {
    case CallKind::kDelegatePrepare:
      return "delegate_prepare";
    case CallKind::kCopyFrom:
      return "copy_from";
    case CallKind::kCopyTo:
      return "copy_to";
    case CallKind::kFreeHandle:
      return "free_handle";
    case CallKind::kReplace:
      return "replace";
    case CallKind::kResizeTensor:
      return "resize_tensor";
    case CallKind::kAddTensors:
      return "add_tensors";
    case CallKind::kInit:
      return "init";
    case CallKind::kPrepare:
      return "prepare";
    case CallKind::kInvoke:
      return "invoke";
    case CallKind::kFree:
      return "free";
    case CallKind::kTaskStart:
      return "task_start";
    case CallKind::kTaskWait:
      return "task_wait";
  }
  return "";
}

}  // namespace deputy::layers
