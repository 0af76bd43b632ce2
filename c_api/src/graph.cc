// SPDX-License-Identifier: Apache-2.0
//
// Subgraphs, settings, delegates and signatures of deputy_graph.h. Graphs that are built in code
// are in graph_building.cc.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "c_api/include/deputy_graph.h"
#include "c_api/src/graph_access.h"
#include "c_api/src/struct_io.h"
#include "core/exec/graph_builder.h"

using deputy::ClientArray;
using deputy::FindRunning;
using deputy::FindSubgraph;
using deputy::Guard;
using deputy::IdleInterpreter;
using deputy::IdleSubgraph;
using deputy::Interpreter;
using deputy::RefuseArgument;
using deputy::Subgraph;
using deputy::SubgraphAt;

using NodeEntry = deputy::Graph::Entry;

static_assert(offsetof(NodeEntry, node) == offsetof(DeputyNode, node));
static_assert(offsetof(NodeEntry, registration) == offsetof(DeputyNode, registration));

namespace deputy {

Interpreter* InterpreterOf(const TfLiteInterpreter* interpreter, const char* function) {
  if (interpreter != nullptr) return interpreter->impl.get();
  ErrorReporter().Report("%s: expected an interpreter, found NULL", function);
  return nullptr;
}

Subgraph* SubgraphAt(const TfLiteInterpreter* interpreter, int32_t index, const char* function) {
  Interpreter* const impl = InterpreterOf(interpreter, function);
  if (impl == nullptr) return nullptr;
  if (index >= 0 && index < impl->subgraph_count()) return impl->subgraph(index);
  impl->reporter()->Report("%s: expected a subgraph index below %d, found %d", function,
                           impl->subgraph_count(), index);
  return nullptr;
}

Interpreter* IdleInterpreter(const TfLiteInterpreter* interpreter, const char* function) {
  Interpreter* const impl = InterpreterOf(interpreter, function);
  if (impl == nullptr || impl->run_gate()->Check(function) != kTfLiteOk) return nullptr;
  if (!impl->is_running()) return impl;
  impl->reporter()->Report("%s: expected an interpreter that does not run", function);
  return nullptr;
}

Subgraph* IdleSubgraph(const TfLiteInterpreter* interpreter, int32_t index, const char* function) {
  if (IdleInterpreter(interpreter, function) == nullptr) return nullptr;
  Subgraph* const subgraph = SubgraphAt(interpreter, index, function);
  if (subgraph == nullptr || !DelegationOf(subgraph).applying()) return subgraph;
  interpreter->impl->reporter()->Report("%s: expected no call while a delegate is applied to it",
                                        function);
  return nullptr;
}

TfLiteStatus RefuseArgument(const Subgraph& subgraph, const char* function, const char* expected) {
  return Fail(subgraph.interpreter()->reporter(), kTfLiteError, "%s: expected %s", function,
              expected);
}

}  // namespace deputy

