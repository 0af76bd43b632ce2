// SPDX-License-Identifier: Apache-2.0
//
// Implementation of MSModelHandle: a model of libdeputy with its interpreter and the context's
// delegate.
#ifndef DEPUTY_MINDSPORE_SRC_MODEL_H_
#define DEPUTY_MINDSPORE_SRC_MODEL_H_

#include <cstdarg>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "deputy/deputy.h"
#include "deputy/telemetry_profiler.h"
#include "mindspore/include/delegate_c.h"
#include "mindspore/ms/convert.h"
#include "mindspore/src/adapter.h"
#include "mindspore/src/config.h"
#include "mindspore/src/context.h"
#include "mindspore/src/registry.h"
#include "mindspore/src/tensor.h"

namespace deputy::ms_api {

// The tensors of an interpreter's main subgraph.
class InterpreterTensors : public TensorSource {
 public:
  InterpreterTensors(TfLiteInterpreter* interpreter, std::shared_ptr<DeviceAddresses> addresses)
      : interpreter_(interpreter), addresses_(std::move(addresses)) {}

  TfLiteTensor* At(int index) override { return TfLiteInterpreterGetTensor(interpreter_, index); }
  bool HasMemory(int /*index*/) override { return true; }
  bool IsInner(int /*index*/) override { return false; }
  bool SetShape(int /*index*/, std::span<const int64_t> /*shape*/) override { return false; }
  bool AcceptsData(int index) override;
  DeviceAddresses* addresses() override { return addresses_.get(); }

 private:
  TfLiteInterpreter* interpreter_;
  const std::shared_ptr<DeviceAddresses> addresses_;
};

struct ModelDeleter {
  void operator()(TfLiteModel* model) const { TfLiteModelDelete(model); }
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
  void operator()(TfLiteInterpreterOptions* options) const {
    TfLiteInterpreterOptionsDelete(options);
  }
  void operator()(DeputyThreadPool* pool) const { DeputyThreadPoolDelete(pool); }
  void operator()(TfLiteDelegate* delegate) const { DeputyPluginDeleteDelegate(delegate); }
  void operator()(Context* context) const { context->Release(); }
};

// A model of libdeputy with the bytes to which it refers. The interpreters of several Models may
// share it, with the constants and their packed forms.
struct LoadedModel {
  std::vector<char> bytes;  // empty if the model is a mapped file
  std::unique_ptr<TfLiteModel, ModelDeleter> model;
  std::vector<ms::UnmappedNode> unmapped = {};  // nodes of a .ms file without an equivalent
};

// The callbacks of one inference.
struct Callbacks {
  DeputyMSKernelCallBack before = nullptr;
  DeputyMSKernelCallBack after = nullptr;
  void* user_data = nullptr;
};

class Model {
 public:
  Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  static Model* Of(MSModelHandle handle) { return static_cast<Model*>(handle); }

  MSStatus Build(const void* data, size_t size, MSModelType type, MSContextHandle context);
  MSStatus BuildFromFile(const char* path, MSModelType type, MSContextHandle context);
  // Builds another interpreter of `source`, which is built: shares its context and constants.
  MSStatus BuildLike(const Model& source);
  // Sets the configuration of a model that is not built.
  void set_config(const Config& config) { config_ = config; }
  // Makes the model the `index`th of `count` workers: a core list for the threads of all of them is
  // divided. Precedes Build.
  void set_worker(size_t index, size_t count) {
    worker_index_ = index;
    worker_count_ = count;
  }
  // Sets the number of threads of models whose context leaves it to the runtime. Precedes Build.
  void set_default_threads(int32_t count) { default_threads_ = count; }
  MSStatus Resize(const MSTensorHandleArray& inputs, const MSShapeInfo* shapes, size_t count);
  MSStatus Predict(const MSTensorHandleArray& inputs, MSTensorHandleArray* outputs,
                   const Callbacks& callbacks);

  // Returns the model's outputs that a node computes; empty if there is none.
  const std::vector<MSTensorHandle>& OutputsOfNode(const std::string& name);
  MSStatus LoadConfig(const char* path);
  MSStatus UpdateConfig(const char* section, const char* key, const char* value);

  const Config& config() const { return config_; }
  const std::vector<MSTensorHandle>& inputs() const { return inputs_; }
  const std::vector<MSTensorHandle>& outputs() const { return outputs_; }
  const TfLiteInterpreter* interpreter() const { return interpreter_.get(); }

