// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/async_kernel.h"

#include <type_traits>

namespace deputy::layers {
namespace {

// A TfLiteAsyncKernel has the layout of a DeputyAsyncKernel.
const DeputyAsyncKernel& TableOf(const TfLiteAsyncKernel* kernel) {
  return *reinterpret_cast<const DeputyAsyncKernel*>(kernel);
}

}  // namespace

// The functions of the table.
struct AsyncKernel::Functions {
  static AsyncKernel& Of(const TfLiteAsyncKernel* kernel) {
    return *static_cast<AsyncKernel*>(TableOf(kernel).kernel_data);
  }

  // Replaces the node of the runtime by that of the inner delegate.
  template <typename Argument>
  static Argument Inner(AsyncKernel& kernel, Argument argument) {
    if constexpr (std::is_convertible_v<Argument, const TfLiteOpaqueNode*>) {
      return reinterpret_cast<TfLiteOpaqueNode*>(&kernel.node_);
    } else {
      return argument;
    }
  }

  // A function that calls that of the inner kernel.
  template <auto member, typename Type = std::remove_pointer_t<
                             std::remove_reference_t<decltype(DeputyAsyncKernel().*member)>>>
  struct Forwarded;
  template <auto member, typename Result, typename Kernel, typename... Arguments>
  struct Forwarded<member, Result(Kernel*, Arguments...)> {
    static Result Call(Kernel* kernel, Arguments... arguments) {
      AsyncKernel& self = Of(kernel);
      return (TableOf(self.inner_).*member)(self.inner_, Inner(self, arguments)...);
    }
  };
  // A function whose calls pass through the layers.
  template <auto member, CallKind kind, typename... Arguments>
  static TfLiteStatus CallLayered(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  Arguments... arguments) {
    AsyncKernel& self = Of(kernel);
    LayerCall call = self.call_;
    call.kind = kind;
    return self.runner_->Run(
        call, [&] { return Forwarded<member>::Call(kernel, context, arguments...); });
  }

  // Sets a function of the table, unless the inner kernel lacks it.
  template <auto member>
  static void Forward(AsyncKernel* kernel) {
    if (TableOf(kernel->inner_).*member == nullptr) return;
    kernel->functions_.*member = &Forwarded<member>::Call;
  }
};

AsyncKernel::AsyncKernel(const CallRunner* runner, const LayerCall& call, const TfLiteNode& node,
                         TfLiteAsyncKernel* inner)
    : runner_(runner), call_(call), node_(node), inner_(inner) {
  using Table = DeputyAsyncKernel;
  functions_.kernel_data = this;
  Functions::Forward<&Table::register_buffer>(this);
  Functions::Forward<&Table::register_buffer_slice>(this);
  Functions::Forward<&Table::unregister_buffer>(this);
  Functions::Forward<&Table::supported_buffer_types>(this);
  Functions::Forward<&Table::supported_synchronizations>(this);
  Functions::Forward<&Table::reconcile_restrictions>(this);
  Functions::Forward<&Table::set_attributes>(this);
  Functions::Forward<&Table::set_buffer_attributes>(this);
  Functions::Forward<&Table::get_buffer_attributes>(this);
  Functions::Forward<&Table::prepare>(this);
  Functions::Forward<&Table::finish>(this);
  if (TableOf(inner).eval != nullptr) {
    functions_.eval = &Functions::CallLayered<&Table::eval, CallKind::kTaskStart, TfLiteOpaqueNode*,
                                              TfLiteExecutionTask*>;
  }
  if (TableOf(inner).wait != nullptr) {
    functions_.wait =
        &Functions::CallLayered<&Table::wait, CallKind::kTaskWait, TfLiteExecutionTask*>;
  }
}

}  // namespace deputy::layers
