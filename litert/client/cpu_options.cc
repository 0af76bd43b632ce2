// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_cpu_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

namespace {

// Returns the name of a mode; null for invalid ones.
const char* NameOf(LiteRtCpuKernelMode mode) {
  switch (mode) {
    case kLiteRtCpuKernelModeDelegate:
      return "delegate";
    case kLiteRtCpuKernelModeReference:
      return "reference";
    case kLiteRtCpuKernelModeBuiltin:
      return "builtin";
  }
  return nullptr;
}

}  // namespace

struct LrtCpuOptions {
  std::optional<LiteRtCpuKernelMode> kernel_mode;
  std::optional<bool> enable_ynnpack, is_fully_delegated;
  std::optional<int> threads, weight_cache_fd;
  std::optional<uint32_t> flags;
  std::optional<std::string> weight_cache_path;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    std::optional<std::string> mode;
    if (self.kernel_mode) mode = NameOf(*self.kernel_mode);
    visitor.Add("kernel_mode", mode);
    visitor.Add("enable_ynnpack", self.enable_ynnpack);
    visitor.Add("num_threads", self.threads);
    visitor.Add("flags", self.flags);
    visitor.Add("hint_fully_delegated_to_single_delegate", self.is_fully_delegated);
    visitor.Add("weight_cache_file_path", self.weight_cache_path);
    visitor.Add("weight_cache_file_descriptor", self.weight_cache_fd);
  }
};

LiteRtStatus LrtCreateCpuOptions(LrtCpuOptions** options) { return Create(options); }
void LrtDestroyCpuOptions(LrtCpuOptions* options) { delete options; }
const char* LrtGetCpuOptionsIdentifier() { return "xnnpack"; }

LiteRtStatus LrtGetOpaqueCpuOptionsData(const LrtCpuOptions* options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, LrtGetCpuOptionsIdentifier(), identifier, payload, payload_deleter);
}

LiteRtStatus LrtSetCpuOptionsKernelMode(LrtCpuOptions* options, LiteRtCpuKernelMode mode) {
  if (NameOf(mode) == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Set(options, &LrtCpuOptions::kernel_mode, mode);
}

LiteRtStatus LrtGetCpuOptionsKernelMode(const LrtCpuOptions* options, LiteRtCpuKernelMode* mode) {
  return Get(options, &LrtCpuOptions::kernel_mode, mode);
}

LiteRtStatus LrtSetCpuOptionsNumThread(LrtCpuOptions* options, int num_threads) {
  return Set(options, &LrtCpuOptions::threads, num_threads);
}

LiteRtStatus LrtGetCpuOptionsNumThread(const LrtCpuOptions* options, int* num_threads) {
  return Get(options, &LrtCpuOptions::threads, num_threads);
}

LiteRtStatus LrtSetCpuOptionsEnableYNNPack(LrtCpuOptions* options, bool enable_ynnpack) {
  return Set(options, &LrtCpuOptions::enable_ynnpack, enable_ynnpack);
}

LiteRtStatus LrtGetCpuOptionsEnableYNNPack(const LrtCpuOptions* options, bool* enable_ynnpack) {
  return Get(options, &LrtCpuOptions::enable_ynnpack, enable_ynnpack);
}

LiteRtStatus LrtSetCpuOptionsXNNPackFlags(LrtCpuOptions* options, uint32_t flags) {
  return Set(options, &LrtCpuOptions::flags, flags);
}

LiteRtStatus LrtGetCpuOptionsXNNPackFlags(const LrtCpuOptions* options, uint32_t* flags) {
  return Get(options, &LrtCpuOptions::flags, flags);
}

LiteRtStatus LrtSetCpuOptionsHintFullyDelegatedToSingleDelegate(
    LrtCpuOptions* options, bool hint_fully_delegated_to_single_delegate) {
  return Set(options, &LrtCpuOptions::is_fully_delegated, hint_fully_delegated_to_single_delegate);
}

// The weight cache is a path or a descriptor, not both.
LiteRtStatus LrtSetCpuOptionsXnnPackWeightCachePath(LrtCpuOptions* options, const char* path) {
  if (options != nullptr && options->weight_cache_fd) return kLiteRtStatusErrorInvalidArgument;
  return Set(options, &LrtCpuOptions::weight_cache_path, path);
}

LiteRtStatus LrtGetCpuOptionsXnnPackWeightCachePath(const LrtCpuOptions* options,
                                                    const char** path) {
  return Get(options, &LrtCpuOptions::weight_cache_path, path);
}

LiteRtStatus LrtSetCpuOptionsXnnPackWeightCacheFileDescriptor(LrtCpuOptions* options, int fd) {
  if (options != nullptr && options->weight_cache_path) return kLiteRtStatusErrorInvalidArgument;
  return Set(options, &LrtCpuOptions::weight_cache_fd, fd);
}

LiteRtStatus LrtGetCpuOptionsXnnPackWeightCacheFileDescriptor(const LrtCpuOptions* options,
                                                              int* fd) {
  return Get(options, &LrtCpuOptions::weight_cache_fd, fd);
}
