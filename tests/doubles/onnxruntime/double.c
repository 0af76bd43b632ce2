// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/onnxruntime/double.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDefaultVersion = 20, kMaxValues = 256, kMaxNodes = 128, kMaxArguments = 8, kMaxRank = 8 };

typedef struct {
  char name[16];
  int type;
  int rank;
  int64_t dims[kMaxRank];
  const unsigned char* raw;  // contents of a constant
  size_t raw_bytes;
  float* data;  // during a run
} Value;

typedef struct {
  char op[32];
  int inputs[kMaxArguments], outputs[kMaxArguments];  // values; -1: absent
  int input_count, output_count;
} Node;

typedef struct {
  unsigned char* bytes;
  Value values[kMaxValues];
  Node nodes[kMaxNodes];
  int value_count, node_count;
} Session;

typedef struct {
  int32_t level, threads, log;
  char config[64];
} SessionOptions;

typedef struct {
  int code;
  char message[256];
} Status;

typedef struct {
  int type;
  int rank;
  int64_t dims[kMaxRank];
  float* data;
  size_t bytes;
} Tensor;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char failing[64], hidden[64];
static uint32_t newest = kDefaultVersion;
static char text[1 << 16];
static size_t text_length;
static unsigned char* last_model;
static size_t last_bytes;
static int alive, runs;

static void Append(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int added = vsnprintf(text + text_length, sizeof text - text_length, format, arguments);
  va_end(arguments);
  text_length += (size_t)added;
  if (text_length >= sizeof text) text_length = sizeof text - 1;
}

static Status* Problem(int code, const char* message) {
  Status* const status = calloc(1, sizeof *status);
  status->code = code;
  snprintf(status->message, sizeof status->message, "%s", message);
  ++alive;
  return status;
}

// Begins a function of the API, which ends with End. Returns a status if the function must fail.
static Status* Begin(const char* function) {
  pthread_mutex_lock(&lock);
  if (strcmp(function, failing) != 0) return NULL;
  Status* const status = Problem(7, "this function fails");
  pthread_mutex_unlock(&lock);
  return status;
}

static Status* End(Status* status) {
  pthread_mutex_unlock(&lock);
  return status;
}

static void Release(void* object) {
  if (object == NULL) return;
  pthread_mutex_lock(&lock);
  --alive;
  pthread_mutex_unlock(&lock);
  free(object);
}

// ---- Decoder ------------------------------------------------------------------------------------

typedef struct {
  const unsigned char *at, *end;
} Reader;

typedef struct {
  int number;
  uint64_t integer;
  Reader bytes;
} Field;

static int ReadVarint(Reader* reader, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    const unsigned char byte = *reader->at++;
    *value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return 1;
  }
  return 0;
}

// Reads the next field. Returns 0 at the end and for a field that is not well formed.
static int ReadField(Reader* reader, Field* field) {
  uint64_t tag = 0, length = 0;
  if (reader->at == reader->end || !ReadVarint(reader, &tag)) return 0;
  field->number = (int)(tag >> 3);
  switch (tag & 7) {
    case 0:
      return ReadVarint(reader, &field->integer);
    case 2:
      if (!ReadVarint(reader, &length)) return 0;
      break;
    case 5:
      length = 4;
      break;
    default:
      return 0;
  }
  if (length > (uint64_t)(reader->end - reader->at)) return 0;
  field->bytes = (Reader){reader->at, reader->at + length};
  reader->at += length;
  return 1;
}

static void CopyText(Reader from, char* to, size_t capacity) {
  size_t length = (size_t)(from.end - from.at);
  if (length >= capacity) length = capacity - 1;
  memcpy(to, from.at, length);
  to[length] = '\0';
}

static int FindValue(const Session* session, const char* name) {
  for (int i = 0; i < session->value_count; ++i) {
    if (strcmp(session->values[i].name, name) == 0) return i;
  }
  return -1;
}

static int AddValue(Session* session, const char* name) {
  Value* const value = &session->values[session->value_count];
  memset(value, 0, sizeof *value);
  snprintf(value->name, sizeof value->name, "%s", name);
  return session->value_count++;
}

