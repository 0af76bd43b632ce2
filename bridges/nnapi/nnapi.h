// SPDX-License-Identifier: Apache-2.0
//
// The part of NNAPI's C ABI that the bridge uses: types, values and functions, with the names in
// the documentation of the Android NDK (developer.android.com/ndk/reference/group/neural-networks,
// feature levels 1 to 5). No header of Android is needed.
//
// Functions are listed in rows X(member, symbol, result, arguments): `member` is the name in
// `Functions`, `symbol` is the library's symbol without the prefix "ANeuralNetworks".
#ifndef DEPUTY_BRIDGES_NNAPI_NNAPI_H_
#define DEPUTY_BRIDGES_NNAPI_NNAPI_H_

#include <cstddef>
#include <cstdint>

struct ANeuralNetworksMemory;
struct ANeuralNetworksModel;
struct ANeuralNetworksCompilation;
struct ANeuralNetworksExecution;
struct ANeuralNetworksEvent;
struct ANeuralNetworksBurst;
struct ANeuralNetworksDevice;

// Shape and quantisation of a tensor. Scalars have no dimensions.
struct ANeuralNetworksOperandType {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t* dimensions;
  float scale;
  int32_t zeroPoint;
};

struct ANeuralNetworksSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float* scales;
};

namespace deputy::nnapi {

// Types of operands; the names of tensor types begin with kTensor.
enum OperandCode : int32_t {
  kFloat32 = 0,
  kInt32 = 1,
  kUint32 = 2,
  kTensorFloat32 = 3,
  kTensorInt32 = 4,
  kTensorQuant8Asymm = 5,
  kBool = 6,
  kTensorBool8 = 9,
  kTensorQuant8SymmPerChannel = 11,
  kTensorQuant8AsymmSigned = 14,
};

// The operations that the bridge uses.
enum OperationCode : int32_t {
  kAdd = 0,
  kAveragePool2d = 1,
  kConcatenation = 2,
  kConv2d = 3,
  kDepthwiseConv2d = 4,
  kDepthToSpace = 5,
  kDequantize = 6,
  kEmbeddingLookup = 7,
  kFloor = 8,
  kFullyConnected = 9,
  kL2Normalization = 11,
  kL2Pool2d = 12,
  kLocalResponseNormalization = 13,
  kLogistic = 14,
  kMaxPool2d = 17,
  kMul = 18,
  kRelu = 19,
  kRelu1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kSpaceToDepth = 26,
  kTanh = 28,
  kBatchToSpaceNd = 29,
  kDiv = 30,
  kMean = 31,
  kPad = 32,
  kSpaceToBatchNd = 33,
  kSqueeze = 34,
  kStridedSlice = 35,
  kSub = 36,
  kTranspose = 37,
  kAbs = 38,
  kArgmax = 39,
  kArgmin = 40,
  kCast = 45,
  kEqual = 48,
  kExp = 49,
  kExpandDims = 50,
  kGather = 51,
  kGreater = 53,
  kGreaterEqual = 54,
  kLess = 58,
  kLessEqual = 59,
  kLog = 60,
  kLogicalAnd = 61,
  kLogicalNot = 62,
  kLogicalOr = 63,
  kLogSoftmax = 64,
  kMaximum = 65,
  kMinimum = 66,
  kNeg = 67,
  kNotEqual = 68,
  kPadV2 = 69,
  kPow = 70,
  kPrelu = 71,
  kQuantize = 72,
  kReduceAny = 76,
  kReduceMax = 77,
  kReduceMin = 78,
  kReduceProd = 79,
  kReduceSum = 80,
  kRsqrt = 83,
  kSelect = 84,
  kSin = 85,
  kSlice = 86,
  kSplit = 87,
  kSqrt = 88,
  kTile = 89,
  kTransposeConv = 91,
  kResizeNearestNeighbor = 94,
  kElu = 98,
  kHardSwish = 99,
};

enum FuseCode : int32_t { kFusedNone = 0, kFusedRelu = 1, kFusedRelu1 = 2, kFusedRelu6 = 3 };

enum PaddingCode : int32_t { kPaddingSame = 1, kPaddingValid = 2 };

enum PreferenceCode : int32_t {
  kPreferLowPower = 0,
  kPreferFastSingleAnswer = 1,
  kPreferSustainedSpeed = 2,
};

enum PriorityCode : int32_t { kPriorityLow = 90, kPriorityMedium = 100, kPriorityHigh = 110 };

enum DeviceTypeCode : int32_t { kDeviceCpu = 2, kDeviceGpu = 3, kDeviceAccelerator = 4 };

enum ResultCode : int32_t {
  kNoError = 0,
  kOutOfMemory = 1,
  kIncomplete = 2,
  kUnexpectedNull = 3,
  kBadData = 4,
  kOpFailed = 5,
  kBadState = 6,
  kUnmappable = 7,
  kOutputInsufficientSize = 8,
  kUnavailableDevice = 9,
  kMissedDeadlineTransient = 10,
  kMissedDeadlinePersistent = 11,
  kResourceExhaustedTransient = 12,
  kResourceExhaustedPersistent = 13,
  kDeadObject = 14,
};

// Feature levels have the values of the Android API levels that introduced them. Later levels begin
// at 1000006 and add nothing that the bridge uses.
inline constexpr int kFeatureLevel1 = 27;
inline constexpr int kFeatureLevel2 = 28;
inline constexpr int kFeatureLevel3 = 29;
inline constexpr int kFeatureLevel4 = 30;
inline constexpr int kFeatureLevel5 = 31;

// Maximum size of values that setOperandValue copies; longer values must stay valid until the model
// is freed.
inline constexpr size_t kCopiedValueBytes = 128;
inline constexpr size_t kCacheTokenBytes = 32;

// Functions of feature level 1, which are required.
#define DEPUTY_NNAPI_REQUIRED(X)                                                                  \
  X(Memory_createFromFd, Memory_createFromFd, int,                                                \
    (size_t size, int protect, int fd, size_t offset, ANeuralNetworksMemory** memory))            \
  X(Memory_free, Memory_free, void, (ANeuralNetworksMemory * memory))                             \
  X(Model_create, Model_create, int, (ANeuralNetworksModel * *model))                             \
  X(Model_free, Model_free, void, (ANeuralNetworksModel * model))                                 \
  X(Model_finish, Model_finish, int, (ANeuralNetworksModel * model))                              \
  X(Model_addOperand, Model_addOperand, int,                                                      \
    (ANeuralNetworksModel * model, const ANeuralNetworksOperandType* type))                       \
  X(Model_setOperandValue, Model_setOperandValue, int,                                            \
    (ANeuralNetworksModel * model, int32_t index, const void* buffer, size_t length))             \
  X(Model_setOperandValueFromMemory, Model_setOperandValueFromMemory, int,                        \
    (ANeuralNetworksModel * model, int32_t index, const ANeuralNetworksMemory* memory,            \
     size_t offset, size_t length))                                                               \
  X(Model_addOperation, Model_addOperation, int,                                                  \
    (ANeuralNetworksModel * model, int32_t type, uint32_t inputCount, const uint32_t* inputs,     \
     uint32_t outputCount, const uint32_t* outputs))                                              \
  X(Model_identifyInputsAndOutputs, Model_identifyInputsAndOutputs, int,                          \
    (ANeuralNetworksModel * model, uint32_t inputCount, const uint32_t* inputs,                   \
     uint32_t outputCount, const uint32_t* outputs))                                              \
  X(Compilation_create, Compilation_create, int,                                                  \
    (ANeuralNetworksModel * model, ANeuralNetworksCompilation * *compilation))                    \
  X(Compilation_free, Compilation_free, void, (ANeuralNetworksCompilation * compilation))         \
  X(Compilation_setPreference, Compilation_setPreference, int,                                    \
    (ANeuralNetworksCompilation * compilation, int32_t preference))                               \
  X(Compilation_finish, Compilation_finish, int, (ANeuralNetworksCompilation * compilation))      \
  X(Execution_create, Execution_create, int,                                                      \
    (ANeuralNetworksCompilation * compilation, ANeuralNetworksExecution * *execution))            \
  X(Execution_free, Execution_free, void, (ANeuralNetworksExecution * execution))                 \
  X(Execution_setInput, Execution_setInput, int,                                                  \
    (ANeuralNetworksExecution * execution, int32_t index, const ANeuralNetworksOperandType* type, \
     const void* buffer, size_t length))                                                          \
  X(Execution_setInputFromMemory, Execution_setInputFromMemory, int,                              \
    (ANeuralNetworksExecution * execution, int32_t index, const ANeuralNetworksOperandType* type, \
     const ANeuralNetworksMemory* memory, size_t offset, size_t length))                          \
  X(Execution_setOutput, Execution_setOutput, int,                                                \
    (ANeuralNetworksExecution * execution, int32_t index, const ANeuralNetworksOperandType* type, \
     void* buffer, size_t length))                                                                \
  X(Execution_setOutputFromMemory, Execution_setOutputFromMemory, int,                            \
    (ANeuralNetworksExecution * execution, int32_t index, const ANeuralNetworksOperandType* type, \
     const ANeuralNetworksMemory* memory, size_t offset, size_t length))                          \
  X(Execution_startCompute, Execution_startCompute, int,                                          \
    (ANeuralNetworksExecution * execution, ANeuralNetworksEvent * *event))                        \
  X(Event_wait, Event_wait, int, (ANeuralNetworksEvent * event))                                  \
  X(Event_free, Event_free, void, (ANeuralNetworksEvent * event))

// Functions of later feature levels, which may be missing.
#define DEPUTY_NNAPI_LEVEL_2(X)                                                          \
  X(Model_relaxComputationFloat32toFloat16, Model_relaxComputationFloat32toFloat16, int, \
    (ANeuralNetworksModel * model, bool allow))

#define DEPUTY_NNAPI_LEVEL_3(X)                                                                    \
  X(getDeviceCount, _getDeviceCount, int, (uint32_t * count))                                      \
  X(getDevice, _getDevice, int, (uint32_t index, ANeuralNetworksDevice * *device))                 \
  X(Device_getName, Device_getName, int, (const ANeuralNetworksDevice* device, const char** name)) \
  X(Device_getType, Device_getType, int, (const ANeuralNetworksDevice* device, int32_t* type))     \
  X(Device_getFeatureLevel, Device_getFeatureLevel, int,                                           \
    (const ANeuralNetworksDevice* device, int64_t* level))                                         \
  X(Model_getSupportedOperationsForDevices, Model_getSupportedOperationsForDevices, int,           \
    (const ANeuralNetworksModel* model, const ANeuralNetworksDevice* const* devices,               \
     uint32_t count, bool* supported))                                                             \
  X(Model_setOperandSymmPerChannelQuantParams, Model_setOperandSymmPerChannelQuantParams, int,     \
    (ANeuralNetworksModel * model, int32_t index,                                                  \
     const ANeuralNetworksSymmPerChannelQuantParams* params))                                      \
  X(Compilation_createForDevices, Compilation_createForDevices, int,                               \
    (ANeuralNetworksModel * model, const ANeuralNetworksDevice* const* devices, uint32_t count,    \
     ANeuralNetworksCompilation** compilation))                                                    \
  X(Compilation_setCaching, Compilation_setCaching, int,                                           \
    (ANeuralNetworksCompilation * compilation, const char* folder, const uint8_t* token))          \
  X(Execution_compute, Execution_compute, int, (ANeuralNetworksExecution * execution))             \
  X(Burst_create, Burst_create, int,                                                               \
    (ANeuralNetworksCompilation * compilation, ANeuralNetworksBurst * *burst))                     \
  X(Burst_free, Burst_free, void, (ANeuralNetworksBurst * burst))                                  \
  X(Execution_burstCompute, Execution_burstCompute, int,                                           \
    (ANeuralNetworksExecution * execution, ANeuralNetworksBurst * burst))

#define DEPUTY_NNAPI_LEVEL_4(X)                                       \
  X(Compilation_setPriority, Compilation_setPriority, int,            \
    (ANeuralNetworksCompilation * compilation, int priority))         \
  X(Compilation_setTimeout, Compilation_setTimeout, int,              \
    (ANeuralNetworksCompilation * compilation, uint64_t nanoseconds)) \
  X(Execution_setTimeout, Execution_setTimeout, int,                  \
    (ANeuralNetworksExecution * execution, uint64_t nanoseconds))

#define DEPUTY_NNAPI_LEVEL_5(X) X(getRuntimeFeatureLevel, _getRuntimeFeatureLevel, int64_t, ())

// Function table of a library; missing functions are null.
struct Functions {
#define DEPUTY_NNAPI_MEMBER(member, symbol, result, arguments) result(*member) arguments = nullptr;
  DEPUTY_NNAPI_REQUIRED(DEPUTY_NNAPI_MEMBER)
  DEPUTY_NNAPI_LEVEL_2(DEPUTY_NNAPI_MEMBER)
  DEPUTY_NNAPI_LEVEL_3(DEPUTY_NNAPI_MEMBER)
  DEPUTY_NNAPI_LEVEL_4(DEPUTY_NNAPI_MEMBER)
  DEPUTY_NNAPI_LEVEL_5(DEPUTY_NNAPI_MEMBER)
#undef DEPUTY_NNAPI_MEMBER
};

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_NNAPI_H_
