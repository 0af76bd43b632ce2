// SPDX-License-Identifier: Apache-2.0
//
// The registry of custom CPU kernels, on which register_kernel.h and register_kernel_interface.h
// are built. Registrations hold for the process and cannot be removed; a later one for the same key
// takes effect for models that are built afterwards. All functions may be called from any thread.
//
// A model is built with a registered kernel for each node that no delegate of the context replaces,
// and for which the registry has a creator:
//
// - A custom operator (type 191) gets the creator of its name and data type: for a device of the
//   context with provider and provider's device that of this provider and architecture; otherwise
//   the first one, by provider and architecture.
// - Another operator gets the creator of its type and data type for a device of the context whose
//   provider is that of the creator and whose provider's device is the creator's architecture.
//
// The data type is that of the first input that is float32, float16, int8, int32 or bool; otherwise
// that of the first input.
#ifndef DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_C_H_

#include "delegate_c.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DEPUTY_MS_CUSTOM_OPERATOR = 191 };

// Key of a creator in the registry, for registration and search.
typedef struct DeputyMSKernelKey {
  // Size of the struct: sizeof(DeputyMSKernelKey).
  size_t struct_size;
  // Architecture ("CPU") and vendor of the kernel. A search for a custom operator ignores both if
  // one of them is NULL or "".
  const char* arch;
  const char* provider;
  MSDataType data_type;
  // A value of PrimitiveType. For DEPUTY_MS_CUSTOM_OPERATOR, `custom_type` is the operator's name.
  int32_t op_type;
  const char* custom_type;
} DeputyMSKernelKey;

// Values of DeputyMSKernelCreator.flags.
enum {
  // The kernels set the shapes of their outputs in `prepare` and `resize`.
  kDeputyMSKernelInfersShapes = 1
};

// Creates kernels for nodes of models. The struct is copied.
typedef struct DeputyMSKernelCreator {
  // Size of the struct: sizeof(DeputyMSKernelCreator).
  size_t struct_size;
  // Properties of the kernels: bits of kDeputyMSKernel*. Without InfersShapes and a registered
  // interface, kernels other than those of custom operators are created again after a resize, with
  // the shapes that the runtime infers.
  uint32_t flags;
  // Pointer that is passed to `create`.
  void* user_data;
  // Creates a kernel for a node, described as in a delegate's `build`. `kernel` and `primitive` are
  // valid during the call. Sets the functions and their user_data, and returns 0; other results
  // make the build fail. An exception makes the build fail with its text.
  int (*create)(void* user_data, const DeputyMSKernel* kernel, const DeputyMSPrimitive* primitive,
                MSContextHandle context, DeputyMSKernelFunctions* out_functions,
                void** out_user_data);
  // Object of register_kernel.h that has the C++ function; NULL for creators of C programs.
  const void* object;
} DeputyMSKernelCreator;

// Registers a creator. Returns -2 if an argument is NULL or the creator has no function or an
// invalid size, -3 if the key has an invalid size, an empty string, or a type or data type out of
// range.
MS_API MSStatus DeputyMSRegisterKernel(const DeputyMSKernelKey* key,
                                       const DeputyMSKernelCreator* creator);

// Returns a creator, or NULL. `out_arch`, which may be NULL, receives its architecture. Both are
// valid for the life of the process.
MS_API const DeputyMSKernelCreator* DeputyMSFindKernel(const DeputyMSKernelKey* key,
                                                       const char** out_arch);

// Registers an object for shape inference; `arch` and `data_type` of the key are ignored. For
// register_kernel_interface.h: the object is a C++ object, which must live as long as the process.
MS_API MSStatus DeputyMSRegisterKernelInterface(const DeputyMSKernelKey* key, void* object);

// Returns the object, or NULL. For a custom operator that of the first provider that has one.
MS_API void* DeputyMSFindKernelInterface(const DeputyMSKernelKey* key);

// Attach an object to a context, which calls `release` when it is destroyed, and return it.
// register_kernel.h uses it for the C++ context that kernels get.
MS_API MSStatus DeputyMSContextSetObject(MSContextHandle context, void* object,
                                         void (*release)(void* object));
MS_API void* DeputyMSContextGetObject(const MSContextHandle context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_C_H_
