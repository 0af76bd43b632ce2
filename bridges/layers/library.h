// SPDX-License-Identifier: Apache-2.0
//
// The library of the inner delegate. It is loaded without libdeputy, so that layers work in
// TensorFlow Lite, too.
#ifndef DEPUTY_BRIDGES_LAYERS_LIBRARY_H_
#define DEPUTY_BRIDGES_LAYERS_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

#include "deputy/common.h"
#include "deputy/delegate_plugin.h"
#include "deputy/deputy_plugin.h"

namespace deputy::layers {

using DelegateOptions = std::vector<std::pair<std::string, std::string>>;

struct Library {
  // The plug-in's description, as far as it is defined; all zero if there is none.
  DeputyDelegatePlugin plugin{};
  TfLiteDelegate* (*create)(const char* const* keys, const char* const* values, size_t count,
                            void (*report_error)(const char* text)) = nullptr;
  void (*destroy)(TfLiteDelegate* delegate) = nullptr;
  // Functions of a stable delegate, in place of `create`; null for other plug-ins.
  const TfLiteOpaqueDelegatePlugin* stable = nullptr;
};

// Loads the library of that path, which is never unloaded. Returns "" or an error message.
std::string LoadLibrary(const std::string& path, Library* library);

// Creates a delegate of the library; a stable one gets no settings, and no options are permitted.
// Returns null, and the reason in `error`, on failure.
TfLiteDelegate* CreateDelegate(const Library& library, const DelegateOptions& options,
                               std::string* error);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_LIBRARY_H_
