// SPDX-License-Identifier: Apache-2.0
//
// A subgraph of an interpreter: a view that reads the library's context directly and calls the C
// API for everything else. It is valid as long as its interpreter.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SUBGRAPH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SUBGRAPH_H_

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy.h"
#include "deputy/deputy_graph.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_experimental.h"
#include "tensorflow/lite/core/c/c_api_opaque.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/preserved_tensors.h"
#include "tensorflow/lite/interpreter_options.h"
#include "tensorflow/lite/stderr_reporter.h"

namespace tflite {

class SingleOpModel;

namespace impl {
class Interpreter;
class InterpreterBuilder;
class SignatureRunner;
}  // namespace impl

namespace delegates {
namespace test_utils {
class TestDelegate;
}  // namespace test_utils
}  // namespace delegates

namespace subgraph_internal {

// The library's nodes have the layout of the pairs that TensorFlow Lite's C++ API returns.
using NodeAndRegistration = std::pair<TfLiteNode, TfLiteRegistration>;
static_assert(sizeof(NodeAndRegistration) == sizeof(DeputyNode), "layout of nodes");
static_assert(offsetof(DeputyNode, registration) == sizeof(TfLiteNode), "layout of nodes");

// A copy of one of the library's lists of indices.
class IndexList {
 public:
  // Copies the entries if they have changed.
  const std::vector<int>& Update(const int32_t* entries, int32_t count) {
    const size_t size = static_cast<size_t>(count);
    if (values_.size() != size || !std::equal(values_.begin(), values_.end(), entries)) {
      values_.assign(entries, entries + size);
    }
    return values_;
  }

 private:
  std::vector<int> values_;
};

inline void Report(void* reporter, const char* format, va_list args) {
  static_cast<ErrorReporter*>(reporter)->Report(format, args);
}

// Creates an interpreter of the C API without tensors.
inline TfLiteInterpreter* CreateEmptyInterpreter(ErrorReporter* reporter) {
  TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, &Report, reporter);
  TfLiteInterpreter* const interpreter = DeputyInterpreterCreateEmpty(options);
  TfLiteInterpreterOptionsDelete(options);
  return interpreter;
}

}  // namespace subgraph_internal

class Subgraph {
 public:
  // The nodes of a subgraph, including those that delegates replaced.
  class Nodes {
   public:
    class Iterator {
     public:
      Iterator(const Subgraph* subgraph, int index) : subgraph_(subgraph), index_(index) {}
      const subgraph_internal::NodeAndRegistration& operator*() const {
        return *subgraph_->node_and_registration(index_);
      }
      Iterator& operator++() {
        ++index_;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return index_ != other.index_; }

     private:
      const Subgraph* subgraph_;
      int index_;
    };

    explicit Nodes(const Subgraph* subgraph) : subgraph_(subgraph) {}
    size_t size() const { return subgraph_->nodes_size(); }
    bool empty() const { return size() == 0; }
    const subgraph_internal::NodeAndRegistration& operator[](size_t index) const {
      return *subgraph_->node_and_registration(static_cast<int>(index));
    }
    Iterator begin() const { return {subgraph_, 0}; }
    Iterator end() const { return {subgraph_, static_cast<int>(size())}; }

   private:
    const Subgraph* subgraph_;
  };

  struct SubgraphAllocInfo {
    size_t arena_size;
    size_t arena_persist_size;
    size_t dynamic_size;
    size_t resource_size;
  };

  static constexpr int kInvalidSubgraphIndex = -1;
  // Number of tensors for which an empty subgraph reserves memory.
  static constexpr int kTensorsReservedCapacity = 128;
  // Number of tensors that a kernel's prepare or invoke can add without moving others.
  static constexpr int kTensorsCapacityHeadroom = 16;

