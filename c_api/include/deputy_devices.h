// SPDX-License-Identifier: Apache-2.0
//
// Devices of all plug-ins, and policies that choose one of them. The functions are exported by
// libdeputy.so.1; the rules of deputy.h on structs, threads, NULL and failures apply.
//
//     DeputyDeviceList* list = DeputyDeviceListCreate(NULL);
//     const size_t count = DeputyDeviceListGetCount(list);
//     int64_t index = -1;
//     DeputyChooseDevice(kDeputyDevicePolicyEfficiency, DeputyDeviceListGetDevices(list), count,
//                        &index);
//     TfLiteDelegate* delegate =
//         index < 0 ? NULL : DeputyDeviceListCreateDelegate(list, (size_t)index, NULL, NULL, 0);
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_DEVICES_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_DEVICES_H_

#include <stddef.h>
#include <stdint.h>

#include "deputy.h"
#include "deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rule that ranks devices by their type, power class, preferred batch and memory;
// docs/devices.md has the table. No policy chooses a CPU, on which the runtime's own kernels run
// without a delegate, nor a device of another type than those named here.
typedef enum DeputyDevicePolicy {
  // Highest throughput: discrete GPU, accelerator, integrated GPU, NPU.
  kDeputyDevicePolicyPerformance = 0,
  // Least energy per inference: by power class, the lowest first, without the class "high"; in one
  // class NPU, accelerator, integrated GPU, discrete GPU.
  kDeputyDevicePolicyEfficiency = 1,
  // Shortest time of a single inference: first devices that do not prefer batches; among them NPU,
  // integrated GPU, discrete GPU, accelerator.
  kDeputyDevicePolicyLatency = 2,
  // An NPU; without one as kDeputyDevicePolicyPerformance.
  kDeputyDevicePolicyPreferNpu = 3,
  // A discrete GPU, an integrated GPU, accelerator, NPU.
  kDeputyDevicePolicyPreferGpu = 4,
} DeputyDevicePolicy;

// Chooses one of `count` devices by a policy: sets `index` to its position in the array, or to -1
// if the policy prefers the CPU to all of them. Pointers that are NULL, devices that are not
// usable, and those with a struct_size below that of the first release or a negative index are not
// chosen. Of several equal devices the first is chosen. The arguments alone determine the result;
// the function keeps no pointer. kTfLiteError for a policy that is not in the enum, NULL `index`,
// and NULL `devices` unless `count` is 0. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyChooseDevice(DeputyDevicePolicy policy,
                                                const DeputyDeviceInfo* const* devices,
                                                size_t count, int64_t* index);

// Chooses one of `count` devices, of which some may be NULL: returns its position in the array, or
// -1 for the CPU. May throw an exception in C++.
typedef int64_t (*DeputyDeviceChooser)(void* user_data, const DeputyDeviceInfo* const* devices,
                                       size_t count);

// Chooses a device with a callback, which is called once on the calling thread, before the function
// returns. kTfLiteError, with `index` -1, for NULL arguments as in DeputyChooseDevice, a NULL
// callback, one that throws, and a result out of range or of a device that is not usable;
// DeputyLastError() has the text. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyChooseDeviceByCallback(DeputyDeviceChooser chooser,
                                                          void* user_data,
                                                          const DeputyDeviceInfo* const* devices,
                                                          size_t count, int64_t* index);

// Devices of several plug-ins, and the reasons for plug-ins without devices. The list is immutable;
// any thread may read it.
typedef struct DeputyDeviceList DeputyDeviceList;

// Loads plug-ins as DeputyPluginListCreate does, with the same `paths`, and lists the devices of
// each. Texts of devices are copied, up to 65535 bytes of each. A plug-in that cannot be loaded or
// has no device becomes an entry with the reason, and so do a device with a wrong struct_size or a
// negative index, and the devices of a plug-in after its first 1024. The caller owns the list. NULL
// if out of memory. Any thread; see DeputyPluginLoad.
TFL_CAPI_EXPORT DeputyDeviceList* DeputyDeviceListCreate(const char* paths);

// Frees a list and its references to plug-ins; delegates that were created from it stay valid. NULL
// is ignored.
TFL_CAPI_EXPORT void DeputyDeviceListDelete(DeputyDeviceList* list);

// Number of entries; 0 for NULL.
TFL_CAPI_EXPORT size_t DeputyDeviceListGetCount(const DeputyDeviceList* list);

// Returns an array with a pointer for each entry, to its device or NULL, for DeputyChooseDevice.
// The structs have the size of the library's version of DeputyDeviceInfo; no text is NULL, and
// `options` are the options that create a delegate on the device. Owned by the list. NULL for NULL.
TFL_CAPI_EXPORT const DeputyDeviceInfo* const* DeputyDeviceListGetDevices(
    const DeputyDeviceList* list);

// The plug-in of an entry. Texts and plug-in are owned by the list.
typedef struct DeputyDeviceEntry {
  // sizeof(DeputyDeviceEntry).
  size_t struct_size;
  // The plug-in; NULL if it could not be loaded. Call DeputyPluginRetain to keep it longer.
  DeputyPlugin* plugin;
  // Path of its file, and its name; the name is the path if it could not be loaded.
  const char* path;
  const char* name;
  // Reason why the entry has no device; "" if it has one.
  const char* problem;
} DeputyDeviceEntry;

// Fills `entry`, whose struct_size the caller has set. kTfLiteError for NULL, an index out of range
// and a struct_size that is too small.
TFL_CAPI_EXPORT TfLiteStatus DeputyDeviceListGetEntry(const DeputyDeviceList* list, size_t index,
                                                      DeputyDeviceEntry* entry);

// Creates a delegate on the device of an entry, with the device's options followed by `count`
// options of the caller. Arguments, ownership and failures are as in DeputyPluginCreateDelegate.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyDeviceListCreateDelegate(const DeputyDeviceList* list,
                                                               size_t index,
                                                               const char* const* keys,
                                                               const char* const* values,
                                                               size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_DEVICES_H_
