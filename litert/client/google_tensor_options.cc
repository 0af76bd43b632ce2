// SPDX-License-Identifier: Apache-2.0
#include "litert/c/options/litert_google_tensor_options.h"

#include <algorithm>
#include <string_view>

#include "litert/client/settings.h"

using namespace deputy::litert_client;

class LrtGoogleTensorOptionsT {
 public:
  std::optional<LrtGoogleTensorOptionsTruncationType> float_truncation_type;
  std::optional<bool> int64_to_int32_truncation;
  std::optional<bool> enable_dynamic_range_quantization;
  std::optional<bool> enable_four_bit_compilation;
  std::optional<bool> enable_large_model_support;
  std::optional<LrtGoogleTensorOptionsShardingIntensity> sharding_intensity;
  std::optional<std::string> extra_options_path;
  std::optional<std::string> output_dir;
  std::optional<bool> dump_op_timings;
  std::optional<LiteRtGoogleTensorOptionsPerformanceMode> performance_mode;
  std::optional<std::string> op_filters_proto, extra_options;  // in Base64
  std::string decoded_filters, decoded_extra;                  // results of their getters
  Entries<bool> input_coherency, output_coherency;             // by SIGNATURE:TENSOR
  std::string signature, tensor;  // results of the last getter of an entry

  template <typename Self, typename Visitor>
  static void Visit(Self& self, Visitor& visitor) {
    visitor.Add("float_truncation_type", self.float_truncation_type);
    visitor.Add("int64_to_int32_truncation", self.int64_to_int32_truncation);
    visitor.Add("output_dir", self.output_dir);
    visitor.Add("dump_op_timings", self.dump_op_timings);
    visitor.Add("enable_large_model_support", self.enable_large_model_support);
    visitor.Add("enable_four_bit_compilation", self.enable_four_bit_compilation);
    visitor.Add("sharding_intensity", self.sharding_intensity);
    visitor.Add("enable_dynamic_range_quantization", self.enable_dynamic_range_quantization);
    visitor.Add("performance_mode", self.performance_mode);
    visitor.Add("op_filters_proto", self.op_filters_proto);
    visitor.Add("extra_options_path", self.extra_options_path);
    visitor.Add("extra_options", self.extra_options);
    visitor.AddEach("input_coherency_", self.input_coherency);
    visitor.AddEach("output_coherency_", self.output_coherency);
  }
};

LiteRtStatus LrtCreateGoogleTensorOptions(LrtGoogleTensorOptions* options) {
  return Create(options);
}
LiteRtStatus LrtCreateGoogleTensorOptionsFromToml(const char* toml_payload,
                                                  LrtGoogleTensorOptions* options) {
  return CreateFromText(toml_payload, options);
}
void LrtDestroyGoogleTensorOptions(LrtGoogleTensorOptions options) { delete options; }
const char* LrtGoogleTensorOptionsGetIdentifier() { return "google_tensor"; }

LiteRtStatus LrtGetOpaqueGoogleTensorOptionsData(LrtGoogleTensorOptions options,
                                                 const char** identifier, void** payload,
                                                 void (**payload_deleter)(void*)) {
  return Deliver(options, "google_tensor", identifier, payload, payload_deleter);
}

LiteRtStatus LrtGoogleTensorOptionsSetFloatTruncationType(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsTruncationType truncation_type) {
  return Set(options, &LrtGoogleTensorOptionsT::float_truncation_type, truncation_type);
}

LiteRtStatus LrtGoogleTensorOptionsGetFloatTruncationType(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsTruncationType* truncation_type) {
  return GetOr(options, &LrtGoogleTensorOptionsT::float_truncation_type,
               kLiteRtGoogleTensorFloatTruncationTypeAuto, truncation_type);
}

LiteRtStatus LrtGoogleTensorOptionsSetInt64ToInt32Truncation(LrtGoogleTensorOptions options,
                                                             bool int64_to_int32_truncation) {
  return Set(options, &LrtGoogleTensorOptionsT::int64_to_int32_truncation,
             int64_to_int32_truncation);
}

