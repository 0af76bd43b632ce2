/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of the NPU stub, with the C ABI of a driver: a table of functions, so that a library
 * with another device can replace the built-in one (option device_library of the delegate). The
 * library exports
 *
 *     const NpuDeviceApi* npu_device_api(void);
 *
 * A device accepts a graph of its own operations (tensors of rank 4 at most; images are NCHW),
 * compiles it to a blob of bytes, loads blobs by name into a client, and runs them on its own
 * buffers. It is independent of TensorFlow Lite. All functions may be called on any thread; calls
 * for one client must be serialised.
 */
#ifndef DEPUTY_NPU_STUB_NPU_DEVICE_H_
#define DEPUTY_NPU_STUB_NPU_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the ABI, 65536 * major + minor. ABIs with different major numbers are incompatible. */
#define NPU_DEVICE_ABI_VERSION 0x10000u

#define NPU_MAX_RANK 4
#define NPU_MAX_ATTRIBUTES 8
/* Maximum number of models per client. */
#define NPU_MAX_MODELS 20

typedef enum NpuStatus {
  kNpuOk = 0,
  kNpuError = 1,
  kNpuAbsent = 2,      /* there is no such device */
  kNpuBadGraph = 3,    /* compile: the device cannot run the graph */
  kNpuBadBlob = 4,     /* load: damaged, of another version, or not a blob */
  kNpuNoMemory = 5,    /* the host or the device is out of memory */
  kNpuTimeout = 6,     /* run: exceeded the time limit; the model can be run again */
  kNpuLimit = 7,       /* load: too many models for a client */
  kNpuBadArgument = 8, /* an index, a size, a name, a frequency or an input value is invalid */
} NpuStatus;

typedef enum NpuType {
  kNpuFloat32 = 1,
  kNpuInt32 = 2,
  kNpuBool = 3, /* one byte, 0 or 1 */
} NpuType;

/* Kinds of operations. "Attributes" are NpuOp.attributes, by index; "axis" and "per dimension"
 * count from the front of the first input's dimensions. */
typedef enum NpuKind {
  kNpuUnary = 1,  /* element-wise; function NpuUnaryFunction, number: alpha */
  kNpuBinary = 2, /* broadcasting; function NpuBinaryFunction */
  kNpuCast = 3,   /* to the output's type */
  /* Convolution in NCHW. Inputs: x, weights [O, I / groups, H, W], optional bias [O]. */
  kNpuConv = 4,
  kNpuConvTranspose = 5, /* NCHW; inputs as kNpuConv, groups 1 */
  kNpuPool = 6,          /* NCHW; function NpuPoolFunction; padding is not counted */
  kNpuResize = 7,        /* NCHW; function NpuResizeFunction */
  /* Product [..., M, K] x [..., K, N] with broadcast batches. An optional third input [N] is
   * added. */
  kNpuMatMul = 8,
  kNpuSoftmax = 9, /* along an axis; number: beta */
  kNpuReduce = 10, /* function NpuReduceFunction over a mask of axes */
  kNpuArgMax = 11, /* along an axis; the first of equal maxima */
  kNpuConcat = 12, /* along an axis */
  kNpuGather = 13, /* indices (int32) in the second input, along an axis */
  kNpuPad = 14,    /* number: the padding value */
  kNpuReshape = 15,
  kNpuSlice = 16,
  kNpuTile = 17, /* repeats the input to the extents of the output */
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
  kNpuRound = 9, /* ties to even */
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
  kNpuReduceMean = 2, /* float32 only */
  kNpuReduceMax = 3,
  kNpuReduceMin = 4,
  kNpuReduceProd = 5,
  kNpuReduceEnd = 6,
} NpuReduceFunction;

/* Indices of attributes, by kind. */
enum {
  kNpuConvStrideH = 0, /* also kNpuConvTranspose */
  kNpuConvStrideW = 1,
  kNpuConvPadTop = 2, /* bottom and right follow from the output's extents */
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
  kNpuAxisMask = 0,    /* kNpuReduce: bit i selects dimension i */
  kNpuPadBefore = 0,   /* per dimension */
  kNpuSliceBegin = 0,  /* per dimension */
  kNpuSliceStride = 4, /* per dimension, not 0, may be negative */
  kNpuPermutation = 0, /* dimension i of the output is this dimension of the input */
};

typedef struct NpuTensor {
  int32_t type; /* NpuType */
  int32_t rank;
  int32_t dims[NPU_MAX_RANK]; /* at least 1; 0 beyond the rank */
  const void* data;           /* contents of a constant, otherwise NULL */
} NpuTensor;

/* An operation, which computes one tensor. Its inputs are constants, inputs of the graph, or
 * outputs of earlier operations. */
