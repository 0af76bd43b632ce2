// SPDX-License-Identifier: Apache-2.0
//
// Delegates with MindSpore Lite's interface, in C++. Derive a class from Delegate, iterate over the
// kernels in Build, and replace runs of them by kernels of your own with DelegateModel::Replace.
// examples/mindspore_delegate.cc is a complete example.
//
//     mindspore::Status Build(mindspore::DelegateModel<schema::Primitive>* model) override {
//       auto from = model->BeginKernelIterator();
//       size_t run = 0;
//       for (auto iter = from; iter != model->EndKernelIterator(); ++iter) {
//         if (Supported(*iter, model->GetPrimitive(*iter))) {
//           if (run++ == 0) from = iter;
//           continue;
//         }
//         if (run > 0) iter = model->Replace(from, iter, NewKernel(model, from, iter));
//         run = 0;
//       }
//       if (run > 0) model->Replace(from, model->EndKernelIterator(), ...);  // the last run
//       return mindspore::kSuccess;
//     }
#ifndef DEPUTY_MINDSPORE_INCLUDE_DELEGATE_H_
#define DEPUTY_MINDSPORE_INCLUDE_DELEGATE_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes.h"    // IWYU pragma: export
#include "context.h"       // IWYU pragma: export
#include "delegate_api.h"  // IWYU pragma: export
#include "kernel.h"        // IWYU pragma: export
#include "schema.h"
#include "status.h"
#include "types.h"

namespace mindspore {

using KernelIter = std::vector<kernel::Kernel*>::iterator;

namespace detail {

// A kernel of the model, as presented to a delegate. It cannot be executed: the runtime executes
// the model's operators with its own kernels.
class InnerKernel : public kernel::Kernel {
 public:
  InnerKernel(const DeputyMSKernel* original, const schema::Primitive* primitive,
              const Context* context)
      : Kernel(ToTensors(DeputyMSKernelInputs(original)),
               ToTensors(DeputyMSKernelOutputs(original)), primitive, context),
        original_(original) {
    set_name(DeputyMSKernelName(original));
  }
  int Prepare() override { return lite::RET_NOT_SUPPORT; }
  int Execute() override { return lite::RET_NOT_SUPPORT; }
  int ReSize() override { return lite::RET_NOT_SUPPORT; }

  const DeputyMSKernel* original() const { return original_; }

 private:
  const DeputyMSKernel* original_;
};

// Returns the root of a primitive's FlatBuffer, which is valid; null for a null primitive.
template <typename T>
const T* RootOf(const DeputyMSPrimitive* primitive) {
  const void* data = nullptr;
  size_t size = 0;
  DeputyMSPrimitiveGetBuffer(primitive, &data, &size);
  return data == nullptr ? nullptr : flatbuffers::GetRoot<T>(data);
}

// A kernel of the runtime's list that forwards to a kernel of Delegate::CreateKernel.
class SharedKernel : public kernel::Kernel {
 public:
  explicit SharedKernel(std::shared_ptr<kernel::Kernel> kernel) : kernel_(std::move(kernel)) {
    set_name(kernel_->name());
    Kernel::set_inputs(kernel_->inputs());
    Kernel::set_outputs(kernel_->outputs());
  }
  // Keeps the node for which the kernel was created, which the kernel may use.
  void KeepNode(std::unique_ptr<kernel::Kernel> node) { node_ = std::move(node); }

  int Prepare() override {
    kernel_->SetConfig(config_);
    return kernel_->Prepare();
  }
  int Execute() override { return kernel_->Execute(); }
  int ReSize() override { return kernel_->ReSize(); }
  int InferShape() override { return kernel_->InferShape(); }
  void set_input(MSTensor tensor, int index) override { kernel_->set_input(tensor, index); }
  void set_output(MSTensor tensor, int index) override { kernel_->set_output(tensor, index); }

