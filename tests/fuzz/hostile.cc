// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/hostile.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

namespace deputy::fuzz {
namespace {

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int64_t kNumbers[] = {0,   1,       -1,    2,         -2,     5,
                                127, 1 << 24, kMost, kMost - 1, kLeast, kLeast + 1};
constexpr int64_t kFarNumbers[] = {int64_t{kMost} + 1, std::numeric_limits<int64_t>::max(),
                                   std::numeric_limits<int64_t>::min()};
constexpr float kFloats[] = {std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(), -3e38f, 0.0f};
// Maximum size in bytes of constants and inputs whose elements are varied; larger constants are
// weights.
constexpr size_t kSmallBytes = 64;

using objects::TensorType;

bool IsInteger(TensorType type) {
  return type == TensorType::INT32 || type == TensorType::INT64 || type == TensorType::UINT32 ||
         type == TensorType::INT16 || type == TensorType::UINT16;
}

size_t WidthOf(TensorType type) {
  if (type == TensorType::INT64) return 8;
  return type == TensorType::INT16 || type == TensorType::UINT16 ? 2 : 4;
}

// Generates the variants of one model.
class Variants {
 public:
  Variants(const ModelT& model, const std::vector<std::vector<uint8_t>>& feeds,
           const std::function<void(const Variant&)>& use)
      : model_(model), feeds_(feeds), use_(use) {
    feeds_.resize(graph(model_).inputs.size());
  }

  void Run() {
    const size_t tensors = graph(model_).tensors.size();
    for (size_t i = 0; i < tensors; ++i) {
      const std::string name = "tensor " + std::to_string(i) + ": ";
      Shapes(i, name);
      Types(i, name);
      Quantization(i, name);
      Numbers(i, name);
    }
    Edges();
    Options();
  }

 private:
  static objects::SubGraphT& graph(ModelT& model) { return *model.subgraphs[0]; }
  static const objects::SubGraphT& graph(const ModelT& model) { return *model.subgraphs[0]; }
  const objects::TensorT& tensor(size_t i) const { return *graph(model_).tensors[i]; }

  const std::vector<uint8_t>* ConstantOf(size_t i) const {
    const uint32_t buffer = tensor(i).buffer;
    if (buffer == 0 || buffer >= model_.buffers.size()) return nullptr;
    const std::vector<uint8_t>& data = model_.buffers[buffer]->data;
    return data.empty() ? nullptr : &data;
  }

  // Emits a variant, which is a copy of the model changed by `change`.
  template <typename Change>
  void With(const std::string& what, const Change& change) {
    ModelT copy(model_);
    change(&copy);
    use_({what, PackModel(copy), feeds_});
  }

  // Emits a variant and, if the tensor is a constant, a second one in which it is a graph input,
  // because a file with a constant whose bytes do not fit its shape is refused.
  template <typename Change>
  void WithTensor(size_t i, const std::string& what, const Change& change) {
    With(what, [&](ModelT* copy) { change(graph(*copy).tensors[i].get()); });
    if (ConstantOf(i) == nullptr) return;
    ModelT copy(model_);
    change(graph(copy).tensors[i].get());
    std::vector<std::vector<uint8_t>> feeds = feeds_;
    MakeInput(i, *ConstantOf(i), &copy, &feeds);
    use_({what + " at run time", PackModel(copy), feeds});
  }

  // Makes the tensor a graph input, unless it is one, and feeds it with `bytes`.
  static void MakeInput(size_t i, const std::vector<uint8_t>& bytes, ModelT* model,
                        std::vector<std::vector<uint8_t>>* feeds) {
    auto& inputs = graph(*model).inputs;
    const auto input = std::find(inputs.begin(), inputs.end(), static_cast<int32_t>(i));
    if (input != inputs.end()) {
      (*feeds)[static_cast<size_t>(input - inputs.begin())] = bytes;
      return;
    }
    graph(*model).tensors[i]->buffer = 0;
    inputs.push_back(static_cast<int32_t>(i));
    feeds->push_back(bytes);
  }

