// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERNAL_SIGNATURE_DEF_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERNAL_SIGNATURE_DEF_H_

#include <cstdint>
#include <map>
#include <string>

namespace tflite {
namespace internal {

// Named inputs and outputs of a subgraph.
struct SignatureDef {
  // Index of the tensor of each name.
  std::map<std::string, uint32_t> inputs;
  std::map<std::string, uint32_t> outputs;
  std::string signature_key;
  uint32_t subgraph_index = 0;
};

}  // namespace internal
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_INTERNAL_SIGNATURE_DEF_H_
