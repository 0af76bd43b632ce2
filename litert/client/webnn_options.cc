// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_webnn_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

struct LrtWebNnOptions {
  std::optional<LiteRtWebNnDeviceType> device = kLiteRtWebNnDeviceTypeCpu;
  std::optional<LiteRtWebNnPowerPreference> power = kLiteRtWebNnPowerPreferenceDefault;
  std::optional<LiteRtWebNnPrecision> precision = kLiteRtWebNnPrecisionFp32;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("device_type", self.device);
    visitor.Add("power_preference", self.power);
    visitor.Add("precision", self.precision);
  }
};

LiteRtStatus LrtCreateWebNnOptions(LrtWebNnOptions** options) { return Create(options); }
void LrtDestroyWebNnOptions(LrtWebNnOptions* options) { delete options; }

LiteRtStatus LrtCreateWebNnOptionsFromToml(const char* toml_string, LrtWebNnOptions** options) {
  if (toml_string == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return CreateFromText(toml_string, options);
}

LiteRtStatus LrtGetOpaqueWebNnOptionsData(const LrtWebNnOptions* options, const char** identifier,
                                          void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, "webnn_options_string", identifier, payload, payload_deleter);
}

LiteRtStatus LrtSetWebNnOptionsDevicePreference(LrtWebNnOptions* options,
                                                LiteRtWebNnDeviceType device_type) {
  return Set(options, &LrtWebNnOptions::device, device_type);
}

LiteRtStatus LrtGetWebNnOptionsDevicePreference(const LrtWebNnOptions* options,
                                                LiteRtWebNnDeviceType* device_type) {
  return GetOr(options, &LrtWebNnOptions::device, kLiteRtWebNnDeviceTypeCpu, device_type);
}

LiteRtStatus LrtSetWebNnOptionsPowerPreference(LrtWebNnOptions* options,
                                               LiteRtWebNnPowerPreference power_preference) {
  return Set(options, &LrtWebNnOptions::power, power_preference);
}

LiteRtStatus LrtGetWebNnOptionsPowerPreference(const LrtWebNnOptions* options,
                                               LiteRtWebNnPowerPreference* power_preference) {
  return GetOr(options, &LrtWebNnOptions::power, kLiteRtWebNnPowerPreferenceDefault,
               power_preference);
}

LiteRtStatus LrtSetWebNnOptionsPrecision(LrtWebNnOptions* options, LiteRtWebNnPrecision precision) {
  return Set(options, &LrtWebNnOptions::precision, precision);
}

LiteRtStatus LrtGetWebNnOptionsPrecision(const LrtWebNnOptions* options,
                                         LiteRtWebNnPrecision* precision) {
  return GetOr(options, &LrtWebNnOptions::precision, kLiteRtWebNnPrecisionFp32, precision);
}
