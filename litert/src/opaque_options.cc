// SPDX-License-Identifier: Apache-2.0
#include "litert/src/opaque_options.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

// Returns true for identifiers of LiteRT's headers, whose data is a text.
bool HasText(std::string_view identifier) {
  constexpr std::string_view kIdentifiers[] = {"Arm",
                                               "compiler_options_string",
                                               "google_tensor",
                                               "gpu_options",
                                               "mediatek",
                                               "intel_openvino",
                                               "webnn_options_string",
                                               "runtime_options_string",
                                               "qualcomm",
                                               "samsung",
                                               "xnnpack",
                                               "cpu_delegate"};
  return std::count(std::begin(kIdentifiers), std::end(kIdentifiers), identifier) > 0;
}

}  // namespace

std::optional<uint64_t> deputy::litert::HashOf(const LiteRtOpaqueOptionsT& options) {
  if (options.hash != nullptr) return options.hash(options.data);
  if (!HasText(options.identifier)) return std::nullopt;
  const std::string_view text = static_cast<const char*>(options.data);
  return text.empty() ? 0 : std::hash<std::string_view>{}(text);
}

LiteRtStatus LiteRtCreateOpaqueOptions(const char* payload_identifier, void* payload_data,
                                       void (*payload_destructor)(void* payload_data),
                                       LiteRtOpaqueOptions* options) {
  if (payload_identifier == nullptr || payload_data == nullptr || payload_destructor == nullptr ||
      options == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    std::string identifier = payload_identifier;
    auto* const created = new LiteRtOpaqueOptionsT();
    created->identifier = std::move(identifier);
    created->data = payload_data;
    created->destructor = payload_destructor;
    *options = created;
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyOpaqueOptions(LiteRtOpaqueOptions options) {
  while (options != nullptr) delete std::exchange(options, options->next);
}

LiteRtStatus LiteRtGetOpaqueOptionsIdentifier(LiteRtOpaqueOptions options,
                                              const char** payload_identifier) {
  if (options == nullptr || payload_identifier == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *payload_identifier = options->identifier.c_str();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetOpaqueOptionsData(LiteRtOpaqueOptions options, void** payload_data) {
  if (options == nullptr || payload_data == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *payload_data = options->data;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtFindOpaqueOptionsData(LiteRtOpaqueOptions options,
                                         const char* payload_identifier, void** payload_data) {
  if (options == nullptr || payload_identifier == nullptr || payload_data == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  for (; options != nullptr; options = options->next) {
    if (options->identifier == payload_identifier) {
      *payload_data = options->data;
      return kLiteRtStatusOk;
    }
  }
  return kLiteRtStatusErrorNotFound;
}

LiteRtStatus LiteRtGetNextOpaqueOptions(LiteRtOpaqueOptions* options) {
  if (options == nullptr || *options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *options = (*options)->next;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAppendOpaqueOptions(LiteRtOpaqueOptions* options,
                                       LiteRtOpaqueOptions appended_options) {
  if (options == nullptr || appended_options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  for (; *options != nullptr; options = &(*options)->next) {
    if (*options == appended_options) return kLiteRtStatusErrorInvalidArgument;
  }
  *options = appended_options;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtPopOpaqueOptions(LiteRtOpaqueOptions* options) {
  if (options == nullptr || *options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  while ((*options)->next != nullptr) options = &(*options)->next;
  delete std::exchange(*options, nullptr);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetOpaqueOptionsHash(LiteRtOpaqueOptions options,
                                        LiteRtOpaqueOptionsHashFunc payload_hash_func) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  options->hash = payload_hash_func;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetOpaqueOptionsHash(LiteRtOpaqueOptions options, uint64_t* hash) {
  if (options == nullptr || hash == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const std::optional<uint64_t> found = deputy::litert::HashOf(*options);
  if (!found) {
    return Fail(kLiteRtStatusErrorUnsupported, "options '%s': they have no hash function",
                options->identifier.c_str());
  }
  *hash = *found;
  return kLiteRtStatusOk;
}
