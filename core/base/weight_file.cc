// SPDX-License-Identifier: Apache-2.0
#include "core/base/weight_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>

#include "core/base/memory.h"
#include "core/base/new_file.h"
#include "core/support/int_math.h"

namespace deputy {
namespace {

constexpr char kWeightMagic[8] = {'D', 'P', 'T', 'Y', 'W', 'G', 'T', '1'};

struct WeightFileHeader {
  char magic[8];
  DeputyFingerprint code, model;
  uint64_t file_bytes;
  uint64_t entries;
  // Modification time that the writer sets. A later change of the file changes it.
  int64_t modified_ns;
  FileStamp stamp;             // stamp of the model's file
  DeputyFingerprint checksum;  // checksum of the entries and of this header with a zero checksum
};

constexpr int64_t kSecond = 1'000'000'000;

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

bool IsEqual(const DeputyFingerprint& a, const DeputyFingerprint& b) {
  return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

bool IsLess(const DeputyFingerprint& a, const DeputyFingerprint& b) {
  return a.words[0] != b.words[0] ? a.words[0] < b.words[0] : a.words[1] < b.words[1];
}

bool HasSmallerKey(const WeightFileEntry& a, const WeightFileEntry& b) {
  return IsLess(a.key, b.key);
}

DeputyFingerprint ChecksumOf(WeightFileHeader header, std::span<const WeightFileEntry> entries) {
  header.checksum = {};
  DeputyFingerprint sum;
  DeputyFingerprintInit(&sum);
  DeputyFingerprintAdd(&sum, &header, sizeof header);
  DeputyFingerprintAdd(&sum, entries.data(), entries.size_bytes());
  return sum;
}

bool WriteAt(int file, const char* data, size_t bytes, uint64_t offset) {
  while (bytes > 0) {
    const ssize_t count = pwrite(file, data, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    bytes -= static_cast<size_t>(count);
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

// Returns the index of a file, and sets the offsets of the pieces and `*file_bytes`.
std::vector<WeightFileEntry> MakeIndex(std::span<WeightFilePiece> pieces,
                                       std::span<const WeightFileValue> values,
                                       uint64_t* file_bytes) {
  uint64_t end = sizeof(WeightFileHeader) + values.size() * sizeof(WeightFileEntry);
  for (WeightFilePiece& piece : pieces) {
    piece.offset = RoundUp(end, uint64_t{piece.alignment});
    end = piece.offset + piece.bytes;
  }
  *file_bytes = end;
  std::vector<WeightFileEntry> entries;
  entries.reserve(values.size());
  for (const WeightFileValue& value : values) {
    const WeightFilePiece& piece = pieces[value.piece];
    entries.push_back({value.key, piece.offset + static_cast<uint64_t>(value.data - piece.data),
                       value.bytes, FingerprintOf(value.data, value.bytes)});
  }
  std::sort(entries.begin(), entries.end(), HasSmallerKey);
  return entries;
}

bool WriteAll(int file, const WeightFileHeader& header, std::span<const WeightFileEntry> entries,
              std::span<const WeightFilePiece> pieces) {
  if (!WriteAt(file, reinterpret_cast<const char*>(&header), sizeof header, 0) ||
      !WriteAt(file, reinterpret_cast<const char*>(entries.data()), entries.size_bytes(),
               sizeof header)) {
    return false;
  }
  return std::all_of(pieces.begin(), pieces.end(), [file](const WeightFilePiece& piece) {
    return WriteAt(file, piece.data, piece.bytes, piece.offset);
  });
}

// Returns the build ID in the notes of a segment, or "".
std::string FindBuildId(const char* notes, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t name = RoundUp(size_t{note.n_namesz}, size_t{4});
    const size_t total = sizeof note + name + RoundUp(size_t{note.n_descsz}, size_t{4});
    if (total > bytes) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + sizeof note, "GNU", 4) == 0) {
      return {notes + sizeof note + name, note.n_descsz};
    }
    notes += total;
    bytes -= total;
  }
  return "";
}

int VisitModule(dl_phdr_info* info, size_t, void* to) {
  LoadedModule module;
  module.base = info->dlpi_addr;
  module.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t begin = module.base + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, begin + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader describes segments by numbers
      module.build_id = FindBuildId(reinterpret_cast<const char*>(begin), segment.p_memsz);
    }
  }
  const auto here = reinterpret_cast<uintptr_t>(&kWeightMagic);
  if (here < module.begin || here >= module.end) return 0;
  *static_cast<LoadedModule*>(to) = module;
  return 1;
}

}  // namespace

FileStamp StampOf(int file) {
  struct stat status;
  timespec now;
  if (file < 0 || fstat(file, &status) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      Nanoseconds(now) - Nanoseconds(status.st_ctim) < kSecond) {
    return {};
  }
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
          Nanoseconds(status.st_mtim), Nanoseconds(status.st_ctim)};
}

const DeputyFingerprint& WeightFileIdentity::fingerprint() {
  if (!has_fingerprint_) set_fingerprint(FingerprintOf(model_.data(), model_.size()));
  return fingerprint_;
}

WeightFile::~WeightFile() {
  if (owns_) munmap(const_cast<char*>(data_), bytes_);
}

