// SPDX-License-Identifier: Apache-2.0
//
// The header, segments and sections of a shared object, read without loading it: the address ranges
// that the loader would map, their permissions, and their offsets in the file.
//
// Checking functions return "" or the problem, as the end of a sentence whose subject is the file.
#ifndef DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_
#define DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// Number of bytes of an address in files for this machine. The structs of <elf.h> have this size in
// their names, which ElfW of <link.h> selects.
inline constexpr uint64_t kElfWord = sizeof(ElfW(Addr));

// A relocation. Those of 32-bit ARM have no addend; the bytes at their target contain it.
#if defined(__arm__)
using ElfRelocation = ElfW(Rel);
#else
using ElfRelocation = ElfW(Rela);
#endif

// Returns a printf-formatted text of at most 511 characters.
std::string ElfText(const char* format, ...) __attribute__((format(printf, 1, 2)));

class ElfImage {
 public:
  // Borrows the bytes of the file.
  explicit ElfImage(std::span<const uint8_t> file) : file_(file) {}

  // Reads the header, segments and sections. Must be called first, and once; the functions below
  // rely on its checks.
  std::string Read();

  // Reads a value at an offset, which must be inside the file. Copies, since it may be unaligned.
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(value));
    return value;
  }

  // Reads the text at an offset, where the file must have `size` bytes; false if it is not
  // terminated within them.
  bool StringAt(uint64_t offset, uint64_t size, std::string_view* out_text) const;

  // Finds the file offset of an address range. Returns false unless the range is inside the file
  // data of one readable segment.
  bool Locate(uint64_t address, uint64_t size, uint64_t* out_offset) const;
  // Returns true if an address range is inside one segment with all of `flags` (PF_R and so on).
  // The remainder of the segment's last page counts as part of it, since the loader maps whole
  // pages and may relocate there.
  bool InMemory(uint64_t address, uint64_t size, unsigned flags) const;
  // Returns true if an address is in the library or at most a page away: pointers to the end of an
  // object, or shortly before its begin, are valid.
  bool IsNear(uint64_t address) const;

  // Returns the first segment of a type, or null.
  const ElfW(Phdr) * FindSegment(unsigned type) const;
  // Returns the section headers; empty if the file has none.
  const std::vector<ElfW(Shdr)>& sections() const { return sections_; }

 private:
  bool Holds(uint64_t offset, uint64_t size) const;
  std::string ExpectHeld(const char* what, uint64_t offset, uint64_t size) const;
  std::string ReadHeader();
  std::string CheckPlatform() const;
  std::string ReadSegments();
  std::string CheckLoad(size_t index, const ElfW(Phdr) * previous);
  std::string CheckOther(size_t index) const;
  std::string CheckNotes(const ElfW(Phdr) & segment) const;
  std::string ReadSections();
  bool IsMappedToOffset(const ElfW(Phdr) & segment, uint64_t size) const;
  bool EndsFile(const ElfW(Phdr) & segment) const;
  bool IsLoaded(const ElfW(Shdr) & section) const;

  std::span<const uint8_t> file_;
  ElfW(Ehdr) header_ = {};
  std::vector<ElfW(Phdr)> segments_;
  std::vector<ElfW(Shdr)> sections_;
  uint64_t begin_ = 0, end_ = 0;  // address range of all loaded segments
  uint64_t page_ = 0;             // the largest page size that the file supports
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_
