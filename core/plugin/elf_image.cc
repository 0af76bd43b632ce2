// SPDX-License-Identifier: Apache-2.0
//
// Checks the header, segments and sections. Section headers, if the file has any, are ignored by
// the loader; they are compared with the segments, which detects a damaged segment header.
#include "core/plugin/elf_image.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace deputy {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
#elif defined(__arm__)
constexpr unsigned kMachine = EM_ARM;
#elif defined(__riscv)
constexpr unsigned kMachine = EM_RISCV;
#else
#error "the ELF number of this machine is missing"
#endif

constexpr unsigned kClass = kElfWord == 8 ? ELFCLASS64 : ELFCLASS32;

// The smallest page size of any machine; the loader rejects segments that are not page-aligned.
constexpr uint64_t kMinPage = 4096;
// Upper bound on addresses: above the address space of any process, and small enough that the sum
// of two addresses does not overflow.
constexpr uint64_t kMaxAddress = uint64_t{1} << 60;
// Upper bound on thread-local memory. The loader aborts the process if it cannot allocate it.
constexpr uint64_t kMaxThreadBytes = uint64_t{1} << 30;

std::string MachineName(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "ARM";
    case EM_AARCH64:
      return "AArch64";
    case EM_MIPS:
      return "MIPS";
    case EM_PPC64:
      return "POWER";
    case EM_S390:
      return "S/390";
    case EM_RISCV:
      return "RISC-V";
    case 164:  // EM_HEXAGON, which older headers do not define
      return "Hexagon";
    default:
      return ElfText("machine %u", machine);
  }
}

std::string PlatformName(unsigned machine, unsigned elf_class, unsigned data) {
  return ElfText("%s (%s, %s)", MachineName(machine).c_str(),
                 elf_class == ELFCLASS64 ? "64-bit" : "32-bit",
                 data == ELFDATA2LSB ? "little-endian" : "big-endian");
}

std::string TypeName(unsigned type) {
  switch (type) {
    case ET_REL:
      return "object file";
    case ET_EXEC:
      return "executable";
    case ET_CORE:
      return "core dump";
    default:
      return ElfText("ELF type %u", type);
  }
}

bool IsPowerOfTwo(uint64_t number) { return number != 0 && (number & (number - 1)) == 0; }

uint64_t PageBegin(uint64_t address) { return address & ~(kMinPage - 1); }
uint64_t PageEnd(uint64_t address) { return PageBegin(address + kMinPage - 1); }

// Returns true for segment types that a file has at most once; the loader uses the last one.
bool IsSingle(unsigned type) {
  return type == PT_DYNAMIC || type == PT_TLS || type == PT_GNU_RELRO || type == PT_GNU_STACK;
}

}  // namespace

