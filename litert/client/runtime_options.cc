// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_runtime_options.h"

#include <set>

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtRuntimeOptions {
  std::optional<bool> profiles, compresses_zero_points, keeps_order;
  std::optional<LiteRtErrorReporterMode> reporter;
  std::vector<std::string> signatures;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("enable_profiling", self.profiles);
    visitor.Add("error_reporter_mode", self.reporter);
    visitor.Add("compress_quantization_zero_points", self.compresses_zero_points);
    visitor.Add("disable_delegate_clustering", self.keeps_order);
    visitor.Add("selected_signature_keys", self.signatures);
  }
};

LiteRtStatus LrtCreateRuntimeOptions(LrtRuntimeOptions** options) { return Create(options); }
void LrtDestroyRuntimeOptions(LrtRuntimeOptions* options) { delete options; }
const char* LrtGetRuntimeOptionsIdentifier() { return "runtime_options_string"; }

LiteRtStatus LrtGetOpaqueRuntimeOptionsData(const LrtRuntimeOptions* options,
                                            const char** identifier, void** payload,
                                            void (**payload_deleter)(void*)) {
  return Deliver(options, LrtGetRuntimeOptionsIdentifier(), identifier, payload, payload_deleter);
}

LiteRtStatus LrtSetRuntimeOptionsEnableProfiling(LrtRuntimeOptions* options,
                                                 bool enable_profiling) {
  return Set(options, &LrtRuntimeOptions::profiles, enable_profiling);
}

LiteRtStatus LrtGetRuntimeOptionsEnableProfiling(const LrtRuntimeOptions* options,
                                                 bool* enable_profiling) {
  return Get(options, &LrtRuntimeOptions::profiles, enable_profiling);
}

LiteRtStatus LrtSetRuntimeOptionsErrorReporterMode(LrtRuntimeOptions* options,
                                                   LiteRtErrorReporterMode error_reporter_mode) {
  return Set(options, &LrtRuntimeOptions::reporter, error_reporter_mode);
}

LiteRtStatus LrtGetRuntimeOptionsErrorReporterMode(const LrtRuntimeOptions* options,
                                                   LiteRtErrorReporterMode* error_reporter_mode) {
  return Get(options, &LrtRuntimeOptions::reporter, error_reporter_mode);
}

LiteRtStatus LrtSetRuntimeOptionsCompressQuantizationZeroPoints(LrtRuntimeOptions* options,
                                                                bool compress_zero_points) {
  return Set(options, &LrtRuntimeOptions::compresses_zero_points, compress_zero_points);
}

LiteRtStatus LrtGetRuntimeOptionsCompressQuantizationZeroPoints(const LrtRuntimeOptions* options,
                                                                bool* compress_zero_points) {
  return Get(options, &LrtRuntimeOptions::compresses_zero_points, compress_zero_points);
}

LiteRtStatus LrtSetRuntimeOptionsDisableDelegateClustering(LrtRuntimeOptions* options,
                                                           bool disable_delegate_clustering) {
  return Set(options, &LrtRuntimeOptions::keeps_order, disable_delegate_clustering);
}

LiteRtStatus LrtGetRuntimeOptionsDisableDelegateClustering(const LrtRuntimeOptions* options,
                                                           bool* disable_delegate_clustering) {
  return Get(options, &LrtRuntimeOptions::keeps_order, disable_delegate_clustering);
}

LiteRtStatus LrtSetRuntimeOptionsSelectedSignatures(LrtRuntimeOptions* options,
                                                    const std::vector<std::string>& keys) {
  return Guard([&] {
    const std::set<std::string> unique(keys.begin(), keys.end());
    if (keys.empty() || unique.size() != keys.size() || unique.count("") > 0) {
      return kLiteRtStatusErrorInvalidArgument;
    }
    return Set(options, &LrtRuntimeOptions::signatures, keys);
  });
}
