// SPDX-License-Identifier: Apache-2.0
//
// Compiled models (docs/compile.md): a .tflite file followed by sections, which are files with
// packed constants and with programs that delegates have compiled. Readers of a FlatBuffer ignore
// bytes after its end, so the file is also a plain model. Files are not trusted: ParseCompiledModel
// checks all numbers, and IsIntact the contents of a section.
#ifndef DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_
#define DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

// Owners of the sections with packed constants, and with the model before the compilation by
// plug-ins of LiteRT; other owners are names of delegates.
inline constexpr char kCpuOwner[] = "constants";
inline constexpr char kOriginalOwner[] = "original";
// Alignment of sections in the file.
inline constexpr size_t kSectionAlignment = 4096;

// A stored file.
struct CompiledSection {
  std::string owner;  // lower-case letters, digits and '_'
  std::string name;   // file name without directories
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t checksum[2] = {};
};

// Software and devices for which the sections of an owner were compiled.
struct CompiledTarget {
  std::string owner;
  std::string version;  // version of the plug-in
  std::string device;   // names and drivers of the plug-in's devices
};

struct CompiledModel {
  uint64_t model_bytes = 0;  // size of the .tflite file at the beginning
  uint64_t model_checksum[2] = {};
  std::vector<CompiledTarget> targets;
  std::vector<CompiledSection> sections;

  const CompiledTarget* FindTarget(const std::string& owner) const;
};

// Returns the owner for the delegates of a library: "gpu" for "/usr/lib/libdeputy_gpu.so.1".
std::string OwnerOfLibrary(const std::string& path);
// Appends a device to CompiledTarget::device.
void AddDeviceText(const DeputyDeviceInfo& device, std::string* text);

// State of a file. kPlain: not a compiled model. kDamaged: the description is damaged.
enum class CompiledModelState { kCompiled, kPlain, kDamaged };

// Returns true if the last bytes of a file are those of a compiled model.
bool IsCompiledModel(const std::string& path);

// Decodes the description of a file. Changes `*out` only if the state is kCompiled.
CompiledModelState ParseCompiledModel(std::span<const char> file, CompiledModel* out);

// Return true if the model or a section of a parsed file matches its checksum.
bool IsModelIntact(std::span<const char> file, const CompiledModel& model);
bool IsIntact(std::span<const char> file, const CompiledSection& section);

// Appends the contents of a section to `*file`, which begins with the model.
void AppendSection(const std::string& owner, const std::string& name, std::span<const char> bytes,
                   CompiledModel* model, std::string* file);
// Appends the description. `model->model_bytes` must be the size of the model.
void FinishCompiledModel(const CompiledModel& model, std::string* file);

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_
