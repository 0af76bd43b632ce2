// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4), for the names and checksums of files in the program cache.
#ifndef DEPUTY_GPU_CL_DEVICE_SHA256_H_
#define DEPUTY_GPU_CL_DEVICE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deputy::gpu_cl {

using Digest = std::array<uint8_t, 32>;

// Incremental digest of bytes passed in pieces of any size. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  void Update(const void* bytes, size_t size);
  // Returns the digest of all bytes so far. No other call may follow.
  Digest Finish();

 private:
  void Block(const uint8_t* block);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_;
  uint64_t size_ = 0;  // bytes added so far
};

Digest Sha256Of(std::string_view bytes);
// Formats a digest as 64 lower-case hexadecimal digits.
std::string Hex(const Digest& digest);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_SHA256_H_