namespace {

// Returns the entries of a list and stores their number.
const int32_t* EntriesOf(const std::vector<int>& list, int32_t* count) {
  *count = static_cast<int32_t>(list.size());
  return list.empty() ? nullptr : list.data();
}

using Lists = const std::vector<int>& (deputy::Graph::*)() const;

const int32_t* ListOf(const TfLiteInterpreter* interpreter, int32_t subgraph_index, Lists list,
                      int32_t* count, const char* function) {
  int32_t ignored = 0;
  int32_t* const out_count = count == nullptr ? &ignored : count;
  *out_count = 0;
  Subgraph* const subgraph = SubgraphAt(interpreter, subgraph_index, function);
  return subgraph == nullptr ? nullptr : EntriesOf((subgraph->graph().*list)(), out_count);
}

// Returns a subgraph that does not run, for calls that a kernel may make on other subgraphs; null
// after a report.
Subgraph* RestingSubgraph(const TfLiteInterpreter* interpreter, int32_t index,
                          const char* function) {
  Subgraph* const subgraph = SubgraphAt(interpreter, index, function);
  if (subgraph == nullptr) return nullptr;
  return subgraph->CheckNotRunning(function) == kTfLiteOk ? subgraph : nullptr;
}

void NoteCall(const Subgraph& subgraph, const char* function) {
  if (deputy::Observer* observer = subgraph.interpreter()->observer()) {
    observer->EnterInterpreter(function);
  }
}

const deputy::SignatureDesc* SignatureAt(const TfLiteInterpreter* interpreter, int32_t index) {
  if (interpreter == nullptr || index < 0) return nullptr;
  const deputy::Signatures& signatures = interpreter->impl->signatures();
  const auto position = static_cast<size_t>(index);
  return position < signatures.count() ? &signatures.at(position) : nullptr;
}

// Stores the name and the tensor of an entry of `tensors`, which is null if the client's signature
// index is out of range.
TfLiteStatus CopySignatureTensor(const TfLiteInterpreter* interpreter, const char* function,
                                 const std::vector<deputy::SignatureTensorDesc>* tensors,
                                 int32_t index, const char** name, int32_t* tensor_index) {
  Interpreter* const impl = deputy::InterpreterOf(interpreter, function);
  if (impl == nullptr) return kTfLiteError;
  const bool exists =
      tensors != nullptr && index >= 0 && static_cast<size_t>(index) < tensors->size();
  if (!exists || name == nullptr || tensor_index == nullptr) {
    return RefuseArgument(impl->primary(), function, "indices in range and two pointers");
  }
  const deputy::SignatureTensorDesc& tensor = (*tensors)[static_cast<size_t>(index)];
  *name = tensor.name;
  *tensor_index = tensor.tensor_index;
  return kTfLiteOk;
}

}  // namespace

// ---- Subgraphs ----------------------------------------------------------------------------------

TfLiteContext* DeputyInterpreterGetContext(TfLiteInterpreter* interpreter, int32_t subgraph_index) {
  Subgraph* const subgraph = SubgraphAt(interpreter, subgraph_index, __func__);
  return subgraph == nullptr ? nullptr : subgraph->context();
}

const int32_t* DeputyInterpreterGetInputs(const TfLiteInterpreter* interpreter,
                                          int32_t subgraph_index, int32_t* count) {
  return ListOf(interpreter, subgraph_index, &deputy::Graph::inputs, count, __func__);
}

const int32_t* DeputyInterpreterGetOutputs(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index, int32_t* count) {
  return ListOf(interpreter, subgraph_index, &deputy::Graph::outputs, count, __func__);
}

const int32_t* DeputyInterpreterGetVariables(const TfLiteInterpreter* interpreter,
                                             int32_t subgraph_index, int32_t* count) {
  return ListOf(interpreter, subgraph_index, &deputy::Graph::variables, count, __func__);
}

const int32_t* DeputyInterpreterGetExecutionPlan(const TfLiteInterpreter* interpreter,
                                                 int32_t subgraph_index, int32_t* count) {
  return ListOf(interpreter, subgraph_index, &deputy::Graph::plan, count, __func__);
}

DeputyNode* DeputyInterpreterGetNode(const TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                     int32_t node_index) {
  Subgraph* const subgraph = SubgraphAt(interpreter, subgraph_index, __func__);
  if (subgraph == nullptr) return nullptr;
  if (node_index < 0 || node_index >= subgraph->graph().node_count()) {
    RefuseArgument(*subgraph, __func__, "the index of a node");
    return nullptr;
  }
  return reinterpret_cast<DeputyNode*>(subgraph->graph().entry(node_index));
}

