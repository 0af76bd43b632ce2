// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "bridges/layers/record/record_chunks.h"
#include "bridges/layers/record/record_file.h"

namespace deputy::record {
namespace {

class Reader {
 public:
  explicit Reader(Record* record) : record_(*record), bytes_(*record->bytes) {}

  std::string Read() {
    std::string problem = CheckHeader(bytes_, &record_.version);
    for (offset_ = kHeaderBytes; problem.empty() && offset_ < bytes_.size(); ++chunk_) {
      ChunkInfo info;
      std::string_view payload;
      problem = ReadChunk(&info, &payload);
      if (!record_.cut.empty()) break;
      if (problem.empty() && !Add(info.kind, payload)) problem = Describe("has invalid contents");
      offset_ += kChunkHeadBytes + payload.size();
    }
    return problem;
  }

 private:
  std::string Describe(const std::string& problem) const {
    return "chunk " + std::to_string(chunk_) + " at offset " + std::to_string(offset_) + " " +
           problem;
  }

  // Sets `cut` if the chunk is not complete.
  std::string ReadChunk(ChunkInfo* out_info, std::string_view* out_payload) {
    std::string_view rest = bytes_.substr(offset_);
    const auto expect = [&](uint64_t bytes) {
      if (rest.size() >= bytes) return true;
      record_.cut = Describe("is cut: expected " + std::to_string(bytes) + " bytes, found " +
                             std::to_string(rest.size()));
      return false;
    };
    if (!expect(kChunkHeadBytes)) return "";
    if (!DecodeHead(rest.substr(0, kChunkHeadBytes), out_info)) {
      return Describe("has a damaged head");
    }
    rest.remove_prefix(kChunkHeadBytes);
    if (!expect(out_info->bytes)) return "";
    *out_payload = rest.substr(0, static_cast<size_t>(out_info->bytes));
    return DigestOf(*out_payload) == out_info->checksum ? "" : Describe("has a wrong checksum");
  }

  bool Add(ChunkKind kind, std::string_view payload) {
    if (record_.limit_reached && kind != ChunkKind::kNote) return false;
    switch (kind) {
      case ChunkKind::kSession:
        return !record_.session && Decode(payload, &record_.session.emplace());
      case ChunkKind::kModel:
        return !record_.model && Decode(payload, &record_.model.emplace());
      case ChunkKind::kCallBegin:
        return AddBegin(payload);
      case ChunkKind::kCallEnd:
        return AddEnd(payload);
      case ChunkKind::kLimit:
        record_.limit_reached = true;
        return payload.empty();
      case ChunkKind::kNote:
        return Decode(payload, &record_.notes.emplace_back());
    }
    return false;
  }

  bool AddBegin(std::string_view payload) {
    CallBegin& begin = record_.calls.emplace_back().begin;
    return Decode(payload, &begin) && calls_.emplace(begin.call, record_.calls.size() - 1).second;
  }

  bool AddEnd(std::string_view payload) {
    CallEnd end;
    if (!Decode(payload, &end)) return false;
    const auto found = calls_.find(end.call);
    if (found == calls_.end() || record_.calls[found->second].end) return false;
    record_.calls[found->second].end = std::move(end);
    return true;
  }

  Record& record_;
  const std::string_view bytes_;
  size_t chunk_ = 0, offset_ = 0;
  std::map<uint64_t, size_t> calls_;  // positions in record_.calls, by the number of the call
};

// Reads a regular file.
std::string ReadBytes(int file, std::string* out) {
  struct stat info {};
  if (fstat(file, &info) != 0) return std::strerror(errno);
  if (!S_ISREG(info.st_mode)) return "it is no regular file";
  out->resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < out->size()) {
    const ssize_t got = read(file, out->data() + done, out->size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  out->resize(done);
  return "";
}

}  // namespace

std::string ReadRecord(std::string bytes, Record* out) {
  *out = {};
  out->bytes = std::make_shared<const std::string>(std::move(bytes));
  return Reader(out).Read();
}

std::string ReadRecordFile(const std::string& path, Record* out) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::strerror(errno);
  std::string bytes;
  std::string problem = ReadBytes(file, &bytes);
  close(file);
  return problem.empty() ? ReadRecord(std::move(bytes), out) : problem;
}

}  // namespace deputy::record
