// SPDX-License-Identifier: Apache-2.0
//
// Base of LiteRT's C API: handles, status codes, enums that several headers share, and the macros
// that describe the platform.
//
// Rules that hold for every header of this folder unless a declaration states otherwise:
// - A handle is a pointer to an object of the library. `LiteRtCreate...` returns an object that the
//   caller owns and releases with the matching `LiteRtDestroy...`. Handles that a getter returns
//   are borrowed; they are valid as long as the object that they were obtained from.
// - Functions return a status. Results are written through the trailing pointers, and only if the
//   status is kLiteRtStatusOk. A NULL argument that is not described as optional yields
//   kLiteRtStatusErrorInvalidArgument.
// - Strings are NUL-terminated. Strings that are passed in are copied; strings that are returned
//   are borrowed.
// - An object may be used by one thread at a time. Different objects may be used concurrently.
//
// Functions that libLiteRt.so exports, or that a plug-in must export, are marked
// LITERT_CAPI_EXPORT. Functions without the mark are linked statically into programs and plug-ins.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMMON_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMMON_H_

#include <stddef.h>
#include <stdint.h>

// ---- Platform -----------------------------------------------------------------------------------

// Defined for Windows.
#if defined(WIN32) || defined(_WIN32) || defined(__WIN32__) || defined(__NT__) || defined(_WIN64)
#define LITERT_WINDOWS_OS 1
#endif

// Visibility of an exported function. On Windows, LITERT_STATIC selects a static library, and
// LITERT_COMPILE_LIBRARY the compilation of the library itself.
#if !defined(LITERT_WINDOWS_OS)
#define LITERT_CAPI_EXPORT __attribute__((visibility("default")))
#elif defined(LITERT_STATIC)
#define LITERT_CAPI_EXPORT
#elif defined(LITERT_COMPILE_LIBRARY)
#define LITERT_CAPI_EXPORT __declspec(dllexport)
#else
#define LITERT_CAPI_EXPORT __declspec(dllimport)
#endif

// Exempts a function from clang's check of indirect calls, for calls into libraries that were
// opened at run time. gcc has no such check and no such attribute.
#if defined(__linux__) && (defined(__clang__) || !defined(__GNUC__))
#define LITERT_NO_CFI_CHECK __attribute__((no_sanitize("cfi-icall")))
#else
#define LITERT_NO_CFI_CHECK
#endif

// Kinds of memory and synchronisation that the platform has, 1 or 0. A program may define
// LITERT_DISABLE_GPU, LITERT_DISABLE_NPU or one of LITERT_DISABLE_<KIND>_SUPPORT before the first
// include.
#if defined(__linux__) || defined(__ANDROID__)
#define LITERT_HAS_SYNC_FENCE_SUPPORT 1
#else
#define LITERT_HAS_SYNC_FENCE_SUPPORT 0
#endif

#if defined(__ANDROID__)
#define LITERT_HAS_AHWB_SUPPORT_DEFAULT 1
#define LITERT_HAS_OPENGL_SUPPORT_DEFAULT 1
#define LITERT_HAS_DMABUF_SUPPORT_DEFAULT 1
#else
#define LITERT_HAS_AHWB_SUPPORT_DEFAULT 0
#define LITERT_HAS_OPENGL_SUPPORT_DEFAULT 0
#define LITERT_HAS_DMABUF_SUPPORT_DEFAULT 0
#endif

#if defined(__ANDROID__) || (defined(__linux__) && defined(__aarch64__))
#define LITERT_HAS_ION_SUPPORT_DEFAULT 1
#define LITERT_HAS_FASTRPC_SUPPORT_DEFAULT 1
#else
#define LITERT_HAS_ION_SUPPORT_DEFAULT 0
#define LITERT_HAS_FASTRPC_SUPPORT_DEFAULT 0
#endif

