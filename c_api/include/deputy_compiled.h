// SPDX-License-Identifier: Apache-2.0
//
// Compiled models: one file with a .tflite model and what was made from it, written by
// `deputy compile` (docs/compile.md). TfLiteModelCreateFromFile opens it like any model, and the
// interpreter maps the packed constants in it.
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
  // The file runs, but must be compiled again, because it has nothing for the delegate, was made by
  // or for something else, or is damaged after the model.
  kDeputyCompiledRecompile = 1,
  // The file cannot be run: it cannot be read, its model is invalid, or its description is damaged.
  kDeputyCompiledUnusable = 2,
} DeputyCompatibility;

// Compatibility of a compiled model.
typedef struct DeputyCompiledStatus {
  // sizeof(DeputyCompiledStatus).
  size_t struct_size;
  DeputyCompatibility compatibility;
  // Number of stored files for the delegate or the CPU.
  int32_t section_count;
  // Reason, unless the model is usable.
  char reason[256];
} DeputyCompiledStatus;

// Checks whether the file at `path` can be used with the delegates of a plug-in, or with the CPU if
// `plugin` is NULL; runs nothing and compiles nothing. The files for the delegate must have their
// checksums, and version and devices of the plug-in must be those of the compilation. Options of
// delegates are not compared: with others they compile again. kTfLiteError if `path` is NULL or
// `status` has a wrong struct_size.
TFL_CAPI_EXPORT TfLiteStatus DeputyCompiledModelCheck(const char* path, const DeputyPlugin* plugin,
                                                      DeputyCompiledStatus* status);

// Writes the files for a delegate to a directory, which is created with access for the user only.
// `owner` is the name of the delegate's library without "libdeputy_", "lib" and ".so". kTfLiteError
// after a report if the file is no compiled model, has no files for the owner or damaged ones, or
// if they cannot be written.
TFL_CAPI_EXPORT TfLiteStatus DeputyCompiledModelUnpack(const char* path, const char* owner,
                                                       const char* directory);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_COMPILED_H_