LiteRtStatus LrtGoogleTensorOptionsGetInt64ToInt32Truncation(LrtGoogleTensorOptions options,
                                                             bool* int64_to_int32_truncation) {
  return GetOr(options, &LrtGoogleTensorOptionsT::int64_to_int32_truncation, false,
               int64_to_int32_truncation);
}

LiteRtStatus LrtGoogleTensorOptionsSetEnableDynamicRangeQuantization(
    LrtGoogleTensorOptions options, bool enable_dynamic_range_quantization) {
  return Set(options, &LrtGoogleTensorOptionsT::enable_dynamic_range_quantization,
             enable_dynamic_range_quantization);
}

LiteRtStatus LrtGoogleTensorOptionsGetEnableDynamicRangeQuantization(
    LrtGoogleTensorOptions options, bool* enable_dynamic_range_quantization) {
  return GetOr(options, &LrtGoogleTensorOptionsT::enable_dynamic_range_quantization, false,
               enable_dynamic_range_quantization);
}

LiteRtStatus LrtGoogleTensorOptionsSetEnable4BitCompilation(LrtGoogleTensorOptions options,
                                                            bool enable_4bit_compilation) {
  return Set(options, &LrtGoogleTensorOptionsT::enable_four_bit_compilation,
             enable_4bit_compilation);
}

LiteRtStatus LrtGoogleTensorOptionsGetEnable4BitCompilation(LrtGoogleTensorOptions options,
                                                            bool* enable_4bit_compilation) {
  return GetOr(options, &LrtGoogleTensorOptionsT::enable_four_bit_compilation, false,
               enable_4bit_compilation);
}

LiteRtStatus LrtGoogleTensorOptionsSetEnableLargeModelSupport(LrtGoogleTensorOptions options,
                                                              bool enable_large_model_support) {
  return Set(options, &LrtGoogleTensorOptionsT::enable_large_model_support,
             enable_large_model_support);
}

LiteRtStatus LrtGoogleTensorOptionsGetEnableLargeModelSupport(LrtGoogleTensorOptions options,
                                                              bool* enable_large_model_support) {
  return GetOr(options, &LrtGoogleTensorOptionsT::enable_large_model_support, false,
               enable_large_model_support);
}

LiteRtStatus LrtGoogleTensorOptionsSetShardingIntensity(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsShardingIntensity sharding_intensity) {
  return Set(options, &LrtGoogleTensorOptionsT::sharding_intensity, sharding_intensity);
}

LiteRtStatus LrtGoogleTensorOptionsGetShardingIntensity(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsShardingIntensity* sharding_intensity) {
  return GetOr(options, &LrtGoogleTensorOptionsT::sharding_intensity,
               kLiteRtGoogleTensorShardingIntensityUnspecified, sharding_intensity);
}

LiteRtStatus LrtGoogleTensorOptionsSetExtraOptionsPath(LrtGoogleTensorOptions options,
                                                       const char* extra_options_path) {
  return SetOrClear(options, &LrtGoogleTensorOptionsT::extra_options_path, extra_options_path);
}

LiteRtStatus LrtGoogleTensorOptionsGetExtraOptionsPath(LrtGoogleTensorOptions options,
                                                       const char** extra_options_path) {
  return GetTextOr(options, &LrtGoogleTensorOptionsT::extra_options_path, "", extra_options_path);
}

LiteRtStatus LrtGoogleTensorOptionsSetOutputDir(LrtGoogleTensorOptions options,
                                                const char* output_dir) {
  return SetOrClear(options, &LrtGoogleTensorOptionsT::output_dir, output_dir);
}

LiteRtStatus LrtGoogleTensorOptionsGetOutputDir(LrtGoogleTensorOptions options,
                                                const char** output_dir) {
  return GetTextOr(options, &LrtGoogleTensorOptionsT::output_dir, "", output_dir);
}

