// SPDX-License-Identifier: Apache-2.0
//
// Interpreter: runs a model, or a graph that is built in code. A header-only layer over the C API:
// tensors are read from the library's context, everything else is a call. Not thread-safe, except
// Cancel.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/api/profiler.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_experimental.h"
#include "tensorflow/lite/core/c/common.h"  // IWYU pragma: export
#include "tensorflow/lite/core/preserved_tensors.h"
#include "tensorflow/lite/core/signature_runner.h"
#include "tensorflow/lite/core/subgraph.h"
#include "tensorflow/lite/external_cpu_backend_context.h"
#include "tensorflow/lite/internal/signature_def.h"
#include "tensorflow/lite/interpreter_options.h"
#include "tensorflow/lite/logger.h"
#include "tensorflow/lite/minimal_logging.h"
#include "tensorflow/lite/portable_type_to_tflitetype.h"
#include "tensorflow/lite/profiling/operator_events.h"
#include "tensorflow/lite/profiling/root_profiler.h"
#include "tensorflow/lite/stderr_reporter.h"
#include "tensorflow/lite/string_type.h"
#include "tensorflow/lite/type_to_tflitetype.h"

namespace tflite {

class InterpreterTest;

namespace delegates {
class InterpreterUtils;
namespace test_utils {
class TestDelegation;
}  // namespace test_utils
}  // namespace delegates

namespace interpreter_wrapper {
class InterpreterWrapper;
}  // namespace interpreter_wrapper

namespace model_builder {
class ModelBuilder;
}  // namespace model_builder

namespace impl {

class InterpreterBuilder;

class Interpreter {
 public:
  using Ptr = std::unique_ptr<Interpreter>;

  // Owner of a delegate and the function that deletes it.
  using TfLiteDelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

  // Number of tensors for which an empty interpreter reserves memory, and number of tensors that a
  // kernel's prepare or invoke can add without moving others.
  static constexpr int kTensorsReservedCapacity = Subgraph::kTensorsReservedCapacity;
  static constexpr int kTensorsCapacityHeadroom = Subgraph::kTensorsCapacityHeadroom;

  // Creates an interpreter without tensors, for graphs that are built in code; InterpreterBuilder
  // creates those of models. The reporter is borrowed; null stands for DefaultErrorReporter().
  explicit Interpreter(ErrorReporter* error_reporter = DefaultErrorReporter())
      : Interpreter(subgraph_internal::CreateEmptyInterpreter(ReporterOrDefault(error_reporter)),
                    error_reporter) {}

  ~Interpreter() {
    ClearSharedCaches();
    // Kernels and delegates may use the subgraphs, profilers and owned delegates until then.
    TfLiteInterpreterDelete(interpreter_);
  }

  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // ---- Graphs built in code ---------------------------------------------------------------------
  //
  // A program adds tensors, describes each of them, adds nodes in the order in which they run, and
  // sets inputs and outputs. AllocateTensors must follow.

  // kTfLiteError for an index out of range; AllocateTensors and Invoke then fail.
  TfLiteStatus SetInputs(std::vector<int> inputs) {
    return primary_subgraph().SetInputs(std::move(inputs));
  }
  TfLiteStatus SetOutputs(std::vector<int> outputs) {
    return primary_subgraph().SetOutputs(std::move(outputs));
  }
  TfLiteStatus SetVariables(std::vector<int> variables) {
    return primary_subgraph().SetVariables(std::move(variables));
  }

  // Appends a node. Takes ownership of `builtin_data` (malloc); `init_data` is borrowed.
  TfLiteStatus AddNodeWithParameters(const std::vector<int>& inputs,
                                     const std::vector<int>& outputs, const char* init_data,
                                     size_t init_data_size, void* builtin_data,
                                     const TfLiteRegistration* registration,
                                     int* node_index = nullptr) {
    return primary_subgraph().AddNodeWithParameters(inputs, outputs, {}, init_data, init_data_size,
                                                    builtin_data, registration, node_index);
  }

  TfLiteStatus AddTensors(int tensors_to_add, int* first_new_tensor_index = nullptr) {
    return primary_subgraph().AddTensors(tensors_to_add, first_new_tensor_index);
  }

