/* SPDX-License-Identifier: Apache-2.0
 *
 * The device behind the NPU stub, as its driver's C ABI: one table of functions, so that a library
 * with another device can take the place of the one that is built in (option device_library of the
 * delegate). The library exports
 *
 *     const NpuDeviceApi* npu_device_api(void);
 *
 * A device takes a graph in its own terms (tensors of rank 4 at most; images are NCHW), compiles it
 * into a blob of bytes, loads blobs by name into a client, and runs them on buffers that are its
 * own. It knows nothing of TensorFlow Lite. All functions may be called on any thread; calls for
 * one client come one at a time.
 */
#ifndef DEPUTY_NPU_STUB_NPU_DEVICE_H_
#define DEPUTY_NPU_STUB_NPU_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 65536 * major + minor; another major number is another ABI. */
#define NPU_DEVICE_ABI_VERSION 0x10000u

#define NPU_MAX_RANK 4
#define NPU_MAX_ATTRIBUTES 8
/* Models that one client holds at most. */
#define NPU_MAX_MODELS 20

typedef enum NpuStatus {
  kNpuOk = 0,
  kNpuError = 1,
  kNpuAbsent = 2,      /* there is no such device */
  kNpuBadGraph = 3,    /* compile: the graph is not one that the device can run */
  kNpuBadBlob = 4,     /* load: damaged, of another version, or not a blob */
  kNpuNoMemory = 5,    /* the host's or the device's */
  kNpuTimeout = 6,     /* run: not done within the limit; the model can be run again */
  kNpuLimit = 7,       /* load: more models than a client holds */
  kNpuBadArgument = 8, /* an index, a size or a frequency out of range */
} NpuStatus;

typedef enum NpuType {
  kNpuFloat32 = 1,
  kNpuInt32 = 2,
  kNpuBool = 3, /* one byte, 0 or 1 */
} NpuType;

/* What an operation computes. "Attributes" are NpuOp.attributes, by number; "axis" and "per
 * dimension" count from the front of the first input's dimensions. */
typedef enum NpuKind {
  kNpuUnary = 1,         /* element by element; function NpuUnaryFunction, number: alpha */
  kNpuBinary = 2,        /* broadcasting; function NpuBinaryFunction */
  kNpuCast = 3,          /* to the output's type */
  kNpuConv = 4,          /* NCHW; inputs x, weights [O, I / groups, H, W], bias [O] if any */
  kNpuConvTranspose = 5, /* NCHW; inputs as kNpuConv, groups 1 */
  kNpuPool = 6,          /* NCHW; function NpuPoolFunction; padding does not count */
  kNpuResize = 7,        /* NCHW; function NpuResizeFunction */
  kNpuMatMul = 8,        /* [..., M, K] x [..., K, N], batches broadcast; a third input is [N] */
  kNpuSoftmax = 9,       /* along an axis; number: beta */
  kNpuReduce = 10,       /* function NpuReduceFunction over a mask of axes */
  kNpuArgMax = 11,       /* along an axis, the first of equals */
  kNpuConcat = 12,       /* along an axis */
  kNpuGather = 13,       /* indices (int32) in the second input, along an axis */
  kNpuPad = 14,          /* number: the value of the border */
  kNpuReshape = 15,
  kNpuSlice = 16,
  kNpuTile = 17, /* the input again and again, as often as the output has room for it */
  kNpuBroadcast = 18,
  kNpuTranspose = 19,
} NpuKind;

