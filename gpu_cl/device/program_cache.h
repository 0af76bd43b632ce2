// SPDX-License-Identifier: Apache-2.0
//
// Cache of compiled programs on disk. Drivers crash on damaged binaries, so every byte of a file is
// verified by a checksum before a driver receives it. This module handles files only and does not
// use OpenCL.
//
// A file is <key>.glcl: a header (magic, format, header length, key, payload length, SHA-256 of the
// payload), then the payload (length of the tuning records, the records, the binary), integers in
// little-endian order. Files are written under another name and renamed, so that no partial file is
// ever read.
//
// While a driver loads a binary, <key>.loading exists next to it, locked by the process. An
// unlocked marker was left by a process that died while loading: the entry is skipped for a day and
// then deleted, since the process may have ended for another reason.
//
// No failure is fatal: each is returned as a text, and the program is built from source. Threads: a
// cache may be used by any number of threads, a directory by any number of processes.
#ifndef DEPUTY_GPU_CL_DEVICE_PROGRAM_CACHE_H_
#define DEPUTY_GPU_CL_DEVICE_PROGRAM_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gpu_cl/device/sha256.h"

namespace deputy::gpu_cl {

// Owns and closes a file descriptor.
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

// Everything that a compiled program depends on; the key is a digest of all members.
struct ProgramIdentity {
  std::string library_version;  // version of this library
  std::string source;
  std::string build_options;
  std::string platform_name;
  std::string platform_version;
  std::string device_name;
  uint32_t vendor_id = 0;
  std::string driver_version;
  std::string device_version;
  uint32_t pointer_bits = 0;
  std::string token;  // chosen by the user to separate entries
};

Digest ProgramKey(const ProgramIdentity& identity);

// The marker of an entry that is being loaded. Its destruction records that the process survived
// the load, whether or not it succeeded.
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

// Contents of a file. The caller must destroy `marker` once the driver has accepted or rejected the
// binary.
struct CachedProgram {
  std::string binary;
  std::string tuning;
  LoadingMarker marker;
};

class ProgramCache {
 public:
  // Creates the directory if it does not exist, accessible to the user only (0700). Refuses a
  // directory that others may write to, or that another user except root owns. Returns null on
  // failure, with the reason in `out_problem`.
  static std::unique_ptr<ProgramCache> Open(const std::string& folder, uint64_t max_bytes,
                                            std::string* out_problem);

  // Loads an entry; nullopt if there is none or on failure. `out_problem` is "" if there is no
  // entry. A damaged entry is deleted.
  std::optional<CachedProgram> Load(const Digest& key, std::string* out_problem) const;
  // Writes or replaces an entry, and deletes the least recently used entries while the total
  // exceeds the limit. Returns "" or an error message.
  std::string Store(const Digest& key, std::string_view binary, std::string_view tuning) const;
  // Deletes an entry that a driver rejected.
  void Discard(const Digest& key) const;

  const std::string& folder() const { return path_; }

 private:
  ProgramCache(std::string path, FileDescriptor folder, uint64_t max_bytes)
      : path_(std::move(path)),
        folder_(std::make_shared<const FileDescriptor>(std::move(folder))),
        max_bytes_(max_bytes) {}

  std::string Mark(const Digest& key, LoadingMarker* out_marker) const;
  std::string EvaluateMarker(const Digest& key, const FileDescriptor& marker) const;
  void Evict(const std::string& kept) const;

  std::string path_;
  std::shared_ptr<const FileDescriptor> folder_;
  uint64_t max_bytes_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_PROGRAM_CACHE_H_