  // Describe a constant, whose contents are borrowed, or another tensor. `name` is borrowed. The
  // tensor takes ownership of TfLiteQuantization::params.
  TfLiteStatus SetTensorParametersReadOnly(int tensor_index, TfLiteType type, const char* name,
                                           const std::vector<int>& dims,
                                           TfLiteQuantization quantization, const char* buffer,
                                           size_t bytes, const Allocation* allocation = nullptr) {
    return primary_subgraph().SetTensorParametersReadOnly(tensor_index, type, name, dims,
                                                          quantization, buffer, bytes, allocation);
  }
  TfLiteStatus SetTensorParametersReadOnly(int tensor_index, TfLiteType type, const char* name,
                                           const std::vector<int>& dims,
                                           TfLiteQuantizationParams quantization,
                                           const char* buffer, size_t bytes,
                                           const Allocation* allocation = nullptr) {
    return SetTensorParametersReadOnly(tensor_index, type, name, dims.size(), dims.data(),
                                       quantization, buffer, bytes, allocation);
  }
  TfLiteStatus SetTensorParametersReadOnly(int tensor_index, TfLiteType type, const char* name,
                                           size_t rank, const int* dims,
                                           TfLiteQuantizationParams quantization,
                                           const char* buffer, size_t bytes,
                                           const Allocation* allocation = nullptr) {
    return primary_subgraph().SetTensorParametersReadOnly(tensor_index, type, name, rank, dims,
                                                          MakeQuantization(quantization), buffer,
                                                          bytes, allocation);
  }

  TfLiteStatus SetTensorParametersReadWrite(int tensor_index, TfLiteType type, const char* name,
                                            const std::vector<int>& dims,
                                            TfLiteQuantization quantization,
                                            bool is_variable = false) {
    return primary_subgraph().SetTensorParametersReadWrite(tensor_index, type, name, dims,
                                                           quantization, is_variable);
  }
  // `dims_signature` has -1 for each dimension that ResizeInputTensorStrict may change.
  TfLiteStatus SetTensorParametersReadWrite(int tensor_index, TfLiteType type, const char* name,
                                            const std::vector<int>& dims,
                                            TfLiteQuantizationParams quantization,
                                            bool is_variable = false,
                                            const std::vector<int>* dims_signature = nullptr) {
    return SetTensorParametersReadWrite(
        tensor_index, type, name, dims.size(), dims.data(), quantization, is_variable,
        dims_signature == nullptr ? 0 : dims_signature->size(),
        dims_signature == nullptr ? nullptr : dims_signature->data());
  }
  TfLiteStatus SetTensorParametersReadWrite(int tensor_index, TfLiteType type, const char* name,
                                            size_t rank, const int* dims,
                                            TfLiteQuantizationParams quantization,
                                            bool is_variable = false,
                                            size_t rank_dims_signature = 0,
                                            const int* dims_signature = nullptr) {
    return primary_subgraph().SetTensorParametersReadWrite(
        tensor_index, type, name, rank, dims, MakeQuantization(quantization), is_variable,
        rank_dims_signature, dims_signature);
  }

  // ---- Tensors, nodes and lists -----------------------------------------------------------------

  // Indices of tensors and of the nodes that run. The next call of the same function updates the
  // returned list.
  const std::vector<int>& inputs() const { return primary_subgraph().inputs(); }
  const std::vector<int>& outputs() const { return primary_subgraph().outputs(); }
  const std::vector<int>& variables() const { return primary_subgraph().variables(); }
  const std::vector<int>& execution_plan() const { return primary_subgraph().execution_plan(); }

  // Names of the tensors at a position of inputs() or outputs(), which must be valid; null for an
  // absent tensor.
  const char* GetInputName(int index) const { return NameOf(inputs()[static_cast<size_t>(index)]); }
  const char* GetOutputName(int index) const {
    return NameOf(outputs()[static_cast<size_t>(index)]);
  }

  size_t tensors_size() const { return context_->tensors_size; }
  // Number of nodes, including those that delegates replaced.
  size_t nodes_size() const { return primary_subgraph().nodes_size(); }

  // Null for an index out of range. Pointers to tensors and nodes are valid until tensors or nodes
  // are added, which AllocateTensors, Invoke and delegates may do.
  TfLiteTensor* tensor(int tensor_index) { return primary_subgraph().tensor(tensor_index); }
  const TfLiteTensor* tensor(int tensor_index) const {
    return primary_subgraph().tensor(tensor_index);
  }
  const std::pair<TfLiteNode, TfLiteRegistration>* node_and_registration(int node_index) const {
    return primary_subgraph().node_and_registration(node_index);
  }
  const std::pair<TfLiteNode, TfLiteRegistration>* node_and_registration(int subgraph_index,
                                                                         int node_index) const {
    const Subgraph* const found = subgraph(subgraph_index);
    return found == nullptr ? nullptr : found->node_and_registration(node_index);
  }