#if defined(__APPLE__)
#define LITERT_HAS_METAL_SUPPORT_DEFAULT 1
#define LITERT_HAS_VULKAN_SUPPORT_DEFAULT 0
#else
#define LITERT_HAS_METAL_SUPPORT_DEFAULT 0
#define LITERT_HAS_VULKAN_SUPPORT_DEFAULT 1
#endif

#if defined(__APPLE__) || defined(LITERT_WINDOWS_OS)
#define LITERT_HAS_OPENCL_SUPPORT_DEFAULT 0
#else
#define LITERT_HAS_OPENCL_SUPPORT_DEFAULT 1
#endif

#define LITERT_HAS_WEBGPU_SUPPORT_DEFAULT 1

#if defined(LITERT_DISABLE_NPU)
#define LITERT_DISABLE_AHWB_SUPPORT
#define LITERT_DISABLE_ION_SUPPORT
#define LITERT_DISABLE_DMABUF_SUPPORT
#define LITERT_DISABLE_FASTRPC_SUPPORT
#endif

#if defined(LITERT_DISABLE_GPU)
#define LITERT_DISABLE_METAL_SUPPORT
#define LITERT_DISABLE_OPENCL_SUPPORT
#define LITERT_DISABLE_WEBGPU_SUPPORT
#define LITERT_DISABLE_VULKAN_SUPPORT
#define LITERT_DISABLE_OPENGL_SUPPORT
#endif

#if defined(LITERT_DISABLE_METAL_SUPPORT)
#define LITERT_HAS_METAL_SUPPORT 0
#else
#define LITERT_HAS_METAL_SUPPORT LITERT_HAS_METAL_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_OPENCL_SUPPORT)
#define LITERT_HAS_OPENCL_SUPPORT 0
#else
#define LITERT_HAS_OPENCL_SUPPORT LITERT_HAS_OPENCL_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_WEBGPU_SUPPORT)
#define LITERT_HAS_WEBGPU_SUPPORT 0
#else
#define LITERT_HAS_WEBGPU_SUPPORT LITERT_HAS_WEBGPU_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_VULKAN_SUPPORT)
#define LITERT_HAS_VULKAN_SUPPORT 0
#else
#define LITERT_HAS_VULKAN_SUPPORT LITERT_HAS_VULKAN_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_OPENGL_SUPPORT)
#define LITERT_HAS_OPENGL_SUPPORT 0
#else
#define LITERT_HAS_OPENGL_SUPPORT LITERT_HAS_OPENGL_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_AHWB_SUPPORT)
#define LITERT_HAS_AHWB_SUPPORT 0
#else
#define LITERT_HAS_AHWB_SUPPORT LITERT_HAS_AHWB_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_ION_SUPPORT)
#define LITERT_HAS_ION_SUPPORT 0
#else
#define LITERT_HAS_ION_SUPPORT LITERT_HAS_ION_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_DMABUF_SUPPORT)
#define LITERT_HAS_DMABUF_SUPPORT 0
#else
#define LITERT_HAS_DMABUF_SUPPORT LITERT_HAS_DMABUF_SUPPORT_DEFAULT
#endif
#if defined(LITERT_DISABLE_FASTRPC_SUPPORT)
#define LITERT_HAS_FASTRPC_SUPPORT 0
#else
#define LITERT_HAS_FASTRPC_SUPPORT LITERT_HAS_FASTRPC_SUPPORT_DEFAULT
#endif

// Releases memory of posix_memalign, which the first branch defines for Windows. The program
// includes <stdlib.h>, on Windows <malloc.h> and <errno.h>.
#if defined(_WIN32)
#define posix_memalign(p, a, s) (((*(p)) = _aligned_malloc((s), (a))), *(p) ? 0 : errno)
#define litert_aligned_free _aligned_free
#else
#define litert_aligned_free free
#endif

// ---- Handles ------------------------------------------------------------------------------------

