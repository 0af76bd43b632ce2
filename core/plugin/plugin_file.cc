// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/plugin_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>

#include "core/plugin/elf.h"

namespace deputy {
namespace {

std::string SystemText() { return std::generic_category().message(errno); }

// A read-only map of a file.
class MappedFile {
 public:
  ~MappedFile() {
    if (bytes_ != MAP_FAILED) munmap(bytes_, size_);
    if (file_ >= 0) close(file_);
  }

  // Opens and maps a file. Returns "" or the problem. Opens without blocking, as the file may be a
  // pipe.
  std::string Open(const std::string& path) {
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts = {};
    if (file_ < 0 || fstat(file_, &facts) != 0) return "cannot be read: " + SystemText();
    if (S_ISDIR(facts.st_mode)) return "is a directory, expected a shared object";
    if (!S_ISREG(facts.st_mode)) return "is not a regular file, expected a shared object";
    size_ = static_cast<size_t>(facts.st_size);
    if (size_ == 0) return "is empty, expected a shared object";
    bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
    return bytes_ == MAP_FAILED ? "cannot be read: " + SystemText() : "";
  }

  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(bytes_), size_}; }

 private:
  int file_ = -1;
  size_t size_ = 0;
  void* bytes_ = MAP_FAILED;
};

// Names of a sanitizer. If its runtime is not in the process from the start, a library that it has
// instrumented may end the process when it is loaded or runs.
struct Sanitizer {
  std::string_view prefix;  // prefix of the functions that instrumented code calls
  const char* name;
};
constexpr Sanitizer kSanitizers[] = {
    {"__asan_", "AddressSanitizer"},
    {"__tsan_", "ThreadSanitizer"},
    {"__msan_", "MemorySanitizer"},
    {"__ubsan_", "UndefinedBehaviorSanitizer"},
};

// Returns true if one of the libraries is a runtime of UndefinedBehaviorSanitizer, such as
// libubsan.so.1 or libclang_rt.ubsan_standalone.so, which need not be in the process before.
bool HasUbsanRuntime(std::span<const std::string_view> libraries) {
  for (const std::string_view library : libraries) {
    if (library.find("ubsan") != library.npos) return true;
  }
  return false;
}

// Returns the problem if the symbol belongs to a sanitizer whose runtime is missing, else "".
std::string SanitizerProblem(const ElfSymbol& symbol) {
  if (symbol.defined || symbol.weak) return "";
  for (const Sanitizer& sanitizer : kSanitizers) {
    if (symbol.name.substr(0, sanitizer.prefix.size()) != sanitizer.prefix) continue;
    const std::string name(symbol.name);
    if (dlsym(RTLD_DEFAULT, name.c_str()) != nullptr) return "";
    if (sanitizer.prefix == "__ubsan_" && HasUbsanRuntime(symbol.libraries)) return "";
    return std::string("is built with ") + sanitizer.name + ": it needs '" + name +
           "', expected a library without it, since this process is";
  }
  return "";
}

// Returns the file that dlopen would load, "" if it is unknown.
std::string FindFile(const std::string& path) {
  if (path.find('/') != std::string::npos) return path;
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  const std::string_view list = folders == nullptr ? "" : folders;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(":;", at), list.size());
    std::string found = std::string(list.substr(at, end - at)) + "/" + path;
    if (end > at && access(found.c_str(), R_OK) == 0) return found;
    at = end + 1;
  }
  return "";
}

}  // namespace

PluginFile InspectPluginFile(const std::string& path) {
  PluginFile result;
  const std::string found = FindFile(path);
  if (found.empty()) return result;
  MappedFile file;
  result.problem = file.Open(found);
  if (!result.problem.empty()) return result;
  std::string sanitizer;
  result.problem = ReadSharedObject(file.bytes(), [&](const ElfSymbol& symbol) {
    if (sanitizer.empty()) sanitizer = SanitizerProblem(symbol);
    if (symbol.defined && symbol.name == "TFL_TheStableDelegate") result.is_stable = true;
  });
  if (result.problem.empty()) result.problem = sanitizer;
  return result;
}

}  // namespace deputy
