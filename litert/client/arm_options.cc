// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_arm_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

class LrtArmOptionsT {
 public:
  std::optional<bool> is_just_in_time = false;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("enable_just_in_time", self.is_just_in_time);
  }
};

LiteRtStatus LrtCreateArmOptions(LrtArmOptions* options) { return Create(options); }
void LrtDestroyArmOptions(LrtArmOptions options) { delete options; }
const char* LrtArmOptionsGetIdentifier() { return "Arm"; }

LiteRtStatus LrtCreateArmOptionsFromToml(const char* toml_payload, LrtArmOptions* options) {
  return CreateFromText(toml_payload, options);
}

LiteRtStatus LrtGetOpaqueArmOptionsData(LrtArmOptions options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, LrtArmOptionsGetIdentifier(), identifier, payload, payload_deleter);
}

LiteRtStatus LrtArmOptionsSetEnableJustInTime(LrtArmOptions options, bool enable_just_in_time) {
  return Set(options, &LrtArmOptionsT::is_just_in_time, enable_just_in_time);
}

LiteRtStatus LrtArmOptionsGetEnableJustInTime(LrtArmOptions options, bool* enable_just_in_time) {
  return GetOr(options, &LrtArmOptionsT::is_just_in_time, false, enable_just_in_time);
}