  // Contents of a tensor; null if its type is not T.
  template <class T>
  T* typed_tensor(int tensor_index) {
    TfLiteTensor* const found = tensor(tensor_index);
    if (found == nullptr || found->type != typeToTfLiteType<std::decay_t<T>>()) return nullptr;
    return reinterpret_cast<T*>(found->data.raw);
  }
  template <class T>
  const T* typed_tensor(int tensor_index) const {
    const TfLiteTensor* const found = tensor(tensor_index);
    if (found == nullptr || found->type != typeToTfLiteType<std::decay_t<T>>()) return nullptr;
    return reinterpret_cast<const T*>(found->data.raw);
  }

  // Tensors by their position in inputs() or outputs(), which must be valid; null for an absent
  // tensor.
  TfLiteTensor* input_tensor(size_t index) { return tensor(inputs()[index]); }
  const TfLiteTensor* input_tensor(size_t index) const { return tensor(inputs()[index]); }
  TfLiteTensor* output_tensor(size_t index) { return tensor(outputs()[index]); }
  const TfLiteTensor* output_tensor(size_t index) const { return tensor(outputs()[index]); }

  template <class T>
  T* typed_input_tensor(int index) {
    return typed_tensor<T>(inputs()[static_cast<size_t>(index)]);
  }
  template <class T>
  const T* typed_input_tensor(int index) const {
    return typed_tensor<T>(inputs()[static_cast<size_t>(index)]);
  }
  template <class T>
  T* typed_output_tensor(int index) {
    return typed_tensor<T>(outputs()[static_cast<size_t>(index)]);
  }
  template <class T>
  const T* typed_output_tensor(int index) const {
    return typed_tensor<T>(outputs()[static_cast<size_t>(index)]);
  }

  // ---- Signatures -------------------------------------------------------------------------------

  // The interpreter owns the returned keys, maps and runners.
  std::vector<const std::string*> signature_keys() const {
    std::vector<const std::string*> keys;
    for (const internal::SignatureDef& signature : signature_defs_) {
      keys.push_back(&signature.signature_key);
    }
    return keys;
  }

  // Returns the runner of a signature. A null key selects the first signature of subgraph 0 or, in
  // a model without signatures, subgraph 0 with the names of its tensors. Null for an unknown key,
  // for a null key if no signature is of subgraph 0, and if a delegate of the resolver fails with
  // kTfLiteError.
  SignatureRunner* GetSignatureRunner(const char* signature_key) {
    const internal::SignatureDef* const signature = FindSignatureOrDefault(signature_key);
    if (signature == nullptr) return nullptr;
    const auto found = signature_runners_.find(signature->signature_key);
    if (found != signature_runners_.end()) return &found->second;
    if (ApplyLazyDelegateProviders() == kTfLiteError) return nullptr;
    Subgraph* const target = subgraph(static_cast<int>(signature->subgraph_index));
    const auto added =
        signature_runners_.emplace(signature->signature_key, SignatureRunner(signature, target));
    return &added.first->second;
  }

  // Return -1, an empty map or null for an unknown key or name.
  int GetSubgraphIndexFromSignature(const char* signature_key) const {
    const internal::SignatureDef* const signature = FindSignature(signature_key);
    return signature == nullptr ? -1 : static_cast<int>(signature->subgraph_index);
  }
  const std::map<std::string, uint32_t>& signature_inputs(const char* signature_key) const {
    const internal::SignatureDef* const signature = FindSignature(signature_key);
    return signature == nullptr ? no_tensors_ : signature->inputs;
  }
  const std::map<std::string, uint32_t>& signature_outputs(const char* signature_key) const {
    const internal::SignatureDef* const signature = FindSignature(signature_key);
    return signature == nullptr ? no_tensors_ : signature->outputs;
  }
  TfLiteTensor* input_tensor_by_signature(const char* signature_input_name,
                                          const char* signature_key) {
    const int index =
        GetTensorIndexFromSignature(signature_input_name, signature_key, /*is_input=*/true);
    return index < 0 ? nullptr
                     : subgraph(GetSubgraphIndexFromSignature(signature_key))->tensor(index);
  }
  const TfLiteTensor* output_tensor_by_signature(const char* signature_output_name,
                                                 const char* signature_key) const {
    const int index =
        GetTensorIndexFromSignature(signature_output_name, signature_key, /*is_input=*/false);
    return index < 0 ? nullptr
                     : subgraph(GetSubgraphIndexFromSignature(signature_key))->tensor(index);
  }

