// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "core/support/option_list.h"

namespace deputy::sandbox {
namespace {

// Wait before the first restart; it doubles with each death.
constexpr std::chrono::milliseconds kFirstWait{20};
// Interval between checks for a cancellation while a call waits for its reply.
constexpr std::chrono::milliseconds kPollInterval{5};

bool AreEqual(const Claims& a, const Claims& b) {
  return std::equal(a.claims.begin(), a.claims.end(), b.claims.begin(), b.claims.end(),
                    [](const Claim& x, const Claim& y) {
                      return x.nodes == y.nodes && x.inputs == y.inputs && x.outputs == y.outputs &&
                             x.digest == y.digest;
                    });
}

// Returns a printable copy of a text of the process; the control characters in `kept` stay.
std::string Printable(std::string text, std::string_view kept = "") {
  const auto is_replaced = [kept](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < ' ' || code == 127) && kept.find(c) == std::string_view::npos;
  };
  std::replace_if(text.begin(), text.end(), is_replaced, ' ');
  return text;
}

// Finds a slot of ascending tensors; null: there is none.
const Slot* Find(const std::vector<Slot>& slots, int tensor) {
  const auto found =
      std::lower_bound(slots.begin(), slots.end(), tensor,
                       [](const Slot& slot, int index) { return slot.tensor < index; });
  return found == slots.end() || found->tensor != tensor ? nullptr : &*found;
}

}  // namespace

std::unique_ptr<Session> Session::Start(const Options& options, Setup setup, Fd model,
                                        int64_t max_input_bytes,
                                        const std::function<void()>& meanwhile,
                                        std::string* problem) {
  std::unique_ptr<Session> session(new Session(options, std::move(setup), std::move(model)));
  session->inputs_ = SharedInputs::Create(max_input_bytes);
  session->process_ = session->StartProcess(problem);
  if (session->process_ == nullptr ||
      !session->ApplyDelegate(session->process_.get(), meanwhile, &session->claims_, problem)) {
    return nullptr;
  }
  return session;
}

std::unique_ptr<Process> Session::StartProcess(std::string* problem) const {
  return Process::Start(options_.program, model_.get(), inputs_ == nullptr ? -1 : inputs_->fd(),
                        problem);
}

Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    if (starting_ != nullptr) starting_->RequestEnd();
  }
  wake_restarter_.notify_all();
  if (restarter_.joinable()) restarter_.join();
}

bool Session::ApplyDelegate(Process* process, const std::function<void()>& meanwhile,
                            Claims* out_claims, std::string* problem) const {
  const auto deadline = DeadlineIn(prepare_ms_);
  std::string answer;
  if (!process->Send(Encode(setup_), deadline, problem)) return false;
  if (meanwhile) meanwhile();
  if (!process->Receive(deadline, &answer, problem)) return false;
  if (!Decode(answer, out_claims)) {
    *problem = "the process sent an invalid message";
    return false;
  }
  if (!out_claims->problem.empty()) {
    *problem = Printable(out_claims->problem);
    return false;
  }
  const auto make_printable = [](std::string* text) {
    *text = Printable(text->substr(0, Claims::kMaxText));
  };
  make_printable(&out_claims->confinement);
  for (Claim& claim : out_claims->claims) make_printable(&claim.name);
  for (NodeSupport& support : out_claims->support) make_printable(&support.text);
  return true;
}

bool Session::IsValid(const Ready& ready) const {
  if (!setup_.has_dynamic_sizes) return ready.partitions.empty();
  return std::equal(ready.partitions.begin(), ready.partitions.end(), claims_.claims.begin(),
                    claims_.claims.end(), [](const PartitionShapes& shapes, const Claim& claim) {
                      return shapes.outputs.size() == claim.outputs.size();
                    });
}

bool Session::MapProcess(Process* process, Ready* ready, std::string* problem) const {
  const auto deadline = DeadlineIn(prepare_ms_);
  std::string answer;
  if (!process->MapMemory(mapping_.size, problem)) return false;
  new (process->memory()) CallPage{};
  if (!process->Send(Encode(mapping_), deadline, problem) ||
      !process->Receive(deadline, &answer, problem)) {
    return false;
  }
  const bool is_decoded = Decode(answer, ready);
  if (is_decoded && !ready->problem.empty()) {
    *problem = Printable(ready->problem);
    return false;
  }
  if (is_decoded && IsValid(*ready)) return true;
  *problem = "the process sent an invalid message";
  return false;
}