std::string ElfText(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

std::string ElfImage::Read() {
  std::string problem = ReadHeader();
  if (problem.empty()) problem = ReadSegments();
  if (problem.empty()) problem = ReadSections();
  return problem;
}

bool ElfImage::StringAt(uint64_t offset, uint64_t size, std::string_view* out_text) const {
  const char* begin = reinterpret_cast<const char*>(file_.data()) + offset;
  const void* end = std::memchr(begin, 0, size);
  if (end == nullptr) return false;
  *out_text = std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
  return true;
}

// ---- The header ---------------------------------------------------------------------------------

bool ElfImage::Holds(uint64_t offset, uint64_t size) const {
  return offset <= file_.size() && size <= file_.size() - offset;
}

std::string ElfImage::ExpectHeld(const char* what, uint64_t offset, uint64_t size) const {
  if (Holds(offset, size)) return "";
  return ElfText("is truncated: %s needs %llu bytes from byte %llu on, the file has %zu", what,
                 static_cast<unsigned long long>(size), static_cast<unsigned long long>(offset),
                 file_.size());
}

std::string ElfImage::ReadHeader() {
  if (file_.empty()) return "is empty";
  if (file_.size() < 4 || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0) {
    std::string found;
    for (size_t i = 0; i < std::min<size_t>(4, file_.size()); ++i) {
      found += ElfText(" %02x", file_[i]);
    }
    return "is not an ELF file: expected it to begin with 7f 45 4c 46, found" + found;
  }
  std::string problem = ExpectHeld("the ELF header", 0, sizeof(header_));
  if (problem.empty()) problem = CheckPlatform();
  if (!problem.empty()) return problem;
  header_ = At<ElfW(Ehdr)>(0);
  if (header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT) {
    return ElfText("is damaged: expected ELF version 1, found %u", header_.e_version);
  }
  if (header_.e_type != ET_DYN) {
    return ElfText("is not a shared object: expected ELF type %d (shared object), found %s", ET_DYN,
                   TypeName(header_.e_type).c_str());
  }
  return "";
}

// Checks that the file is for this machine. The machine's number is at the same offset in files of
// both classes, in the file's byte order.
std::string ElfImage::CheckPlatform() const {
  const unsigned elf_class = file_[EI_CLASS], data = file_[EI_DATA];
  if (elf_class != ELFCLASS32 && elf_class != ELFCLASS64) {
    return ElfText("is damaged: expected ELF class 1 or 2, found %u", elf_class);
  }
  if (data != ELFDATA2LSB && data != ELFDATA2MSB) {
    return ElfText("is damaged: expected ELF data encoding 1 or 2, found %u", data);
  }
  const size_t at = offsetof(ElfW(Ehdr), e_machine);
  const unsigned low = file_[data == ELFDATA2LSB ? at : at + 1];
  const unsigned high = file_[data == ELFDATA2LSB ? at + 1 : at];
  const unsigned machine = low | high << 8;
  if (elf_class == kClass && data == ELFDATA2LSB && machine == kMachine) return "";
  return ElfText("is built for another machine: expected %s, found %s",
                 PlatformName(kMachine, kClass, ELFDATA2LSB).c_str(),
                 PlatformName(machine, elf_class, data).c_str());
}

// ---- Segments -----------------------------------------------------------------------------------

std::string ElfImage::ReadSegments() {
  if (header_.e_phentsize != sizeof(ElfW(Phdr))) {
    return ElfText("is damaged: expected segment headers of %zu bytes, found %u",
                   sizeof(ElfW(Phdr)), header_.e_phentsize);
  }
  const uint64_t bytes = uint64_t{header_.e_phnum} * sizeof(ElfW(Phdr));
  std::string problem = ExpectHeld("the table of segments", header_.e_phoff, bytes);
  if (!problem.empty()) return problem;
  for (unsigned i = 0; i < header_.e_phnum; ++i) {
    segments_.push_back(At<ElfW(Phdr)>(header_.e_phoff + i * sizeof(ElfW(Phdr))));
  }
  const ElfW(Phdr)* previous = nullptr;  // the previous loaded segment
  for (size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].p_type != PT_LOAD) continue;
    problem = CheckLoad(i, previous);
    if (!problem.empty()) return problem;
    previous = &segments_[i];
  }
  if (previous == nullptr) return "is damaged: it has no segment to load";
  begin_ = FindSegment(PT_LOAD)->p_vaddr;
  end_ = previous->p_vaddr + previous->p_memsz;
  for (size_t i = 0; i < segments_.size(); ++i) {
    problem = CheckOther(i);
    if (!problem.empty()) return problem;
  }
  return "";
}

