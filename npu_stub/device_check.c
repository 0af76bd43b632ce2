/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/device_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "npu_stub/graph.h"

/* Upper bound on extents, strides and similar values, so that sums and products of two fit in 64
 * bits. */
enum { kMaxValue = 1 << 28 };

typedef struct Op {
  const NpuOp* op;
  const NpuTensor* in[3]; /* the first three inputs; NULL if there are fewer */
  const NpuTensor* out;
  const NpuGraph* graph;
} Op;

/* A check of one kind of operation. Returns NULL or an error message. */
typedef const char* (*KindCheck)(const Op* op);

static bool InRange(int32_t value, int32_t min, int32_t max) {
  return value >= min && value <= max;
}

/* Returns the extent of a dimension counted from the last one; 1 beyond the rank. */
static int32_t DimFromBack(const NpuTensor* tensor, int32_t back) {
  return back < tensor->rank ? tensor->dims[tensor->rank - 1 - back] : 1;
}

static bool BroadcastsTo(const NpuTensor* from, const NpuTensor* to) {
  if (from->rank > to->rank) return false;
  for (int32_t i = 0; i < to->rank; ++i) {
    const int32_t dim = DimFromBack(from, i);
    if (dim != 1 && dim != DimFromBack(to, i)) return false;
  }
  return true;
}

static const char* CheckUnary(const Op* op) {
  if (!InRange(op->op->function, 1, kNpuUnaryEnd - 1)) return "unknown function";
  const int32_t type = op->op->function == kNpuLogicalNot ? kNpuBool : kNpuFloat32;
  if (op->in[0]->type != type || op->out->type != type) return "wrong type";
  return NpuSameDims(op->in[0], op->out) ? NULL : "wrong shape";
}

static const char* CheckBinary(const Op* op) {
  const int32_t function = op->op->function;
  if (!InRange(function, 1, kNpuBinaryEnd - 1)) return "unknown function";
  const int32_t in_type = function >= kNpuLogicalAnd ? kNpuBool : kNpuFloat32;
  const int32_t out_type = function >= kNpuEqual ? kNpuBool : kNpuFloat32;
  if (op->in[0]->type != in_type || op->in[1]->type != in_type) return "wrong type";
  if (op->out->type != out_type) return "wrong type of output";
  const bool fits = BroadcastsTo(op->in[0], op->out) && BroadcastsTo(op->in[1], op->out);
  return fits ? NULL : "shapes do not broadcast";
}

static const char* CheckCast(const Op* op) {
  return NpuSameDims(op->in[0], op->out) ? NULL : "wrong shape";
}

static bool AreImages(const Op* op) {
  return op->in[0]->rank == 4 && op->out->rank == 4 && op->in[0]->type == kNpuFloat32 &&
         op->out->type == kNpuFloat32 && op->in[0]->dims[0] == op->out->dims[0];
}

static const char* CheckConv(const Op* op) {
  const NpuTensor* weights = op->in[1];
  const NpuTensor* bias = op->op->input_count > 2 ? op->in[2] : NULL;
  const int32_t* a = op->op->attributes;
  const bool transposed = op->op->kind == kNpuConvTranspose;
  const int32_t groups = transposed ? 1 : a[kNpuConvGroups];
  if (!AreImages(op) || weights->rank != 4 || weights->type != kNpuFloat32) return "wrong shape";
  if (!InRange(a[kNpuConvStrideH], 1, kMaxValue) || !InRange(a[kNpuConvStrideW], 1, kMaxValue) ||
      !InRange(a[kNpuConvPadTop], 0, kMaxValue) || !InRange(a[kNpuConvPadLeft], 0, kMaxValue)) {
    return "stride or padding out of range";
  }
  if (!transposed && (!InRange(a[kNpuConvDilationH], 1, kMaxValue) ||
                      !InRange(a[kNpuConvDilationW], 1, kMaxValue))) {
    return "dilation out of range";
  }
  if (!InRange(groups, 1, weights->dims[0]) || weights->dims[0] % groups != 0)
    return "invalid groups";
  if ((int64_t)weights->dims[1] * groups != op->in[0]->dims[1]) return "wrong number of channels";
  if (op->out->dims[1] != weights->dims[0]) return "wrong number of output channels";
  if (bias == NULL) return NULL;
  const bool fits =
      bias->type == kNpuFloat32 && bias->rank == 1 && bias->dims[0] == weights->dims[0];
  return fits ? NULL : "wrong bias";
}

