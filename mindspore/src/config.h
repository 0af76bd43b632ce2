// SPDX-License-Identifier: Apache-2.0
//
// Configuration of a model: sections of keys and values, from a file or from calls.
#ifndef DEPUTY_MINDSPORE_SRC_CONFIG_H_
#define DEPUTY_MINDSPORE_SRC_CONFIG_H_

#include <map>
#include <string>

#include "mindspore/include/extensions_c.h"

namespace deputy::ms_api {

class Config {
 public:
  // Adds the entries of a file that do not exist yet. On failure reports an error, and changes
  // nothing.
  MSStatus Load(const char* path);
  // Adds or replaces an entry.
  MSStatus Update(const std::string& section, const std::string& key, const std::string& value);

  // Returns a value; "" if there is none.
  std::string Get(const std::string& section, const std::string& key) const;
  // Logs each entry that the runtime does not obey.
  void LogIgnored() const;

  using Sections = std::map<std::string, std::map<std::string, std::string>>;
  const Sections& sections() const { return sections_; }

 private:
  Sections sections_;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_CONFIG_H_
