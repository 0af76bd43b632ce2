// SPDX-License-Identifier: Apache-2.0
#include "litert/src/plugin_files.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace deputy::litert {

std::string TextOf(const LiteRtApiVersion& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::vector<std::string> FindPlugins(const std::string& folder, std::string_view prefix) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator file(folder, error), end; file != end && !error;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".so")) found.push_back(file->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool CopyReadable(const void* address, size_t size, std::vector<uint8_t>* out_bytes) {
  constexpr size_t kStep = size_t{16} << 20;  // limits the memory that a wrong size allocates
  out_bytes->clear();
  if (address == nullptr && size > 0) return false;
  for (size_t done = 0; done < size;) {
    const size_t step = std::min(kStep, size - done);
    const auto* const from = static_cast<const uint8_t*>(address) + done;
    out_bytes->resize(done + step);
    const iovec target = {.iov_base = out_bytes->data() + done, .iov_len = step};
    const iovec source = {.iov_base = const_cast<uint8_t*>(from), .iov_len = step};
    const ssize_t copied = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
    if (copied > 0) {
      done += static_cast<size_t>(copied);
      continue;
    }
    // Containers may forbid the system call; the memory is trusted then.
    if (copied == 0 || errno == EFAULT) return false;
    std::memcpy(target.iov_base, from, step);
    done += step;
  }
  return true;
}

bool CopyText(const char* text, std::string* out_text) {
  constexpr size_t kMaxBytes = 4096;
  constexpr size_t kStep = 256;  // divides the size of a page
  out_text->clear();
  std::vector<uint8_t> bytes;
  for (size_t done = 0; done < kMaxBytes; done += bytes.size()) {
    // A step does not cross the end of a page, after which memory may be absent.
    const size_t step = kStep - reinterpret_cast<uintptr_t>(text + done) % kStep;
    if (!CopyReadable(text + done, step, &bytes)) return false;
    const auto end = std::find(bytes.begin(), bytes.end(), 0);
    out_text->append(bytes.begin(), end);
    if (end != bytes.end()) return true;
  }
  return false;
}

bool IsMapped(const void* address, size_t size) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (address == nullptr || begin + size < begin) return false;
  const size_t before = begin % page;
  char* const first = static_cast<char*>(const_cast<void*>(address)) - before;
  // An asynchronous msync has no effect, and fails for addresses that are not mapped.
  return msync(first, before + size, MS_ASYNC) == 0 || errno != ENOMEM;
}

CodeRanges::CodeRanges() {
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    unsigned long long first = 0, end = 0;
    std::array<char, 5> access = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &first, &end, access.data()) == 3 &&
        access[2] == 'x') {
      ranges_.emplace_back(first, end);
    }
  }
}

bool CodeRanges::Contains(const void* address) const {
  const auto position = reinterpret_cast<uintptr_t>(address);
  return ranges_.empty() || std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& range) {
           return range.first <= position && position < range.second;
         });
}

}  // namespace deputy::litert
