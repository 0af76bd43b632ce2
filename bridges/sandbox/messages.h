// SPDX-License-Identifier: Apache-2.0
//
// Messages between the delegate and the process that runs the real delegate (wire.h), and the
// shared page of a call. The order is: Setup to the process, Claims back, Mapping to the process,
// Ready back. After that only calls cross, through the shared page, and Records as replies of some.
// Calls of a partition whose sizes can change have messages, too (CallKind).
#ifndef DEPUTY_BRIDGES_SANDBOX_MESSAGES_H_
#define DEPUTY_BRIDGES_SANDBOX_MESSAGES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deputy::sandbox {

inline constexpr int64_t kProtocolVersion = 5;

// Maximum number of bytes of each constant that the outline of a graph contains.
inline constexpr size_t kOutlineConstantBytes = 64;

// File descriptors of the process.
enum {
  kSocketFd = 3,
  kMemoryFd = 4,
  kRequestFd = 5,
  kReplyFd = 6,
  kModelFd = 7,
  kInputsFd = 8,
  kFdEnd = 9
};

// Restrictions of the process (confinement.h).
enum class Profile : int64_t { kNone = 0, kDevice = 1, kStrict = 2 };

// A tensor of the host's graph.
struct HostTensor {
  bool has_dims = false;
  std::vector<int32_t> dims;
  uint64_t identity = 0;    // digest of name and type (digest.h)
  bool is_dynamic = false;  // the node that computes the tensor sets its shape
};

using DelegateOptions = std::vector<std::pair<std::string, std::string>>;

struct Setup {
  std::string library;
  // Options of the delegate. One whose key begins with '?' is dropped if the delegate does not
  // declare it.
  DelegateOptions options;
  int64_t threads = 1;
  Profile profile = Profile::kDevice;
  int64_t memory_bytes = 0;           // limit of private memory; 0: none
  bool has_dynamic_sizes = false;     // sizes of tensors can change (Resize, Sizes)
  std::vector<std::string> writable;  // folders that the process may write
  std::vector<HostTensor> tensors;    // of the subgraph
  // Nodes that the delegate may claim, and their outline (graph_view.h). The process finds the
  // subgraph by its tensors, and by these nodes if several subgraphs have the same tensors.
  std::vector<int32_t> available;
  uint64_t outline = 0;
};

// One partition of the real delegate: the nodes that it replaces, its inputs other than constants,
// and its outputs.
struct Claim {
  std::vector<int32_t> nodes, inputs, outputs;
  std::string name;     // name of the delegate's kernel
  uint64_t digest = 0;  // of the nodes (digest.h)
};

// The reason why the delegate does not support a node, and the atomic group of the node.
struct NodeSupport {
  static constexpr size_t kMaxText = 500;  // maximum number of bytes of `text`; others are dropped

  int32_t node = -1;
  int32_t reason = 0;  // a DeputyReason below 100; 0: no reason is known
  int32_t group = -1;  // -1: none
  std::string text;
};

struct Claims {
  static constexpr size_t kMaxText = 500;  // maximum number of bytes of a text; others are dropped

  std::string problem;               // reason why the delegate could not be applied; "" otherwise
  std::string confinement;           // restrictions in effect, for reports
  std::vector<std::string> dropped;  // keys of the options that were dropped
  std::vector<Claim> claims;
  std::vector<NodeSupport> support;  // of nodes with a reason or a group
  bool has_node_events = false;      // the delegate reports events of nodes
};

// Place of a tensor in the shared memory.
struct Slot {
  int32_t tensor = -1;
  int64_t offset = 0, bytes = 0;
  int64_t input_offset = -1;  // offset in the memory of kInputsFd; -1: not in it
};

struct Mapping {
  int64_t size = 0;  // of the shared memory
  std::vector<Slot> slots;
  int64_t inputs_size = 0;  // of the memory of kInputsFd, which is read-only; 0: not used
};

// A report of the delegate, see deputy_plugin.h: a node event (node, name, begin_ns, duration_ns),
// a text about a partition (first_node, the stage as `name`, text), or an event of a device (all
// fields, the kernel as `text`).
struct Record {
  int32_t first_node = -1, node = -1;
  std::string name, text;
  int64_t queued_ns = 0, begin_ns = 0, duration_ns = 0;
};

