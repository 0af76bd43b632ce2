// SPDX-License-Identifier: Apache-2.0
//
// The model configuration (config.pbtxt), which the server passes as JSON.
#ifndef DEPUTY_BRIDGES_TRITON_CONFIG_H_
#define DEPUTY_BRIDGES_TRITON_CONFIG_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bridges/triton/error.h"
#include "bridges/triton/tensors.h"
#include "deputy/deputy.h"

namespace deputy::triton {

using Json = nlohmann::json;

// A delegate of the parameter `delegate`: a name or path, and its options.
struct DelegateChoice {
  std::string library;
  std::vector<std::pair<std::string, std::string>> options;
};

// Settings of a model. The texts of the parameters are those of the command's options.
struct Settings {
  int threads = 1;
  std::vector<DelegateChoice> delegates;
  std::optional<DeputyPrecision> precision;
  std::optional<DeputyDelegatePolicy> policy;
  // Restrictions of the delegates' processes; "": they run in the server's process.
  std::string isolate;

  std::string model_file = "model.tflite";
  int64_t max_batch_size = 0;
  // True if the server assigns requests of a sequence to one instance.
  bool has_sequences = false;
};

// Reads the settings of a configuration.
Error ReadSettings(const Json& config, Settings* settings);

// Adds the tensors to the configuration if it names none. `key` is "input" or "output". Returns
// true if it changes the configuration.
bool CompleteTensors(const std::vector<TensorInfo>& infos, const char* key, Json* config);

// Checks that the tensors of the configuration are those of the model. Outputs may be left out.
Error CheckTensors(const std::vector<TensorInfo>& infos, const char* key, const Json& config);

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_CONFIG_H_