  // Creates a subgraph outside an Interpreter, for tests of delegates: the elements of `subgraphs`
  // become the subgraphs of one interpreter, which the last of them deletes. The arguments without
  // a name are ignored.
  Subgraph(ErrorReporter* error_reporter, TfLiteExternalContext** /*external_contexts*/,
           std::vector<std::unique_ptr<Subgraph>>* subgraphs, void* /*resources*/,
           void* /*resource_ids*/, void* /*initialization_status_map*/,
           int subgraph_index = kInvalidSubgraphIndex)
      : subgraphs_(subgraphs) {
    if (error_reporter == nullptr) error_reporter = DefaultErrorReporter();
    int32_t index = 0;
    if (subgraphs != nullptr && !subgraphs->empty()) {
      owner_ = subgraphs->front()->owner_;
      DeputyInterpreterAddSubgraphs(owner_.get(), 1, &index);
    } else {
      owner_.reset(subgraph_internal::CreateEmptyInterpreter(error_reporter),
                   &TfLiteInterpreterDelete);
    }
    Bind(owner_.get(), index);
    if (subgraph_index == kInvalidSubgraphIndex) is_numbered_ = false;
  }

  Subgraph(const Subgraph&) = delete;
  Subgraph& operator=(const Subgraph&) = delete;
  ~Subgraph() {
    // Other subgraphs may keep the interpreter alive. An Interpreter deletes it before its
    // subgraphs.
    if (owner_ != nullptr) context_->impl_ = library_object_;
  }

  // ---- Graphs built in code: see Interpreter ----------------------------------------------------

  TfLiteStatus SetInputs(std::vector<int> inputs) {
    return DeputyInterpreterSetInputs(interpreter_, index_, inputs.data(), Count(inputs));
  }
  TfLiteStatus SetOutputs(std::vector<int> outputs) {
    return DeputyInterpreterSetOutputs(interpreter_, index_, outputs.data(), Count(outputs));
  }
  TfLiteStatus SetVariables(std::vector<int> variables) {
    return DeputyInterpreterSetVariables(interpreter_, index_, variables.data(), Count(variables));
  }

  TfLiteStatus AddNodeWithParameters(const std::vector<int>& inputs,
                                     const std::vector<int>& outputs,
                                     const std::vector<int>& intermediates, const char* init_data,
                                     size_t init_data_size, void* builtin_data,
                                     const TfLiteRegistration* registration,
                                     int* node_index = nullptr) {
    DeputyNodeParameters parameters{};
    parameters.struct_size = sizeof parameters;
    parameters.inputs = inputs.data();
    parameters.input_count = Count(inputs);
    parameters.outputs = outputs.data();
    parameters.output_count = Count(outputs);
    parameters.intermediates = intermediates.data();
    parameters.intermediate_count = Count(intermediates);
    parameters.init_data = init_data;
    parameters.init_data_size = init_data_size;
    parameters.builtin_data = builtin_data;
    parameters.registration = registration;
    return DeputyInterpreterAddNode(interpreter_, index_, &parameters, node_index);
  }

  TfLiteStatus AddTensors(int tensors_to_add, int* first_new_tensor_index = nullptr) {
    return DeputyInterpreterAddTensors(interpreter_, index_, tensors_to_add,
                                       first_new_tensor_index);
  }

  // The identifiers of buffers have no effect.
  TfLiteStatus SetTensorParametersReadOnly(int tensor_index, TfLiteType type, const char* name,
                                           const std::vector<int>& dims,
                                           TfLiteQuantization quantization, const char* buffer,
                                           size_t bytes, const Allocation* allocation = nullptr,
                                           TfLiteSparsity* sparsity = nullptr,
                                           size_t buffer_identifier = kTfLiteNoBufferIdentifier,
                                           size_t external_buffer_id = kTfLiteNoBufferIdentifier) {
    return SetTensorParametersReadOnly(tensor_index, type, name, dims.size(), dims.data(),
                                       quantization, buffer, bytes, allocation, sparsity,
                                       buffer_identifier, external_buffer_id);
  }

  TfLiteStatus SetTensorParametersReadOnly(
      int tensor_index, TfLiteType type, const char* name, size_t ndims, const int* dims,
      TfLiteQuantization quantization, const char* buffer, size_t bytes,
      const Allocation* allocation = nullptr, TfLiteSparsity* sparsity = nullptr,
      size_t /*buffer_identifier*/ = kTfLiteNoBufferIdentifier,
      size_t /*external_buffer_id*/ = kTfLiteNoBufferIdentifier) {
    DeputyTensorParameters parameters = Describe(type, name, ndims, dims, quantization);
    parameters.sparsity = sparsity;
    parameters.data = buffer;
    parameters.bytes = bytes;
    parameters.is_constant = true;
    TF_LITE_ENSURE_STATUS(SetTensor(tensor_index, parameters));
    context_->tensors[tensor_index].allocation = allocation;
    return kTfLiteOk;
  }

