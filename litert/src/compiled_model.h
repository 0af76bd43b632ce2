// SPDX-License-Identifier: Apache-2.0
//
// A compiled model: an interpreter of Deputy with the delegates of the selected accelerators.
#ifndef DEPUTY_LITERT_SRC_COMPILED_MODEL_H_
#define DEPUTY_LITERT_SRC_COMPILED_MODEL_H_

#include <cstdarg>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/support/verification.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "deputy/deputy_graph.h"
#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/src/accelerator.h"
#include "litert/src/buffer_context.h"
#include "litert/src/custom_operator.h"
#include "litert/src/dispatch_delegate.h"
#include "litert/src/layers.h"
#include "litert/src/metrics.h"
#include "litert/src/model.h"
#include "litert/src/options.h"
#include "litert/src/payload.h"
#include "litert/src/plugin_compilation.h"
#include "litert/src/profiler.h"
#include "litert/src/requirements.h"
#include "litert/src/tensor_buffer.h"

class LiteRtCompiledModelT {
 public:
  explicit LiteRtCompiledModelT(LiteRtEnvironment environment);
  ~LiteRtCompiledModelT();
  LiteRtCompiledModelT(const LiteRtCompiledModelT&) = delete;
  LiteRtCompiledModelT& operator=(const LiteRtCompiledModelT&) = delete;

  // Creates the interpreter and applies the delegates. This object keeps a reference to the model.
  LiteRtStatus Compile(const LiteRtModelT& model, LiteRtOptions options);

  using Buffers = std::span<const LiteRtTensorBuffer>;
  // Properties of a run.
  struct RunSettings {
    // Not null: outputs may be incomplete when the run returns, and have events. The run stores
    // whether they have.
    bool* is_async = nullptr;
    LiteRtOptions options = nullptr;
    const LiteRtSchedulingInfo* scheduling = nullptr;
  };
  LiteRtStatus Run(size_t signature, Buffers inputs, Buffers outputs, const RunSettings& settings);

  // Dimensions of an input are open if its shape signature has -1; a strict resize changes only
  // these.
  LiteRtStatus Resize(size_t signature, size_t input, std::span<const int> dims, bool is_strict);
  LiteRtStatus InputLayout(size_t signature, size_t input, LiteRtLayout* out_layout);
  LiteRtStatus OutputLayouts(size_t signature, std::span<LiteRtLayout> layouts, bool allocates);
  // Stores the requirements of an input or output, which belong to this object.
  LiteRtStatus Requirements(size_t signature, size_t index, bool is_input,
                            LiteRtTensorBufferRequirements* out_requirements);

  LiteRtStatus SetCancellationFunction(void* data, bool (*is_cancelled)(void* data));

  LiteRtStatus StartMetrics(int detail_level);
  LiteRtStatus StopMetrics(LiteRtMetrics metrics);

  bool is_fully_accelerated() const { return cpu_nodes_ == 0 || cpu_accelerates_; }
  bool is_fully_delegated() const { return cpu_nodes_ == 0 && has_nodes_; }
  size_t signature_count() const { return signatures_.size(); }
  LiteRtEnvironment environment() const { return environment_; }
  LiteRtProfiler profiler() { return profiler_.get(); }

  LiteRtErrorReporterMode reporter_mode() const { return runtime_.reporter; }
  void Report(const char* format, va_list arguments);
  std::string& errors() { return errors_; }

  std::map<std::pair<size_t, std::string>, std::string> annotations;  // by signature and key
  LiteRtSchedulingInfo scheduling = {};

