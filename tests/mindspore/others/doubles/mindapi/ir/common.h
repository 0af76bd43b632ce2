// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore's converter: pointers to nodes and graphs.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDAPI_IR_COMMON_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDAPI_IR_COMMON_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace mindspore::api {
class CNode;
class FuncGraph;
using CNodePtrList = std::vector<std::shared_ptr<CNode>>;
using FuncGraphPtr = std::shared_ptr<FuncGraph>;
}  // namespace mindspore::api

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDAPI_IR_COMMON_H_
