// SPDX-License-Identifier: Apache-2.0
//
// Functions that Deputy adds to MindSpore Lite's C API for members of the C++ API that the C API
// does not have: ownership and allocators of a tensor's memory, device pointers, texts, further
// settings of contexts and devices, and configuration files.
#ifndef DEPUTY_MINDSPORE_INCLUDE_EXTENSIONS_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_EXTENSIONS_C_H_

#include "delegate_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns a text with the version of Deputy and of the API of MindSpore Lite that it has. Static
// string.
MS_API const char* DeputyMSVersion(void);

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------

// An allocator of the caller. The struct is copied, and all functions receive `user_data`.
typedef struct DeputyMSAllocator {
  // Size of the struct: sizeof(DeputyMSAllocator).
  size_t struct_size;
  void* user_data;
  // Returns `size` bytes, or NULL if out of memory.
  void* (*allocate)(void* user_data, size_t size);
  // Frees a block of `allocate`.
  void (*deallocate)(void* user_data, void* block);
  // Called once, after the last block is freed. May be NULL.
  void (*release)(void* user_data);
} DeputyMSAllocator;

// Sets the allocator of a tensor that belongs to the caller: later memory of the tensor comes from
// it, and memory that the tensor has is freed. NULL restores the heap. Returns -7 for a view of a
// graph's tensor, whose memory the runtime owns, -3 if a function is missing or the struct is too
// small for the required ones. `release` is called after every failure, if the struct has it.
MS_API MSStatus DeputyMSTensorSetAllocator(MSTensorHandle tensor,
                                           const DeputyMSAllocator* allocator);

// Makes the tensor use `data` as MSTensorSetData does. With `own_data`, the tensor frees it when
// the last reference to the tensor is removed: with its allocator, or else with free(). Data that a
// further call replaces is not freed.
MS_API MSStatus DeputyMSTensorSetData(MSTensorHandle tensor, void* data, bool own_data);

// Set and return the address of the tensor's data on a device. The runtime passes the address of a
// model's input or output to the tensors of delegates' kernels, and does not access it; NULL
// removes it. If a tensor with such an address, but without data, is passed to MSModelPredict, then
// all kernels that read it must be kernels of the delegate of DeputyMSContextSetDelegate. Otherwise
// MSModelPredict fails with -101.
MS_API MSStatus DeputyMSTensorSetDeviceData(MSTensorHandle tensor, void* data);
MS_API void* DeputyMSTensorGetDeviceData(MSTensorHandle tensor);

// Sets the quantisation parameters of a tensor that belongs to the caller. Returns -7 for a view.
MS_API MSStatus DeputyMSTensorSetQuantParams(MSTensorHandle tensor,
                                             const DeputyMSQuantParam* params, size_t count);

// Creates a tensor with `count` texts of the given sizes in bytes, and type
// kMSDataTypeObjectTypeString; its shape is [count]. Returns NULL on failure.
MS_API MSTensorHandle DeputyMSTensorCreateStrings(const char* name, const char* const* texts,
                                                  const size_t* sizes, size_t count);
// Returns the number of texts of such a tensor, or of a model's tensor of that type; 0 if its
// contents are invalid. Sets `text` and `size` to the text with `index`, if it exists; both may be
// NULL. The tensor owns the text, which does not end with a NUL.
MS_API size_t DeputyMSTensorGetString(MSTensorHandle tensor, size_t index, const char** text,
                                      size_t* size);

// Returns the object that a client's code has attached to the tensor. `create`, which identifies
// the code, is called for the first call with it, and `destroy` when the tensor is freed. Returns
// NULL if the tensor is NULL or out of memory. May be called from any thread.
MS_API void* DeputyMSTensorAttach(MSTensorHandle tensor, void* (*create)(void),
                                  void (*destroy)(void* object));

// ------------------------------------------------------------------------------------------------
// Settings
// ------------------------------------------------------------------------------------------------

// Set a setting of a context or device that has no function of its own. MSModelBuild obeys it, logs
// that it has no effect, or fails with a text that names it. Settings of contexts are
// "inter_op_parallel_num", "multi_modal_hw", "group_info_file" and "built_in_delegate"; other names
// return -3. Those of devices have the names of the members of the C++ API ("device_id",
// "precision_mode"). Settings of devices other than the CPU are options of their libraries, if the
// library declares them. MSDeviceInfoCreate creates devices of the types 0 to 8 of the C++ API.
MS_API MSStatus DeputyMSContextSetSetting(MSContextHandle context, const char* name,
                                          const char* value);
MS_API MSStatus DeputyMSDeviceInfoSetSetting(MSDeviceInfoHandle device_info, const char* name,
                                             const char* value);

// Returns the outputs that the node with this name computes; an empty array if there are none or
// the model is not built. Names are those in the .ms file, and those that callbacks receive. The
// model owns the array.
MS_API MSTensorHandleArray DeputyMSModelGetOutputsByNodeName(const MSModelHandle model,
                                                             const char* node_name);

// Reads a configuration file: sections "[name]" with lines "key = value"; lines that begin with #
// or ; are comments. Later entries with the same section and key are ignored and logged. Returns
// -10 if the file cannot be read or a line, whose number the message has, is invalid, -3 above 100
// sections or 1000 entries in one, and -1 if the model is built; the configuration is then
// unchanged. MSModelBuild obeys the entries that docs/mindspore.md names, and logs all others as
// without effect. Delegates' kernels of the C++ API receive all.
MS_API MSStatus DeputyMSModelLoadConfig(MSModelHandle model, const char* path);

// Adds or replaces one entry. Returns -3 above the limits of DeputyMSModelLoadConfig or if the
// section or key is empty, -2 if an argument is NULL, and -1 if the model is built.
MS_API MSStatus DeputyMSModelUpdateConfig(MSModelHandle model, const char* section, const char* key,
                                          const char* value);

// Calls `visit` for each entry, sorted by section and key.
MS_API void DeputyMSModelVisitConfig(const MSModelHandle model,
                                     void (*visit)(void* user_data, const char* section,
                                                   const char* key, const char* value),
                                     void* user_data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_EXTENSIONS_C_H_
