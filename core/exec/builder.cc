// SPDX-License-Identifier: Apache-2.0
#include "core/exec/builder.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/kernel_call.h"
#include "core/exec/interpreter_state.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

constexpr uint32_t kSchemaVersion = 3;

// Reports options that the parser rejected. Upstream's text, if the operator has one, comes first.
void ReportRefusedOptions(const OpDef& def, const OpOptions& options, int subgraph, size_t node,
                          ErrorReporter* reporter) {
  std::string text = def.refusal == nullptr ? "" : def.refusal(options);
  if (text.ends_with('\n')) text.pop_back();
  if (!text.empty()) text += "; ";
  reporter->Report("%ssubgraph %d node %zu %s: expected valid options, found others", text.c_str(),
                   subgraph, node, BuiltinOperatorName(def.code));
}

// Creates the options struct of a builtin, null for operators without options. Returns false after
// one report.
bool ParseOptions(const OpDef& def, const OperatorDesc& desc, int subgraph, size_t node,
                  ErrorReporter* reporter, void** out_data) {
  *out_data = nullptr;
  if (def.params_size == 0) return true;
  std::unique_ptr<void, decltype(&free)> params(calloc(1, def.params_size), &free);
  if (params == nullptr) throw std::bad_alloc();
  // Options of another operator's type count as absent. The struct then keeps its defaults, or the
  // parser rejects the model.
  const OpOptions options = desc.options.As(def.options);
  if (def.parse != nullptr && !def.parse(options, params.get())) {
    ReportRefusedOptions(def, options, subgraph, node, reporter);
    return false;
  }
  *out_data = params.release();
  return true;
}

// Makes upstream's two reports, letter by letter. Both carry the reason as detail, since clients
// may query the newest report.
TfLiteStatus RefuseBuiltin(const OperatorCodeDesc& code, const char* why, ErrorReporter* reporter) {
  const char* name = BuiltinOperatorName(code.code);
  reporter->ReportWithDetail(why,
                             "Didn't find op for builtin opcode '%s' version '%d'. "
                             "An older version of this builtin might be supported. "
                             "Are you using an old TFLite binary with a newer model?\n",
                             name, code.version);
  const std::string detail =
      "operator " + std::string(name) + " version " + std::to_string(code.version) + ": " + why;
  reporter->ReportWithDetail(detail.c_str(), "Registration failed.\n");
  return kTfLiteError;
}

}  // namespace

TfLiteStatus ResolveOperators(const ModelDesc& model, OpResolver* resolver, ErrorReporter* reporter,
                              std::vector<ResolvedOperator>* out_operators) {
  if (model.schema_version != kSchemaVersion) {
    return Fail(reporter, kTfLiteError,
                "Model provided is schema version %u not equal to supported version %u.",
                model.schema_version, kSchemaVersion);
  }
  if (model.subgraphs.empty()) {
    return Fail(reporter, kTfLiteError, "No subgraph in the model.");
  }
  for (size_t i = 0; i < model.subgraphs.size(); ++i) {
    if (!model.subgraphs[i].complete) {
      return Fail(reporter, kTfLiteError,
                  "subgraph %zu: expected tables of tensors, operators and buffers", i);
    }
  }
  for (const OperatorCodeDesc& code : model.operator_codes) {
    const bool custom = code.code == kTfLiteBuiltinCustom;
    const TfLiteRegistration* found = custom ? resolver->FindCustom(code.custom_name, code.version)
                                             : resolver->FindBuiltin(code.code, code.version);
    if (found == nullptr && !custom) {
      return RefuseBuiltin(code, "this build does not know that version of the operator", reporter);
    }
    if (!custom && resolver->FindParser(code.code) == nullptr) {
      return RefuseBuiltin(
          code, "a kernel was registered, but this build cannot read the operator's options",
          reporter);
    }
    TfLiteRegistration registration =
        found != nullptr ? *found : UnresolvedCustomOp(code.custom_name, code.version);
    registration.version = code.version;
    if (custom) {
      // Older clients leave these fields unset in the registration that their callbacks return.
      registration.builtin_code = kTfLiteBuiltinCustom;
      if (registration.custom_name == nullptr) registration.custom_name = code.custom_name;
    }
    out_operators->push_back(
        {registration, found != nullptr && resolver->IsOwnKernel(registration)});
  }
  return kTfLiteOk;
}

TfLiteStatus BuildSubgraph(const ModelDesc& model, const SubgraphDesc& desc,
                           const std::vector<ResolvedOperator>& operators, OpResolver* resolver,
                           Subgraph* subgraph) {
  if (subgraph->BuildTensors() != kTfLiteOk) return kTfLiteError;
  ErrorReporter* reporter = subgraph->interpreter()->reporter();
  for (size_t i = 0; i < desc.operators.size(); ++i) {
    const OperatorDesc& op = desc.operators[i];
    // Invalid nodes are skipped. The subgraph has recorded the reason and is never run.
    if (!subgraph->graph().IndicesExist(op.inputs) || !subgraph->graph().IndicesExist(op.outputs) ||
        !subgraph->graph().IndicesExist(op.intermediates)) {
      continue;
    }
    Subgraph::NewNode node;
    node.inputs = op.inputs;
    node.outputs = op.outputs;
    node.intermediates = op.intermediates;
    node.registration = operators[op.code_index].registration;
    node.is_own = operators[op.code_index].is_own;
    const TfLiteBuiltinOperator code = model.operator_codes[op.code_index].code;
    if (code == kTfLiteBuiltinCustom) {
      node.custom_options = op.custom_options;
    } else if (!ParseOptions(*resolver->FindParser(code), op, subgraph->index(), i, reporter,
                             &node.builtin_data)) {
      return kTfLiteError;
    }
    if (subgraph->AddNode(node) != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

}  // namespace deputy
