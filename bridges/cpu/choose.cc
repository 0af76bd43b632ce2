// SPDX-License-Identifier: Apache-2.0
#include "bridges/cpu/choose.h"

#include <set>
#include <utility>

#include "bridges/cpu/mirror_graph.h"
#include "core/base/type_size.h"
#include "core/model/op_names.h"
#include "core/support/refusal.h"
#include "kernels/cpu/cpu.h"
#include "kernels/registry.h"

namespace deputy::cpu {
namespace {

std::string NameOf(const TfLiteTensor& tensor) {
  return "tensor '" + std::string(tensor.name == nullptr ? "" : tensor.name) + "'";
}

Refusal CheckOperator(const TfLiteNode& node, const TfLiteRegistration& registration) {
  const int code = registration.builtin_code;
  const OpDef* def = FindKernel(registration);
  if (def == nullptr) {
    const OpDef* other = FindBuiltinAnyVersion(static_cast<TfLiteBuiltinOperator>(code));
    if (other == nullptr || other->invoke == nullptr) {
      return {kDeputyReasonOperator, "Deputy has no kernel for this operator"};
    }
    return {kDeputyReasonVersion, "version: expected " + std::to_string(other->min_version) +
                                      " to " + std::to_string(other->max_version) + ", found " +
                                      std::to_string(registration.version)};
  }
  if (!CanBeClaimed(code)) {
    return {kDeputyReasonOperator, "the operator must run in the host's interpreter"};
  }
  if (node.might_have_side_effect) {
    return {kDeputyReasonOther, "the node has side effects"};
  }
  if (code != kTfLiteBuiltinCustom && def->params_size > 0 && node.builtin_data == nullptr) {
    return {kDeputyReasonParameter, "expected options, found none"};
  }
  return {};
}

// Checks that a constant has the number of bytes that its shape requires; kernels rely on this.
Refusal CheckConstant(const TfLiteTensor& tensor) {
  size_t bytes = 0;
  if (tensor.sparsity == nullptr &&
      (!TensorBytes(tensor.type, IndicesOf(tensor.dims), &bytes) || bytes != tensor.bytes)) {
    return {kDeputyReasonShape, NameOf(tensor) + ": expected a constant of " +
                                    std::to_string(bytes) + " bytes, found " +
                                    std::to_string(tensor.bytes)};
  }
  return {};
}

Refusal CheckTensor(const TfLiteContext& context, const TfLiteTensor& tensor) {
  if (tensor.is_variable) return {kDeputyReasonOther, NameOf(tensor) + " is a variable"};
  if (!HasFixedSize(tensor.type)) {
    return {kDeputyReasonType, NameOf(tensor) + ": type " + TfLiteTypeGetName(tensor.type)};
  }
  if (tensor.dims == nullptr) return {kDeputyReasonShape, NameOf(tensor) + " has no shape"};
  if (tensor.quantization.type == kTfLiteBlockwiseQuantization) {
    const auto* blocks =
        static_cast<const TfLiteBlockwiseQuantization*>(tensor.quantization.params);
    for (const int part : {blocks->scale, blocks->zero_point}) {
      if (part < 0) continue;
      const bool is_in_range = static_cast<size_t>(part) < context.tensors_size;
      if (!is_in_range || context.tensors[part].allocation_type != kTfLiteMmapRo) {
        return {kDeputyReasonQuantization, NameOf(tensor) + ": expected constant scales"};
      }
    }
  } else if (tensor.quantization.type != kTfLiteNoQuantization &&
             tensor.quantization.type != kTfLiteAffineQuantization) {
    return {kDeputyReasonQuantization, NameOf(tensor) + " has an unsupported kind of quantisation"};
  }
  return tensor.allocation_type == kTfLiteMmapRo ? CheckConstant(tensor) : Refusal();
}

// Decides which nodes to claim. Adds the nodes of a plan that pass the checks of operator and
// tensors to a mirror of the whole graph and prepares them one after the other.
class Chooser {
 public:
  Chooser(TfLiteContext* context, const Options& options)
      : context_(context), mirror_(context, ConfigFor(options)) {
    // All tensors are mirrored first, in order, so that they have the host's indices, which reports
    // then show. Only the scales of blockwise quantisation, which are mirrored with their tensor,
    // can shift them.
    const auto tensors = static_cast<int>(context->tensors_size);
    for (int i = 0; i < tensors; ++i) {
      mirror_.Mirror(i);
      if (context->tensors[i].allocation_type == kTfLiteDynamic) unknown_.insert(i);
    }
  }

  Refusal Check(const TfLiteNode& node, const TfLiteRegistration& registration) {
    Refusal refusal = CheckOperator(node, registration);
    if (!refusal) refusal = CheckTensors(node);
    if (refusal) {
      PropagateUnknownShapes(node);
      return refusal;
    }
    return Prepare(node, registration);
  }

 private:
  InterpreterConfig ConfigFor(const Options& options) {
    InterpreterConfig config;
    config.reporter = ErrorReporter(&Collect, this);
    config.arithmetic = options.reference ? Arithmetic::kReference : Arithmetic::kDefault;
    config.cpu = &Cpu();
    return config;
  }

  // Collects the messages of kernels, which become reasons instead of reports in the host's log.
  static void Collect(void* self, const char* format, va_list args) {
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    static_cast<Chooser*>(self)->reported_ = text;
  }