typedef struct NpuOp {
  int32_t kind;     /* NpuKind */
  int32_t function; /* of the kind, or 0 */
  int32_t output;
  int32_t input_count;
  int32_t* inputs;
  int32_t attributes[NPU_MAX_ATTRIBUTES];
  float number;
  /* Identifies the origin of the operation for the client of the graph; the device ignores it. */
  int32_t source;
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

/* Configuration of a device. */
typedef struct NpuDeviceConfig {
  size_t struct_size;
  /* Simulated faults, separated by '+': absent, compile, load, swapped, run, slow, hang, wrong,
   * crash. NULL or "" for none. Other devices may ignore them. */
  const char* faults;
} NpuDeviceConfig;

/* A blob and its parameters for load. */
typedef struct NpuModelDescription {
  const char* name; /* unique in its client */
  const void* blob;
  size_t blob_bytes;
  int32_t frequency; /* 1 low power, 2 balanced, 3 high performance, 4 extreme */
} NpuModelDescription;

/* Resources in use, and totals since the device was opened. */
typedef struct NpuCounters {
  size_t struct_size;
  uint64_t bytes; /* device memory in use: constants and buffers */
  uint64_t models;
  uint64_t clients;
  uint64_t compiles;
  uint64_t loads; /* number of calls, not of models */
  uint64_t runs;
  uint64_t bytes_in;  /* written to input buffers */
  uint64_t bytes_out; /* read from output buffers */
  int32_t frequency;  /* of the model that was loaded last; 0: none */
} NpuCounters;

/* The time of one operation, in nanoseconds of CLOCK_MONOTONIC. */
typedef struct NpuOpTime {
  int64_t begin_ns;
  int64_t duration_ns;
} NpuOpTime;

typedef struct NpuDeviceApi {
  size_t struct_size;
  uint32_t abi_version;
  /* Opens the device. If there is none, `error`, which may be NULL, receives a message. */
  NpuStatus (*open)(const NpuDeviceConfig* config, NpuDevice** out_device, char* error,
                    size_t error_size);
  /* Closes the device. All of its clients must have been destroyed. */
  void (*close)(NpuDevice* device);
  /* Returns the version of device and driver, which is part of the cache key of blobs. Valid
   * until close. */
  const char* (*version)(const NpuDevice* device);
  /* Compiles a graph to a blob, which the caller owns and frees with free_blob. */
  NpuStatus (*compile)(NpuDevice* device, const NpuGraph* graph, void** out_blob, size_t* out_bytes,
                       char* error, size_t error_size);
  void (*free_blob)(NpuDevice* device, void* blob);
  NpuStatus (*create_client)(NpuDevice* device, NpuClient** out_client);
  void (*destroy_client)(NpuClient* client);
  /* Loads all models or none. The blobs may be freed afterwards. */
  NpuStatus (*load)(NpuClient* client, const NpuModelDescription* models, size_t count, char* error,
                    size_t error_size);
  NpuStatus (*unload)(NpuClient* client, const char* name);
  /* Return type and dims (without contents) of a model's input or output by index. */
  NpuStatus (*get_input)(NpuClient* client, const char* name, int32_t index, NpuTensor* out_tensor);
  NpuStatus (*get_output)(NpuClient* client, const char* name, int32_t index,
                          NpuTensor* out_tensor);
  /* Copy between the host and the device's buffers; `bytes` must be the tensor's size. */
  NpuStatus (*write)(NpuClient* client, const char* name, int32_t input, const void* data,
                     size_t bytes);
  NpuStatus (*read)(NpuClient* client, const char* name, int32_t output, void* data, size_t bytes);
  /* Runs a model on the contents of its inputs. Returns within `time_limit_ms`; the built-in device
   * cannot interrupt a run and may exceed the limit. The delegate may abandon a run that does not
   * return; it then uses no function of the device until the run has returned. */
  NpuStatus (*run)(NpuClient* client, const char* name, uint32_t time_limit_ms, char* error,
                   size_t error_size);
  void (*get_counters)(NpuDevice* device, NpuCounters* out_counters);
  /* Returns the times of the newest run of a model, by the position of the operation in the
   * graph that was compiled. Valid until the model's next run or unload; NULL if there is no
   * such model. The member is missing in devices of the first release, which have a smaller
   * struct_size, and may be NULL. */
  const NpuOpTime* (*op_times)(NpuClient* client, const char* name, int32_t* out_count);
} NpuDeviceApi;

typedef const NpuDeviceApi* (*NpuDeviceApiFunction)(void);

/* Returns the table of the built-in device. */
__attribute__((visibility("default"))) const NpuDeviceApi* npu_device_api(void);

/* Enables (1, the initial state) or disables (0) the fault `hang` of the built-in device. Disabling
 * it also unblocks the runs that hang. For tests. */
void NpuSetHangEnabled(int enabled);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_NPU_DEVICE_H_ */
