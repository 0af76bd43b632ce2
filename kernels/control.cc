// SPDX-License-Identifier: Apache-2.0
//
// IF and WHILE: operators that run other subgraphs. A branch or body takes the shapes and types of
// what it is given. Where its own outputs have shapes that prepare cannot know, or that differ
// between branches or iterations, the operator's outputs are dynamic.
//
// Calls cannot nest without end: the loader refuses subgraphs that call themselves, and the
// interpreter bounds the depth. WHILE has no bound on its iterations, but can be cancelled inside.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/registry.h"

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

bool IsDynamic(const TfLiteTensor* tensor) {
  return tensor != nullptr && tensor->allocation_type == kTfLiteDynamic;
}

// The callee, checked for the number of inputs and outputs that the node brings.
TfLiteStatus FindCallee(TfLiteContext* context, int index, const char* what, size_t inputs,
                        size_t outputs, CallableSubgraph** out_callee) {
  Runtime* runtime = RuntimeOf(context);
  if (runtime == nullptr) {
    return KernelError(context, "control flow needs the context of its own interpreter");
  }
  CallableSubgraph* callee = runtime->FindSubgraph(index);
  if (callee == nullptr) return KernelError(context, "%s subgraph %d does not exist", what, index);
  if (callee->inputs().size() != inputs || callee->outputs().size() != outputs) {
    return KernelError(context,
                       "%s subgraph %d: expected %zu inputs and %zu outputs, found %zu "
                       "and %zu",
                       what, index, inputs, outputs, callee->inputs().size(),
                       callee->outputs().size());
  }
  *out_callee = callee;
  return kTfLiteOk;
}

// Gives the n-th input of the callee the type and shape of `from`.
TfLiteStatus ShapeInput(CallableSubgraph* callee, size_t n, const TfLiteTensor* from) {
  const int index = callee->inputs()[n];
  if (index < 0 || from == nullptr) return kTfLiteOk;
  TfLiteTensor* input = callee->tensor(index);
  if (input->type != from->type) {
    input->type = from->type;
    // The memory behind it was planned for the old type.
    input->data.raw = input->allocation_type == kTfLiteDynamic ? input->data.raw : nullptr;
  }
  return callee->ResizeInputTensor(index, Dims(from));
}

// The payload of `from` into `to`, which has the same type and, unless dynamic, the same size.
TfLiteStatus CopyData(TfLiteContext* context, const TfLiteTensor* from, TfLiteTensor* to) {
  if (IsDynamic(to)) DEPUTY_TRY(TfLiteTensorRealloc(from->bytes, to));
  if (to->bytes != from->bytes) {
    return TensorError(context, to, "expected %zu bytes, found %zu", to->bytes, from->bytes);
  }
  if (from->bytes == 0) return kTfLiteOk;
  if (from->data.raw == nullptr || to->data.raw == nullptr) {
    return TensorError(context, to, "no data to copy");
  }
  memcpy(to->data.raw, from->data.raw, from->bytes);
  return kTfLiteOk;
}

TfLiteStatus CopyInput(TfLiteContext* context, CallableSubgraph* callee, size_t n,
                       const TfLiteTensor* from) {
  const int index = callee->inputs()[n];
  if (index < 0 || from == nullptr) return kTfLiteOk;
  return CopyData(context, from, callee->tensor(index));
}

bool SameShape(const TfLiteTensor* a, const TfLiteTensor* b) {
  return a->type == b->type && TfLiteIntArrayEqual(a->dims, b->dims) != 0;
}

// Brings the n-th input to the shape of `from`; `*out_changed` tells whether it had another.
TfLiteStatus Follow(CallableSubgraph* callee, size_t n, const TfLiteTensor* from,
                    bool* out_changed) {
  const int index = callee->inputs()[n];
  if (index < 0 || from == nullptr || SameShape(callee->tensor(index), from)) return kTfLiteOk;
  *out_changed = true;
  return ShapeInput(callee, n, from);
}

