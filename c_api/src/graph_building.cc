// SPDX-License-Identifier: Apache-2.0
//
// Functions of deputy_graph.h for graphs that are built in code.
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "c_api/include/deputy_graph.h"
#include "c_api/src/graph_access.h"
#include "c_api/src/resolver.h"
#include "c_api/src/struct_io.h"
#include "core/exec/graph_builder.h"

using deputy::ClientArray;
using deputy::Fail;
using deputy::GraphBuilder;
using deputy::Guard;
using deputy::IdleInterpreter;
using deputy::IdleSubgraph;
using deputy::Interpreter;
using deputy::RefuseArgument;
using deputy::Subgraph;
using deputy::TensorAttachments;

namespace {

// Member function of GraphBuilder that sets one of the lists of a subgraph.
using SetList = TfLiteStatus (GraphBuilder::*)(std::span<const int>);

TfLiteStatus SetListOf(const TfLiteInterpreter* interpreter, int32_t subgraph_index, SetList set,
                       ClientArray<int32_t> indices, const char* function) {
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (!indices.valid()) return RefuseArgument(*subgraph, function, "a list of indices");
    GraphBuilder builder(subgraph);
    return (builder.*set)(indices.span());
  });
}

// Stores the quantisation and the sparsity, which the tensor will own, in `out`. Parameters with an
// unknown quantisation type are stored as kTfLiteNoQuantization; SetTensor rejects them.
void Take(const DeputyTensorParameters& given, TensorAttachments* out) {
  out->quantization.type = deputy::EnumeratorOf(given.quantization.type, 4, kTfLiteNoQuantization);
  out->quantization.params = given.quantization.params;
  out->sparsity = given.sparsity;
}

// Returns the options of a node. Builtin kernels require a struct, which is zeroed if the client
// passes none.
void* OptionsOf(const DeputyNodeParameters& given, const deputy::OpDef* kernel) {
  if (given.builtin_data != nullptr || kernel == nullptr || kernel->params_size == 0) {
    return given.builtin_data;
  }
  void* const zeros = calloc(1, kernel->params_size);
  if (zeros == nullptr) throw std::bad_alloc();
  return zeros;
}

TfLiteStatus AddNode(Subgraph* subgraph, const DeputyNodeParameters& given,
                     std::unique_ptr<void, decltype(&free)> options, int32_t* node_index) {
  constexpr const char* kFunction = "DeputyInterpreterAddNode";
  const ClientArray inputs{given.inputs, given.input_count};
  const ClientArray outputs{given.outputs, given.output_count};
  const ClientArray intermediates{given.intermediates, given.intermediate_count};
  if (!inputs.valid() || !outputs.valid() || !intermediates.valid()) {
    return RefuseArgument(*subgraph, kFunction, "lists of tensors");
  }
  if (given.registration == nullptr) return RefuseArgument(*subgraph, kFunction, "a registration");
  if (given.init_data == nullptr ? given.init_data_size > 0 : given.init_data_size > INT_MAX) {
    return RefuseArgument(*subgraph, kFunction, "init data of less than 2 GiB");
  }
  const deputy::OpDef* const kernel = deputy::FindOwnKernel(*given.registration);
  Subgraph::NewNode node;
  node.inputs = inputs.span();
  node.outputs = outputs.span();
  node.intermediates = intermediates.span();
  node.custom_options = {static_cast<const uint8_t*>(given.init_data), given.init_data_size};
  node.registration = *given.registration;
  node.is_own = kernel != nullptr;
  static_cast<void>(options.release());
  node.builtin_data = OptionsOf(given, kernel);
  return GraphBuilder(subgraph).AddNode(node, node_index);
}

// Copies names and tensor indices; false if a name is NULL or an index negative.
bool CopyNames(ClientArray<const char*> names, ClientArray<int32_t> tensors,
               std::vector<deputy::SignatureTensorDesc>* out) {
  if (!names.valid() || !tensors.valid()) return false;
  for (int32_t i = 0; i < names.count; ++i) {
    if (names.data[i] == nullptr || tensors.data[i] < 0) return false;
    out->push_back({names.data[i], tensors.data[i]});
  }
  return true;
}

}  // namespace

TfLiteStatus DeputyInterpreterAddSubgraphs(TfLiteInterpreter* interpreter, int32_t count,
                                           int32_t* first_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    return impl == nullptr ? kTfLiteError : impl->AddSubgraphs(count, first_index);
  });
}

