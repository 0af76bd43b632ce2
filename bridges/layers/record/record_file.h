// SPDX-License-Identifier: Apache-2.0
//
// The file of a record: the calls of a delegate with their arguments, results and times.
//
// Format: a header of kHeaderBytes with magic text, version and byte order, then chunks. A chunk
// consists of a head of kChunkHeadBytes (kind, check of the head, size, checksum of the payload)
// and the payload. Numbers are little-endian; contents of tensors have the byte order of the
// header. Each chunk is written with one system call. The chunk that announces a call precedes the
// call, so that the record of a program that crashes is complete up to the call that crashed.
#ifndef DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_FILE_H_
#define DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_FILE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deputy::record {

// Version 2 has the functions from kResizeTensor on. Records of version 1 are read, too.
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kChunkHeadBytes = 24;

enum class ChunkKind : uint32_t { kSession = 1, kModel, kCallBegin, kCallEnd, kLimit, kNote };

// The recorded function. kReplace, kResizeTensor and kAddTensors are functions of the context,
// which the delegate and its kernels call; all others are functions of the delegate and of its
// kernels.
enum class Function : int32_t {
  kDelegatePrepare,
  kReplace,
  kInit,
  kPrepare,
  kInvoke,
  kFree,
  kCopyFrom,
  kCopyTo,
  kFreeHandle,
  kResizeTensor,
  kAddTensors,
};
inline constexpr int32_t kFunctionCount = 11;

// Returns the name for reports, for example "invoke".
const char* NameOf(Function function);

struct Session {
  std::string host;     // program and version of the host
  std::string machine;  // kernel, processor
  std::string library;  // path of the delegate's library
  std::vector<std::pair<std::string, std::string>> options;
};

// The model as the host has passed it. A record without the model's bytes has `has_data` false.
struct Model {
  uint64_t digest = 0, bytes = 0;
  bool has_data = false;
  std::string_view data;
};

// Contents of a tensor in the record. kNone: they could not be read, for example since they are
// only on the device.
enum class Contents : int32_t { kNone, kDigest, kData };

struct TensorValue {
  int32_t index = -1;
  std::string name;
  int32_t type = 0;        // a TfLiteType
  int32_t allocation = 0;  // a TfLiteAllocationType
  std::vector<int32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  uint64_t bytes = 0;
  int32_t buffer_handle = -1;
  bool data_is_stale = false;
  Contents contents = Contents::kNone;
  uint64_t digest = 0;    // DigestOf the data, unless the contents are kNone
  std::string_view data;  // `bytes` bytes if the contents are kData
};

struct CallBegin {
  uint64_t call = 0;  // number of the call, from 1
  Function function = Function::kInvoke;
  // -1 if the function has no such argument. Subgraphs have numbers in the order of their first
  // call, kernels in the order in which they were created.
  int32_t subgraph = -1, kernel = -1, tensor = -1, buffer_handle = -1;
  // Nodes that are replaced, for kDelegatePrepare the execution plan; inputs and outputs of the
  // TfLiteDelegateParams or of the node. For kAddTensors `inputs` has the number of new tensors.
  std::vector<int32_t> nodes, inputs, outputs;
  std::string name;     // name of the delegate's kernel
  int32_t version = 0;  // of the kernel; for kDelegatePrepare the delegate's flags for its nodes
  std::vector<TensorValue> tensors;  // for kResizeTensor the tensor with its new shape
};

struct CallEnd {
  uint64_t call = 0;
  int32_t status = 0;  // a TfLiteStatus
  uint64_t duration_ns = 0;
  int32_t buffer_handle = -1;  // handle that the function has set
  std::string errors;          // reported errors, one per line
  // Outputs after the call; for kAddTensors the first new tensor, with its index only.
  std::vector<TensorValue> tensors;
};

// A text about the record, for example a description of the graph. Notes may follow kLimit.
struct Note {
  std::string title, text;
};

// Returns a digest of the bytes. Bytes that differ in one aligned word have different digests.
uint64_t DigestOf(std::string_view bytes, uint64_t seed = 0x243F6A8885A308D3u);

// Writes a record. Thread-safe; chunks of several threads are in any order.
class Writer {
 public:
  // Creates or truncates the file, which is limited to `max_bytes`. Returns null and the reason in
  // `*problem` on failure.
  static std::unique_ptr<Writer> Open(const std::string& path, uint64_t max_bytes,
                                      std::string* problem);
  // Like Open, but keeps the contents of the file, a complete record if it exists, and appends.
  static std::unique_ptr<Writer> OpenToAppend(const std::string& path, uint64_t max_bytes,
                                              std::string* problem);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Append a chunk. If it would exceed the limit, a chunk kLimit is written in its place. After
  // that, or after an error of the file system, nothing is written and false is returned.
  bool Write(const Session& session);
  bool Write(const Model& model);
  bool Write(const CallBegin& begin);
  bool Write(const CallEnd& end);
  bool Write(const Note& note);

  // Returns a number for a call that no other call of this record has.
  uint64_t NextCall();

  // Returns the reason why nothing more is written; "" if there is none.
  std::string problem() const;

 private:
  Writer(int file, uint64_t max_bytes) : file_(file), max_bytes_(max_bytes) {}
  static std::unique_ptr<Writer> Open(const std::string& path, int flags, uint64_t max_bytes,
                                      std::string* problem);
  bool Append(ChunkKind kind, std::string_view payload);
  bool AppendLocked(ChunkKind kind, std::string_view payload);

  const int file_;
  const uint64_t max_bytes_;
  mutable std::mutex mutex_;  // guards the members below
  uint64_t written_ = 0, last_call_ = 0;
  std::string problem_;
};

struct Call {
  CallBegin begin;
  std::optional<CallEnd> end;  // none: the record ends during the call
};

// A record in memory. Its string views refer to `bytes`.
struct Record {
  std::shared_ptr<const std::string> bytes;
  uint32_t version = kFormatVersion;
  std::optional<Session> session;
  std::optional<Model> model;
  std::vector<Call> calls;  // in the order of their begins
  std::vector<Note> notes;
  bool limit_reached = false;  // the writer has stopped at its limit
  std::string cut;             // describes an incomplete chunk at the end; "" if there is none
};

// Read a record, which is untrusted. A file that ends within a chunk is read up to that chunk.
// Return "", or the reason why the bytes are no valid record, with number and offset of the chunk.
std::string ReadRecord(std::string bytes, Record* out);
std::string ReadRecordFile(const std::string& path, Record* out);

}  // namespace deputy::record

#endif  // DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_FILE_H_
