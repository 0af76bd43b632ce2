// SPDX-License-Identifier: Apache-2.0
//
// IF, WHILE, CALL_ONCE, STABLEHLO_CASE and STABLEHLO_COMPOSITE: operators that run other subgraphs.
// A branch or body takes the shapes and types of its arguments. If the shapes of its outputs are
// unknown in prepare, or differ between branches or iterations, the operator's outputs are dynamic.
//
// Calls cannot nest without limit: the loader rejects subgraphs that call themselves, and the
// interpreter bounds the depth. WHILE does not limit its iterations, but can be cancelled between
// them.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/refused_options.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillIf(const OpOptions& options, TfLiteIfParams* params) {
  params->then_subgraph_index = options.Int(0);
  params->else_subgraph_index = options.Int(1);
  return true;
}

bool FillWhile(const OpOptions& options, TfLiteWhileParams* params) {
  params->cond_subgraph_index = options.Int(0);
  params->body_subgraph_index = options.Int(1);
  return true;
}

bool FillCallOnce(const OpOptions& options, TfLiteCallOnceParams* params) {
  params->init_subgraph_index = options.Int(0);
  return true;
}

// Fails for a model without the name of a composite.
bool ParseComposite(const OpOptions& all, void* out_params) {
  const OpOptions options = all.As({2, 21});
  auto* params = static_cast<TfLiteStablehloCompositeParams*>(out_params);
  const std::span<const uint8_t> attributes = options.Bytes(2);
  params->name = options.String(0);
  params->subgraph_index = options.Int(1);
  params->attributes = attributes.empty() ? nullptr : attributes.data();
  params->attributes_size = attributes.size();
  params->version = options.Int(4);
  return params->name != nullptr;
}

// Fails for a model without branches of a case or with more branches than the struct has space for.
bool ParseCase(const OpOptions& all, void* out_params) {
  auto* params = static_cast<TfLiteStablehloCaseParams*>(out_params);
  const std::span<const int32_t> branches = all.As({2, 23}).Ints(0);
  if (branches.empty() || branches.size() > std::size(params->branch_subgraph_indices)) {
    return false;
  }
  params->num_branches = static_cast<uint32_t>(branches.size());
  std::ranges::copy(branches, params->branch_subgraph_indices);
  return true;
}

// ---- Calls ------------------------------------------------------------------------------------

// Returns the callee after checking its number of inputs and outputs against the node's, or null
// after reporting an error.
CallableSubgraph* FindCallee(TfLiteContext* context, int index, const char* what, size_t inputs,
                             size_t outputs) {
  Runtime* runtime = RuntimeOf(context);
  if (runtime == nullptr) {
    KernelError(context, "control flow is only supported in Deputy's own interpreter");
    return nullptr;
  }
  CallableSubgraph* callee = runtime->FindSubgraph(index);
  if (callee == nullptr) {
    KernelError(context, "%s subgraph %d does not exist", what, index);
    return nullptr;
  }
  if (callee->input_count() != inputs || callee->output_count() != outputs) {
    KernelError(context,
                "%s subgraph %d: expected %zu inputs and %zu outputs, found %zu "
                "and %zu",
                what, index, inputs, outputs, callee->input_count(), callee->output_count());
    return nullptr;
  }
  return callee;
}

CallInput ViewOf(const TfLiteTensor* tensor) {
  if (tensor == nullptr) return {};
  return {tensor->type, Dims(tensor), tensor->data.raw, tensor->bytes};
}

// Returns the node's inputs from index `first` on, as arguments of a call.
std::vector<CallInput> Arguments(TfLiteContext* context, const TfLiteNode* node, int first) {
  std::vector<CallInput> arguments;
  for (int n = first; n < node->inputs->size; ++n) {
    arguments.push_back(ViewOf(Input(context, node, n)));
  }
  return arguments;
}

