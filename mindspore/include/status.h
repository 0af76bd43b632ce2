// SPDX-License-Identifier: Apache-2.0
//
// Status codes of MindSpore Lite's C++ API, with MindSpore's values. Kernels return ints (RET_OK),
// delegates and models return Status; both have the same bits.
#ifndef DEPUTY_MINDSPORE_INCLUDE_STATUS_H_
#define DEPUTY_MINDSPORE_INCLUDE_STATUS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "delegate_c.h"
#include "dual_abi_helper.h"  // IWYU pragma: export
#include "errorcode.h"        // IWYU pragma: export
#include "visible.h"          // IWYU pragma: export

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

  // Codes of MindSpore's other components, which Deputy does not return.
  kCoreFailed = kCore | 1u,
  kMDOutOfMemory = kMD | 1u,
  kMDShapeMisMatch = kMD | 2u,
  kMDInterrupted = kMD | 3u,
  kMDNoSpace = kMD | 4u,
  kMDPyFuncException = kMD | 5u,
  kMDDuplicateKey = kMD | 6u,
  kMDPythonInterpreterFailure = kMD | 7u,
  kMDTDTPushFailure = kMD | 8u,
  kMDFileNotExist = kMD | 9u,
  kMDProfilingError = kMD | 10u,
  kMDBoundingBoxOutOfBounds = kMD | 11u,
  kMDBoundingBoxInvalidShape = kMD | 12u,
  kMDSyntaxError = kMD | 13u,
  kMDTimeOut = kMD | 14u,
  kMDBuddySpaceFull = kMD | 15u,
  kMDNetWorkError = kMD | 16u,
  kMDNotImplementedYet = kMD | 17u,
  kMDUnexpectedError = kMD | 127u,
  kMEFailed = kME | 1u,
  kMEInvalidInput = kME | 2u,
  kMCFailed = kMC | 1u,
  kMCDeviceError = kMC | 2u,
  kMCInvalidInput = kMC | 3u,
  kMCInvalidArgs = kMC | 4u,

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
  // Codes of the engine for language models, which Deputy does not have.
  kLiteLLMWaitProcessTimeOut = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-103)),
  kLiteLLMKVCacheNotExist = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-104)),
  kLiteLLMRepeatRequest = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-105)),
  kLiteLLMRequestAlreadyCompleted = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-106)),
  kLiteLLMEngineFinalized = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-107)),
  kLiteLLMNotYetLink = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-108)),
  kLiteLLMAlreadyLink = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-109)),
  kLiteLLMLinkFailed = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-110)),
  kLiteLLMUnlinkFailed = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-111)),
  kLiteLLMNofiryPromptUnlinkFailed = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-112)),
  kLiteLLMClusterNumExceedLimit = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-113)),
  kLiteLLMProcessingLink = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-114)),
  kLiteLLMOutOfMemory = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-115)),
  kLiteLLMPrefixAlreadyExist = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-116)),
  kLiteLLMPrefixNotExist = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-117)),
  kLiteLLMSeqLenOverLimit = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-118)),
  kLiteLLMNoFreeBlock = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-119)),
  kLiteLLMBlockOutOfMemory = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-120)),
  // Codes of graphs, operators, tensors, shape inference and arguments.
  kLiteGraphFileError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-200)),
  kLiteNotFindOp = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-300)),
  kLiteInvalidOpName = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-301)),
  kLiteInvalidOpAttr = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-302)),
  kLiteOpExecuteFailure = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-303)),
  kLiteFormatError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-400)),
  kLiteShapeError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-401)),
  kLiteDataSizeError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-402)),
  kLiteDTypeError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-403)),
  kLiteDeviceDataError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-404)),
  kLiteHostDataError = kLite | (0x0FFFFFFF & static_cast<uint32_t>(-405)),
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
  void SetStatusMsg(const std::string& description) { description_ = description; }
  std::string ToString() const {
    const std::string text = CodeAsString(code_);
    return description_.empty() ? text : text + ": " + description_;
  }
  friend std::ostream& operator<<(std::ostream& stream, const Status& status) {
    return stream << status.ToString();
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

namespace detail {
// Converts the status of a C API call, and adds its error message.
inline Status ToStatus(MSStatus status) {
  if (status == kMSStatusSuccess) return kSuccess;
  return {static_cast<StatusCode>(static_cast<uint32_t>(status)), DeputyMSLastError()};
}
}  // namespace detail

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_STATUS_H_
