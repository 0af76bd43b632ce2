// SPDX-License-Identifier: Apache-2.0
#include "litert/src/op_list.h"

#include "litert/src/log.h"

using deputy::litert::Guard;

LiteRtStatus LiteRtPushOp(LiteRtOpList op_list, LiteRtOp op, LiteRtParamIndex partition_index) {
  if (op_list == nullptr || op == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    op_list->entries.push_back({.op = op, .partition = partition_index});
    return kLiteRtStatusOk;
  });
}
