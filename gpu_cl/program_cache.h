// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs on disk. Drivers crash on damaged binaries, so every byte of a file is covered
// by a check of our own, which comes before a driver sees any. This is code about files alone;
// OpenCL does not occur in it.
//
// A file is <key>.glcl: a header (magic, format, header length, key, payload length, SHA-256 of the
// payload), then the payload (length of the tuning records, the records, the binary), integers in
// little-endian order. Files appear by renaming a complete one, so that readers never see a half.
//
// While a driver loads a binary, <key>.loading lies beside it, locked by the process. A marker that
// nobody holds was left by a process that died of the binary: the entry is skipped for a day and
// then dropped, since the process may have been ended for another reason.
//
// Nothing here is worth failing for: every failure is a text, and the program is built from source.
// Threads: a cache may be used by any number of threads, a folder by any number of processes.
#ifndef DEPUTY_GPU_CL_PROGRAM_CACHE_H_
#define DEPUTY_GPU_CL_PROGRAM_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gpu_cl/sha256.h"

namespace deputy::gpu_cl {

// Closes a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// All that a compiled program depends on. Whatever differs in one of them has another key.
struct ProgramIdentity {
  std::string library_version;  // ours
  std::string source;
  std::string build_options;
  std::string platform_name;
  std::string platform_version;
  std::string device_name;
  uint32_t vendor_id = 0;
  std::string driver_version;
  std::string device_version;
  uint32_t pointer_bits = 0;
  std::string token;  // the user's, to keep entries apart
};

Digest ProgramKey(const ProgramIdentity& identity);

// The marker of an entry that is being loaded. Destroying it says that the load has come to an end,
// good or bad: the process lives.
class LoadingMarker {
 public:
  LoadingMarker() = default;
  LoadingMarker(std::shared_ptr<const FileDescriptor> folder, std::string name, FileDescriptor file)
      : folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}
  ~LoadingMarker();
  LoadingMarker(LoadingMarker&&) noexcept = default;
  LoadingMarker& operator=(LoadingMarker&& other) noexcept;

 private:
  std::shared_ptr<const FileDescriptor> folder_;
  std::string name_;
  FileDescriptor file_;
};

// What a file holds. `marker` is to be destroyed once the driver has taken the binary or refused
// it.
struct CachedProgram {
  std::string binary;
  std::string tuning;
  LoadingMarker marker;
};

class ProgramCache {
 public:
  // Makes the folder if it is not there, for the user alone (0700). Refused are one that others may
  // write to and one of another user. Null on failure, with the reason in `out_problem`.
  static std::unique_ptr<ProgramCache> Open(const std::string& folder, uint64_t max_bytes,
                                            std::string* out_problem);

  // The entry, or none. `out_problem` is "" if there simply is none; an entry that is damaged is
  // deleted.
  std::optional<CachedProgram> Load(const Digest& key, std::string* out_problem) const;
  // Writes an entry, in the place of one with the same key, and deletes the entries that were not
  // used for longest as long as all take more than the cache may. Returns "" or what went wrong.
  std::string Store(const Digest& key, std::string_view binary, std::string_view tuning) const;
  // Deletes an entry, which a driver has refused.
  void Discard(const Digest& key) const;

  const std::string& folder() const { return path_; }

 private:
  ProgramCache(std::string path, FileDescriptor folder, uint64_t max_bytes)
      : path_(std::move(path)),
        folder_(std::make_shared<const FileDescriptor>(std::move(folder))),
        max_bytes_(max_bytes) {}

  std::string Mark(const Digest& key, LoadingMarker* out_marker) const;
  std::string JudgeMarker(const Digest& key, const FileDescriptor& marker) const;
  void Evict(const std::string& kept) const;

  std::string path_;
  std::shared_ptr<const FileDescriptor> folder_;
  uint64_t max_bytes_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PROGRAM_CACHE_H_
