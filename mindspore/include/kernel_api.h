// SPDX-License-Identifier: Apache-2.0
//
// Base classes of kernels: MSKernel, and IKernel for kernels that know the operator of the model.
#ifndef DEPUTY_MINDSPORE_INCLUDE_KERNEL_API_H_
#define DEPUTY_MINDSPORE_INCLUDE_KERNEL_API_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "status.h"
#include "types.h"

namespace mindspore {

class Context;

// Sections of a configuration file (Model::LoadConfig): keys and values by section.
using ConfigInfos = std::map<std::string, std::map<std::string, std::string>>;

namespace kernel {

class MSKernel {
 public:
  MSKernel() = default;
  MSKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs,
           const mindspore::Context* context)
      : context_(context), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  MSKernel(const MSKernel&) = delete;
  MSKernel& operator=(const MSKernel&) = delete;
  virtual ~MSKernel() = default;

  // Prepares the kernel. Called once, after all replacements. Only constants have data.
  virtual int Prepare() = 0;
  // Computes the outputs. Called once per Predict.
  virtual int Execute() = 0;
  // Sets the shapes of the outputs. Called when shapes of inputs have changed.
  virtual int ReSize() = 0;
  virtual int InferShape() { return lite::RET_ERROR; }

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

  virtual std::string name() const { return name_; }
  void set_name(const std::string& name) { name_ = name; }
  const mindspore::Context* context() const { return context_; }

  std::string GetAttr(const std::string& key) const {
    const auto found = attrs_.find(key);
    return found == attrs_.end() ? "" : found->second;
  }
  void SetAttr(const std::string& key, const std::string& value) { attrs_[key] = value; }

  // Sets the configuration, which must outlive the kernel. The runtime does so for kernels of
  // delegates and of the model, before Prepare.
  void SetConfig(const ConfigInfos* config) { config_ = config; }
  // Returns the keys and values of a section; an empty map if there is none.
  std::map<std::string, std::string> GetConfig(const std::string& section) const {
    if (config_ == nullptr) return {};
    const auto found = config_->find(section);
    return found == config_->end() ? std::map<std::string, std::string>() : found->second;
  }

 protected:
  std::string name_;
  const mindspore::Context* context_ = nullptr;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::map<std::string, std::string> attrs_;
  const ConfigInfos* config_ = nullptr;
};

template <typename Primitive>
class IKernel : public MSKernel {
 public:
  IKernel() = default;
  IKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const Primitive* primitive,
          const mindspore::Context* context)
      : MSKernel(std::move(inputs), std::move(outputs), context), primitive_(primitive) {}

  // Returns the operator that the constructor received: null for most kernels of delegates.
  const Primitive* primitive() const { return primitive_; }

 protected:
  const Primitive* primitive_ = nullptr;
};

}  // namespace kernel
}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_KERNEL_API_H_
