// SPDX-License-Identifier: Apache-2.0
//
// Saved contents of some tensors, to be restored.
#ifndef DEPUTY_CORE_BASE_SAVED_CONTENTS_H_
#define DEPUTY_CORE_BASE_SAVED_CONTENTS_H_

#include <cstring>
#include <span>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

class SavedContents {
 public:
  void Clear() { entries_ = 0; }
  bool empty() const { return entries_ == 0; }

  // Saves the contents of a tensor; has no effect if the tensor has no memory.
  void Save(int index, const TfLiteTensor& tensor) {
    if (tensor.data.raw == nullptr || tensor.bytes == 0) return;
    if (entries_ == saved_.size()) saved_.emplace_back();
    Entry& entry = saved_[entries_];
    entry.tensor = index;
    entry.bytes.assign(tensor.data.raw, tensor.data.raw + tensor.bytes);
    ++entries_;
  }

  // Returns the saved contents of a tensor, empty if there are none.
  std::span<const char> Find(int index) const {
    for (size_t i = 0; i < entries_; ++i) {
      if (saved_[i].tensor == index) return saved_[i].bytes;
    }
    return {};
  }

  // Restores the saved contents, except those of tensors whose size has changed or that have no
  // memory. Memory with these contents is not written, since the client's may be read-only.
  void Restore(std::span<TfLiteTensor> tensors) const {
    for (size_t i = 0; i < entries_; ++i) {
      TfLiteTensor& tensor = tensors[static_cast<size_t>(saved_[i].tensor)];
      if (tensor.data.raw == nullptr || tensor.bytes != saved_[i].bytes.size()) continue;
      const char* const bytes = saved_[i].bytes.data();
      if (memcmp(tensor.data.raw, bytes, tensor.bytes) == 0) continue;
      memcpy(tensor.data.raw, bytes, tensor.bytes);
    }
  }

 private:
  struct Entry {
    int tensor = 0;
    std::vector<char> bytes;
  };
  std::vector<Entry> saved_;  // entries at index entries_ and above keep their memory for reuse
  size_t entries_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_SAVED_CONTENTS_H_
