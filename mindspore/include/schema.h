// SPDX-License-Identifier: Apache-2.0
//
// MindSpore's schema: namespace mindspore::schema has the primitives (`Primitive`, `Conv2DFusion`,
// ...), their types (`PrimitiveType`) and the enumerations of their attributes. The classes read
// FlatBuffers, so that programs with delegates need FlatBuffers' headers.
//
//     const schema::Primitive* primitive = model->GetPrimitive(kernel);
//     const schema::Conv2DFusion* conv = primitive->value_as_Conv2DFusion();
//     if (conv != nullptr && conv->stride() != nullptr) ... conv->stride()->Get(0) ...
//
// Lists, strings and tables that a model does not set are null.
#ifndef DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_
#define DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_

#include "schema/model_generated.h"

namespace mindspore {

enum SchemaVersion : int { SCHEMA_INVALID = -1, SCHEMA_CUR = 0, SCHEMA_V0 = 1 };

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_SCHEMA_H_