// Copies a value returned by a call to the node's n-th output, and sets its shape if that is
// dynamic.
TfLiteStatus CopyOutput(TfLiteContext* context, const TfLiteNode* node, int n,
                        const CallInput& value) {
  TfLiteTensor* output = Output(context, node, n);
  if (output == nullptr) return kTfLiteOk;
  if (value.type == kTfLiteNoType || value.type != output->type) {
    return TensorError(context, output, "the type of the subgraph's output %d differs", n);
  }
  // A branch or a body may return another shape than prepare expected; the output is then dynamic.
  if (output->allocation_type == kTfLiteArenaRw && !std::ranges::equal(Dims(output), value.dims)) {
    MakeDynamic(output);
  }
  if (IsDynamic(output)) {
    DEPUTY_TRY(ResizeTo(context, output, value.dims));
    DEPUTY_TRY(TfLiteTensorRealloc(value.bytes, output));
  }
  if (output->bytes != value.bytes) {
    return TensorError(context, output, "expected %zu bytes, found %zu", output->bytes,
                       value.bytes);
  }
  if (value.bytes == 0) return kTfLiteOk;
  if (value.data == nullptr || output->data.raw == nullptr) {
    return TensorError(context, output, "no data to copy");
  }
  memcpy(output->data.raw, value.data, value.bytes);
  return kTfLiteOk;
}

// ---- IF, STABLEHLO_CASE and STABLEHLO_COMPOSITE ------------------------------------------------

using Branches = std::vector<CallableSubgraph*>;

// Adds a subgraph that takes the node's inputs from index `first` on; returns false after reporting
// an error.
bool AddBranch(TfLiteContext* context, const TfLiteNode* node, int first, int index,
               const char* what, Branches* branches) {
  const auto inputs = static_cast<size_t>(node->inputs->size - first);
  const auto outputs = static_cast<size_t>(node->outputs->size);
  CallableSubgraph* branch = FindCallee(context, index, what, inputs, outputs);
  branches->push_back(branch);
  return branch != nullptr;
}

// The outputs have the branches' shape if all branches agree; otherwise invoke determines it.
TfLiteStatus PrepareBranches(TfLiteContext* context, TfLiteNode* node, int first,
                             const Branches& branches) {
  const std::vector<CallInput> arguments = Arguments(context, node, first);
  std::vector<std::vector<CallOutput>> made(branches.size());
  for (size_t b = 0; b < branches.size(); ++b) {
    DEPUTY_TRY(branches[b]->InferOutputs(arguments, &made[b]));
  }
  for (int n = 0; n < node->outputs->size; ++n) {
    TfLiteTensor* output = Output(context, node, n);
    if (output == nullptr) continue;
    const CallOutput& model = made[0][static_cast<size_t>(n)];
    output->type = model.type;
    const bool same = std::ranges::all_of(made, [&](const std::vector<CallOutput>& of_branch) {
      const CallOutput& other = of_branch[static_cast<size_t>(n)];
      return other.known && other.type == model.type && other.dims == model.dims;
    });
    if (same) {
      DEPUTY_TRY(ResizeTo(context, output, model.dims));
    } else {
      MakeDynamic(output);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus EvalBranch(TfLiteContext* context, TfLiteNode* node, int first,
                        CallableSubgraph* branch) {
  DEPUTY_TRY(branch->Call(Arguments(context, node, first)));
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(CopyOutput(context, node, n, ViewOf(branch->output(static_cast<size_t>(n)))));
  }
  return kTfLiteOk;
}

// Checks input 0, which selects the branch.
TfLiteStatus CheckChoice(TfLiteContext* context, TfLiteNode* node, uint32_t types,
                         const char* what) {
  if (node->inputs->size < 1) return KernelError(context, "expected 1 or more inputs, found 0");
  const TfLiteTensor* choice = Input(context, node, 0);
  if (choice == nullptr) return KernelError(context, "input 0: expected %s", what);
  DEPUTY_TRY(CheckType(context, choice, types));
  return CheckElementCount(context, choice, 1);
}

bool FindIfBranches(TfLiteContext* context, const TfLiteNode* node, Branches* branches) {
  const TfLiteIfParams& params = ParamsOf<TfLiteIfParams>(node);
  return AddBranch(context, node, 1, params.then_subgraph_index, "then", branches) &&
         AddBranch(context, node, 1, params.else_subgraph_index, "else", branches);
}

TfLiteStatus PrepareIf(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckChoice(context, node, TypeBit(kTfLiteBool), "a condition"));
  Branches branches;
  if (!FindIfBranches(context, node, &branches)) return kTfLiteError;
  return PrepareBranches(context, node, 1, branches);
}

TfLiteStatus EvalIf(TfLiteContext* context, TfLiteNode* node) {
  Branches branches;
  if (!FindIfBranches(context, node, &branches)) return kTfLiteError;
  const TfLiteTensor* condition = Input(context, node, 0);
  if (condition->data.b == nullptr) return TensorError(context, condition, "no data");
  // The condition is read as a byte, not a bool: clients may have written any value.
  const bool taken = *Data<uint8_t>(condition) != 0;
  return EvalBranch(context, node, 1, branches[taken ? 0 : 1]);
}

bool FindCases(TfLiteContext* context, const TfLiteNode* node, Branches* branches) {
  const auto& params = ParamsOf<TfLiteStablehloCaseParams>(node);
  for (uint32_t b = 0; b < params.num_branches; ++b) {
    const int index = params.branch_subgraph_indices[b];
    if (!AddBranch(context, node, 1, index, "branch", branches)) return false;
  }
  return true;
}

TfLiteStatus PrepareCase(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckChoice(context, node, kInt32Bit, "the number of a branch"));
  Branches branches;
  if (!FindCases(context, node, &branches)) return kTfLiteError;
  return PrepareBranches(context, node, 1, branches);
}

