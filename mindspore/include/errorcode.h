// SPDX-License-Identifier: Apache-2.0
//
// Status codes of a kernel's functions, which return them as ints. A status of the C++ API has the
// same bits (status.h).
#ifndef DEPUTY_MINDSPORE_INCLUDE_ERRORCODE_H_
#define DEPUTY_MINDSPORE_INCLUDE_ERRORCODE_H_

namespace mindspore::lite {

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

}  // namespace mindspore::lite

#endif  // DEPUTY_MINDSPORE_INCLUDE_ERRORCODE_H_
