// SPDX-License-Identifier: Apache-2.0
//
// absl::flat_hash_set as a set of the standard library.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_SET_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_SET_H_

#include <unordered_set>

namespace absl {

template <class Key>
class flat_hash_set : public std::unordered_set<Key> {
 public:
  using std::unordered_set<Key>::unordered_set;
  bool contains(const Key& key) const { return this->count(key) > 0; }
};

}  // namespace absl

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_SET_H_