// Checks a loaded segment. Segments are mapped page by page, so two of them must not share a page.
std::string ElfImage::CheckLoad(size_t index, const ElfW(Phdr) * previous) {
  const ElfW(Phdr)& load = segments_[index];
  std::string problem =
      ExpectHeld(ElfText("segment %zu", index).c_str(), load.p_offset, load.p_filesz);
  if (!problem.empty()) return problem;
  const uint64_t align = load.p_align;
  if (align < kMinPage || !IsPowerOfTwo(align) ||
      ((load.p_vaddr - load.p_offset) & (align - 1)) != 0) {
    return ElfText("is damaged: segment %zu is not aligned to pages", index);
  }
  if (load.p_memsz < load.p_filesz || load.p_memsz > kMaxAddress || load.p_vaddr > kMaxAddress) {
    return ElfText("is damaged: segment %zu has the wrong size in memory", index);
  }
  if (previous != nullptr &&
      PageBegin(load.p_vaddr) < PageEnd(previous->p_vaddr + previous->p_memsz)) {
    return ElfText("is damaged: segment %zu overlaps the one before", index);
  }
  page_ = std::max(page_, align);
  return "";
}

// Checks a segment that the loader reads or protects: it must lie inside a loaded one.
std::string ElfImage::CheckOther(size_t index) const {
  const ElfW(Phdr)& segment = segments_[index];
  if (IsSingle(segment.p_type) && FindSegment(segment.p_type) != &segment) {
    return ElfText("is damaged: segment %zu is the second of its type", index);
  }
  bool sound = true;
  switch (segment.p_type) {
    case PT_DYNAMIC:
      // The loader also writes to this segment.
      sound = segment.p_memsz == segment.p_filesz && IsMappedToOffset(segment, segment.p_filesz) &&
              InMemory(segment.p_vaddr, segment.p_memsz, PF_R | PF_W);
      break;
    case PT_NOTE:
    case PT_GNU_PROPERTY:
      sound = segment.p_memsz == segment.p_filesz && IsMappedToOffset(segment, segment.p_filesz);
      if (sound) return CheckNotes(segment);
      break;
    case PT_TLS:
      sound = segment.p_memsz >= segment.p_filesz && segment.p_memsz <= kMaxThreadBytes &&
              (segment.p_align == 0 || IsPowerOfTwo(segment.p_align)) &&
              segment.p_align <= kMaxThreadBytes &&
              (segment.p_filesz == 0 || IsMappedToOffset(segment, segment.p_filesz));
      break;
    case PT_GNU_RELRO:
      // The protected range must end within a page of its data, since the memory after it must stay
      // writable. The file's page size may exceed the machine's, so the range must also be the last
      // data of its loaded segment. Some tools include zero-initialised memory in the file size.
      sound = segment.p_memsz - segment.p_filesz < page_ && IsMappedToOffset(segment, 0) &&
              InMemory(segment.p_vaddr, segment.p_memsz, PF_W) &&
              (segment.p_memsz == segment.p_filesz || EndsFile(segment));
      break;
    default:
      break;
  }
  return sound ? "" : ElfText("is damaged: segment %zu is outside of the loaded segments", index);
}

// Checks that the notes of a segment fit: each contains its size. Notes are aligned to eight bytes
// if the segment is, else to four.
std::string ElfImage::CheckNotes(const ElfW(Phdr) & segment) const {
  const uint64_t align = segment.p_align == 8 ? 8 : 4;
  const auto rounded = [align](uint64_t size) { return (size + align - 1) & ~(align - 1); };
  for (uint64_t at = 0; at < segment.p_filesz;) {
    const uint64_t left = segment.p_filesz - at;
    if (left < sizeof(ElfW(Nhdr))) return "";  // only padding is left
    const auto note = At<ElfW(Nhdr)>(segment.p_offset + at);
    const uint64_t name_end = rounded(sizeof(note) + uint64_t{note.n_namesz});
    if (name_end + note.n_descsz > left) return "is damaged: a note is truncated";
    at += rounded(name_end + note.n_descsz);
  }
  return "";
}

// Returns true if a segment's address is mapped to its file offset, for its first `size` bytes.
bool ElfImage::IsMappedToOffset(const ElfW(Phdr) & segment, uint64_t size) const {
  uint64_t offset = 0;
  return Locate(segment.p_vaddr, size, &offset) && offset == segment.p_offset;
}

