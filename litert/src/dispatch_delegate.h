// SPDX-License-Identifier: Apache-2.0
//
// The delegate that runs operators with byte code (DISPATCH_OP) in a dispatch plug-in.
#ifndef DEPUTY_LITERT_SRC_DISPATCH_DELEGATE_H_
#define DEPUTY_LITERT_SRC_DISPATCH_DELEGATE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "deputy/c_api.h"
#include "deputy/operator.h"
#include "litert/src/dispatch_library.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/dispatch_source.h"
#include "litert/src/model.h"

namespace deputy::litert {

// RAII guard: the file of the model that the thread compiles, and handles of its programs.
// CreateDelegate of an accelerator has no parameters for them.
class ModelBeingCompiled {
 public:
  ModelBeingCompiled(Bytes bytes, const JitHandles* handles)
      : outer_(std::exchange(bytes_, bytes)), outer_handles_(std::exchange(handles_, handles)) {}
  ~ModelBeingCompiled() {
    bytes_ = outer_;
    handles_ = outer_handles_;
  }
  ModelBeingCompiled(const ModelBeingCompiled&) = delete;
  ModelBeingCompiled& operator=(const ModelBeingCompiled&) = delete;

  static Bytes bytes() { return bytes_; }
  static const JitHandles* handles() { return handles_; }

 private:
  static thread_local Bytes bytes_;
  static thread_local const JitHandles* handles_;

  const Bytes outer_;
  const JitHandles* const outer_handles_;
};

// Creates a delegate for a model, whose file the bytes are, and a device of the plug-in. `handles`
// may be null. All arguments must outlive the delegate. Null on failure, after a log line.
TfLiteOpaqueDelegate* CreateDispatchDelegate(const DispatchLibrary& library,
                                             LiteRtEnvironment environment, LiteRtOptions options,
                                             Bytes model, const JitHandles* handles);

// Stores the programs for the context's graph.
using ChooseSource = std::function<LiteRtStatus(TfLiteContext* context,
                                                std::shared_ptr<const DispatchSource>* out_source)>;

// Likewise, with the programs that `choose` stores in each Prepare, which must outlive the
// delegate.
TfLiteOpaqueDelegate* CreateDispatchDelegate(const DispatchLibrary& library,
                                             LiteRtEnvironment environment, LiteRtOptions options,
                                             std::shared_ptr<const DispatchSource> source,
                                             ChooseSource* choose);
void DeleteDispatchDelegate(TfLiteOpaqueDelegate* delegate);

// The operator DISPATCH_OP as long as no delegate runs it. A compiled model fails with the reason.
class MissingDispatch {
 public:
  MissingDispatch();
  ~MissingDispatch();
  MissingDispatch(const MissingDispatch&) = delete;
  MissingDispatch& operator=(const MissingDispatch&) = delete;

  // Null if memory is exhausted.
  TfLiteOperator* get() { return operator_; }

  std::string reason = "the NPU was not requested";

 private:
  static TfLiteStatus Refuse(void* self, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);

  TfLiteOperator* operator_ = nullptr;
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_DISPATCH_DELEGATE_H_