static const char* TypeName(int type) {
  static const char* const kNames[] = {"UNDEFINED", "FLOAT", "UINT8", "INT8",   "UINT16",
                                       "INT16",     "INT32", "INT64", "STRING", "BOOL"};
  return type >= 0 && type < 10 ? kNames[type] : "?";
}

static void AppendShape(const Value* value) {
  Append("%s[", TypeName(value->type));
  for (int i = 0; i < value->rank; ++i) Append("%s%" PRId64, i == 0 ? "" : ",", value->dims[i]);
  Append("]");
}

static void ReadTensor(Session* session, Reader reader) {
  const int index = AddValue(session, "");
  Value* const value = &session->values[index];
  for (Field field; ReadField(&reader, &field);) {
    if (field.number == 1 && value->rank < kMaxRank) {
      value->dims[value->rank++] = (int64_t)field.integer;
    } else if (field.number == 2) {
      value->type = (int)field.integer;
    } else if (field.number == 8) {
      CopyText(field.bytes, value->name, sizeof value->name);
    } else if (field.number == 9) {
      value->raw = field.bytes.at;
      value->raw_bytes = (size_t)(field.bytes.end - field.bytes.at);
    }
  }
  Append("const %s ", value->name);
  AppendShape(value);
  if (value->type == 7) {
    for (size_t i = 0; i + 8 <= value->raw_bytes; i += 8) {
      int64_t number;
      memcpy(&number, value->raw + i, 8);
      Append(" %" PRId64, number);
    }
  } else {
    Append(" %zu bytes", value->raw_bytes);
  }
  Append("\n");
}

// Reads the type and shape of a ValueInfo.
static void ReadType(Reader type, Value* value) {
  for (Field tensor; ReadField(&type, &tensor);) {
    for (Field part; tensor.number == 1 && ReadField(&tensor.bytes, &part);) {
      if (part.number == 1) value->type = (int)part.integer;
      for (Field dim; part.number == 2 && ReadField(&part.bytes, &dim);) {
        for (Field number; ReadField(&dim.bytes, &number);) {
          if (value->rank < kMaxRank) value->dims[value->rank++] = (int64_t)number.integer;
        }
      }
    }
  }
}

static void ReadValueInfo(Session* session, Reader reader, const char* what) {
  Value value = {.rank = 0};
  for (Field field; ReadField(&reader, &field);) {
    if (field.number == 1) CopyText(field.bytes, value.name, sizeof value.name);
    if (field.number == 2) ReadType(field.bytes, &value);
  }
  Append("%s %s ", what, value.name);
  AppendShape(&value);
  Append("\n");
  if (FindValue(session, value.name) < 0) session->values[session->value_count++] = value;
}

static void AppendAttribute(Reader reader) {
  char name[64] = "", string[64];
  int integers = 0;
  for (Field field; ReadField(&reader, &field);) {
    if (field.number == 1) {
      CopyText(field.bytes, name, sizeof name);
      Append(" %s=", name);
    } else if (field.number == 2) {
      float number;
      memcpy(&number, field.bytes.at, sizeof number);
      Append("%g", (double)number);
    } else if (field.number == 3) {
      Append("%" PRId64, (int64_t)field.integer);
    } else if (field.number == 4) {
      CopyText(field.bytes, string, sizeof string);
      Append("%s", string);
    } else if (field.number == 8) {
      Append("%s%" PRId64, integers++ == 0 ? "" : ",", (int64_t)field.integer);
    }
  }
}

