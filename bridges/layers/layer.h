// SPDX-License-Identifier: Apache-2.0
//
// A layer intercepts every call that the runtime makes to a delegate, and every replacement of
// nodes that the delegate requests. It can act before and after the call, change the status, or
// skip the call.
#ifndef DEPUTY_BRIDGES_LAYERS_LAYER_H_
#define DEPUTY_BRIDGES_LAYERS_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "deputy/common.h"

namespace deputy::layers {

enum class CallKind {
  // Functions of the delegate.
  kDelegatePrepare,
  kCopyFrom,
  kCopyTo,
  kFreeHandle,
  // ReplaceNodeSubsetsWithDelegateKernels, ResizeTensor and AddTensors of the context, which the
  // delegate and its kernels call.
  kReplace,
  kResizeTensor,
  kAddTensors,
  // Functions of the delegate's kernels.
  kInit,
  kPrepare,
  kInvoke,
  kFree,
  // Functions `eval` and `wait` of asynchronous kernels, which several threads may call.
  kTaskStart,
  kTaskWait,
};
inline constexpr int kCallKinds = 13;

// Returns the name of the function in messages and options: "invoke".
const char* NameOf(CallKind kind);

struct LayerCall {
  CallKind kind = CallKind::kInvoke;
  TfLiteContext* context = nullptr;
  // Registration of the kernel; set for kReplace, the functions of kernels and what they call.
  const TfLiteRegistration* registration = nullptr;
  // Flags of the delegate; set for kDelegatePrepare.
  int64_t flags = 0;
  // Nodes to replace; set for kReplace.
  const TfLiteIntArray* nodes = nullptr;
  // Parameters of the partition; set for the functions of kernels.
  const TfLiteDelegateParams* params = nullptr;
  // Number of the kernel among all of the delegate, from 0, also of one that calls kResizeTensor or
  // kAddTensors; -1 for other functions.
  int kernel = -1;
  // The node; set for kPrepare and kInvoke.
  TfLiteNode* node = nullptr;
  // The tensor; set for kCopyFrom, kCopyTo and kResizeTensor.
  TfLiteTensor* tensor = nullptr;
  // The new shape; set for kResizeTensor.
  const TfLiteIntArray* dims = nullptr;
  // Number of new tensors; set for kAddTensors.
  int count = 0;
  // Index of the first new tensor, which kAddTensors sets.
  const int* first_tensor = nullptr;
  // The buffer handle; set for the functions of buffer handles. kFreeHandle may change it.
  TfLiteBufferHandle* handle = nullptr;
};

// Calls the layers inside of a layer, and then the delegate.
class Rest {
 public:
  virtual ~Rest() = default;
  virtual TfLiteStatus operator()() const = 0;
};

class Layer {
 public:
  Layer() = default;
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Makes the call by `rest`, which passes on exceptions of the delegate. The status of kFree and
  // kFreeHandle is ignored; after a failure of kInit, init returns its failure value. Called on the
  // threads of all interpreters that use the delegate, also concurrently.
  virtual TfLiteStatus Around(const LayerCall& call, const Rest& rest) = 0;

  // Returns the reason why asynchronous kernels cannot be used with the layer; "" if they can.
  virtual std::string AsyncProblem() const { return ""; }

  // Passes the library of the delegate and its options, KEY=VALUE;KEY=VALUE, before the first call.
  // Not called for a delegate that the program has created.
  virtual void SetLibrary(const std::string& path, const std::string& options) {
    (void)path, (void)options;
  }
  // Passes the model that the delegate will be applied to, if the host program does so.
  virtual void SetModel(const void* data, size_t size) { (void)data, (void)size; }
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_LAYER_H_
