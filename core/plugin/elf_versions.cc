// SPDX-License-Identifier: Apache-2.0
//
// Checks symbol versions. They are listed in two chained tables: needed and defined ones; a third
// table has a version number for each symbol. The loader follows the chains, builds a table of the
// versions, and indexes it with the symbols' numbers without bounds checks.
#include <dlfcn.h>

#include <set>

#include "core/plugin/elf_symbols.h"

namespace deputy {
namespace {

constexpr const char* kOutside =
    "is damaged: the symbols' versions are outside of the loaded segments";

// Bits of a version number; the top bit of 16 marks a hidden symbol.
constexpr unsigned kNumberMask = 0x7fff;

// Returns true if the library is loaded in this process; it may then be missing among the file's
// dependencies.
bool IsInProcess(std::string_view library) {
  void* handle = dlopen(std::string(library).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

class VersionReader {
 public:
  explicit VersionReader(const ElfDynamic& dynamic) : dynamic_(dynamic), image_(dynamic.image()) {}

  // The steps of the check. They return "" or the problem, and must be called in this order.
  std::string ReadNeeded();
  std::string ReadDefined();
  std::string CheckSymbols(uint64_t count) const;

 private:
  std::string ReadNeededOf(uint64_t address, const ElfW(Verneed) & library);

  // Reads an entry of a chain; false if it is not inside the file data of one readable segment.
  template <typename T>
  bool Get(uint64_t address, T* out) const {
    uint64_t offset = 0;
    if (!image_.Locate(address, sizeof(T), &offset)) return false;
    *out = image_.At<T>(offset);
    return true;
  }
  // Returns true if `next` is 0 for the last entry of the count and not 0 for all others. Offsets
  // are unsigned, so chains only run forward and must end.
  static bool IsNext(uint64_t next, uint64_t index, uint64_t count) {
    return (next == 0) == (index + 1 == count);
  }

  const ElfDynamic& dynamic_;
  const ElfImage& image_;
  std::set<unsigned> numbers_;
};

std::string VersionReader::ReadNeeded() {
  if (!dynamic_.Has(DT_VERNEED)) return "";
  uint64_t address = dynamic_.Value(DT_VERNEED);
  const uint64_t count = dynamic_.Value(DT_VERNEEDNUM);
  for (uint64_t i = 0; i < count; ++i) {
    ElfW(Verneed) library;
    std::string_view name;
    if (!Get(address, &library) || !IsNext(library.vn_next, i, count) ||
        !dynamic_.Name(library.vn_file, &name)) {
      return kOutside;
    }
    // The loader aborts the process if it has not loaded this library.
    if (!dynamic_.Needs(name) && !IsInProcess(name)) {
      return "is damaged: it needs versions of a library that is not among its dependencies";
    }
    std::string problem = ReadNeededOf(address, library);
    if (!problem.empty()) return problem;
    address += library.vn_next;
  }
  return count == 0 ? kOutside : "";
}

std::string VersionReader::ReadNeededOf(uint64_t address, const ElfW(Verneed) & library) {
  address += library.vn_aux;
  for (uint64_t i = 0; i < library.vn_cnt; ++i) {
    ElfW(Vernaux) version;
    std::string_view ignored;
    if (!Get(address, &version) || !IsNext(version.vna_next, i, library.vn_cnt) ||
        !dynamic_.Name(version.vna_name, &ignored)) {
      return kOutside;
    }
    numbers_.insert(version.vna_other & kNumberMask);
    address += version.vna_next;
  }
  return library.vn_cnt == 0 ? kOutside : "";
}

std::string VersionReader::ReadDefined() {
  if (!dynamic_.Has(DT_VERDEF)) return "";
  uint64_t address = dynamic_.Value(DT_VERDEF);
  const uint64_t count = dynamic_.Value(DT_VERDEFNUM);
  for (uint64_t i = 0; i < count; ++i) {
    ElfW(Verdef) version;
    ElfW(Verdaux) first;
    std::string_view ignored;
    if (!Get(address, &version) || !IsNext(version.vd_next, i, count) ||
        !Get(address + version.vd_aux, &first) || !dynamic_.Name(first.vda_name, &ignored)) {
      return kOutside;
    }
    numbers_.insert(version.vd_ndx & kNumberMask);
    address += version.vd_next;
  }
  return count == 0 ? kOutside : "";
}

std::string VersionReader::CheckSymbols(uint64_t count) const {
  if (!dynamic_.Has(DT_VERSYM)) return "";
  uint64_t offset = 0;
  if (!image_.Locate(dynamic_.Value(DT_VERSYM), count * 2, &offset)) return kOutside;
  if (numbers_.empty())
    return "is damaged: its symbols have versions, but no version is defined or needed";
  for (uint64_t i = 0; i < count; ++i) {
    const unsigned number = image_.At<uint16_t>(offset + i * 2) & kNumberMask;
    if (number > VER_NDX_GLOBAL && numbers_.count(number) == 0) {
      return ElfText(
          "is damaged: symbol %llu of %llu has version %u, which is not defined or needed",
          static_cast<unsigned long long>(i), static_cast<unsigned long long>(count), number);
    }
  }
  return "";
}

}  // namespace

std::string CheckElfVersions(const ElfDynamic& dynamic, const ElfSymbols& symbols) {
  VersionReader reader(dynamic);
  std::string problem = reader.ReadNeeded();
  if (problem.empty()) problem = reader.ReadDefined();
  if (problem.empty()) problem = reader.CheckSymbols(symbols.count());
  return problem;
}

}  // namespace deputy