 private:
  // A subgraph, which several signatures may have.
  struct SubgraphState {
    bool needs_allocation = true;
    std::map<int32_t, TfLiteCustomAllocation> memory;  // of buffers and bindings, by tensor
  };
  // An input that uses memory of the client permanently.
  struct Binding {
    int32_t subgraph = 0, tensor = 0;
    TfLiteCustomAllocation memory = {};
  };
  // A signature that can run: its subgraph, and its tensors in the subgraph's order.
  struct Signature {
    int32_t subgraph = 0;
    std::vector<int32_t> inputs, outputs;
    bool is_selected = true;
    // By input, then by output: whether the delegate's node can use a buffer of the environment's
    // OpenCL context.
    std::vector<bool> is_on_device;
    // By input, then by output.
    std::vector<std::unique_ptr<LiteRtTensorBufferRequirementsT>> requirements;
  };
  struct AppliedDelegate {
    const LiteRtAcceleratorT* accelerator = nullptr;
    std::unique_ptr<LiteRtDelegateWrapperT> wrapper;
    deputy::litert::LayeredDelegate layered;  // null: no layers

    // The delegate of the interpreter's nodes.
    TfLiteDelegate* delegate() const {
      return layered != nullptr ? layered.get()
                                : reinterpret_cast<TfLiteDelegate*>(wrapper->delegate);
    }
    bool uses_buffers = false;  // it has registered requirements on buffers
  };
  // A buffer that is locked during a run.
  struct Locked {
    LiteRtTensorBufferT* buffer = nullptr;
    char* address = nullptr;
  };
  class UnlockAtEnd;

  LiteRtStatus CompileNow(const LiteRtModelT& model, LiteRtOptions options);
  void Reset();
  LiteRtStatus FindOriginal(const LiteRtModelT** out_original);
  LiteRtStatus FallBack(const LiteRtModelT& original);
  // Verification (compiled_model_verify.cc).
  static deputy::Verification GivenVerification();
  LiteRtStatus CreateReference();
  LiteRtStatus RunReference(size_t signature, Buffers inputs, bool perturbs);
  LiteRtStatus CompareWithCpu(size_t signature, Buffers inputs, Buffers outputs,
                              bool* out_is_wrong);
  bool IsWrong(size_t signature, Buffers inputs, Buffers outputs);
  LiteRtStatus CreateInterpreter(const LiteRtModelT& model, const LiteRtOptionsT& options);
  LiteRtStatus BindTensors(const LiteRtModelT& model, const LiteRtOptionsT& options);
  LiteRtStatus ApplyDelegates(LiteRtOptions options);
  void CountNodes();
  LiteRtStatus FindSignature(size_t index, Signature** out_signature);
  TfLiteTensor* TensorOf(const Signature& signature, int32_t index) const;
  LiteRtStatus Lock(LiteRtTensorBufferT* buffer, LiteRtTensorBufferLockMode mode,
                    char** out_address);
  LiteRtStatus BindInput(const Signature& signature, size_t index, LiteRtTensorBufferT* buffer);
  LiteRtStatus BindOutput(const Signature& signature, size_t index, LiteRtTensorBufferT* buffer);
  LiteRtStatus ResizeToBuffer(const Signature& signature, size_t index,
                              const LiteRtTensorBufferT& buffer);
  LiteRtStatus SetMemory(const Signature& signature, int32_t tensor, char* address, size_t bytes);
  LiteRtStatus UseBinding(const Signature& signature, int32_t tensor);
  // Returns the tensors of a subgraph to memory of the interpreter.
  void ForgetMemory(int32_t subgraph);
  SubgraphState& StateOf(const Signature& signature) {
    return states_[static_cast<size_t>(signature.subgraph)];
  }
  static void EndTasks(Buffers outputs);
  LiteRtStatus RunLocked(const Signature& signature, Buffers inputs, Buffers outputs);
  // Buffers on the device (compiled_model_opencl.cc).
  void FindDeviceTensors(Signature* signature);
  bool UsesDevice(const Signature& signature, size_t position,
                  const LiteRtTensorBufferT* buffer) const {
    return buffer != nullptr && buffer->opencl != nullptr && signature.is_on_device[position] &&
           buffer->opencl->open_cl().objects().context == device_context_;
  }
  void LeaveHostMemory(const Signature& signature, Buffers inputs, Buffers outputs);
  LiteRtStatus BindDeviceBuffers(const Signature& signature, Buffers inputs, Buffers outputs);
  LiteRtStatus BindToDevice(const Signature& signature, int32_t tensor,
                            LiteRtTensorBufferT* buffer);
  // Passes a buffer to the delegates that use a tensor. Returns false if they need host memory.
  bool PassBuffer(const Signature& signature, int32_t tensor, LiteRtTensorBufferT* buffer);
  // Returns the requirements of delegates on a tensor; null if it needs host memory.
  const LiteRtTensorBufferRequirementsT* DelegateRequirements(const Signature& signature,
                                                              int32_t tensor) const;
  // Returns true if an output cannot be computed in the memory of a buffer.
  bool IsCopied(const Signature& signature, const TfLiteTensor& tensor, int32_t index) const;
  LiteRtStatus CopyOutputs(const Signature& signature, Buffers outputs);
  LiteRtStatus Allocate(const Signature& signature);
  LiteRtStatus Invoke(const Signature& signature);
  static void OnEvent(void* user_data, const DeputyOpEvent* event);

