// SPDX-License-Identifier: Apache-2.0
//
// Replaces opencl.cc if OpenCL's headers are not installed: there are no OpenCL objects.
#include "litert/src/log.h"
#include "litert/src/opencl.h"

namespace deputy::litert {
namespace {

LiteRtStatus Refuse() {
  return Fail(kLiteRtStatusErrorUnsupported, "the library was compiled without OpenCL's headers");
}

}  // namespace

struct OpenCl::State {};
struct OpenClEvent::Api {};

OpenCl::OpenCl() = default;
OpenCl::~OpenCl() = default;

std::shared_ptr<OpenCl> OpenCl::Open(const OpenClObjects&, std::string* out_reason) {
  *out_reason = "the library was compiled without OpenCL's headers";
  return nullptr;
}

OpenClBuffer::~OpenClBuffer() = default;

LiteRtStatus OpenClBuffer::Create(std::shared_ptr<OpenCl>, size_t, std::unique_ptr<OpenClBuffer>*) {
  return Refuse();
}

LiteRtStatus OpenClBuffer::Wrap(std::shared_ptr<OpenCl>, LiteRtClMem, size_t,
                                std::unique_ptr<OpenClBuffer>*) {
  return Refuse();
}

LiteRtStatus OpenClBuffer::Lock(LiteRtTensorBufferLockMode, void**) { return Refuse(); }
LiteRtStatus OpenClBuffer::Unlock() { return Refuse(); }
LiteRtStatus OpenClBuffer::Clear() { return Refuse(); }

OpenClEvent::~OpenClEvent() = default;

LiteRtStatus OpenClEvent::Retain(LiteRtClEvent, std::unique_ptr<OpenClEvent>*) { return Refuse(); }

LiteRtStatus OpenClEvent::CreateUser(const OpenCl&, std::unique_ptr<OpenClEvent>*) {
  return Refuse();
}

LiteRtStatus OpenClEvent::IsSignaled(bool*) const { return Refuse(); }
LiteRtStatus OpenClEvent::Wait(int64_t) const { return Refuse(); }
LiteRtStatus OpenClEvent::Signal() const { return Refuse(); }

}  // namespace deputy::litert