static const char* CheckPool(const Op* op) {
  if (!InRange(op->op->function, kNpuPoolMax, kNpuPoolAverage)) return "unknown function";
  if (!AreImages(op) || op->in[0]->dims[1] != op->out->dims[1]) return "wrong shape";
  const int32_t* a = op->op->attributes;
  const bool fits =
      InRange(a[kNpuPoolStrideH], 1, kMaxValue) && InRange(a[kNpuPoolStrideW], 1, kMaxValue) &&
      InRange(a[kNpuPoolPadTop], 0, kMaxValue) && InRange(a[kNpuPoolPadLeft], 0, kMaxValue) &&
      InRange(a[kNpuPoolFilterH], 1, kMaxValue) && InRange(a[kNpuPoolFilterW], 1, kMaxValue);
  return fits ? NULL : "window out of range";
}

static const char* CheckResize(const Op* op) {
  if (!InRange(op->op->function, kNpuResizeBilinear, kNpuResizeNearest)) return "unknown function";
  return AreImages(op) && op->in[0]->dims[1] == op->out->dims[1] ? NULL : "wrong shape";
}

static const char* CheckMatMul(const Op* op) {
  const NpuTensor *a = op->in[0], *b = op->in[1];
  if (a->rank < 2 || b->rank < 2 || a->type != kNpuFloat32 || b->type != kNpuFloat32 ||
      op->out->type != kNpuFloat32 || op->out->rank < 2) {
    return "wrong rank or type";
  }
  const int32_t across_a = op->op->attributes[kNpuMatMulTransposeA] != 0 ? 1 : 0;
  const int32_t across_b = op->op->attributes[kNpuMatMulTransposeB] != 0 ? 1 : 0;
  const int32_t n = DimFromBack(b, across_b);
  if (DimFromBack(a, across_a) != DimFromBack(b, 1 - across_b)) return "inner dimensions differ";
  if (DimFromBack(op->out, 1) != DimFromBack(a, 1 - across_a)) return "wrong rows of output";
  if (DimFromBack(op->out, 0) != n) return "wrong columns of output";
  for (int32_t i = 2; i < NPU_MAX_RANK; ++i) {
    const int32_t out = DimFromBack(op->out, i);
    if ((DimFromBack(a, i) != out && DimFromBack(a, i) != 1) ||
        (DimFromBack(b, i) != out && DimFromBack(b, i) != 1)) {
      return "batches do not broadcast";
    }
  }
  if (op->op->input_count < 3) return NULL;
  const NpuTensor* bias = op->in[2];
  return bias->type == kNpuFloat32 && bias->rank == 1 && bias->dims[0] == n ? NULL : "wrong bias";
}

static bool HasAxis(const Op* op) {
  return InRange(op->op->attributes[kNpuAxis], 0, op->in[0]->rank - 1);
}

static const char* CheckSoftmax(const Op* op) {
  if (!HasAxis(op)) return "axis out of range";
  if (op->in[0]->type != kNpuFloat32 || op->out->type != kNpuFloat32) return "wrong type";
  return NpuSameDims(op->in[0], op->out) ? NULL : "wrong shape";
}

static const char* CheckReduce(const Op* op) {
  const NpuTensor* in = op->in[0];
  if (!InRange(op->op->function, 1, kNpuReduceEnd - 1)) return "unknown function";
  if (!InRange(op->op->attributes[kNpuAxisMask], 0, (1 << in->rank) - 1)) return "invalid axes";
  if (in->type != op->out->type || in->type == kNpuBool) return "wrong type";
  if (op->op->function == kNpuReduceMean && in->type != kNpuFloat32) return "wrong type";
  size_t left = 1;
  for (int32_t i = 0; i < in->rank; ++i) {
    if ((op->op->attributes[kNpuAxisMask] >> i & 1) == 0) left *= (size_t)in->dims[i];
  }
  return left == NpuElementCount(op->out) ? NULL : "wrong shape";
}

static const char* CheckArgMax(const Op* op) {
  if (!HasAxis(op)) return "axis out of range";
  if (op->in[0]->type != kNpuFloat32 || op->out->type != kNpuInt32) return "wrong type";
  const size_t length = (size_t)op->in[0]->dims[op->op->attributes[kNpuAxis]];
  return NpuElementCount(op->in[0]) == NpuElementCount(op->out) * length ? NULL : "wrong shape";
}

