// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/run/source_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "gpu_cl/device/sha256.h"

namespace deputy::gpu_cl {

std::string WriteSource(const std::string& folder, const std::string& source) {
  constexpr size_t kDigits = 16;
  const std::string path = folder + "/" + Hex(Sha256Of(source)).substr(0, kDigits) + ".cl";
  std::ofstream file(path, std::ios::binary);
  file << source;
  file.close();
  return file ? "" : "source_dir: " + path + ": " + std::strerror(errno);
}

}  // namespace deputy::gpu_cl
