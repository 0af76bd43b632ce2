// SPDX-License-Identifier: Apache-2.0
//
// Status codes of MindSpore Lite's C++ API, with MindSpore's values. Kernels return ints (RET_OK),
// delegates and models return Status; both have the same bits.
#ifndef DEPUTY_MINDSPORE_INCLUDE_STATUS_H_
#define DEPUTY_MINDSPORE_INCLUDE_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "delegate_c.h"

namespace mindspore {

enum CompCode : uint32_t {
  kCore = 0x00000000u,
  kMD = 0x10000000u,
  kME = 0x20000000u,
  kMC = 0x30000000u,
  kLite = 0xF0000000u,
};

enum StatusCode : uint32_t {
  kSuccess = 0,
  kLiteError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-1)),
  kLiteNullptr = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-2)),
  kLiteParamInvalid = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-3)),
  kLiteNoChange = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-4)),
  kLiteSuccessExit = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-5)),
  kLiteMemoryFailed = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-6)),
  kLiteNotSupport = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-7)),
  kLiteThreadPoolError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-8)),
  kLiteUninitializedObj = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-9)),
  kLiteFileError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-10)),
  kLiteServiceDeny = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-11)),
  kLiteModelRebuild = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-12)),
  kLiteAclInitFailed = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-13)),
  kLiteOutOfTensorRange = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-100)),
  kLiteInputTensorError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-101)),
  kLiteReentrantError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-102)),
  kLiteGraphFileError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-200)),
  kLiteNotFindOp = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-300)),
  kLiteInvalidOpName = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-301)),
  kLiteInvalidOpAttr = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-302)),
  kLiteOpExecuteFailure = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-303)),
  kLiteFormatError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-400)),
  kLiteInferError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-500)),
  kLiteInferInvalid = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-501)),
  kLiteInputParamInvalid = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-600)),
  kLiteOutputParamInvalid = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-700)),
};

// A status code with a description. An int does not convert to it implicitly: in a function that
// returns Status, `return RET_OK` does not compile and `return kSuccess` does.
class Status {
 public:
  Status() = default;
  Status(enum StatusCode code, std::string description = "")  // NOLINT: implicit, as upstream
      : code_(code), description_(std::move(description)) {}
  Status(enum StatusCode code, int line, const char* file, std::string description = "")
      : code_(code),
        description_(std::move(description)),
        line_(line),
        file_(file == nullptr ? "" : file) {}

  static Status OK() { return {}; }

  enum StatusCode StatusCode() const { return code_; }
  bool IsOk() const { return code_ == kSuccess; }
  bool IsError() const { return !IsOk(); }
  int GetLineOfCode() const { return line_; }
  std::string GetFileName() const { return file_; }
  std::string GetErrDescription() const { return description_; }
  std::string SetErrDescription(const std::string& description) {
    return description_ = description;
  }
  std::string ToString() const {
    const std::string text = CodeAsString(code_);
    return description_.empty() ? text : text + ": " + description_;
  }
  static std::string CodeAsString(enum StatusCode code) {
    return DeputyMSStatusText(static_cast<MSStatus>(code));
  }

  explicit operator bool() const { return IsOk(); }
  explicit operator int() const { return static_cast<int>(code_); }
  bool operator==(const Status& other) const { return code_ == other.code_; }
  bool operator==(enum StatusCode code) const { return code_ == code; }
  bool operator!=(const Status& other) const { return code_ != other.code_; }
  bool operator!=(enum StatusCode code) const { return code_ != code; }

 private:
  enum StatusCode code_ = kSuccess;
  std::string description_;
  int line_ = -1;
  std::string file_;
};

// Status codes of a kernel's functions, which return them as ints.
namespace lite {
using STATUS = int;
constexpr int RET_OK = 0;
constexpr int RET_ERROR = -1;
constexpr int RET_NULL_PTR = -2;
constexpr int RET_PARAM_INVALID = -3;
constexpr int RET_NO_CHANGE = -4;
constexpr int RET_SUCCESS_EXIT = -5;
constexpr int RET_MEMORY_FAILED = -6;
constexpr int RET_NOT_SUPPORT = -7;
constexpr int RET_THREAD_POOL_ERROR = -8;
constexpr int RET_OUT_OF_TENSOR_RANGE = -100;
constexpr int RET_INPUT_TENSOR_ERROR = -101;
constexpr int RET_REENTRANT_ERROR = -102;
constexpr int RET_GRAPH_FILE_ERR = -200;
constexpr int RET_NOT_FIND_OP = -300;
constexpr int RET_INVALID_OP_NAME = -301;
constexpr int RET_INVALID_OP_ATTR = -302;
constexpr int RET_OP_EXECUTE_FAILURE = -303;
constexpr int RET_FORMAT_ERR = -400;
constexpr int RET_INFER_ERR = -500;
constexpr int RET_INFER_INVALID = -501;
constexpr int RET_INPUT_PARAM_INVALID = -600;
}  // namespace lite

namespace detail {
// Converts the status of a C API call, and adds its error message.
inline Status ToStatus(MSStatus status) {
  if (status == kMSStatusSuccess) return kSuccess;
  return {static_cast<StatusCode>(static_cast<uint32_t>(status)), DeputyMSLastError()};
}
}  // namespace detail

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_STATUS_H_