  // ---- Execution --------------------------------------------------------------------------------

  // Change the shape of an input; with Strict only dimensions that the model leaves open.
  // AllocateTensors must follow.
  TfLiteStatus ResizeInputTensor(int tensor_index, const std::vector<int>& dims) {
    return primary_subgraph().ResizeInputTensor(tensor_index, dims);
  }
  TfLiteStatus ResizeInputTensorStrict(int tensor_index, const std::vector<int>& dims) {
    return primary_subgraph().ResizeInputTensorStrict(tensor_index, dims);
  }

  // Computes shapes and allocates memory. Must be called before the first Invoke and after each
  // change of a shape.
  TfLiteStatus AllocateTensors() {
    if (ApplyLazyDelegateProviders() == kTfLiteError) return kTfLiteError;
    const ScopedProfile profile(GetProfiler(), "AllocateTensors");
    if (options_ == nullptr || !options_->GetPreserveAllTensors()) {
      return TfLiteInterpreterAllocateTensors(interpreter_);
    }
    return preserved_tensors_.Allocate(interpreter_, context_,
                                       primary_subgraph().memory_of_program_);
  }

  // Frees the memory that AllocateTensors has allocated for tensors other than variables;
  // AllocateTensors must follow.
  TfLiteStatus ReleaseNonPersistentMemory() {
    return DeputyInterpreterReleaseNonPersistentMemory(interpreter_);
  }

  // Computes the outputs. kTfLiteCancelled after Cancel, kTfLiteError after another failure, which
  // has been reported.
  TfLiteStatus Invoke() {
    if (root_profiler_ != nullptr) return InvokeProfiled();
    const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_);
    if (releases_dynamic_tensors_) ReleaseDynamicTensors();
    return status;
  }

  // Sets the number of threads: 0 and 1 are one thread, -1 the default.
  TfLiteStatus SetNumThreads(int num_threads) {
    return DeputyInterpreterSetNumThreads(interpreter_, num_threads);
  }

  // Permits delegates to compute float32 with 16 bits.
  void SetAllowFp16PrecisionForFp32(bool allow) {
    for (const auto& subgraph : subgraphs_) subgraph->context()->allow_fp32_relax_to_fp16 = allow;
  }
  bool GetAllowFp16PrecisionForFp32() const { return context_->allow_fp32_relax_to_fp16; }

  // Sets all variables to their initial value: 0, or the zero point of int8 ones.
  TfLiteStatus ResetVariableTensors() {
    for (const auto& subgraph : subgraphs_) {
      TF_LITE_ENSURE_STATUS(subgraph->ResetVariableTensors());
    }
    return kTfLiteOk;
  }

  // Sets a function that is called before each node or fusion group; Invoke fails if it returns
  // true. `data` is borrowed.
  void SetCancellationFunction(void* data, bool (*check_cancelled_func)(void*)) {
    DeputyInterpreterSetCancellationFunction(interpreter_, data, check_cancelled_func);
  }

  // EnableCancellation permits Cancel, which stops a running Invoke and may be called on any
  // thread. Cancel returns kTfLiteError unless it is permitted.
  TfLiteStatus EnableCancellation() { return DeputyInterpreterEnableCancellation(interpreter_); }
  TfLiteStatus Cancel() { return TfLiteInterpreterCancel(interpreter_); }

  // ---- Delegates --------------------------------------------------------------------------------

  // Offers the graph to a delegate, which is borrowed and must outlive the interpreter. After
  // kTfLiteDelegateError all delegates have been removed; after another error the graph is usable.
  TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate) {
    return ModifyGraphWithDelegateImpl(delegate);
  }
  TfLiteStatus ModifyGraphWithDelegate(TfLiteOpaqueDelegateStruct* delegate) {
    return ModifyGraphWithDelegateImpl(reinterpret_cast<TfLiteDelegate*>(delegate));
  }