 private:
  std::unique_ptr<kernel::Kernel> node_;
  std::shared_ptr<kernel::Kernel> kernel_;  // destroyed before the node
};

inline kernel::Kernel* KernelOf(void* user_data) { return static_cast<kernel::Kernel*>(user_data); }

// Returns the C API's function table, which forwards to the virtual functions of a delegate's
// kernel.
inline const DeputyMSKernelFunctions& KernelFunctions() {
  static const DeputyMSKernelFunctions functions = {
      sizeof(DeputyMSKernelFunctions),
      [](void* user_data) { return KernelOf(user_data)->Prepare(); },
      [](void* user_data) { return KernelOf(user_data)->Execute(); },
      [](void* user_data) { return KernelOf(user_data)->ReSize(); },
      [](void* user_data) { return KernelOf(user_data)->InferShape(); },
      [](void* user_data, MSTensorHandle tensor, size_t index) {
        KernelOf(user_data)->set_input(MSTensor(tensor), static_cast<int>(index));
        return lite::RET_OK;
      },
      [](void* user_data, MSTensorHandle tensor, size_t index) {
        KernelOf(user_data)->set_output(MSTensor(tensor), static_cast<int>(index));
        return lite::RET_OK;
      },
      [](void* user_data) { delete KernelOf(user_data); }};
  return functions;
}

}  // namespace detail

// The graph, as a list of kernels in execution order. Valid only during the call of the delegate
// that receives it.
template <typename T>
class DelegateModel {
 public:
  // Creates a list over kernels of the caller, to test a delegate without a model. `kernels` and
  // the primitives must outlive it; the other arguments are copied. It owns no kernel of the list.
  DelegateModel(std::vector<kernel::Kernel*>* kernels, const std::vector<MSTensor>& inputs,
                const std::vector<MSTensor>& outputs,
                const std::map<kernel::Kernel*, const T*>& primitives, SchemaVersion version)
      : inputs_(inputs),
        outputs_(outputs),
        list_(kernels),
        primitive_of_(primitives),
        version_(version) {}
  // Reads the list of kernels from a graph of the C API. Called by the runtime.
  DelegateModel(DeputyMSGraph* graph, const Context* context, const ConfigInfos* config = nullptr)
      : graph_(graph),
        config_(config),
        inputs_(detail::ToTensors(DeputyMSGraphInputs(graph))),
        outputs_(detail::ToTensors(DeputyMSGraphOutputs(graph))),
        version_(static_cast<SchemaVersion>(DeputyMSGraphSchemaVersion(graph))) {
    for (size_t i = 0; i < DeputyMSGraphKernelCount(graph); ++i) {
      const DeputyMSKernel* original = DeputyMSGraphKernelAt(graph, i);
      const DeputyMSPrimitive* primitive = DeputyMSGraphGetPrimitive(graph, original);
      const T* root = detail::RootOf<T>(primitive);
      inner_.push_back(std::make_unique<detail::InnerKernel>(original, root, context));
      inner_.back()->SetConfig(config);
      kernels_.push_back(inner_.back().get());
      primitive_of_[kernels_.back()] = root;
    }
  }
  DelegateModel(const DelegateModel&) = delete;
  DelegateModel& operator=(const DelegateModel&) = delete;
  // Frees the kernels that Commit did not pass to the runtime.
  ~DelegateModel() {
    for (kernel::Kernel* kernel : kernels_) {
      if (!IsInner(kernel)) owned_.push_back(kernel);
    }
    std::sort(owned_.begin(), owned_.end());
    owned_.erase(std::unique(owned_.begin(), owned_.end()), owned_.end());
    for (kernel::Kernel* kernel : owned_) delete kernel;
  }

  // Iterators over the list, which is a std::vector: Replace invalidates them.
  KernelIter BeginKernelIterator() { return list_->begin(); }
  KernelIter EndKernelIterator() { return list_->end(); }

  // Returns the operator of one of the model's kernels; null for a delegate's kernel.
  const T* GetPrimitive(kernel::Kernel* kernel) const {
    const auto found = primitive_of_.find(kernel);
    return found == primitive_of_.end() ? nullptr : found->second;
  }

  // Deputy extension. Return the attributes by name of one of the model's kernels: `attributes`
  // those of GetPrimitive, `derived_attributes` those that Deputy derives from the TensorFlow Lite
  // operator that it would run. The two differ for models of .ms files. A delegate's kernel has no
  // attributes.
  Attributes attributes(const kernel::Kernel* kernel) const {
    return Attributes(IsInner(kernel) ? DeputyMSGraphGetPrimitive(graph_, OriginalOf(kernel))
                                      : nullptr);
  }
  Attributes derived_attributes(const kernel::Kernel* kernel) const {
    return Attributes(IsInner(kernel) ? DeputyMSGraphGetDerivedPrimitive(graph_, OriginalOf(kernel))
                                      : nullptr);
  }