static const char* CheckConcat(const Op* op) {
  if (!HasAxis(op)) return "axis out of range";
  const int32_t axis = op->op->attributes[kNpuAxis];
  int64_t sum = 0;
  for (int32_t i = 0; i < op->op->input_count; ++i) {
    NpuTensor part = op->graph->tensors[op->op->inputs[i]];
    if (part.type != op->out->type || part.rank != op->out->rank) return "wrong type or rank";
    sum += part.dims[axis];
    part.dims[axis] = op->out->dims[axis];
    if (!NpuSameDims(&part, op->out)) return "wrong shape";
  }
  return sum == op->out->dims[axis] ? NULL : "wrong length of output";
}

static const char* CheckGather(const Op* op) {
  if (!HasAxis(op)) return "axis out of range";
  if (op->in[1]->type != kNpuInt32 || op->in[0]->type != op->out->type) return "wrong type";
  const size_t length = (size_t)op->in[0]->dims[op->op->attributes[kNpuAxis]];
  const size_t rest = NpuElementCount(op->in[0]) / length;
  const size_t indices = NpuElementCount(op->in[1]);
  const size_t out = NpuElementCount(op->out);
  return out % rest == 0 && out / rest == indices ? NULL : "wrong shape";
}

/* Returns true if the output has the type and rank of the input. */
static bool HasInputType(const Op* op) {
  return op->in[0]->type == op->out->type && op->in[0]->rank == op->out->rank;
}

static const char* CheckPad(const Op* op) {
  if (!HasInputType(op) || op->in[0]->type == kNpuBool) return "wrong type or rank";
  for (int32_t i = 0; i < op->out->rank; ++i) {
    const int32_t before = op->op->attributes[kNpuPadBefore + i];
    if (!InRange(before, 0, op->out->dims[i] - op->in[0]->dims[i])) return "padding out of range";
  }
  return NULL;
}

static const char* CheckReshape(const Op* op) {
  if (op->in[0]->type != op->out->type) return "wrong type";
  return NpuElementCount(op->in[0]) == NpuElementCount(op->out) ? NULL : "wrong shape";
}

static const char* CheckSlice(const Op* op) {
  if (!HasInputType(op)) return "wrong type or rank";
  for (int32_t i = 0; i < op->out->rank; ++i) {
    const int64_t begin = op->op->attributes[kNpuSliceBegin + i];
    const int64_t stride = op->op->attributes[kNpuSliceStride + i];
    const int64_t last = begin + (op->out->dims[i] - 1) * stride;
    const int64_t length = op->in[0]->dims[i];
    if (stride == 0 || begin < 0 || begin >= length || last < 0 || last >= length) {
      return "slice out of range";
    }
  }
  return NULL;
}

static const char* CheckTile(const Op* op) {
  if (!HasInputType(op)) return "wrong type or rank";
  for (int32_t i = 0; i < op->out->rank; ++i) {
    if (op->out->dims[i] % op->in[0]->dims[i] != 0) return "wrong shape";
  }
  return NULL;
}

static const char* CheckBroadcast(const Op* op) {
  if (op->in[0]->type != op->out->type) return "wrong type";
  return BroadcastsTo(op->in[0], op->out) ? NULL : "shapes do not broadcast";
}

static const char* CheckTranspose(const Op* op) {
  if (!HasInputType(op)) return "wrong type or rank";
  int32_t seen = 0;
  for (int32_t i = 0; i < op->out->rank; ++i) {
    const int32_t from = op->op->attributes[kNpuPermutation + i];
    if (!InRange(from, 0, op->out->rank - 1) || (seen >> from & 1) != 0)
      return "invalid permutation";
    seen |= 1 << from;
    if (op->out->dims[i] != op->in[0]->dims[from]) return "wrong shape";
  }
  return NULL;
}

static const struct {
  int32_t min, max; /* number of inputs; -1: no limit */
  KindCheck check;
} kKinds[] = {
    [kNpuUnary] = {1, 1, CheckUnary},         [kNpuBinary] = {2, 2, CheckBinary},
    [kNpuCast] = {1, 1, CheckCast},           [kNpuConv] = {2, 3, CheckConv},
    [kNpuConvTranspose] = {2, 3, CheckConv},  [kNpuPool] = {1, 1, CheckPool},
    [kNpuResize] = {1, 1, CheckResize},       [kNpuMatMul] = {2, 3, CheckMatMul},
    [kNpuSoftmax] = {1, 1, CheckSoftmax},     [kNpuReduce] = {1, 1, CheckReduce},
    [kNpuArgMax] = {1, 1, CheckArgMax},       [kNpuConcat] = {1, -1, CheckConcat},
    [kNpuGather] = {2, 2, CheckGather},       [kNpuPad] = {1, 1, CheckPad},
    [kNpuReshape] = {1, 1, CheckReshape},     [kNpuSlice] = {1, 1, CheckSlice},
    [kNpuTile] = {1, 1, CheckTile},           [kNpuBroadcast] = {1, 1, CheckBroadcast},
    [kNpuTranspose] = {1, 1, CheckTranspose},
};

