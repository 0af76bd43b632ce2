// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate. A table (options.cc) has key, type, range, default and help of each
// option. The defaults of the structs, the parser of texts, the checks of the public struct's
// fields, and the plug-in's description of its options are derived from it.
#ifndef DEPUTY_GPU_CL_OPTIONS_H_
#define DEPUTY_GPU_CL_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "deputy/deputy_gpu.h"
#include "deputy/deputy_plugin.h"
#include "deputy/gpu_delegate_options.h"

namespace deputy::gpu_cl {

// Storage type of filters and results within a partition; automatic: kFp32 for devices of class
// DeviceClass::kCpu, else kFp16. Arithmetic is in float32.
enum class Precision { kFp32, kFp16, kAutomatic };

// Device class that kernels are written for; values other than automatic are for tests.
enum class ClassChoice { kAutomatic, kCpu, kDesktop, kMobile };

// Storage of filters (storage.h); automatic: images on Adreno.
enum class StorageChoice { kAutomatic, kBuffer, kImageBuffer, kImage2d, kImage2dArray, kImage3d };

// Expected use of the delegate, with the values of TfLiteGpuInferenceUsage.
enum class Preference { kSingleAnswer, kSustainedSpeed, kBalanced };

// Arithmetic of products of int8 and uint8 values with constant filters.
enum class QuantizedArithmetic { kAutomatic, kFloat, kInt8 };

enum class Tuning { kNone, kFast, kFull };

// Smallest value of min_gain_us: no minimum gain.
inline constexpr double kNoMinGain = -1e9;

struct Options {
  // Sets every member to the table's default.
  Options();

  std::string device;
  ClassChoice device_class;
  Precision precision;
  StorageChoice storage;
  bool quantized;
  QuantizedArithmetic quantized_arithmetic;
  int64_t max_partitions;  // 0: unlimited
  double min_gain_us;
  bool force;
  Preference preference;
  Tuning tuning;
  std::string cache_dir;  // "": no cache
  std::string cache_token;
  int64_t cache_max_mb;
  bool profiling;
  bool describe;
  bool keep_outputs;
  bool optimize;
  std::string source_dir;  // "": sources are not written
  int64_t kept_plans;
  int64_t overlapped_tasks;  // -1: depends on the device

  // The client's cl_context and cl_command_queue. They are not in the table; the plug-in's option
  // `client_objects` has their addresses.
  void* context = nullptr;
  void* queue = nullptr;
  bool has_foreign_objects = false;  // `client_objects` has addresses of another process
};

// Parses texts into `options`, which keeps the options that are not named, and is unchanged on
// failure. If a key occurs more than once, the last value counts. Returns "" or an error message:
// an unknown key, a value of another type, or one out of range.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Returns the options as deputy_plugin describes them. The array lives as long as the process.
std::span<const DeputyPluginOption> PluginOptions();

// Converts the options of TensorFlow Lite's struct. Returns "" or an error message; `out_options`
// is unchanged then.
std::string FromV2(const TfLiteGpuDelegateOptionsV2& v2, Options* out_options);

// Returns the public struct with the table's defaults; its strings live as long as the process.
DeputyGpuOptions PublicDefaults();

// Converts the options of a public struct. Returns "" or an error message; `out_options` is
// unchanged then.
std::string FromPublic(const DeputyGpuOptions& given, Options* out_options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_OPTIONS_H_
