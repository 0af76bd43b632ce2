// SPDX-License-Identifier: Apache-2.0
//
// A shared object's header, segments and sections, read without loading it: which addresses there
// will be, with which permissions, and where their bytes are in the file.
//
// Functions that check something return "" or what is wrong, as the end of a sentence whose subject
// is the file.
#ifndef DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_
#define DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// A printf-formatted text of at most 511 characters.
std::string ElfText(const char* format, ...) __attribute__((format(printf, 1, 2)));

class ElfImage {
 public:
  // The file is borrowed.
  explicit ElfImage(std::span<const uint8_t> file) : file_(file) {}

  // To be called first, and once; the functions below rely on what it has checked.
  std::string Read();

  // What is at an offset in the file, which must hold it. Copies, since nothing has to be aligned.
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(value));
    return value;
  }

  // The text at an offset in the file, which must hold `size` bytes there; false when it does not
  // end in them.
  bool StringAt(uint64_t offset, uint64_t size, std::string_view* out_text) const;

  // Where in the file the bytes of an address range are. False unless they are all in one segment
  // that can be read.
  bool Locate(uint64_t address, uint64_t size, uint64_t* out_offset) const;
  // Whether an address range is in one segment that has all of `flags` (PF_R and so on). Whatever
  // fills up its last page counts, since the loader maps whole pages and relocates there.
  bool InMemory(uint64_t address, uint64_t size, unsigned flags) const;
  // Whether an address is in the library, or at most a page away from it: pointers to the end of an
  // object, or to a little before its begin, are no damage.
  bool IsNear(uint64_t address) const;

  // The first segment of a type, null if there is none.
  const Elf64_Phdr* FindSegment(unsigned type) const;
  // Empty where a file has none.
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

 private:
  bool Holds(uint64_t offset, uint64_t size) const;
  std::string ExpectHeld(const char* what, uint64_t offset, uint64_t size) const;
  std::string ReadHeader();
  std::string CheckPlatform() const;
  std::string ReadSegments();
  std::string CheckLoad(size_t index, const Elf64_Phdr* previous);
  std::string CheckOther(size_t index) const;
  std::string CheckNotes(const Elf64_Phdr& segment) const;
  std::string ReadSections();
  bool IsWhereItSays(const Elf64_Phdr& segment, uint64_t size) const;
  bool EndsFile(const Elf64_Phdr& segment) const;
  bool IsLoaded(const Elf64_Shdr& section) const;

  std::span<const uint8_t> file_;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  uint64_t begin_ = 0, end_ = 0;  // of all that is loaded
  uint64_t page_ = 0;             // the largest that the file is made for
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ELF_IMAGE_H_