  void Shapes(size_t i, const std::string& name) {
    const auto with = [&](const char* what, const std::vector<int32_t>& shape) {
      WithTensor(i, name + what, [&](objects::TensorT* changed) {
        changed->shape = shape;
        changed->shape_signature.clear();
      });
    };
    std::vector<int32_t> shape = tensor(i).shape;
    with("no dimensions", {});
    with("9 dimensions", std::vector<int32_t>(9, 1));
    if (!shape.empty()) with("one dimension less", {shape.begin() + 1, shape.end()});
    for (size_t d = 0; d < shape.size(); ++d) {
      for (const int32_t extent : {0, 1, 3, 1 << 20, kMost}) {
        if (shape[d] == extent) continue;
        std::vector<int32_t> changed = shape;
        changed[d] = extent;
        with(("extent " + std::to_string(d) + " is " + std::to_string(extent)).c_str(), changed);
      }
    }
    shape.insert(shape.begin(), 2);
    with("one dimension more", shape);
  }

  void Types(size_t i, const std::string& name) {
    for (int type = 0; type <= 20; ++type) {
      if (type == static_cast<int>(tensor(i).type)) continue;
      WithTensor(i, name + "type " + std::to_string(type), [type](objects::TensorT* changed) {
        changed->type = static_cast<TensorType>(type);
      });
    }
  }

  void Quantization(size_t i, const std::string& name) {
    if (tensor(i).quantization == nullptr || tensor(i).quantization->scale.empty()) return;
    WithTensor(i, name + "no quantisation",
               [](objects::TensorT* changed) { changed->quantization.reset(); });
    for (const float scale : {0.0f, -0.5f, 1e-45f, 3e38f, kFloats[0], kFloats[1]}) {
      WithTensor(i, name + "scale " + std::to_string(scale), [scale](objects::TensorT* changed) {
        changed->quantization->scale.back() = scale;
      });
    }
    for (const int64_t zero_point : {int64_t{-200}, int64_t{70000}, kFarNumbers[1]}) {
      WithTensor(i, name + "zero point " + std::to_string(zero_point),
                 [zero_point](objects::TensorT* changed) {
                   auto& zeros = changed->quantization->zero_point;
                   std::fill(zeros.begin(), zeros.end(), zero_point);
                 });
    }
  }

  // Varies the elements that are fed to, or stored in, a tensor.
  void Numbers(size_t i, const std::string& name) {
    const auto& inputs = graph(model_).inputs;
    const auto input = std::find(inputs.begin(), inputs.end(), static_cast<int32_t>(i));
    const std::vector<uint8_t>* constant = ConstantOf(i);
    std::vector<uint8_t> bytes;
    if (constant != nullptr) {
      bytes = *constant;
    } else if (input != inputs.end()) {
      bytes = feeds_[static_cast<size_t>(input - inputs.begin())];
      if (bytes.empty()) bytes = Zeros(tensor(i));
    }
    if (bytes.empty() || bytes.size() > kSmallBytes) return;
    const auto place = [&](const std::string& what, const std::vector<uint8_t>& changed) {
      if (constant != nullptr) {
        With(name + what, [&](ModelT* copy) { copy->buffers[tensor(i).buffer]->data = changed; });
      }
      AtRunTime(i, name + what + " at run time", changed);
    };
    if (IsInteger(tensor(i).type)) Integers(bytes, WidthOf(tensor(i).type), place);
    if (tensor(i).type == TensorType::FLOAT32) Floats(bytes, place);
  }

  static std::vector<uint8_t> Zeros(const objects::TensorT& tensor) {
    size_t bytes = WidthOf(tensor.type);
    for (const int32_t extent : tensor.shape) {
      bytes *= static_cast<size_t>(std::clamp(extent, 0, 64));
      if (bytes > kSmallBytes) return {};
    }
    return std::vector<uint8_t>(bytes);
  }

