// SPDX-License-Identifier: Apache-2.0
//
// Writes small .ms models for tests, valid and invalid ones: the writer checks nothing.
//
//     MsWriter w;
//     const uint32_t x = w.Input({1, 4});
//     const uint32_t y = w.Output({1, 4});
//     w.Node(file::PrimitiveType_Abs, {x}, {y}, NoAttributes(&w.fbb()));
//     std::vector<uint8_t> bytes = w.Finish();
#ifndef DEPUTY_TESTS_MINDSPORE_MS_MS_WRITER_H_
#define DEPUTY_TESTS_MINDSPORE_MS_MS_WRITER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mindspore/schema/model_generated.h"

namespace deputy::ms {

namespace file = ::mindspore::schema;

// Writes the table of a primitive without attributes, or with the defaults of all attributes.
inline flatbuffers::Offset<file::Abs> NoAttributes(flatbuffers::FlatBufferBuilder* fbb) {
  return file::CreateAbs(*fbb);
}

// Numbers of element types in the .ms format.
constexpr int kMsBool = 30, kMsInt8 = 32, kMsInt32 = 34, kMsInt64 = 35, kMsFloat16 = 42,
              kMsFloat32 = 43;

template <typename T>
constexpr int MsTypeOf() {
  if (std::is_same_v<T, float>) return kMsFloat32;
  if (std::is_same_v<T, int8_t>) return kMsInt8;
  if (std::is_same_v<T, int64_t>) return kMsInt64;
  if (std::is_same_v<T, uint16_t>) return kMsFloat16;
  if (std::is_same_v<T, bool>) return kMsBool;
  return kMsInt32;
}

struct MsScale {
  double scale = 1;
  int zero_point = 0;
  bool inited = true;
  float var_corr = 1, mean_corr = 0;
};

struct MsTensor {
  int type = kMsFloat32;
  std::vector<int32_t> dims;
  bool has_dims = true;
  file::Format layout = file::Format_NHWC;
  std::vector<uint8_t> data;
  std::vector<MsScale> scales;
  std::string name;
  bool computed = true;  // true: the tensor's node type is "computed"
  int compression = 0;
  std::string location;  // path of the file that contains the data
};

class MsWriter {
 public:
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }

  // Each of these functions returns the index of the added tensor. Inputs and outputs are also
  // added to the lists of the model.
  uint32_t Tensor(const std::vector<int32_t>& dims, int type = kMsFloat32);
  uint32_t Input(const std::vector<int32_t>& dims, int type = kMsFloat32);
  uint32_t Output(const std::vector<int32_t>& dims, int type = kMsFloat32);
  template <typename T>
  uint32_t Constant(const std::vector<int32_t>& dims, const std::vector<T>& values) {
    MsTensor& tensor = tensors[Tensor(dims, MsTypeOf<T>())];
    tensor.data.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    tensor.computed = false;
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  uint32_t Ints(const std::vector<int32_t>& values) {
    return Constant<int32_t>({static_cast<int32_t>(values.size())}, values);
  }

  template <typename Attributes>
  void Node(file::PrimitiveType value, const std::vector<uint32_t>& in,
            const std::vector<uint32_t>& out, flatbuffers::Offset<Attributes> attributes) {
    AddNode(value, in, out, attributes.Union());
  }
  // Adds a primitive without attributes.
  void Node(file::PrimitiveType value, const std::vector<uint32_t>& in,
            const std::vector<uint32_t>& out) {
    Node(value, in, out, NoAttributes(&fbb_));
  }
  // The following functions write lists, for attributes.
  flatbuffers::Offset<flatbuffers::Vector<int64_t>> Longs(const std::vector<int64_t>& values) {
    return fbb_.CreateVector(values);
  }
  flatbuffers::Offset<file::Vec2D> Rows(const std::vector<std::vector<int64_t>>& rows);

  // Returns the file. The writer cannot be used afterwards.
  std::vector<uint8_t> Finish();

  std::vector<MsTensor> tensors;
  std::vector<uint32_t> inputs, outputs;
  std::vector<uint32_t> plan;  // indices of the subgraph's nodes
  std::string node_name;       // name of the next node; empty: "n" and its index
  std::string version = "MindSpore Lite 2.0.0";
  const char* identifier = "MSL2";

 private:
  void AddNode(file::PrimitiveType value, const std::vector<uint32_t>& in,
               const std::vector<uint32_t>& out, flatbuffers::Offset<void> attributes);
  flatbuffers::Offset<file::Tensor> WriteTensor(const MsTensor& tensor);

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<file::CNode>> nodes_;
};

}  // namespace deputy::ms

#endif  // DEPUTY_TESTS_MINDSPORE_MS_MS_WRITER_H_
