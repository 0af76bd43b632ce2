// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of TfLiteContext. Each one finds its subgraph, calls one method, and converts an
// exception to a status. In kernel mode the functions for delegates are separate stubs that report
// the wrong call.
#include "core/exec/context.h"

#include "core/base/guard.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

Subgraph* SubgraphOf(const TfLiteContext* context) {
  Runtime* const runtime = static_cast<const ContextOwner*>(context->impl_)->runtime;
  return static_cast<KernelRuntime*>(runtime)->subgraph();
}

template <typename Method>
TfLiteStatus CallSubgraph(const TfLiteContext* context, Method&& method) {
  Subgraph* const subgraph = SubgraphOf(context);
  const auto out_of_memory = [&] {
    return Fail(subgraph->interpreter()->reporter(), kTfLiteError, "out of memory");
  };
  return Guard(out_of_memory, [&] { return method(subgraph); });
}

// Notifies the observer of the call; returns it if there is one and the call itself is valid, else
// null.
Observer* NotifyObserver(const TfLiteContext* context, const char* function) {
  Subgraph* subgraph = SubgraphOf(context);
  Observer* const observer = subgraph->interpreter()->observer();
  if (observer == nullptr || !observer->EnterFunction(subgraph, function)) return nullptr;
  return observer;
}

TfLiteStatus ResizeTensor(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* new_dims) {
  Observer* const observer = NotifyObserver(context, "ResizeTensor");
  if (observer != nullptr) observer->BeforeResize(SubgraphOf(context), tensor, new_dims);
  const TfLiteStatus status = CallSubgraph(
      context, [&](Subgraph* subgraph) { return subgraph->ResizeTensor(tensor, new_dims); });
  if (observer != nullptr) observer->AfterResize(SubgraphOf(context), tensor);
  return status;
}

TfLiteStatus AddTensors(TfLiteContext* context, int count, int* out_first_index) {
  Observer* const observer = NotifyObserver(context, "AddTensors");
  const int first = SubgraphOf(context)->graph().tensor_count();
  if (observer != nullptr) observer->BeforeAddTensors(SubgraphOf(context), count);
  const TfLiteStatus status = CallSubgraph(
      context, [&](Subgraph* subgraph) { return subgraph->AddTensors(count, out_first_index); });
  if (observer != nullptr) observer->AfterAddTensors(SubgraphOf(context), first);
  return status;
}

void SetExternalContext(TfLiteContext* context, TfLiteExternalContextType type,
                        TfLiteExternalContext* external) {
  NotifyObserver(context, "SetExternalContext");
  SubgraphOf(context)->interpreter()->set_external_context(type, external);
}

TfLiteStatus GetModelMetadata(const TfLiteContext* context, const char* name, const char** out_data,
                              size_t* out_bytes) {
  NotifyObserver(context, "GetModelMetadata");
  if (name == nullptr || out_data == nullptr || out_bytes == nullptr) return kTfLiteError;
  *out_data = nullptr;
  *out_bytes = 0;
  const std::span<const uint8_t>* data = SubgraphOf(context)->interpreter()->FindMetadata(name);
  if (data == nullptr) return kTfLiteError;
  *out_data = reinterpret_cast<const char*>(data->data());
  *out_bytes = data->size();
  return kTfLiteOk;
}

// ---- Functions of delegate mode: stubs for kernels ----------------------------------------------

TfLiteStatus Forbidden(const TfLiteContext* context, const char* function) {
  if (Observer* observer = SubgraphOf(context)->interpreter()->observer()) {
    observer->ForbiddenFunction(SubgraphOf(context), function);
  }
  return Fail(SubgraphOf(context)->interpreter()->reporter(), kTfLiteError,
              "The function is forbidden if not calling in delegate.");
}

TfLiteStatus ForbiddenGetExecutionPlan(TfLiteContext* context, TfLiteIntArray**) {
  return Forbidden(context, "GetExecutionPlan");
}
TfLiteStatus ForbiddenGetNodeAndRegistration(TfLiteContext* context, int, TfLiteNode**,
                                             TfLiteRegistration**) {
  return Forbidden(context, "GetNodeAndRegistration");
}
TfLiteStatus ForbiddenReplaceNodeSubsets(TfLiteContext* context, TfLiteRegistration,
                                         const TfLiteIntArray*, TfLiteDelegate*) {
  return Forbidden(context, "ReplaceNodeSubsetsWithDelegateKernels");
}
TfLiteStatus ForbiddenPreviewDelegatePartitioning(TfLiteContext* context, const TfLiteIntArray*,
                                                  TfLiteDelegateParams**, int*) {
  return Forbidden(context, "PreviewDelegatePartitioning");
}
TfLiteStatus ForbiddenAcquireSubgraphContext(TfLiteContext* context, int, TfLiteContext**) {
  return Forbidden(context, "AcquireSubgraphContext");
}
TfLiteStatus ForbiddenReleaseSubgraphContext(TfLiteContext* context, int) {
  return Forbidden(context, "ReleaseSubgraphContext");
}

// ---- Functions of delegate mode: implementations for delegates ----------------------------------

TfLiteStatus GetExecutionPlan(TfLiteContext* context, TfLiteIntArray** out_plan) {
  NotifyObserver(context, "GetExecutionPlan");
  return CallSubgraph(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().GetExecutionPlan(out_plan);
  });
}