  Refusal CheckTensors(const TfLiteNode& node) const {
    for (const TfLiteIntArray* tensors : {node.inputs, node.outputs, node.intermediates}) {
      for (const int index : IndicesOf(tensors)) {
        if (index < 0) continue;
        const TfLiteTensor& tensor = context_->tensors[index];
        if (Refusal refusal = CheckTensor(*context_, tensor)) return refusal;
        if (tensors == node.inputs && unknown_.count(index) != 0) {
          return {kDeputyReasonDynamicShape,
                  NameOf(tensor) + ": its shape is not known before run time"};
        }
      }
    }
    return {};
  }

  // Handles the outputs of a node that no kernel of this library has prepared. The outputs have the
  // host's shapes, unless an input has an unknown shape, which makes the shapes of all outputs
  // unknown.
  void PropagateUnknownShapes(const TfLiteNode& node) {
    bool known = true;
    for (const int index : IndicesOf(node.inputs)) known = known && unknown_.count(index) == 0;
    if (known) return;
    for (const int index : IndicesOf(node.outputs)) unknown_.insert(index);
  }

  // Returns true for a shape, an axis or a similar tensor that the host computes during its
  // prepare. Inside a partition its value would not be available in time.
  bool IsPrecomputed(int host_tensor) {
    const TfLiteTensor& tensor = *mirror_.graph().graph().tensor(mirror_.Find(host_tensor));
    return tensor.allocation_type == kTfLitePersistentRo &&
           (tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64 ||
            tensor.type == kTfLiteBool);
  }
  bool AnyPrecomputed(const TfLiteIntArray* host_tensors) {
    for (const int index : IndicesOf(host_tensors)) {
      if (index >= 0 && IsPrecomputed(index)) return true;
    }
    return false;
  }

  Refusal Prepare(const TfLiteNode& node, const TfLiteRegistration& registration) {
    const bool has_precomputed_input = AnyPrecomputed(node.inputs);
    reported_.clear();
    Subgraph& graph = mirror_.graph();
    TfLiteStatus status = mirror_.AddNode(node, registration);
    std::string note;
    bool dynamic = false;
    if (status == kTfLiteOk) {
      const int added = graph.graph().node_count() - 1;
      mirror_.failure_note().Clear();
      status = graph.execution_plan().RunPrepare(added);
      note = mirror_.failure_note().Take();
      dynamic = status == kTfLiteOutputShapeNotKnown ||
                graph.graph().HasDynamicTensor(IndicesOf(graph.graph().node(added)->outputs));
    }
    if (dynamic || status != kTfLiteOk) {
      for (const int index : IndicesOf(node.outputs)) {
        if (index < 0) continue;
        mirror_.Reset(index);
        if (dynamic) unknown_.insert(index);
      }
      if (dynamic)
        return {kDeputyReasonDynamicShape,
                "the output's shape depends on the values of the inputs"};
      return {kDeputyReasonOther, note.empty() ? reported_ : note};
    }
    for (const int index : IndicesOf(node.outputs)) {
      if (index < 0) continue;
      const TfLiteTensor& host = context_->tensors[index];
      const TfLiteType type = graph.graph().tensor(mirror_.Find(index))->type;
      if (type == host.type) continue;
      // The host's kernel will change the type of the tensor. The mirror keeps the new type, so
      // that later nodes are checked with it.
      return {kDeputyReasonType, NameOf(host) + " is " + TfLiteTypeGetName(host.type) +
                                     " in the model, and will be " + TfLiteTypeGetName(type)};
    }
    if (AnyPrecomputed(node.outputs) || has_precomputed_input) {
      return {kDeputyReasonDynamicShape, "the node is computed before the first inference"};
    }
    return {};
  }

  TfLiteContext* const context_;
  std::string reported_;
  MirrorGraph mirror_;
  std::set<int> unknown_;  // tensors of the host with unknown shapes
};

}  // namespace

bool CanBeClaimed(int builtin_code) {
  switch (builtin_code) {
    // Operators that run other subgraphs.
    case kTfLiteBuiltinIf:
    case kTfLiteBuiltinWhile:
    case kTfLiteBuiltinCall:
    case kTfLiteBuiltinCallOnce:
    case kTfLiteBuiltinStablehloCase:
    case kTfLiteBuiltinStablehloComposite:
    case kTfLiteBuiltinStablehloReduceWindow:
    case kTfLiteBuiltinStablehloScatter:
    case kTfLiteBuiltinStablehloWhile:
    // Operators on variables and hash tables.
    case kTfLiteBuiltinAssignVariable:
    case kTfLiteBuiltinHashtable:
    case kTfLiteBuiltinHashtableFind:
    case kTfLiteBuiltinHashtableImport:
    case kTfLiteBuiltinHashtableSize:
    case kTfLiteBuiltinReadVariable:
    case kTfLiteBuiltinVarHandle:
    // Operators that generate random numbers.
    case kTfLiteBuiltinMultinomial:
    case kTfLiteBuiltinRandomStandardNormal:
    case kTfLiteBuiltinRandomUniform:
      return false;
    default:
      return true;
  }
}

TfLiteStatus ChooseNodes(TfLiteContext* context, std::span<const int> plan, const Options& options,
                         std::vector<NodeChoice>* out_choices) {
  Chooser chooser(context, options);
  for (const int index : plan) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    const TfLiteStatus status =
        context->GetNodeAndRegistration(context, index, &node, &registration);
    if (status != kTfLiteOk) return status;
    Refusal refusal = chooser.Check(*node, *registration);
    out_choices->push_back({index, refusal.reason, std::move(refusal.text)});
  }
  return kTfLiteOk;
}

}  // namespace deputy::cpu