  template <typename Place>
  static void Integers(const std::vector<uint8_t>& bytes, size_t width, const Place& place) {
    const size_t count = bytes.size() / width;
    const auto try_value = [&](int64_t number) {
      for (size_t at = 0; at < count; ++at) {
        if (at >= 4 && at + 1 < count) continue;
        std::vector<uint8_t> changed = bytes;
        std::memcpy(&changed[at * width], &number, width);  // little-endian
        place("element " + std::to_string(at) + " is " + std::to_string(number), changed);
      }
      if (count < 2) return;
      std::vector<uint8_t> changed = bytes;
      for (size_t at = 0; at < count; ++at) std::memcpy(&changed[at * width], &number, width);
      place("all elements are " + std::to_string(number), changed);
    };
    for (const int64_t number : kNumbers) try_value(number);
    if (width < 8) return;
    for (const int64_t number : kFarNumbers) try_value(number);
  }

  template <typename Place>
  static void Floats(const std::vector<uint8_t>& bytes, const Place& place) {
    for (const float number : kFloats) {
      std::vector<uint8_t> changed = bytes;
      for (size_t at = 0; at + sizeof number <= bytes.size(); at += sizeof number) {
        std::memcpy(&changed[at], &number, sizeof number);
      }
      place("all elements are " + std::to_string(number), changed);
    }
  }

  void AtRunTime(size_t i, const std::string& what, const std::vector<uint8_t>& bytes) {
    ModelT copy(model_);
    std::vector<std::vector<uint8_t>> feeds = feeds_;
    MakeInput(i, bytes, &copy, &feeds);
    use_({what, PackModel(copy), feeds});
  }

  void Edges() {
    for (size_t n = 0; n < graph(model_).operators.size(); ++n) {
      const std::string name = "node " + std::to_string(n) + ": ";
      const auto with = [&](const std::string& what, const auto& change) {
        With(name + what, [&](ModelT* copy) { change(graph(*copy).operators[n].get()); });
      };
      const objects::OperatorT& node = *graph(model_).operators[n];
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        with("input " + std::to_string(k) + " absent",
             [k](objects::OperatorT* changed) { changed->inputs[k] = -1; });
      }
      if (!node.inputs.empty()) {
        with("last input left out",
             [](objects::OperatorT* changed) { changed->inputs.pop_back(); });
        with("last input twice", [](objects::OperatorT* changed) {
          changed->inputs.push_back(changed->inputs.back());
        });
      }
      with("no outputs", [](objects::OperatorT* changed) { changed->outputs.clear(); });
      with("no intermediates", [](objects::OperatorT* changed) { changed->intermediates.clear(); });
      with("no options", [](objects::OperatorT* changed) {
        changed->builtin_options.Reset();
        changed->builtin_options_2.Reset();
        changed->custom_options.clear();
      });
      for (size_t bytes = 1; bytes < node.custom_options.size(); bytes *= 2) {
        with(std::to_string(bytes) + " bytes of options",
             [bytes](objects::OperatorT* changed) { changed->custom_options.resize(bytes); });
      }
    }
  }

  void Options() {
    const std::vector<uint8_t> file = PackModel(model_);
    const size_t fields = CountOptionsFields(file);
    for (size_t field = 0; field < fields; ++field) {
      for (const int64_t number : kNumbers) {
        std::vector<uint8_t> changed = file;
        SetOptionsField(&changed, field, number);
        use_({"options: number " + std::to_string(field) + " is " + std::to_string(number), changed,
              feeds_});
      }
    }
  }

  const ModelT& model_;
  std::vector<std::vector<uint8_t>> feeds_;
  const std::function<void(const Variant&)>& use_;
};

}  // namespace

void ForEachVariant(const ModelT& model, const std::vector<std::vector<uint8_t>>& feeds,
                    const std::function<void(const Variant&)>& use) {
  if (!model.subgraphs.empty()) Variants(model, feeds, use).Run();
}

}  // namespace deputy::fuzz
