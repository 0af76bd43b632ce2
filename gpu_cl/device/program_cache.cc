// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/program_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

namespace deputy::gpu_cl {
namespace {

// Version of the format of files and of the key. It must be increased when either changes; old
// files are then misses.
constexpr uint32_t kFormat = 1;
constexpr std::string_view kMagic = "GLCL";
constexpr size_t kKeyAt = 12;
constexpr size_t kPayloadLengthAt = kKeyAt + sizeof(Digest);
constexpr size_t kDigestAt = kPayloadLengthAt + 8;
constexpr size_t kHeaderLength = kDigestAt + sizeof(Digest);

constexpr std::string_view kEntrySuffix = ".glcl";
constexpr std::string_view kTemporarySuffix = ".tmp";
// Ages in seconds at which markers and temporary files of dead processes are removed.
constexpr time_t kMaxMarkerAge = 24 * 3600;
constexpr time_t kMaxTemporaryAge = 3600;

std::string ErrnoText(const char* call, const std::string& name, int error) {
  return std::string(call) + " '" + name + "': " + std::generic_category().message(error);
}

void AppendInteger(uint64_t value, int bytes, std::string* text) {
  for (int i = 0; i < bytes; ++i) text->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t ReadInteger(std::string_view text, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<uint8_t>(text[at + i])} << (8 * i);
  }
  return value;
}

std::string_view Bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string EntryName(const Digest& key) { return Hex(key) + std::string(kEntrySuffix); }
std::string MarkerName(const Digest& key) { return Hex(key) + ".loading"; }

std::string MakeFile(const Digest& key, std::string_view binary, std::string_view tuning) {
  std::string payload;
  AppendInteger(tuning.size(), 8, &payload);
  payload.append(tuning).append(binary);
  std::string file(kMagic);
  AppendInteger(kFormat, 4, &file);
  AppendInteger(kHeaderLength, 4, &file);
  file.append(Bytes(key));
  AppendInteger(payload.size(), 8, &file);
  file.append(Bytes(Sha256Of(payload)));
  return file + payload;
}

// Parses a file. Returns "" or the reason why the file is invalid. Checks the header, then the
// digest, and only then interprets the payload.
std::string ParseFile(std::string_view file, const Digest& key, CachedProgram* out_program) {
  if (file.size() < kHeaderLength) return "the file is truncated";
  if (file.substr(0, kMagic.size()) != kMagic) return "not a program file";
  if (ReadInteger(file, 4, 4) != kFormat) return "unsupported format version";
  if (ReadInteger(file, 8, 4) != kHeaderLength) return "wrong header length";
  if (file.substr(kKeyAt, sizeof(Digest)) != Bytes(key))
    return "the key belongs to another program";
  const std::string_view payload = file.substr(kHeaderLength);
  if (ReadInteger(file, kPayloadLengthAt, 8) != payload.size()) return "wrong payload length";
  if (file.substr(kDigestAt, sizeof(Digest)) != Bytes(Sha256Of(payload))) {
    return "checksum mismatch";
  }
  if (payload.size() < 8) return "the payload is empty";
  const uint64_t tuning = ReadInteger(payload, 0, 8);
  if (tuning >= payload.size() - 8) return "no binary in the file";
  out_program->tuning = payload.substr(8, tuning);
  out_program->binary = payload.substr(8 + tuning);
  return "";
}

// Reads a whole file of at most `limit` bytes; nullopt on failure. `out_problem` is "" if the file
// does not exist.
std::optional<std::string> ReadFile(int folder, const std::string& name, uint64_t limit,
                                    std::string* out_problem) {
  const FileDescriptor file(
      openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    if (errno != ENOENT) *out_problem = ErrnoText("open", name, errno);
    return std::nullopt;
  }
  struct stat status;
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<uint64_t>(status.st_size) > limit) {
    *out_problem = "'" + name + "' is not a file of at most " + std::to_string(limit) + " bytes";
    return std::nullopt;
  }
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the file was truncated, which its digest will show
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

// Writes all bytes. Returns "" or an error message.
std::string WriteAll(int file, const std::string& name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ErrnoText("write", name, count < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (fsync(file) != 0) return ErrnoText("fsync", name, errno);
  return "";
}

std::string TemporaryName(const std::string& name) {
  uint64_t random = 0;
  // A repeated number is harmless: the file is opened with O_EXCL.
  if (getentropy(&random, sizeof(random)) != 0) random = static_cast<uint64_t>(clock());
  return name + "." + std::to_string(getpid()) + "." + std::to_string(random) +
         std::string(kTemporarySuffix);
}

// Writes the file atomically. Returns "" or an error message.
std::string WriteFile(int folder, const std::string& name, std::string_view bytes) {
  const std::string temporary = TemporaryName(name);
  const FileDescriptor file(
      openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return ErrnoText("create", temporary, errno);
  std::string problem = WriteAll(file.get(), temporary, bytes);
  if (problem.empty() && renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) {
    problem = ErrnoText("rename", temporary, errno);
  }
  if (!problem.empty()) unlinkat(folder, temporary.c_str(), 0);
  return problem;
}

// Creates a file that is locked before it gets its name, so that it is never visible unlocked. On
// failure returns an empty descriptor and the reason: EEXIST if the name exists.
FileDescriptor MakeLockedFile(int folder, const std::string& name, int* out_error) {
  const std::string temporary = TemporaryName(name);
  FileDescriptor file(
      openat(folder, temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  *out_error = errno;
  if (!file) return file;
  const bool made = flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
                    linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0;
  *out_error = errno;
  unlinkat(folder, temporary.c_str(), 0);
  return made ? std::move(file) : FileDescriptor();
}

// Checks a directory. Returns "" or the reason why its contents cannot be trusted.
std::string CheckFolder(int folder) {
  struct stat status;
  if (fstat(folder, &status) != 0) return std::generic_category().message(errno);
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return "the directory belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "the directory is writable by others; run chmod go-w";
  }
  return "";
}

struct FolderFile {
  std::string name;
  uint64_t size;
  timespec used;
};

std::vector<FolderFile> ListFiles(int folder) {
  std::vector<FolderFile> files;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : fdopendir(copy);
  if (stream == nullptr) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (const dirent* entry = readdir(stream)) {
    struct stat status;
    if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    files.push_back({entry->d_name, static_cast<uint64_t>(status.st_size), status.st_mtim});
  }
  closedir(stream);
  return files;
}

bool IsLessRecentlyUsed(const FolderFile& a, const FolderFile& b) {
  if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
  return a.used.tv_nsec < b.used.tv_nsec;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

LoadingMarker::~LoadingMarker() {
  if (folder_ != nullptr) unlinkat(folder_->get(), name_.c_str(), 0);
}

LoadingMarker& LoadingMarker::operator=(LoadingMarker&& other) noexcept {
  LoadingMarker old(std::move(*this));
  folder_ = std::move(other.folder_);
  name_ = std::move(other.name_);
  file_ = std::move(other.file_);
  return *this;
}

Digest ProgramKey(const ProgramIdentity& identity) {
  std::string text;
  AppendInteger(kFormat, 4, &text);
  AppendInteger(identity.vendor_id, 4, &text);
  AppendInteger(identity.pointer_bits, 4, &text);
  for (const std::string* part :
       {&identity.library_version, &identity.source, &identity.build_options,
        &identity.platform_name, &identity.platform_version, &identity.device_name,
        &identity.driver_version, &identity.device_version, &identity.token}) {
    // The part is preceded by its length, so that adjacent texts cannot be confused.
    AppendInteger(part->size(), 8, &text);
    text += *part;
  }
  return Sha256Of(text);
}

std::unique_ptr<ProgramCache> ProgramCache::Open(const std::string& folder, uint64_t max_bytes,
                                                 std::string* out_problem) {
  const std::filesystem::path path(folder);
  std::error_code ignored;  // errors are detected when the directory is opened
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  mkdir(folder.c_str(), 0700);
  FileDescriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string problem =
      opened ? CheckFolder(opened.get()) : std::generic_category().message(errno);
  if (!problem.empty()) {
    *out_problem = "program cache '" + folder + "': " + problem;
    return nullptr;
  }
  return std::unique_ptr<ProgramCache>(new ProgramCache(folder, std::move(opened), max_bytes));
}

std::optional<CachedProgram> ProgramCache::Load(const Digest& key, std::string* out_problem) const {
  out_problem->clear();
  const std::string name = EntryName(key);
  const std::optional<std::string> file =
      ReadFile(folder_->get(), name, max_bytes_ + kHeaderLength, out_problem);
  if (!file) return std::nullopt;
  CachedProgram program;
  std::string problem = ParseFile(*file, key, &program);
  if (!problem.empty()) {
    Discard(key);
    problem += ", and was deleted";
  } else {
    problem = Mark(key, &program.marker);
  }
  if (!problem.empty()) {
    *out_problem = "program cache '" + path_ + "': " + name + ": " + problem;
    return std::nullopt;
  }
  utimensat(folder_->get(), name.c_str(), nullptr, 0);  // marks it as just used; see Evict
  return program;
}

// Marks an entry as being loaded by this process. Returns "" and sets the marker; or "" without a
// marker if none can be created or another process is loading the entry; or the reason why the
// entry must not be loaded.
std::string ProgramCache::Mark(const Digest& key, LoadingMarker* out_marker) const {
  const std::string name = MarkerName(key);
  for (int attempt = 0; attempt < 3; ++attempt) {
    int error = 0;
    FileDescriptor made = MakeLockedFile(folder_->get(), name, &error);
    if (made) {
      *out_marker = LoadingMarker(folder_, name, std::move(made));
      return "";
    }
    if (error != EEXIST) return "";
    const FileDescriptor found(
        openat(folder_->get(), name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!found) continue;  // the process that created it has just finished loading
    if (flock(found.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return "";
    std::string problem = EvaluateMarker(key, found);
    if (!problem.empty()) return problem;
  }
  return "";
}

// Evaluates an unlocked marker: returns why its entry must not be loaded; "" if the marker has just
// been removed.
std::string ProgramCache::EvaluateMarker(const Digest& key, const FileDescriptor& marker) const {
  struct stat status;
  if (fstat(marker.get(), &status) != 0 || status.st_nlink == 0) return "";
  if (time(nullptr) - status.st_mtime < kMaxMarkerAge) {
    return "skipped because a process ended while loading it; delete " + MarkerName(key) +
           " to try again";
  }
  Discard(key);
  unlinkat(folder_->get(), MarkerName(key).c_str(), 0);
  return "deleted because a process ended while loading it";
}

std::string ProgramCache::Store(const Digest& key, std::string_view binary,
                                std::string_view tuning) const {
  const std::string prefix = "program cache '" + path_ + "': ";
  if (binary.empty()) return prefix + "an empty binary is not stored";
  const std::string file = MakeFile(key, binary, tuning);
  if (file.size() > max_bytes_) {
    return prefix + "a program of " + std::to_string(file.size()) +
           " bytes exceeds the cache limit of " + std::to_string(max_bytes_);
  }
  const std::string problem = WriteFile(folder_->get(), EntryName(key), file);
  if (!problem.empty()) return prefix + problem;
  Evict(EntryName(key));
  return "";
}

void ProgramCache::Discard(const Digest& key) const {
  unlinkat(folder_->get(), EntryName(key).c_str(), 0);
}

// Deletes the least recently used entries. `kept` is never deleted, since times of file
// systems are coarse.
void ProgramCache::Evict(const std::string& kept) const {
  std::vector<FolderFile> entries;
  uint64_t total = 0;
  for (FolderFile& file : ListFiles(folder_->get())) {
    if (file.name.ends_with(kTemporarySuffix)) {
      if (time(nullptr) - file.used.tv_sec > kMaxTemporaryAge) {
        unlinkat(folder_->get(), file.name.c_str(), 0);
      }
    } else if (file.name.ends_with(kEntrySuffix)) {
      total += file.size;
      if (file.name != kept) entries.push_back(std::move(file));
    }
  }
  std::sort(entries.begin(), entries.end(), IsLessRecentlyUsed);
  for (const FolderFile& file : entries) {
    if (total <= max_bytes_) return;
    unlinkat(folder_->get(), file.name.c_str(), 0);
    total -= file.size;
  }
}

}  // namespace deputy::gpu_cl
