// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bridges/layers/record/record_chunks.h"
#include "bridges/layers/record/record_file.h"

namespace deputy::record {
namespace {

// Writes both parts with one system call, or with more if it writes only some of the bytes.
bool WriteAll(int file, std::string_view head, std::string_view payload) {
  while (!head.empty() || !payload.empty()) {
    const iovec parts[] = {{const_cast<char*>(head.data()), head.size()},
                           {const_cast<char*>(payload.data()), payload.size()}};
    const ssize_t written = writev(file, parts, 2);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    const size_t of_head = std::min(static_cast<size_t>(written), head.size());
    head.remove_prefix(of_head);
    payload.remove_prefix(static_cast<size_t>(written) - of_head);
  }
  return true;
}

}  // namespace

std::unique_ptr<Writer> Writer::Open(const std::string& path, uint64_t max_bytes,
                                     std::string* problem) {
  return Open(path, O_TRUNC, max_bytes, problem);
}

std::unique_ptr<Writer> Writer::OpenToAppend(const std::string& path, uint64_t max_bytes,
                                             std::string* problem) {
  return Open(path, O_APPEND, max_bytes, problem);
}

std::unique_ptr<Writer> Writer::Open(const std::string& path, int flags, uint64_t max_bytes,
                                     std::string* problem) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (file < 0) {
    *problem = "cannot open '" + path + "' for writing: " + std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<Writer> writer(new Writer(file, max_bytes));
  const std::string header = Header();
  const off_t end = lseek(file, 0, SEEK_END);
  writer->written_ = end > 0 ? static_cast<uint64_t>(end) : header.size();
  const uint64_t least = writer->written_ + kChunkHeadBytes;
  if (max_bytes < least) {
    *problem = "expected a limit of at least " + std::to_string(least) + " bytes, found " +
               std::to_string(max_bytes);
    return nullptr;
  }
  if (end <= 0 && !WriteAll(file, header, "")) {
    *problem = "cannot write '" + path + "': " + std::strerror(errno);
    return nullptr;
  }
  return writer;
}

Writer::~Writer() { close(file_); }

bool Writer::AppendLocked(ChunkKind kind, std::string_view payload) {
  if (WriteAll(file_, ChunkHead(kind, payload), payload)) {
    written_ += kChunkHeadBytes + payload.size();
    return true;
  }
  problem_ = std::string("cannot write the record: ") + std::strerror(errno);
  // Removes the part that was written. The reader reports an incomplete chunk if that fails, too.
  (void)!ftruncate(file_, static_cast<off_t>(written_));
  return false;
}

bool Writer::Append(ChunkKind kind, std::string_view payload) {
  const std::lock_guard lock(mutex_);
  if (!problem_.empty()) return false;
  // The last bytes within the limit are reserved for the chunk kLimit.
  const uint64_t available = max_bytes_ - written_ - kChunkHeadBytes;
  if (available >= kChunkHeadBytes && payload.size() <= available - kChunkHeadBytes) {
    return AppendLocked(kind, payload);
  }
  if (AppendLocked(ChunkKind::kLimit, "")) {
    problem_ = "the record has reached its limit of " + std::to_string(max_bytes_) + " bytes";
  }
  return false;
}

bool Writer::Write(const Session& session) { return Append(ChunkKind::kSession, Encode(session)); }
bool Writer::Write(const Model& model) { return Append(ChunkKind::kModel, Encode(model)); }
bool Writer::Write(const CallBegin& begin) { return Append(ChunkKind::kCallBegin, Encode(begin)); }
bool Writer::Write(const CallEnd& end) { return Append(ChunkKind::kCallEnd, Encode(end)); }
bool Writer::Write(const Note& note) { return Append(ChunkKind::kNote, Encode(note)); }

uint64_t Writer::NextCall() {
  const std::lock_guard lock(mutex_);
  return ++last_call_;
}

std::string Writer::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace deputy::record
