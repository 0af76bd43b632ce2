// SPDX-License-Identifier: Apache-2.0
#include "c_api/src/placement_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "c_api/src/placement_objects.h"
#include "core/plugin/delegate_report.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_delegate.h"
#include "core/support/host_device.h"
#include "core/support/word_reader.h"
#include "core/support/word_writer.h"

namespace deputy {
namespace {

constexpr const char* kPlanToken = "placement";
constexpr const char* kRatesToken = "rates";
constexpr int64_t kFormat = 1;
constexpr size_t kMaxAlternatives = 1000;

void IgnoreMessage(void*, const char*, va_list) {}

}  // namespace

std::string WritePlan(const DeputyPlacementPlan& plan) {
  WordWriter writer;
  writer.Add(kFormat);
  writer.Add(static_cast<int64_t>(plan.owners.size()));
  for (const int owner : plan.owners) writer.Add(owner);
  const size_t count = std::min(plan.alternatives.size(), kMaxAlternatives);
  writer.Add(static_cast<int64_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const PlacementAlternative& each = plan.alternatives[i];
    writer.AddText(each.name);
    writer.Add(each.partitions);
    writer.Add(each.delegated);
    writer.Add(static_cast<int64_t>(each.predicted_ns));
    writer.Add(static_cast<int64_t>(each.estimated_ns));
    writer.Add(static_cast<int64_t>(each.measured_ns));
  }
  return writer.bytes();
}

bool ReadPlan(std::span<const char> bytes, size_t nodes, DeputyPlacementPlan* plan) {
  constexpr int64_t kMax = int64_t{1} << 62;
  const auto node_count = static_cast<int64_t>(nodes);
  const auto delegates = static_cast<int64_t>(plan->delegates.size());
  WordReader reader(bytes);
  reader.Between(kFormat, kFormat);
  reader.Between(node_count, node_count);
  Assignment owners;
  for (size_t i = 0; i < nodes && reader.ok(); ++i) {
    owners.push_back(static_cast<int>(reader.Between(kCpuOwner, delegates - 1)));
  }
  std::vector<PlacementAlternative> alternatives(
      static_cast<size_t>(reader.Between(1, kMaxAlternatives)));
  for (PlacementAlternative& each : alternatives) {
    each.name = reader.Text(bytes.size());
    each.partitions = static_cast<int32_t>(reader.Between(0, INT32_MAX));
    each.delegated = static_cast<int32_t>(reader.Between(0, node_count));
    each.predicted_ns = static_cast<double>(reader.Between(0, kMax));
    each.estimated_ns = static_cast<double>(reader.Between(0, kMax));
    each.measured_ns = static_cast<double>(reader.Between(-1, kMax));
  }
  if (!reader.ok() || !reader.is_at_end()) return false;
  plan->owners = std::move(owners);
  plan->alternatives = std::move(alternatives);
  plan->status.from_cache = 1;
  return true;
}

PlacementFile::PlacementFile(const TfLiteModel* model, const TfLiteInterpreterOptions& options,
                             const DeputyPlacementSettings& settings) {
  const std::span<const uint8_t> bytes = model->impl->bytes();
  if (settings.cache_directory == nullptr || settings.prepare != nullptr || bytes.empty()) return;
  DeputyFingerprint machine;
  DeputyFingerprintInit(&machine);
  DeputyFingerprintAddText(&machine, DeputyVersion());
  DeputyFingerprintAddText(&machine, DeputyCpuTable());
  DeputyFingerprintAddText(&machine, HostProcessorName().c_str());
  for (const int64_t number :
       {int64_t{options.config.num_threads}, static_cast<int64_t>(options.config.arithmetic),
        static_cast<int64_t>(options.config.precision)}) {
    DeputyFingerprintAdd(&machine, &number, sizeof number);
  }
  for (const auto& [node, precision] : options.config.node_precisions) {
    for (const int number : {node.first, node.second, static_cast<int>(precision)}) {
      DeputyFingerprintAdd(&machine, &number, sizeof number);
    }
  }
  plan_ = machine;
  DeputyFingerprintAdd(&plan_, bytes.data(), bytes.size());
  for (TfLiteDelegate* const delegate : options.delegates) {
    delegates_.push_back(machine);
    if (!AddDelegate(delegate, &delegates_.back())) return;
    DeputyFingerprintAdd(&plan_, &delegates_.back(), sizeof(DeputyFingerprint));
  }
  directory_ = settings.cache_directory;
  nodes_ = model->impl->desc().subgraphs[0].operators.size();
}

// Adds the identity of a delegate: its plug-in, options and devices. Returns false if it has no
// plug-in with a description.
bool PlacementFile::AddDelegate(TfLiteDelegate* delegate, DeputyFingerprint* fingerprint) {
  if (delegate == nullptr) return false;
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* const plugin =
      parts.library == nullptr ? nullptr : parts.library->plugin();
  if (plugin == nullptr) return false;
  ErrorReporter reporter(&IgnoreMessage, nullptr);
  const auto add = [=](const char* text) { DeputyFingerprintAddText(fingerprint, text); };
  add(parts.library->path().c_str());
  add(plugin->version);
  if (parts.options != nullptr) {
    for (const auto& [key, value] : *parts.options) {
      add(key.c_str());
      add(value.c_str());
    }
  }
  DeputyDelegateReport report = {};
  std::vector<OptionUse> uses;
  if (ReportPluginDelegate(delegate, &report, &uses, &reporter) == kTfLiteOk) {
    add(report.device);
    add(report.precision);
    for (const OptionUse& use : uses) {
      add(use.name.c_str());
      add(use.value.c_str());
    }
  }
  const DeputyDeviceCallback add_device = [](void* self, const DeputyDeviceInfo* device) {
    if (device == nullptr) return;
    auto* const target = static_cast<DeputyFingerprint*>(self);
    DeputyFingerprintAddText(target, device->name);
    DeputyFingerprintAddText(target, device->driver_version);
    DeputyFingerprintAddText(target, device->platform_version);
  };
  ListPluginDevices(*parts.library, add_device, fingerprint, &reporter);
  return true;
}

std::string PlacementFile::ReadEntry(const char* token,
                                     const DeputyFingerprint& fingerprint) const {
  if (directory_.empty()) return "";
  const DeputySerialization store = {directory_.c_str(), token};
  void* blob = nullptr;
  size_t size = 0;
  if (DeputySerializationRead(&store, &fingerprint, &blob, &size) != kTfLiteOk) return "";
  const std::unique_ptr<void, void (*)(void*)> owner(blob, &free);
  return {static_cast<const char*>(blob), size};
}

void PlacementFile::WriteEntry(const char* token, const DeputyFingerprint& fingerprint,
                               const std::string& bytes) const {
  if (directory_.empty()) return;
  const DeputySerialization store = {directory_.c_str(), token};
  if (DeputySerializationWrite(&store, &fingerprint, bytes.data(), bytes.size()) != kTfLiteOk) {
    deputy::ReportWarning("the results of the placement cannot be stored in '%s'",
                          directory_.c_str());
  }
}

bool PlacementFile::Read(DeputyPlacementPlan* plan) const {
  return ReadPlan(ReadEntry(kPlanToken, plan_), nodes_, plan);
}

void PlacementFile::Write(const DeputyPlacementPlan& plan) const {
  WriteEntry(kPlanToken, plan_, WritePlan(plan));
}

DelegateRates PlacementFile::RatesOf(size_t delegate) const {
  if (directory_.empty()) return {};
  return ReadRates(ReadEntry(kRatesToken, delegates_[delegate]));
}

void PlacementFile::WriteRatesOf(size_t delegate, const DelegateRates& rates) const {
  if (!directory_.empty()) WriteEntry(kRatesToken, delegates_[delegate], WriteRates(rates));
}

}  // namespace deputy