TfLiteStatus DeputyInterpreterSetSubgraphName(TfLiteInterpreter* interpreter,
                                              int32_t subgraph_index, const char* name) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (name == nullptr) return RefuseArgument(*subgraph, function, "a name");
    deputy::GraphBuilder(subgraph).SetName(name);
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterResizeInput(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                          int32_t tensor_index, const int32_t* dims, int32_t rank,
                                          bool strict) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = RestingSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    const ClientArray shape{dims, rank};
    if (!shape.valid()) return RefuseArgument(*subgraph, function, "a shape");
    NoteCall(*subgraph, "ResizeInputTensor");
    return strict ? subgraph->ResizeInputTensorStrict(tensor_index, shape.span())
                  : subgraph->ResizeInputTensor(tensor_index, shape.span());
  });
}

TfLiteStatus DeputyInterpreterAllocateSubgraph(TfLiteInterpreter* interpreter,
                                               int32_t subgraph_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = RestingSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    NoteCall(*subgraph, "AllocateTensors");
    return interpreter->impl->AllocateTensors(subgraph);
  });
}

TfLiteStatus DeputyInterpreterInvokeSubgraph(TfLiteInterpreter* interpreter,
                                             int32_t subgraph_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = RestingSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    NoteCall(*subgraph, "Invoke");
    return interpreter->impl->Invoke(subgraph, interpreter->allow_buffer_handle_output);
  });
}

TfLiteStatus DeputyInterpreterResetVariables(TfLiteInterpreter* interpreter,
                                             int32_t subgraph_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = RestingSubgraph(interpreter, subgraph_index, function);
    return subgraph == nullptr ? kTfLiteError : subgraph->ResetVariableTensors();
  });
}

TfLiteStatus DeputyInterpreterSetCustomAllocation(TfLiteInterpreter* interpreter,
                                                  int32_t subgraph_index, int32_t tensor_index,
                                                  const TfLiteCustomAllocation* allocation,
                                                  int64_t flags) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = RestingSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (allocation == nullptr) return RefuseArgument(*subgraph, function, "an allocation");
    if (interpreter->impl->shared_states().Has(subgraph, tensor_index)) {
      return RefuseArgument(*subgraph, function, "a tensor of no shared state");
    }
    return subgraph->SetCustomAllocation(tensor_index, *allocation, flags);
  });
}

TfLiteStatus DeputyInterpreterClearCustomAllocations(TfLiteInterpreter* interpreter,
                                                     int32_t subgraph_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    subgraph->ClearCustomAllocations();
    return interpreter->impl->shared_states().PlaceAgain(subgraph);
  });
}

TfLiteStatus DeputyInterpreterEnsureReadable(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                             int32_t tensor_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = SubgraphAt(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (subgraph->graph().tensor(tensor_index) == nullptr) {
      return RefuseArgument(*subgraph, function, "the index of a tensor");
    }
    return subgraph->EnsureReadable(tensor_index);
  });
}

TfLiteStatus DeputyInterpreterReleaseNonPersistentMemory(TfLiteInterpreter* interpreter) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    impl->ReleaseMemory();
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterReleaseMemory(TfLiteInterpreter* interpreter) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    impl->ReleaseIdleMemory();
    return kTfLiteOk;
  });
}

// ---- Outputs of subgraphs -----------------------------------------------------------------------

int32_t DeputyInterpreterGetSubgraphOutputCount(const TfLiteInterpreter* interpreter,
                                                int32_t subgraph_index) {
  const Subgraph* const subgraph = FindSubgraph(interpreter, subgraph_index);
  return subgraph == nullptr ? 0 : static_cast<int32_t>(subgraph->graph().outputs().size());
}

int32_t DeputyInterpreterGetSubgraphOutput(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index, int32_t output_index) {
  const int32_t count = DeputyInterpreterGetSubgraphOutputCount(interpreter, subgraph_index);
  if (output_index < 0 || output_index >= count) return -1;
  return FindSubgraph(interpreter, subgraph_index)
      ->graph()
      .outputs()[static_cast<size_t>(output_index)];
}

// ---- Buffers outside of host memory -------------------------------------------------------------

