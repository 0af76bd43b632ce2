// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/adapter.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "deputy/builtin_ops.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

using Shapes = std::vector<std::vector<int>>;

Shapes ShapesOf(const TfLiteContext* context, const TfLiteIntArray* tensors) {
  Shapes shapes;
  for (int i = 0; i < tensors->size; ++i) {
    const TfLiteIntArray* dims = context->tensors[tensors->data[i]].dims;
    shapes.emplace_back();
    if (dims != nullptr) shapes.back().assign(dims->data, dims->data + dims->size);
  }
  return shapes;
}

struct FreeArray {
  void operator()(TfLiteIntArray* array) const { TfLiteIntArrayFree(array); }
};
using IntArray = std::unique_ptr<TfLiteIntArray, FreeArray>;

IntArray ArrayOfInts(const std::vector<int>& values) {
  IntArray array(TfLiteIntArrayCreate(static_cast<int>(values.size())));
  if (array != nullptr) std::copy(values.begin(), values.end(), array->data);
  return array;
}

// RAII guard: sets the current phase, which determines what views of the graph permit.
class PhaseGuard {
 public:
  PhaseGuard(GraphTensors* tensors, Phase phase, const TfLiteNode* node) : tensors_(tensors) {
    tensors_->Enter(phase, node);
  }
  PhaseGuard(const PhaseGuard&) = delete;
  PhaseGuard& operator=(const PhaseGuard&) = delete;
  ~PhaseGuard() { tensors_->Enter(Phase::kIdle, nullptr); }

 private:
  GraphTensors* tensors_;
};

// RAII guard: adds the time between its construction and destruction to a sum of nanoseconds.
class TimeGuard {
 public:
  explicit TimeGuard(std::atomic<int64_t>* sum) : sum_(sum) {}
  TimeGuard(const TimeGuard&) = delete;
  TimeGuard& operator=(const TimeGuard&) = delete;
  ~TimeGuard() {
    *sum_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::atomic<int64_t>* const sum_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TfLiteStatus ResizeTo(TfLiteContext* context, int tensor, const std::vector<int>& shape) {
  IntArray dims = ArrayOfInts(shape);
  if (dims == nullptr) return kTfLiteError;
  return context->ResizeTensor(context, &context->tensors[tensor], dims.release());
}

// Marks the outputs as dynamic: the kernel's execute calls ResizeTensor for them.
void MakeDynamic(TfLiteContext* context, const TfLiteIntArray* outputs) {
  for (int i = 0; i < outputs->size; ++i) {
    TfLiteTensor& tensor = context->tensors[outputs->data[i]];
    if (tensor.allocation_type == kTfLiteDynamic) continue;
    TfLiteTensorDataFree(&tensor);
    tensor.allocation_type = kTfLiteDynamic;
  }
}

// Returns true if all tensors have planned memory, so that their shapes are known. Dynamic tensors
// count as planned; their shapes are known once they are computed.
bool AreAllocated(const TfLiteContext* context, const TfLiteIntArray* tensors) {
  for (int i = 0; i < tensors->size; ++i) {
    const TfLiteTensor& tensor = context->tensors[tensors->data[i]];
    if (tensor.allocation_type == kTfLiteArenaRw && tensor.data.raw == nullptr) return false;
  }
  return true;
}

}  // namespace

// ---- Node ---------------------------------------------------------------------------------------

// A node of the interpreter that runs a kernel of the delegate.
class Adapter::Node {
 public:
  Node(Adapter* adapter, std::shared_ptr<GraphTensors> tensors,
       std::unique_ptr<DelegateKernel> kernel)
      : adapter_(adapter), tensors_(std::move(tensors)), kernel_(std::move(kernel)) {}

