// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/shared_block.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bridges/nnapi/library.h"

namespace deputy::nnapi {

SharedBlock::~SharedBlock() { Free(); }

std::string SharedBlock::Create(const Functions& functions, size_t bytes) {
  Free();
  functions_ = &functions;
  if (bytes == 0) return "";
  file_ = memfd_create("deputy_nnapi", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
    return std::string("shared memory: ") + strerror(errno);
  }
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (data == MAP_FAILED) return std::string("shared memory: ") + strerror(errno);
  data_ = static_cast<char*>(data);
  bytes_ = bytes;
  return ErrorText("Memory_createFromFd", functions.Memory_createFromFd(
                                              bytes, PROT_READ | PROT_WRITE, file_, 0, &memory_));
}

void SharedBlock::Free() {
  if (memory_ != nullptr) functions_->Memory_free(memory_);
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
  memory_ = nullptr;
  data_ = nullptr;
  file_ = -1;
}

}  // namespace deputy::nnapi
