// SPDX-License-Identifier: Apache-2.0
//
// A delegate library as the kit uses it: loaded once, with a new delegate whenever one is asked
// for.
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
  // Nothing is loaded before the first call: examining a library takes longer than most cases.
  PluginLibrary(std::string path, PluginOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Null if the library cannot be loaded, with the reason appended to `out_error`.
  DeputyPlugin* Load(std::string* out_error);

  // A delegate with the options of this object, or with others; external ones and stable ones,
  // which take none. Null with the reason appended to `out_error`.
  std::shared_ptr<TfLiteDelegate> Create(std::string* out_error) {
    return Create(options_, out_error);
  }
  std::shared_ptr<TfLiteDelegate> Create(const PluginOptions& options, std::string* out_error);

  // What it says of itself; fields are those of an empty struct if it cannot be loaded.
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
