// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_samsung_options.h"

#include "litert/client/settings.h"

using namespace deputy::litert_client;

class LrtSamsungOptionsT {
 public:
  std::optional<bool> has_large_models;
  std::optional<std::string> soc_model;

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("enable_large_model_support", self.has_large_models);
    visitor.Add("samsung_soc_model", self.soc_model);
  }
};

LiteRtStatus LrtCreateSamsungOptions(LrtSamsungOptions* options) { return Create(options); }
void LrtDestroySamsungOptions(LrtSamsungOptions options) { delete options; }
const char* LrtSamsungOptionsGetIdentifier() { return "samsung"; }

LiteRtStatus LrtCreateSamsungOptionsFromToml(const char* toml_payload, LrtSamsungOptions* options) {
  return CreateFromText(toml_payload, options);
}

LiteRtStatus LrtGetOpaqueSamsungOptionsData(LrtSamsungOptions options, const char** identifier,
                                            void** payload, void (**payload_deleter)(void*)) {
  return Deliver(options, LrtSamsungOptionsGetIdentifier(), identifier, payload, payload_deleter);
}

LiteRtStatus LrtSamsungOptionsSetEnableLargeModelSupport(LrtSamsungOptions options,
                                                         bool enable_large_model_support) {
  return Set(options, &LrtSamsungOptionsT::has_large_models, enable_large_model_support);
}

LiteRtStatus LrtSamsungOptionsGetEnableLargeModelSupport(LrtSamsungOptions options,
                                                         bool* enable_large_model_support) {
  return GetOr(options, &LrtSamsungOptionsT::has_large_models, false, enable_large_model_support);
}

// NULL has no effect.
LiteRtStatus LrtSamsungOptionsSetSocModel(LrtSamsungOptions options, const char* soc_model) {
  if (options != nullptr && soc_model == nullptr) return kLiteRtStatusOk;
  return Set(options, &LrtSamsungOptionsT::soc_model, soc_model);
}

LiteRtStatus LrtSamsungOptionsGetSocModel(LrtSamsungOptions options, const char** soc_model) {
  return GetTextOr(options, &LrtSamsungOptionsT::soc_model, "", soc_model);
}
