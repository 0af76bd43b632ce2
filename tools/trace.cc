// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace: one process with one lane per executing unit. The units are the host's thread,
// which runs the CPU's nodes; the other threads of the pool, which run parts of them; each
// delegate, for its nodes; and each delegate's device. Trace viewers call lanes threads.
#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr int kProcess = 1;

// Kinds of lanes, in display order.
enum class Lane { kHost, kThread, kDelegate, kDevice };

// Identifies a lane: its kind, and its index among the lanes of that kind.
using LaneKey = std::pair<Lane, size_t>;

struct Piece {
  LaneKey lane;
  std::string name;
  int64_t begin_ns, duration_ns;
  Json arguments;
};

std::string LaneName(const LaneKey& lane, const std::string& delegate) {
  switch (lane.first) {
    case Lane::kHost:
      return "host";
    case Lane::kThread:
      return Format("thread %zu", lane.second);
    case Lane::kDelegate:
      return Format("delegate %zu: %s", lane.second, delegate.c_str());
    case Lane::kDevice:
      return Format("device of delegate %zu", lane.second);
  }
  return "";
}

class Trace {
 public:
  Trace(const Profile& profile, const std::vector<TfLiteDelegate*>& delegates)
      : profile_(profile), delegates_(delegates) {}

  void AddNodes() {
    for (const Profile::Event& event : profile_.events()) {
      pieces_.push_back({LaneOf(event), profile_.NameOf(event), event.begin_ns, event.duration_ns,
                         Json{{"subgraph", event.subgraph},
                              {"node", event.node},
                              {"owner", profile_.OwnerOf(event)}}});
    }
  }

  // Adds the operators that delegates have reported, which lie within the delegates' nodes.
  // Operators of a delegate with events of its device are in the lane of the device.
  void AddReported(const std::vector<DeviceWork>& work) {
    for (const auto& [event, name] : profile_.reported()) {
      const LaneKey lane = LaneOf(event);
      const auto is_same = [&](const DeviceWork& piece) { return piece.delegate == lane.second; };
      if (std::any_of(work.begin(), work.end(), is_same)) continue;
      pieces_.push_back({lane, name.empty() ? profile_.NameOf(event) : name, event.begin_ns,
                         event.duration_ns,
                         Json{{"subgraph", event.subgraph}, {"node", event.node}}});
    }
  }

  // Adds the parts of nodes by thread. The host thread's parts lie within its nodes and are
  // redundant if no other thread ran a part.
  void AddThreads() {
    const auto& events = profile_.worker_events();
    const auto helped = [](const Profile::WorkerEvent& event) { return event.worker > 0; };
    if (std::none_of(events.begin(), events.end(), helped)) return;
    for (const Profile::WorkerEvent& event : events) {
      const auto worker = static_cast<size_t>(event.worker);
      const LaneKey lane = worker == 0 ? LaneOf(event.part) : LaneKey(Lane::kThread, worker);
      pieces_.push_back({lane, worker == 0 ? "own part" : profile_.NameOf(event.part),
                         event.part.begin_ns, event.part.duration_ns,
                         Json{{"subgraph", event.part.subgraph},
                              {"node", event.part.node},
                              {"tiles", event.tiles}}});
    }
  }

  void AddDevices(const std::vector<DeviceWork>& work) {
    for (const DeviceWork& piece : work) {
      pieces_.push_back({{Lane::kDevice, piece.delegate},
                         piece.name,
                         piece.begin_ns,
                         piece.duration_ns,
                         Json{{"node", piece.node}, {"kernel", piece.kernel}}});
    }
  }

  // Returns the trace. Times are in microseconds since the start of the first piece.
  Json ToJson() const {
    int64_t start_ns = INT64_MAX;
    std::map<LaneKey, int> numbers;
    for (const Piece& piece : pieces_) {
      start_ns = std::min(start_ns, piece.begin_ns);
      numbers[piece.lane];
    }
    Json list = Json::array();
    list.push_back(NameJson("process_name", 1, "deputy"));
    int last = 0;
    for (auto& [lane, number] : numbers) {
      number = ++last;
      const auto owner = owners_.find(lane.second);
      list.push_back(NameJson("thread_name", number,
                              LaneName(lane, owner == owners_.end() ? "" : owner->second)));
      list.push_back({{"ph", "M"},
                      {"pid", kProcess},
                      {"tid", number},
                      {"name", "thread_sort_index"},
                      {"args", Json{{"sort_index", number}}}});
    }
    for (const Piece& piece : pieces_) {
      list.push_back({{"ph", "X"},
                      {"pid", kProcess},
                      {"tid", numbers.at(piece.lane)},
                      {"name", piece.name},
                      {"ts", static_cast<double>(piece.begin_ns - start_ns) / 1e3},
                      {"dur", static_cast<double>(piece.duration_ns) / 1e3},
                      {"args", piece.arguments}});
    }
    return {{"traceEvents", list}, {"displayTimeUnit", "ms"}};
  }

 private:
  // Returns the host's lane, or that of the delegate that owns the node.
  LaneKey LaneOf(const Profile::Event& event) {
    const TfLiteDelegate* delegate = profile_.DelegateOf(event);
    if (delegate == nullptr) return {Lane::kHost, 0};
    const auto found = std::find(delegates_.begin(), delegates_.end(), delegate);
    const auto number = static_cast<size_t>(found - delegates_.begin());
    owners_.emplace(number, profile_.OwnerOf(event));
    return {Lane::kDelegate, number};
  }

  static Json NameJson(const char* what, int lane, const std::string& name) {
    return {{"ph", "M"},
            {"pid", kProcess},
            {"tid", lane},
            {"name", what},
            {"args", Json{{"name", name}}}};
  }

  const Profile& profile_;
  const std::vector<TfLiteDelegate*>& delegates_;
  std::map<size_t, std::string> owners_;  // name of the kernel of each delegate
  std::vector<Piece> pieces_;
};

}  // namespace

void WriteTrace(const std::string& path, const Profile& profile,
                const std::vector<TfLiteDelegate*>& delegates,
                const std::vector<DeviceWork>& work) {
  Trace trace(profile, delegates);
  trace.AddNodes();
  trace.AddReported(work);
  trace.AddThreads();
  trace.AddDevices(work);
  const std::string text = JsonText(trace.ToJson());
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) FailUsage("--trace %s: %s", path.c_str(), std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written || std::fflush(file.get()) != 0) {
    FailWork("--trace %s: %s", path.c_str(), std::strerror(errno));
  }
}

}  // namespace deputy::tools
