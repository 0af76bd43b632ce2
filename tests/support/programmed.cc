// SPDX-License-Identifier: Apache-2.0
#include "tests/support/programmed.h"

#include <algorithm>
#include <utility>

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

TfLiteContext* Plain(TfLiteOpaqueContext* context) {
  return reinterpret_cast<TfLiteContext*>(context);
}

TfLiteStatus CallKernel(const KernelFunction& function, TfLiteContext* context, TfLiteNode* node) {
  return function ? function(context, node) : kTfLiteOk;
}

// ---- The kernel of a ProgrammedDelegate ---------------------------------------------------------

ProgrammedDelegate* Whole(void* data) {
  return static_cast<ProgrammedDelegate*>(static_cast<Programmed*>(data));
}

void* InitKernel(TfLiteContext* context, const char* buffer, size_t length) {
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  ProgrammedDelegate* self = Whole(params->delegate->data_);
  if (self->init) self->init(context, params, length);
  return params->delegate->data_;
}

void FreeKernel(TfLiteContext*, void* user_data) {
  ProgrammedDelegate* self = Whole(user_data);
  if (self->free) self->free();
}

TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return CallKernel(Whole(node->user_data)->prepare, context, node);
}

TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  return CallKernel(Whole(node->user_data)->invoke, context, node);
}

// ---- The functions of a ProgrammedOperator ------------------------------------------------------

void* InitOperator(void* data, TfLiteOpaqueContext* context, const char* options, size_t length) {
  auto* self = static_cast<ProgrammedOperator*>(data);
  return self->init ? self->init(Plain(context), options, length) : self;
}

void FreeOperator(void* data, TfLiteOpaqueContext* context, void* user_data) {
  auto* self = static_cast<ProgrammedOperator*>(data);
  if (self->free) self->free(Plain(context), user_data);
}

TfLiteStatus PrepareOperator(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  return CallKernel(static_cast<ProgrammedOperator*>(data)->prepare, Plain(context),
                    reinterpret_cast<TfLiteNode*>(node));
}

TfLiteStatus InvokeOperator(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  return CallKernel(static_cast<ProgrammedOperator*>(data)->invoke, Plain(context),
                    reinterpret_cast<TfLiteNode*>(node));
}

}  // namespace

TfLiteIntArray* NewIntArray(const std::vector<int>& values) {
  TfLiteIntArray* array = TfLiteIntArrayCreate(static_cast<int>(values.size()));
  std::copy(values.begin(), values.end(), array->data);
  return array;
}

std::vector<int> ToVector(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

std::vector<int> PlanOf(TfLiteContext* context) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return {-1};
  return ToVector(plan);
}

TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate,
                        const std::vector<int>& nodes) {
  TfLiteRegistration kernel{};
  kernel.init = InitKernel;
  kernel.free = FreeKernel;
  kernel.prepare = PrepareKernel;
  kernel.invoke = InvokeKernel;
  kernel.custom_name = "Programmed";
  kernel.version = 1;
  TfLiteIntArray* taken = NewIntArray(nodes);
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, taken, delegate);
  TfLiteIntArrayFree(taken);
  return status;
}

Programmed::Body ClaimingBody(std::vector<int> nodes) {
  return [nodes = std::move(nodes)](TfLiteContext* context, TfLiteDelegate* delegate) {
    return ClaimNodes(context, delegate, nodes);
  };
}

ProgrammedOpaque::ProgrammedOpaque(Body prepare_delegate, int64_t flags)
    : body(std::move(prepare_delegate)) {
  TfLiteOpaqueDelegateBuilder builder{};
  builder.data = this;
  builder.flags = flags;
  builder.Prepare = [](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* self, void* data) {
    return static_cast<ProgrammedOpaque*>(data)->body(context, self);
  };
  delegate = TfLiteOpaqueDelegateCreate(&builder);
}

ProgrammedOpaque::~ProgrammedOpaque() { TfLiteOpaqueDelegateDelete(delegate); }

ProgrammedOperator::ProgrammedOperator(const char* name)
    : op(TfLiteOperatorCreate(kTfLiteBuiltinCustom, name, 1, this)) {
  TfLiteOperatorSetInitWithData(op, InitOperator);
  TfLiteOperatorSetFreeWithData(op, FreeOperator);
  TfLiteOperatorSetPrepareWithData(op, PrepareOperator);
  TfLiteOperatorSetInvokeWithData(op, InvokeOperator);
}

ProgrammedOperator::~ProgrammedOperator() { TfLiteOperatorDelete(op); }

TestInterpreter::Configure ProgrammedOperator::Configure() {
  return [this](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddOperator(options, op);
  };
}

std::vector<uint8_t> CustomNode(const std::string& name, int version) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddCustomOp(name, {x}, {y}, {}, version);
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

}  // namespace deputy