  TfLiteStatus SetTensorParametersReadWrite(int tensor_index, TfLiteType type, const char* name,
                                            const std::vector<int>& dims,
                                            TfLiteQuantization quantization,
                                            bool is_variable = false,
                                            const std::vector<int>& dims_signature = {},
                                            size_t external_buffer_id = 0) {
    return SetTensorParametersReadWrite(tensor_index, type, name, dims.size(), dims.data(),
                                        quantization, is_variable, dims_signature.size(),
                                        dims_signature.data(), external_buffer_id);
  }

  TfLiteStatus SetTensorParametersReadWrite(int tensor_index, TfLiteType type, const char* name,
                                            size_t ndims, const int* dims,
                                            TfLiteQuantization quantization,
                                            bool is_variable = false, size_t ndims_signature = 0,
                                            const int* dims_signature = nullptr,
                                            size_t /*external_buffer_id*/ = 0) {
    DeputyTensorParameters parameters = Describe(type, name, ndims, dims, quantization);
    parameters.signature_dims = dims_signature;
    parameters.signature_rank = Rank(ndims_signature);
    parameters.is_variable = is_variable;
    return SetTensor(tensor_index, parameters);
  }

  // ---- Tensors, nodes and lists -----------------------------------------------------------------

  // Pointers to tensors and nodes are valid until tensors or nodes are added or removed.
  TfLiteTensor* tensors() { return context_->tensors; }
  TfLiteTensor* tensor(int tensor_index) {
    return const_cast<TfLiteTensor*>(std::as_const(*this).tensor(tensor_index));
  }
  const TfLiteTensor* tensor(int tensor_index) const {
    if (tensor_index < 0 || static_cast<size_t>(tensor_index) >= context_->tensors_size) {
      return nullptr;
    }
    return &context_->tensors[tensor_index];
  }
  size_t tensors_size() const { return context_->tensors_size; }

  // The lists are copies, which the next call of the same function updates.
  const std::vector<int>& inputs() const {
    int32_t count = 0;
    const int32_t* const entries = DeputyInterpreterGetInputs(interpreter_, index_, &count);
    return inputs_.Update(entries, count);
  }
  const std::vector<int>& outputs() const {
    int32_t count = 0;
    const int32_t* const entries = DeputyInterpreterGetOutputs(interpreter_, index_, &count);
    return outputs_.Update(entries, count);
  }
  const std::vector<int>& variables() const {
    int32_t count = 0;
    const int32_t* const entries = DeputyInterpreterGetVariables(interpreter_, index_, &count);
    return variables_.Update(entries, count);
  }
  const std::vector<int>& execution_plan() const {
    int32_t count = 0;
    const int32_t* const entries = DeputyInterpreterGetExecutionPlan(interpreter_, index_, &count);
    return execution_plan_.Update(entries, count);
  }

  size_t nodes_size() const {
    return static_cast<size_t>(DeputyInterpreterGetNodeCount(interpreter_, index_));
  }
  Nodes nodes_and_registration() const { return Nodes(this); }
  const std::pair<TfLiteNode, TfLiteRegistration>* node_and_registration(int node_index) const {
    return reinterpret_cast<const subgraph_internal::NodeAndRegistration*>(
        DeputyInterpreterGetNode(interpreter_, index_, node_index));
  }

  TfLiteContext* context() { return context_; }
  const TfLiteContext* context() const { return context_; }

  const std::string& GetName() const {
    const char* const name = DeputyInterpreterGetSubgraphName(interpreter_, index_);
    if (name != nullptr && name_ != name) name_ = name;
    return name_;
  }

  void SetName(const char* name) { DeputyInterpreterSetSubgraphName(interpreter_, index_, name); }

  int GetSubgraphIndex() const { return is_numbered_ ? index_ : kInvalidSubgraphIndex; }
  bool IsPrimarySubgraph() const { return GetSubgraphIndex() == 0; }
  std::vector<std::unique_ptr<Subgraph>>* GetSubgraphs() const { return subgraphs_; }