// Returns true if the loaded segment around this one has no file data after it.
bool ElfImage::EndsFile(const ElfW(Phdr) & segment) const {
  return std::none_of(segments_.begin(), segments_.end(), [&segment](const ElfW(Phdr) & load) {
    return load.p_type == PT_LOAD && segment.p_vaddr >= load.p_vaddr &&
           segment.p_vaddr - load.p_vaddr <= load.p_filesz &&
           load.p_filesz - (segment.p_vaddr - load.p_vaddr) > segment.p_filesz;
  });
}

const ElfW(Phdr) * ElfImage::FindSegment(unsigned type) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [type](const ElfW(Phdr) & s) { return s.p_type == type; });
  return found == segments_.end() ? nullptr : &*found;
}

bool ElfImage::Locate(uint64_t address, uint64_t size, uint64_t* out_offset) const {
  for (const ElfW(Phdr) & load : segments_) {
    if (load.p_type != PT_LOAD || address < load.p_vaddr || (load.p_flags & PF_R) == 0) continue;
    const uint64_t into = address - load.p_vaddr;
    if (into > load.p_filesz || size > load.p_filesz - into) continue;
    *out_offset = load.p_offset + into;
    return true;
  }
  return false;
}

bool ElfImage::InMemory(uint64_t address, uint64_t size, unsigned flags) const {
  for (const ElfW(Phdr) & load : segments_) {
    if (load.p_type != PT_LOAD || address < load.p_vaddr) continue;
    const uint64_t into = address - load.p_vaddr;
    const uint64_t mapped_bytes = PageEnd(load.p_vaddr + load.p_memsz) - load.p_vaddr;
    if (into <= mapped_bytes && size <= mapped_bytes - into && (load.p_flags & flags) == flags)
      return true;
  }
  return false;
}

bool ElfImage::IsNear(uint64_t address) const {
  // `place` is signed, because an address shortly before the begin may be below 0.
  const int64_t place = static_cast<intptr_t>(address);
  const auto page = static_cast<int64_t>(kMinPage);
  return place >= static_cast<int64_t>(begin_) - page && place <= static_cast<int64_t>(end_) + page;
}

// ---- Sections -----------------------------------------------------------------------------------

std::string ElfImage::ReadSections() {
  if (header_.e_shoff == 0 || header_.e_shnum == 0) return "";  // the file has no section headers
  if (header_.e_shentsize != sizeof(ElfW(Shdr))) {
    return ElfText("is damaged: expected section headers of %zu bytes, found %u",
                   sizeof(ElfW(Shdr)), header_.e_shentsize);
  }
  const uint64_t bytes = uint64_t{header_.e_shnum} * sizeof(ElfW(Shdr));
  std::string problem = ExpectHeld("the table of sections", header_.e_shoff, bytes);
  if (!problem.empty()) return problem;
  for (unsigned i = 0; i < header_.e_shnum; ++i) {
    sections_.push_back(At<ElfW(Shdr)>(header_.e_shoff + i * sizeof(ElfW(Shdr))));
    if ((sections_[i].sh_flags & SHF_ALLOC) != 0 && !IsLoaded(sections_[i])) {
      return ElfText("is damaged: section %u is outside of the loaded segments", i);
    }
  }
  return "";
}

bool ElfImage::IsLoaded(const ElfW(Shdr) & section) const {
  unsigned flags = PF_R;
  if ((section.sh_flags & SHF_WRITE) != 0) flags |= PF_W;
  if ((section.sh_flags & SHF_EXECINSTR) != 0) flags |= PF_X;
  if (section.sh_type == SHT_NOBITS) {
    // Addresses of thread-local zeros may coincide with other sections.
    return (section.sh_flags & SHF_TLS) != 0 || InMemory(section.sh_addr, section.sh_size, flags);
  }
  uint64_t offset = 0;
  return Locate(section.sh_addr, section.sh_size, &offset) && offset == section.sh_offset &&
         InMemory(section.sh_addr, section.sh_size, flags);
}

}  // namespace deputy