  // Replaces the kernels [from, end) by `graph_kernel`, which the model then owns, and returns the
  // position after it. An invalid range or a null kernel leaves the list unchanged, frees the
  // kernel, returns the end and makes the build fail.
  KernelIter Replace(KernelIter from, KernelIter end, kernel::Kernel* graph_kernel) {
    if (from < list_->begin() || from >= end || end > list_->end() || graph_kernel == nullptr) {
      failed_ = true;
      delete graph_kernel;
      return list_->end();
    }
    std::vector<const DeputyMSKernel*>& replaced = replaced_[graph_kernel];
    for (KernelIter iter = from; iter != end; ++iter) {
      if (IsInner(*iter)) {
        replaced.push_back(OriginalOf(*iter));
      } else {
        const auto& more = replaced_[*iter];
        replaced.insert(replaced.end(), more.begin(), more.end());
        if (graph_ != nullptr) owned_.push_back(*iter);
      }
    }
    return list_->insert(list_->erase(from, end), graph_kernel) + 1;
  }

  // Returns the list itself, for arbitrary edits. Each kernel of the model must stay in the list or
  // be replaced by exactly one new kernel; inputs() and outputs() of a new kernel determine which
  // kernels it replaces. Each kernel must come after the producers of its inputs.
  std::vector<kernel::Kernel*>* nodes() { return list_; }

  const std::vector<MSTensor>& inputs() const { return inputs_; }
  const std::vector<MSTensor>& outputs() const { return outputs_; }
  SchemaVersion GetVersion() const { return version_; }

  // Returns true if the list contains a kernel that is not the model's.
  bool HasNewKernels() const {
    return std::any_of(list_->begin(), list_->end(), [this](auto* k) { return !IsInner(k); });
  }
  // Replaces one kernel of the list by `graph_kernel`, to which the runtime holds a reference.
  // Called by the runtime for Delegate::CreateKernel. Fails if the kernel is null or the model's.
  Status ReplaceNode(size_t index, const std::shared_ptr<kernel::Kernel>& graph_kernel) {
    kernel::Kernel* const node = (*list_)[index];
    if (graph_kernel.get() == node && !IsInner(node)) return kSuccess;
    if (graph_kernel == nullptr || IsInner(graph_kernel.get())) {
      return {kLiteNullptr,
              "CreateKernel returned no kernel of the delegate for '" + node->name() + "'"};
    }
    auto* holder = new detail::SharedKernel(graph_kernel);
    if (IsInner(node)) {
      replaced_[holder].push_back(OriginalOf(node));
    } else {
      replaced_[holder] = replaced_[node];
      holder->KeepNode(std::unique_ptr<kernel::Kernel>(node));
    }
    (*list_)[index] = holder;
    return kSuccess;
  }

  // States, in Delegate::Explain, that the delegate does not support a kernel of the model.
  // `reason` is a DeputyReason of deputy/deputy_plugin.h from 1 to 99.
  void Refuse(kernel::Kernel* kernel, int32_t reason, const std::string& text) {
    if (!IsInner(kernel)) return;
    DeputyMSGraphRefuse(graph_, OriginalOf(kernel), reason, text.c_str());
  }

  // Passes the list of kernels to the runtime, which calls this function after Delegate::Build.
  Status Commit() {
    if (failed_) {
      return {kLiteParamInvalid, "Replace: the range is not in the list, or the kernel is null"};
    }
    std::vector<DeputyMSKernelEntry> entries;
    std::vector<std::string> names(kernels_.size());
    std::vector<std::vector<MSTensorHandle>> handles(2 * kernels_.size());
    for (size_t i = 0; i < kernels_.size(); ++i) {
      DeputyMSKernelEntry entry = {};
      entry.struct_size = sizeof entry;
      kernel::Kernel* const kernel = kernels_[i];
      if (kernel == nullptr) return {kLiteNullptr, "the list contains a null kernel"};
      if (IsInner(kernel)) {
        entry.original = OriginalOf(kernel);
      } else {
        const auto& replaced = replaced_[kernel];
        kernel->SetConfig(config_);
        names[i] = kernel->name();
        handles[2 * i] = detail::ToHandles(kernel->inputs());
        handles[2 * i + 1] = detail::ToHandles(kernel->outputs());
        entry.functions = &detail::KernelFunctions();
        entry.user_data = kernel;
        entry.name = names[i].c_str();
        entry.replaced = replaced.data();
        entry.replaced_count = replaced.size();
        entry.inputs = detail::ToArray(&handles[2 * i]);
        entry.outputs = detail::ToArray(&handles[2 * i + 1]);
      }
      entries.push_back(entry);
    }
    kernels_.clear();  // the runtime frees them, even if it rejects the list
    return detail::ToStatus(DeputyMSGraphSetKernels(graph_, entries.data(), entries.size()));
  }

