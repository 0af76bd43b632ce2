// SPDX-License-Identifier: Apache-2.0
#include "core/base/kernel_call.h"

#include "core/base/operator_object.h"

namespace deputy {
namespace {

TfLiteStatus RefuseUnresolved(TfLiteContext*, TfLiteNode*) { return kTfLiteUnresolvedOps; }

TfLiteOpaqueContext* OpaqueOf(TfLiteContext* context) {
  return reinterpret_cast<TfLiteOpaqueContext*>(context);
}
TfLiteOpaqueNode* OpaqueOf(TfLiteNode* node) { return reinterpret_cast<TfLiteOpaqueNode*>(node); }

// Returns the operator whose functions are called, or null. An operator with a node index only
// describes a registration, which has its own functions.
const TfLiteOperator* OwnOperator(const TfLiteRegistration& registration) {
  const TfLiteOperator* op = registration.registration_external;
  return op != nullptr && op->node_index < 0 ? op : nullptr;
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

CallResult CallInit(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, const char* buffer, size_t length) {
  CallResult result = CallForeign(observer, call, [&](CallResult* out) {
    TfLiteOpaqueContext* const opaque = OpaqueOf(call.context);
    const TfLiteOperator* op = OwnOperator(registration);
    if (op != nullptr && op->init_with_data != nullptr) {
      out->user_data = op->init_with_data(op->user_data, opaque, buffer, length);
    } else if (op != nullptr && op->init != nullptr) {
      out->user_data = op->init(opaque, buffer, length);
    } else if (registration.init != nullptr) {
      out->user_data = registration.init(call.context, buffer, length);
    }
  });
  if (result.exception != nullptr) result.user_data = TfLiteKernelInitFailed();
  return result;
}

CallResult CallFree(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, void* user_data) {
  return CallForeign(observer, call, [&](CallResult*) {
    const TfLiteOperator* op = OwnOperator(registration);
    if (op != nullptr && op->free_with_data != nullptr) {
      op->free_with_data(op->user_data, OpaqueOf(call.context), user_data);
    } else if (op != nullptr && op->free != nullptr) {
      op->free(OpaqueOf(call.context), user_data);
    } else if (registration.free != nullptr) {
      registration.free(call.context, user_data);
    }
  });
}

CallResult CallPrepare(CallObserver* observer, const ForeignCall& call,
                       const TfLiteRegistration& registration, TfLiteNode* node) {
  return CallForeign(observer, call, [&](CallResult* out) {
    const TfLiteOperator* op = OwnOperator(registration);
    if (op != nullptr && op->prepare_with_data != nullptr) {
      out->status = op->prepare_with_data(op->user_data, OpaqueOf(call.context), OpaqueOf(node));
    } else if (op != nullptr && op->prepare != nullptr) {
      out->status = op->prepare(OpaqueOf(call.context), OpaqueOf(node));
    } else if (registration.prepare != nullptr) {
      out->status = registration.prepare(call.context, node);
    } else if (IsUnresolvedCustomOp(registration)) {
      out->status = kTfLiteUnresolvedOps;
    }
  });
}

CallResult CallInvoke(CallObserver* observer, const ForeignCall& call,
                      const TfLiteRegistration& registration, TfLiteNode* node) {
  return CallForeign(observer, call, [&](CallResult* out) {
    const TfLiteOperator* op = OwnOperator(registration);
    if (op != nullptr && op->invoke_with_data != nullptr) {
      out->status = op->invoke_with_data(op->user_data, OpaqueOf(call.context), OpaqueOf(node));
    } else if (op != nullptr && op->invoke != nullptr) {
      out->status = op->invoke(OpaqueOf(call.context), OpaqueOf(node));
    } else {
      out->status =
          registration.invoke != nullptr ? registration.invoke(call.context, node) : kTfLiteError;
    }
  });
}

bool InvokesPlain(const TfLiteRegistration& registration,
                  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  const TfLiteOperator* op = OwnOperator(registration);
  const bool has_own = op != nullptr && (op->invoke_with_data != nullptr || op->invoke != nullptr);
  return !has_own && registration.invoke == invoke;
}

}  // namespace deputy
