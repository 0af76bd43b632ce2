/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void NpuBuilderInit(NpuBuilder* builder) { memset(builder, 0, sizeof *builder); }

void NpuBuilderFree(NpuBuilder* builder) {
  for (int32_t i = 0; i < builder->owned_count; ++i) free(builder->owned[i]);
  free(builder->owned);
  free(builder->graph.tensors);
  free(builder->graph.ops);
  free(builder->graph.inputs);
  free(builder->graph.outputs);
  NpuBuilderInit(builder);
}

/* Ensures capacity for one more entry in an array with `count` entries, which doubles when the
 * count is a power of two. If out of memory returns NULL and leaves the array unchanged. Too many
 * entries only mark the builder as failed. */
static void* Grow(NpuBuilder* builder, void* array, int32_t count, size_t entry) {
  if (builder->failed) return NULL;
  if ((count & (count - 1)) != 0) return array;
  const size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
  void* grown = realloc(array, capacity * entry);
  if (grown == NULL || count > INT32_MAX / 4) builder->failed = true;
  return grown;
}

void* NpuBuilderOwn(NpuBuilder* builder, size_t bytes) {
  void** owned = Grow(builder, builder->owned, builder->owned_count, sizeof *owned);
  if (owned == NULL) return NULL;
  builder->owned = owned;
  void* block = calloc(1, bytes == 0 ? 1 : bytes);
  if (block == NULL) {
    builder->failed = true;
    return NULL;
  }
  builder->owned[builder->owned_count++] = block;
  return block;
}

int32_t NpuAddTensor(NpuBuilder* builder, int32_t type, int32_t rank, const int32_t* dims) {
  NpuGraph* graph = &builder->graph;
  NpuTensor* tensors = Grow(builder, graph->tensors, graph->tensor_count, sizeof *tensors);
  if (tensors == NULL) return -1;
  graph->tensors = tensors;
  NpuTensor* tensor = &tensors[graph->tensor_count];
  memset(tensor, 0, sizeof *tensor);
  tensor->type = type;
  tensor->rank = rank;
  for (int32_t i = 0; i < rank && i < NPU_MAX_RANK; ++i) tensor->dims[i] = dims[i];
  return graph->tensor_count++;
}

int32_t NpuAddTensorLike(NpuBuilder* builder, int32_t like) {
  const NpuTensor tensor = *NpuTensorAt(builder, like);
  return NpuAddTensor(builder, tensor.type, tensor.rank, tensor.dims);
}

int32_t NpuAddOp(NpuBuilder* builder, int32_t kind, int32_t function, const int32_t* inputs,
                 int32_t input_count, int32_t output) {
  NpuGraph* graph = &builder->graph;
  NpuOp* ops = Grow(builder, graph->ops, graph->op_count, sizeof *ops);
  if (ops == NULL) return -1;
  graph->ops = ops;
  int32_t* copy = NpuBuilderOwn(builder, (size_t)input_count * sizeof *copy);
  if (copy == NULL) return -1;
  memcpy(copy, inputs, (size_t)input_count * sizeof *copy);
  NpuOp* op = &ops[graph->op_count];
  memset(op, 0, sizeof *op);
  op->kind = kind;
  op->function = function;
  op->inputs = copy;
  op->input_count = input_count;
  op->output = output;
  op->source = -1;
  return graph->op_count++;
}

static void AddIndex(NpuBuilder* builder, int32_t** array, int32_t* count, int32_t index) {
  int32_t* grown = Grow(builder, *array, *count, sizeof **array);
  if (grown == NULL) return;
  *array = grown;
  grown[(*count)++] = index;
}

void NpuAddInput(NpuBuilder* builder, int32_t tensor) {
  AddIndex(builder, &builder->graph.inputs, &builder->graph.input_count, tensor);
}

void NpuAddOutput(NpuBuilder* builder, int32_t tensor) {
  AddIndex(builder, &builder->graph.outputs, &builder->graph.output_count, tensor);
}

NpuTensor* NpuTensorAt(NpuBuilder* builder, int32_t index) {
  return index < 0 ? &builder->no_tensor : &builder->graph.tensors[index];
}

NpuOp* NpuOpAt(NpuBuilder* builder, int32_t index) {
  return index < 0 ? &builder->no_op : &builder->graph.ops[index];
}

/* ---- Sorting --------------------------------------------------------------------------------- */

