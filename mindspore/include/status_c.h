// SPDX-License-Identifier: Apache-2.0
//
// Status codes of MindSpore Lite's C API, with MindSpore's values. A code of MindSpore Lite has the
// bits of its negative int: (int32_t)kMSStatusLiteNotSupport is -7, RET_NOT_SUPPORT.
#ifndef DEPUTY_MINDSPORE_INCLUDE_STATUS_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_STATUS_C_H_

#ifdef __cplusplus
extern "C" {
#endif

// First hexadecimal digit of a code: the component that reports it.
__extension__ enum MSCompCode {
  kMSCompCodeCore = 0x00000000,
  kMSCompCodeMD = 0x10000000,
  kMSCompCodeME = 0x20000000,
  kMSCompCodeMC = 0x30000000,
  kMSCompCodeLite = 0xF0000000
};

__extension__ typedef enum MSStatus {
  kMSStatusSuccess = 0,
  // General errors: -1 to -12.
  kMSStatusLiteError = 0xFFFFFFFF,
  kMSStatusLiteNullptr = 0xFFFFFFFE,
  kMSStatusLiteParamInvalid = 0xFFFFFFFD,
  kMSStatusLiteNoChange = 0xFFFFFFFC,
  kMSStatusLiteSuccessExit = 0xFFFFFFFB,
  kMSStatusLiteMemoryFailed = 0xFFFFFFFA,
  kMSStatusLiteNotSupport = 0xFFFFFFF9,
  kMSStatusLiteThreadPoolError = 0xFFFFFFF8,
  kMSStatusLiteUninitializedObj = 0xFFFFFFF7,
  kMSStatusLiteFileError = 0xFFFFFFF6,
  kMSStatusLiteServiceDeny = 0xFFFFFFF5,
  kMSStatusLiteModelRebuild = 0xFFFFFFF4,
  // Errors of the executor: -100 to -102.
  kMSStatusLiteOutOfTensorRange = 0xFFFFFF9C,
  kMSStatusLiteInputTensorError = 0xFFFFFF9B,
  kMSStatusLiteReentrantError = 0xFFFFFF9A,
  // Errors of the graph: -200.
  kMSStatusLiteGraphFileError = 0xFFFFFF38,
  // Errors of nodes: -300 to -303.
  kMSStatusLiteNotFindOp = 0xFFFFFED4,
  kMSStatusLiteInvalidOpName = 0xFFFFFED3,
  kMSStatusLiteInvalidOpAttr = 0xFFFFFED2,
  kMSStatusLiteOpExecuteFailure = 0xFFFFFED1,
  // Errors of tensors: -400.
  kMSStatusLiteFormatError = 0xFFFFFE70,
  // Errors of shape inference: -500 and -501.
  kMSStatusLiteInferError = 0xFFFFFE0C,
  kMSStatusLiteInferInvalid = 0xFFFFFE0B,
  // Invalid arguments of the caller: -600.
  kMSStatusLiteInputParamInvalid = 0xFFFFFDA8
} MSStatus;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_STATUS_C_H_