typedef enum NpuUnaryFunction {
  kNpuAbs = 1,
  kNpuCeil = 2,
  kNpuCos = 3,
  kNpuExp = 4,
  kNpuFloor = 5,
  kNpuLog = 6,
  kNpuLogicalNot = 7, /* bool */
  kNpuNeg = 8,
  kNpuRound = 9, /* halves to even */
  kNpuRsqrt = 10,
  kNpuSin = 11,
  kNpuSqrt = 12,
  kNpuSquare = 13,
  kNpuRelu = 14,
  kNpuRelu6 = 15,
  kNpuReluN1To1 = 16,
  kNpuSigmoid = 17,
  kNpuTanh = 18,
  kNpuElu = 19,
  kNpuLeakyRelu = 20,
  kNpuHardSwish = 21,
  kNpuGelu = 22,
  kNpuGeluTanh = 23,
  kNpuRelu0To1 = 24,
  kNpuUnaryEnd = 25,
} NpuUnaryFunction;

typedef enum NpuBinaryFunction {
  kNpuAdd = 1,
  kNpuSub = 2,
  kNpuMul = 3,
  kNpuDiv = 4,
  kNpuFloorDiv = 5,
  kNpuFloorMod = 6,
  kNpuMaximum = 7,
  kNpuMinimum = 8,
  kNpuEqual = 9, /* from here to kNpuGreaterEqual: float to bool */
  kNpuNotEqual = 10,
  kNpuLess = 11,
  kNpuLessEqual = 12,
  kNpuGreater = 13,
  kNpuGreaterEqual = 14,
  kNpuLogicalAnd = 15, /* bool */
  kNpuLogicalOr = 16,
  kNpuBinaryEnd = 17,
} NpuBinaryFunction;

typedef enum NpuPoolFunction { kNpuPoolMax = 1, kNpuPoolAverage = 2 } NpuPoolFunction;

typedef enum NpuResizeFunction { kNpuResizeBilinear = 1, kNpuResizeNearest = 2 } NpuResizeFunction;

typedef enum NpuReduceFunction {
  kNpuReduceSum = 1,
  kNpuReduceMean = 2, /* float32 alone */
  kNpuReduceMax = 3,
  kNpuReduceMin = 4,
  kNpuReduceProd = 5,
  kNpuReduceEnd = 6,
} NpuReduceFunction;

/* Attributes by kind. */
enum {
  kNpuConvStrideH = 0, /* also of kNpuConvTranspose */
  kNpuConvStrideW = 1,
  kNpuConvPadTop = 2, /* below and to the right: what the output's size asks for */
  kNpuConvPadLeft = 3,
  kNpuConvDilationH = 4,
  kNpuConvDilationW = 5,
  kNpuConvGroups = 6,
  kNpuPoolStrideH = 0,
  kNpuPoolStrideW = 1,
  kNpuPoolPadTop = 2,
  kNpuPoolPadLeft = 3,
  kNpuPoolFilterH = 4,
  kNpuPoolFilterW = 5,
  kNpuResizeAlignCorners = 0,
  kNpuResizeHalfPixel = 1,
  kNpuMatMulTransposeA = 0,
  kNpuMatMulTransposeB = 1,
  kNpuAxis = 0,        /* kNpuSoftmax, kNpuArgMax, kNpuConcat, kNpuGather */
  kNpuAxisMask = 0,    /* kNpuReduce: bit i is dimension i */
  kNpuPadBefore = 0,   /* per dimension */
  kNpuSliceBegin = 0,  /* per dimension */
  kNpuSliceStride = 4, /* per dimension, not 0, may be negative */
  kNpuPermutation = 0, /* dimension i of the output is this one of the input */
};

typedef struct NpuTensor {
  int32_t type; /* NpuType */
  int32_t rank;
  int32_t dims[NPU_MAX_RANK]; /* at least 1; 0 beyond the rank */
  const void* data;           /* of a constant; else NULL */
} NpuTensor;

/* Every operation makes one tensor. Its inputs are constants, inputs of the graph, or made by
 * operations before it. */
typedef struct NpuOp {
  int32_t kind;     /* NpuKind */
  int32_t function; /* of the kind, or 0 */
  int32_t output;
  int32_t input_count;
  int32_t* inputs;
  int32_t attributes[NPU_MAX_ATTRIBUTES];
  float number;
  int32_t source; /* the maker's number for where it comes from; the device does not look at it */
} NpuOp;