/* ---- The graph ------------------------------------------------------------------------------- */

static const char* CheckTensor(const NpuTensor* tensor) {
  if (NpuTypeBytes(tensor->type) == 0) return "unknown type";
  if (!InRange(tensor->rank, 0, NPU_MAX_RANK)) return "rank out of range";
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (!InRange(tensor->dims[i], 1, kMaxValue)) return "dimension out of range";
    count *= tensor->dims[i];
    if (count > kMaxValue) return "too many elements";
  }
  return NULL;
}

static const char* CheckOp(const NpuGraph* graph, const NpuOp* op, const uint8_t* defined) {
  if (!InRange(op->kind, 1, (int32_t)(sizeof kKinds / sizeof kKinds[0]) - 1)) return "unknown kind";
  const int32_t max = kKinds[op->kind].max;
  if (op->input_count < kKinds[op->kind].min || (max >= 0 && op->input_count > max)) {
    return "wrong number of inputs";
  }
  Op view = {.op = op, .graph = graph};
  for (int32_t i = 0; i < op->input_count; ++i) {
    if (!InRange(op->inputs[i], 0, graph->tensor_count - 1)) return "input out of range";
    if (!defined[op->inputs[i]]) return "an input is not computed by an earlier operation";
    if (i < 3) view.in[i] = &graph->tensors[op->inputs[i]];
  }
  if (!InRange(op->output, 0, graph->tensor_count - 1)) return "output out of range";
  if (defined[op->output]) return "its output is computed twice";
  view.out = &graph->tensors[op->output];
  return kKinds[op->kind].check(&view);
}

static bool Fail(char* error, size_t error_size, const char* what, int32_t index,
                 const char* problem) {
  if (error != NULL) snprintf(error, error_size, "%s %d: %s", what, index, problem);
  return false;
}

/* Checks the tensors, inputs, operations and outputs of a graph. `defined`, which must be
 * zeroed, receives for each tensor 1 for a constant or input and 2 for the output of an operation.
 */
static bool CheckParts(const NpuGraph* graph, uint8_t* defined, char* error, size_t error_size) {
  for (int32_t i = 0; i < graph->tensor_count; ++i) {
    const char* problem = CheckTensor(&graph->tensors[i]);
    if (problem != NULL) return Fail(error, error_size, "tensor", i, problem);
    defined[i] = graph->tensors[i].data != NULL;
  }
  for (int32_t i = 0; i < graph->input_count; ++i) {
    const int32_t tensor = graph->inputs[i];
    if (!InRange(tensor, 0, graph->tensor_count - 1) || defined[tensor]) {
      return Fail(error, error_size, "input", i, "no tensor, a constant, or listed twice");
    }
    defined[tensor] = 1;
  }
  for (int32_t i = 0; i < graph->op_count; ++i) {
    const char* problem = CheckOp(graph, &graph->ops[i], defined);
    if (problem != NULL) return Fail(error, error_size, "operation", i, problem);
    defined[graph->ops[i].output] = 2;
  }
  for (int32_t i = 0; i < graph->output_count; ++i) {
    const int32_t tensor = graph->outputs[i];
    if (!InRange(tensor, 0, graph->tensor_count - 1) || defined[tensor] != 2) {
      return Fail(error, error_size, "output", i, "no operation computes it");
    }
  }
  return true;
}

bool NpuCheckGraph(const NpuGraph* graph, char* error, size_t error_size) {
  if (graph->tensor_count < 1 || graph->op_count < 1 || graph->input_count < 0 ||
      graph->output_count < 1) {
    return Fail(error, error_size, "graph", 0, "it is empty");
  }
  uint8_t* defined = calloc((size_t)graph->tensor_count, 1);
  if (defined == NULL) return Fail(error, error_size, "graph", 0, "out of memory");
  const bool good = CheckParts(graph, defined, error, error_size);
  free(defined);
  return good;
}