bool Session::LayOut(int64_t begin, std::vector<Slot>* slots, std::string* problem) const {
  int64_t end = begin;
  for (Slot& slot : *slots) {
    slot.offset = end;
    if (slot.bytes > mapping_.size - end) {
      *problem = "tensor " + std::to_string(slot.tensor) + ": " + std::to_string(slot.bytes) +
                 " bytes exceed the shared memory of " + std::to_string(mapping_.size) +
                 " bytes (option dynamic_mb)";
      return false;
    }
    end += AlignedBytes(slot.bytes);
  }
  return true;
}

void Session::UseShapes(std::vector<HostTensor> tensors, std::vector<Slot> slots, Ready ready) {
  tensors_ = std::move(tensors);
  slots_ = std::move(slots);
  partitions_ = std::move(ready.partitions);
}

bool Session::Map(std::vector<Slot> slots, std::string* problem) {
  int64_t end = kPageBytes, inputs_end = 0;
  for (Slot& slot : slots) {
    slot.offset = end;
    end += AlignedBytes(slot.bytes);
    if (slot.input_offset >= 0) inputs_end = slot.input_offset + AlignedBytes(slot.bytes);
  }
  if (inputs_ != nullptr && !inputs_->SetSize(inputs_end)) inputs_ = nullptr;
  if (inputs_ == nullptr) {
    inputs_end = 0;
    for (Slot& slot : slots) slot.input_offset = -1;
  }
  // The memory for dynamic sizes takes no pages until it is written.
  if (setup_.has_dynamic_sizes) end += options_.dynamic_bytes;
  mapping_ = {end, std::move(slots), inputs_end};
  Ready ready;
  if (!MapProcess(process_.get(), &ready, problem)) return false;
  UseShapes(setup_.tensors, mapping_.slots, std::move(ready));
  return true;
}

const Slot* Session::SlotOf(int tensor) const { return Find(mapping_.slots, tensor); }

const Slot* Session::CurrentSlotOf(int tensor) const { return Find(slots_, tensor); }

int Session::deaths() const {
  const std::lock_guard lock(mutex_);
  return deaths_;
}

std::string Session::CallTimesText() const {
  const std::lock_guard lock(times_mutex_);
  return call_times_.Text();
}

void Session::AddCallTime(Clock::time_point begin) {
  const auto* const page = reinterpret_cast<const CallPage*>(process_->memory());
  const int64_t delegate_ns = *static_cast<const volatile int64_t*>(&page->delegate_ns);
  const std::chrono::nanoseconds call = Clock::now() - begin;
  const std::lock_guard lock(times_mutex_);
  call_times_.Add(call.count(), delegate_ns);
}

bool Session::IsRunning(std::string* problem) const {
  if (process_ != nullptr) return true;
  *problem = last_failure_ +
             (deaths_ >= options_.max_deaths
                  ? "; no further process is started after " + std::to_string(deaths_) + " failures"
                  : "; a new process is being started");
  return false;
}

CallEnd Session::WaitForReply(const IsCancelled& is_cancelled, bool* out_cancelled) {
  auto* const page = reinterpret_cast<CallPage*>(process_->memory());
  const auto has_reply = [&] { return page->reply.load(std::memory_order_acquire) == calls_; };
  // The process can change the page at any time, so it is copied before it is used.
  const uint32_t processor = *static_cast<const volatile uint32_t*>(&page->processor);
  if (active_wait_.Poll(processor, has_reply)) return CallEnd::kReply;
  Clock::time_point deadline = DeadlineIn(invoke_ms_);
  // A reply with the number of another call is ignored. The deadline also ends the wait for a
  // process that sends such replies without end.
  for (auto now = Clock::now(); now < deadline; now = Clock::now()) {
    const bool can_be_cancelled = is_cancelled != nullptr && !*out_cancelled;
    const CallEnd end = process_->WaitForReply(
        can_be_cancelled ? std::min(deadline, now + kPollInterval) : deadline);
    if (end == CallEnd::kEnded) return end;
    if (has_reply()) return CallEnd::kReply;
    if (!can_be_cancelled || !is_cancelled()) continue;
    *out_cancelled = true;
    page->cancelled.store(calls_, std::memory_order_relaxed);
    if (cancel_ms_ > 0) deadline = DeadlineIn(cancel_ms_);
  }
  return CallEnd::kDeadline;
}

