// SPDX-License-Identifier: Apache-2.0
//
// Compiled models (docs/compile.md): a .tflite file followed by files that were made from it, such
// as packed constants and compiled programs of delegates. FlatBuffers ignore bytes after their end,
// so the file is also a plain model. The files are not trusted: ParseCompiledModel checks all
// numbers, and IsIntact the contents of a section.
#ifndef DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_
#define DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

// Owner of the section with packed constants; other owners are names of delegates.
inline constexpr char kCpuOwner[] = "cpu";
// Alignment of sections in the file.
inline constexpr size_t kSectionAlignment = 4096;

// One of the stored files.
struct CompiledSection {
  std::string owner;  // letters, digits and '_'
  std::string name;   // name of a file, without directories
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t checksum[2] = {};
};

// The circumstances in which the sections of an owner were made.
struct CompiledTarget {
  std::string owner;
  std::string version;  // of the plug-in, or of Deputy
  std::string device;   // name and driver of the device, or table of CPU kernels
};

struct CompiledModel {
  uint64_t model_bytes = 0;  // size of the .tflite file at the begin
  std::vector<CompiledTarget> targets;
  std::vector<CompiledSection> sections;

  const CompiledTarget* FindTarget(const std::string& owner) const;
};

// Returns the owner for the delegates of a library: "gpu" for "/usr/lib/libdeputy_gpu.so.1".
std::string OwnerOfLibrary(const std::string& path);
// Appends the description of a device to a CompiledTarget's.
void AddDeviceText(const DeputyDeviceInfo& device, std::string* text);

// State of a file: `kPlain` has no sections.
enum class CompiledModelState { kCompiled, kPlain, kDamaged };

// Returns true if a file ends like a compiled model.
bool IsCompiledModel(const std::string& path);

// Reads the description of a file with these bytes.
CompiledModelState ParseCompiledModel(std::span<const char> file, CompiledModel* out);

// Returns true if the section of a parsed file has its checksum.
bool IsIntact(std::span<const char> file, const CompiledSection& section);

// Appends the contents of a section to a file under construction, which begins with the model.
void AppendSection(const std::string& owner, const std::string& name, std::span<const char> bytes,
                   CompiledModel* model, std::string* file);
// Appends the description. `model->model_bytes` must be the size of the model.
void FinishCompiledModel(const CompiledModel& model, std::string* file);

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_COMPILED_MODEL_H_