  // Offers only the listed subgraphs to the delegate.
  TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate,
                                       const std::vector<int>& active_subgraph_indices) {
    const ScopedProfile profile(GetProfiler(), "ModifyGraphWithDelegate");
    return DeputyInterpreterModifySubgraphs(interpreter_, delegate, active_subgraph_indices.data(),
                                            static_cast<int32_t>(active_subgraph_indices.size()));
  }
  TfLiteStatus ModifyGraphWithDelegate(TfLiteOpaqueDelegateStruct* delegate,
                                       const std::vector<int>& active_subgraph_indices) {
    return ModifyGraphWithDelegate(reinterpret_cast<TfLiteDelegate*>(delegate),
                                   active_subgraph_indices);
  }

  // Takes ownership of the delegate, also if it cannot be applied, and deletes it after the graph.
  template <typename Delegate, typename Deleter>
  TfLiteStatus ModifyGraphWithDelegate(std::unique_ptr<Delegate, Deleter> delegate) {
    return ModifyGraphWithDelegateImpl(std::move(delegate));
  }
  // The default deleter cannot delete a delegate: its class is not known.
  TfLiteStatus ModifyGraphWithDelegate(std::unique_ptr<TfLiteDelegate> delegate) = delete;

  // Copies a tensor from its delegate's buffer to host memory if the host memory is older.
  TfLiteStatus EnsureTensorDataIsReadable(int tensor_index) {
    return primary_subgraph().EnsureTensorDataIsReadable(tensor_index);
  }

  // Attach a delegate's buffer to a tensor and release the previous one.
  TfLiteStatus SetBufferHandle(int tensor_index, TfLiteBufferHandle buffer_handle,
                               TfLiteDelegate* delegate) {
    return SetBufferHandle(tensor(tensor_index), buffer_handle, delegate);
  }
  TfLiteStatus SetBufferHandle(TfLiteTensor* tensor, TfLiteBufferHandle buffer_handle,
                               TfLiteDelegate* delegate) {
    return primary_subgraph().SetBufferHandle(tensor, buffer_handle, delegate,
                                              /*release_existing_buffer_handle=*/true);
  }

  TfLiteStatus GetBufferHandle(int tensor_index, TfLiteBufferHandle* buffer_handle,
                               TfLiteDelegate** delegate) {
    const TfLiteTensor* const found = tensor(tensor_index);
    if (found == nullptr) return kTfLiteError;
    *buffer_handle = found->buffer_handle;
    *delegate = found->delegate;
    return kTfLiteOk;
  }

  // Permits that outputs stay in buffers of delegates after Invoke.
  void SetAllowBufferHandleOutput(bool allow_buffer_handle_output) {
    allow_buffer_handle_output_ = allow_buffer_handle_output;
    TfLiteSetAllowBufferHandleOutput(interpreter_, allow_buffer_handle_output);
  }

  // ---- Memory, profiling and options ------------------------------------------------------------

  // Makes a tensor use memory of the program, which must be aligned to 64 bytes unless `flags`
  // skips that check, and must stay valid. AllocateTensors, which must follow, fails if the memory
  // is too small.
  TfLiteStatus SetCustomAllocationForTensor(int tensor_index,
                                            const TfLiteCustomAllocation& allocation,
                                            int64_t flags = kTfLiteCustomAllocationFlagsNone) {
    return primary_subgraph().SetCustomAllocationForTensor(tensor_index, allocation, flags);
  }

  // Sets an object that kernels of a library share; it is borrowed.
  void SetExternalContext(TfLiteExternalContextType type, TfLiteExternalContext* ctx) {
    primary_subgraph().SetExternalContext(type, ctx);
  }

  // SetProfiler replaces all profilers; null removes them. AddProfiler adds one; null is ignored. A
  // raw pointer is borrowed. A callback may add, but not replace profilers.
  void SetProfiler(Profiler* profiler) {
    RemoveProfilers();
    AddProfiler(profiler);
  }
  void SetProfiler(std::unique_ptr<Profiler> profiler) {
    RemoveProfilers();
    AddProfiler(std::move(profiler));
  }
  void AddProfiler(Profiler* profiler) {
    if (profiler == nullptr) return;
    EnsureRootProfiler();
    root_profiler_->AddProfiler(profiler);
  }
  void AddProfiler(std::unique_ptr<Profiler> profiler) {
    if (profiler == nullptr) return;
    EnsureRootProfiler();
    root_profiler_->AddProfiler(std::move(profiler));
  }
  // Returns the profiler of the context of subgraph 0; null if there is none.
  Profiler* GetProfiler() { return primary_subgraph().GetProfiler(); }

  // Applies options that can change after the interpreter was built; the object is copied.
  TfLiteStatus ApplyOptions(InterpreterOptions* options) { return ApplyOptionsImpl(options); }

  size_t subgraphs_size() const { return subgraphs_.size(); }
  // Null for an index out of range.
  Subgraph* subgraph(int subgraph_index) {
    return const_cast<Subgraph*>(std::as_const(*this).subgraph(subgraph_index));
  }
  const Subgraph* subgraph(int subgraph_index) const {
    if (subgraph_index < 0 || static_cast<size_t>(subgraph_index) >= subgraphs_.size()) {
      return nullptr;
    }
    return subgraphs_[static_cast<size_t>(subgraph_index)].get();
  }
  Subgraph& primary_subgraph() { return *subgraphs_.front(); }
  const Subgraph& primary_subgraph() const { return *subgraphs_.front(); }

  // Returns a kernel's description of a node for profiles; null if it has none.
  const char* OpProfilingString(const TfLiteRegistration& op_reg, const TfLiteNode* node) const {
    return op_reg.profiling_string == nullptr ? nullptr : op_reg.profiling_string(context_, node);
  }

  ErrorReporter* error_reporter() const { return error_reporter_; }

  // Deputy's own: the interpreter of the C API, for the functions of deputy.h. It belongs to this
  // object.
  TfLiteInterpreter* c_interpreter() const { return interpreter_; }

 private:
  friend class tflite::impl::InterpreterBuilder;
  friend class tflite::InterpreterTest;
  friend class tflite::model_builder::ModelBuilder;
  friend class tflite::SingleOpModel;
  friend class tflite::delegates::InterpreterUtils;
  friend class tflite::delegates::test_utils::TestDelegation;
  friend class tflite::interpreter_wrapper::InterpreterWrapper;

  using TfLiteDelegateCreator = std::function<TfLiteDelegatePtr(TfLiteContext*)>;
  using TfLiteDelegateCreators = std::vector<TfLiteDelegateCreator>;

  // Takes ownership of an interpreter of the C API.
  Interpreter(TfLiteInterpreter* interpreter, ErrorReporter* error_reporter)
      : interpreter_(interpreter), error_reporter_(ReporterOrDefault(error_reporter)) {
    // Prints in builds without NDEBUG only, as in TensorFlow Lite.
    TFLITE_LOG_ONCE(TFLITE_LOG_INFO, "Initialized TensorFlow Lite runtime.");
    AppendSubgraphs();
    context_ = primary_subgraph().context();
  }

  static ErrorReporter* ReporterOrDefault(ErrorReporter* reporter) {
    return reporter != nullptr ? reporter : DefaultErrorReporter();
  }

  static TfLiteQuantization MakeQuantization(const TfLiteQuantizationParams& params) {
    auto* const affine =
        static_cast<TfLiteAffineQuantization*>(std::calloc(1, sizeof(TfLiteAffineQuantization)));
    affine->scale = TfLiteFloatArrayCreate(1);
    affine->scale->data[0] = params.scale;
    affine->zero_point = TfLiteIntArrayCreate(1);
    affine->zero_point->data[0] = params.zero_point;
    return {kTfLiteAffineQuantization, affine};
  }

  const char* NameOf(int tensor_index) const {
    const TfLiteTensor* const found = tensor(tensor_index);
    return found == nullptr ? nullptr : found->name;
  }

  // Adds objects for the subgraphs of the library that have none.
  void AppendSubgraphs() {
    const int32_t count = DeputyInterpreterGetSubgraphCount(interpreter_);
    for (int32_t i = static_cast<int32_t>(subgraphs_.size()); i < count; ++i) {
      subgraphs_.emplace_back(new Subgraph(interpreter_, i, &subgraphs_));
      if (root_profiler_ != nullptr) subgraphs_.back()->SetProfiler(root_profiler_.get(), i);
      if (options_ != nullptr) subgraphs_.back()->SetOptions(options_.get());
    }
  }

  void AddSubgraphs(int subgraphs_to_add, int* first_new_subgraph_index = nullptr) {
    DeputyInterpreterAddSubgraphs(interpreter_, subgraphs_to_add, first_new_subgraph_index);
    AppendSubgraphs();
  }

  TfLiteStatus SetExecutionPlan(const std::vector<int>& new_plan) {
    return primary_subgraph().SetExecutionPlan(new_plan);
  }

  // ---- Signatures

  void SetSignatureDef(std::vector<internal::SignatureDef> signature_defs) {
    signature_defs_ = std::move(signature_defs);
  }

  const internal::SignatureDef* FindSignature(const char* key) const {
    for (const internal::SignatureDef& signature : signature_defs_) {
      if (key != nullptr && signature.signature_key == key) return &signature;
    }
    return nullptr;
  }

  const internal::SignatureDef* FindSignatureOrDefault(const char* key) {
    if (key != nullptr) return FindSignature(key);
    if (signature_defs_.empty()) return PlaceholderSignature();
    for (const internal::SignatureDef& signature : signature_defs_) {
      if (signature.subgraph_index == 0) return &signature;
    }
    error_reporter_->Report(
        "The model has signature def but none of those points to primary subgraph.");
    return nullptr;
  }

  // Returns a signature of subgraph 0 that names its inputs and outputs like their tensors, or
  // "input0", "output0" and so on.
  const internal::SignatureDef* PlaceholderSignature() {
    if (placeholder_signature_ != nullptr) return placeholder_signature_.get();
    placeholder_signature_ = std::make_unique<internal::SignatureDef>();
    placeholder_signature_->signature_key = "<placeholder signature>";
    const auto name = [&](const std::vector<int>& tensors, const std::string& prefix,
                          std::map<std::string, uint32_t>* out_names) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        const TfLiteTensor* const named = tensor(tensors[i]);
        const bool has_name = named != nullptr && named->name != nullptr && named->name[0] != '\0';
        (*out_names)[has_name ? named->name : prefix + std::to_string(i)] =
            static_cast<uint32_t>(tensors[i]);
      }
    };
    name(inputs(), "input", &placeholder_signature_->inputs);
    name(outputs(), "output", &placeholder_signature_->outputs);
    return placeholder_signature_.get();
  }

  int GetTensorIndexFromSignature(const char* tensor_name, const char* signature_key,
                                  bool is_input) const {
    const internal::SignatureDef* const signature = FindSignature(signature_key);
    if (signature == nullptr || tensor_name == nullptr) return -1;
    const auto& names = is_input ? signature->inputs : signature->outputs;
    const auto found = names.find(tensor_name);
    return found == names.end() ? -1 : static_cast<int>(found->second);
  }

  // ---- Delegates

  TfLiteStatus ModifyGraphWithDelegateImpl(TfLiteDelegate* delegate) {
    const ScopedProfile profile(GetProfiler(), "ModifyGraphWithDelegate");
    return TfLiteInterpreterModifyGraphWithDelegate(interpreter_, delegate);
  }

  template <typename Delegate, typename Deleter>
  TfLiteStatus ModifyGraphWithDelegateImpl(std::unique_ptr<Delegate, Deleter>&& delegate) {
    Deleter deleter = std::move(delegate.get_deleter());
    owned_delegates_.emplace_back(delegate.release(), [deleter](TfLiteDelegate* owned) mutable {
      deleter(static_cast<typename std::unique_ptr<Delegate, Deleter>::pointer>(owned));
    });
    return ModifyGraphWithDelegateImpl(owned_delegates_.back().get());
  }

  // Creates and applies the resolver's delegates, once. kTfLiteError stops the caller; after other
  // failures the graph runs without them.
  TfLiteStatus ApplyLazyDelegateProviders() {
    if (lazy_delegate_providers_.empty() || IsFullyDelegated()) return kTfLiteOk;
    TfLiteDelegateCreators creators;
    creators.swap(lazy_delegate_providers_);
    for (const TfLiteDelegateCreator& create : creators) {
      TfLiteDelegatePtr delegate = create(context_);
      if (delegate == nullptr) continue;
      const TfLiteStatus status = ModifyGraphWithDelegateImpl(std::move(delegate));
      if (status == kTfLiteError) {
        error_reporter_->Report("Failed to apply a default TensorFlow Lite delegate.");
      }
      if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
  }

  TfLiteStatus RemoveAllDelegates() { return DeputyInterpreterRemoveDelegates(interpreter_); }

  // Metadata come from a model only: always kTfLiteError, after a report.
  TfLiteStatus SetMetadata(const std::map<std::string, std::string>& /*metadata*/) {
    TF_LITE_REPORT_ERROR(error_reporter(), "Metadata of an interpreter cannot be set.");
    return kTfLiteError;
  }
  bool HasDelegates() { return primary_subgraph().HasDelegates(); }
  bool IsFullyDelegated() const { return primary_subgraph().IsFullyDelegated(); }

  // ---- Profiling and options

  void EnsureRootProfiler() {
    if (root_profiler_ != nullptr) return;
    root_profiler_ = std::make_unique<profiling::RootProfiler>();
    operator_events_ = std::make_unique<profiling::OperatorEvents>(root_profiler_.get());
    DeputyInterpreterSetTelemetryProfiler(interpreter_, operator_events_->callbacks());
    SetSubgraphProfilers();
  }

  void RemoveProfilers() {
    if (root_profiler_ == nullptr) return;
    DeputyInterpreterSetTelemetryProfiler(interpreter_, nullptr);
    operator_events_.reset();
    root_profiler_.reset();
    SetSubgraphProfilers();
  }

  void SetSubgraphProfilers() {
    for (size_t i = 0; i < subgraphs_.size(); ++i) {
      subgraphs_[i]->SetProfiler(root_profiler_.get(), static_cast<int>(i));
    }
  }

  TfLiteStatus InvokeProfiled() {
    ScopedRuntimeInstrumentationProfile profile(root_profiler_.get(), "invoke");
    const TfLiteStatus status = TfLiteInterpreterInvoke(interpreter_);
    profile.set_runtime_status(0, status);
    if (releases_dynamic_tensors_) ReleaseDynamicTensors();
    return status;
  }

  TfLiteStatus ApplyOptionsImpl(InterpreterOptions* options) {
    if (options == nullptr) return kTfLiteOk;
    // `options` may be the object that this replaces.
    options_ = std::make_unique<InterpreterOptions>(*options);
    releases_dynamic_tensors_ = options_->GetEnsureDynamicTensorsAreReleased();
    for (const auto& subgraph : subgraphs_) subgraph->SetOptions(options_.get());
    return kTfLiteOk;
  }

  // Frees dynamic tensors that are no inputs, outputs or variables; the next Invoke allocates them
  // again.
  void ReleaseDynamicTensors() {
    for (const auto& subgraph : subgraphs_) {
      std::vector<bool> is_kept(subgraph->tensors_size());
      for (const auto* list : {&subgraph->inputs(), &subgraph->outputs(), &subgraph->variables()}) {
        for (const int index : *list) {
          // Absent inputs, and outputs of an invalid model, are -1.
          if (subgraph->tensor(index) != nullptr) is_kept[static_cast<size_t>(index)] = true;
        }
      }
      for (size_t i = 0; i < is_kept.size(); ++i) {
        TfLiteTensor* const tensor = subgraph->tensor(static_cast<int>(i));
        if (!is_kept[i] && tensor->allocation_type == kTfLiteDynamic) TfLiteTensorDataFree(tensor);
      }
    }
  }

  void ClearSharedCaches() {
    const auto* const shared = static_cast<ExternalCpuBackendContext*>(
        context_->GetExternalContext(context_, kTfLiteCpuBackendContext));
    if (shared != nullptr && shared->internal_backend_context() != nullptr) {
      shared->internal_backend_context()->ClearCaches();
    }
  }

  TfLiteInterpreter* interpreter_;  // owned
  TfLiteContext* context_ = nullptr;
  ErrorReporter* error_reporter_;  // borrowed
  bool allow_buffer_handle_output_ = false;
  bool releases_dynamic_tensors_ = false;
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  // The model, if a builder created the interpreter.
  std::shared_ptr<void> model_;
  std::vector<std::unique_ptr<TfLiteDelegate, std::function<void(TfLiteDelegate*)>>>
      owned_delegates_;
  std::unique_ptr<profiling::RootProfiler> root_profiler_;
  std::unique_ptr<profiling::OperatorEvents> operator_events_;
  TfLiteDelegateCreators lazy_delegate_providers_;
  std::vector<internal::SignatureDef> signature_defs_;
  std::unique_ptr<internal::SignatureDef> placeholder_signature_;
  std::map<std::string, SignatureRunner> signature_runners_;
  std::map<std::string, uint32_t> no_tensors_;
  std::unique_ptr<InterpreterOptions> options_;
  PreservedTensors preserved_tensors_;
};

}  // namespace impl

using Interpreter = impl::Interpreter;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_INTERPRETER_H_