// An out-of-range index selects the last branch.
TfLiteStatus EvalCase(TfLiteContext* context, TfLiteNode* node) {
  Branches branches;
  if (!FindCases(context, node, &branches)) return kTfLiteError;
  const TfLiteTensor* choice = Input(context, node, 0);
  if (choice->data.raw == nullptr) return TensorError(context, choice, "no data");
  const int64_t number = *Data<int32_t>(choice), count = static_cast<int64_t>(branches.size());
  const int64_t taken = number >= 0 && number < count ? number : count - 1;
  return EvalBranch(context, node, 1, branches[static_cast<size_t>(taken)]);
}

bool FindDecomposition(TfLiteContext* context, const TfLiteNode* node, Branches* branches) {
  const int index = ParamsOf<TfLiteStablehloCompositeParams>(node).subgraph_index;
  return AddBranch(context, node, 0, index, "decomposition", branches);
}

// A composite that no delegate has claimed is computed by its decomposition.
TfLiteStatus PrepareComposite(TfLiteContext* context, TfLiteNode* node) {
  Branches branches;
  if (!FindDecomposition(context, node, &branches)) return kTfLiteError;
  return PrepareBranches(context, node, 0, branches);
}

TfLiteStatus EvalComposite(TfLiteContext* context, TfLiteNode* node) {
  Branches branches;
  if (!FindDecomposition(context, node, &branches)) return kTfLiteError;
  return EvalBranch(context, node, 0, branches[0]);
}

// ---- WHILE ------------------------------------------------------------------------------------

struct WhileParts {
  CallableSubgraph* condition = nullptr;
  CallableSubgraph* body = nullptr;
};

bool FindParts(TfLiteContext* context, const TfLiteNode* node, WhileParts* parts) {
  const TfLiteWhileParams& params = ParamsOf<TfLiteWhileParams>(node);
  const size_t values = static_cast<size_t>(node->inputs->size);
  if (node->outputs->size != node->inputs->size) {
    KernelError(context, "expected as many outputs as inputs, found %d and %d", node->outputs->size,
                node->inputs->size);
    return false;
  }
  if (params.cond_subgraph_index == params.body_subgraph_index) {
    KernelError(context, "condition and body: expected two subgraphs, found %d twice",
                params.body_subgraph_index);
    return false;
  }
  parts->condition = FindCallee(context, params.cond_subgraph_index, "condition", values, 1);
  if (parts->condition == nullptr) return false;
  parts->body = FindCallee(context, params.body_subgraph_index, "body", values, values);
  return parts->body != nullptr;
}