void MakeDynamic(TfLiteTensor* tensor) {
  if (IsDynamic(tensor)) return;
  tensor->allocation_type = kTfLiteDynamic;
  tensor->data.raw = nullptr;
}

// The n-th output of the callee into the node's, with its shape where that was left open.
TfLiteStatus TakeOutput(TfLiteContext* context, const TfLiteNode* node, int n,
                        const TfLiteTensor* from) {
  TfLiteTensor* output = Output(context, node, n);
  if (output == nullptr) return kTfLiteOk;
  if (from == nullptr || from->type != output->type) {
    return TensorError(context, output, "the subgraph's output %d has another type", n);
  }
  if (IsDynamic(output)) DEPUTY_TRY(ResizeLike(context, output, from));
  return CopyData(context, from, Output(context, node, n));
}

TfLiteTensor* CalleeOutput(CallableSubgraph* callee, size_t n) {
  return callee->tensor(callee->outputs()[n]);
}

// ---- IF ---------------------------------------------------------------------------------------

struct IfBranches {
  CallableSubgraph* then_branch = nullptr;
  CallableSubgraph* else_branch = nullptr;
};

TfLiteStatus FindBranches(TfLiteContext* context, const TfLiteNode* node, IfBranches* branches) {
  const TfLiteIfParams& params = ParamsOf<TfLiteIfParams>(node);
  const size_t inputs = static_cast<size_t>(node->inputs->size - 1);
  const size_t outputs = static_cast<size_t>(node->outputs->size);
  DEPUTY_TRY(FindCallee(context, params.then_subgraph_index, "then", inputs, outputs,
                        &branches->then_branch));
  return FindCallee(context, params.else_subgraph_index, "else", inputs, outputs,
                    &branches->else_branch);
}

TfLiteStatus PrepareBranch(TfLiteContext* context, const TfLiteNode* node,
                           CallableSubgraph* branch) {
  for (size_t n = 0; n < branch->inputs().size(); ++n) {
    DEPUTY_TRY(ShapeInput(branch, n, Input(context, node, static_cast<int>(n) + 1)));
  }
  return branch->AllocateTensors();
}