  // Returns how often nodes of the plan read each tensor; an output of the subgraph counts once
  // more.
  std::vector<int> GetInputTensorsCount() const {
    std::vector<int> counts(tensors_size());
    const auto count = [&](int index) {
      if (tensor(index) != nullptr) ++counts[static_cast<size_t>(index)];
    };
    for (const int node : execution_plan()) {
      const TfLiteIntArray* const read = node_and_registration(node)->first.inputs;
      for (int i = 0; i < read->size; ++i) count(read->data[i]);
    }
    for (const int output : outputs()) count(output);
    return counts;
  }

  // ---- Execution --------------------------------------------------------------------------------

  TfLiteStatus ResizeInputTensor(int tensor_index, const int* dims_data, int rank) {
    return DeputyInterpreterResizeInput(interpreter_, index_, tensor_index, dims_data, rank, false);
  }
  TfLiteStatus ResizeInputTensor(int tensor_index, const std::vector<int>& dims) {
    return ResizeInputTensor(tensor_index, dims.data(), Count(dims));
  }
  TfLiteStatus ResizeInputTensorStrict(int tensor_index, const std::vector<int>& dims) {
    return DeputyInterpreterResizeInput(interpreter_, index_, tensor_index, dims.data(),
                                        Count(dims), true);
  }

  TfLiteStatus AllocateTensors() {
    const ScopedProfile profile(profiler_.get(), "AllocateTensors");
    return DeputyInterpreterAllocateSubgraph(interpreter_, index_);
  }
  TfLiteStatus Invoke() { return DeputyInterpreterInvokeSubgraph(interpreter_, index_); }
  TfLiteStatus ResetVariableTensors() {
    return DeputyInterpreterResetVariables(interpreter_, index_);
  }
  TfLiteStatus EnsureTensorDataIsReadable(int tensor_index) {
    return DeputyInterpreterEnsureReadable(interpreter_, index_, tensor_index);
  }
  TfLiteStatus SetCustomAllocationForTensor(int tensor_index,
                                            const TfLiteCustomAllocation& allocation,
                                            int64_t flags = kTfLiteCustomAllocationFlagsNone) {
    TF_LITE_ENSURE_STATUS(DeputyInterpreterSetCustomAllocation(interpreter_, index_, tensor_index,
                                                               &allocation, flags));
    memory_of_program_[tensor_index] = {allocation, flags};
    return kTfLiteOk;
  }

  // Deputy's own: the interpreter of the C API, for the functions of deputy.h.
  TfLiteInterpreter* c_interpreter() const { return interpreter_; }

  // Removes all memory of the program; AllocateTensors must follow.
  TfLiteStatus ClearCustomAllocations() {
    TF_LITE_ENSURE_STATUS(DeputyInterpreterClearCustomAllocations(interpreter_, index_));
    memory_of_program_.clear();
    return kTfLiteOk;
  }

  // Reports a message through the context.
  void ReportError(const char* format, ...) {
    va_list args;
    va_start(args, format);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    context_->ReportError(context_, "%s", text);
  }

  void SetExternalContext(TfLiteExternalContextType type, TfLiteExternalContext* ctx) {
    context_->SetExternalContext(context_, type, ctx);
  }
  bool GetAllowFp16PrecisionForFp32() const { return context_->allow_fp32_relax_to_fp16; }

  // Returns true if the size of a tensor becomes known only when the subgraph runs.
  bool HasDynamicTensors() const {
    return std::any_of(context_->tensors, context_->tensors + context_->tensors_size,
                       [](const TfLiteTensor& t) { return t.allocation_type == kTfLiteDynamic; });
  }

  void GetMemoryAllocInfo(SubgraphAllocInfo* alloc_info) const {
    DeputyMemoryMap map{};
    map.struct_size = sizeof map;
    DeputyInterpreterGetMemoryMap(interpreter_, index_, &map);
    *alloc_info = {map.arena_bytes, map.persistent_bytes, 0, map.resource_bytes};
    for (size_t i = 0; i < context_->tensors_size; ++i) {
      const TfLiteTensor& tensor = context_->tensors[i];
      if (tensor.allocation_type == kTfLiteDynamic) alloc_info->dynamic_size += tensor.bytes;
    }
  }

