// SPDX-License-Identifier: Apache-2.0
//
// A model of the server's repository. Its instances share the model's constants.
#ifndef DEPUTY_BRIDGES_TRITON_MODEL_H_
#define DEPUTY_BRIDGES_TRITON_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/triton/config.h"
#include "bridges/triton/delegates.h"
#include "bridges/triton/error.h"
#include "bridges/triton/metrics.h"
#include "bridges/triton/tensors.h"

namespace deputy::triton {

struct InterpreterDeleter {
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
};
using Interpreter = std::unique_ptr<TfLiteInterpreter, InterpreterDeleter>;

class Model {
 public:
  // Reads the configuration and the file, and completes or checks the configuration.
  static Error Load(TRITONBACKEND_Model* triton, const MetricFamilies* families,
                    std::unique_ptr<Model>* model);

  // Creates an allocated interpreter with delegates, which must outlive it.
  Error NewInterpreter(const std::vector<Delegate>& delegates, Interpreter* interpreter) const;

  const std::string& name() const { return name_; }
  const Settings& settings() const { return settings_; }
  bool is_batched() const { return settings_.max_batch_size > 0; }
  // True if inferences depend on earlier ones through variables.
  bool has_state() const { return has_state_; }
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  ModelMetrics& metrics() const { return *metrics_; }

 private:
  Error Open(TRITONBACKEND_Model* triton);
  // Fills the descriptions of the tensors.
  Error Describe();

  std::string name_;
  Settings settings_;
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_{nullptr, &TfLiteModelDelete};
  bool has_state_ = false;
  std::vector<TensorInfo> inputs_, outputs_;
  std::unique_ptr<ModelMetrics> metrics_;
};

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_MODEL_H_
