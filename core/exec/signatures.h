// SPDX-License-Identifier: Apache-2.0
//
// Signatures of an interpreter: those of the model, followed by those that the client adds.
#ifndef DEPUTY_CORE_EXEC_SIGNATURES_H_
#define DEPUTY_CORE_EXEC_SIGNATURES_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "core/model/model_desc.h"

namespace deputy {

class Signatures {
 public:
  // Creates the list of a model's signatures, which must outlive this object.
  explicit Signatures(const std::vector<SignatureDesc>* model) : model_(model) {}

  size_t count() const { return model_->size() + added_.size(); }
  const SignatureDesc& at(size_t index) const {
    return index < model_->size() ? (*model_)[index] : added_[index - model_->size()];
  }
  // Returns the first signature with this key, null if there is none.
  const SignatureDesc* Find(const char* key);
  // Returns the first signature over this subgraph, null if there is none.
  const SignatureDesc* FindOver(uint32_t subgraph) const;
  // Adds a copy of a signature. Strong exception guarantee, except for unused memory.
  void Add(const SignatureDesc& signature);

 private:
  const char* Keep(const char* text) { return texts_.emplace_back(text).c_str(); }

  const std::vector<SignatureDesc>* const model_;
  std::deque<SignatureDesc> added_;
  std::deque<std::string> texts_;  // texts of added_; elements must not move
  // Signatures sorted by key; filled by the first look-up, empty after a change.
  std::vector<const SignatureDesc*> by_key_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SIGNATURES_H_
