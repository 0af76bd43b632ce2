// SPDX-License-Identifier: Apache-2.0
//
// What operators keep from one inference to the next and from one subgraph to another, by a name
// that the model gives it: variables.
#ifndef DEPUTY_CORE_BASE_RESOURCES_H_
#define DEPUTY_CORE_BASE_RESOURCES_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api_types.h"
#include "core/base/memory.h"

namespace deputy {

// One thread at a time may use it.
class Resources {
 public:
  struct Variable {
    TfLiteType type = kTfLiteNoType;
    std::vector<int> dims;
    size_t bytes = 0;
    Block data;  // the first `bytes` of it
  };
  // The state at some moment. Taking one copies no contents: assigning does, as long as a snapshot
  // needs what was there before.
  using Snapshot = std::map<int, std::shared_ptr<Variable>>;

  // The number of a resource, the same whenever it is asked for by the same two names: 0, 1, ….
  int Id(const std::string& container, const std::string& name);

  // Null when nothing has been assigned. Valid until the next Assign or Restore.
  const Variable* FindVariable(int id) const;
  // The variable becomes a copy of the value, which is no variable's own memory. False when the
  // limits or the allocator refuse: it is then unchanged.
  bool Assign(int id, TfLiteType type, std::span<const int> dims, std::span<const char> value,
              const Limits& limits);

  Snapshot Save() const { return variables_; }
  void Restore(Snapshot snapshot);

  // What the contents of all variables take.
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<std::string, std::string>, int> ids_;
  Snapshot variables_;
  size_t bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_RESOURCES_H_