  // ---- Settings, profiling and delegates --------------------------------------------------------

  // Stores the options, which are borrowed; see Interpreter::ApplyOptions.
  void SetOptions(InterpreterOptions* options) { options_ = options; }
  const InterpreterOptions* GetOptions() const { return options_; }

  // The profiler, which is borrowed, becomes that of the context; null removes it. Its events have
  // `associated_subgraph_idx` as the second metadata.
  void SetProfiler(Profiler* profiler, int associated_subgraph_idx) {
    profiler_.reset(profiler == nullptr
                        ? nullptr
                        : new SubgraphAwareProfiler(profiler, associated_subgraph_idx));
    context_->profiler = profiler_.get();
  }
  Profiler* GetProfiler() { return profiler_.get(); }

  // Stores the context of another subgraph and enables its delegate callbacks until
  // ReleaseSubgraphContext.
  TfLiteStatus AcquireSubgraphContext(int subgraph_index, TfLiteContext** acquired_context) {
    TfLiteOpaqueContext* acquired = nullptr;
    const TfLiteStatus status =
        TfLiteOpaqueContextAcquireSubgraphContext(opaque_context(), subgraph_index, &acquired);
    if (status == kTfLiteOk) *acquired_context = reinterpret_cast<TfLiteContext*>(acquired);
    return status;
  }
  static TfLiteStatus AcquireSubgraphContext(TfLiteContext* context, int subgraph_index,
                                             TfLiteContext** acquired_context) {
    return context->AcquireSubgraphContext(context, subgraph_index, acquired_context);
  }
  TfLiteStatus ReleaseSubgraphContext(int subgraph_index) {
    return TfLiteOpaqueContextReleaseSubgraphContext(opaque_context(), subgraph_index);
  }
  static TfLiteStatus ReleaseSubgraphContext(TfLiteContext* context, int subgraph_index) {
    return context->ReleaseSubgraphContext(context, subgraph_index);
  }

  // Excludes a subgraph from delegation, because a delegate runs it as a part of its caller.
  TfLiteStatus MarkSubgraphAsDelegationSkippable(int subgraph_index) {
    return TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(opaque_context(), subgraph_index);
  }

  bool IsDelegationSkippable() const {
    return DeputyInterpreterIsDelegationSkippable(interpreter_, index_) != 0;
  }

  // Returns true if a delegate has been applied to the interpreter and not been removed since.
  bool HasDelegates() {
    const int32_t count = DeputyInterpreterGetDelegateCount(interpreter_);
    for (int32_t i = 0; i < count; ++i) {
      DeputyDelegateInfo info{};
      info.struct_size = sizeof info;
      if (DeputyInterpreterGetDelegateInfo(interpreter_, i, &info) == kTfLiteOk &&
          info.applied != 0) {
        return true;
      }
    }
    return false;
  }

  // Returns true if delegates run all nodes of the execution plan.
  bool IsFullyDelegated() const {
    const std::vector<int>& plan = execution_plan();
    return std::all_of(plan.begin(), plan.end(), [this](int node) {
      return node_and_registration(node)->first.delegate != nullptr;
    });
  }

 private:
  friend class impl::Interpreter;
  friend class impl::InterpreterBuilder;
  friend class impl::SignatureRunner;
  friend class SingleOpModel;
  friend class TestDelegate;

  // Passes the events of a subgraph to a profiler.
  class SubgraphAwareProfiler : public Profiler {
   public:
    SubgraphAwareProfiler(Profiler* profiler, int64_t subgraph_index)
        : profiler_(profiler), subgraph_index_(subgraph_index) {}

