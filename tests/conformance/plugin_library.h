// SPDX-License-Identifier: Apache-2.0
//
// A delegate library under test: loaded once, creates any number of delegates.
#ifndef DEPUTY_TESTS_CONFORMANCE_PLUGIN_LIBRARY_H_
#define DEPUTY_TESTS_CONFORMANCE_PLUGIN_LIBRARY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"

namespace deputy::conformance {

using PluginOptions = std::vector<std::pair<std::string, std::string>>;

class PluginLibrary {
 public:
  // Does not load the library, because loading one takes longer than most cases: the first call of
  // another function does.
  PluginLibrary(std::string path, PluginOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Returns null if the library cannot be loaded, with the reason appended to `out_error`.
  DeputyPlugin* Load(std::string* out_error);

  // Creates a delegate with the options of this object or with the given ones. Supports external
  // delegates and stable delegates, which have no options. Returns null with the reason appended to
  // `out_error`.
  std::shared_ptr<TfLiteDelegate> Create(std::string* out_error) {
    return Create(options_, out_error);
  }
  std::shared_ptr<TfLiteDelegate> Create(const PluginOptions& options, std::string* out_error);

  // Returns the library's description of itself; an empty struct if it cannot be loaded.
  DeputyPluginInfo Describe();

  const std::string& path() const { return path_; }
  const PluginOptions& options() const { return options_; }

 private:
  const std::string path_;
  const PluginOptions options_;
  std::shared_ptr<DeputyPlugin> plugin_;
};

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_PLUGIN_LIBRARY_H_