size_t DeputyInterpreterGetBufferEdgeCount(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index) {
  const Subgraph* const subgraph = FindRunning(interpreter, subgraph_index);
  return subgraph == nullptr ? 0 : DelegationOf(subgraph).buffers().edges().size();
}

TfLiteStatus DeputyInterpreterGetBufferEdge(const TfLiteInterpreter* interpreter,
                                            int32_t subgraph_index, size_t index,
                                            DeputyBufferEdge* edge) {
  const Subgraph* const subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr) return kTfLiteError;
  const std::vector<deputy::BufferEdge>& edges = DelegationOf(subgraph).buffers().edges();
  if (index >= edges.size()) return kTfLiteError;
  const deputy::BufferEdge& found = edges[index];
  DeputyBufferEdge full{};
  full.tensor_index = found.tensor;
  full.producer = found.producer;
  full.consumer = found.consumer;
  full.memory_type = found.agreed.type;
  full.bytes = subgraph->graph().tensor(found.tensor)->bytes;
  full.shared_runs = found.shared;
  full.copied_runs = found.copied;
  full.reason = found.reason.c_str();
  return deputy::WriteStruct(full, edge);
}

namespace {

// Returns the subgraph if the tensor is one of its inputs or outputs; else null, after a report.
Subgraph* WithInputOrOutput(TfLiteInterpreter* interpreter, int32_t subgraph_index, int32_t tensor,
                            const char* function) {
  Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
  if (subgraph == nullptr) return nullptr;
  const auto contains = [tensor](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  const bool is_found = tensor >= 0 && (contains(subgraph->graph().inputs()) ||
                                        contains(subgraph->graph().outputs()));
  if (is_found && subgraph->ready()) return subgraph;
  RefuseArgument(*subgraph, function,
                 is_found ? "allocated tensors" : "the index of an input or output");
  return nullptr;
}

}  // namespace

TfLiteStatus DeputyInterpreterListMemoryTypes(TfLiteInterpreter* interpreter,
                                              int32_t subgraph_index, int32_t tensor_index,
                                              DeputyMemoryTypeCallback callback, void* user_data) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    const Subgraph* const subgraph =
        WithInputOrOutput(interpreter, subgraph_index, tensor_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (callback == nullptr) return RefuseArgument(*subgraph, function, "a callback");
    for (const auto& type : DelegationOf(subgraph).buffers().RequirementsOf(tensor_index)) {
      callback(user_data, &type);
    }
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterBindBuffer(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                         int32_t tensor_index, const DeputyBuffer* buffer) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    const Subgraph* const subgraph =
        WithInputOrOutput(interpreter, subgraph_index, tensor_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    DeputyBuffer full{};
    if (buffer != nullptr && !deputy::ReadStruct(buffer, &full)) {
      return RefuseArgument(*subgraph, function, "a buffer with its struct_size");
    }
    full.struct_size = sizeof full;
    return DelegationOf(subgraph).buffers().Bind(tensor_index, buffer == nullptr ? nullptr : &full);
  });
}

// ---- Settings -----------------------------------------------------------------------------------

TfLiteStatus DeputyInterpreterSetNumThreads(TfLiteInterpreter* interpreter, int32_t num_threads) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    return impl == nullptr ? kTfLiteError : impl->SetNumThreads(num_threads);
  });
}

TfLiteStatus DeputyInterpreterEnableCancellation(TfLiteInterpreter* interpreter) {
  Interpreter* const impl = deputy::InterpreterOf(interpreter, __func__);
  if (impl == nullptr) return kTfLiteError;
  impl->EnableCancellation();
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterSetCancellationFunction(TfLiteInterpreter* interpreter, void* data,
                                                      bool (*is_cancelled)(void* data)) {
  Interpreter* const impl = deputy::InterpreterOf(interpreter, __func__);
  if (impl == nullptr) return kTfLiteError;
  TF_LITE_ENSURE_STATUS(impl->run_gate()->Check(__func__));
  impl->SetCancellationFunction(data, is_cancelled);
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterSetTelemetryProfiler(TfLiteInterpreter* interpreter,
                                                   struct TfLiteTelemetryProfilerStruct* profiler) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = deputy::InterpreterOf(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    TF_LITE_ENSURE_STATUS(impl->run_gate()->Check(function));
    interpreter->telemetry.Set(impl, profiler);
    return kTfLiteOk;
  });
}