TfLiteStatus GetNodeAndRegistration(TfLiteContext* context, int node_index, TfLiteNode** out_node,
                                    TfLiteRegistration** out_registration) {
  if (Observer* observer = NotifyObserver(context, "GetNodeAndRegistration")) {
    observer->CheckNodeIndex(SubgraphOf(context), node_index, "GetNodeAndRegistration");
  }
  return CallSubgraph(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().GetNodeAndRegistration(node_index, out_node, out_registration);
  });
}

TfLiteStatus ReplaceNodeSubsets(TfLiteContext* context, TfLiteRegistration registration,
                                const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  Observer* const observer = NotifyObserver(context, "ReplaceNodeSubsetsWithDelegateKernels");
  if (observer != nullptr) {
    observer->BeforeReplace(SubgraphOf(context), registration, nodes, delegate);
  }
  const TfLiteStatus status = CallSubgraph(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().Replace(registration, nodes, delegate);
  });
  if (observer != nullptr) observer->AfterReplace(SubgraphOf(context), status);
  return status;
}

TfLiteStatus PreviewDelegatePartitioning(TfLiteContext* context, const TfLiteIntArray* nodes,
                                         TfLiteDelegateParams** out_params, int* out_count) {
  if (Observer* observer = NotifyObserver(context, "PreviewDelegatePartitioning")) {
    observer->BeforePreview(SubgraphOf(context), nodes);
  }
  return CallSubgraph(context, [&](Subgraph* subgraph) {
    return subgraph->delegation().Preview(nodes, out_params, out_count);
  });
}

TfLiteStatus AcquireSubgraphContext(TfLiteContext* context, int index,
                                    TfLiteContext** out_context) {
  if (Observer* observer = NotifyObserver(context, "AcquireSubgraphContext")) {
    observer->CheckSubgraphIndex(SubgraphOf(context), index, "AcquireSubgraphContext");
  }
  return CallSubgraph(context, [&](Subgraph* subgraph) {
    return AcquireContext(subgraph->interpreter(), index, out_context);
  });
}

TfLiteStatus ReleaseSubgraphContext(TfLiteContext* context, int index) {
  if (Observer* observer = NotifyObserver(context, "ReleaseSubgraphContext")) {
    observer->CheckSubgraphIndex(SubgraphOf(context), index, "ReleaseSubgraphContext");
  }
  return CallSubgraph(
      context, [&](Subgraph* subgraph) { return ReleaseContext(subgraph->interpreter(), index); });
}

}  // namespace

Subgraph* Subgraph::Of(const TfLiteContext* context) {
  return RuntimeOf(context) == nullptr ? nullptr : SubgraphOf(context);
}

void SetContextFunctions(TfLiteContext* context, bool delegate_mode) {
  context->GetExecutionPlan = delegate_mode ? &GetExecutionPlan : &ForbiddenGetExecutionPlan;
  context->GetNodeAndRegistration =
      delegate_mode ? &GetNodeAndRegistration : &ForbiddenGetNodeAndRegistration;
  context->ReplaceNodeSubsetsWithDelegateKernels =
      delegate_mode ? &ReplaceNodeSubsets : &ForbiddenReplaceNodeSubsets;
  context->PreviewDelegatePartitioning =
      delegate_mode ? &PreviewDelegatePartitioning : &ForbiddenPreviewDelegatePartitioning;
  context->AcquireSubgraphContext =
      delegate_mode ? &AcquireSubgraphContext : &ForbiddenAcquireSubgraphContext;
  context->ReleaseSubgraphContext =
      delegate_mode ? &ReleaseSubgraphContext : &ForbiddenReleaseSubgraphContext;
}

void InitContext(Subgraph* subgraph) {
  TfLiteContext* const context = subgraph->context();
  subgraph->parts().context_owner.runtime = &subgraph->runtime();
  context->impl_ = &subgraph->parts().context_owner;
  context->recommended_num_threads = -1;
  context->ResizeTensor = &ResizeTensor;
  context->ReportError = &ReportContextError;
  context->AddTensors = &AddTensors;
  context->GetExternalContext = &GetContextExternal;
  context->SetExternalContext = &SetExternalContext;
  context->GetModelMetadata = &GetModelMetadata;
  SetContextFunctions(context, false);
}

TfLiteStatus ProvideMemory(TfLiteContext* context, int32_t tensor,
                           const DeputyInputMemory* memory) try {
  Subgraph* const subgraph = SubgraphOf(context);
  SubgraphParts& parts = subgraph->parts();
  const TfLiteTensor* const target = parts.graph.tensor(tensor);
  // A node that is prepared during an inference has inputs with contents.
  if (target == nullptr || memory == nullptr || subgraph->ready()) return kTfLiteError;
  return parts.provided_memory.Provide(*target, tensor, *memory);
} catch (const std::exception&) {  // out of memory
  return kTfLiteError;
}

bool IsCancelled(TfLiteContext* context) {
  return SubgraphOf(context)->interpreter()->IsCancelled();
}

TfLiteStatus AcquireContext(InterpreterState* interpreter, int index, TfLiteContext** out_context) {
  if (index < 0 || index >= interpreter->subgraph_count() || out_context == nullptr) {
    return kTfLiteError;
  }
  interpreter->subgraph(index)->delegation().EnterDelegateMode();
  *out_context = interpreter->subgraph(index)->context();
  return kTfLiteOk;
}

TfLiteStatus ReleaseContext(InterpreterState* interpreter, int index) {
  if (index < 0 || index >= interpreter->subgraph_count()) return kTfLiteError;
  interpreter->subgraph(index)->delegation().LeaveDelegateMode();
  return kTfLiteOk;
}

}  // namespace deputy
