// SPDX-License-Identifier: Apache-2.0
#include "core/base/kernel_call.h"

#include "core/base/operator_object.h"
#include "core/exec/op_listener.h"
#include "core/exec/subgraph.h"
#include "core/validation/validation.h"

namespace deputy {
namespace {

TfLiteStatus RefuseUnresolved(TfLiteContext*, TfLiteNode*) { return kTfLiteUnresolvedOps; }

TfLiteOpaqueContext* Opaque(TfLiteContext* context) {
  return reinterpret_cast<TfLiteOpaqueContext*>(context);
}
TfLiteOpaqueNode* Opaque(TfLiteNode* node) { return reinterpret_cast<TfLiteOpaqueNode*>(node); }

// The operator whose functions count, or null. One with a node index only describes a registration
// that has functions of its own.
const TfLiteOperator* OwnOperator(const TfLiteRegistration& registration) {
  const TfLiteOperator* op = registration.registration_external;
  return op != nullptr && op->node_index < 0 ? op : nullptr;
}

template <typename Result, typename Call>
Result Contain(TfLiteContext* context, const char* what, Result on_exception, Call&& call) {
  try {
    return call();
  } catch (...) {
    if (Runtime* runtime = RuntimeOf(context)) runtime->NoteFailure(what);
    if (Validation* validation = ValidationOf(context)) validation->Exception(what);
    return on_exception;
  }
}

}  // namespace

bool IsUnresolvedCustomOp(const TfLiteRegistration& registration) {
  return registration.builtin_code == kTfLiteBuiltinCustom &&
         registration.invoke == &RefuseUnresolved;
}

TfLiteRegistration UnresolvedCustomOp(const char* name, int version) {
  TfLiteRegistration registration{};
  registration.invoke = &RefuseUnresolved;
  registration.builtin_code = kTfLiteBuiltinCustom;
  registration.custom_name = name;
  registration.version = version;
  return registration;
}

void* CallInit(TfLiteContext* context, const TfLiteRegistration& registration, const char* buffer,
               size_t length) {
  return Contain(context, "init threw an exception", TfLiteKernelInitFailed(), [&]() -> void* {
    if (const TfLiteOperator* op = OwnOperator(registration)) {
      if (op->init_with_data != nullptr) {
        return op->init_with_data(op->user_data, Opaque(context), buffer, length);
      }
      if (op->init != nullptr) return op->init(Opaque(context), buffer, length);
    }
    return registration.init != nullptr ? registration.init(context, buffer, length) : nullptr;
  });
}

void CallFree(TfLiteContext* context, const TfLiteRegistration& registration, void* user_data) {
  Contain(context, "free threw an exception", 0, [&] {
    const TfLiteOperator* op = OwnOperator(registration);
    if (op != nullptr && op->free_with_data != nullptr) {
      op->free_with_data(op->user_data, Opaque(context), user_data);
    } else if (op != nullptr && op->free != nullptr) {
      op->free(Opaque(context), user_data);
    } else if (registration.free != nullptr) {
      registration.free(context, user_data);
    }
    return 0;
  });
}

TfLiteStatus CallPrepare(TfLiteContext* context, const TfLiteRegistration& registration,
                         TfLiteNode* node) {
  return Contain(context, "prepare threw an exception", kTfLiteError, [&] {
    if (const TfLiteOperator* op = OwnOperator(registration)) {
      if (op->prepare_with_data != nullptr) {
        return op->prepare_with_data(op->user_data, Opaque(context), Opaque(node));
      }
      if (op->prepare != nullptr) return op->prepare(Opaque(context), Opaque(node));
    }
    if (registration.prepare != nullptr) return registration.prepare(context, node);
    return IsUnresolvedCustomOp(registration) ? kTfLiteUnresolvedOps : kTfLiteOk;
  });
}

TfLiteStatus CallInvoke(TfLiteContext* context, const TfLiteRegistration& registration,
                        TfLiteNode* node) {
  NoteBeginOfOp(context, node);
  return Contain(context, "invoke threw an exception", kTfLiteError, [&] {
    if (const TfLiteOperator* op = OwnOperator(registration)) {
      if (op->invoke_with_data != nullptr) {
        return op->invoke_with_data(op->user_data, Opaque(context), Opaque(node));
      }
      if (op->invoke != nullptr) return op->invoke(Opaque(context), Opaque(node));
    }
    return registration.invoke != nullptr ? registration.invoke(context, node) : kTfLiteError;
  });
}

}  // namespace deputy
