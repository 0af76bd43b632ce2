// SPDX-License-Identifier: Apache-2.0
#include "device_work.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "delegate_option.h"
#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

// Items of work with the same name and kernel, or of the same node.
struct Group {
  std::string name, kernel;
  int node = -1;
  size_t count = 0;
  int64_t nanoseconds = 0;
};

template <typename Key>
std::vector<Group> GroupsBy(const std::vector<DeviceWork>& work, const Key& key) {
  std::map<decltype(key(work[0])), Group> groups;
  for (const DeviceWork& piece : work) {
    Group& group = groups[key(piece)];
    group.name = piece.name;
    group.kernel = piece.kernel;
    group.node = piece.node;
    ++group.count;
    group.nanoseconds += piece.duration_ns;
  }
  std::vector<Group> sorted;
  sorted.reserve(groups.size());
  for (auto& [unused, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Group& a, const Group& b) { return a.nanoseconds > b.nanoseconds; });
  return sorted;
}

std::vector<Group> ByKernel(const std::vector<DeviceWork>& work) {
  return GroupsBy(work, [](const DeviceWork& piece) {
    return std::make_tuple(piece.delegate, piece.name, piece.kernel);
  });
}

// Groups the work by node. Work that belongs to no particular node is omitted.
std::vector<Group> ByNode(const std::vector<DeviceWork>& work) {
  std::vector<Group> groups = GroupsBy(work, [](const DeviceWork& piece) {
    return std::make_tuple(piece.delegate, piece.node, piece.name);
  });
  std::erase_if(groups, [](const Group& group) { return group.node < 0; });
  return groups;
}

double MsPerInference(const Group& group, size_t inferences) {
  return static_cast<double>(group.nanoseconds) / 1e6 /
         static_cast<double>(std::max<size_t>(1, inferences));
}

std::string CountText(const Group& group, size_t inferences) {
  return Format("%.4g", static_cast<double>(group.count) /
                            static_cast<double>(std::max<size_t>(1, inferences)));
}

}  // namespace

std::vector<DeviceWork> TakeDeviceWork(const std::vector<TfLiteDelegate*>& delegates) {
  const QuietReports quiet;
  std::vector<DeviceWork> work;
  const auto add = [](void* data, const DeputyDeviceEvent* event) {
    if (event->struct_size < sizeof *event) return;
    static_cast<std::vector<DeviceWork>*>(data)->push_back(
        {0, event->node, event->name, event->kernel, event->begin_ns, event->duration_ns});
  };
  for (size_t i = 0; i < delegates.size(); ++i) {
    if (delegates[i] == nullptr) continue;
    const size_t before = work.size();
    (void)DeputyPluginTakeEvents(delegates[i], add, &work);
    for (size_t n = before; n < work.size(); ++n) work[n].delegate = i;
  }
  return work;
}

void PrintDeviceWork(const std::vector<DeviceWork>& work, size_t inferences, size_t limit) {
  double total = 0;
  for (const DeviceWork& piece : work) total += static_cast<double>(piece.duration_ns);
  const auto share = [&](const Group& group) {
    const auto part = static_cast<double>(group.nanoseconds);
    return Format("%.1f %%", total > 0 ? 100 * part / total : 0.0);
  };
  Table kernels("<<>>>", {"on the device", "kernel", "times", "ms", "share"});
  for (const Group& group : ByKernel(work)) {
    kernels.Add({Shorten(group.name, 32), Shorten(group.kernel, 20), CountText(group, inferences),
                 Format("%.4f", MsPerInference(group, inferences)), share(group)});
  }
  kernels.Print();
  if (limit == 0) return;
  std::printf("\n");
  Table nodes("><<>>", {"node", "on the device", "kernel", "ms", "share"});
  const std::vector<Group> groups = ByNode(work);
  for (size_t i = 0; i < std::min(limit, groups.size()); ++i) {
    const Group& group = groups[i];
    nodes.Add({std::to_string(group.node), Shorten(group.name, 32), Shorten(group.kernel, 20),
               Format("%.4f", MsPerInference(group, inferences)), share(group)});
  }
  nodes.Print();
  if (groups.size() > limit) std::printf("and %zu cheaper ones\n", groups.size() - limit);
}

Json DeviceWorkJson(const std::vector<DeviceWork>& work, size_t inferences) {
  Json kernels = Json::array(), nodes = Json::array();
  for (const Group& group : ByKernel(work)) {
    kernels.push_back({{"name", group.name},
                       {"kernel", group.kernel},
                       {"count", group.count},
                       {"ms", MsPerInference(group, inferences)}});
  }
  for (const Group& group : ByNode(work)) {
    nodes.push_back({{"node", group.node},
                     {"name", group.name},
                     {"kernel", group.kernel},
                     {"ms", MsPerInference(group, inferences)}});
  }
  return {{"kernels", kernels}, {"nodes", nodes}};
}

}  // namespace deputy::tools
