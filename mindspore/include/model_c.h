// SPDX-License-Identifier: Apache-2.0
//
// Models of MindSpore Lite's C API: load, run, resize. Training and what only micro-controllers
// have returns kMSStatusLiteNotSupport, 0 or NULL. The text of a failure is DeputyMSLastError()
// (delegate_c.h). Calls on one model from several threads run one after the other.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_C_H_

#include "context_c.h"
#include "status_c.h"
#include "tensor_c.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MS_MAX_SHAPE_NUM 32

// Tensors. Where a function returns one, array and handles belong to the model and hold until it is
// built again or destroyed.
typedef struct MSTensorHandleArray {
  size_t handle_num;
  MSTensorHandle* handle_list;
} MSTensorHandleArray;

typedef struct MSShapeInfo {
  size_t shape_num;
  int64_t shape[MS_MAX_SHAPE_NUM];
} MSShapeInfo;

// A node: its name, and its type as MindSpore calls it. A delegate's kernel has its own name and
// the type "NONE". Both hold during the callback.
typedef struct MSCallBackParamC {
  char* node_name;
  char* node_type;
} MSCallBackParamC;

// Called before or after a node. Arrays and handles hold until the model is built again or
// destroyed. False is logged, and the inference goes on.
typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs,
                                  const MSTensorHandleArray outputs,
                                  const MSCallBackParamC kernel_Info);

// An empty model. NULL if memory is short.
MS_API MSModelHandle MSModelCreate(void);

// Frees a model with its context and sets the handle to NULL.
MS_API void MSModelDestroy(MSModelHandle* model);

// Of micro-controllers: nothing, and 0.
MS_API void MSModelSetWorkspace(MSModelHandle model, void* workspace, size_t workspace_size);
MS_API size_t MSModelCalcWorkspaceSize(MSModelHandle model);

// Loads a model from memory, which may be freed afterwards: a .tflite file, or a .ms file. The
// model takes the context over, also when it fails; after a failure it may be built again.
MS_API MSStatus MSModelBuild(MSModelHandle model, const void* model_data, size_t data_size,
                             MSModelType model_type, const MSContextHandle model_context);
MS_API MSStatus MSModelBuildFromFile(MSModelHandle model, const char* model_path,
                                     MSModelType model_type, const MSContextHandle model_context);

// New shapes for all inputs. After a failure the former shapes are in force.
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs,
                              MSShapeInfo* shape_infos, size_t shape_info_num);

// One inference. Inputs are the model's own tensors or the caller's, in the model's order, with
// type and size of the model's. `outputs`, which may be NULL, gets the model's.
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                               MSTensorHandleArray* outputs, const MSKernelCallBackC before,
                               const MSKernelCallBackC after);

// kMSStatusLiteNotSupport.
MS_API MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before,
                               const MSKernelCallBackC after);
MS_API MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train);
MS_API MSStatus MSModelExportWeight(const MSModelHandle model, const char* export_path);

// Empty for a model that is not built.
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);

// NULL where there is none of that name.
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model,
                                                  const char* tensor_name);
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model,
                                                   const char* tensor_name);

// ------------------------------------------------------------------------------------------------
// Training: not supported. The names are there so that programs link.
// ------------------------------------------------------------------------------------------------

// NULL.
MS_API MSTrainCfgHandle MSTrainCfgCreate(void);
MS_API void MSTrainCfgDestroy(MSTrainCfgHandle* train_cfg);
MS_API char** MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t* num);
MS_API void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char** loss_name, size_t num);
// kMSKO0.
MS_API MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level);

// kMSStatusLiteNotSupport; the context stays the caller's.
MS_API MSStatus MSTrainModelBuild(MSModelHandle model, const void* model_data, size_t data_size,
                                  MSModelType model_type, const MSContextHandle model_context,
                                  const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char* model_path,
                                          MSModelType model_type,
                                          const MSContextHandle model_context,
                                          const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before,
                          const MSKernelCallBackC after);
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
// 0.
MS_API float MSModelGetLearningRate(MSModelHandle model);
// Empty.
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model);
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights);
// False.
MS_API bool MSModelGetTrainMode(MSModelHandle model);
MS_API MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier,
                                         float lr, float momentum);
MS_API MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char* model_file,
                              MSQuantizationType quantization_type, bool export_inference_only,
                              char** output_tensor_name, size_t num);
MS_API MSStatus MSExportModelBuffer(MSModelHandle model, MSModelType model_type, char** model_data,
                                    size_t* data_size, MSQuantizationType quantization_type,
                                    bool export_inference_only, char** output_tensor_name,
                                    size_t num);
MS_API MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle model, MSModelType model_type,
                                                    const char* weight_file, bool is_inference,
                                                    bool enable_fp16,
                                                    char** changeable_weights_name, size_t num);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_C_H_