std::unique_ptr<WeightFile> WeightFile::Open(const char* path, WeightFileIdentity* identity,
                                             WeightFileState* out_state) {
  *out_state = WeightFileState::kAbsent;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat status;
  void* map = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    map = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_SHARED, file, 0);
  }
  close(file);
  if (map == MAP_FAILED) return nullptr;
  std::unique_ptr<WeightFile> opened(new WeightFile(static_cast<const char*>(map),
                                                    static_cast<size_t>(status.st_size), true,
                                                    Nanoseconds(status.st_mtim)));
  *out_state = opened->Parse(identity);
  return *out_state == WeightFileState::kUsable ? std::move(opened) : nullptr;
}

std::unique_ptr<WeightFile> WeightFile::Use(std::span<const uint8_t> bytes,
                                            WeightFileIdentity* identity,
                                            WeightFileState* out_state) {
  *out_state = WeightFileState::kAbsent;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kTensorAlignment != 0) return nullptr;
  std::unique_ptr<WeightFile> used(
      new WeightFile(reinterpret_cast<const char*>(bytes.data()), bytes.size(), false, 0));
  *out_state = used->Parse(identity);
  return *out_state == WeightFileState::kUsable ? std::move(used) : nullptr;
}

WeightFileState WeightFile::Parse(WeightFileIdentity* identity) {
  WeightFileHeader header;
  if (bytes_ < sizeof header) return WeightFileState::kDamaged;
  std::memcpy(&header, data_, sizeof header);
  if (std::memcmp(header.magic, kWeightMagic, sizeof kWeightMagic) != 0 ||
      header.file_bytes != bytes_ ||
      header.entries > (bytes_ - sizeof header) / sizeof(WeightFileEntry)) {
    return WeightFileState::kDamaged;
  }
  entries_.resize(header.entries);
  if (!entries_.empty()) {
    std::memcpy(entries_.data(), data_ + sizeof header, entries_.size() * sizeof(WeightFileEntry));
  }
  const bool valid =
      IsEqual(header.checksum, ChecksumOf(header, entries_)) &&
      std::is_sorted(entries_.begin(), entries_.end(), HasSmallerKey) &&
      std::all_of(entries_.begin(), entries_.end(), [this](const WeightFileEntry& entry) {
        return entry.offset % kTensorAlignment == 0 && entry.offset <= bytes_ &&
               entry.bytes <= bytes_ - entry.offset;
      });
  if (!valid) return WeightFileState::kDamaged;
  if (!IsEqual(header.code, identity->code())) return WeightFileState::kOtherCode;
  is_unchanged_ = header.modified_ns != 0 && header.modified_ns == modified_ns_;
  if (header.stamp != FileStamp() && header.stamp == identity->stamp()) {
    identity->set_fingerprint(header.model);
  }
  return IsEqual(header.model, identity->fingerprint()) ? WeightFileState::kUsable
                                                        : WeightFileState::kOtherModel;
}

const char* WeightFile::Find(const DeputyFingerprint& key, size_t bytes) {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), key,
                                      [](const WeightFileEntry& entry, const DeputyFingerprint& k) {
                                        return IsLess(entry.key, k);
                                      });
  if (found == entries_.end() || !IsEqual(found->key, key)) return nullptr;
  if (found->bytes == bytes && IsIntact(*found)) return data_ + found->offset;
  entries_.erase(found);
  return nullptr;
}

bool WeightFile::IsIntact(const WeightFileEntry& entry) const {
  return is_unchanged_ || IsEqual(entry.checksum, FingerprintOf(data_ + entry.offset, entry.bytes));
}

bool WeightFile::Contains(const void* data) const {
  const std::less<> before;
  return !before(data, data_) && before(data, data_ + bytes_);
}

int WriteWeightFile(const char* path, WeightFileIdentity* identity,
                    std::span<WeightFilePiece> pieces, std::span<const WeightFileValue> values) {
  if (!IsReplaceable(path)) return -1;
  WeightFileHeader header = {};
  std::memcpy(header.magic, kWeightMagic, sizeof kWeightMagic);
  header.code = identity->code();
  header.model = identity->fingerprint();
  header.stamp = identity->stamp();
  timespec times[2] = {};
  if (clock_gettime(CLOCK_REALTIME, &times[0]) == 0) times[0].tv_sec -= 3600;
  times[1] = times[0];
  header.modified_ns = Nanoseconds(times[1]);
  const std::vector<WeightFileEntry> entries = MakeIndex(pieces, values, &header.file_bytes);
  header.entries = entries.size();
  header.checksum = ChecksumOf(header, entries);
  char draft[kDeputySerializationPathBytes];
  const int file = DeputySerializationMakeDraft(path, draft);
  if (file < 0) return -1;
  const bool written = WriteAll(file, header, entries, pieces) && fsync(file) == 0;
  if (written) static_cast<void>(futimens(file, times));
  const int write_error = errno;
  const int readable = written ? open(draft, O_RDONLY | O_CLOEXEC) : -1;
  const bool closed = close(file) == 0;
  if (written && closed && readable >= 0 && rename(draft, path) == 0) return readable;
  const int error = written ? errno : write_error;
  if (readable >= 0) close(readable);
  unlink(draft);
  errno = error;
  return -1;
}

const LoadedModule& ThisModule() {
  static const LoadedModule module = [] {
    LoadedModule found;
    dl_iterate_phdr(VisitModule, &found);
    return found;
  }();
  return module;
}

}  // namespace deputy
