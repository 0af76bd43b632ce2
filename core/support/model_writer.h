// SPDX-License-Identifier: Apache-2.0
//
// Writes .tflite files from tables of the schema; checks nothing. mindspore/ms writes converted
// models with it, and tests/support/model_builder valid and invalid ones.
//
// Tensors, nodes, inputs and outputs are added to the current subgraph: 0 at first, then the one
// that was added by AddSubgraph or selected by SelectSubgraph last.
#ifndef DEPUTY_CORE_SUPPORT_MODEL_WRITER_H_
#define DEPUTY_CORE_SUPPORT_MODEL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "c_api/include/c_api_types.h"
#include "schema_generated.h"

namespace deputy {

// Returns the schema's number of a type; -1 for types that files cannot contain.
schema::TensorType SchemaType(TfLiteType type);

class ModelWriter {
 public:
  // Adds buffer 0, the empty one, which all tensors without data share.
  explicit ModelWriter(uint32_t schema_version = 3);

  // The underlying builder, for options and other tables.
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }

  // Each Add function with a result returns the index of the added object.
  uint32_t AddRawBuffer(flatbuffers::Offset<schema::Buffer> buffer);
  int AddRawTensor(flatbuffers::Offset<schema::Tensor> tensor);
  int AddRawOperator(flatbuffers::Offset<schema::Operator> op);
  uint32_t AddRawOperatorCode(flatbuffers::Offset<schema::OperatorCode> code);
  // Adds an operator code as current writers do; equal codes are added once. A null name is a
  // builtin operator.
  uint32_t AddOperatorCode(int code, const char* custom_name, int version);

  struct Node {
    uint32_t code_index = 0;
    std::span<const int32_t> inputs = {}, outputs = {}, intermediates = {};
    // Type of the options, in the first or the second union.
    schema::BuiltinOptions options_type = schema::BuiltinOptions::NONE;
    schema::BuiltinOptions2 options_2_type = schema::BuiltinOptions2::NONE;
    flatbuffers::Offset<void> options = 0;
    std::span<const uint8_t> custom_options = {};
  };
  int AddNode(const Node& node);

  int AddSubgraph(const std::string& name = "");
  void SelectSubgraph(int index) { current_ = static_cast<size_t>(index); }
  void SetName(const std::string& name) { subgraph().name = name; }
  void SetInputs(const std::vector<int32_t>& tensors) { subgraph().inputs = tensors; }
  void SetOutputs(const std::vector<int32_t>& tensors) { subgraph().outputs = tensors; }

  // Adds an external buffer with this id: a part of another file. `packing` may be null.
  void AddExternalBuffer(uint32_t id, const std::string& file, uint64_t offset, uint64_t length,
                         const char* packing = nullptr);
  void AddRawSignature(flatbuffers::Offset<schema::SignatureDef> signature);
  void AddRawMetadata(flatbuffers::Offset<schema::Metadata> metadata);

  // Returns the file. The writer cannot be used afterwards.
  std::vector<uint8_t> Finish(const std::string& description);

 private:
  struct SubgraphParts {
    std::string name;
    std::vector<flatbuffers::Offset<schema::Tensor>> tensors;
    std::vector<flatbuffers::Offset<schema::Operator>> operators;
    std::vector<int32_t> inputs, outputs;
  };

  SubgraphParts& subgraph() { return subgraphs_[current_]; }

  flatbuffers::FlatBufferBuilder fbb_;
  const uint32_t schema_version_;
  size_t current_ = 0;
  std::vector<SubgraphParts> subgraphs_;
  // Index of each code, by code, name and version.
  std::map<std::tuple<int, std::string, int>, uint32_t> index_of_code_;
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<schema::SignatureDef>> signatures_;
  std::vector<flatbuffers::Offset<schema::Metadata>> metadata_;
  std::vector<flatbuffers::Offset<schema::ExternalBufferGroup>> groups_;
  std::vector<flatbuffers::Offset<schema::ExternalBuffer>> external_buffers_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_MODEL_WRITER_H_