// Declares the handle `name`, a pointer to the incomplete type `name`T, and `name`Const, a pointer
// to a constant object. The type is a class in C++.
#ifdef __cplusplus
#define LITERT_DEFINE_HANDLE(name) \
  typedef class name##T* name;     \
  typedef const class name##T* name##Const
#else
#define LITERT_DEFINE_HANDLE(name) \
  typedef struct name##T* name;    \
  typedef const struct name##T* name##Const
#endif

// Declares a handle whose type is a struct in C++ as well.
#define LITERT_DEFINE_HANDLE_STRUCT(name) \
  typedef struct name##T* name;           \
  typedef const struct name##T* name##Const

// Libraries, accelerators and settings that models share (litert_environment.h).
LITERT_DEFINE_HANDLE(LiteRtEnvironment);
// Options of an environment (litert_environment_options.h).
LITERT_DEFINE_HANDLE(LiteRtEnvironmentOptions);

// Model in memory (litert_model.h).
LITERT_DEFINE_HANDLE(LiteRtModel);
// Function of a model: operators in execution order.
LITERT_DEFINE_HANDLE(LiteRtSubgraph);
// Named entry point of a model.
LITERT_DEFINE_HANDLE(LiteRtSignature);
// Operator of a subgraph.
LITERT_DEFINE_HANDLE(LiteRtOp);
// Value that operators produce and consume.
LITERT_DEFINE_HANDLE(LiteRtTensor);
// Constant data of a tensor.
LITERT_DEFINE_HANDLE(LiteRtWeights);
// List to which a compiler plug-in appends the operators that it selects.
LITERT_DEFINE_HANDLE(LiteRtOpList);
// Pending changes of a subgraph (litert_builder.h).
LITERT_DEFINE_HANDLE(LiteRtBuilder);

// Options of a compiled model (litert_options.h).
LITERT_DEFINE_HANDLE_STRUCT(LiteRtOptions);
// List of option objects of accelerators and plug-ins (litert_opaque_options.h).
LITERT_DEFINE_HANDLE(LiteRtOpaqueOptions);
// Model that is ready to run (litert_compiled_model.h).
LITERT_DEFINE_HANDLE(LiteRtCompiledModel);
// Result of a compiler plug-in that its dispatch plug-in can run without bytecode.
LITERT_DEFINE_HANDLE(LiteRtJitExecutable);

// Memory of one tensor (litert_tensor_buffer.h).
LITERT_DEFINE_HANDLE(LiteRtTensorBuffer);
// Memory that an input or output accepts (litert_tensor_buffer_requirements.h).
LITERT_DEFINE_HANDLE(LiteRtTensorBufferRequirements);
// Event that is signalled when a buffer's content is complete (litert_event.h).
LITERT_DEFINE_HANDLE(LiteRtEvent);
// Tensor buffers of a running model (internal/litert_external_litert_buffer_context.h).
LITERT_DEFINE_HANDLE(LiteRtExternalLiteRtBufferContext);

// Device that runs parts of models (internal/litert_accelerator.h).
LITERT_DEFINE_HANDLE(LiteRtAccelerator);
// Delegate of TensorFlow Lite with its deleter (internal/litert_delegate_wrapper.h).
LITERT_DEFINE_HANDLE(LiteRtDelegateWrapper);

// Receiver of log messages (internal/litert_logging.h).
LITERT_DEFINE_HANDLE(LiteRtLogger);
// Measured values of an accelerator (litert_metrics.h).
LITERT_DEFINE_HANDLE(LiteRtMetrics);
// Recorder of durations (litert_profiler.h).
LITERT_DEFINE_HANDLE(LiteRtProfiler);

