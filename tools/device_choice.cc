// SPDX-License-Identifier: Apache-2.0
#include "device_choice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/support/option_list.h"
#include "deputy/deputy_devices.h"
#include "text.h"

namespace deputy::tools {
namespace {

using DeviceList = std::unique_ptr<DeputyDeviceList, void (*)(DeputyDeviceList*)>;

DeputyDevicePolicy PolicyNamed(const std::string& name) {
  const auto& names = DevicePolicyNames();
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return static_cast<DeputyDevicePolicy>(at);
}

// Returns the types of devices that the policy chooses, the best first.
std::vector<std::string> OrderOf(DeputyDevicePolicy policy) {
  std::vector<DeputyDeviceInfo> types;
  for (const char* const type : {"discrete GPU", "integrated GPU", "NPU", "accelerator"}) {
    DeputyDeviceInfo info = {};
    info.struct_size = sizeof info;
    info.usable = 1;
    info.type = type;
    types.push_back(info);
  }
  std::vector<std::string> order;
  while (true) {
    std::vector<const DeputyDeviceInfo*> left;
    for (const DeputyDeviceInfo& info : types) {
      if (info.usable != 0) left.push_back(&info);
    }
    int64_t index = -1;
    DeputyChooseDevice(policy, left.data(), left.size(), &index);
    if (index < 0) return order;
    const char* const type = left[static_cast<size_t>(index)]->type;
    order.emplace_back(type);
    for (DeputyDeviceInfo& info : types) {
      if (info.type == type) info.usable = 0;
    }
  }
}

// Returns the reason why a device was or was not chosen.
std::string ReasonOf(DeputyDevicePolicy policy, const DeputyDeviceInfo& device, bool is_chosen) {
  if (is_chosen) return "the best of the usable devices";
  if (device.usable == 0) return "not usable";
  const DeputyDeviceInfo* const alone[] = {&device};
  int64_t index = -1;
  DeputyChooseDevice(policy, alone, 1, &index);
  return index == 0 ? "ranks lower" : "the policy prefers the CPU";
}

void AddEntry(const DeputyDeviceList* list, size_t index, DeputyDevicePolicy policy, bool is_chosen,
              Json* report) {
  DeputyDeviceEntry entry = {};
  entry.struct_size = sizeof entry;
  DeputyDeviceListGetEntry(list, index, &entry);
  const DeputyDeviceInfo* const device = DeputyDeviceListGetDevices(list)[index];
  if (device == nullptr) {
    (*report)["without"].push_back({{"plugin", entry.name}, {"problem", entry.problem}});
    return;
  }
  Json row = {{"plugin", entry.name},      {"path", entry.path},   {"index", device->index},
              {"name", device->name},      {"type", device->type}, {"usable", device->usable != 0},
              {"options", device->options}};
  row["reason"] = ReasonOf(policy, *device, is_chosen);
  if (is_chosen) (*report)["chosen"] = row;
  (*report)["devices"].push_back(std::move(row));
}

DelegateRequest RequestFor(const Json& device) {
  DelegateRequest request = {kChosenDevice, device["path"].get<std::string>()};
  for (const std::string& option : SplitOptions(device["options"].get<std::string>())) {
    request.options.push_back(SplitOption(option));
  }
  return request;
}

std::string DeviceText(const Json& device) {
  return OneLine(device["plugin"].get<std::string>()) + " [" + JsonText(device["index"]) + "] " +
         OneLine(device["name"].get<std::string>()) + " (" +
         OneLine(device["type"].get<std::string>()) + ")";
}

std::string ChoiceText(const Json& choice) {
  const Json& chosen = choice["chosen"];
  return "policy " + choice["policy"].get<std::string>() + ": " +
         (chosen.is_null() ? "the CPU, because no usable device is preferred to it"
                           : DeviceText(chosen));
}

std::string OrderText(const Json& order) {
  std::string text;
  for (const Json& type : order) text += type.get<std::string>() + ", ";
  return text + "CPU";
}

}  // namespace

const std::vector<std::string>& DevicePolicyNames() {
  static const std::vector<std::string> names = {"performance", "efficiency", "latency",
                                                 "prefer-npu", "prefer-gpu"};
  return names;
}

Json ChooseDevice(const std::string& policy, std::vector<DelegateRequest>* requests) {
  if (policy.empty()) return nullptr;
  if (!requests->empty()) {
    FailUsage("--device-policy chooses the delegate; it excludes %s",
              FlagOf(requests->front()).c_str());
  }
  // With this variable, a library that ends the process while it is loaded is left out.
  setenv("DEPUTY_PLUGIN_PROBE", "1", /*replace=*/0);
  const DeviceList list(DeputyDeviceListCreate(PluginSearchPath().c_str()),
                        &DeputyDeviceListDelete);
  const size_t count = DeputyDeviceListGetCount(list.get());
  const DeputyDevicePolicy number = PolicyNamed(policy);
  int64_t chosen = -1;
  DeputyChooseDevice(number, DeputyDeviceListGetDevices(list.get()), count, &chosen);
  Json choice = {{"policy", policy},
                 {"order", OrderOf(number)},
                 {"chosen", nullptr},
                 {"devices", Json::array()},
                 {"without", Json::array()}};
  for (size_t i = 0; i < count; ++i) {
    AddEntry(list.get(), i, number, static_cast<int64_t>(i) == chosen, &choice);
  }
  if (chosen >= 0) requests->push_back(RequestFor(choice["chosen"]));
  return choice;
}

void WarnOfChoice(const Json& choice) {
  if (!choice.is_null()) std::fprintf(stderr, "deputy: device %s\n", ChoiceText(choice).c_str());
}

void PrintChoice(const Json& report) {
  if (report.is_null()) return;
  PrintWrapped("device     ", ChoiceText(report));
  PrintWrapped("           ", "order: " + OrderText(report["order"]));
  for (const Json& device : report["devices"]) {
    PrintWrapped("           ",
                 DeviceText(device) + ": " + OneLine(device["reason"].get<std::string>()));
  }
  for (const Json& plugin : report["without"]) {
    PrintWrapped("           ", OneLine(plugin["plugin"].get<std::string>()) +
                                    ": none: " + OneLine(plugin["problem"].get<std::string>()));
  }
}

}  // namespace deputy::tools