// Checks that the condition returns one bool; if its shape is unknown, it is checked at run time.
TfLiteStatus CheckCondition(TfLiteContext* context, CallableSubgraph* condition,
                            const CallOutput& result) {
  const TfLiteTensor* tensor = condition->output(0);
  DEPUTY_TRY(CheckType(context, tensor, TypeBit(kTfLiteBool)));
  if (!result.known || ElementCount(result.dims) == 1) return kTfLiteOk;
  return TensorError(context, tensor, "expected 1 elements, found %lld",
                     static_cast<long long>(ElementCount(result.dims)));
}

TfLiteStatus PrepareWhile(TfLiteContext* context, TfLiteNode* node) {
  WhileParts parts;
  if (!FindParts(context, node, &parts)) return kTfLiteError;
  const std::vector<CallInput> arguments = Arguments(context, node, 0);
  std::vector<CallOutput> of_condition, of_body;
  DEPUTY_TRY(parts.condition->InferOutputs(arguments, &of_condition));
  DEPUTY_TRY(parts.body->InferOutputs(arguments, &of_body));
  DEPUTY_TRY(CheckCondition(context, parts.condition, of_condition[0]));
  for (int n = 0; n < node->outputs->size; ++n) {
    TfLiteTensor* output = Output(context, node, n);
    const TfLiteTensor* input = Input(context, node, n);
    if (output == nullptr || input == nullptr) continue;
    const CallOutput& made = of_body[static_cast<size_t>(n)];
    if (made.type != input->type) {
      return TensorError(context, output, "the body's output %d: expected %s, found %s", n,
                         TfLiteTypeGetName(input->type), TfLiteTypeGetName(made.type));
    }
    output->type = input->type;
    const bool same_shape = TfLiteIntArrayEqualsArray(
        input->dims, static_cast<int>(made.dims.size()), made.dims.data());
    if (made.known && same_shape && !IsDynamic(input)) {
      DEPUTY_TRY(ResizeLike(context, output, input));
    } else {
      MakeDynamic(output);
    }
  }
  return kTfLiteOk;
}

// Values passed from one iteration to the next. They are separate from the body's tensors, whose
// memory may overlap, and which a condition that calls the body overwrites.
class LoopValues {
 public:
  explicit LoopValues(std::vector<CallInput> start) : values_(std::move(start)) {}

  const std::vector<CallInput>& values() const { return values_; }

  TfLiteStatus CopyFrom(TfLiteContext* context, CallableSubgraph* body) {
    kept_.resize(values_.size());
    for (size_t n = 0; n < values_.size(); ++n) {
      const CallInput made = ViewOf(body->output(n));
      const bool fits = made.type == values_[n].type || values_[n].type == kTfLiteNoType;
      if (!fits || (made.data == nullptr && made.bytes > 0)) {
        return KernelError(context, "the type of the body's output %zu differs from its input's",
                           n);
      }
      kept_[n].bytes.assign(made.data, made.data + made.bytes);
      kept_[n].dims.assign(made.dims.begin(), made.dims.end());
      values_[n] = {made.type, kept_[n].dims, kept_[n].bytes.data(), made.bytes};
    }
    return kTfLiteOk;
  }

 private:
  struct Kept {
    std::vector<char> bytes;
    std::vector<int> dims;
  };

  std::vector<CallInput> values_;
  std::vector<Kept> kept_;
};

TfLiteStatus EvalCondition(TfLiteContext* context, const LoopValues& loop,
                           CallableSubgraph* condition, bool* out_continues) {
  DEPUTY_TRY(condition->Call(loop.values()));
  const TfLiteTensor* result = condition->output(0);
  DEPUTY_TRY(CheckType(context, result, TypeBit(kTfLiteBool)));
  DEPUTY_TRY(CheckElementCount(context, result, 1));
  if (result->data.b == nullptr) return TensorError(context, result, "no data");
  *out_continues = *Data<uint8_t>(result) != 0;
  return kTfLiteOk;
}

