// SPDX-License-Identifier: Apache-2.0
//
// The C functions of compiled models.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "litert/src/compiled_model.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

constexpr uint32_t kSchedulingFields =
    kLiteRtSchedulingInfoFieldOriginalUid | kLiteRtSchedulingInfoFieldDebugFeatureId |
    kLiteRtSchedulingInfoFieldJobPriority | kLiteRtSchedulingInfoFieldGroupId;

LiteRtStatus CheckScheduling(const LiteRtSchedulingInfo& info) {
  const uint32_t fields = info.fields_mask & kSchedulingFields;
  if ((fields & kLiteRtSchedulingInfoFieldDebugFeatureId) != 0 &&
      info.debug_feature_id == nullptr) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "scheduling: expected a debug feature ID, found NULL");
  }
  const int32_t priority = info.job_priority;
  if ((fields & kLiteRtSchedulingInfoFieldJobPriority) != 0 &&
      (priority < kLiteRtSchedulingInfoJobPriorityHighest ||
       priority > kLiteRtSchedulingInfoJobPriorityLowest)) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "scheduling: expected a priority from %d to %d, found %d",
                kLiteRtSchedulingInfoJobPriorityHighest, kLiteRtSchedulingInfoJobPriorityLowest,
                priority);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus Run(LiteRtCompiledModel model, LiteRtParamIndex signature, size_t inputs,
                 LiteRtTensorBuffer* input_buffers, size_t outputs,
                 LiteRtTensorBuffer* output_buffers, LiteRtCompiledModelT::RunSettings settings) {
  if (model == nullptr || (inputs > 0 && input_buffers == nullptr) ||
      (outputs > 0 && output_buffers == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (settings.scheduling != nullptr) {
    LITERT_TRY(CheckScheduling(*settings.scheduling));
  } else if (model->scheduling.fields_mask != 0) {
    settings.scheduling = &model->scheduling;
  }
  return Guard([&] {
    return model->Run(signature, {input_buffers, inputs}, {output_buffers, outputs}, settings);
  });
}

}  // namespace

LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment, LiteRtModel model,
                                       LiteRtOptions compilation_options,
                                       LiteRtCompiledModel* compiled_model) {
  if (environment == nullptr || model == nullptr || compiled_model == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (compilation_options == nullptr) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: expected compilation options, found NULL");
  }
  return Guard([&] {
    auto created = std::make_unique<LiteRtCompiledModelT>(environment);
    LITERT_TRY(created->Compile(*model, compilation_options));
    *compiled_model = created.release();
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyCompiledModel(LiteRtCompiledModel compiled_model) { delete compiled_model; }

LiteRtStatus LiteRtGetCompiledModelInputBufferRequirements(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex input_index, LiteRtTensorBufferRequirements* buffer_requirements) {
  if (compiled_model == nullptr || buffer_requirements == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return compiled_model->Requirements(signature_index, input_index, true, buffer_requirements);
  });
}

LiteRtStatus LiteRtGetCompiledModelOutputBufferRequirements(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex output_index, LiteRtTensorBufferRequirements* buffer_requirements) {
  if (compiled_model == nullptr || buffer_requirements == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return compiled_model->Requirements(signature_index, output_index, false, buffer_requirements);
  });
}

LiteRtStatus LiteRtGetCompiledModelInputTensorLayout(LiteRtCompiledModel compiled_model,
                                                     LiteRtParamIndex signature_index,
                                                     LiteRtParamIndex input_index,
                                                     LiteRtLayout* layout) {
  if (compiled_model == nullptr || layout == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return compiled_model->InputLayout(signature_index, input_index, layout); });
}

LiteRtStatus LiteRtGetCompiledModelOutputTensorLayouts(LiteRtCompiledModel compiled_model,
                                                       LiteRtParamIndex signature_index,
                                                       size_t num_layouts, LiteRtLayout* layouts,
                                                       bool update_allocation) {
  if (compiled_model == nullptr || (num_layouts > 0 && layouts == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return compiled_model->OutputLayouts(signature_index, {layouts, num_layouts},
                                         update_allocation);
  });
}

