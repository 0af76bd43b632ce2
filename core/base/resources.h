// SPDX-License-Identifier: Apache-2.0
//
// State of operators that persists between inferences and is shared by subgraphs: variables,
// identified by names of the model, hash tables, identified by numbers, and the set of subgraphs
// that have run once.
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

// Variables and tables by number. Must be used by one thread at a time.
class Resources {
 public:
  struct Variable {
    TfLiteType type = kTfLiteNoType;
    std::vector<int> dims;
    size_t bytes = 0;
    Block data;  // only the first `bytes` bytes are used
  };
  // A map from numbers to strings or from strings to numbers; the other map is empty.
  struct Table {
    TfLiteType key_type = kTfLiteNoType;
    TfLiteType value_type = kTfLiteNoType;
    bool filled = false;
    std::map<int64_t, std::string> strings;
    std::map<std::string, int64_t, std::less<>> numbers;
    size_t bytes = 0;  // total size of the table's strings and numbers
  };
  // The state at one moment. Taking a snapshot copies no contents; while one refers to a variable,
  // Assign replaces the variable by a new one instead of overwriting its contents.
  struct Snapshot {
    std::map<int, std::shared_ptr<Variable>> variables;
    std::map<int, std::shared_ptr<const Table>> tables;
    std::set<int> initialized;
  };

  // Returns the id of the resource with these two names: 0, 1, … in order of first use.
  int Id(const std::string& container, const std::string& name);

  // Returns the variable with this id; null if nothing was assigned to it. Valid until the next
  // Assign or Restore.
  const Variable* FindVariable(int id) const;
  // Copies the value to the variable; the value must not be a variable's own memory. Returns false,
  // with the variable unchanged, if a limit is exceeded or memory is exhausted.
  bool Assign(int id, TfLiteType type, std::span<const int> dims, std::span<const char> value,
              const Limits& limits);

  // Returns the table with this id; null if there is none. Valid until the next FillTable or
  // Restore.
  const Table* FindTable(int id) const;
  // Creates an empty table unless it exists. Returns false if a limit is exceeded.
  bool CreateTable(int id, TfLiteType key_type, TfLiteType value_type, const Limits& limits);
  // Replaces the table, which must have the same types, by `filled`. Returns false, with the table
  // unchanged, if a limit is exceeded.
  bool FillTable(int id, Table filled, const Limits& limits);

  // Returns true if a subgraph that must run once has done so.
  bool initialized(int subgraph) const { return state_.initialized.contains(subgraph); }
  void SetInitialized(int subgraph) { state_.initialized.insert(subgraph); }

  Snapshot Save() const { return state_; }
  void Restore(Snapshot snapshot);

  // Total size of the contents of all variables and tables.
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<std::string, std::string>, int> ids_;
  Snapshot state_;
  size_t bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_RESOURCES_H_