#ifdef __cplusplus
extern "C" {
#endif

// ---- Versions -----------------------------------------------------------------------------------

// Version of this API. Plug-ins report the version that they were compiled with.
#define LITERT_API_VERSION_MAJOR 0
#define LITERT_API_VERSION_MINOR 1
#define LITERT_API_VERSION_PATCH 0

// Version number of an API or of an implementation.
typedef struct LiteRtApiVersion {
  int major;
  int minor;
  int patch;
} LiteRtApiVersion;

// Returns a negative number, 0 or a positive number if `version` is older than, equal to or newer
// than `reference`.
int LiteRtCompareApiVersion(LiteRtApiVersion version, LiteRtApiVersion reference);

// ---- Status -------------------------------------------------------------------------------------

// Result of a function.
typedef enum {
  kLiteRtStatusOk = 0,

  // An argument is NULL, out of range or of the wrong kind.
  kLiteRtStatusErrorInvalidArgument = 1,
  // Out of memory.
  kLiteRtStatusErrorMemoryAllocationFailure = 2,
  // The runtime, a driver or a device failed.
  kLiteRtStatusErrorRuntimeFailure = 3,
  // An input tensor has no data.
  kLiteRtStatusErrorMissingInputTensor = 4,
  // The platform, the library or the object does not support the call.
  kLiteRtStatusErrorUnsupported = 5,
  // An item with this name, key or tag does not exist.
  kLiteRtStatusErrorNotFound = 6,
  // A wait ended before its event was signalled.
  kLiteRtStatusErrorTimeoutExpired = 7,
  // Two components have versions that do not fit together.
  kLiteRtStatusErrorWrongVersion = 8,
  // No other code fits.
  kLiteRtStatusErrorUnknown = 9,
  // An item with this name, key or tag exists.
  kLiteRtStatusErrorAlreadyExists = 10,

  // The client cancelled the run.
  kLiteRtStatusCancelled = 100,

  // A file cannot be opened, read or written.
  kLiteRtStatusErrorFileIO = 500,
  // The bytes are not a valid model.
  kLiteRtStatusErrorInvalidFlatbuffer = 501,
  // A library cannot be loaded, or lacks a function.
  kLiteRtStatusErrorDynamicLoading = 502,
  // A model cannot be written.
  kLiteRtStatusErrorSerialization = 503,
  // A compiler plug-in failed.
  kLiteRtStatusErrorCompilation = 504,

  // An index is not below the number of items.
  kLiteRtStatusErrorIndexOOB = 1000,
  // A tensor or an operator has another type than the call needs.
  kLiteRtStatusErrorInvalidIrType = 1001,
  // A graph violates a rule, for example that each tensor has one producer.
  kLiteRtStatusErrorInvalidGraphInvariant = 1002,
  // A change of a graph failed.
  kLiteRtStatusErrorGraphModification = 1003,

  // A tool received invalid settings.
  kLiteRtStatusErrorInvalidToolConfig = 1500,

  // A conversion rule of a plug-in does not apply to the operator. This is not a failure.
  kLiteRtStatusLegalizeNoMatch = 2000,
  // A conversion rule of a plug-in produced an invalid result.
  kLiteRtStatusErrorInvalidLegalization = 2001,

  // A transformation does not apply to the operator. This is not a failure.
  kLiteRtStatusPatternNoMatch = 3000,
  // A transformation produced an invalid graph.
  kLiteRtStatusInvalidTransformation = 3001,

  // A plug-in does not support the version of the runtime.
  kLiteRtStatusErrorUnsupportedRuntimeVersion = 4000,
  // A plug-in does not support the version of the compiler.
  kLiteRtStatusErrorUnsupportedCompilerVersion = 4001,
  // Bytecode was compiled for another version of the dispatch plug-in.
  kLiteRtStatusErrorIncompatibleByteCodeVersion = 4002,

  // Shapes cannot be inferred for an operator of this kind.
  kLiteRtStatusErrorUnsupportedOpShapeInferer = 5000,
  // Shapes cannot be inferred from the inputs of an operator.
  kLiteRtStatusErrorShapeInferenceFailed = 5001,
} LiteRtStatus;

// Returns the name of a status as a constant string, never NULL.
const char* LiteRtGetStatusString(LiteRtStatus status);

// ---- Accelerators and their settings ------------------------------------------------------------

// Kinds of hardware, bits of a LiteRtHwAcceleratorSet.
typedef enum LiteRtHwAccelerators {
  kLiteRtHwAcceleratorNone = 0,
  kLiteRtHwAcceleratorCpu = 1 << 0,
  kLiteRtHwAcceleratorGpu = 1 << 1,
  kLiteRtHwAcceleratorNpu = 1 << 2,
#if defined(__EMSCRIPTEN__)
  kLiteRtHwAcceleratorWebNn = 1 << 3,
#endif
  // Makes the enum's underlying type a signed 32-bit integer.
  _kLiteRtHwAcceleratorNegativeDummy = -1,
} LiteRtHwAccelerators;

// Bits of LiteRtHwAccelerators.
typedef int LiteRtHwAcceleratorSet;

// Arithmetic of a GPU delegate.
typedef enum {
  // The delegate decides.
  kLiteRtDelegatePrecisionDefault = 0,
  kLiteRtDelegatePrecisionFp16 = 1,
  kLiteRtDelegatePrecisionFp32 = 2,
  // float16 storage and products, float32 sums, in convolutions and matrix products.
  kLiteRtDelegatePrecisionFp16WithFp32Accum = 3,
} LiteRtDelegatePrecision;

// Priority of a model's commands on the GPU.
typedef enum {
  kLiteRtGpuPriorityDefault = 0,
  kLiteRtGpuPriorityLow = 1,
  kLiteRtGpuPriorityNormal = 2,
  kLiteRtGpuPriorityHigh = 3,
} LiteRtGpuPriority;

// Memory objects in which a GPU delegate stores tensors.
typedef enum {
  // The delegate decides.
  kLiteRtDelegateBufferStorageTypeDefault = 0,
  kLiteRtDelegateBufferStorageTypeBuffer = 1,
  kLiteRtDelegateBufferStorageTypeTexture2D = 2,
} LiteRtDelegateBufferStorageType;

// API through which a GPU delegate uses the device.
typedef enum {
  // The delegate decides.
  kLiteRtGpuBackendAutomatic = 0,
  kLiteRtGpuBackendOpenCl = 1,
  kLiteRtGpuBackendWebGpu = 2,
  // Experimental.
  kLiteRtGpuBackendOpenGl = 3,
} LiteRtGpuBackend;

// Method by which a synchronous run waits for the GPU.
typedef enum {
  // The delegate decides.
  kLiteRtGpuWaitTypeDefault = 0,
  // The thread sleeps.
  kLiteRtGpuWaitTypePassive = 1,
  // The thread polls.
  kLiteRtGpuWaitTypeActive = 2,
  // The run returns at once; the client synchronises by other means. New programs run
  // asynchronously instead.
  kLiteRtGpuWaitTypeDoNotWait = 3,
} LiteRtGpuWaitType;

// ---- Other shared types -------------------------------------------------------------------------

// Access for which a tensor buffer is locked.
typedef enum {
  // The content is valid and must not be changed.
  kLiteRtTensorBufferLockModeRead = 0,
  // The content is undefined and is written completely.
  kLiteRtTensorBufferLockModeWrite = 1,
  // The content is valid and may be changed.
  kLiteRtTensorBufferLockModeReadWrite = 2,
} LiteRtTensorBufferLockMode;

// Destination of a compiled model's error messages.
typedef enum LiteRtErrorReporterMode {
  // Messages are discarded.
  kLiteRtErrorReporterModeNone = 0,
  // Messages are printed to stderr.
  kLiteRtErrorReporterModeStderr = 1,
  // Messages are collected for LiteRtCompiledModelGetErrorMessages.
  kLiteRtErrorReporterModeBuffer = 2,
} LiteRtErrorReporterMode;

// Index or number of items.
typedef size_t LiteRtParamIndex;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMMON_H_
