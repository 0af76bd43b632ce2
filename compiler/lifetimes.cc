// SPDX-License-Identifier: Apache-2.0
#include "compiler/lifetimes.h"

#include <algorithm>

namespace deputy::compiler {
namespace {

// By value: whether it is an input or an output of the graph.
std::vector<bool> OfClient(const Graph& graph, bool inputs, bool outputs) {
  std::vector<bool> of_client(graph.values.size(), false);
  for (ValueId id : graph.inputs) of_client[static_cast<size_t>(id)] = inputs;
  for (ValueId id : graph.outputs) {
    if (outputs) of_client[static_cast<size_t>(id)] = true;
  }
  return of_client;
}

void Extend(Lifetime* lifetime, int step) {
  lifetime->first = lifetime->empty() ? step : std::min(lifetime->first, step);
  lifetime->last = std::max(lifetime->last, step);
}

// Which values' memory a value uses, without their lifetimes.
std::vector<ValueId> FindStorage(const Graph& graph) {
  std::vector<ValueId> storage(graph.values.size(), kNoValue);
  std::vector<bool> taken = OfClient(graph, true, false);
  const std::vector<bool> is_output = OfClient(graph, false, true);
  for (ValueId id : graph.inputs) storage[static_cast<size_t>(id)] = id;
  for (const Operation& operation : graph.operations) {
    for (ValueId id : operation.outputs) {
      const auto value = static_cast<size_t>(id);
      storage[value] = id;
      if (is_output[value]) taken[value] = true;
    }
    if (!std::holds_alternative<View>(operation.kind)) continue;
    const auto to = static_cast<size_t>(operation.output());
    const ValueId source = storage[static_cast<size_t>(operation.inputs[0])];
    if (source == kNoValue || (is_output[to] && taken[static_cast<size_t>(source)])) continue;
    storage[to] = source;
    if (is_output[to]) taken[static_cast<size_t>(source)] = true;
  }
  return storage;
}

class InPlaceSearch {
 public:
  InPlaceSearch(const Graph& graph, const Lifetimes& lifetimes)
      : graph_(graph), lifetimes_(lifetimes), of_client_(graph.values.size(), false) {
    // Memory of the client's, whoever is a view of it.
    for (const auto* ids : {&graph.inputs, &graph.outputs}) {
      for (ValueId id : *ids) of_client_[static_cast<size_t>(StorageOf(id))] = true;
    }
  }

  // The candidates of one operation.
  std::vector<InPlace> Of(int step) const {
    const Operation& operation = graph_.operations[static_cast<size_t>(step)];
    const bool elementwise = std::holds_alternative<Elementwise>(operation.kind);
    std::vector<InPlace> found;
    for (ValueId id : elementwise ? operation.inputs : operation.epilogue_inputs) {
      const auto same = [id](const InPlace& other) { return other.input == id; };
      if (std::none_of(found.begin(), found.end(), same) && MayTake(operation, step, id)) {
        found.push_back({step, id});
      }
    }
    return found;
  }

 private:
  // Constants have none; they are no outputs either, or have their own place.
  ValueId StorageOf(ValueId id) const {
    const ValueId storage = lifetimes_.storage[static_cast<size_t>(id)];
    return storage == kNoValue ? id : storage;
  }

  bool MayTake(const Operation& operation, int step, ValueId id) const {
    const Value &from = graph_.value(id), &to = graph_.value(operation.output());
    const ValueId storage = lifetimes_.storage[static_cast<size_t>(id)];
    const ValueId own = lifetimes_.storage[static_cast<size_t>(operation.output())];
    if (storage == kNoValue || own != operation.output() || from.constant()) return false;
    if (from.shape != to.shape || ElementBytes(from.type) != ElementBytes(to.type)) return false;
    if (of_client_[static_cast<size_t>(storage)] || of_client_[static_cast<size_t>(own)]) {
      return false;
    }
    if (lifetimes_.of_storage[static_cast<size_t>(storage)].last != step) return false;
    return IsReadInOrder(operation, storage);
  }

  // Of another shape with as many elements, a view is read in the same order as the value itself;
  // only what is no operand of an expression is read out of order.
  bool IsReadInOrder(const Operation& operation, ValueId storage) const {
    if (std::holds_alternative<Elementwise>(operation.kind)) return true;
    return std::none_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId id) {
      return id != kNoValue && lifetimes_.storage[static_cast<size_t>(id)] == storage;
    });
  }

  const Graph& graph_;
  const Lifetimes& lifetimes_;
  std::vector<bool> of_client_;  // by value whose memory it is
};

}  // namespace

Lifetimes FindLifetimes(const Graph& graph) {
  Lifetimes lifetimes{FindStorage(graph), std::vector<Lifetime>(graph.values.size())};
  const auto use = [&](ValueId id, int step) {
    const ValueId storage = lifetimes.storage[static_cast<size_t>(id)];
    if (storage != kNoValue) Extend(&lifetimes.of_storage[static_cast<size_t>(storage)], step);
  };
  for (ValueId id : graph.inputs) use(id, 0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (ValueId id : ReadValues(graph.operations[i])) use(id, static_cast<int>(i));
    for (ValueId id : graph.operations[i].outputs) use(id, static_cast<int>(i));
  }
  const int last = std::max(static_cast<int>(graph.operations.size()) - 1, 0);
  for (ValueId id : graph.outputs) use(id, last);
  return lifetimes;
}

std::vector<InPlace> FindInPlace(const Graph& graph, const Lifetimes& lifetimes) {
  const InPlaceSearch search(graph, lifetimes);
  std::vector<InPlace> found;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const std::vector<InPlace> of_one = search.Of(static_cast<int>(i));
    found.insert(found.end(), of_one.begin(), of_one.end());
  }
  return found;
}

int ShareInPlace(const Graph& graph, Lifetimes* lifetimes) {
  // One output's memory is no reason against another's: what is taken over is needed by nobody
  // else, and lives on as the output does.
  const InPlaceSearch search(graph, *lifetimes);
  std::vector<ValueId> taken_over(graph.values.size(), kNoValue);
  const auto root = [&](ValueId id) {
    while (id != kNoValue && taken_over[static_cast<size_t>(id)] != kNoValue) {
      id = taken_over[static_cast<size_t>(id)];
    }
    return id;
  };
  int count = 0;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const std::vector<InPlace> candidates = search.Of(static_cast<int>(i));
    if (candidates.empty()) continue;
    const auto to = static_cast<size_t>(graph.operations[i].output());
    const ValueId from = root(lifetimes->storage[static_cast<size_t>(candidates[0].input)]);
    taken_over[to] = from;
    ++count;
  }
  for (size_t id = 0; id < taken_over.size(); ++id) {
    if (taken_over[id] == kNoValue) continue;
    Lifetime& own = lifetimes->of_storage[id];
    Lifetime& shared = lifetimes->of_storage[static_cast<size_t>(root(static_cast<ValueId>(id)))];
    shared.first = std::min(shared.first, own.first);
    shared.last = std::max(shared.last, own.last);
    own = {};
  }
  for (ValueId& storage : lifetimes->storage) storage = root(storage);
  return count;
}

}  // namespace deputy::compiler
