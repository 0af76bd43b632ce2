/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/blob.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npu_stub/device_check.h"

enum { kVersionBytes = 32 };

static const char kMagic[8] = {'N', 'P', 'U', 'B', 'L', 'O', 'B', '1'};

/* Header of a blob, which precedes the payload. It has no padding, so that all of its bytes are
 * initialised. */
typedef struct Header {
  char magic[8];
  char version[kVersionBytes];
  uint64_t payload_bytes;
  uint64_t checksum; /* hash of the payload */
} Header;

uint64_t NpuHash(uint64_t hash, const void* data, size_t bytes) {
  const uint8_t* at = data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Destination of the bytes of a blob. With `at` null, the bytes are only counted. */
typedef struct Writer {
  uint8_t* at;
  size_t bytes;
} Writer;

static void Put(Writer* writer, const void* data, size_t bytes) {
  if (writer->at != NULL && bytes > 0) memcpy(writer->at + writer->bytes, data, bytes);
  writer->bytes += bytes;
}

static void PutInt(Writer* writer, int32_t value) { Put(writer, &value, sizeof value); }

static void PutInts(Writer* writer, const int32_t* values, int32_t count) {
  PutInt(writer, count);
  Put(writer, values, (size_t)count * sizeof *values);
}

static void PutTensor(Writer* writer, const NpuTensor* tensor) {
  PutInt(writer, tensor->type);
  PutInt(writer, tensor->rank);
  Put(writer, tensor->dims, sizeof tensor->dims);
  PutInt(writer, tensor->data != NULL);
  if (tensor->data == NULL) return;
  static const uint8_t kZeros[4] = {0, 0, 0, 0};
  const size_t bytes = NpuTensorBytes(tensor);
  Put(writer, tensor->data, bytes);
  Put(writer, kZeros, (4 - bytes % 4) % 4);
}

static void PutGraph(Writer* writer, const NpuGraph* graph) {
  PutInt(writer, graph->tensor_count);
  PutInt(writer, graph->op_count);
  for (int32_t i = 0; i < graph->tensor_count; ++i) PutTensor(writer, &graph->tensors[i]);
  for (int32_t i = 0; i < graph->op_count; ++i) {
    const NpuOp* op = &graph->ops[i];
    PutInt(writer, op->kind);
    PutInt(writer, op->function);
    PutInt(writer, op->output);
    PutInts(writer, op->inputs, op->input_count);
    Put(writer, op->attributes, sizeof op->attributes);
    Put(writer, &op->number, sizeof op->number);
  }
  PutInts(writer, graph->inputs, graph->input_count);
  PutInts(writer, graph->outputs, graph->output_count);
}

void* NpuWriteBlob(const NpuGraph* graph, const char* version, size_t* out_bytes) {
  Writer writer = {NULL, 0};
  PutGraph(&writer, graph);
  Header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, kMagic, sizeof kMagic);
  snprintf(header.version, sizeof header.version, "%s", version);
  header.payload_bytes = writer.bytes;
  uint8_t* blob = malloc(sizeof header + writer.bytes);
  if (blob == NULL) return NULL;
  writer.at = blob + sizeof header;
  writer.bytes = 0;
  PutGraph(&writer, graph);
  header.checksum = NpuHash(NPU_HASH_START, writer.at, writer.bytes);
  memcpy(blob, &header, sizeof header);
  *out_bytes = sizeof header + writer.bytes;
  return blob;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct Reader {
  const uint8_t* at;
  size_t remaining;
  bool failed;
} Reader;

/* Returns the next bytes. If fewer are left, returns NULL and marks the reader as failed. */
static const void* Take(Reader* reader, size_t bytes) {
  if (reader->failed || bytes > reader->remaining) {
    reader->failed = true;
    return NULL;
  }
  const uint8_t* at = reader->at;
  reader->at += bytes;
  reader->remaining -= bytes;
  return at;
}

static void TakeInto(Reader* reader, void* out, size_t bytes) {
  const void* data = Take(reader, bytes);
  if (data != NULL) memcpy(out, data, bytes);
}

static int32_t TakeInt(Reader* reader) {
  int32_t value = 0;
  TakeInto(reader, &value, sizeof value);
  return value;
}

/* Reads a count of items that have at least `min` bytes each, so that it is bounded by the
 * input. */
static int32_t TakeCount(Reader* reader, size_t min) {
  const int32_t count = TakeInt(reader);
  if (count >= 0 && (size_t)count <= reader->remaining / min) return count;
  reader->failed = true;
  return 0;
}

static void TakeTensor(Reader* reader, NpuBuilder* builder) {
  NpuTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.type = TakeInt(reader);
  tensor.rank = TakeInt(reader);
  TakeInto(reader, tensor.dims, sizeof tensor.dims);
  const bool constant = TakeInt(reader) != 0;
  /* Sizes are checked before they are used, because NpuCheckGraph runs later. */
  size_t bytes = NpuTypeBytes(tensor.type);
  if (bytes == 0 || tensor.rank < 0 || tensor.rank > NPU_MAX_RANK) reader->failed = true;
  for (int32_t i = 0; i < tensor.rank && !reader->failed; ++i) {
    const int32_t dim = tensor.dims[i];
    if (dim < 1 || (constant && (size_t)dim > reader->remaining / bytes)) reader->failed = true;
    if (constant && !reader->failed) bytes *= (size_t)dim;
  }
  if (reader->failed) return;
  const int32_t index = NpuAddTensor(builder, tensor.type, tensor.rank, tensor.dims);
  if (!constant) return;
  const void* data = Take(reader, bytes + (4 - bytes % 4) % 4);
  void* copy = data == NULL ? NULL : NpuBuilderOwn(builder, bytes);
  if (copy != NULL) memcpy(copy, data, bytes);
  NpuTensorAt(builder, index)->data = copy;
}

static void TakeOp(Reader* reader, NpuBuilder* builder) {
  const int32_t kind = TakeInt(reader);
  const int32_t function = TakeInt(reader);
  const int32_t output = TakeInt(reader);
  const int32_t input_count = TakeCount(reader, sizeof(int32_t));
  const int32_t* inputs = Take(reader, (size_t)input_count * sizeof *inputs);
  if (reader->failed) return;
  NpuOp* op = NpuOpAt(builder, NpuAddOp(builder, kind, function, inputs, input_count, output));
  TakeInto(reader, op->attributes, sizeof op->attributes);
  TakeInto(reader, &op->number, sizeof op->number);
}

static void TakeGraph(Reader* reader, NpuBuilder* builder) {
  enum { kMinTensorBytes = 28, kMinOpBytes = 52 };
  const int32_t tensors = TakeCount(reader, kMinTensorBytes);
  const int32_t ops = TakeCount(reader, kMinOpBytes);
  for (int32_t i = 0; i < tensors && !reader->failed; ++i) TakeTensor(reader, builder);
  for (int32_t i = 0; i < ops && !reader->failed; ++i) TakeOp(reader, builder);
  const int32_t inputs = TakeCount(reader, sizeof(int32_t));
  for (int32_t i = 0; i < inputs; ++i) NpuAddInput(builder, TakeInt(reader));
  const int32_t outputs = TakeCount(reader, sizeof(int32_t));
  for (int32_t i = 0; i < outputs; ++i) NpuAddOutput(builder, TakeInt(reader));
  if (reader->remaining != 0) reader->failed = true;
}

static NpuStatus Fail(NpuStatus status, char* error, size_t error_size, const char* text) {
  if (error != NULL) snprintf(error, error_size, "%s", text);
  return status;
}

NpuStatus NpuReadBlob(const void* blob, size_t bytes, const char* version, NpuBuilder* builder,
                      char* error, size_t error_size) {
  Header header, expected;
  memset(&expected, 0, sizeof expected);
  snprintf(expected.version, sizeof expected.version, "%s", version);
  if (blob == NULL || bytes < sizeof header) {
    return Fail(kNpuBadBlob, error, error_size, "the blob is too short");
  }
  memcpy(&header, blob, sizeof header);
  Reader reader = {(const uint8_t*)blob + sizeof header, bytes - sizeof header, false};
  if (memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return Fail(kNpuBadBlob, error, error_size, "the data is not a blob");
  }
  if (memcmp(header.version, expected.version, sizeof expected.version) != 0) {
    return Fail(kNpuBadBlob, error, error_size, "the blob is of another version of the device");
  }
  if (header.payload_bytes != reader.remaining ||
      header.checksum != NpuHash(NPU_HASH_START, reader.at, reader.remaining)) {
    return Fail(kNpuBadBlob, error, error_size, "the blob is damaged");
  }
  TakeGraph(&reader, builder);
  if (builder->failed) return Fail(kNpuNoMemory, error, error_size, "out of memory");
  if (reader.failed) return Fail(kNpuBadBlob, error, error_size, "the blob's graph is truncated");
  return NpuCheckGraph(&builder->graph, error, error_size) ? kNpuOk : kNpuBadBlob;
}