 private:
  // A node as presented to callbacks.
  struct NodeView {
    std::string name, type;
    std::vector<MSTensorHandle> inputs, outputs;
  };
  using Bytes = std::vector<char>;
  // Source of a model: the first member that is set.
  struct Source {
    std::shared_ptr<const LoadedModel> loaded = {};
    const char* path = nullptr;
    Bytes bytes = {};
  };

  static void ReportError(void* user_data, const char* format, va_list arguments);

  MSStatus CheckBuild(MSModelType type, MSContextHandle context);
  int32_t ThreadCount() const;
  void TakeCoresOfWorker();
  void AdoptContext(MSContextHandle context);
  MSStatus BuildWith(Source source);
  MSStatus BuildSteps(Source source);
  MSStatus MakeAdapter();
  MSStatus LoadModel(Source source);
  void ReadNodeNames(const Bytes& ms);
  MSStatus MakeInterpreter();
  MSStatus ApplyDelegates();
  MSStatus ApplyDelegate(TfLiteDelegate* delegate);
  MSStatus ApplyDeviceDelegate();
  void LogUnusedDevices() const;
  MSStatus ApplyRegisteredKernels();
  bool MayUseRegisteredKernels() const;
  MSStatus CheckPlacement();
  void CheckHalfPrecision() const;
  // Returns true if a delegate of the context or a registered kernel of a provider may claim
  // operators that the library has no kernel for. Libraries of devices are not considered.
  bool MayBeClaimed() const;
  // Reports the nodes of a .ms file that neither the library nor a delegate can compute.
  MSStatus FailUnclaimed();
  void MakeViews();
  const NodeView& ViewOf(int node);
  void CallBack(DeputyMSKernelCallBack callback, int node);
  void ClearFailures();
  // Reports a failed call of the interpreter and returns its status: that of the delegate or of the
  // registered kernels, if one of them failed; otherwise `otherwise`.
  MSStatus FailedCall(const char* call, MSStatus otherwise);
  MSStatus CheckInput(size_t index, MSTensorHandle handle);
  MSStatus CopyInput(size_t index, MSTensorHandle handle);
  MSStatus CopyTexts(size_t index, Tensor* given);
  MSStatus CheckDeviceInput(size_t index);
  MSStatus Run(const MSTensorHandleArray& inputs, const Callbacks& callbacks);
  TfLiteStatus ResizeInputs(const std::vector<std::vector<int>>& shapes);
  void RestoreShapes(const std::vector<std::vector<int>>& shapes);
  void Clear();

  std::recursive_mutex mutex_;
  bool running_ = false;
  Config config_;
  std::vector<int32_t> cores_;  // cores of the model's threads; empty for all
  std::string absent_device_;   // reason why the device that was tried last is not available
  std::set<const DeviceInfo*> tried_devices_;  // devices whose libraries the build has opened
  // Positions of outputs by the name of the node that computes them, for a .ms file.
  std::multimap<std::string, size_t> named_outputs_;
  std::map<std::string, std::vector<MSTensorHandle>> found_outputs_;  // results of OutputsOfNode
  std::string reported_;  // messages of the interpreter since the last call
  std::unique_ptr<Context, ModelDeleter> context_;
  size_t worker_index_ = 0, worker_count_ = 1;
  int32_t default_threads_ = 0;  // 0: the context's default
  TfLiteTelemetryProfilerStruct profiler_ = {};
  decltype(profiler_.ReportBeginOpInvokeEvent) begin_event_ = nullptr;
  const Callbacks* callbacks_ = nullptr;  // set during an inference
  std::vector<int> running_nodes_;
  // Members in order of construction. They are destroyed in the reverse order.
  std::shared_ptr<const LoadedModel> model_;
  std::unique_ptr<Adapter> adapter_;
  std::unique_ptr<TfLiteDelegate, ModelDeleter> device_delegate_;
  std::unique_ptr<RegisteredKernels> registered_;
  std::unique_ptr<TfLiteInterpreter, ModelDeleter> interpreter_;
  std::unique_ptr<InterpreterTensors> tensors_;
  std::unique_ptr<TensorTable> table_;
  std::vector<MSTensorHandle> inputs_, outputs_;
  std::vector<std::unique_ptr<NodeView>> views_;  // views of nodes, by node
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_MODEL_H_
