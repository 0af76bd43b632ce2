// SPDX-License-Identifier: Apache-2.0
//
// 128-bit hash to distinguish contents within a process. It is much faster than SHA-256, and keyed
// with a random number of the process, so that collisions cannot be constructed.
#ifndef DEPUTY_GPU_CL_RUN_FINGERPRINT_H_
#define DEPUTY_GPU_CL_RUN_FINGERPRINT_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace deputy::gpu_cl {

class Fingerprint {
 public:
  Fingerprint();

  void Add(const void* data, size_t bytes);
  void Add(uint64_t number) { Add(&number, sizeof number); }

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;

 private:
  std::array<uint64_t, 2> lanes_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_FINGERPRINT_H_
