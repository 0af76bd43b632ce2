// SPDX-License-Identifier: Apache-2.0
#include "core/exec/signatures.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deputy {

const SignatureDesc* Signatures::Find(const char* key) {
  if (by_key_.empty()) {
    std::vector<const SignatureDesc*> sorted;
    sorted.reserve(count());
    for (size_t i = 0; i < count(); ++i) sorted.push_back(&at(i));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const SignatureDesc* x, const SignatureDesc* y) {
                       // Several keys may be one long string in the file: the pointers are compared
                       // first.
                       return x->key != y->key && strcmp(x->key, y->key) < 0;
                     });
    by_key_ = std::move(sorted);
  }
  const auto found = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                      [](const SignatureDesc* signature, const char* wanted) {
                                        return strcmp(signature->key, wanted) < 0;
                                      });
  return found != by_key_.end() && strcmp((*found)->key, key) == 0 ? *found : nullptr;
}

const SignatureDesc* Signatures::FindOver(uint32_t subgraph) const {
  for (size_t i = 0; i < count(); ++i) {
    if (at(i).subgraph_index == subgraph) return &at(i);
  }
  return nullptr;
}

void Signatures::Add(const SignatureDesc& signature) {
  SignatureDesc copy = signature;
  copy.key = Keep(signature.key);
  for (std::vector<SignatureTensorDesc>* tensors : {&copy.inputs, &copy.outputs}) {
    for (SignatureTensorDesc& tensor : *tensors) tensor.name = Keep(tensor.name);
  }
  added_.push_back(std::move(copy));
  by_key_.clear();
}

}  // namespace deputy
