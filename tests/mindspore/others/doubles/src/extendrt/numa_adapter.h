// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: a machine without NUMA nodes.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_EXTENDRT_NUMA_ADAPTER_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_EXTENDRT_NUMA_ADAPTER_H_

#include <cstddef>
#include <memory>

namespace mindspore::numa {

struct MemoryInfo {
  size_t total = 0;
  size_t free = 0;
};

class NUMAAdapter {
 public:
  static std::shared_ptr<NUMAAdapter> GetInstance() { return std::make_shared<NUMAAdapter>(); }
  bool Available() const { return false; }
  int NodesNum() const { return 0; }
  MemoryInfo GetNodeSize(int /*node*/) const { return {}; }
  void* Malloc(int /*node*/, size_t /*size*/) { return nullptr; }
  void Free(void* /*data*/, size_t /*size*/) {}
};

}  // namespace mindspore::numa

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_EXTENDRT_NUMA_ADAPTER_H_
