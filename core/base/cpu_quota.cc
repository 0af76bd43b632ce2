// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpu_quota.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/small_file.h"

namespace deputy {
namespace {

constexpr size_t kMaxPath = 1024;
constexpr size_t kMaxGroups = 4096;

// Returns the number of processors, rounded up, whose time is `quota` per `period` microseconds;
// INT_MAX without a limit.
int InProcessors(long quota, long period) {
  if (quota <= 0 || period <= 0) return INT_MAX;
  return static_cast<int>(std::clamp((quota - 1) / period + 1, 1L, long{INT_MAX}));
}

// Reads the quota of one group, whose directory is `directory`, in the form of version 2: "max
// 100000" or "150000 100000".
int QuotaOfVersion2(const char* directory) {
  char path[kMaxPath + 32], text[64];
  std::snprintf(path, sizeof path, "%s/cpu.max", directory);
  if (!ReadSmallFile(path, text)) return INT_MAX;
  char* end = nullptr;
  const long quota = std::strtol(text, &end, 10);
  if (end == text) return INT_MAX;
  return InProcessors(quota, std::strtol(end, nullptr, 10));
}

// Reads the quota of one group in the form of version 1: -1 or microseconds, and the period.
int QuotaOfVersion1(const char* directory) {
  char path[kMaxPath + 32], quota[64], period[64];
  std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
  if (!ReadSmallFile(path, quota)) return INT_MAX;
  std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
  if (!ReadSmallFile(path, period)) return INT_MAX;
  return InProcessors(std::strtol(quota, nullptr, 10), std::strtol(period, nullptr, 10));
}

// Returns the smallest quota of the group `group` and its ancestors below `mount`. In a container
// the path can be that of the host, where the container's own group is the mount itself:
// directories that do not exist are skipped.
int SmallestQuota(const char* mount, const char* group, int (*quota_of)(const char* directory)) {
  char directory[kMaxPath];
  const int length = std::snprintf(directory, sizeof directory, "%s%s", mount, group);
  if (length < 0 || static_cast<size_t>(length) >= sizeof directory) return quota_of(mount);
  const size_t mount_length = std::strlen(mount);
  int smallest = quota_of(directory);
  while (char* const slash = std::strrchr(directory + mount_length, '/')) {
    *slash = '\0';
    smallest = std::min(smallest, quota_of(directory));
  }
  return smallest;
}

// Returns true if `name` is one of the controllers in a list like "cpu,cpuacct".
bool HasController(const char* list, const char* name) {
  const size_t length = std::strlen(name);
  for (const char* at = list; at != nullptr; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (std::strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
      return true;
  }
  return false;
}

// Returns the quota of a line "NUMBER:CONTROLLERS:PATH" of /proc/self/cgroup. Version 2 has the
// number 0 and no controllers.
int QuotaOfLine(const char* root, char* line) {
  char* const controllers = std::strchr(line, ':');
  if (controllers == nullptr) return INT_MAX;
  char* const group = std::strchr(controllers + 1, ':');
  if (group == nullptr) return INT_MAX;
  *controllers = *group = '\0';
  char mount[kMaxPath];
  if (controllers[1] == '\0') {
    std::snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
    return SmallestQuota(mount, group + 1, &QuotaOfVersion2);
  }
  if (!HasController(controllers + 1, "cpu")) return INT_MAX;
  std::snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, controllers + 1);
  return SmallestQuota(mount, group + 1, &QuotaOfVersion1);
}

}  // namespace

int QuotaOfProcessors(const char* root) {
  char path[kMaxPath], groups[kMaxGroups];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  if (!ReadSmallFile(path, groups)) return INT_MAX;
  int quota = INT_MAX;
  char* rest = nullptr;
  for (char* line = strtok_r(groups, "\n", &rest); line != nullptr;
       line = strtok_r(nullptr, "\n", &rest)) {
    quota = std::min(quota, QuotaOfLine(root, line));
  }
  return quota;
}

}  // namespace deputy