  // Records the input shapes for which the kernel was built, to detect changes, and whether the
  // shapes of the outputs are known.
  void SetBuiltFor(const TfLiteContext* context, const TfLiteDelegateParams& params) {
    inputs_ = ShapesOf(context, params.input_tensors);
    const bool is_dynamic = (params.delegate->flags & kTfLiteDelegateFlagsAllowDynamicTensors) != 0;
    shapes_are_current_ = !is_dynamic || AreAllocated(context, params.output_tensors);
  }

  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteNode* node) {
    const PhaseGuard phase(tensors_.get(), Phase::kPrepare, node);
    if (!prepared_) {
      const int code = PrepareKernel();
      const bool is_postponed = code == CodeOf(kMSStatusLiteInferInvalid);
      if (code != 0 && !is_postponed) return Failed(context, "Prepare", code);
      prepared_ = true;
      if (is_postponed) {
        MakeDynamic(context, node->outputs);
      } else if (!shapes_are_current_) {
        InferOutputs(context, node);
      }
      outputs_ = ShapesOf(context, node->outputs);
    }
    Shapes inputs = ShapesOf(context, node->inputs);
    if (inputs == inputs_ && !resize_failed_) return kTfLiteOk;
    return Resize(context, node, std::move(inputs));
  }

  TfLiteStatus Execute(TfLiteContext* context, const TfLiteNode* node) {
    const PhaseGuard phase(tensors_.get(), Phase::kExecute, node);
    const int code = kernel_->Execute();
    return code == 0 ? kTfLiteOk : Failed(context, "Execute", code);
  }

 private:
  int PrepareKernel() {
    const TimeGuard time(&adapter_->compile_ns_);
    return kernel_->Prepare();
  }

  // Infers the shapes of the outputs. A delegate that supports dynamic tensors may be applied
  // before tensors are allocated, when the tensors have the shapes of the file, which may differ
  // from the current ones. A kernel that cannot infer shapes keeps the shapes for which it was
  // built.
  void InferOutputs(TfLiteContext* context, const TfLiteNode* node) {
    const int code = kernel_->Resize();
    if (code == CodeOf(kMSStatusLiteInferInvalid)) MakeDynamic(context, node->outputs);
  }

  TfLiteStatus Resize(TfLiteContext* context, const TfLiteNode* node, Shapes inputs) {
    const int code = kernel_->Resize();
    if (code == CodeOf(kMSStatusLiteInferInvalid)) {
      MakeDynamic(context, node->outputs);
    } else if (code != 0) {
      // If the inputs have the last supported shapes again, the outputs for these are restored.
      if (inputs == inputs_) return RestoreOutputs(context, node);
      resize_failed_ = true;
      return Failed(context, "ReSize", code);
    }
    resize_failed_ = false;
    inputs_ = std::move(inputs);
    outputs_ = ShapesOf(context, node->outputs);
    return kTfLiteOk;
  }

  TfLiteStatus RestoreOutputs(TfLiteContext* context, const TfLiteNode* node) {
    resize_failed_ = false;
    for (int i = 0; i < node->outputs->size; ++i) {
      TF_LITE_ENSURE_STATUS(
          ResizeTo(context, node->outputs->data[i], outputs_[static_cast<size_t>(i)]));
    }
    return kTfLiteOk;
  }

  TfLiteStatus Failed(TfLiteContext* context, const char* what, int code) {
    return adapter_->Report(context, StatusOf(code), "kernel '" + kernel_->name() + "': " + what,
                            kTfLiteError);
  }

  Adapter* const adapter_;
  const std::shared_ptr<GraphTensors> tensors_;
  const std::unique_ptr<DelegateKernel> kernel_;  // destroyed before tensors_, which it uses
  bool prepared_ = false;
  bool shapes_are_current_ = true;
  bool resize_failed_ = false;
  Shapes inputs_, outputs_;  // the last shapes that the kernel supported
};

// ---- Pending ------------------------------------------------------------------------------------