 private:
  // Returns true for a kernel of the model that the runtime has listed.
  bool IsInner(const kernel::Kernel* kernel) const {
    if (graph_ == nullptr) return false;
    return primitive_of_.count(const_cast<kernel::Kernel*>(kernel)) > 0;
  }
  static const DeputyMSKernel* OriginalOf(const kernel::Kernel* inner) {
    return static_cast<const detail::InnerKernel*>(inner)->original();
  }

  DeputyMSGraph* graph_ = nullptr;
  const ConfigInfos* config_ = nullptr;
  std::vector<MSTensor> inputs_, outputs_;
  std::vector<std::unique_ptr<kernel::Kernel>> inner_;
  std::vector<kernel::Kernel*> kernels_;
  std::vector<kernel::Kernel*>* const list_ = &kernels_;
  std::map<kernel::Kernel*, const T*> primitive_of_;  // key: kernel of the model
  std::map<const kernel::Kernel*, std::vector<const DeputyMSKernel*>> replaced_;
  std::vector<kernel::Kernel*> owned_;  // new kernels that later new kernels replaced
  SchemaVersion version_ = SCHEMA_CUR;
  bool failed_ = false;
};

// The graph of a delegate for a model on the host.
using LiteDelegateGraph = DelegateModel<schema::Primitive>;

// A third-party engine, whose settings are members of the derived class. One object may serve
// several models. Calls of Init, Build and Explain of one object are serialised, also for models
// that several threads build at the same time; calls of kernels of different models are not.
class Delegate : public IDelegate<LiteDelegateGraph, kernel::Kernel, kernel::Kernel> {
 public:
  Delegate() = default;
  Delegate(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs)
      : IDelegate<LiteDelegateGraph, kernel::Kernel, kernel::Kernel>(inputs, outputs) {}

  // Initialises the delegate. Called once per Model::Build, before the model is parsed. After
  // kLiteNotSupport the model runs without the delegate; other failures make the build fail.
  virtual Status Init() = 0;
  // Replaces kernels. A failure makes the build fail.
  virtual Status Build(LiteDelegateGraph* model) = 0;

  // The functions below are called after Build: ReplaceNodes if Build has replaced no kernel, then
  // IsDelegateNode for each kernel of the list, and CreateKernel if that returns true. The graph
  // and kernels of the model are valid during these calls only. The runtime holds a reference to
  // the new kernel, and owns the node if it is the delegate's own. A null result, or a kernel of
  // the model, makes the build fail.
  void ReplaceNodes(const std::shared_ptr<LiteDelegateGraph>& /*graph*/) override {}
  bool IsDelegateNode(const std::shared_ptr<kernel::Kernel>& /*node*/) override { return false; }
  std::shared_ptr<kernel::Kernel> CreateKernel(
      const std::shared_ptr<kernel::Kernel>& node) override {
    return node;
  }

  Delegate* AsDelegate() final { return this; }

