// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims the nodes of its option "nodes" ("1 2") as one partition, computes
// nothing, and reports the events of its option "events" after each run: "1 100 20 conv;-1 120 5
// NULL" is one of node 1, which began at 100 ns and took 20 ns, and one of the partition, without a
// name. "flags" are its TfLiteDelegateFlags. "mode" makes it misbehave after these events:
//
//     error       node_events returns kTfLiteError
//     throw       it throws an exception
//     null        it reports a NULL event
//     small       it reports an event whose struct_size is one byte too small
//     maximum     it reports 65534 events more, with two in "events" as many as the runtime accepts
//     excess      it reports 65535 events more
//     overlap     it returns an error if another thread is in node_events of the same delegate
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

struct Delegate {
  TfLiteDelegate base{};
  std::vector<int> nodes = {0};  // laid out as a TfLiteIntArray
  std::string events, mode;
  std::atomic<int> calls = 0;  // number of running calls of node_events
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration{};
  registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  registration.custom_name = "Reporting";
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, reinterpret_cast<const TfLiteIntArray*>(Of(delegate).nodes.data()),
      delegate);
}

void Set(const std::string& key, const std::string& value, Delegate* delegate) {
  if (key == "flags") delegate->base.flags = std::atoi(value.c_str());
  if (key == "events") delegate->events = value;
  if (key == "mode") delegate->mode = value;
  if (key != "nodes") return;
  std::istringstream list(value);
  for (int node = 0; list >> node;) delegate->nodes.push_back(node);
  delegate->nodes[0] = static_cast<int>(delegate->nodes.size()) - 1;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &Apply;
  for (size_t i = 0; i < count; ++i) Set(keys[i], values[i], delegate);
  return &delegate->base;
}

void Destroy(TfLiteDelegate* delegate) { delete &Of(delegate); }

DeputyNodeEvent Parse(const std::string& text, std::string* out_name) {
  std::istringstream fields(text);
  DeputyNodeEvent event{};
  event.struct_size = sizeof event;
  fields >> event.node >> event.begin_ns >> event.duration_ns >> std::ws;
  std::getline(fields, *out_name);
  event.name = *out_name == "NULL" ? nullptr : out_name->c_str();
  return event;
}

TfLiteStatus Misbehave(const std::string& mode, DeputyNodeEventCallback callback, void* user_data) {
  DeputyNodeEvent event{};
  event.struct_size = sizeof event - (mode == "small" ? 1 : 0);
  event.node = -1;
  if (mode == "throw") throw std::runtime_error("of node_events");
  if (mode == "small") callback(user_data, &event);
  if (mode == "null") callback(user_data, nullptr);
  // Number of further events: with the two of the option, as many as the runtime accepts, or one
  // more.
  const int more = mode == "maximum" ? 65534 : mode == "excess" ? 65535 : 0;
  for (int i = 0; i < more; ++i) callback(user_data, &event);
  return mode == "error" ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus NodeEvents(TfLiteDelegate* base, TfLiteContext*, TfLiteNode* node,
                        DeputyNodeEventCallback callback, void* user_data) {
  Delegate& delegate = Of(base);
  if (node->delegate != base) return kTfLiteError;
  const bool overlaps = delegate.calls.fetch_add(1) != 0;
  if (delegate.mode == "overlap") std::this_thread::sleep_for(std::chrono::microseconds(50));
  std::istringstream list(delegate.events);
  for (std::string text; std::getline(list, text, ';');) {
    std::string name;
    const DeputyNodeEvent event = Parse(text, &name);
    callback(user_data, &event);
  }
  delegate.calls.fetch_sub(1);
  if (delegate.mode == "overlap") return overlaps ? kTfLiteError : kTfLiteOk;
  return Misbehave(delegate.mode, callback, user_data);
}

const DeputyDelegatePlugin* Describe() {
  static const std::vector<DeputyPluginOption> kOptions = {
      {"nodes", kDeputyOptionString, 0, "", "Taken."},
      {"flags", kDeputyOptionInt, 0, "0", "TfLiteDelegateFlags."},
      {"events", kDeputyOptionString, 0, "", "Reported."},
      {"mode", kDeputyOptionString, 0, "", "Mistake."}};
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("reporter", "1", "Deputy");
    plugin.options = kOptions.data();
    plugin.option_count = kOptions.size();
    plugin.create = &Create;
    plugin.destroy = &Destroy;
    plugin.node_events = &NodeEvents;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
