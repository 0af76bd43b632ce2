// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators and type conversions.
#include <algorithm>

#include "bridges/nnapi/operators.h"

namespace deputy::nnapi {
namespace {

// Returns the fused activation of ADD, SUB, MUL or DIV, whose parameter structs differ.
TfLiteFusedActivation ActivationOf(const Operation& op) {
  switch (op.code) {
    case kAdd:
      return op.params<TfLiteAddParams>().activation;
    case kSub:
      return op.params<TfLiteSubParams>().activation;
    case kMul:
      return op.params<TfLiteMulParams>().activation;
    default:
      return op.params<TfLiteDivParams>().activation;
  }
}

void FinishFused(const Operation& op, int32_t fuse) {
  op.definition->Input(op.In(0));
  op.definition->Input(op.In(1));
  op.definition->Int(fuse);
  op.Finish();
}

}  // namespace

void DefineBinary(const Operation& op) {
  int32_t fuse = kFusedNone;
  if (!op.ExpectInputs(2, 2) || !op.ExpectSameType(op.in(0), op.in(1)) ||
      !op.ExpectSameType(op.in(0), op.out(0)) || !op.ReadFuse(ActivationOf(op), &fuse)) {
    return;
  }
  if (op.in(0).type == kTfLiteInt32 && fuse != kFusedNone) {
    op.definition->Refuse(kDeputyReasonParameter, "fused activation: expected none for INT32");
    return;
  }
  if (op.code == kMul && !op.ExpectProductScale(op.in(0), op.in(1))) return;
  FinishFused(op, fuse);
}

void DefineDiv(const Operation& op) { DefineBinary(op); }

void DefinePlain(const Operation& op) {
  if (!op.ExpectInputs(1, 2)) return;
  for (int i = 0; i < op.inputs(); ++i) {
    if (op.In(i) < 0 || !op.ExpectSameQuantization(op.in(i), op.out(0))) {
      op.definition->Refuse(kDeputyReasonOther, "an input is missing");
      return;
    }
  }
  op.FinishWith(op.inputs());
}

void DefineCompare(const Operation& op) {
  // The scales must be equal: otherwise the CPU compares requantised values, whereas NNAPI compares
  // real values.
  if (!op.ExpectInputs(2, 2) || !op.ExpectSameQuantization(op.in(0), op.in(1)) ||
      !op.ExpectType(op.out(0), kTfLiteBool)) {
    return;
  }
  op.FinishWith(2);
}

void DefineSquare(const Operation& op) {
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0))) return;
  op.definition->Input(op.In(0));
  op.definition->Input(op.In(0));
  op.definition->Int(kFusedNone);
  op.Finish();
}

void DefineFixedScale(const Operation& op) {
  const bool is_tanh = op.code == kTanh;
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0)) ||
      !op.ExpectQuantization(op.out(0), is_tanh ? 1.0F / 128 : 1.0F / 256, is_tanh ? 128 : 0)) {
    return;
  }
  op.FinishWith(1);
}

void DefineElu(const Operation& op) {
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0))) return;
  op.definition->Input(op.In(0));
  op.definition->Float(1.0F);
  op.Finish();
}

void DefineAnyScales(const Operation& op) {
  const int count = op.code == kPrelu ? 2 : 1;
  if (!op.ExpectInputs(count, count) || !op.ExpectSameType(op.in(0), op.out(0)) ||
      !op.ExpectSameType(op.in(0), op.in(count - 1))) {
    return;
  }
  op.FinishWith(count);
}

void DefineSoftmax(const Operation& op) {
  const TfLiteTensor& input = op.in(0);
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(input, op.out(0)) ||
      !op.ExpectQuantization(op.out(0), 1.0F / 256, 0)) {
    return;
  }
  if (op.level() < kFeatureLevel3 && input.dims->size != 2 && !op.ExpectRank(input, 4)) return;
  const float beta = op.params<TfLiteSoftmaxParams>().beta;
  if (!(beta > 0)) {
    op.definition->Refuse(kDeputyReasonParameter, "beta: expected a positive number");
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Float(beta);
  op.Finish();
}

void DefineLogSoftmax(const Operation& op) {
  if (!op.ExpectInputs(1, 1) || !op.ExpectSameType(op.in(0), op.out(0))) return;
  op.definition->Input(op.In(0));
  op.definition->Float(1.0F);
  op.definition->Int(-1);
  op.Finish();
}

void DefineQuantize(const Operation& op) {
  if (!op.ExpectInputs(1, 1)) return;
  if (!IsQuantized(op.out(0)) && !op.ExpectType(op.out(0), kTfLiteInt8)) return;
  op.FinishWith(1);
}

void DefineDequantize(const Operation& op) {
  if (!op.ExpectInputs(1, 1) || !op.ExpectType(op.out(0), kTfLiteFloat32)) return;
  op.FinishWith(1);
}

void DefineCast(const Operation& op) {
  if (!op.ExpectInputs(1, 1)) return;
  if (op.out(0).type != kTfLiteInt32 && !op.ExpectType(op.out(0), kTfLiteFloat32)) return;
  op.FinishWith(1);
}

void DefineSelect(const Operation& op) {
  if (!op.ExpectInputs(3, 3) || !op.ExpectType(op.in(0), kTfLiteBool) ||
      !op.ExpectSameShape(op.out(0), op.in(0))) {
    return;
  }
  for (int i = 1; i < 3; ++i) {
    if (!op.ExpectSameQuantization(op.in(i), op.out(0)) ||
        !op.ExpectSameShape(op.out(0), op.in(i))) {
      return;
    }
  }
  op.FinishWith(3);
}

}  // namespace deputy::nnapi
