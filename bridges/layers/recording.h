// SPDX-License-Identifier: Apache-2.0
//
// A record that is replayed: finds the recorded call for each call that is made.
#ifndef DEPUTY_BRIDGES_LAYERS_RECORDING_H_
#define DEPUTY_BRIDGES_LAYERS_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "bridges/layers/record/record_file.h"

namespace deputy::layers {

class Recording {
 public:
  explicit Recording(record::Record record);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const record::Record& record() const { return record_; }

  // Returns the recorded call for the next call of the function and the kernel (-1 for functions of
  // the delegate), and of the tensor for kResizeTensor; null if there is none. Thread-safe, as all
  // functions of this class.
  const record::Call* Next(record::Function function, int32_t kernel, int32_t tensor = -1);
  // Like Next, but returns the last recorded call again once all have been returned.
  const record::Call* NextOrLast(record::Function function, int32_t kernel, int32_t tensor = -1);

  // Returns the recorded replacements of nodes in a preparation of the delegate.
  std::vector<const record::Call*> ReplacementsIn(const record::Call& delegate_prepare) const;
  // Returns the recorded calls that Next has not returned.
  std::vector<const record::Call*> Remaining() const;
  // Describes the end of the record: a limit, a cut, or neither.
  std::string EndText() const;

 private:
  using Key = std::tuple<record::Function, int32_t, int32_t>;  // function, kernel and tensor
  struct Queue {
    std::vector<const record::Call*> calls;
    size_t next = 0;
  };

  static Key KeyOf(record::Function function, int32_t kernel, int32_t tensor);

  record::Record record_;
  mutable std::mutex mutex_;  // guards the positions in `queues_`
  std::map<Key, Queue> queues_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_RECORDING_H_