// ---- Delegates ----------------------------------------------------------------------------------

TfLiteStatus DeputyInterpreterModifySubgraphs(TfLiteInterpreter* interpreter,
                                              TfLiteDelegate* delegate, const int32_t* subgraphs,
                                              int32_t count) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    const ClientArray indices{subgraphs, count};
    if (!indices.valid()) return RefuseArgument(impl->primary(), function, "a list of subgraphs");
    const TfLiteStatus status = impl->ModifySubgraphsWithDelegate(delegate, indices.span());
    interpreter->telemetry.ReportEvent("ModifyGraphWithDelegate", status);
    return status;
  });
}

int32_t DeputyInterpreterIsDelegationSkippable(const TfLiteInterpreter* interpreter,
                                               int32_t subgraph_index) {
  const Subgraph* const subgraph = FindSubgraph(interpreter, subgraph_index);
  return subgraph != nullptr && subgraph->interpreter()->skippable().Has(subgraph_index) ? 1 : 0;
}

TfLiteStatus DeputyInterpreterRemoveDelegates(TfLiteInterpreter* interpreter) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    return impl == nullptr ? kTfLiteError : impl->RemoveAppliedDelegates("removed by the client");
  });
}

TfLiteStatus DeputyInterpreterReplaceDelegate(TfLiteInterpreter* interpreter,
                                              TfLiteDelegate* old_delegate,
                                              TfLiteDelegate* new_delegate) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    return impl == nullptr ? kTfLiteError : impl->ReplaceDelegate(old_delegate, new_delegate);
  });
}

// ---- Signatures ---------------------------------------------------------------------------------

int32_t DeputyInterpreterGetSignatureSubgraph(const TfLiteInterpreter* interpreter,
                                              int32_t signature_index) {
  const deputy::SignatureDesc* const signature = SignatureAt(interpreter, signature_index);
  return signature == nullptr ? -1 : static_cast<int32_t>(signature->subgraph_index);
}

int32_t DeputyInterpreterGetSignatureInputCount(const TfLiteInterpreter* interpreter,
                                                int32_t signature_index) {
  const deputy::SignatureDesc* const signature = SignatureAt(interpreter, signature_index);
  return signature == nullptr ? 0 : static_cast<int32_t>(signature->inputs.size());
}

int32_t DeputyInterpreterGetSignatureOutputCount(const TfLiteInterpreter* interpreter,
                                                 int32_t signature_index) {
  const deputy::SignatureDesc* const signature = SignatureAt(interpreter, signature_index);
  return signature == nullptr ? 0 : static_cast<int32_t>(signature->outputs.size());
}

TfLiteStatus DeputyInterpreterGetSignatureInput(const TfLiteInterpreter* interpreter,
                                                int32_t signature_index, int32_t input_index,
                                                const char** name, int32_t* tensor_index) {
  const deputy::SignatureDesc* const signature = SignatureAt(interpreter, signature_index);
  return CopySignatureTensor(interpreter, __func__,
                             signature == nullptr ? nullptr : &signature->inputs, input_index, name,
                             tensor_index);
}

TfLiteStatus DeputyInterpreterGetSignatureOutput(const TfLiteInterpreter* interpreter,
                                                 int32_t signature_index, int32_t output_index,
                                                 const char** name, int32_t* tensor_index) {
  const deputy::SignatureDesc* const signature = SignatureAt(interpreter, signature_index);
  return CopySignatureTensor(interpreter, __func__,
                             signature == nullptr ? nullptr : &signature->outputs, output_index,
                             name, tensor_index);
}
