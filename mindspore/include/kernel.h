// SPDX-License-Identifier: Apache-2.0
//
// A kernel: one operator of the model, or a delegate's kernel that replaces a run of operators.
#ifndef DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_
#define DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schema.h"
#include "status.h"
#include "types.h"

namespace mindspore {

class Context;

namespace kernel {

// Base class of a delegate's kernels, which are constructed with a null primitive and context.
// After DelegateModel::Replace the runtime owns them.
class Kernel {
 public:
  Kernel() = default;
  Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
         const schema::Primitive* primitive, const mindspore::Context* context)
      : inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        primitive_(primitive),
        context_(context) {
    if (primitive != nullptr) type_ = primitive->value_type();
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Prepares the kernel. Called once, after all replacements. Only constants have data.
  virtual int Prepare() = 0;
  // Computes the outputs. Called once per Predict.
  virtual int Execute() = 0;
  // Sets the shapes of the outputs. Called when shapes of inputs have changed.
  virtual int ReSize() = 0;
  virtual int InferShape() { return lite::RET_NOT_SUPPORT; }

  virtual schema::PrimitiveType type() const { return type_; }
  virtual void set_inputs(const std::vector<MSTensor>& inputs) { inputs_ = inputs; }
  virtual void set_input(MSTensor tensor, int index) {
    inputs_[static_cast<size_t>(index)] = std::move(tensor);
  }
  virtual void set_outputs(const std::vector<MSTensor>& outputs) { outputs_ = outputs; }
  virtual void set_output(MSTensor tensor, int index) {
    outputs_[static_cast<size_t>(index)] = std::move(tensor);
  }
  virtual const std::vector<MSTensor>& inputs() { return inputs_; }
  virtual const std::vector<MSTensor>& outputs() { return outputs_; }

  std::string name() const { return name_; }
  void set_name(const std::string& name) { name_ = name; }
  const schema::Primitive* primitive() const { return primitive_; }
  const mindspore::Context* context() const { return context_; }

  std::string GetAttr(const std::string& key) const {
    const auto found = attributes_.find(key);
    return found == attributes_.end() ? "" : found->second;
  }
  void SetAttr(const std::string& key, const std::string& value) { attributes_[key] = value; }

 protected:
  std::string name_;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  schema::PrimitiveType type_ = schema::PrimitiveType_NONE;
  const schema::Primitive* primitive_ = nullptr;
  const mindspore::Context* context_ = nullptr;
  std::map<std::string, std::string> attributes_;
};

}  // namespace kernel
}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_KERNEL_H_