typedef struct Sorting {
  int32_t* producer; /* producing operation by tensor, -1: none */
  uint8_t* state;    /* by operation: 0 not visited, 1 in progress, 2 placed */
  int32_t* next;     /* by operation: the next input to visit */
  int32_t* waiting;  /* stack of operations in progress */
  NpuOp* sorted;
  int32_t count;
} Sorting;

/* Places an operation after its producers: an iterative depth-first search. Returns false for a
 * cycle. */
static bool PlaceOp(const NpuGraph* graph, Sorting* sorting, int32_t first) {
  int32_t depth = 0;
  if (sorting->state[first] != 0) return true;
  sorting->waiting[depth++] = first;
  sorting->state[first] = 1;
  while (depth > 0) {
    const int32_t at = sorting->waiting[depth - 1];
    const NpuOp* op = &graph->ops[at];
    if (sorting->next[at] == op->input_count) {
      sorting->sorted[sorting->count++] = *op;
      sorting->state[at] = 2;
      --depth;
      continue;
    }
    const int32_t producer = sorting->producer[op->inputs[sorting->next[at]++]];
    if (producer < 0 || sorting->state[producer] == 2) continue;
    if (sorting->state[producer] == 1) return false;
    sorting->state[producer] = 1;
    sorting->waiting[depth++] = producer;
  }
  return true;
}

static bool SortInto(NpuGraph* graph, Sorting* sorting) {
  for (int32_t i = 0; i < graph->tensor_count; ++i) sorting->producer[i] = -1;
  for (int32_t i = 0; i < graph->op_count; ++i) {
    if (graph->ops[i].kind != 0) sorting->producer[graph->ops[i].output] = i;
  }
  for (int32_t i = 0; i < graph->op_count; ++i) {
    if (graph->ops[i].kind != 0 && !PlaceOp(graph, sorting, i)) return false;
  }
  memcpy(graph->ops, sorting->sorted, (size_t)sorting->count * sizeof(NpuOp));
  graph->op_count = sorting->count;
  return true;
}

bool NpuSortOps(NpuBuilder* builder) {
  NpuGraph* graph = &builder->graph;
  if (builder->failed) return false;
  if (graph->op_count == 0) return true;
  const size_t ops = (size_t)graph->op_count;
  /* The sorted operations fit into the array of operations, since there are at most as many. */
  Sorting sorting = {
      .producer = malloc((size_t)graph->tensor_count * sizeof(int32_t)),
      .state = calloc(ops, 1),
      .next = calloc(ops, sizeof(int32_t)),
      .waiting = malloc(ops * sizeof(int32_t)),
      .sorted = malloc(ops * sizeof(NpuOp)),
  };
  bool done = false;
  if (sorting.producer == NULL || sorting.state == NULL || sorting.next == NULL ||
      sorting.waiting == NULL || sorting.sorted == NULL) {
    builder->failed = true;
  } else {
    done = SortInto(graph, &sorting);
  }
  free(sorting.producer);
  free(sorting.state);
  free(sorting.next);
  free(sorting.waiting);
  free(sorting.sorted);
  return done;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

size_t NpuElementCount(const NpuTensor* tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) count *= (size_t)tensor->dims[i];
  return count;
}

size_t NpuTypeBytes(int32_t type) {
  if (type == kNpuFloat32 || type == kNpuInt32) return 4;
  return type == kNpuBool ? 1 : 0;
}

size_t NpuTensorBytes(const NpuTensor* tensor) {
  return NpuElementCount(tensor) * NpuTypeBytes(tensor->type);
}

bool NpuSameDims(const NpuTensor* a, const NpuTensor* b) {
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; ++i) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

/* ---- Text ------------------------------------------------------------------------------------ */

const char* NpuKindName(int32_t kind) {
  static const char* const kNames[] = {
      "?",      "UNARY",   "BINARY",  "CAST",   "CONV",      "CONV_TRANSPOSE", "POOL",
      "RESIZE", "MATMUL",  "SOFTMAX", "REDUCE", "ARGMAX",    "CONCAT",         "GATHER",
      "PAD",    "RESHAPE", "SLICE",   "TILE",   "BROADCAST", "TRANSPOSE"};
  const bool known = kind > 0 && (size_t)kind < sizeof kNames / sizeof kNames[0];
  return kNames[known ? kind : 0];
}

