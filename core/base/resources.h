// SPDX-License-Identifier: Apache-2.0
//
// What operators keep from one inference to the next and from one subgraph to another: variables by
// a name that the model gives them, hash tables by a number, and which subgraphs have run once.
#ifndef DEPUTY_CORE_BASE_RESOURCES_H_
#define DEPUTY_CORE_BASE_RESOURCES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
  // From numbers to strings or from strings to numbers; the other map is empty.
  struct Table {
    TfLiteType key_type = kTfLiteNoType;
    TfLiteType value_type = kTfLiteNoType;
    bool filled = false;
    std::map<int64_t, std::string> strings;
    std::map<std::string, int64_t, std::less<>> numbers;
    size_t bytes = 0;  // of the strings and numbers
  };
  // The state at some moment. Taking one copies no contents: assigning does, as long as a snapshot
  // needs what was there before.
  struct Snapshot {
    std::map<int, std::shared_ptr<Variable>> variables;
    std::map<int, std::shared_ptr<const Table>> tables;
    std::set<int> initialized;
  };

  // The number of a resource, the same whenever it is asked for by the same two names: 0, 1, ….
  int Id(const std::string& container, const std::string& name);

  // Null when nothing has been assigned. Valid until the next Assign or Restore.
  const Variable* FindVariable(int id) const;
  // The variable becomes a copy of the value, which is no variable's own memory. False when the
  // limits or the allocator refuse: it is then unchanged.
  bool Assign(int id, TfLiteType type, std::span<const int> dims, std::span<const char> value,
              const Limits& limits);

  // Null when there is none of that number. Valid until the next FillTable or Restore.
  const Table* FindTable(int id) const;
  // An empty table, unless there is one of that number. False when the limits refuse.
  bool CreateTable(int id, TfLiteType key_type, TfLiteType value_type, const Limits& limits);
  // The table of that number, which has the same types, becomes `filled`. False when the limits
  // refuse: it is then unchanged.
  bool FillTable(int id, Table filled, const Limits& limits);

  // Whether a subgraph that is to run once has done so.
  bool initialized(int subgraph) const { return state_.initialized.contains(subgraph); }
  void SetInitialized(int subgraph) { state_.initialized.insert(subgraph); }

  Snapshot Save() const { return state_; }
  void Restore(Snapshot snapshot);

  // What the contents of all variables and tables take.
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<std::string, std::string>, int> ids_;
  Snapshot state_;
  size_t bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_RESOURCES_H_