CallResult Session::ReadReply(bool cancelled, bool* out_has_sizes, std::string* problem) const {
  const auto* const page = reinterpret_cast<const CallPage*>(process_->memory());
  const int32_t status = *static_cast<const volatile int32_t*>(&page->status);
  *out_has_sizes = status == kStatusSizes && setup_.has_dynamic_sizes;
  if (status == 0 || *out_has_sizes) return CallResult::kDone;
  char text[CallPage::kTextBytes + 1] = {};
  std::memcpy(text, page->text, CallPage::kTextBytes);
  *problem = Printable(text);
  if (problem->empty()) *problem = "the delegate's kernel failed";
  return cancelled ? CallResult::kCancelled : CallResult::kFailed;
}

CallResult Session::EndProcess(int claim, CallEnd end, Clock::time_point begin, bool cancelled,
                               std::string* problem) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  const std::string call =
      "(call " + std::to_string(calls_) + ", partition " + std::to_string(claim) + ")";
  const std::string how = process_->Kill();
  cancelled = cancelled && end == CallEnd::kDeadline && cancel_ms_ > 0;
  if (end == CallEnd::kEnded) {
    *problem =
        "the process ended after " + std::to_string(took.count()) + " ms: " + how + " " + call;
  } else {
    *problem = "the process did not " + std::string(cancelled ? "end a cancelled call" : "reply") +
               " within " + std::to_string(cancelled ? cancel_ms_ : invoke_ms_) +
               " ms and was killed " + call;
  }
  if (!cancelled) ++deaths_;
  StartNext(*problem);
  return cancelled ? CallResult::kCancelled : CallResult::kFailed;
}

bool Session::Query(CallKind kind, int claim, Records* out, std::string* problem) {
  const std::lock_guard lock(mutex_);
  if (!IsRunning(problem)) return false;
  BeginCall(kind, claim);
  std::string bytes;
  *problem = "the process ended";
  bool received =
      process_->SignalRequest() && process_->Receive(DeadlineIn(invoke_ms_), &bytes, problem);
  if (received && !Decode(bytes, out)) {
    *problem = "the process sent an invalid message";
    received = false;
  }
  if (!received) {
    ++deaths_;
    StartNext(*problem);
    return false;
  }
  problem->clear();
  if (out->records.size() > Records::kMaxCount) out->records.resize(Records::kMaxCount);
  for (Record& record : out->records) {
    record.name = Printable(std::move(record.name));
    record.text = Printable(std::move(record.text), "\n\t");
  }
  return true;
}

void Session::BeginCall(CallKind kind, int claim) {
  auto* const page = reinterpret_cast<CallPage*>(process_->memory());
  page->claim = static_cast<uint32_t>(claim);
  page->kind = kind;
  page->host_processor = CurrentProcessor();
  page->request.store(++calls_, std::memory_order_release);
}

void Session::SetInputsInSlots(bool in_slots) {
  reinterpret_cast<CallPage*>(process_->memory())->inputs_in_slots = in_slots ? 1 : 0;
}

CallResult Session::LoseProcess(const std::string& reason, std::string* problem) {
  process_->Kill();
  ++deaths_;
  *problem = reason;
  StartNext(reason);
  return CallResult::kFailed;
}

CallResult Session::Exchange(const Request& request, const IsCancelled& is_cancelled,
                             bool* out_has_sizes, std::string* problem) {
  const auto begin = Clock::now();
  BeginCall(request.kind, request.claim);
  CallEnd end = CallEnd::kEnded;
  bool cancelled = false;
  const auto deadline = DeadlineIn(prepare_ms_);
  if (process_->SignalRequest() &&
      (request.message.empty() || process_->Send(request.message, deadline, problem)) &&
      (request.answer == nullptr || process_->Receive(deadline, request.answer, problem))) {
    end = WaitForReply(is_cancelled, &cancelled);
  }
  active_wait_.End();
  return end == CallEnd::kReply ? ReadReply(cancelled, out_has_sizes, problem)
                                : EndProcess(request.claim, end, begin, cancelled, problem);
}

bool Session::Resize(int claim, sandbox::Resize shapes, std::string* problem) {
  if (!LayOut(kPageBytes, &shapes.slots, problem)) return false;
  std::string answer;
  bool has_sizes = false;
  const CallResult result =
      Exchange({CallKind::kResize, claim, Encode(shapes), &answer}, nullptr, &has_sizes, problem);
  if (result != CallResult::kDone) return false;
  Ready ready;
  const bool is_decoded = !has_sizes && Decode(answer, &ready);
  if (is_decoded && !ready.problem.empty()) {
    // The shapes of the process are not known.
    for (PartitionShapes& partition : partitions_) partition.is_prepared = false;
    *problem = Printable(ready.problem);
    return false;
  }
  if (!is_decoded || !IsValid(ready)) {
    LoseProcess("the process sent an invalid message", problem);
    return false;
  }
  UseShapes(std::move(shapes.tensors), std::move(shapes.slots), std::move(ready));
  return true;
}

