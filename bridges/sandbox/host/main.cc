// SPDX-License-Identifier: Apache-2.0
//
// deputy-delegate-host: the process in which the delegate `sandbox` runs another delegate
// (messages.h). It ends when the host program closes the socket.
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <thread>

#include "bridges/sandbox/active_wait.h"
#include "bridges/sandbox/host/confinement.h"
#include "bridges/sandbox/host/served_model.h"
#include "bridges/sandbox/messages.h"
#include "bridges/sandbox/wire.h"

namespace deputy::sandbox {
namespace {

// Ends the process when the host has closed its end of the socket, even if a call hangs.
void EndWithHost() {
  std::thread([] {
    for (;;) {
      pollfd socket = {kSocketFd, POLLRDHUP, 0};
      if (poll(&socket, 1, -1) > 0) _exit(0);
    }
  }).detach();
}

template <typename Message>
bool Receive(Message* out) {
  std::string bytes;
  return ReceiveMessage(kSocketFd, -1, Clock::time_point::max(), &bytes) == Receipt::kMessage &&
         Decode(bytes, out);
}

template <typename Message>
bool Send(const Message& message) {
  return SendMessage(kSocketFd, Encode(message), -1, Clock::time_point::max()) == Receipt::kMessage;
}

// Returns the shared memory; MAP_FAILED if it has another size or cannot be mapped.
void* MapMemory(int64_t size) {
  struct stat info {};
  if (size < kPageBytes || fstat(kMemoryFd, &info) != 0 || info.st_size != size) return MAP_FAILED;
  return mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryFd, 0);
}

// Maps the shared inputs for reading. Returns null if the size is 0, and MAP_FAILED on failure.
void* MapInputs(int64_t size) {
  if (size == 0) return nullptr;
  struct stat info {};
  if (fstat(kInputsFd, &info) != 0 || info.st_size != size) return MAP_FAILED;
  return mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, kInputsFd, 0);
}

void EnterSecondStageOrWarn(const Confinement& confinement) {
  if (EnterSecondStage(confinement)) return;
  std::fputs("deputy-delegate-host: the second stage of seccomp is not available\n", stderr);
}

// Waits for call number `call`. Returns false if the host has ended.
bool WaitForRequest(const CallPage& page, uint32_t call, ActiveWait* active_wait) {
  const auto has_request = [&] { return page.request.load(std::memory_order_acquire) == call; };
  bool found = active_wait->Poll(page.host_processor, has_request);
  while (!found) {
    uint64_t count = 0;
    if (read(kRequestFd, &count, sizeof count) != sizeof count) return false;
    found = has_request();
  }
  active_wait->End();
  return true;
}

// The call that the process serves.
struct RunningCall {
  CallPage* page = nullptr;
  uint32_t number = 1;
};

bool IsCancelled(void* data) {
  const auto& call = *static_cast<const RunningCall*>(data);
  return call.page->cancelled.load(std::memory_order_relaxed) == call.number;
}

// Serves one request. Returns false if the host has ended or sent an invalid message.
bool ServeRequest(CallKind kind, uint32_t claim, ServedModel* model, CallPage* page) {
  std::string problem;
  int32_t status = 0;
  if (kind == CallKind::kResize) {
    Resize resize;
    if (!Receive(&resize) || !Send(model->Resize(claim, resize))) return false;
  } else if (kind == CallKind::kFetch) {
    Mapping mapping;
    if (!Receive(&mapping)) return false;
    problem = model->Fetch(claim, mapping);
  } else if (kind == CallKind::kSetOptions) {
    OptionChanges changes;
    if (!Receive(&changes)) return false;
    problem = model->SetOptions(changes);
  } else {
    Sizes sizes;
    problem = model->Run(claim, page->inputs_in_slots != 0, &sizes);
    page->delegate_ns = model->invoke_ns();
    if (problem.empty() && !sizes.dims.empty()) {
      if (!Send(sizes)) return false;
      status = kStatusSizes;
    }
  }
  page->status = problem.empty() ? status : 1;
  std::snprintf(page->text, sizeof page->text, "%s", problem.c_str());
  return true;
}

// Serves calls until the host ends.
void Serve(const Confinement& confinement, ServedModel* model, CallPage* page) {
  RunningCall call = {page};
  model->SetCancellation(&call, &IsCancelled);
  std::set<uint32_t> have_run;
  ActiveWait active_wait;
  bool in_second_stage = confinement.profile == Profile::kStrict;
  for (; WaitForRequest(*page, call.number, &active_wait); ++call.number) {
    const uint32_t claim = page->claim;
    const CallKind kind = page->kind;
    if (IsQuery(kind)) {
      if (!Send(model->Query(kind, claim))) return;
      continue;
    }
    if (kind == CallKind::kRun && !have_run.insert(claim).second && !in_second_stage) {
      EnterSecondStageOrWarn(confinement);
      in_second_stage = true;
    }
    if (!ServeRequest(kind, claim, model, page)) return;
    page->processor = CurrentProcessor();
    page->reply.store(call.number, std::memory_order_release);
    const uint64_t one = 1;
    if (write(kReplyFd, &one, sizeof one) != sizeof one) return;
  }
}

int Main() {
  (void)syscall(SYS_close_range, static_cast<unsigned>(kFdEnd), ~0u, 0u);
  // The delegate runs in this process, with the layers of its options.
  unsetenv("DEPUTY_ISOLATE");
  unsetenv("DEPUTY_LAYERS");
  Setup setup;
  if (!Receive(&setup)) {
    std::fputs(
        "deputy-delegate-host: expected a host program; the delegate 'sandbox' starts this one\n",
        stderr);
    return 2;
  }
  const Confinement confinement = {setup.profile, setup.memory_bytes, setup.writable};
  const std::string restrictions = EnterFirstStage(confinement);
  EndWithHost();
  ServedModel model(kModelFd, setup);
  Claims claims = model.claims();
  claims.confinement = restrictions;
  Mapping mapping;
  if (!Send(claims) || !claims.problem.empty() || !Receive(&mapping)) return 1;
  void* const memory = MapMemory(mapping.size);
  void* const inputs = MapInputs(mapping.inputs_size);
  Ready ready;
  if (memory == MAP_FAILED || inputs == MAP_FAILED) {
    ready.problem = "the shared memory cannot be mapped";
  } else {
    ready = model.Map(mapping, static_cast<char*>(memory), static_cast<char*>(inputs));
  }
  if (confinement.profile == Profile::kStrict) EnterSecondStageOrWarn(confinement);
  if (!Send(ready) || !ready.problem.empty()) return 1;
  Serve(confinement, &model, static_cast<CallPage*>(memory));
  return 0;
}

}  // namespace
}  // namespace deputy::sandbox

int main() {
  try {
    return deputy::sandbox::Main();
  } catch (const std::exception& exception) {  // e.g. no thread or memory within the limits
    std::fprintf(stderr, "deputy-delegate-host: %s\n", exception.what());
    return 1;
  }
}
