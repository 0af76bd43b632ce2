// SPDX-License-Identifier: Apache-2.0
//
// IF and WHILE: operators that run other subgraphs. A branch or body takes the shapes and types of
// what it is given. Where its own outputs have shapes that prepare cannot know, or that differ
// between branches or iterations, the operator's outputs are dynamic.
//
// Calls cannot nest without end: the loader refuses subgraphs that call themselves, and the
// interpreter bounds the depth. WHILE has no bound on its iterations, but can be cancelled inside.
#include <cstring>
#include <vector>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

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

// ---- Calls ------------------------------------------------------------------------------------

// The callee, checked for the number of inputs and outputs that the node brings; null after a
// report.
CallableSubgraph* FindCallee(TfLiteContext* context, int index, const char* what, size_t inputs,
                             size_t outputs) {
  Runtime* runtime = RuntimeOf(context);
  if (runtime == nullptr) {
    KernelError(context, "control flow needs the context of its own interpreter");
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

// The node's inputs from number `first` on, as arguments of a call.
std::vector<CallInput> Arguments(TfLiteContext* context, const TfLiteNode* node, int first) {
  std::vector<CallInput> arguments;
  for (int n = first; n < node->inputs->size; ++n) {
    arguments.push_back(ViewOf(Input(context, node, n)));
  }
  return arguments;
}

// The node's n-th output gets a value that a call returned, with its shape where that was left
// open.
TfLiteStatus TakeOutput(TfLiteContext* context, const TfLiteNode* node, int n,
                        const CallInput& value) {
  TfLiteTensor* output = Output(context, node, n);
  if (output == nullptr) return kTfLiteOk;
  if (value.type == kTfLiteNoType || value.type != output->type) {
    return TensorError(context, output, "the subgraph's output %d has another type", n);
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

// ---- IF ---------------------------------------------------------------------------------------

struct IfBranches {
  CallableSubgraph* then_branch = nullptr;
  CallableSubgraph* else_branch = nullptr;
};

// False after a report; FindParts likewise.
bool FindBranches(TfLiteContext* context, const TfLiteNode* node, IfBranches* branches) {
  const TfLiteIfParams& params = ParamsOf<TfLiteIfParams>(node);
  const size_t inputs = static_cast<size_t>(node->inputs->size - 1);
  const size_t outputs = static_cast<size_t>(node->outputs->size);
  branches->then_branch = FindCallee(context, params.then_subgraph_index, "then", inputs, outputs);
  if (branches->then_branch == nullptr) return false;
  branches->else_branch = FindCallee(context, params.else_subgraph_index, "else", inputs, outputs);
  return branches->else_branch != nullptr;
}

TfLiteStatus PrepareIf(TfLiteContext* context, TfLiteNode* node) {
  if (node->inputs->size < 1) return KernelError(context, "expected 1 or more inputs, found 0");
  const TfLiteTensor* condition = Input(context, node, 0);
  if (condition == nullptr) return KernelError(context, "input 0: expected a condition");
  DEPUTY_TRY(CheckType(context, condition, TypeBit(kTfLiteBool)));
  DEPUTY_TRY(CheckElementCount(context, condition, 1));
  IfBranches branches;
  if (!FindBranches(context, node, &branches)) return kTfLiteError;
  const std::vector<CallInput> arguments = Arguments(context, node, 1);
  std::vector<CallOutput> of_then, of_else;
  DEPUTY_TRY(branches.then_branch->InferOutputs(arguments, &of_then));
  DEPUTY_TRY(branches.else_branch->InferOutputs(arguments, &of_else));
  for (int n = 0; n < node->outputs->size; ++n) {
    TfLiteTensor* output = Output(context, node, n);
    if (output == nullptr) continue;
    const CallOutput& a = of_then[static_cast<size_t>(n)];
    const CallOutput& b = of_else[static_cast<size_t>(n)];
    output->type = a.type;
    if (a.known && b.known && a.type == b.type && a.dims == b.dims) {
      DEPUTY_TRY(ResizeTo(context, output, a.dims));
    } else {
      MakeDynamic(output);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus EvalIf(TfLiteContext* context, TfLiteNode* node) {
  IfBranches branches;
  if (!FindBranches(context, node, &branches)) return kTfLiteError;
  const TfLiteTensor* condition = Input(context, node, 0);
  if (condition->data.b == nullptr) return TensorError(context, condition, "no data");
  // A byte, not a bool: the caller may have written any number.
  const bool taken = *Data<uint8_t>(condition) != 0;
  CallableSubgraph* branch = taken ? branches.then_branch : branches.else_branch;
  DEPUTY_TRY(branch->Call(Arguments(context, node, 1)));
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(TakeOutput(context, node, n, ViewOf(branch->output(static_cast<size_t>(n)))));
  }
  return kTfLiteOk;
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

// The condition returns one bool; one of unknown shape is checked when it is there.
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

// The values that go from one iteration to the next. They are kept apart from the body's tensors:
// there, one's place may be another's source, and a condition that calls the body overwrites all.
class LoopValues {
 public:
  explicit LoopValues(std::vector<CallInput> start) : values_(std::move(start)) {}

  const std::vector<CallInput>& values() const { return values_; }

  TfLiteStatus TakeFrom(TfLiteContext* context, CallableSubgraph* body) {
    kept_.resize(values_.size());
    for (size_t n = 0; n < values_.size(); ++n) {
      const CallInput made = ViewOf(body->output(n));
      const bool fits = made.type == values_[n].type || values_[n].type == kTfLiteNoType;
      if (!fits || (made.data == nullptr && made.bytes > 0)) {
        return KernelError(context, "the body's output %zu is not of its input's type", n);
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
                           CallableSubgraph* condition, bool* out_go_on) {
  DEPUTY_TRY(condition->Call(loop.values()));
  const TfLiteTensor* result = condition->output(0);
  DEPUTY_TRY(CheckType(context, result, TypeBit(kTfLiteBool)));
  DEPUTY_TRY(CheckElementCount(context, result, 1));
  if (result->data.b == nullptr) return TensorError(context, result, "no data");
  *out_go_on = *Data<uint8_t>(result) != 0;
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
    bool go_on = false;
    DEPUTY_TRY(EvalCondition(context, loop, parts.condition, &go_on));
    if (!go_on) break;
    DEPUTY_TRY(parts.body->Call(loop.values()));
    DEPUTY_TRY(loop.TakeFrom(context, parts.body));
  }
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(TakeOutput(context, node, n, loop.values()[static_cast<size_t>(n)]));
  }
  return kTfLiteOk;
}

// CALL_ONCE has no kernel here yet.
bool FillCallOnce(const OpOptions& options, TfLiteCallOnceParams* params) {
  params->init_subgraph_index = options.Int(0);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "IF",
     .code = kTfLiteBuiltinIf,
     .min_version = 1,
     .max_version = 1,
     .types = TypeBit(kTfLiteBool),
     .options = {1, 92},
     .params_size = sizeof(TfLiteIfParams),
     .parse = &ParseOptions<92, TfLiteIfParams, &FillIf>,
     .init = nullptr,
     .free = nullptr,
     .prepare = &Guarded<&PrepareIf>,
     .invoke = &Guarded<&EvalIf>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "WHILE",
     .code = kTfLiteBuiltinWhile,
     .min_version = 1,
     .max_version = 1,
     .types = kInt32Bit,
     .options = {1, 93},
     .params_size = sizeof(TfLiteWhileParams),
     .parse = &ParseOptions<93, TfLiteWhileParams, &FillWhile>,
     .init = nullptr,
     .free = nullptr,
     .prepare = &Guarded<&PrepareWhile>,
     .invoke = &Guarded<&EvalWhile>,
     .inplace = kTfLiteInplaceOpNone},
    ParserRow("CALL_ONCE", kTfLiteBuiltinCallOnce, {1, 103}, sizeof(TfLiteCallOnceParams),
              &ParseOptions<103, TfLiteCallOnceParams, &FillCallOnce>),
};

}  // namespace

constexpr std::span<const OpDef> kControlOps = kTable;

}  // namespace deputy
