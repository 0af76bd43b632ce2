// SPDX-License-Identifier: Apache-2.0
//
// See trace.h. One process; the host is its first thread, each delegate's device one more.
#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr int kProcess = 1, kHost = 1, kFirstDevice = 2;

Json NameJson(const char* what, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

// Times in microseconds since `start_ns`.
Json PieceJson(int thread, const std::string& name, int64_t start_ns, int64_t begin_ns,
               int64_t duration_ns, Json arguments) {
  return {{"ph", "X"},
          {"pid", kProcess},
          {"tid", thread},
          {"name", name},
          {"ts", static_cast<double>(begin_ns - start_ns) / 1e3},
          {"dur", static_cast<double>(duration_ns) / 1e3},
          {"args", std::move(arguments)}};
}

Json TraceJson(const Profile& profile, const std::vector<DeviceWork>& work) {
  const std::vector<Profile::Event>& events = profile.events();
  int64_t start_ns = INT64_MAX;
  for (const Profile::Event& event : events) start_ns = std::min(start_ns, event.begin_ns);
  for (const DeviceWork& piece : work) start_ns = std::min(start_ns, piece.begin_ns);
  Json list = Json::array();
  list.push_back(NameJson("process_name", kHost, "deputy"));
  list.push_back(NameJson("thread_name", kHost, "host"));
  std::set<size_t> devices;
  for (const DeviceWork& piece : work) devices.insert(piece.delegate);
  for (const size_t device : devices) {
    list.push_back(NameJson("thread_name", kFirstDevice + static_cast<int>(device),
                            Format("device of delegate %zu", device)));
  }
  for (const Profile::Event& event : events) {
    list.push_back(PieceJson(
        kHost, profile.NameOf(event), start_ns, event.begin_ns, event.duration_ns,
        {{"subgraph", event.subgraph}, {"node", event.node}, {"owner", profile.OwnerOf(event)}}));
  }
  for (const DeviceWork& piece : work) {
    list.push_back(PieceJson(kFirstDevice + static_cast<int>(piece.delegate), piece.name, start_ns,
                             piece.begin_ns, piece.duration_ns,
                             {{"node", piece.node}, {"kernel", piece.kernel}}));
  }
  return {{"traceEvents", list}, {"displayTimeUnit", "ms"}};
}

}  // namespace

void WriteTrace(const std::string& path, const Profile& profile,
                const std::vector<DeviceWork>& work) {
  const std::string text = JsonText(TraceJson(profile, work));
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) FailUsage("--trace %s: %s", path.c_str(), std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written || std::fflush(file.get()) != 0) {
    FailWork("--trace %s: %s", path.c_str(), std::strerror(errno));
  }
}

}  // namespace deputy::tools
