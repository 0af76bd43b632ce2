// SPDX-License-Identifier: Apache-2.0
//
// Test double of the Edge TPU's driver: one USB device whose executables add 3 to each byte of
// their only input. Packages are read by libedgetpu's own registry.
#include <map>

#include "api/driver_factory.h"
#include "driver/package_registry.h"

// Number of executed requests.
int edgetpu_requests = 0;

namespace platforms::darwinn {
namespace {

constexpr int kAddend = 3;

class AddRequest : public api::Request {
 public:
  Status AddInput(const std::string&, const Buffer& buffer) override {
    input_ = buffer;
    return OkStatus();
  }
  Status AddOutput(const std::string&, Buffer buffer) override {
    output_ = buffer;
    return OkStatus();
  }
  Status SetPriority(int) override { return OkStatus(); }
  StatusOr<Timing> GetTiming() const override { return Timing(); }
  int id() const override { return 0; }

  void Run() {
    for (size_t i = 0; i < output_.size_bytes(); ++i) {
      output_.ptr()[i] = static_cast<unsigned char>(input_.ptr()[i] + kAddend);
    }
    ++edgetpu_requests;
  }

 private:
  Buffer input_, output_;
};

class AddDriver : public api::Driver {
 public:
  using Package = api::PackageReference;
  using Requests = std::vector<std::shared_ptr<api::Request>>;

  bool IsOpen() const override { return open_; }
  bool IsError() const override { return false; }
  StatusOr<const Package*> RegisterExecutableFile(const std::string& name) override {
    return registry_.RegisterFile(name);
  }
  StatusOr<const Package*> RegisterExecutableSerialized(const std::string& content) override {
    return registry_.RegisterSerialized(content);
  }
  StatusOr<const Package*> RegisterExecutableSerialized(const char* content,
                                                        size_t length) override {
    return registry_.RegisterSerialized(content, length);
  }
  Status UnregisterExecutable(const Package* package) override {
    return registry_.Unregister(package);
  }
  Status Open(bool, bool) override {
    open_ = true;
    return OkStatus();
  }
  StatusOr<std::shared_ptr<api::Request>> CreateRequest(const Package*) override {
    return std::shared_ptr<api::Request>(std::make_shared<AddRequest>());
  }
  Status Submit(std::shared_ptr<api::Request> request, api::Request::Done done) override {
    const Status status = Execute(request);
    done(request->id(), status);
    return status;
  }
  Status Execute(std::shared_ptr<api::Request> request) override {
    static_cast<AddRequest&>(*request).Run();
    return OkStatus();
  }
  Status Execute(const Requests& requests) override {
    for (const auto& request : requests) static_cast<AddRequest&>(*request).Run();
    return OkStatus();
  }
  Status Cancel(std::shared_ptr<api::Request>) override { return OkStatus(); }
  Status CancelAllRequests() override { return OkStatus(); }
  Status Close(ClosingMode) override {
    open_ = false;
    return OkStatus();
  }
  uint64_t allocation_alignment_bytes() const override { return 1; }
  Buffer MakeBuffer(size_t size) const override { return allocator_.MakeBuffer(size); }
  void SetFatalErrorCallback(FatalErrorCallback) override {}
  void SetThermalWarningCallback(ThermalWarningCallback) override {}
  Status SetRealtimeMode(bool) override { return OkStatus(); }
  Status SetExecutableTiming(const Package*, const api::Timing&) override { return OkStatus(); }
  Status SetExecutionPreference(const Package*, ExecutionPreference) override { return OkStatus(); }
  void SetTelemeterInterface(api::TelemeterInterface*) override {}
  void UpdateOperationalSettings(const OperationalSettings&) override {}

 private:
  bool open_ = false;
  driver::PackageRegistry registry_;
  mutable driver::AlignedAllocator allocator_{64};
};

class AddFactory : public api::DriverFactory {
 public:
  std::vector<api::Device> Enumerate() override {
    return {{api::Chip::kBeagle, api::Device::Type::USB, "double"}};
  }
  StatusOr<std::unique_ptr<api::Driver>> CreateDriver(const api::Device&) override {
    return std::unique_ptr<api::Driver>(std::make_unique<AddDriver>());
  }
  StatusOr<std::unique_ptr<api::Driver>> CreateDriver(const api::Device& device,
                                                      const api::Driver::Options&) override {
    return CreateDriver(device);
  }
};

}  // namespace

api::DriverFactory* api::DriverFactory::GetOrCreate() {
  static AddFactory factory;
  return &factory;
}

}  // namespace platforms::darwinn