// RAII guard: passes a kernel to the init function of the node that the calling thread adds. The
// runtime passes no pointer of the caller to init, and other threads may apply the same adapter
// concurrently.
struct Adapter::Pending {
  Pending(const Adapter* owner, std::shared_ptr<GraphTensors> of, std::unique_ptr<DelegateKernel> k)
      : adapter(owner), tensors(std::move(of)), kernel(std::move(k)), outer_(newest_) {
    newest_ = this;
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { newest_ = outer_; }

  // Returns the guard whose kernel `adapter` adds to `context`; null if there is none or init has
  // taken its kernel already.
  static Pending* ForThread(const Adapter* adapter, const TfLiteContext* context) {
    Pending* const newest = newest_;
    const bool matches = newest != nullptr && newest->adapter == adapter &&
                         newest->tensors->context() == context && newest->kernel != nullptr;
    return matches ? newest : nullptr;
  }

  const Adapter* const adapter;
  const std::shared_ptr<GraphTensors> tensors;
  std::unique_ptr<DelegateKernel> kernel;

 private:
  Pending* const outer_;
  static thread_local Pending* newest_;
};

thread_local Adapter::Pending* Adapter::Pending::newest_ = nullptr;

// ---- Adapter ------------------------------------------------------------------------------------

Adapter::Adapter(std::shared_ptr<DelegateHolder> holder, MSContextHandle context, bool main_only)
    : holder_(std::move(holder)), context_(context), main_only_(main_only) {
  delegate_.data_ = this;
  delegate_.Prepare = PrepareDelegate;
  const bool is_static = (holder_->get().flags & kDeputyMSDelegateStaticShapes) != 0;
  delegate_.flags = is_static ? kTfLiteDelegateFlagsNone : kTfLiteDelegateFlagsAllowDynamicTensors;
}

Adapter* Adapter::Of(const TfLiteDelegate* delegate) {
  return delegate == nullptr || delegate->Prepare != PrepareDelegate
             ? nullptr
             : static_cast<Adapter*>(delegate->data_);
}

MSStatus Adapter::Init() {
  const DelegateCallGuard calls(holder_->calls());
  if (calls.status() != kMSStatusSuccess) return calls.status();
  if (init_state_ == InitState::kReady) return kMSStatusSuccess;
  if (init_state_ == InitState::kDeclined) return kMSStatusLiteNotSupport;
  const DeputyMSDelegate& delegate = holder_->get();
  const MSStatus status = Guard([&] {
    return delegate.init == nullptr ? kMSStatusSuccess
                                    : StatusOf(delegate.init(delegate.user_data, context_));
  });
  if (status == kMSStatusSuccess) {
    init_state_ = InitState::kReady;
  } else if (status == kMSStatusLiteNotSupport) {
    init_state_ = InitState::kDeclined;
    Log(kDeputyMSLogWarning, "the delegate declined: Init returned %d (%s)", CodeOf(status),
        DeputyMSStatusText(status));
  } else {
    failure_ = status;
  }
  return status;
}

TfLiteStatus Adapter::Report(TfLiteContext* context, MSStatus code, const std::string& text,
                             TfLiteStatus status) {
  failure_ = code;
  context->ReportError(context, "MindSpore delegate: %s returned %d (%s)", text.c_str(),
                       CodeOf(code), DeputyMSStatusText(code));
  return status;
}

TfLiteStatus Adapter::PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  return Contain(kTfLiteError, kTfLiteError,
                 [&] { return static_cast<Adapter*>(delegate->data_)->Prepare(context); });
}

bool Adapter::ShouldApplyTo(const TfLiteContext* context) {
  const std::lock_guard lock(mutex_);
  if (main_ == nullptr) main_ = context;
  return !main_only_ || context == main_;
}

TfLiteStatus Adapter::Prepare(TfLiteContext* context) {
  if (!ShouldApplyTo(context)) return kTfLiteOk;
  const MSStatus ready = Init();
  if (ready == kMSStatusLiteNotSupport) return kTfLiteOk;
  if (ready != kMSStatusSuccess) return Report(context, ready, "Init", kTfLiteDelegateError);

  DeputyMSGraph graph(std::make_shared<GraphTensors>(context, AddressesOfGraph()));
  TF_LITE_ENSURE_STATUS(graph.Load());
  MSStatus built = kMSStatusSuccess;
  {
    const PhaseGuard phase(graph.tensors.get(), Phase::kBuild, nullptr);
    built = Build(&graph);
  }
  if (!graph.failure.empty() && built == kMSStatusSuccess) built = kMSStatusLiteParamInvalid;
  if (built != kMSStatusSuccess) {
    const std::string text = graph.failure.empty() ? "Build" : graph.failure + ": Build";
    return Report(context, built, text, kTfLiteDelegateError);
  }
  for (DeputyMSKernel* entry : graph.list) {
    if (entry->kernel == nullptr) continue;
    TF_LITE_ENSURE_STATUS(Apply(&graph, std::move(entry->kernel)));
  }
  return kTfLiteOk;
}

