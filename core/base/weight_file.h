// SPDX-License-Identifier: Apache-2.0
//
// File of the packed constants of one model. Processes map it instead of packing the constants
// again, and share its pages (docs/weight-cache.md). Files are not trusted: every offset is checked
// when a file is opened, and the checksum of a value before its first use. The latter is skipped if
// the modification time shows that the file is unchanged. Checksums detect damage, not forgery.
#ifndef DEPUTY_CORE_BASE_WEIGHT_FILE_H_
#define DEPUTY_CORE_BASE_WEIGHT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/delegate_serialization.h"

namespace deputy {

// Returns a 128-bit hash of many bytes, computed faster than by DeputyFingerprintAdd.
DeputyFingerprint FingerprintOf(const void* data, size_t bytes);

// Identifies a file and its contents: every later change of the contents changes the stamp. All
// zero: unknown.
struct FileStamp {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0, changed_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// Returns the stamp of an open file. It is unknown if the file was changed in the last second,
// because a later change might get the same time.
FileStamp StampOf(int file);

// Identity of the library, the CPU kernels and the model, on which all values of a file depend.
class WeightFileIdentity {
 public:
  WeightFileIdentity() = default;
  // `code` identifies the build of the library and the table of CPU kernels. `file` contains the
  // bytes of the model and nothing else; -1 if there is no such file.
  WeightFileIdentity(const DeputyFingerprint& code, std::span<const uint8_t> model, int file)
      : code_(code), model_(model), stamp_(StampOf(file)) {}

  const DeputyFingerprint& code() const { return code_; }
  std::span<const uint8_t> model() const { return model_; }
  const FileStamp& stamp() const { return stamp_; }
  // Hash of the model. The first call computes it, which takes about as long as packing.
  const DeputyFingerprint& fingerprint();
  // Sets the hash that a file has for this stamp.
  void set_fingerprint(const DeputyFingerprint& known) {
    fingerprint_ = known;
    has_fingerprint_ = true;
  }

 private:
  DeputyFingerprint code_ = {};
  std::span<const uint8_t> model_;
  FileStamp stamp_;
  bool has_fingerprint_ = false;
  DeputyFingerprint fingerprint_ = {};
};

// One value of a file; also the format of the file's index.
struct WeightFileEntry {
  DeputyFingerprint key;
  uint64_t offset;  // from the start of the file, a multiple of kTensorAlignment
  uint64_t bytes;
  DeputyFingerprint checksum;
};

// Block of memory that is stored in a file.
struct WeightFilePiece {
  const char* data;
  size_t bytes;
  size_t alignment;     // alignment of its offset in the file
  uint64_t offset = 0;  // offset in the file, set by WriteWeightFile
};

// Value in one of the pieces.
struct WeightFileValue {
  DeputyFingerprint key;
  size_t piece;
  const char* data;
  size_t bytes;
};

// State of a file when it was opened.
enum class WeightFileState {
  kUsable,
  kAbsent,      // absent, unreadable or empty
  kDamaged,     // not a weight file, or its header or index is damaged
  kOtherCode,   // written by another build or for another table of CPU kernels
  kOtherModel,  // written for another model
};

// A mapped file.
class WeightFile {
 public:
  ~WeightFile();
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;

  // Maps the file. Returns null if it cannot be used; `*out_state` is the reason.
  static std::unique_ptr<WeightFile> Open(const char* path, WeightFileIdentity* identity,
                                          WeightFileState* out_state);
  // Uses the bytes of a file in memory, which must outlive the object.
  static std::unique_ptr<WeightFile> Use(std::span<const uint8_t> bytes,
                                         WeightFileIdentity* identity, WeightFileState* out_state);

  // Returns the value of `key`, or null if there is none. Removes the entry and returns null if it
  // has another size or is damaged.
  const char* Find(const DeputyFingerprint& key, size_t bytes);
  bool IsIntact(const WeightFileEntry& entry) const;
  bool Contains(const void* data) const;
  // Entries except those that Find has removed.
  const std::vector<WeightFileEntry>& entries() const { return entries_; }
  const char* data() const { return data_; }

 private:
  WeightFile(const char* data, size_t bytes, bool owns, int64_t modified_ns)
      : data_(data), bytes_(bytes), owns_(owns), modified_ns_(modified_ns) {}
  WeightFileState Parse(WeightFileIdentity* identity);

  const char* const data_;
  const size_t bytes_;
  const bool owns_;  // true: the destructor unmaps the file
  const int64_t modified_ns_;
  bool is_unchanged_ = false;             // true: not changed since it was written
  std::vector<WeightFileEntry> entries_;  // sorted by key
};

// Writes a file under a temporary name, synchronises it and renames it to `path`. Sets the offsets
// of the pieces. Returns a descriptor for reading the file, or -1, with errno set and a former file
// unchanged.
int WriteWeightFile(const char* path, WeightFileIdentity* identity,
                    std::span<WeightFilePiece> pieces, std::span<const WeightFileValue> values);

// The executable or library that contains this function.
struct LoadedModule {
  uintptr_t base = 0;  // difference between addresses in memory and in the file
  uintptr_t begin = 0, end = 0;
  std::string build_id;  // "" if it has none
};
const LoadedModule& ThisModule();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_WEIGHT_FILE_H_