  const LiteRtEnvironment environment_;
  std::optional<deputy::litert::ModelReference> model_;
  deputy::litert::RuntimeSettings runtime_;
  deputy::litert::CpuSettings cpu_;
  // Compiler plug-ins have compiled operators of the model, now or for its file. The CPU runs the
  // original model with these options if a run fails.
  bool can_fall_back_ = false;
  // Verification of runs while the CPU can run the original model.
  deputy::Verification verification_;
  int64_t runs_ = 0;
  std::unique_ptr<LiteRtCompiledModelT> reference_;  // on the CPU; null until it is needed
  std::unique_ptr<LiteRtModelT> kept_original_;      // of a compiled file, if it was needed
  LiteRtOptionsT cpu_options_;
  LiteRtHwAcceleratorSet excluded_ = kLiteRtHwAcceleratorNone;  // have failed
  bool has_failed_ = false;                                     // a node of the last run failed
  bool was_cancelled_ = false;                                  // by the client's function
  void* cancellation_data_ = nullptr;
  bool (*is_cancelled_)(void* data) = nullptr;
  deputy::litert::PluginCompilation compilation_;  // outlives the interpreter and the delegates
  std::unique_ptr<LiteRtProfilerT> profiler_;
  std::string errors_;
  std::vector<std::unique_ptr<deputy::litert::CustomOperator>> custom_operators_;
  deputy::litert::MissingDispatch missing_dispatch_;
  LiteRtExternalLiteRtBufferContextT buffers_;
  TfLiteDelegate context_setter_;  // claims no node, sets the external context
  std::vector<AppliedDelegate> delegates_;
  TfLiteInterpreter* interpreter_ = nullptr;
  std::vector<Signature> signatures_;
  std::vector<SubgraphState> states_;  // by subgraph
  std::vector<Binding> bindings_;
  void* device_context_ = nullptr;  // the environment's cl_context, if tensors are on the device
  // Memory and size of the buffers that the interpreter uses on the device, by subgraph and tensor.
  // A delegate holds references to the memory.
  std::map<std::pair<int32_t, int32_t>, std::pair<LiteRtClMem, size_t>> device_buffers_;
  bool calls_subgraphs_ = false;  // operators use memory of other subgraphs
  bool is_running_ = false;
  std::vector<Locked> locked_;  // during a run
  // Tensors and buffers that are passed to delegates, during a run.
  std::vector<std::pair<int32_t, const LiteRtTensorBufferT*>> passed_;
  int cpu_nodes_ = 0;
  std::set<deputy::litert::TensorId> host_tensors_;  // that nodes use in host memory
  bool lacks_dispatch_ = false;                      // a node with byte code has no delegate
  bool has_nodes_ = false, has_cpu_ = false, cpu_accelerates_ = false;
};

#endif  // DEPUTY_LITERT_SRC_COMPILED_MODEL_H_
