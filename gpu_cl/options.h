// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate. One table (options.cc) has for each its key, type, range, default and
// help, and everything else follows from it: the defaults of the structs, what a text may be, what
// a field of the public struct may be, and what the plug-in says of its options.
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

// As what filters and results within a partition are stored; automatic: kFp16 on GPUs. All is
// computed in float32.
enum class Precision { kFp32, kFp16, kAutomatic };

// What kernels are written for; anything but automatic is for tests.
enum class ClassChoice { kAutomatic, kCpu, kDesktop, kMobile };

// Where filters lie (storage.h); automatic: in images on Adreno.
enum class StorageChoice { kAutomatic, kBuffer, kImageBuffer, kImage2d, kImage2dArray, kImage3d };

// As TfLiteGpuInferenceUsage.
enum class Preference { kSingleAnswer, kSustainedSpeed, kBalanced };

enum class Tuning { kNone, kFast, kFull };

// The least number that min_gain_us may be: no gain is asked for, and none is computed.
inline constexpr double kNoLeastGain = -1e9;

struct Options {
  // Every member as the table has it.
  Options();

  std::string device;
  ClassChoice device_class;
  Precision precision;
  StorageChoice storage;
  bool quantized;
  int64_t max_partitions;  // 0: all
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
  int64_t kept_plans;

  // Of the client's, a cl_context and a cl_command_queue; not in the table, since they are no text.
  void* context = nullptr;
  void* queue = nullptr;
};

// Reads texts into `options`, which keeps what no key names and is unchanged on failure. A key may
// come twice; the last one counts. Returns "" or what is wrong: an unknown key, a value of another
// type, one that is out of range.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// The options as deputy_plugin describes them. The array lives as long as the process.
std::span<const DeputyPluginOption> PluginOptions();

// The options of the original's struct. Returns "" or what is wrong with them; `out_options` is
// unchanged then.
std::string FromV2(const TfLiteGpuDelegateOptionsV2& v2, Options* out_options);

// The public struct with every field as the table has it; strings live as long as the process.
DeputyGpuOptions PublicDefaults();

// The options of a public struct. Returns "" or what is wrong with them; `out_options` is unchanged
// then.
std::string FromPublic(const DeputyGpuOptions& given, Options* out_options);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_OPTIONS_H_
