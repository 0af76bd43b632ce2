// SPDX-License-Identifier: Apache-2.0
//
// Settings of training, which Deputy does not support: Model::Build refuses a TrainCfg.
#ifndef DEPUTY_MINDSPORE_INCLUDE_CFG_H_
#define DEPUTY_MINDSPORE_INCLUDE_CFG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data_type.h"        // IWYU pragma: export
#include "dual_abi_helper.h"  // IWYU pragma: export
#include "types.h"

namespace mindspore {

class MixPrecisionCfg {
 public:
  bool dynamic_loss_scale_ = false;
  float loss_scale_ = 128.0F;
  bool keep_batchnorm_fp32_ = true;
  uint32_t num_of_not_nan_iter_th_ = 1000;
  bool is_raw_mix_precision_ = false;
};

class TrainCfg {
 public:
  // Parts of the names of nodes that compute a loss.
  std::vector<std::string> GetLossName() const { return loss_name_; }
  void SetLossName(const std::vector<std::string>& names) { loss_name_ = names; }

  OptimizationLevel optimization_level_ = kO0;
  MixPrecisionCfg mix_precision_cfg_;
  bool accumulate_gradients_ = false;

 private:
  std::vector<std::string> loss_name_ = {"loss_fct", "_loss_fn", "SigmoidCrossEntropy"};
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_CFG_H_