const char* NpuFunctionName(int32_t kind, int32_t function) {
  static const char* const kUnary[] = {
      "?",           "ABS",   "CEIL",         "COS",        "EXP",  "FLOOR", "LOG",
      "LOGICAL_NOT", "NEG",   "ROUND",        "RSQRT",      "SIN",  "SQRT",  "SQUARE",
      "RELU",        "RELU6", "RELU_N1_TO_1", "SIGMOID",    "TANH", "ELU",   "LEAKY_RELU",
      "HARD_SWISH",  "GELU",  "GELU_TANH",    "RELU_0_TO_1"};
  static const char* const kBinary[] = {
      "?",          "ADD",     "SUB",           "MUL",         "DIV",       "FLOOR_DIV",
      "FLOOR_MOD",  "MAXIMUM", "MINIMUM",       "EQUAL",       "NOT_EQUAL", "LESS",
      "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "LOGICAL_AND", "LOGICAL_OR"};
  static const char* const kPool[] = {"?", "MAX", "AVERAGE"};
  static const char* const kResize[] = {"?", "BILINEAR", "NEAREST"};
  static const char* const kReduce[] = {"?", "SUM", "MEAN", "MAX", "MIN", "PROD"};
  _Static_assert(sizeof kUnary / sizeof kUnary[0] == kNpuUnaryEnd, "a name for each");
  _Static_assert(sizeof kBinary / sizeof kBinary[0] == kNpuBinaryEnd, "a name for each");
  _Static_assert(sizeof kReduce / sizeof kReduce[0] == kNpuReduceEnd, "a name for each");
  static const struct {
    int32_t kind, end;
    const char* const* names;
  } kTables[] = {
      {kNpuUnary, kNpuUnaryEnd, kUnary},      {kNpuBinary, kNpuBinaryEnd, kBinary},
      {kNpuPool, kNpuPoolAverage + 1, kPool}, {kNpuResize, kNpuResizeNearest + 1, kResize},
      {kNpuReduce, kNpuReduceEnd, kReduce},
  };
  for (size_t i = 0; i < sizeof kTables / sizeof kTables[0]; ++i) {
    if (kTables[i].kind != kind) continue;
    return kTables[i].names[function > 0 && function < kTables[i].end ? function : 0];
  }
  return "";
}

typedef struct Text {
  char* chars;
  size_t length, capacity;
  bool failed;
} Text;

static void Append(Text* text, const char* format, ...) {
  char piece[160];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (text->failed || length < 0) return;
  const size_t bytes = (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1;
  if (text->length + bytes + 1 > text->capacity) {
    const size_t capacity = 2 * (text->capacity + bytes + 1);
    char* grown = realloc(text->chars, capacity);
    if (grown == NULL) {
      text->failed = true;
      return;
    }
    text->chars = grown;
    text->capacity = capacity;
  }
  memcpy(text->chars + text->length, piece, bytes);
  text->length += bytes;
  text->chars[text->length] = '\0';
}

static void AppendTensor(Text* text, const NpuGraph* graph, int32_t index) {
  static const char* const kTypes[] = {"?", "f32", "i32", "bool"};
  const NpuTensor* tensor = &graph->tensors[index];
  Append(text, "%%%d %s[", index,
         kTypes[tensor->type >= 0 && tensor->type <= 3 ? tensor->type : 0]);
  for (int32_t i = 0; i < tensor->rank; ++i) Append(text, i == 0 ? "%d" : ",%d", tensor->dims[i]);
  Append(text, tensor->data == NULL ? "]" : "] constant");
}

char* NpuGraphText(const NpuGraph* graph) {
  Text text = {NULL, 0, 0, false};
  for (int32_t i = 0; i < graph->input_count; ++i) {
    Append(&text, "input ");
    AppendTensor(&text, graph, graph->inputs[i]);
    Append(&text, "\n");
  }
  for (int32_t i = 0; i < graph->op_count; ++i) {
    const NpuOp* op = &graph->ops[i];
    AppendTensor(&text, graph, op->output);
    Append(&text, " = %s", NpuKindName(op->kind));
    const char* function = NpuFunctionName(op->kind, op->function);
    if (function[0] != '\0') Append(&text, " %s", function);
    for (int32_t j = 0; j < op->input_count; ++j) {
      Append(&text, j == 0 ? " (" : ", ");
      AppendTensor(&text, graph, op->inputs[j]);
    }
    Append(&text, ")");
    for (int32_t j = 0; j < NPU_MAX_ATTRIBUTES; ++j) Append(&text, " %d", op->attributes[j]);
    Append(&text, "\n");
  }
  for (int32_t i = 0; i < graph->output_count; ++i) {
    Append(&text, "output %%%d\n", graph->outputs[i]);
  }
  if (!text.failed) return text.chars;
  free(text.chars);
  return NULL;
}
