// SPDX-License-Identifier: Apache-2.0
//
// OpenCL objects of environments, tensor buffers and events. OpenCL is opened at run time; the
// library works without it.
//
// Calls in a child made by fork() fail: drivers do not work there.
#ifndef DEPUTY_LITERT_SRC_OPENCL_H_
#define DEPUTY_LITERT_SRC_OPENCL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "litert/c/litert_common.h"
#include "litert/c/litert_opencl_types.h"
#include "litert/c/litert_tensor_buffer_types.h"

namespace deputy::litert {

// Objects that the client provides, or that OpenCl has created; null: none.
struct OpenClObjects {
  void* platform = nullptr;  // cl_platform_id
  void* device = nullptr;    // cl_device_id
  void* context = nullptr;   // cl_context
  void* queue = nullptr;     // cl_command_queue, in order
};

// A device, its context and a queue, which an environment's buffers, events and GPU accelerator
// share. Thread-safe.
class OpenCl {
 public:
  // Uses the client's objects, to which it adds references, and creates the others: on the client's
  // device, or on the one that the GPU delegate prefers. Returns null and the reason of a failure.
  static std::shared_ptr<OpenCl> Open(const OpenClObjects& client, std::string* out_reason);
  ~OpenCl();
  OpenCl(const OpenCl&) = delete;
  OpenCl& operator=(const OpenCl&) = delete;

  const OpenClObjects& objects() const { return objects_; }
  // Returns the objects as the GPU delegate's option `client_objects`. Without a queue of the
  // client the delegate has queues of its own.
  const std::string& delegate_option() const { return delegate_option_; }

  struct State;  // defined in opencl.cc, where OpenCL's headers are known
  const State& state() const { return *state_; }

 private:
  OpenCl();

  OpenClObjects objects_;
  std::string delegate_option_;
  std::unique_ptr<State> state_;
};

// A cl_mem that contains a dense tensor. Calls are complete when they return.
class OpenClBuffer {
 public:
  // Both functions store an object, or return the status of a failure.
  static LiteRtStatus Create(std::shared_ptr<OpenCl> open_cl, size_t bytes,
                             std::unique_ptr<OpenClBuffer>* out_buffer);
  // Adds a reference to the client's memory, which must be a buffer of the context with at least
  // `bytes` bytes.
  static LiteRtStatus Wrap(std::shared_ptr<OpenCl> open_cl, LiteRtClMem memory, size_t bytes,
                           std::unique_ptr<OpenClBuffer>* out_buffer);
  ~OpenClBuffer();
  OpenClBuffer(const OpenClBuffer&) = delete;
  OpenClBuffer& operator=(const OpenClBuffer&) = delete;

  // Maps the buffer. Bytes that are not written before Unlock after a lock for writing alone are
  // undefined.
  LiteRtStatus Lock(LiteRtTensorBufferLockMode mode, void** out_address);
  LiteRtStatus Unlock();
  LiteRtStatus Clear();

  LiteRtClMem memory() const { return memory_; }
  const OpenCl& open_cl() const { return *open_cl_; }

 private:
  OpenClBuffer(std::shared_ptr<OpenCl> open_cl, LiteRtClMem memory, size_t bytes);

  const std::shared_ptr<OpenCl> open_cl_;
  const LiteRtClMem memory_;
  const size_t bytes_;
  void* mapped_ = nullptr;
};

// A reference to a cl_event.
class OpenClEvent {
 public:
  // Both functions store an object, or return the status of a failure. Retain adds a reference.
  static LiteRtStatus Retain(LiteRtClEvent event, std::unique_ptr<OpenClEvent>* out_event);
  // Creates a user event, which Signal() completes.
  static LiteRtStatus CreateUser(const OpenCl& open_cl, std::unique_ptr<OpenClEvent>* out_event);
  ~OpenClEvent();
  OpenClEvent(const OpenClEvent&) = delete;
  OpenClEvent& operator=(const OpenClEvent&) = delete;

  // Waits until the command is complete; a negative timeout is infinite. A command that has failed
  // is an error.
  LiteRtStatus Wait(int64_t timeout_ms) const;
  LiteRtStatus IsSignaled(bool* out_signaled) const;
  LiteRtStatus Signal() const;

  LiteRtClEvent event() const { return event_; }

  struct Api;  // defined in opencl.cc

 private:
  OpenClEvent(std::shared_ptr<const Api> api, LiteRtClEvent event);

  const std::shared_ptr<const Api> api_;
  const LiteRtClEvent event_;
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_OPENCL_H_
