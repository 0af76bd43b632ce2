// SPDX-License-Identifier: Apache-2.0
//
// The part of a model that is being decoded or checked, as messages name it.
#ifndef DEPUTY_CORE_MODEL_MODEL_POSITION_H_
#define DEPUTY_CORE_MODEL_MODEL_POSITION_H_

#include <cstddef>
#include <cstdio>
#include <string>

namespace deputy {

// Keeps numbers and pointers only: to format the text of each tensor and node would take longer
// than their checks.
struct ModelPosition {
  // A subgraph, tensor, node or entry, "tensor 3 'weights': " for a name in quotes. A kind or name
  // that is null is absent; a name must outlive its use as the position.
  struct Item {
    const char* kind = nullptr;
    size_t number = 0;
    const char* name = nullptr;
    bool has_quotes = true;
  };

  bool in_subgraph = false;
  size_t subgraph = 0;
  Item item;

  void EnterSubgraph(size_t number) { *this = {true, number, {}}; }

  // Returns a prefix for a message; empty outside of all parts.
  std::string Text() const {
    char text[192] = "";
    int length = 0;
    if (in_subgraph) length = std::snprintf(text, sizeof text, "subgraph %zu ", subgraph);
    char* const rest = text + length;
    const size_t left = sizeof text - static_cast<size_t>(length);
    if (item.kind != nullptr && item.name != nullptr) {
      const char* const quote = item.has_quotes ? "'" : "";
      std::snprintf(rest, left, "%s %zu %s%.64s%s: ", item.kind, item.number, quote, item.name,
                    quote);
    } else if (item.kind != nullptr) {
      std::snprintf(rest, left, "%s %zu: ", item.kind, item.number);
    }
    return text;
  }
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_POSITION_H_
