// SPDX-License-Identifier: Apache-2.0
//
// A process of the sandbox that sends damaged messages. It replaces deputy-delegate-host in
// sandbox_fuzz_test. Options of its delegate: `claims` is a file with a valid message of type
// Claims; `seed` begins the random values.
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "bridges/sandbox/messages.h"
#include "bridges/sandbox/wire.h"
#include "tests/bridges/damage.h"

namespace deputy::sandbox {
namespace {

constexpr auto kNever = Clock::time_point::max();

template <typename Message>
bool Receive(Message* out) {
  std::string bytes;
  return ReceiveMessage(kSocketFd, -1, kNever, &bytes) == Receipt::kMessage && Decode(bytes, out);
}

// Sends the message, damaged in one of `odds` cases.
bool SendDamaged(const std::string& message, unsigned odds, std::mt19937* random) {
  const std::string bytes = (*random)() % odds == 0 ? Damaged(message, random) : message;
  return SendMessage(kSocketFd, bytes, -1, kNever) == Receipt::kMessage;
}

// Returns a shape for the output of the only partition, often that of the model.
std::vector<int32_t> RandomDims(std::mt19937* random) {
  const int32_t dims[] = {2, 2, 2, 0, -1, 0x7fffffff, 1 << 20, static_cast<int32_t>((*random)())};
  std::vector<int32_t> shape = {dims[(*random)() % 8]};
  if ((*random)() % 8 == 0) shape.resize((*random)() % 100, dims[(*random)() % 8]);
  return shape;
}

Ready RandomReady(const Setup& setup, std::mt19937* random) {
  if (!setup.has_dynamic_sizes) return {};
  return {"", {{(*random)() % 2 == 0, {{(*random)() % 2 == 0, RandomDims(random)}}}}};
}

// Exchanges the messages of a call whose sizes can change. Returns false if the host has ended.
bool ServeMessages(const Setup& setup, CallPage* page, std::mt19937* random) {
  const CallKind kind = page->kind;
  Resize resize;
  Mapping mapping;
  if (kind == CallKind::kResize) {
    return Receive(&resize) && SendDamaged(Encode(RandomReady(setup, random)), 16, random);
  }
  if (kind == CallKind::kFetch) return Receive(&mapping);
  if (!setup.has_dynamic_sizes || (*random)() % 2 == 0) return true;
  page->status = kStatusSizes;
  return SendDamaged(Encode(Sizes{{RandomDims(random)}}), 16, random);
}

// Replies to calls. The page gets random words before and after each reply.
void Serve(const Setup& setup, CallPage* page, std::mt19937* random) {
  // Words of the process: all after those of the host.
  auto* const words = &page->reply;
  constexpr size_t kWords = (sizeof(CallPage) - offsetof(CallPage, reply)) / sizeof(uint32_t);
  uint64_t count = 0;
  while (read(kRequestFd, &count, sizeof count) == sizeof count) {
    if ((*random)() % 5000 == 0) _exit(0);
    if (IsQuery(page->kind)) {
      const auto small = [random] { return static_cast<int32_t>((*random)() % 6) - 2; };
      const Record record = {small(), small(), "name", "text", small(), small(), small()};
      if (!SendDamaged(Encode(Records{{record, {0, 1, "", "", 1, 2, 3}}}), 64, random)) return;
      continue;
    }
    const uint32_t request = page->request.load();
    for (unsigned i = (*random)() % 4; i > 0; --i) DamageWord(words, kWords, random);
    if ((*random)() % 4 != 0) page->status = 0;
    if (!ServeMessages(setup, page, random)) return;
    page->reply.store(request);
    const uint64_t one = 1;
    if (write(kReplyFd, &one, sizeof one) != sizeof one) return;
    if ((*random)() % 4 == 0) DamageWord(words, kWords, random);
  }
}

int Main() {
  Setup setup;
  if (!Receive(&setup) || setup.options.size() != 2) return 2;
  std::ifstream file(setup.options[0].second, std::ios::binary);
  const std::string claims((std::istreambuf_iterator<char>(file)), {});
  std::mt19937 random(static_cast<unsigned>(std::stoul(setup.options[1].second)));
  Mapping mapping;
  if (!SendDamaged(claims, 2, &random) || !Receive(&mapping)) return 1;
  void* const memory = mmap(nullptr, static_cast<size_t>(mapping.size), PROT_READ | PROT_WRITE,
                            MAP_SHARED, kMemoryFd, 0);
  if (memory == MAP_FAILED || !SendDamaged(Encode(RandomReady(setup, &random)), 8, &random)) {
    return 1;
  }
  Serve(setup, static_cast<CallPage*>(memory), &random);
  return 0;
}

}  // namespace
}  // namespace deputy::sandbox

int main() { return deputy::sandbox::Main(); }