LiteRtStatus LrtGoogleTensorOptionsSetDumpOpTimings(LrtGoogleTensorOptions options,
                                                    bool dump_op_timings) {
  return Set(options, &LrtGoogleTensorOptionsT::dump_op_timings, dump_op_timings);
}

LiteRtStatus LrtGoogleTensorOptionsGetDumpOpTimings(LrtGoogleTensorOptions options,
                                                    bool* dump_op_timings) {
  return GetOr(options, &LrtGoogleTensorOptionsT::dump_op_timings, false, dump_op_timings);
}

LiteRtStatus LrtGoogleTensorOptionsSetPerformanceMode(
    LrtGoogleTensorOptions options, LiteRtGoogleTensorOptionsPerformanceMode mode) {
  return Set(options, &LrtGoogleTensorOptionsT::performance_mode, mode);
}

LiteRtStatus LrtGoogleTensorOptionsGetPerformanceMode(
    LrtGoogleTensorOptions options, LiteRtGoogleTensorOptionsPerformanceMode* mode) {
  return Get(options, &LrtGoogleTensorOptionsT::performance_mode, mode);
}

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Returns a text in Base64 (RFC 4648).
std::string Encode(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i += 3) {
    const size_t count = std::min<size_t>(3, text.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<uint8_t>(text[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      result += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return result;
}

// Returns the text of Base64; characters of no digit are skipped.
std::string Decode(std::string_view text) {
  std::string result;
  uint32_t bits = 0;
  int count = 0;
  for (const char character : text) {
    const size_t digit = kDigits.find(character);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> count);
  }
  return result;
}

using Text = std::optional<std::string> LrtGoogleTensorOptionsT::*;

LiteRtStatus SetEncoded(LrtGoogleTensorOptions options, Text field, const char* text) {
  return Guard(
      [&] { return SetOrClear(options, field, text == nullptr ? nullptr : Encode(text).c_str()); });
}

LiteRtStatus GetDecoded(LrtGoogleTensorOptions options, Text field,
                        std::string LrtGoogleTensorOptionsT::*decoded, const char** text) {
  if (options == nullptr || text == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    options->*decoded = Decode((options->*field).value_or(""));
    *text = (options->*decoded).c_str();
    return kLiteRtStatusOk;
  });
}

using Field = Entries<bool> LrtGoogleTensorOptionsT::*;

LiteRtStatus SetEntry(LrtGoogleTensorOptions options, Field field, const char* signature,
                      const char* tensor, bool value) {
  if (options == nullptr || signature == nullptr || tensor == nullptr)
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    const std::string key = std::string(signature) + ":" + tensor;
    for (auto& [name, now] : options->*field) {
      if (name != key) continue;
      now = value;
      return kLiteRtStatusOk;
    }
    (options->*field).emplace_back(key, value);
    return kLiteRtStatusOk;
  });
}

LiteRtStatus GetEntry(LrtGoogleTensorOptions options, Field field, const char* signature,
                      const char* tensor, bool* value) {
  if (options == nullptr || signature == nullptr || tensor == nullptr || value == nullptr)
    return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    const std::string key = std::string(signature) + ":" + tensor;
    *value = false;
    for (const auto& [name, now] : options->*field) {
      if (name == key) *value = now;
    }
    return kLiteRtStatusOk;
  });
}

LiteRtStatus EntryAt(LrtGoogleTensorOptions options, Field field, int index, const char** signature,
                     const char** tensor, bool* value) {
  if (options == nullptr || signature == nullptr || tensor == nullptr || value == nullptr)
    return kLiteRtStatusErrorInvalidArgument;
  const Entries<bool>& entries = options->*field;
  if (static_cast<size_t>(index) >= entries.size()) return kLiteRtStatusErrorIndexOOB;
  return Guard([&] {
    const std::string& key = entries[static_cast<size_t>(index)].first;
    const size_t colon = key.find(':');
    options->signature = key.substr(0, colon);
    options->tensor = colon == std::string::npos ? "" : key.substr(colon + 1);
    *signature = options->signature.c_str();
    *tensor = options->tensor.c_str();
    *value = entries[static_cast<size_t>(index)].second;
    return kLiteRtStatusOk;
  });
}

}  // namespace