LiteRtStatus LiteRtGetCompiledModelEnvironment(LiteRtCompiledModel compiled_model,
                                               LiteRtEnvironment* environment) {
  if (compiled_model == nullptr || environment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *environment = compiled_model->environment();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel compiled_model,
                                    LiteRtParamIndex signature_index, size_t num_input_buffers,
                                    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
                                    LiteRtTensorBuffer* output_buffers) {
  return Run(compiled_model, signature_index, num_input_buffers, input_buffers, num_output_buffers,
             output_buffers, {});
}

LiteRtStatus LiteRtRunCompiledModelWithOptions(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, LiteRtOptions options) {
  return Run(compiled_model, signature_index, num_input_buffers, input_buffers, num_output_buffers,
             output_buffers, {.options = options});
}

LiteRtStatus LiteRtRunCompiledModelAsync(LiteRtCompiledModel compiled_model,
                                         LiteRtParamIndex signature_index, size_t num_input_buffers,
                                         LiteRtTensorBuffer* input_buffers,
                                         size_t num_output_buffers,
                                         LiteRtTensorBuffer* output_buffers, bool* async) {
  return LiteRtRunCompiledModelAsyncWithOptions(compiled_model, signature_index, num_input_buffers,
                                                input_buffers, num_output_buffers, output_buffers,
                                                async, nullptr);
}

LiteRtStatus LiteRtRunCompiledModelAsyncWithOptions(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, bool* async, LiteRtOptions options) {
  bool ignored = false;
  bool* const is_async = async == nullptr ? &ignored : async;
  *is_async = false;
  return Run(compiled_model, signature_index, num_input_buffers, input_buffers, num_output_buffers,
             output_buffers, {.is_async = is_async, .options = options});
}

LiteRtStatus LiteRtCompiledModelSetSchedulingInfo(LiteRtCompiledModel compiled_model,
                                                  const LiteRtSchedulingInfo* scheduling_info) {
  if (compiled_model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (scheduling_info == nullptr) {
    compiled_model->scheduling = {};
    return kLiteRtStatusOk;
  }
  LITERT_TRY(CheckScheduling(*scheduling_info));
  compiled_model->scheduling = *scheduling_info;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtRunCompiledModelWithSchedulingInfo(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, const LiteRtSchedulingInfo* scheduling_info) {
  return Run(compiled_model, signature_index, num_input_buffers, input_buffers, num_output_buffers,
             output_buffers, {.scheduling = scheduling_info});
}

LiteRtStatus LiteRtRunCompiledModelAsyncWithSchedulingInfo(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, bool* async, const LiteRtSchedulingInfo* scheduling_info) {
  bool ignored = false;
  bool* const is_async = async == nullptr ? &ignored : async;
  *is_async = false;
  return Run(compiled_model, signature_index, num_input_buffers, input_buffers, num_output_buffers,
             output_buffers, {.is_async = is_async, .scheduling = scheduling_info});
}

LiteRtStatus LiteRtSetCompiledModelCancellationFunction(LiteRtCompiledModel compiled_model,
                                                        void* data,
                                                        bool (*check_cancelled_func)(void*)) {
  if (compiled_model == nullptr || check_cancelled_func == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return compiled_model->SetCancellationFunction(data, check_cancelled_func);
}

LiteRtStatus LiteRtCompiledModelStartMetricsCollection(LiteRtCompiledModel compiled_model,
                                                       int detail_level) {
  if (compiled_model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return compiled_model->StartMetrics(detail_level); });
}

LiteRtStatus LiteRtCompiledModelStopMetricsCollection(LiteRtCompiledModel compiled_model,
                                                      LiteRtMetrics metrics) {
  if (compiled_model == nullptr || metrics == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return compiled_model->StopMetrics(metrics); });
}

LiteRtStatus LiteRtCompiledModelIsFullyAccelerated(LiteRtCompiledModel compiled_model,
                                                   bool* fully_accelerated) {
  if (compiled_model == nullptr || fully_accelerated == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *fully_accelerated = compiled_model->is_fully_accelerated();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelIsNonCpuFullyAccelerated(LiteRtCompiledModel compiled_model,
                                                         bool* non_cpu_fully_accelerated) {
  if (compiled_model == nullptr || non_cpu_fully_accelerated == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *non_cpu_fully_accelerated = compiled_model->is_fully_delegated();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelGetProfiler(LiteRtCompiledModel compiled_model,
                                            LiteRtProfiler* profiler) {
  if (compiled_model == nullptr || profiler == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *profiler = compiled_model->profiler();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelResizeInputTensor(LiteRtCompiledModel compiled_model,
                                                  LiteRtParamIndex signature_index,
                                                  LiteRtParamIndex input_index, const int* dims,
                                                  size_t dims_size) {
  if (compiled_model == nullptr || (dims_size > 0 && dims == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return compiled_model->Resize(signature_index, input_index, {dims, dims_size}, true);
  });
}

LiteRtStatus LiteRtCompiledModelResizeInputTensorNonStrict(LiteRtCompiledModel compiled_model,
                                                           LiteRtParamIndex signature_index,
                                                           LiteRtParamIndex input_index,
                                                           const int* dims, size_t dims_size) {
  if (compiled_model == nullptr || (dims_size > 0 && dims == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return compiled_model->Resize(signature_index, input_index, {dims, dims_size}, false);
  });
}

LiteRtStatus LiteRtCompiledModelSetDispatchAnnotation(LiteRtCompiledModel compiled_model,
                                                      LiteRtParamIndex signature_index,
                                                      const char* key, const char* value) {
  if (compiled_model == nullptr || signature_index >= compiled_model->signature_count() ||
      key == nullptr || value == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    compiled_model->annotations[{signature_index, key}] = value;
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCompiledModelGetDispatchAnnotation(LiteRtCompiledModel compiled_model,
                                                      LiteRtParamIndex signature_index,
                                                      const char* key, const char** value) {
  if (compiled_model == nullptr || key == nullptr || value == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    const auto found = compiled_model->annotations.find({signature_index, key});
    *value = found == compiled_model->annotations.end() ? nullptr : found->second.c_str();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCompiledModelRemoveDispatchAnnotation(LiteRtCompiledModel compiled_model,
                                                         LiteRtParamIndex signature_index,
                                                         const char* key) {
  if (compiled_model == nullptr || key == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    compiled_model->annotations.erase({signature_index, key});
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCompiledModelReportError(LiteRtCompiledModel compiled_model, const char* format,
                                            ...) {
  if (compiled_model == nullptr || format == nullptr) return kLiteRtStatusErrorInvalidArgument;
  va_list arguments;
  va_start(arguments, format);
  compiled_model->Report(format, arguments);
  va_end(arguments);
  return kLiteRtStatusOk;
}

namespace {

// Fails unless the compiled model keeps its errors.
LiteRtStatus CheckKeepsErrors(LiteRtCompiledModel compiled_model) {
  switch (compiled_model->reporter_mode()) {
    case kLiteRtErrorReporterModeBuffer:
      return kLiteRtStatusOk;
    case kLiteRtErrorReporterModeStderr:
      return Fail(kLiteRtStatusErrorUnsupported,
                  "compiled model: errors are kept only with the buffer error reporter");
    default:
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: it was created without an error reporter");
  }
}

}  // namespace

LiteRtStatus LiteRtCompiledModelClearErrors(LiteRtCompiledModel compiled_model) {
  if (compiled_model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  LITERT_TRY(CheckKeepsErrors(compiled_model));
  compiled_model->errors().clear();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelGetErrorMessages(LiteRtCompiledModel compiled_model,
                                                 char** error_messages) {
  if (compiled_model == nullptr || error_messages == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  LITERT_TRY(CheckKeepsErrors(compiled_model));
  char* const copy = strdup(compiled_model->errors().c_str());
  if (copy == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
  *error_messages = copy;
  return kLiteRtStatusOk;
}