  // Deputy extension. True if kernels cannot be resized: after a resize the runtime calls Build
  // again instead of ReSize.
  virtual bool StaticShapes() const { return false; }
  // Deputy extension, for reports: calls model->Refuse for each kernel that Build would not
  // replace, and does not change the list. Returns false if the delegate does not report its
  // support. Called before Build, and only if the host requests a report.
  virtual bool Explain(DelegateModel<schema::Primitive>* /*model*/) { return false; }
};

// MindSpore Lite's delegate for Apple's Core ML, which Deputy does not have: Init returns
// kLiteNotSupport, so that models run without it.
class CoreMLDelegate : public Delegate {
 public:
  Status Init() override { return {kLiteNotSupport, "Core ML is not available"}; }
  Status Build(LiteDelegateGraph* /*model*/) override { return kLiteNotSupport; }
};

// The tensors that cross the boundary of the run [from, end). Inputs are read by the run and
// neither computed in it nor constant. Outputs are computed by the run and read by other kernels,
// or are outputs of the graph. Each tensor is listed once, in order of its first occurrence.
struct Boundary {
  std::vector<MSTensor> inputs;
  std::vector<MSTensor> outputs;
};

inline Boundary FindBoundary(DelegateModel<schema::Primitive>* model, KernelIter from,
                             KernelIter end) {
  const auto contains = [](const std::vector<MSTensor>& tensors, const MSTensor& tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  std::vector<MSTensor> computed;
  for (KernelIter iter = from; iter != end; ++iter) {
    computed.insert(computed.end(), (*iter)->outputs().begin(), (*iter)->outputs().end());
  }
  std::vector<MSTensor> consumed_outside = model->outputs();
  for (KernelIter iter = model->BeginKernelIterator(); iter != model->EndKernelIterator(); ++iter) {
    if (iter >= from && iter < end) continue;
    consumed_outside.insert(consumed_outside.end(), (*iter)->inputs().begin(),
                            (*iter)->inputs().end());
  }
  Boundary boundary;
  for (KernelIter iter = from; iter != end; ++iter) {
    for (const MSTensor& tensor : (*iter)->inputs()) {
      if (!tensor.IsConst() && !contains(computed, tensor) && !contains(boundary.inputs, tensor)) {
        boundary.inputs.push_back(tensor);
      }
    }
    for (const MSTensor& tensor : (*iter)->outputs()) {
      if (contains(consumed_outside, tensor)) boundary.outputs.push_back(tensor);
    }
  }
  return boundary;
}

namespace detail {

// Returns a pointer that owns nothing.
template <typename T>
std::shared_ptr<T> Borrow(T* object) {
  return {std::shared_ptr<void>(), object};
}

// Calls ReplaceNodes, IsDelegateNode and CreateKernel of a delegate.
inline Status CreateKernels(Delegate* delegate, LiteDelegateGraph* model) {
  if (!model->HasNewKernels()) delegate->ReplaceNodes(Borrow(model));
  for (size_t i = 0; i < model->nodes()->size(); ++i) {
    kernel::Kernel* const node = (*model->nodes())[i];
    if (node == nullptr || !delegate->IsDelegateNode(Borrow(node))) continue;
    const Status status = model->ReplaceNode(i, delegate->CreateKernel(Borrow(node)));
    if (status.IsError()) return status;
  }
  return kSuccess;
}

// Object of a C API's context (DeputyMSContextSetObject).
struct ContextObject {
  std::shared_ptr<Context> context;
  std::shared_ptr<const ConfigInfos> config;  // may be null
};

// Object to which `user_data` of the C API's delegate struct points.
struct DelegateState {
  std::shared_ptr<Delegate> delegate;
  std::shared_ptr<Context> context;  // context of the build; may be null
  std::shared_ptr<const ConfigInfos> config;

  static int Init(void* user_data, MSContextHandle /*context*/) {
    return static_cast<int>(static_cast<DelegateState*>(user_data)->delegate->Init());
  }
  static int Build(void* user_data, DeputyMSGraph* graph) {
    auto* state = static_cast<DelegateState*>(user_data);
    LiteDelegateGraph model(graph, state->context.get(), state->config.get());
    Status status = state->delegate->Build(&model);
    if (status.IsOk()) status = CreateKernels(state->delegate.get(), &model);
    if (status.IsOk()) {
      status = model.Commit();
    } else if (!status.GetErrDescription().empty()) {
      DeputyMSLog(kDeputyMSLogError, status.GetErrDescription().c_str());
    }
    return static_cast<int>(status);
  }
  static void Release(void* user_data) { delete static_cast<DelegateState*>(user_data); }
  static int Explain(void* user_data, DeputyMSGraph* graph) {
    auto* state = static_cast<DelegateState*>(user_data);
    LiteDelegateGraph model(graph, state->context.get(), state->config.get());
    return state->delegate->Explain(&model) ? lite::RET_OK : lite::RET_NOT_SUPPORT;
  }
};

// Returns the C API's struct for a delegate. Its `release` frees the DelegateState.
inline DeputyMSDelegate ToC(const std::shared_ptr<Delegate>& delegate,
                            const std::shared_ptr<Context>& context,
                            const std::shared_ptr<const ConfigInfos>& config = nullptr) {
  DeputyMSDelegate c = {};
  c.struct_size = sizeof c;
  c.abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION;
  c.flags = delegate->StaticShapes() ? kDeputyMSDelegateStaticShapes : 0;
  c.user_data = new DelegateState{delegate, context, config};
  c.init = DelegateState::Init;
  c.build = DelegateState::Build;
  c.release = DelegateState::Release;
  c.explain = DelegateState::Explain;
  c.identity = delegate.get();
  return c;
}

}  // namespace detail

// Creates a TensorFlow Lite delegate for an interpreter of libdeputy, which may have further
// delegates (DeputyMSDelegateCreateTfLite in delegate_c.h). The caller deletes it with
// DeputyMSDelegateDeleteTfLite after the interpreter. Returns null on failure.
inline struct TfLiteDelegate* ToTfLiteDelegate(const std::shared_ptr<Delegate>& delegate) {
  const DeputyMSDelegate c = detail::ToC(delegate, nullptr);
  struct TfLiteDelegate* result = DeputyMSDelegateCreateTfLite(&c);
  if (result == nullptr) c.release(c.user_data);
  return result;
}

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_DELEGATE_H_
