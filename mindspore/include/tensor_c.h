// SPDX-License-Identifier: Apache-2.0
//
// Tensors of MindSpore Lite's C API. A tensor belongs to the caller (MSTensorCreate,
// MSTensorClone), or is a view of a tensor in the graph of a model or delegate. A view belongs to
// the model, and MSTensorDestroy only sets its handle to NULL. The tensor owns the strings and
// arrays that functions return; they are valid until it is modified. A NULL handle is logged, and
// the function returns 0 or NULL (MSTensorGetFormat: NHWC).
//
// A view may outlive its model if it is retained (delegate_c.h); it then has no data and no shape.
#ifndef DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_

#include "data_type_c.h"
#include "format_c.h"
#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a tensor with a copy of the `data_len` bytes at `data`. If `data` is NULL, the tensor has
// no memory until MSTensorGetMutableData or MSTensorSetData, and `data_len` is ignored. Returns
// NULL if `name` is NULL, the shape is invalid, or `data_len` is not the size that type and shape
// require, or if out of memory.
MS_API MSTensorHandle MSTensorCreate(const char* name, MSDataType type, const int64_t* shape,
                                     size_t shape_num, const void* data, size_t data_len);

// Frees a tensor that the caller created, and sets the handle to NULL.
MS_API void MSTensorDestroy(MSTensorHandle* tensor);

// Creates a tensor with the same contents, which belongs to the caller.
MS_API MSTensorHandle MSTensorClone(MSTensorHandle tensor);

// Set and return the name of the tensor. Renaming a view does not rename the tensor in the graph.
MS_API void MSTensorSetName(MSTensorHandle tensor, const char* name);
MS_API const char* MSTensorGetName(const MSTensorHandle tensor);

// Set and return the element type. The type of a view cannot be changed.
MS_API void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type);
MS_API MSDataType MSTensorGetDataType(const MSTensorHandle tensor);

// Set and return the shape. The shape of a model's tensor changes only through MSModelResize; a
// delegate's kernel sets the shapes of its outputs while it is prepared or resized, or, if it has
// postponed that, while it is executed. A new shape frees memory that the tensor owns.
MS_API void MSTensorSetShape(MSTensorHandle tensor, const int64_t* shape, size_t shape_num);
MS_API const int64_t* MSTensorGetShape(const MSTensorHandle tensor, size_t* shape_num);

// Set and return the layout that the tensor is labelled with. Setting it does not move data.
MS_API void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format);
MS_API MSFormat MSTensorGetFormat(const MSTensorHandle tensor);

// Makes the tensor use `data`, which the caller owns and must keep alive as long as the tensor uses
// it. For a view of a model's input, MSModelPredict copies the data; other views do not accept
// data.
MS_API void MSTensorSetData(MSTensorHandle tensor, void* data);

// Returns the tensor's data; NULL while the tensor has no memory. While a delegate builds and
// prepares, only constants have data.
MS_API const void* MSTensorGetData(const MSTensorHandle tensor);

// Returns the tensor's data for writing. Allocates memory if a tensor of the caller, or one that is
// internal to a delegate's kernel, has none. Returns NULL for a constant, for another view without
// memory, for a size of 0, or if the allocation fails.
MS_API void* MSTensorGetMutableData(const MSTensorHandle tensor);

// Return the number of elements, and their total size in bytes; 0 if a dimension is unknown.
MS_API int64_t MSTensorGetElementNum(const MSTensorHandle tensor);
MS_API size_t MSTensorGetDataSize(const MSTensorHandle tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_