// Returns 0 if an input of the node is not defined before it.
static int ReadNode(Session* session, Reader reader) {
  Node* const node = &session->nodes[session->node_count++];
  memset(node, 0, sizeof *node);
  int is_valid = 1;
  Reader attributes = reader;
  char name[16];
  for (Field field; ReadField(&reader, &field);) {
    if (field.number == 1) {
      CopyText(field.bytes, name, sizeof name);
      const int value = name[0] == '\0' ? -1 : FindValue(session, name);
      is_valid = is_valid && (name[0] == '\0' || value >= 0) && node->input_count < kMaxArguments;
      if (is_valid) node->inputs[node->input_count++] = value;
    } else if (field.number == 2 && node->output_count < kMaxArguments) {
      CopyText(field.bytes, name, sizeof name);
      node->outputs[node->output_count++] = AddValue(session, name);
    } else if (field.number == 4) {
      CopyText(field.bytes, node->op, sizeof node->op);
    }
  }
  for (int i = 0; i < node->output_count; ++i) {
    Append("%s%s", i == 0 ? "" : ", ", session->values[node->outputs[i]].name);
  }
  Append(" = %s(", node->op);
  for (int i = 0; i < node->input_count; ++i) {
    Append("%s%s", i == 0 ? "" : ", ",
           node->inputs[i] < 0 ? "" : session->values[node->inputs[i]].name);
  }
  Append(")");
  for (Field field; ReadField(&attributes, &field);) {
    if (field.number == 5) AppendAttribute(field.bytes);
  }
  Append("\n");
  return is_valid;
}

// Reads the graph: inputs and constants first, which the nodes use. Returns 0 if it is invalid.
static int ReadGraph(Session* session, Reader graph) {
  Reader again = graph;
  for (Field field; ReadField(&again, &field);) {
    if (session->value_count > kMaxValues - 2) return 0;
    if (field.number == 11) ReadValueInfo(session, field.bytes, "input");
    if (field.number == 5) ReadTensor(session, field.bytes);
  }
  again = graph;
  for (Field field; ReadField(&again, &field);) {
    if (field.number != 1) continue;
    if (session->node_count == kMaxNodes || session->value_count > kMaxValues - kMaxArguments ||
        !ReadNode(session, field.bytes)) {
      return 0;
    }
  }
  for (Field field; ReadField(&graph, &field);) {
    if (field.number == 12) ReadValueInfo(session, field.bytes, "output");
  }
  return 1;
}

static int ReadModel(Session* session, Reader model) {
  int has_version = 0, is_valid = 0;
  for (Field field; ReadField(&model, &field);) {
    if (field.number == 1) Append("ir %" PRIu64 "\n", field.integer);
    for (Field opset; field.number == 8 && ReadField(&field.bytes, &opset);) {
      if (opset.number == 2) Append("opset %" PRIu64 "\n", opset.integer);
      has_version = has_version || opset.number == 2;
    }
    if (field.number == 7) is_valid = ReadGraph(session, field.bytes);
  }
  return has_version && is_valid && model.at == model.end;
}

// ---- Execution ----------------------------------------------------------------------------------

static size_t CountOf(int rank, const int64_t* dims) {
  size_t count = 1;
  for (int i = 0; i < rank; ++i) count *= (size_t)dims[i];
  return count;
}

static float Apply(const char* op, float a, float b) {
  if (strcmp(op, "Add") == 0) return a + b;
  if (strcmp(op, "Sub") == 0) return a - b;
  if (strcmp(op, "Mul") == 0) return a * b;
  if (strcmp(op, "Relu") == 0) return a > 0 ? a : 0;
  if (strcmp(op, "Abs") == 0) return fabsf(a);
  return strcmp(op, "Neg") == 0 ? -a : NAN;
}

// Computes an element-wise node. The second operand is repeated: its shape must be a suffix of the
// first one's.
static void RunNode(Session* session, const Node* node) {
  const Value* const a = &session->values[node->inputs[0]];
  const Value* const b = &session->values[node->inputs[node->input_count > 1 ? 1 : 0]];
  Value* const out = &session->values[node->outputs[0]];
  const size_t count = CountOf(a->rank, a->dims), repeated = CountOf(b->rank, b->dims);
  out->rank = a->rank;
  memcpy(out->dims, a->dims, sizeof out->dims);
  out->data = realloc(out->data, count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    out->data[i] = Apply(node->op, a->data[i], b->data[i % repeated]);
  }
}