CallResult Session::Run(int claim, const IsCancelled& is_cancelled, Sizes* sizes,
                        std::string* problem) {
  bool has_sizes = false;
  const CallResult result =
      Exchange({CallKind::kRun, claim, {}, nullptr}, is_cancelled, &has_sizes, problem);
  if (result != CallResult::kDone || !has_sizes) return result;
  std::string answer;
  const size_t outputs = claims_.claims[static_cast<size_t>(claim)].outputs.size();
  if (process_->Receive(DeadlineIn(invoke_ms_), &answer, problem) && Decode(answer, sizes) &&
      sizes->dims.size() == outputs) {
    return CallResult::kDone;
  }
  return LoseProcess("the process sent invalid sizes", problem);
}

CallResult Session::Fetch(int claim, std::vector<Slot>* slots, std::string* problem) {
  const Slot* const last = slots_.empty() ? nullptr : &slots_.back();
  const int64_t end = last == nullptr ? kPageBytes : last->offset + last->bytes;
  const int64_t begin = (end + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  if (!LayOut(begin, slots, problem)) return CallResult::kFailed;
  bool has_sizes = false;
  const CallResult result =
      Exchange({CallKind::kFetch, claim, Encode(Mapping{mapping_.size, *slots}), nullptr}, nullptr,
               &has_sizes, problem);
  if (result != CallResult::kDone || !has_sizes) return result;
  return LoseProcess("the process sent an invalid reply", problem);
}

bool Session::SetOptions(const DelegateOptions& changes, std::string* problem) {
  const std::lock_guard lock(mutex_);
  if (!IsRunning(problem)) return false;
  DelegateOptions options = setup_.options;
  for (const auto& [key, value] : changes) SetOption(key, value, &options);
  bool has_sizes = false;
  const CallResult result =
      Exchange({CallKind::kSetOptions, 0, Encode(OptionChanges{changes}), nullptr}, nullptr,
               &has_sizes, problem);
  if (result != CallResult::kDone) return false;
  if (has_sizes) {
    LoseProcess("the process sent an invalid reply", problem);
    return false;
  }
  setup_.options = std::move(options);
  return true;
}

void Session::SetDeadlines(const Options& options) {
  prepare_ms_ = options.prepare_ms;
  invoke_ms_ = options.invoke_ms;
  cancel_ms_ = options.cancel_ms;
}

void Session::StartNext(const std::string& reason) {
  process_ = nullptr;
  calls_ = 0;
  last_failure_ = reason;
  if (deaths_ >= options_.max_deaths) return;
  if (!restarter_.joinable()) restarter_ = std::thread([this] { Restart(); });
  wake_restarter_.notify_all();
}

void Session::Restart() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_restarter_.wait(lock, [this] { return stops_ || process_ == nullptr; });
    if (stops_ || deaths_ >= options_.max_deaths) return;
    wake_restarter_.wait_for(lock, kFirstWait * (1 << std::clamp(deaths_ - 1, 0, 10)),
                             [this] { return stops_; });
    if (stops_) return;
    Ready ready;
    std::string problem;
    std::unique_ptr<Process> process = StartNewProcess(&lock, &ready, &problem);
    if (process != nullptr) {
      UseShapes(setup_.tensors, mapping_.slots, std::move(ready));
      process_ = std::move(process);
    } else {
      last_failure_ = "no new process could be started: " + problem;
      ++deaths_;
    }
  }
}

std::unique_ptr<Process> Session::StartNewProcess(std::unique_lock<std::mutex>* lock, Ready* ready,
                                                  std::string* problem) {
  lock->unlock();
  std::unique_ptr<Process> process;
  bool is_ready = false;
  try {
    process = StartProcess(problem);
    Claims claims;
    is_ready = process != nullptr && BeginStart(process.get()) &&
               ApplyDelegate(process.get(), nullptr, &claims, problem);
    if (is_ready && !AreEqual(claims, claims_)) {
      *problem = "the new process claims other nodes";
      is_ready = false;
    }
    is_ready = is_ready && MapProcess(process.get(), ready, problem);
  } catch (const std::exception& exception) {  // e.g. no memory for a message of the process
    is_ready = false;
    *problem = exception.what();
  }
  lock->lock();
  starting_ = nullptr;
  if (!is_ready) process = nullptr;
  return process;
}

bool Session::BeginStart(Process* process) {
  const std::lock_guard lock(mutex_);
  starting_ = process;
  return !stops_;
}

}  // namespace deputy::sandbox
