// SPDX-License-Identifier: Apache-2.0
//
// Models of MindSpore Lite's C API: load, run, resize. Functions for training and for
// micro-controllers return kMSStatusLiteNotSupport, 0 or NULL. DeputyMSLastError() (delegate_c.h)
// returns the message of a failure. Calls on one model from several threads are serialised.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_C_H_

#include "context_c.h"
#include "status_c.h"
#include "tensor_c.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MS_MAX_SHAPE_NUM 32

// An array of tensors. If a function returns one, the model owns the array and the handles, which
// are valid until the model is destroyed.
typedef struct MSTensorHandleArray {
  size_t handle_num;
  MSTensorHandle* handle_list;
} MSTensorHandleArray;

typedef struct MSShapeInfo {
  size_t shape_num;
  int64_t shape[MS_MAX_SHAPE_NUM];
} MSShapeInfo;

// A node: its name, and its type in MindSpore's terms. A delegate's kernel has its own name and the
// type "NONE". Both strings are valid during the callback.
typedef struct MSCallBackParamC {
  char* node_name;
  char* node_type;
} MSCallBackParamC;

// Called before or after a node. The arrays are valid until the model is resized or destroyed, the
// handles until it is destroyed. A result of false is logged, and the inference continues.
typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs,
                                  const MSTensorHandleArray outputs,
                                  const MSCallBackParamC kernel_Info);

// Creates an empty model. Returns NULL if out of memory.
MS_API MSModelHandle MSModelCreate(void);

// Frees a model, releases its context and sets the handle to NULL.
MS_API void MSModelDestroy(MSModelHandle* model);

// Workspace of micro-controllers, which is not supported: MSModelSetWorkspace has no effect, and
// MSModelCalcWorkspaceSize returns 0.
MS_API void MSModelSetWorkspace(MSModelHandle model, void* workspace, size_t workspace_size);
MS_API size_t MSModelCalcWorkspaceSize(MSModelHandle model);

// Loads a .tflite or .ms model from memory, which may be freed afterwards, or from a file. The
// model takes ownership of the context, also if the build fails, unless it is built already (-12).
// After a failure it may be built again.
MS_API MSStatus MSModelBuild(MSModelHandle model, const void* model_data, size_t data_size,
                             MSModelType model_type, const MSContextHandle model_context);
MS_API MSStatus MSModelBuildFromFile(MSModelHandle model, const char* model_path,
                                     MSModelType model_type, const MSContextHandle model_context);

// Sets the shapes of all inputs. After a failure the previous shapes are restored.
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs,
                              MSShapeInfo* shape_infos, size_t shape_info_num);

// Runs one inference. Inputs are the model's own tensors or the caller's, in the model's order,
// with the type and size of the model's. `outputs`, which may be NULL, receives the model's
// tensors.
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                               MSTensorHandleArray* outputs, const MSKernelCallBackC before,
                               const MSKernelCallBackC after);

// Runs one inference with the contents of the model's inputs: a step without training. The results
// are in the model's outputs.
MS_API MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before,
                               const MSKernelCallBackC after);

// Functions for training, which return kMSStatusLiteNotSupport; MSModelSetTrainMode(model, false)
// succeeds.
MS_API MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train);
MS_API MSStatus MSModelExportWeight(const MSModelHandle model, const char* export_path);

// Return the model's inputs and outputs. The arrays are empty if the model is not built.
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);

// Return an input or output by name; NULL if the model has no tensor of that name.
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model,
                                                  const char* tensor_name);
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model,
                                                   const char* tensor_name);

// ------------------------------------------------------------------------------------------------
// Training: not supported. The functions exist so that programs link.
// ------------------------------------------------------------------------------------------------

// Returns NULL, because training is not supported.
MS_API MSTrainCfgHandle MSTrainCfgCreate(void);
MS_API void MSTrainCfgDestroy(MSTrainCfgHandle* train_cfg);
MS_API char** MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t* num);
MS_API void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char** loss_name, size_t num);
// Returns kMSKO0, because training is not supported.
MS_API MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level);

// Same as MSModelRunStep.
MS_API MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before,
                          const MSKernelCallBackC after);

// Functions for training, which return kMSStatusLiteNotSupport. The caller keeps the ownership of
// the context.
MS_API MSStatus MSTrainModelBuild(MSModelHandle model, const void* model_data, size_t data_size,
                                  MSModelType model_type, const MSContextHandle model_context,
                                  const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char* model_path,
                                          MSModelType model_type,
                                          const MSContextHandle model_context,
                                          const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
// Returns 0, because training is not supported.
MS_API float MSModelGetLearningRate(MSModelHandle model);
// Returns an empty array, because training is not supported.
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model);
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights);
// Returns false.
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
