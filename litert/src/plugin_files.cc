// SPDX-License-Identifier: Apache-2.0
#include "litert/src/plugin_files.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
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

}  // namespace deputy::litert
