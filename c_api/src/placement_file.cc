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

namespace deputy {
namespace {

constexpr const char* kToken = "placement";
constexpr int64_t kFormat = 1;
constexpr size_t kMaxAlternatives = 1000;

void IgnoreMessage(void*, const char*, va_list) {}

// Writes numbers and texts in sequence.
class PlacementWriter {
 public:
  void Add(int64_t number) {
    const auto* bytes = reinterpret_cast<const char*>(&number);
    bytes_.append(bytes, sizeof number);
  }
  void AddText(const std::string& text) {
    Add(static_cast<int64_t>(text.size()));
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

std::string WritePlan(const DeputyPlacementPlan& plan) {
  PlacementWriter writer;
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
  DeputyFingerprintInit(&fingerprint_);
  DeputyFingerprintAdd(&fingerprint_, bytes.data(), bytes.size());
  DeputyFingerprintAddText(&fingerprint_, DeputyVersion());
  DeputyFingerprintAddText(&fingerprint_, DeputyCpuTable());
  DeputyFingerprintAddText(&fingerprint_, HostProcessorName().c_str());
  for (const int64_t number :
       {int64_t{options.config.num_threads}, static_cast<int64_t>(options.config.arithmetic),
        static_cast<int64_t>(options.config.precision)}) {
    DeputyFingerprintAdd(&fingerprint_, &number, sizeof number);
  }
  for (TfLiteDelegate* const delegate : options.delegates) {
    if (!AddDelegate(delegate)) return;
  }
  directory_ = settings.cache_directory;
  nodes_ = model->impl->desc().subgraphs[0].operators.size();
}

// Adds the identity of a delegate: its plug-in, options and devices. Returns false if it has no
// plug-in with a description.
bool PlacementFile::AddDelegate(TfLiteDelegate* delegate) {
  if (delegate == nullptr) return false;
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* const plugin =
      parts.library == nullptr ? nullptr : parts.library->plugin();
  if (plugin == nullptr) return false;
  ErrorReporter reporter(&IgnoreMessage, nullptr);
  const auto add = [this](const char* text) { DeputyFingerprintAddText(&fingerprint_, text); };
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
    auto* const fingerprint = static_cast<DeputyFingerprint*>(self);
    DeputyFingerprintAddText(fingerprint, device->name);
    DeputyFingerprintAddText(fingerprint, device->driver_version);
    DeputyFingerprintAddText(fingerprint, device->platform_version);
  };
  ListPluginDevices(*parts.library, add_device, &fingerprint_, &reporter);
  return true;
}

bool PlacementFile::Read(DeputyPlacementPlan* plan) const {
  if (directory_.empty()) return false;
  const DeputySerialization store = {directory_.c_str(), kToken};
  void* blob = nullptr;
  size_t size = 0;
  if (DeputySerializationRead(&store, &fingerprint_, &blob, &size) != kTfLiteOk) return false;
  const std::unique_ptr<void, void (*)(void*)> owner(blob, &free);
  return ReadPlan({static_cast<const char*>(blob), size}, nodes_, plan);
}

void PlacementFile::Write(const DeputyPlacementPlan& plan) const {
  if (directory_.empty()) return;
  const DeputySerialization store = {directory_.c_str(), kToken};
  const std::string bytes = WritePlan(plan);
  if (DeputySerializationWrite(&store, &fingerprint_, bytes.data(), bytes.size()) != kTfLiteOk) {
    ErrorReporter().Report("the placement plan cannot be stored in '%s'", directory_.c_str());
  }
}

}  // namespace deputy
