// SPDX-License-Identifier: Apache-2.0
//
// Functions that an inference runtime does not support: training, and the workspace of
// micro-controllers. They exist so that programs link. All report an error, except
// MSTrainCfgDestroy, MSModelSetTrainMode(false) and MSModelGetTrainMode.
#include "mindspore/src/log.h"

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

MSStatus NotSupported(const char* function) {
  return Fail(kMSStatusLiteNotSupport, "%s is not supported by this inference runtime", function);
}

}  // namespace

void MSModelSetWorkspace(MSModelHandle /*model*/, void* /*workspace*/, size_t /*workspace_size*/) {
  NotSupported("MSModelSetWorkspace");
}

size_t MSModelCalcWorkspaceSize(MSModelHandle /*model*/) {
  NotSupported("MSModelCalcWorkspaceSize");
  return 0;
}

MSStatus MSModelSetTrainMode(const MSModelHandle /*model*/, bool train) {
  return train ? NotSupported("MSModelSetTrainMode(true)") : kMSStatusSuccess;
}

MSStatus MSModelExportWeight(const MSModelHandle /*model*/, const char* /*export_path*/) {
  return NotSupported("MSModelExportWeight");
}

MSTrainCfgHandle MSTrainCfgCreate() {
  NotSupported("MSTrainCfgCreate");
  return nullptr;
}

void MSTrainCfgDestroy(MSTrainCfgHandle* train_cfg) {
  if (train_cfg != nullptr) *train_cfg = nullptr;
}

char** MSTrainCfgGetLossName(MSTrainCfgHandle /*train_cfg*/, size_t* num) {
  if (num != nullptr) *num = 0;
  NotSupported("MSTrainCfgGetLossName");
  return nullptr;
}

void MSTrainCfgSetLossName(MSTrainCfgHandle /*train_cfg*/, const char** /*loss_name*/,
                           size_t /*num*/) {
  NotSupported("MSTrainCfgSetLossName");
}

MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle /*train_cfg*/) {
  NotSupported("MSTrainCfgGetOptimizationLevel");
  return kMSKO0;
}

void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle /*train_cfg*/, MSOptimizationLevel /*level*/) {
  NotSupported("MSTrainCfgSetOptimizationLevel");
}

MSStatus MSTrainModelBuild(MSModelHandle /*model*/, const void* /*model_data*/,
                           size_t /*data_size*/, MSModelType /*model_type*/,
                           const MSContextHandle /*model_context*/,
                           const MSTrainCfgHandle /*train_cfg*/) {
  return NotSupported("MSTrainModelBuild");
}

MSStatus MSTrainModelBuildFromFile(MSModelHandle /*model*/, const char* /*model_path*/,
                                   MSModelType /*model_type*/,
                                   const MSContextHandle /*model_context*/,
                                   const MSTrainCfgHandle /*train_cfg*/) {
  return NotSupported("MSTrainModelBuildFromFile");
}

MSStatus MSModelSetLearningRate(MSModelHandle /*model*/, float /*learning_rate*/) {
  return NotSupported("MSModelSetLearningRate");
}

float MSModelGetLearningRate(MSModelHandle /*model*/) {
  NotSupported("MSModelGetLearningRate");
  return 0;
}

MSTensorHandleArray MSModelGetWeights(MSModelHandle /*model*/) {
  NotSupported("MSModelGetWeights");
  return {};
}

MSStatus MSModelUpdateWeights(MSModelHandle /*model*/, const MSTensorHandleArray /*new_weights*/) {
  return NotSupported("MSModelUpdateWeights");
}

bool MSModelGetTrainMode(MSModelHandle /*model*/) { return false; }

MSStatus MSModelSetupVirtualBatch(MSModelHandle /*model*/, int /*virtual_batch_multiplier*/,
                                  float /*lr*/, float /*momentum*/) {
  return NotSupported("MSModelSetupVirtualBatch");
}

MSStatus MSExportModel(MSModelHandle /*model*/, MSModelType /*model_type*/,
                       const char* /*model_file*/, MSQuantizationType /*quantization_type*/,
                       bool /*export_inference_only*/, char** /*output_tensor_name*/,
                       size_t /*num*/) {
  return NotSupported("MSExportModel");
}

MSStatus MSExportModelBuffer(MSModelHandle /*model*/, MSModelType /*model_type*/,
                             char** /*model_data*/, size_t* /*data_size*/,
                             MSQuantizationType /*quantization_type*/,
                             bool /*export_inference_only*/, char** /*output_tensor_name*/,
                             size_t /*num*/) {
  return NotSupported("MSExportModelBuffer");
}

MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle /*model*/, MSModelType /*model_type*/,
                                             const char* /*weight_file*/, bool /*is_inference*/,
                                             bool /*enable_fp16*/,
                                             char** /*changeable_weights_name*/, size_t /*num*/) {
  return NotSupported("MSExportWeightsCollaborateWithMicro");
}
