// SPDX-License-Identifier: Apache-2.0
//
// Serialization reads model files for Model::Build(GraphCell). Export of models, which needs
// training, is refused.
#ifndef DEPUTY_MINDSPORE_INCLUDE_SERIALIZATION_H_
#define DEPUTY_MINDSPORE_INCLUDE_SERIALIZATION_H_

#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph.h"  // IWYU pragma: export
#include "model.h"  // IWYU pragma: export
#include "status.h"
#include "types.h"

namespace mindspore {

class Serialization {
 public:
  // Set `graph` to a copy of the bytes, or to the path of a file that can be read. Model::Build
  // checks the contents.
  static Status Load(const void* data, size_t size, ModelType type, Graph* graph) {
    if (data == nullptr || graph == nullptr) return {kLiteNullptr, "Load: an argument is null"};
    if (size == 0) return {kLiteInputParamInvalid, "Load: the model has no bytes"};
    auto file = std::make_shared<Graph::GraphData>();
    file->type = type;
    if (!file->bytes.SetData(data, size)) return {kLiteMemoryFailed, "Load: out of memory"};
    *graph = Graph(std::move(file));
    return kSuccess;
  }
  static Status Load(const std::string& path, ModelType type, Graph* graph) {
    if (graph == nullptr) return {kLiteNullptr, "Load: the graph is null"};
    if (!std::ifstream(path, std::ios::binary)) {
      return {kLiteFileError, "Load: '" + path + "' cannot be read"};
    }
    auto file = std::make_shared<Graph::GraphData>();
    file->type = type;
    file->path = path;
    *graph = Graph(std::move(file));
    return kSuccess;
  }
  // Sets one graph per path; on failure, `graphs` is unchanged.
  static Status Load(const std::vector<std::string>& paths, ModelType type,
                     std::vector<Graph>* graphs) {
    if (graphs == nullptr) return {kLiteNullptr, "Load: the vector is null"};
    std::vector<Graph> loaded(paths.size());
    for (size_t i = 0; i < paths.size(); ++i) {
      Status status = Load(paths[i], type, &loaded[i]);
      if (status.IsError()) return status;
    }
    *graphs = std::move(loaded);
    return kSuccess;
  }

  // The functions below return kLiteNotSupport.
  static Status SetParameters(const std::map<std::string, Buffer>& /*parameters*/,
                              Model* /*model*/) {
    return {kLiteNotSupport, "SetParameters: the constants of a model cannot be changed"};
  }
  static Status ExportModel(const Model& /*model*/, ModelType /*type*/, Buffer* /*data*/,
                            QuantizationType /*quantization*/ = kNoQuant,
                            bool /*export_inference_only*/ = true,
                            const std::vector<std::string>& /*outputs*/ = {}) {
    return {kLiteNotSupport, "ExportModel: models are not exported"};
  }
  static Status ExportModel(const Model& /*model*/, ModelType /*type*/, const std::string& /*path*/,
                            QuantizationType /*quantization*/ = kNoQuant,
                            bool /*export_inference_only*/ = true,
                            const std::vector<std::string>& /*outputs*/ = {}) {
    return {kLiteNotSupport, "ExportModel: models are not exported"};
  }
  static Status ExportWeightsCollaborateWithMicro(
      const Model& /*model*/, ModelType /*type*/, const std::string& /*path*/,
      bool /*is_inference*/ = true, bool /*enable_fp16*/ = false,
      const std::vector<std::string>& /*changeable_weights*/ = {}) {
    return {kLiteNotSupport, "ExportWeightsCollaborateWithMicro: models are not exported"};
  }
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_SERIALIZATION_H_