static Status* RunSession(Session* session, const char* const* input_names,
                          const Tensor* const* inputs, size_t input_count,
                          const char* const* output_names, size_t output_count, Tensor** outputs) {
  for (int i = 0; i < session->value_count; ++i) {
    Value* const value = &session->values[i];
    if (value->raw == NULL) continue;
    value->data = realloc(value->data, value->raw_bytes + 1);
    memcpy(value->data, value->raw, value->raw_bytes);
  }
  for (size_t i = 0; i < input_count; ++i) {
    const int index = FindValue(session, input_names[i]);
    if (index < 0) return Problem(2, "unknown input");
    Value* const value = &session->values[index];
    if (value->type != inputs[i]->type || value->rank != inputs[i]->rank ||
        memcmp(value->dims, inputs[i]->dims, sizeof(int64_t) * (size_t)value->rank) != 0) {
      return Problem(2, "an input of another type or shape");
    }
    value->data = realloc(value->data, inputs[i]->bytes + 1);
    memcpy(value->data, inputs[i]->data, inputs[i]->bytes);
  }
  for (int i = 0; i < session->node_count; ++i) RunNode(session, &session->nodes[i]);
  for (size_t i = 0; i < output_count; ++i) {
    const int index = FindValue(session, output_names[i]);
    if (index < 0 || session->values[index].data == NULL) return Problem(2, "unknown output");
    memcpy(outputs[i]->data, session->values[index].data, outputs[i]->bytes);
  }
  ++runs;
  return NULL;
}

// ---- Functions of the API -----------------------------------------------------------------------

static int GetErrorCode(const Status* status) { return status->code; }
static const char* GetErrorMessage(const Status* status) { return status->message; }

static void* NewObject(size_t bytes) {
  ++alive;
  return calloc(1, bytes);
}

static Status* CreateEnv(int32_t log_level, const char* name, void** env) {
  (void)log_level, (void)name;
  Status* const status = Begin("CreateEnv");
  if (status != NULL) return status;
  *env = NewObject(1);
  return End(NULL);
}

static Status* CreateCpuMemoryInfo(int32_t allocator, int32_t type, void** memory) {
  Status* const status = Begin("CreateCpuMemoryInfo");
  if (status != NULL) return status;
  if (allocator != 0 || type != 0) return End(Problem(2, "expected the device's memory"));
  *memory = NewObject(1);
  return End(NULL);
}

static Status* CreateSessionOptions(SessionOptions** options) {
  Status* const status = Begin("CreateSessionOptions");
  if (status != NULL) return status;
  *options = NewObject(sizeof **options);
  return End(NULL);
}

static Status* SetLog(SessionOptions* options, int32_t level) {
  Status* const status = Begin("SetSessionLogSeverityLevel");
  if (status != NULL) return status;
  options->log = level;
  return End(NULL);
}

static Status* SetLevel(SessionOptions* options, int32_t level) {
  Status* const status = Begin("SetSessionGraphOptimizationLevel");
  if (status != NULL) return status;
  options->level = level;
  return End(NULL);
}

static Status* SetThreads(SessionOptions* options, int32_t threads) {
  Status* const status = Begin("SetIntraOpNumThreads");
  if (status != NULL) return status;
  options->threads = threads;
  return End(NULL);
}

static Status* AddConfig(SessionOptions* options, const char* key, const char* value) {
  Status* const status = Begin("AddSessionConfigEntry");
  if (status != NULL) return status;
  snprintf(options->config, sizeof options->config, "%s=%s", key, value);
  return End(NULL);
}

static void ReleaseSession(Session* session) {
  if (session == NULL) return;
  for (int i = 0; i < session->value_count; ++i) free(session->values[i].data);
  free(session->bytes);
  Release(session);
}

static Status* CreateSessionFromArray(const void* env, const void* model, size_t bytes,
                                      const SessionOptions* options, Session** out) {
  (void)env;
  Status* const status = Begin("CreateSessionFromArray");
  if (status != NULL) return status;
  Session* const session = NewObject(sizeof *session);
  session->bytes = malloc(bytes);
  memcpy(session->bytes, model, bytes);
  last_model = realloc(last_model, bytes);
  memcpy(last_model, model, bytes);
  last_bytes = bytes;
  Append("session level %d threads %d log %d %s\n", options->level, options->threads, options->log,
         options->config);
  if (!ReadModel(session, (Reader){session->bytes, session->bytes + bytes})) {
    End(NULL);
    ReleaseSession(session);
    pthread_mutex_lock(&lock);
    return End(Problem(10, "the model is not valid"));
  }
  *out = session;
  return End(NULL);
}

