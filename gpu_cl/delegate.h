// SPDX-License-Identifier: Apache-2.0
//
// The delegate: chooses nodes, compiles each partition for the device, and runs it. It uses
// TensorFlow Lite's plain structs only, so that it loads into any runtime that has them.
#ifndef DEPUTY_GPU_CL_DELEGATE_H_
#define DEPUTY_GPU_CL_DELEGATE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "deputy/deputy_plugin.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/options.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Creates a delegate on the device that the options name, on that of the client's OpenCL objects,
// or on the best device. Returns null and a text on failure, for example if there is no such device
// or no OpenCL. The caller must destroy it, after the interpreters.
TfLiteDelegate* CreateDelegate(const Options& options, std::string* out_error);

// Creates a delegate as CreateDelegate does, but with the caller's table of OpenCL functions, which
// the delegate's context shares.
TfLiteDelegate* CreateDelegateOn(std::shared_ptr<const ClApi> api, const Options& options,
                                 std::string* out_error);

// Creates a delegate that reports `failure` when it is applied, and claims no nodes.
TfLiteDelegate* CreateFailingDelegate(const std::string& failure);

// Destroys a delegate, which may be null. In a forked child the delegate is leaked, because OpenCL
// must not be called there.
void DestroyDelegate(TfLiteDelegate* delegate);

// Implementations of members of DeputyDelegatePlugin: get_support, device_bytes,
// describe_partitions, take_events and node_events.
TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result);
size_t DeviceBytes(TfLiteDelegate* delegate);
TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data);
TfLiteStatus TakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                        void* user_data);
TfLiteStatus ReportNodeEvents(const TfLiteNode* node, DeputyNodeEventCallback callback,
                              void* user_data);

// Implementation of DeputyDelegatePlugin's report: fills `report`, and calls `callback` for each
// option that has no effect.
TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DELEGATE_H_