struct Records {
  static constexpr size_t kMaxCount = 65536;  // maximum number of records; others are dropped
  // Maximum numbers of bytes of a name and a text; others are dropped.
  static constexpr size_t kMaxName = 500, kMaxText = 65536;

  std::vector<Record> records;
};

// Shape of an output of a partition.
struct Shape {
  bool is_dynamic = false;  // known after a call
  std::vector<int32_t> dims;
};

// State of a partition whose sizes can change.
struct PartitionShapes {
  bool is_prepared = false;    // for the shapes that the process has received
  std::vector<Shape> outputs;  // by output of the claim
};

struct Ready {
  std::string problem;                           // "" if the process accepts calls
  std::vector<PartitionShapes> partitions = {};  // by claim; empty without Setup.has_dynamic_sizes
};

// New shapes, with which the process prepares the graph up to the partition of the call.
struct Resize {
  std::vector<HostTensor> tensors;
  std::vector<Slot> slots;
};

// Shapes of the outputs of the partition after the call.
struct Sizes {
  std::vector<std::vector<int32_t>> dims;
};

// New values of options.
struct OptionChanges {
  DelegateOptions options;
};

std::string Encode(const Setup& message);
std::string Encode(const Claims& message);
std::string Encode(const Mapping& message);
std::string Encode(const Ready& message);
std::string Encode(const Records& message);
std::string Encode(const Resize& message);
std::string Encode(const Sizes& message);
std::string Encode(const OptionChanges& message);
// Return false if the bytes are no complete message of that type and version.
bool Decode(std::string_view bytes, Setup* out);
bool Decode(std::string_view bytes, Claims* out);
bool Decode(std::string_view bytes, Mapping* out);
bool Decode(std::string_view bytes, Ready* out);
bool Decode(std::string_view bytes, Records* out);
bool Decode(std::string_view bytes, Resize* out);
bool Decode(std::string_view bytes, Sizes* out);
bool Decode(std::string_view bytes, OptionChanges* out);

// Kind of a call. The process replies to a query with a message of type Records instead of `reply`.
enum class CallKind : uint32_t {
  kRun = 0,  // runs the partition; the message Sizes precedes a reply of kStatusSizes
  kNodeEvents,
  kPartitionTexts,
  kDeviceEvents,
  kResize,      // the message Resize follows the request; the message Ready precedes the reply
  kFetch,       // the message Mapping follows the request; copies outputs to its slots
  kSetOptions,  // the message OptionChanges follows the request
};
constexpr bool IsQuery(CallKind kind) {
  return kind == CallKind::kNodeEvents || kind == CallKind::kPartitionTexts ||
         kind == CallKind::kDeviceEvents;
}
inline constexpr int32_t kStatusSizes = 0x53495a45;  // no TfLiteStatus

// The first bytes of the shared memory. The delegate writes `claim` and `kind`, then `request`, and
// signals the event of kRequestFd; the process writes `status` and `text`, then `reply`, and
// signals the event of kReplyFd. `request` and `reply` are the number of the call, from 1. The
// delegate may write `cancelled` during a call. Either side may notice the other's number without
// reading its event. Everything that the process writes is untrusted.
struct CallPage {
  static constexpr size_t kTextBytes = 1024;

  std::atomic<uint32_t> request;
  uint32_t claim;  // index of the partition in Claims
  CallKind kind;
  uint32_t host_processor;          // processor of the delegate's thread
  uint32_t inputs_in_slots;         // 1: all inputs are at Slot::offset, none at input_offset
  std::atomic<uint32_t> cancelled;  // number of the newest call that the host has cancelled
  alignas(64) std::atomic<uint32_t> reply;
  int32_t status;       // a TfLiteStatus, or kStatusSizes
  uint32_t processor;   // processor of the process's thread
  int64_t delegate_ns;  // duration of the delegate's invoke
  char text[kTextBytes];
};
inline constexpr int64_t kPageBytes = 4096;
inline constexpr int64_t kSlotAlignment = 64;
// Returns the distance from a slot of this size to the next one.
inline int64_t AlignedBytes(int64_t bytes) {
  return (std::max<int64_t>(bytes, 0) + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}
static_assert(sizeof(CallPage) <= kPageBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_MESSAGES_H_