TfLiteStatus EvalWhile(TfLiteContext* context, TfLiteNode* node) {
  WhileParts parts;
  if (!FindParts(context, node, &parts)) return kTfLiteError;
  LoopValues loop(Arguments(context, node, 0));
  for (;;) {
    if (RuntimeOf(context)->TakeCancellation()) {
      KernelError(context, "Client requested cancel during Invoke()");
      return kTfLiteCancelled;
    }
    bool continues = false;
    DEPUTY_TRY(EvalCondition(context, loop, parts.condition, &continues));
    if (!continues) break;
    DEPUTY_TRY(parts.body->Call(loop.values()));
    DEPUTY_TRY(loop.CopyFrom(context, parts.body));
  }
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(CopyOutput(context, node, n, loop.values()[static_cast<size_t>(n)]));
  }
  return kTfLiteOk;
}

// ---- CALL_ONCE --------------------------------------------------------------------------------

// Returns the subgraph that CALL_ONCE runs, which initialises variables and tables, or null after
// reporting an error. After it has succeeded, no CALL_ONCE of the interpreter runs the same
// subgraph again.
CallableSubgraph* FindInitialization(TfLiteContext* context, const TfLiteNode* node) {
  const int index = ParamsOf<TfLiteCallOnceParams>(node).init_subgraph_index;
  return FindCallee(context, index, "initialization", 0, 0);
}

TfLiteStatus PrepareCallOnce(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 0, 0, 0));
  return FindInitialization(context, node) == nullptr ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus EvalCallOnce(TfLiteContext* context, TfLiteNode* node) {
  CallableSubgraph* const subgraph = FindInitialization(context, node);
  if (subgraph == nullptr) return kTfLiteError;
  const int index = ParamsOf<TfLiteCallOnceParams>(node).init_subgraph_index;
  Resources& resources = RuntimeOf(context)->resources();
  if (resources.initialized(index)) return kTfLiteOk;
  DEPUTY_TRY(subgraph->Call({}));
  resources.SetInitialized(index);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

template <typename Params>
constexpr OpDef CallRow(OpDef row, uint8_t member, bool (*parse)(const OpOptions&, void*)) {
  row.options = {2, member};
  row.params_size = sizeof(Params);
  row.parse = parse;
  return row;
}

constexpr OpDef kTable[] = {
    WithOptions<92, TfLiteIfParams, &FillIf>(KernelRow<void>(
        "IF", kTfLiteBuiltinIf, 1, TypeBit(kTfLiteBool), &Guarded<&PrepareIf>, &Guarded<&EvalIf>)),
    WithOptions<93, TfLiteWhileParams, &FillWhile>(KernelRow<void>(
        "WHILE", kTfLiteBuiltinWhile, 1, kInt32Bit, &Guarded<&PrepareWhile>, &Guarded<&EvalWhile>)),
    WithOptions<103, TfLiteCallOnceParams, &FillCallOnce>(
        KernelRow<void>("CALL_ONCE", kTfLiteBuiltinCallOnce, 1, kFloat32Bit,
                        &Guarded<&PrepareCallOnce>, &Guarded<&EvalCallOnce>)),
    WithRefusal(
        CallRow<TfLiteStablehloCompositeParams>(
            KernelRow<void>("STABLEHLO_COMPOSITE", kTfLiteBuiltinStablehloComposite, 1, kFloat32Bit,
                            &Guarded<&PrepareComposite>, &Guarded<&EvalComposite>),
            21, &ParseComposite),
        &RefusedStablehloComposite),
    WithRefusal(CallRow<TfLiteStablehloCaseParams>(
                    KernelRow<void>("STABLEHLO_CASE", kTfLiteBuiltinStablehloCase, 1, kInt32Bit,
                                    &Guarded<&PrepareCase>, &Guarded<&EvalCase>),
                    23, &ParseCase),
                &RefusedStablehloCase),
};

}  // namespace

constexpr std::span<const OpDef> kControlOps = kTable;

}  // namespace deputy