LiteRtStatus LrtGoogleTensorOptionsSetInputCoherency(LrtGoogleTensorOptions options,
                                                     const char* signature_name,
                                                     const char* tensor_name,
                                                     bool prefer_coherent) {
  return SetEntry(options, &LrtGoogleTensorOptionsT::input_coherency, signature_name, tensor_name,
                  prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsGetInputCoherency(LrtGoogleTensorOptions options,
                                                     const char* signature_name,
                                                     const char* tensor_name,
                                                     bool* prefer_coherent) {
  return GetEntry(options, &LrtGoogleTensorOptionsT::input_coherency, signature_name, tensor_name,
                  prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsGetNumInputCoherencyEntries(LrtGoogleTensorOptions options,
                                                               int* num_entries) {
  if (options == nullptr || num_entries == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *num_entries = static_cast<int>(options->input_coherency.size());
  return kLiteRtStatusOk;
}

LiteRtStatus LrtGoogleTensorOptionsGetInputCoherencyEntry(LrtGoogleTensorOptions options,
                                                          int entry_idx,
                                                          const char** signature_name,
                                                          const char** tensor_name,
                                                          bool* prefer_coherent) {
  return EntryAt(options, &LrtGoogleTensorOptionsT::input_coherency, entry_idx, signature_name,
                 tensor_name, prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsSetOutputCoherency(LrtGoogleTensorOptions options,
                                                      const char* signature_name,
                                                      const char* tensor_name,
                                                      bool prefer_coherent) {
  return SetEntry(options, &LrtGoogleTensorOptionsT::output_coherency, signature_name, tensor_name,
                  prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsGetOutputCoherency(LrtGoogleTensorOptions options,
                                                      const char* signature_name,
                                                      const char* tensor_name,
                                                      bool* prefer_coherent) {
  return GetEntry(options, &LrtGoogleTensorOptionsT::output_coherency, signature_name, tensor_name,
                  prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsGetNumOutputCoherencyEntries(LrtGoogleTensorOptions options,
                                                                int* num_entries) {
  if (options == nullptr || num_entries == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *num_entries = static_cast<int>(options->output_coherency.size());
  return kLiteRtStatusOk;
}

LiteRtStatus LrtGoogleTensorOptionsGetOutputCoherencyEntry(LrtGoogleTensorOptions options,
                                                           int entry_idx,
                                                           const char** signature_name,
                                                           const char** tensor_name,
                                                           bool* prefer_coherent) {
  return EntryAt(options, &LrtGoogleTensorOptionsT::output_coherency, entry_idx, signature_name,
                 tensor_name, prefer_coherent);
}

LiteRtStatus LrtGoogleTensorOptionsSetOpFiltersProto(LrtGoogleTensorOptions options,
                                                     const char* op_filters_proto) {
  return SetEncoded(options, &LrtGoogleTensorOptionsT::op_filters_proto, op_filters_proto);
}

LiteRtStatus LrtGoogleTensorOptionsGetOpFiltersProto(LrtGoogleTensorOptions options,
                                                     const char** op_filters_proto) {
  return GetDecoded(options, &LrtGoogleTensorOptionsT::op_filters_proto,
                    &LrtGoogleTensorOptionsT::decoded_filters, op_filters_proto);
}

LiteRtStatus LrtGoogleTensorOptionsSetExtraOptions(LrtGoogleTensorOptions options,
                                                   const char* extra_options) {
  return SetEncoded(options, &LrtGoogleTensorOptionsT::extra_options, extra_options);
}

LiteRtStatus LrtGoogleTensorOptionsGetExtraOptions(LrtGoogleTensorOptions options,
                                                   const char** extra_options) {
  return GetDecoded(options, &LrtGoogleTensorOptionsT::extra_options,
                    &LrtGoogleTensorOptionsT::decoded_extra, extra_options);
}
