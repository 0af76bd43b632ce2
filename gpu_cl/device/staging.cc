// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "core/support/int_math.h"

namespace deputy::gpu_cl {
namespace {

constexpr size_t kPiece = 2 << 20;
constexpr size_t kMinBytes = 4 * kPiece, kMaxBytes = 256 << 20;
constexpr unsigned kMaxThreads = 4;

unsigned ThreadCount() { return std::min(std::thread::hardware_concurrency(), kMaxThreads); }

// Copies the pieces of a tensor in their order, with several threads.
class Copy {
 public:
  Copy(char* to, const char* from, size_t bytes)
      : to_(to), from_(from), bytes_(bytes), done_(CeilDiv(bytes, kPiece)) {
    // If no thread can be started, Wait copies the pieces.
    try {
      for (unsigned i = 0; i < ThreadCount(); ++i) threads_.emplace_back([this] { Run(); });
    } catch (const std::system_error&) {
    }
  }
  ~Copy() {
    next_ = done_.size();  // remaining pieces are skipped
    for (std::thread& thread : threads_) thread.join();
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  size_t pieces() const { return done_.size(); }
  size_t begin(size_t piece) const { return piece * kPiece; }
  size_t size(size_t piece) const { return std::min(kPiece, bytes_ - begin(piece)); }
  // Returns once the piece has been copied.
  void Wait(size_t piece) {
    if (threads_.empty()) return CopyOne(piece);
    done_[piece].wait(false);
  }

 private:
  void Run() {
    for (size_t piece = next_++; piece < done_.size(); piece = next_++) CopyOne(piece);
  }
  void CopyOne(size_t piece) {
    std::memcpy(to_ + begin(piece), from_ + begin(piece), size(piece));
    done_[piece] = true;
    done_[piece].notify_one();
  }

  char* const to_;
  const char* const from_;
  const size_t bytes_;
  std::vector<std::atomic<bool>> done_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

bool Staging::IsFaster(const DeviceProfile& profile, size_t bytes) {
  return profile.kind == DeviceKind::kDiscreteGpu && bytes >= kMinBytes && bytes <= kMaxBytes &&
         ThreadCount() > 1;
}

// Returns false with a status of success if pinned memory is not available.
bool Staging::Reserve(size_t bytes, ClStatus* out_status) {
  if (bytes <= bytes_ || refused_) return !refused_;
  const ClStatus status = pinned_.Create(*context_, queue_, bytes);
  bytes_ = status.ok() ? bytes : 0;
  refused_ = !status.ok();
  if (IsDeviceLost(status.code)) *out_status = status;
  return !refused_;
}

ClStatus Staging::Upload(cl_mem to, const void* host, size_t bytes,
                         const std::function<cl_event*()>& event) {
  ClStatus status;
  const ClApi& api = context_->api();
  const auto write = [&](size_t offset, size_t size, const void* from) {
    return ClCall("clEnqueueWriteBuffer", api.EnqueueWriteBuffer(queue_, to, CL_FALSE, offset, size,
                                                                 from, 0, nullptr, event()));
  };
  if (!Reserve(bytes, &status)) return status.ok() ? write(0, bytes, host) : status;
  Copy copy(pinned_.data(), static_cast<const char*>(host), bytes);
  for (size_t piece = 0; piece < copy.pieces() && status.ok(); ++piece) {
    copy.Wait(piece);
    const size_t begin = copy.begin(piece);
    status = write(begin, copy.size(piece), pinned_.data() + begin);
    if (status.ok()) status = ClCall("clFlush", api.Flush(queue_));
  }
  return status;
}

}  // namespace deputy::gpu_cl
