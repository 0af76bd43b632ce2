// SPDX-License-Identifier: Apache-2.0
//
// Compiled models: files that `deputy compile` writes (docs/compile.md). A file contains a .tflite
// model, packed constants of the CPU kernels, and programs that delegates have compiled.
// TfLiteModelCreateFromFile opens it like any model, and interpreters use the packed constants.
//
//     DeputyCompiledStatus status = {.struct_size = sizeof status};
//     DeputyCompiledModelCheck("model.compiled", plugin, &status);
//     if (status.compatibility == kDeputyCompiledUsable) {
//       DeputyCompiledModelUnpack("model.compiled", "npu_stub", directory);
//       // The delegate gets this directory as its option cache_dir.
//     }
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_COMPILED_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_COMPILED_H_

#include "deputy.h"

#ifdef __cplusplus
extern "C" {
#endif

// Result of DeputyCompiledModelCheck.
typedef enum DeputyCompatibility {
  // The file runs without compilation or packing.
  kDeputyCompiledUsable = 0,
  // The model runs, but must be compiled or packed again: the file was not compiled for the
  // delegate, or for another version, device or build, or one of the stored files is damaged.
  kDeputyCompiledRecompile = 1,
  // The file cannot be read, its model is invalid, or the description of the stored files is
  // damaged.
  kDeputyCompiledUnusable = 2,
} DeputyCompatibility;

// Compatibility of a compiled model.
typedef struct DeputyCompiledStatus {
  // sizeof(DeputyCompiledStatus).
  size_t struct_size;
  DeputyCompatibility compatibility;
  // Number of stored files for the delegate or the CPU.
  int32_t section_count;
  // Reason of the result; "" if the model is usable.
  char reason[256];
} DeputyCompiledStatus;

// Checks whether the file at `path` can be used with the delegates of a plug-in, or with the CPU if
// `plugin` is NULL; runs nothing and compiles nothing. The stored files of the delegate must have
// their checksums, and version and devices of the plug-in must be those of the compilation. Options
// of delegates are not compared: a delegate with other options compiles again. kTfLiteError if
// `path` is NULL or `status` has a wrong struct_size.
TFL_CAPI_EXPORT TfLiteStatus DeputyCompiledModelCheck(const char* path, const DeputyPlugin* plugin,
                                                      DeputyCompiledStatus* status);

// Writes the stored files of a delegate to a directory. If the directory does not exist, it is
// created with access for the user only. `owner` is the name of the delegate's library without
// "libdeputy_", "lib" and ".so". Reports an error and returns kTfLiteError if the file is not a
// compiled model, if it has no files of the owner or damaged ones, or if they cannot be written.
TFL_CAPI_EXPORT TfLiteStatus DeputyCompiledModelUnpack(const char* path, const char* owner,
                                                       const char* directory);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_COMPILED_H_