TfLiteStatus DeputyInterpreterAddTensors(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                         int32_t count, int32_t* first_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    return subgraph == nullptr ? kTfLiteError
                               : GraphBuilder(subgraph).AddTensors(count, first_index);
  });
}

TfLiteStatus DeputyInterpreterSetTensor(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                        int32_t tensor_index,
                                        const DeputyTensorParameters* parameters) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    TensorAttachments attachments;
    DeputyTensorParameters given;
    const bool readable = deputy::ReadStruct(parameters, &given);
    if (readable) Take(given, &attachments);
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    const ClientArray dims{given.dims, given.rank};
    const ClientArray signature{given.signature_dims, given.signature_rank};
    if (!readable || !dims.valid() || !signature.valid()) {
      return RefuseArgument(*subgraph, function, "parameters with a shape");
    }
    deputy::NewTensor tensor;
    tensor.type = deputy::EnumeratorOf(given.type, 32, kTfLiteNoType);
    tensor.name = given.name;
    tensor.dims = dims.span();
    tensor.signature = signature.span();
    tensor.data = given.data;
    tensor.bytes = given.bytes;
    tensor.is_constant = given.is_constant != 0;
    tensor.is_variable = given.is_variable != 0;
    return GraphBuilder(subgraph).SetTensor(tensor_index, tensor, &attachments);
  });
}

TfLiteStatus DeputyInterpreterAddNode(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                      const DeputyNodeParameters* parameters, int32_t* node_index) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    DeputyNodeParameters given;
    const bool readable = deputy::ReadStruct(parameters, &given);
    std::unique_ptr<void, decltype(&free)> options(readable ? given.builtin_data : nullptr, &free);
    Subgraph* const subgraph = IdleSubgraph(interpreter, subgraph_index, function);
    if (subgraph == nullptr) return kTfLiteError;
    if (!readable) return RefuseArgument(*subgraph, function, "parameters");
    return AddNode(subgraph, given, std::move(options), node_index);
  });
}

TfLiteStatus DeputyInterpreterSetInputs(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                        const int32_t* tensors, int32_t count) {
  return SetListOf(interpreter, subgraph_index, &GraphBuilder::SetInputs, {tensors, count},
                   __func__);
}

TfLiteStatus DeputyInterpreterSetOutputs(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                         const int32_t* tensors, int32_t count) {
  return SetListOf(interpreter, subgraph_index, &GraphBuilder::SetOutputs, {tensors, count},
                   __func__);
}

TfLiteStatus DeputyInterpreterSetVariables(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                           const int32_t* tensors, int32_t count) {
  return SetListOf(interpreter, subgraph_index, &GraphBuilder::SetVariables, {tensors, count},
                   __func__);
}

TfLiteStatus DeputyInterpreterSetExecutionPlan(TfLiteInterpreter* interpreter,
                                               int32_t subgraph_index, const int32_t* nodes,
                                               int32_t count) {
  return SetListOf(interpreter, subgraph_index, &GraphBuilder::SetPlan, {nodes, count}, __func__);
}

TfLiteStatus DeputyInterpreterAddSignature(TfLiteInterpreter* interpreter,
                                           const DeputySignature* signature) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    DeputySignature given;
    deputy::SignatureDesc desc;
    const bool valid = deputy::ReadStruct(signature, &given) && given.key != nullptr &&
                       given.subgraph_index >= 0 && given.subgraph_index < impl->subgraph_count() &&
                       CopyNames({given.input_names, given.input_count},
                                 {given.input_tensors, given.input_count}, &desc.inputs) &&
                       CopyNames({given.output_names, given.output_count},
                                 {given.output_tensors, given.output_count}, &desc.outputs);
    if (!valid) {
      return RefuseArgument(impl->primary(), function,
                            "a key, the index of a subgraph, and a name for each tensor");
    }
    if (impl->signatures().Find(given.key) != nullptr) {
      return Fail(impl->reporter(), kTfLiteError, "%s: expected a new key, found '%s'", function,
                  given.key);
    }
    desc.key = given.key;
    desc.subgraph_index = static_cast<uint32_t>(given.subgraph_index);
    impl->signatures().Add(desc);
    return kTfLiteOk;
  });
}