MSStatus Adapter::Build(DeputyMSGraph* graph) {
  const DelegateCallGuard calls(holder_->calls());
  if (calls.status() != kMSStatusSuccess) return calls.status();
  const TimeGuard time(&compile_ns_);
  const DeputyMSDelegate& delegate = holder_->get();
  return Guard([&] { return StatusOf(delegate.build(delegate.user_data, graph)); });
}

MSStatus Adapter::GetSupport(TfLiteContext* context, DeputySupportResult* result) {
  const DeputyMSDelegate& delegate = holder_->get();
  if (delegate.explain == nullptr) return kMSStatusLiteNotSupport;
  if (const MSStatus ready = Init(); ready != kMSStatusSuccess) return ready;
  DeputyMSGraph graph(std::make_shared<GraphTensors>(context, AddressesOfGraph()));
  if (graph.Load() != kTfLiteOk) return kMSStatusLiteError;
  {
    const DelegateCallGuard calls(holder_->calls());
    if (calls.status() != kMSStatusSuccess) return calls.status();
    const PhaseGuard phase(graph.tensors.get(), Phase::kBuild, nullptr);
    const MSStatus status =
        Guard([&] { return StatusOf(delegate.explain(delegate.user_data, &graph)); });
    if (status != kMSStatusSuccess) return status;
  }
  // The texts are per thread, because several threads may query one delegate.
  thread_local std::deque<std::string> texts;
  texts.clear();
  std::map<int, const DeputyMSKernel*> kernels;
  for (const auto& kernel : graph.originals) kernels[kernel->node] = kernel.get();
  for (size_t i = 0; i < result->node_count; ++i) {
    const auto found = kernels.find(result->nodes[i]);
    if (found == kernels.end() || found->second->foreign) continue;
    const DeputyMSKernel& kernel = *found->second;
    result->supported[i] = kernel.refusal == 0 ? 1 : 0;
    if (kernel.refusal == 0) continue;
    result->reason_of_node[i] = kernel.refusal;
    result->text_of_node[i] = texts.emplace_back(kernel.refusal_text).c_str();
  }
  return kMSStatusSuccess;
}

Adapter::Preview Adapter::PreviewOf(TfLiteContext* context, const std::vector<int>& nodes) {
  const IntArray array = ArrayOfInts(nodes);
  TfLiteDelegateParams* partitions = nullptr;
  int count = 0;
  if (array == nullptr || context->PreviewDelegatePartitioning(context, array.get(), &partitions,
                                                               &count) != kTfLiteOk) {
    return Preview::kFailed;
  }
  size_t covered = 0;
  for (int i = 0; i < count; ++i) {
    covered += static_cast<size_t>(partitions[i].nodes_to_replace->size);
  }
  if (covered != nodes.size()) return Preview::kSomeNodes;
  return count == 1 ? Preview::kOneNode : Preview::kSeveralNodes;
}

const char* Adapter::InternName(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return names_.insert(name).first->c_str();
}

bool Adapter::HasKernel(const char* name) {
  const std::lock_guard lock(mutex_);
  return names_.count(name) > 0;
}

TfLiteStatus Adapter::Apply(DeputyMSGraph* graph, std::unique_ptr<DelegateKernel> kernel) {
  TfLiteContext* const context = graph->tensors->context();
  switch (PreviewOf(context, kernel->nodes)) {
    case Preview::kOneNode:
      break;
    case Preview::kSomeNodes:
      Log(kDeputyMSLogWarning, "kernel '%s' is not used: the runtime excludes some of its nodes",
          kernel->name().c_str());
      return kTfLiteOk;
    case Preview::kSeveralNodes:
      return Report(
          context, kMSStatusLiteNotSupport,
          "kernel '" + kernel->name() + "': its nodes cannot be replaced by one node: Build",
          kTfLiteDelegateError);
    case Preview::kFailed:
      return kTfLiteDelegateError;
  }
  const IntArray nodes = ArrayOfInts(kernel->nodes);
  if (nodes == nullptr) return kTfLiteError;
  const char* name = InternName(kernel->name());
  Pending pending(this, graph->tensors, std::move(kernel));
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, RegistrationOf(name), nodes.get(),
                                                        &delegate_);
}

