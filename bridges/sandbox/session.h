// SPDX-License-Identifier: Apache-2.0
//
// A delegate in a process for one graph: its claims, the calls of its partitions, and the start of
// a new process after a failure.
#ifndef DEPUTY_BRIDGES_SANDBOX_SESSION_H_
#define DEPUTY_BRIDGES_SANDBOX_SESSION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bridges/sandbox/active_wait.h"
#include "bridges/sandbox/call_times.h"
#include "bridges/sandbox/messages.h"
#include "bridges/sandbox/options.h"
#include "bridges/sandbox/process.h"
#include "bridges/sandbox/shared_inputs.h"

namespace deputy::sandbox {

// Returns true if the client has cancelled the inference. Empty: it cannot be cancelled.
using IsCancelled = std::function<bool()>;

enum class CallResult { kDone, kFailed, kCancelled };

class Session {
 public:
  // Starts a process that applies the delegate to the model in the file `model`. Returns null and
  // the reason in `*problem` if that fails. May throw bad_alloc. `meanwhile` is called while the
  // process applies the delegate. `max_input_bytes` is an upper bound of the size of the shared
  // inputs; 0: inputs are not shared.
  static std::unique_ptr<Session> Start(const Options& options, Setup setup, Fd model,
                                        int64_t max_input_bytes,
                                        const std::function<void()>& meanwhile,
                                        std::string* problem);
  // Ends the process.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Claims& claims() const { return claims_; }

  // Lays out the shared memory and waits until the process accepts calls. `slots` have sizes and
  // ascending tensors; the offsets are set here.
  bool Map(std::vector<Slot> slots, std::string* problem);
  // Returns the slot of a tensor; null if it has none.
  const Slot* SlotOf(int tensor) const;

  // Returns the memory to which Slot::input_offset refers; null: inputs are not shared.
  const std::shared_ptr<SharedInputs>& inputs() const { return inputs_; }

  // Runs one partition: `copy_in(memory)` copies inputs to their slots, and returns true if it has
  // copied those with an input_offset, too; `copy_out(memory)` reads the outputs.
  // On failure `*problem` has the reason. After a death or a deadline a new process starts in the
  // background, unless too many have ended. A process whose call does not end after a cancellation
  // is killed and replaced, which is not counted as a death. Thread-safe.
  template <typename CopyIn, typename CopyOut>
  CallResult Call(int claim, const CopyIn& copy_in, const CopyOut& copy_out,
                  const IsCancelled& is_cancelled, std::string* problem) {
    const std::lock_guard lock(mutex_);
    if (!IsRunning(problem)) return CallResult::kFailed;
    const auto begin = Clock::now();
    SetInputsInSlots(copy_in(process_->memory()));
    bool has_sizes = false;  // stays false: the sizes of the session are fixed
    const CallResult result =
        Exchange({CallKind::kRun, claim, {}, nullptr}, is_cancelled, &has_sizes, problem);
    if (result != CallResult::kDone) return result;
    copy_out(static_cast<const char*>(process_->memory()));
    AddCallTime(begin);
    return result;
  }

  // Queries the delegate's reports about the newest run of a partition, or about all partitions.
  // The names are printable, as are the texts except for their newlines and tabs; everything else
  // is as the process sent it. Returns false and the reason in `*problem` on failure; a process
  // that fails is replaced as by Call. Thread-safe.
  bool Query(CallKind kind, int claim, Records* out, std::string* problem);

  // Calls of partitions whose sizes can change. The functions require Lock() and a running process.
  std::unique_lock<std::mutex> Lock() const { return std::unique_lock(mutex_); }
  bool IsRunning(std::string* problem) const;
  // The newest shapes of the process: tensors and slots as the host has sent them, and the outputs
  // of the partitions, which are untrusted.
  const std::vector<HostTensor>& tensors() const { return tensors_; }
  const PartitionShapes& partition(int claim) const {
    return partitions_[static_cast<size_t>(claim)];
  }
  // Returns the slot that a tensor has now; null if it has none.
  const Slot* CurrentSlotOf(int tensor) const;
  char* memory() const { return process_->memory(); }
  // Prepares the process for the shapes of a call of this partition. Sets the offsets of the slots,
  // which have ascending tensors.
  bool Resize(int claim, sandbox::Resize shapes, std::string* problem);
  // Runs the partition. If the process reports that the outputs do not have the sizes of their
  // slots, `*sizes` gets the untrusted dimensions of each output.
  CallResult Run(int claim, const IsCancelled& is_cancelled, Sizes* sizes, std::string* problem);
  // Copies outputs of the partition to slots, and sets their offsets.
  CallResult Fetch(int claim, std::vector<Slot>* slots, std::string* problem);
  // Adds the time of a successful call that began at `begin`.
  void AddCallTime(Clock::time_point begin);
  // Maximum number of bytes of a tensor whose size the process sends.
  int64_t max_bytes() const { return options_.dynamic_bytes; }

