// SPDX-License-Identifier: Apache-2.0
#include "c_api/src/placement_rates.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/support/word_reader.h"
#include "core/support/word_writer.h"

namespace deputy {
namespace {

constexpr int64_t kRatesFormat = 1;
constexpr size_t kMaxOperators = 1000;
constexpr size_t kMaxNameBytes = 1000;
// Factor of the earlier times when a model is added.
constexpr double kDecay = 0.5;
constexpr int64_t kMaxNs = int64_t{1} << 50;

int64_t StoredNs(double ns) {
  return static_cast<int64_t>(std::clamp(ns, 0.0, static_cast<double>(kMaxNs)));
}

}  // namespace

void AddRates(const PlacementProblem& problem, const DelegateCosts& costs,
              std::span<const std::string> operators, DelegateRates* rates) {
  std::map<std::string, DelegateRates::Times> added;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (costs.node_ns[i] < 0 || problem.cpu_ns[i] <= 0) continue;
    DelegateRates::Times& times = added[operators[i]];
    times.delegate_ns += costs.node_ns[i];
    times.cpu_ns += problem.cpu_ns[i];
  }
  if (added.empty()) return;
  rates->launch_ns = costs.launch_ns;
  for (const auto& [name, times] : added) {
    if (rates->operators.size() >= kMaxOperators && rates->operators.count(name) == 0) continue;
    DelegateRates::Times& sum = rates->operators[name];
    sum.delegate_ns = kDecay * sum.delegate_ns + times.delegate_ns;
    sum.cpu_ns = kDecay * sum.cpu_ns + times.cpu_ns;
  }
}

DelegateCosts CostsByRates(const PlacementProblem& problem, std::span<const std::string> operators,
                           const DelegateRates& rates) {
  DelegateCosts costs;
  costs.launch_ns = rates.launch_ns;
  for (size_t i = 0; i < operators.size(); ++i) {
    const auto found = rates.operators.find(operators[i]);
    const bool is_known = found != rates.operators.end() && found->second.cpu_ns > 0;
    costs.node_ns.push_back(
        is_known ? problem.cpu_ns[i] * (found->second.delegate_ns / found->second.cpu_ns) : -1);
  }
  return costs;
}

std::string WriteRates(const DelegateRates& rates) {
  WordWriter writer;
  writer.Add(kRatesFormat);
  writer.Add(StoredNs(rates.launch_ns));
  const auto is_stored = [](const auto& entry) { return StoredNs(entry.second.cpu_ns) > 0; };
  writer.Add(std::count_if(rates.operators.begin(), rates.operators.end(), is_stored));
  for (const auto& entry : rates.operators) {
    if (!is_stored(entry)) continue;
    writer.AddText(entry.first);
    writer.Add(StoredNs(entry.second.delegate_ns));
    writer.Add(StoredNs(entry.second.cpu_ns));
  }
  return writer.bytes();
}

DelegateRates ReadRates(std::span<const char> bytes) {
  WordReader reader(bytes);
  DelegateRates rates;
  reader.Between(kRatesFormat, kRatesFormat);
  rates.launch_ns = static_cast<double>(reader.Between(0, kMaxNs));
  for (int64_t left = reader.Between(0, kMaxOperators); left > 0 && reader.ok(); --left) {
    const std::string name = reader.Text(kMaxNameBytes);
    DelegateRates::Times& times = rates.operators[name];
    times.delegate_ns = static_cast<double>(reader.Between(0, kMaxNs));
    times.cpu_ns = static_cast<double>(reader.Between(1, kMaxNs));
  }
  return reader.ok() && reader.is_at_end() ? rates : DelegateRates();
}

}  // namespace deputy