static Status* CreateTensor(const void* memory, void* data, size_t bytes, const int64_t* dims,
                            size_t rank, int32_t type, Tensor** out) {
  Status* const status = Begin("CreateTensorWithDataAsOrtValue");
  if (status != NULL) return status;
  if (memory == NULL || rank > kMaxRank) return End(Problem(2, "expected memory and dimensions"));
  Tensor* const tensor = NewObject(sizeof *tensor);
  tensor->type = type;
  tensor->rank = (int)rank;
  if (rank > 0) memcpy(tensor->dims, dims, rank * sizeof *dims);
  tensor->data = data;
  tensor->bytes = bytes;
  *out = tensor;
  return End(NULL);
}

static Status* Run(Session* session, const void* options, const char* const* input_names,
                   const Tensor* const* inputs, size_t input_count, const char* const* output_names,
                   size_t output_count, Tensor** outputs) {
  (void)options;
  Status* const status = Begin("Run");
  if (status != NULL) return status;
  return End(
      RunSession(session, input_names, inputs, input_count, output_names, output_count, outputs));
}

// ---- The library --------------------------------------------------------------------------------

typedef void (*Function)(void);
static Function table[131];

static void Fill(int index, const char* name, Function function) {
  table[index] = strcmp(name, hidden) == 0 ? NULL : function;
}

static const void* GetApi(uint32_t version) {
  if (version > newest) return NULL;
  pthread_mutex_lock(&lock);
  Fill(1, "GetErrorCode", (Function)GetErrorCode);
  Fill(2, "GetErrorMessage", (Function)GetErrorMessage);
  Fill(3, "CreateEnv", (Function)CreateEnv);
  Fill(8, "CreateSessionFromArray", (Function)CreateSessionFromArray);
  Fill(9, "Run", (Function)Run);
  Fill(10, "CreateSessionOptions", (Function)CreateSessionOptions);
  Fill(22, "SetSessionLogSeverityLevel", (Function)SetLog);
  Fill(23, "SetSessionGraphOptimizationLevel", (Function)SetLevel);
  Fill(24, "SetIntraOpNumThreads", (Function)SetThreads);
  Fill(49, "CreateTensorWithDataAsOrtValue", (Function)CreateTensor);
  Fill(69, "CreateCpuMemoryInfo", (Function)CreateCpuMemoryInfo);
  Fill(92, "ReleaseEnv", (Function)Release);
  Fill(93, "ReleaseStatus", (Function)Release);
  Fill(94, "ReleaseMemoryInfo", (Function)Release);
  Fill(95, "ReleaseSession", (Function)ReleaseSession);
  Fill(96, "ReleaseValue", (Function)Release);
  Fill(100, "ReleaseSessionOptions", (Function)Release);
  Fill(130, "AddSessionConfigEntry", (Function)AddConfig);
  pthread_mutex_unlock(&lock);
  return table;
}

static const char* GetVersionString(void) {
  static char version[32];
  snprintf(version, sizeof version, "1.%u.0", (unsigned)newest);
  return version;
}

typedef struct {
  const void* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
} ApiBase;

const ApiBase* OrtGetApiBase(void);
const ApiBase* OrtGetApiBase(void) {
  static const ApiBase kBase = {GetApi, GetVersionString};
  return &kBase;
}

void OrtDoubleFail(const char* function) { snprintf(failing, sizeof failing, "%s", function); }
void OrtDoubleHide(const char* function) { snprintf(hidden, sizeof hidden, "%s", function); }
void OrtDoubleSetVersion(uint32_t version) { newest = version == 0 ? kDefaultVersion : version; }
const char* OrtDoubleText(void) { return text; }
int OrtDoubleAlive(void) { return alive; }
int OrtDoubleRuns(void) { return runs; }

const unsigned char* OrtDoubleModel(size_t* out_bytes) {
  *out_bytes = last_bytes;
  return last_model;
}

void OrtDoubleReset(void) {
  OrtDoubleFail("");
  OrtDoubleHide("");
  OrtDoubleSetVersion(0);
  text_length = 0;
  text[0] = '\0';
  runs = 0;
}