TfLiteStatus PrepareIf(TfLiteContext* context, TfLiteNode* node) {
  if (node->inputs->size < 1) return KernelError(context, "expected 1 or more inputs, found 0");
  const TfLiteTensor* condition = Input(context, node, 0);
  if (condition == nullptr) return KernelError(context, "input 0: expected a condition");
  DEPUTY_TRY(CheckType(context, condition, TypeBit(kTfLiteBool)));
  DEPUTY_TRY(CheckElementCount(context, condition, 1));
  IfBranches branches;
  DEPUTY_TRY(FindBranches(context, node, &branches));
  DEPUTY_TRY(PrepareBranch(context, node, branches.then_branch));
  DEPUTY_TRY(PrepareBranch(context, node, branches.else_branch));
  for (int n = 0; n < node->outputs->size; ++n) {
    TfLiteTensor* output = Output(context, node, n);
    if (output == nullptr) continue;
    const TfLiteTensor* a = CalleeOutput(branches.then_branch, static_cast<size_t>(n));
    const TfLiteTensor* b = CalleeOutput(branches.else_branch, static_cast<size_t>(n));
    if (a == nullptr || b == nullptr) return TensorError(context, output, "no such output inside");
    output->type = a->type;
    if (IsDynamic(a) || IsDynamic(b) || !SameShape(a, b)) {
      MakeDynamic(output);
    } else {
      DEPUTY_TRY(ResizeLike(context, output, a));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus EvalIf(TfLiteContext* context, TfLiteNode* node) {
  IfBranches branches;
  DEPUTY_TRY(FindBranches(context, node, &branches));
  const TfLiteTensor* condition = Input(context, node, 0);
  if (condition->data.b == nullptr) return TensorError(context, condition, "no data");
  CallableSubgraph* branch = *condition->data.b ? branches.then_branch : branches.else_branch;
  bool changed = false;
  for (size_t n = 0; n < branch->inputs().size(); ++n) {
    DEPUTY_TRY(Follow(branch, n, Input(context, node, static_cast<int>(n) + 1), &changed));
  }
  DEPUTY_TRY(branch->AllocateTensors());
  for (size_t n = 0; n < branch->inputs().size(); ++n) {
    DEPUTY_TRY(CopyInput(context, branch, n, Input(context, node, static_cast<int>(n) + 1)));
  }
  DEPUTY_TRY(branch->Invoke());
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(TakeOutput(context, node, n, CalleeOutput(branch, static_cast<size_t>(n))));
  }
  return kTfLiteOk;
}

// ---- WHILE ------------------------------------------------------------------------------------

struct WhileParts {
  CallableSubgraph* condition = nullptr;
  CallableSubgraph* body = nullptr;
};

TfLiteStatus FindParts(TfLiteContext* context, const TfLiteNode* node, WhileParts* parts) {
  const TfLiteWhileParams& params = ParamsOf<TfLiteWhileParams>(node);
  const size_t values = static_cast<size_t>(node->inputs->size);
  if (node->outputs->size != node->inputs->size) {
    return KernelError(context, "expected as many outputs as inputs, found %d and %d",
                       node->outputs->size, node->inputs->size);
  }
  if (params.cond_subgraph_index == params.body_subgraph_index) {
    return KernelError(context, "condition and body: expected two subgraphs, found %d twice",
                       params.body_subgraph_index);
  }
  DEPUTY_TRY(
      FindCallee(context, params.cond_subgraph_index, "condition", values, 1, &parts->condition));
  return FindCallee(context, params.body_subgraph_index, "body", values, values, &parts->body);
}

// The condition's answer is one bool; dynamic ones are looked at when they are there.
TfLiteStatus CheckCondition(TfLiteContext* context, CallableSubgraph* condition) {
  const TfLiteTensor* answer = CalleeOutput(condition, 0);
  if (answer == nullptr) return KernelError(context, "the condition has no output");
  DEPUTY_TRY(CheckType(context, answer, TypeBit(kTfLiteBool)));
  return IsDynamic(answer) ? kTfLiteOk : CheckElementCount(context, answer, 1);
}

TfLiteStatus PrepareWhile(TfLiteContext* context, TfLiteNode* node) {
  WhileParts parts;
  DEPUTY_TRY(FindParts(context, node, &parts));
  const size_t values = parts.body->inputs().size();
  for (CallableSubgraph* callee : {parts.condition, parts.body}) {
    for (size_t n = 0; n < values; ++n) {
      DEPUTY_TRY(ShapeInput(callee, n, Input(context, node, static_cast<int>(n))));
    }
    DEPUTY_TRY(callee->AllocateTensors());
  }
  DEPUTY_TRY(CheckCondition(context, parts.condition));
  for (size_t n = 0; n < values; ++n) {
    TfLiteTensor* output = Output(context, node, static_cast<int>(n));
    const TfLiteTensor* input = Input(context, node, static_cast<int>(n));
    if (output == nullptr || input == nullptr) continue;
    const TfLiteTensor* made = CalleeOutput(parts.body, n);
    if (made == nullptr || made->type != input->type) {
      return TensorError(context, output, "the body's output %zu: expected %s, found %s", n,
                         TfLiteTypeGetName(input->type),
                         made == nullptr ? "none" : TfLiteTypeGetName(made->type));
    }
    output->type = input->type;
    if (IsDynamic(made) || IsDynamic(input) || !SameShape(made, input)) {
      MakeDynamic(output);
    } else {
      DEPUTY_TRY(ResizeLike(context, output, input));
    }
  }
  return kTfLiteOk;
}

// Loop values between subgraphs: from the node's inputs or the body's outputs.
class LoopValues {
 public:
  LoopValues(TfLiteContext* context, const TfLiteNode* node, CallableSubgraph* body)
      : context_(context), node_(node), body_(body) {}

  const TfLiteTensor* Value(size_t n) const {
    return first_ ? Input(context_, node_, static_cast<int>(n)) : CalleeOutput(body_, n);
  }

  // Fills the callee's inputs with the present values.
  TfLiteStatus PassTo(CallableSubgraph* callee) const {
    bool changed = false;
    for (size_t n = 0; n < callee->inputs().size(); ++n) {
      DEPUTY_TRY(Follow(callee, n, Value(n), &changed));
    }
    DEPUTY_TRY(callee->AllocateTensors());
    for (size_t n = 0; n < callee->inputs().size(); ++n) {
      DEPUTY_TRY(CopyInput(context_, callee, n, Value(n)));
    }
    return kTfLiteOk;
  }

  // The body's outputs become its inputs. One may be another's source, so all are put aside first.
  TfLiteStatus PassBodyToItself() {
    const size_t count = body_->inputs().size();
    std::vector<std::vector<char>> bytes(count);
    std::vector<std::vector<int>> shapes(count);
    bool reshaped = false;
    for (size_t n = 0; n < count; ++n) {
      const TfLiteTensor* made = CalleeOutput(body_, n);
      const TfLiteTensor* input = body_->tensor(body_->inputs()[n]);
      if (made == nullptr || input == nullptr || made->type != input->type) {
        return KernelError(context_, "the body's output %zu is not of its input's type", n);
      }
      bytes[n].assign(made->data.raw, made->data.raw + made->bytes);
      shapes[n].assign(Dims(made).begin(), Dims(made).end());
      reshaped = reshaped || !SameShape(made, input);
    }
    for (size_t n = 0; n < count && reshaped; ++n) {
      DEPUTY_TRY(body_->ResizeInputTensor(body_->inputs()[n], shapes[n]));
    }
    if (reshaped) DEPUTY_TRY(body_->AllocateTensors());
    for (size_t n = 0; n < count; ++n) {
      TfLiteTensor* input = body_->tensor(body_->inputs()[n]);
      if (IsDynamic(input)) DEPUTY_TRY(TfLiteTensorRealloc(bytes[n].size(), input));
      if (input->bytes != bytes[n].size()) return TensorError(context_, input, "wrong size");
      if (!bytes[n].empty()) memcpy(input->data.raw, bytes[n].data(), bytes[n].size());
    }
    return kTfLiteOk;
  }

  void BodyHasRun() { first_ = false; }
  bool first() const { return first_; }

 private:
  TfLiteContext* context_;
  const TfLiteNode* node_;
  CallableSubgraph* body_;
  bool first_ = true;
};

TfLiteStatus EvalCondition(TfLiteContext* context, const LoopValues& values,
                           CallableSubgraph* condition, bool* out_go_on) {
  DEPUTY_TRY(values.PassTo(condition));
  DEPUTY_TRY(condition->Invoke());
  const TfLiteTensor* answer = CalleeOutput(condition, 0);
  DEPUTY_TRY(CheckElementCount(context, answer, 1));
  if (answer->data.b == nullptr) return TensorError(context, answer, "no data");
  *out_go_on = *answer->data.b;
  return kTfLiteOk;
}

TfLiteStatus EvalWhile(TfLiteContext* context, TfLiteNode* node) {
  WhileParts parts;
  DEPUTY_TRY(FindParts(context, node, &parts));
  LoopValues values(context, node, parts.body);
  for (;;) {
    if (RuntimeOf(context)->TakeCancellation()) {
      KernelError(context, "Client requested cancel during Invoke()");
      return kTfLiteCancelled;
    }
    bool go_on = false;
    DEPUTY_TRY(EvalCondition(context, values, parts.condition, &go_on));
    if (!go_on) break;
    DEPUTY_TRY(values.first() ? values.PassTo(parts.body) : values.PassBodyToItself());
    DEPUTY_TRY(parts.body->Invoke());
    values.BodyHasRun();
  }
  for (int n = 0; n < node->outputs->size; ++n) {
    DEPUTY_TRY(TakeOutput(context, node, n, values.Value(static_cast<size_t>(n))));
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
