// SPDX-License-Identifier: Apache-2.0
//
// Tensors of MindSpore Lite's C API. A tensor is the caller's own (MSTensorCreate, MSTensorClone),
// or a model's or delegate's: then it is a view of the tensor in the graph, belongs to the model,
// and MSTensorDestroy only sets the handle to NULL. Strings and arrays that are returned belong to
// the tensor and hold until it is changed. NULL for a handle is logged and returns 0 or NULL.
//
// A view may outlive its model if it is retained (delegate_c.h); it has no data and no shape then.
#ifndef DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_

#include "data_type_c.h"
#include "format_c.h"
#include "types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// A tensor of the caller's with a copy of `data_len` bytes at `data`, which may be NULL: then there
// is no memory until MSTensorGetMutableData or MSTensorSetData. NULL where name or shape are, where
// a dimension is negative, and where `data_len` is not the size of type and shape.
MS_API MSTensorHandle MSTensorCreate(const char* name, MSDataType type, const int64_t* shape,
                                     size_t shape_num, const void* data, size_t data_len);

// Frees a tensor of the caller's and sets the handle to NULL.
MS_API void MSTensorDestroy(MSTensorHandle* tensor);

// A tensor of the caller's with the same contents.
MS_API MSTensorHandle MSTensorClone(MSTensorHandle tensor);

// Of a view, names are kept beside the graph.
MS_API void MSTensorSetName(MSTensorHandle tensor, const char* name);
MS_API const char* MSTensorGetName(const MSTensorHandle tensor);

// The type of a view cannot be changed.
MS_API void MSTensorSetDataType(MSTensorHandle tensor, MSDataType type);
MS_API MSDataType MSTensorGetDataType(const MSTensorHandle tensor);

// The shape of a model's tensor changes by MSModelResize alone; a delegate's kernel sets those of
// its outputs while it is prepared or resized. Memory of the tensor's own is freed.
MS_API void MSTensorSetShape(MSTensorHandle tensor, const int64_t* shape, size_t shape_num);
MS_API const int64_t* MSTensorGetShape(const MSTensorHandle tensor, size_t* shape_num);

// A word about the layout; it moves no data.
MS_API void MSTensorSetFormat(MSTensorHandle tensor, MSFormat format);
MS_API MSFormat MSTensorGetFormat(const MSTensorHandle tensor);

// The tensor reads `data` from now on, which stays the caller's and must live as long. Of a view of
// a model's input it is copied by MSModelPredict.
MS_API void MSTensorSetData(MSTensorHandle tensor, void* data);

// NULL while there is no memory. While a delegate builds and prepares, only constants have data.
MS_API const void* MSTensorGetData(const MSTensorHandle tensor);

// As MSTensorGetData, but allocates memory if there is none. NULL if that fails.
MS_API void* MSTensorGetMutableData(const MSTensorHandle tensor);

// Number of elements, and their size in bytes; 0 where a dimension is unknown.
MS_API int64_t MSTensorGetElementNum(const MSTensorHandle tensor);
MS_API size_t MSTensorGetDataSize(const MSTensorHandle tensor);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_TENSOR_C_H_
