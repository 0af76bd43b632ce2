// SPDX-License-Identifier: Apache-2.0
//
// absl::flat_hash_map as a map of the standard library.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_MAP_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_MAP_H_

#include <unordered_map>

namespace absl {

template <class Key, class Value>
class flat_hash_map : public std::unordered_map<Key, Value> {
 public:
  bool contains(const Key& key) const { return this->count(key) > 0; }
};

}  // namespace absl

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_ABSL_CONTAINER_FLAT_HASH_MAP_H_