  // Changes options of the delegate in the process, and of delegates in later processes. Returns
  // false and the reason in `*problem` on failure. Thread-safe.
  bool SetOptions(const DelegateOptions& changes, std::string* problem);
  // Sets the deadlines of later calls to those of `options`. Thread-safe; does not wait for a call.
  void SetDeadlines(const Options& options);

  // Number of processes that ended or were killed because of a failure.
  int deaths() const;
  // Returns CallTimes::Text of the newest calls. Thread-safe; does not wait for a call.
  std::string CallTimesText() const;

 private:
  Session(const Options& options, Setup setup, Fd model)
      : options_(options), setup_(std::move(setup)), model_(std::move(model)) {
    SetDeadlines(options);
  }

  std::unique_ptr<Process> StartProcess(std::string* problem) const;
  // Sends the setup to a new process, and receives its claims with printable texts.
  // `meanwhile` may be empty.
  bool ApplyDelegate(Process* process, const std::function<void()>& meanwhile, Claims* out_claims,
                     std::string* problem) const;
  bool MapProcess(Process* process, Ready* ready, std::string* problem) const;
  bool IsValid(const Ready& ready) const;
  // Lays out the slots in the shared memory. Returns false if they do not fit.
  bool LayOut(int64_t begin, std::vector<Slot>* slots, std::string* problem) const;

  // A request to the process, with a message that follows it ("": none) and one that precedes the
  // reply (null: none).
  struct Request {
    CallKind kind = CallKind::kRun;
    int claim = -1;
    std::string message;
    std::string* answer = nullptr;
  };
  // Require the mutex.
  void BeginCall(CallKind kind, int claim);
  void SetInputsInSlots(bool in_slots);
  void UseShapes(std::vector<HostTensor> tensors, std::vector<Slot> slots, Ready ready);
  CallResult Exchange(const Request& request, const IsCancelled& is_cancelled, bool* out_has_sizes,
                      std::string* problem);
  CallResult LoseProcess(const std::string& reason, std::string* problem);
  CallEnd WaitForReply(const IsCancelled& is_cancelled, bool* out_cancelled);
  CallResult ReadReply(bool cancelled, bool* out_has_sizes, std::string* problem) const;
  CallResult EndProcess(int claim, CallEnd end, Clock::time_point begin, bool cancelled,
                        std::string* problem);
  void StartNext(const std::string& reason);

  void Restart();  // runs on restarter_
  // Starts a process that claims the same nodes. Requires the lock, and releases it meanwhile.
  std::unique_ptr<Process> StartNewProcess(std::unique_lock<std::mutex>* lock, Ready* ready,
                                           std::string* problem);
  // Returns false if the session ends; otherwise its destructor ends the process.
  bool BeginStart(Process* process);

  const Options options_;
  std::atomic<int64_t> prepare_ms_, invoke_ms_, cancel_ms_;  // these options of options_ can change
  Setup setup_;     // changes under mutex_ while process_ is not null, so that no restart reads it
  const Fd model_;  // file of the model
  std::shared_ptr<SharedInputs> inputs_;
  Claims claims_;
  Mapping mapping_;

  mutable std::mutex mutex_;
  std::condition_variable wake_restarter_;
  std::unique_ptr<Process> process_;  // null while none accepts calls
  Process* starting_ = nullptr;       // new process that restarter_ waits for; null: none
  std::vector<HostTensor> tensors_;   // newest shapes of process_
  std::vector<Slot> slots_;
  std::vector<PartitionShapes> partitions_;
  uint32_t calls_ = 0;  // number of the newest call of process_
  ActiveWait active_wait_;
  int deaths_ = 0;
  std::string last_failure_;
  bool stops_ = false;

  mutable std::mutex times_mutex_;  // not held during calls
  CallTimes call_times_;

  std::thread restarter_;
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_SESSION_H_