    uint32_t BeginEvent(const char* tag, EventType event_type, int64_t event_metadata1,
                        int64_t /*event_metadata2*/) override {
      return profiler_->BeginEvent(tag, event_type, event_metadata1, subgraph_index_);
    }
    void EndEvent(uint32_t event_handle) override { profiler_->EndEvent(event_handle); }
    void EndEvent(uint32_t event_handle, int64_t event_metadata1,
                  int64_t event_metadata2) override {
      profiler_->EndEvent(event_handle, event_metadata1, event_metadata2);
    }
    void AddEvent(const char* tag, EventType event_type, uint64_t metric, int64_t event_metadata1,
                  int64_t /*event_metadata2*/) override {
      profiler_->AddEvent(tag, event_type, metric, event_metadata1, subgraph_index_);
    }
    void AddEventWithData(const char* tag, EventType event_type, const void* data) override {
      profiler_->AddEventWithData(tag, event_type, data);
    }

   private:
    Profiler* const profiler_;
    const int64_t subgraph_index_;
  };

  Subgraph(TfLiteInterpreter* interpreter, int32_t index,
           std::vector<std::unique_ptr<Subgraph>>* subgraphs)
      : subgraphs_(subgraphs) {
    Bind(interpreter, index);
  }

  void Bind(TfLiteInterpreter* interpreter, int32_t index) {
    interpreter_ = interpreter;
    index_ = index;
    context_ = DeputyInterpreterGetContext(interpreter, index);
    library_object_ = context_->impl_;
    runtime_ = *static_cast<void* const*>(library_object_);
    context_->impl_ = this;
  }

  static int32_t Count(const std::vector<int>& list) { return static_cast<int32_t>(list.size()); }

  // Returns -1, which the library rejects, for a rank that is no int32.
  static int32_t Rank(size_t rank) { return rank <= INT32_MAX ? static_cast<int32_t>(rank) : -1; }

  TfLiteStatus SetTensor(int tensor_index, const DeputyTensorParameters& parameters) {
    TF_LITE_ENSURE_STATUS(
        DeputyInterpreterSetTensor(interpreter_, index_, tensor_index, &parameters));
    memory_of_program_.erase(tensor_index);
    return kTfLiteOk;
  }

  static DeputyTensorParameters Describe(TfLiteType type, const char* name, size_t rank,
                                         const int* dims, TfLiteQuantization quantization) {
    DeputyTensorParameters parameters{};
    parameters.struct_size = sizeof parameters;
    parameters.type = type;
    parameters.name = name;
    parameters.dims = dims;
    parameters.rank = Rank(rank);
    parameters.quantization = quantization;
    return parameters;
  }

  TfLiteOpaqueContext* opaque_context() { return reinterpret_cast<TfLiteOpaqueContext*>(context_); }

  TfLiteStatus SetExecutionPlan(const std::vector<int>& new_plan) {
    return DeputyInterpreterSetExecutionPlan(interpreter_, index_, new_plan.data(),
                                             Count(new_plan));
  }

  // Without `release_existing_buffer_handle` the delegate's previous buffer stays allocated.
  TfLiteStatus SetBufferHandle(TfLiteTensor* tensor, TfLiteBufferHandle buffer_handle,
                               TfLiteDelegate* delegate, bool release_existing_buffer_handle) {
    if (tensor != nullptr && !release_existing_buffer_handle &&
        (tensor->delegate == nullptr || tensor->delegate == delegate)) {
      tensor->buffer_handle = kTfLiteNullBufferHandle;
    }
    return TfLiteInterpreterSetBufferHandle(interpreter_, tensor, buffer_handle,
                                            reinterpret_cast<TfLiteOpaqueDelegate*>(delegate));
  }

  // Delegates and kernels cast impl_ of a context to Subgraph*. The library requires that the
  // object begins with this pointer of its own.
  void* runtime_ = nullptr;
  void* library_object_ = nullptr;  // the library's value of impl_
  TfLiteInterpreter* interpreter_ = nullptr;
  int32_t index_ = 0;
  TfLiteContext* context_ = nullptr;
  bool is_numbered_ = true;
  std::vector<std::unique_ptr<Subgraph>>* subgraphs_;
  std::shared_ptr<TfLiteInterpreter> owner_;  // null if an Interpreter owns interpreter_
  InterpreterOptions* options_ = nullptr;     // borrowed
  std::unique_ptr<Profiler> profiler_;
  MemoryOfProgram memory_of_program_;
  mutable subgraph_internal::IndexList inputs_, outputs_, variables_, execution_plan_;
  mutable std::string name_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_SUBGRAPH_H_
