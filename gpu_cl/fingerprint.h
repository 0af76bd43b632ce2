// SPDX-License-Identifier: Apache-2.0
//
// A number for many bytes, to tell contents apart within a process: much faster than SHA-256, and
// with a key of the process's own, so that a model cannot be made to look like another.
#ifndef DEPUTY_GPU_CL_FINGERPRINT_H_
#define DEPUTY_GPU_CL_FINGERPRINT_H_

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

#endif  // DEPUTY_GPU_CL_FINGERPRINT_H_
