// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/shared_inputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#ifndef F_SEAL_FUTURE_WRITE  // headers before Linux 5.1
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace deputy::sandbox {

std::shared_ptr<SharedInputs> SharedInputs::Create(int64_t max_bytes) {
  if (max_bytes <= 0) return nullptr;
  Fd fd(memfd_create("deputy-inputs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return nullptr;
  // F_SEAL_FUTURE_WRITE does not affect earlier mappings, so this one stays writable.
  void* const mapped = mmap(nullptr, static_cast<size_t>(max_bytes), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  const bool is_sealed = fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
  std::shared_ptr<SharedInputs> inputs(
      new SharedInputs(std::move(fd), static_cast<char*>(mapped), max_bytes));
  return is_sealed ? inputs : nullptr;
}

SharedInputs::~SharedInputs() { munmap(memory_, static_cast<size_t>(max_bytes_)); }

bool SharedInputs::SetSize(int64_t bytes) {
  return bytes <= max_bytes_ && ftruncate(fd_.get(), bytes) == 0 &&
         fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

}  // namespace deputy::sandbox