// Creates the node of the pending kernel. Tensors that are internal to the kernel get no memory
// from the runtime.
void* Adapter::MakeNode(TfLiteContext* context, const TfLiteDelegateParams& params) {
  Pending* const pending = Pending::ForThread(this, context);
  if (pending == nullptr) return TfLiteKernelInitFailed();
  const TfLiteIntArray* outer = params.output_tensors;
  const std::set<int> outputs(outer->data, outer->data + outer->size);
  std::vector<int> inner;
  for (const int index : pending->kernel->nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* replaced = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &replaced) != kTfLiteOk) {
      return TfLiteKernelInitFailed();
    }
    for (int i = 0; i < node->outputs->size; ++i) {
      if (outputs.count(node->outputs->data[i]) == 0) inner.push_back(node->outputs->data[i]);
    }
  }
  pending->tensors->AddInner(inner);
  auto node = std::make_unique<Node>(this, pending->tensors, std::move(pending->kernel));
  node->SetBuiltFor(context, params);
  return node.release();
}

TfLiteRegistration Adapter::RegistrationOf(const char* name) {
  TfLiteRegistration registration = {};
  registration.builtin_code = kTfLiteBuiltinDelegate;
  registration.custom_name = name;
  registration.version = 1;
  registration.init = [](TfLiteContext* context, const char* buffer, size_t) -> void* {
    return Contain(TfLiteKernelInitFailed(), TfLiteKernelInitFailed(), [&] {
      const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
      return static_cast<Adapter*>(params->delegate->data_)->MakeNode(context, *params);
    });
  };
  registration.free = [](TfLiteContext*, void* node) { delete static_cast<Node*>(node); };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    return Contain(kTfLiteError, kTfLiteError,
                   [&] { return static_cast<Node*>(node->user_data)->Prepare(context, node); });
  };
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    return Contain(kTfLiteError, kTfLiteError,
                   [&] { return static_cast<Node*>(node->user_data)->Execute(context, node); });
  };
  return registration;
}

}  // namespace deputy::ms_api

// ---- The C API ----------------------------------------------------------------------------------

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

TfLiteDelegate* DeputyMSDelegateCreateTfLite(const DeputyMSDelegate* delegate) {
  return Contain<TfLiteDelegate*>(nullptr, nullptr, [&]() -> TfLiteDelegate* {
    std::shared_ptr<DelegateHolder> holder = DelegateHolder::Make(delegate);
    if (holder == nullptr) return nullptr;
    return (new Adapter(std::move(holder), nullptr, false))->delegate();
  });
}

void DeputyMSDelegateDeleteTfLite(TfLiteDelegate* delegate) {
  if (delegate == nullptr) return;
  Adapter* const adapter = Adapter::Of(delegate);
  if (adapter == nullptr) {
    Fail(kMSStatusLiteParamInvalid, "the delegate was not created by DeputyMSDelegateCreateTfLite");
    return;
  }
  delete adapter;
}

MSStatus DeputyMSDelegateGetCompileTime(const TfLiteDelegate* delegate, int64_t* nanoseconds) {
  const Adapter* const adapter = Adapter::Of(delegate);
  if (adapter == nullptr || nanoseconds == nullptr) {
    return Fail(kMSStatusLiteParamInvalid,
                "GetCompileTime: the delegate was not created by DeputyMSDelegateCreateTfLite, or "
                "an argument is NULL");
  }
  *nanoseconds = adapter->compile_ns();
  return kMSStatusSuccess;
}

void* DeputyMSDelegateGetUserData(const TfLiteDelegate* delegate) {
  const Adapter* const adapter = Adapter::Of(delegate);
  return adapter == nullptr ? nullptr : adapter->user_data();
}

MSStatus DeputyMSDelegateGetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                                    DeputySupportResult* result) {
  Adapter* const adapter = Adapter::Of(delegate);
  if (adapter == nullptr || context == nullptr || result == nullptr) {
    return Fail(
        kMSStatusLiteParamInvalid,
        "GetSupport: the delegate was not created by DeputyMSDelegateCreateTfLite, or an argument "
        "is NULL");
  }
  return Guard([&] { return adapter->GetSupport(context, result); });
}