typedef struct NpuGraph {
  NpuTensor* tensors;
  NpuOp* ops;
  int32_t* inputs;
  int32_t* outputs;
  int32_t tensor_count;
  int32_t op_count;
  int32_t input_count;
  int32_t output_count;
} NpuGraph;

typedef struct NpuDevice NpuDevice;
typedef struct NpuClient NpuClient;

/* How a device is opened. */
typedef struct NpuDeviceConfig {
  size_t struct_size;
  /* Failures to pretend, with '+' between: absent, compile, load, swapped, run, slow, wrong, crash.
   * NULL or "": none. Another device may ignore it. */
  const char* faults;
} NpuDeviceConfig;

/* A blob as load takes it. */
typedef struct NpuModelDescription {
  const char* name; /* unique in its client */
  const void* blob;
  size_t blob_bytes;
  int32_t frequency; /* 1 low power, 2 balanced, 3 high performance, 4 extreme */
} NpuModelDescription;

/* What the device holds and has done since it was opened. */
typedef struct NpuCounters {
  size_t struct_size;
  uint64_t bytes; /* of its memory in use: constants, buffers */
  uint64_t models;
  uint64_t clients;
  uint64_t compiles;
  uint64_t loads; /* calls, not models */
  uint64_t runs;
  uint64_t bytes_in;  /* written into input buffers */
  uint64_t bytes_out; /* read from output buffers */
  int32_t frequency;  /* of the model that was loaded last; 0: none was */
} NpuCounters;

typedef struct NpuDeviceApi {
  size_t struct_size;
  uint32_t abi_version;
  /* Opens the device. `error` gets a sentence where there is none; it may be NULL. */
  NpuStatus (*open)(const NpuDeviceConfig* config, NpuDevice** out_device, char* error,
                    size_t error_size);
  /* No client may be left. */
  void (*close)(NpuDevice* device);
  /* Of device and driver; part of what a kept blob depends on. Holds until close. */
  const char* (*version)(const NpuDevice* device);
  /* The blob is the caller's until free_blob. */
  NpuStatus (*compile)(NpuDevice* device, const NpuGraph* graph, void** out_blob, size_t* out_bytes,
                       char* error, size_t error_size);
  void (*free_blob)(NpuDevice* device, void* blob);
  NpuStatus (*create_client)(NpuDevice* device, NpuClient** out_client);
  void (*destroy_client)(NpuClient* client);
  /* All of them or none. The blobs may be freed afterwards. */
  NpuStatus (*load)(NpuClient* client, const NpuModelDescription* models, size_t count, char* error,
                    size_t error_size);
  NpuStatus (*unload)(NpuClient* client, const char* name);
  /* Type and dims (without data) of a model's input or output by position. */
  NpuStatus (*get_input)(NpuClient* client, const char* name, int32_t index, NpuTensor* out_tensor);
  NpuStatus (*get_output)(NpuClient* client, const char* name, int32_t index,
                          NpuTensor* out_tensor);
  /* Between the host and the device's buffers; `bytes` must be the tensor's. */
  NpuStatus (*write)(NpuClient* client, const char* name, int32_t input, const void* data,
                     size_t bytes);
  NpuStatus (*read)(NpuClient* client, const char* name, int32_t output, void* data, size_t bytes);
  /* Returns within `time_limit_ms`. */
  NpuStatus (*run)(NpuClient* client, const char* name, uint32_t time_limit_ms, char* error,
                   size_t error_size);
  void (*get_counters)(NpuDevice* device, NpuCounters* out_counters);
} NpuDeviceApi;

typedef const NpuDeviceApi* (*NpuDeviceApiFunction)(void);

/* The device that is built in. */
__attribute__((visibility("default"))) const NpuDeviceApi* npu_device_api(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_NPU_DEVICE_H_ */
