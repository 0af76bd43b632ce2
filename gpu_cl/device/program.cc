// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/program.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace deputy::gpu_cl {
namespace {

constexpr int kLogLines = 20;

Digest KeyOf(const DeviceProfile& profile, const ProgramRequest& request) {
  ProgramIdentity identity = DeviceIdentity(profile);
  identity.source = request.source;
  identity.build_options = request.build_options;
  identity.token = request.cache_token;
  return ProgramKey(identity);
}

std::string FirstLines(const std::string& text) {
  size_t end = 0;
  for (int i = 0; i < kLogLines && end != std::string::npos; ++i) {
    end = text.find('\n', i == 0 ? 0 : end + 1);
  }
  return text.substr(0, end);
}

// Returns the line number in "<file>:<line>:<column>: error: ..."; 0 if the line has another form.
size_t LineNumber(std::string_view line) {
  if (line.find("error") == std::string_view::npos) return 0;
  for (size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    size_t row = 0;
    size_t column = 0;
    const char* end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + at + 1, end, row);
    if (error != std::errc() || stop == end || *stop != ':') continue;
    const auto [last, failure] = std::from_chars(stop + 1, end, column);
    if (failure == std::errc() && last != end && *last == ':') return row;
  }
  return 0;
}

// Returns the offset of the end of line `row`, counted from 1.
size_t EndOfLine(const std::string& text, size_t row) {
  size_t end = 0;
  for (size_t i = 0; i < row && end != std::string::npos; ++i) {
    end = text.find('\n', i == 0 ? 0 : end + 1);
  }
  return std::min(end, text.size());
}

// Describes the program: "OpenCL kernel 'a'", or "OpenCL program of kernels 'a', 'b'".
std::string Subject(const ProgramRequest& request, const std::string& log) {
  const std::string name = KernelOfError(request.source, log);
  if (!name.empty()) return "OpenCL kernel '" + name + "'";
  std::string text = "OpenCL program of kernels ";
  for (const std::string& kernel : request.kernels) {
    text += (&kernel == request.kernels.data() ? "'" : ", '") + kernel + "'";
  }
  return text;
}

template <typename T>
cl_int QueryKernel(const ClApi& api, cl_kernel kernel, cl_device_id device,
                   cl_kernel_work_group_info what, T* out_value) {
  return api.GetKernelWorkGroupInfo(kernel, device, what, sizeof(*out_value), out_value, nullptr);
}

ClStatus QueryLimits(const ClApi& api, cl_kernel kernel, cl_device_id device,
                     KernelLimits* out_limits) {
  cl_ulong local = 0;
  cl_ulong own = 0;
  cl_int code =
      QueryKernel(api, kernel, device, CL_KERNEL_WORK_GROUP_SIZE, &out_limits->max_group_size);
  if (code == CL_SUCCESS) {
    code = QueryKernel(api, kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                       &out_limits->group_multiple);
  }
  if (code == CL_SUCCESS) code = QueryKernel(api, kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, &local);
  if (code == CL_SUCCESS) code = QueryKernel(api, kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, &own);
  out_limits->local_bytes = local;
  out_limits->private_bytes = own;
  return ClCall("clGetKernelWorkGroupInfo", code);
}

}  // namespace

ProgramIdentity DeviceIdentity(const DeviceProfile& profile) {
  ProgramIdentity identity;
  identity.library_version = DEPUTY_GPU_VERSION;
  identity.platform_name = profile.platform_name;
  identity.platform_version = profile.platform_version;
  identity.device_name = profile.name;
  identity.vendor_id = profile.vendor_id;
  identity.driver_version = profile.driver_version;
  identity.device_version = profile.device_version;
  identity.pointer_bits = profile.pointer_bits;
  return identity;
}

std::string KernelOfError(const std::string& source, const std::string& log) {
  size_t row = 0;
  for (size_t start = 0; start < log.size() && row == 0;) {
    const size_t end = std::min(log.find('\n', start), log.size());
    row = LineNumber(std::string_view(log).substr(start, end - start));
    start = end + 1;
  }
  if (row == 0) return "";
  const std::string before = source.substr(0, EndOfLine(source, row));
  constexpr std::string_view kOpening = "kernel void ";
  const size_t at = before.rfind(kOpening);
  if (at == std::string::npos) return "";
  const size_t name = at + kOpening.size();
  return before.substr(name, before.find_first_of(" (\n", name) - name);
}

Program::Program(SharedContext* context, const ProgramRequest& request,
                 std::shared_ptr<const ProgramCache> cache, const Digest& key)
    : context_(context), request_(request), cache_(std::move(cache)), key_(key) {}

std::shared_ptr<Program> Program::Get(const std::shared_ptr<SharedContext>& context,
                                      const ProgramRequest& request,
                                      std::shared_ptr<const ProgramCache> cache,
                                      ClStatus* out_status, ProgramFailure* out_failure) {
  const Digest key = KeyOf(context->device().profile, request);
  // The mutex is held during compilation: a second instance of the same model waits and then shares
  // the program; drivers serialise compilations anyway.
  const std::lock_guard lock(context->program_mutex());
  std::erase_if(context->programs(), [](const auto& item) { return item.second.expired(); });
  std::weak_ptr<Program>& entry = context->programs()[Hex(key)];
  std::shared_ptr<Program> program = entry.lock();
  *out_status = {};
  if (program != nullptr) {
    context->KeepProgram(program);
    return program;
  }
  program.reset(new Program(context.get(), request, std::move(cache), key));
  *out_status = program->Build();
  if (!out_status->ok()) {
    if (IsDeviceLost(out_status->code)) context->Poison();
    if (out_failure != nullptr) *out_failure = program->failure_;
    return nullptr;
  }
  entry = program;
  context->KeepProgram(program);
  return program;
}

ClStatus Program::Build() {
  if (cache_ != nullptr) {
    ClStatus status = BuildFromCache();
    if (status.ok() && from_cache_) return status;
    // A lost device does not mean that the binary is bad.
    if (IsDeviceLost(status.code)) return status;
    if (!status.ok()) {
      cache_->Discard(key_);
      cache_problem_ = "the driver rejected a cached program, which was deleted: " + status.text;
    }
  }
  ClStatus status = BuildFromSource();
  return status.ok() ? QueryKernels() : status;
}

// Builds the program from its cached binary. If the cache has no entry, returns success and leaves
// from_cache_ false.
ClStatus Program::BuildFromCache() {
  const std::optional<CachedProgram> cached = cache_->Load(key_, &cache_problem_);
  if (!cached) return {};
  const ClApi& api = context_->api();
  cl_device_id device = context_->device().id;
  const size_t size = cached->binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(cached->binary.data());
  cl_int code = CL_SUCCESS;
  cl_int binary_code = CL_SUCCESS;
  program_ = ClProgram(&api, api.CreateProgramWithBinary(context_->context(), 1, &device, &size,
                                                         &bytes, &binary_code, &code));
  ClStatus status = ClCall("clCreateProgramWithBinary", code == CL_SUCCESS ? binary_code : code);
  if (status.ok()) status = Compile("clBuildProgram of a binary");
  if (status.ok()) status = QueryKernels();
  from_cache_ = status.ok();
  if (from_cache_) tuning_ = cached->tuning;
  return status;
}

ClStatus Program::BuildFromSource() {
  const ClApi& api = context_->api();
  const char* source = request_.source.c_str();
  cl_int code = CL_SUCCESS;
  program_ =
      ClProgram(&api, api.CreateProgramWithSource(context_->context(), 1, &source, nullptr, &code));
  if (code != CL_SUCCESS) return ClCall("clCreateProgramWithSource", code);
  ClStatus status = Compile("clBuildProgram");
  failure_.in_build = !status.ok();
  if (status.code == CL_BUILD_PROGRAM_FAILURE) {
    const std::string log = BuildLog();
    failure_.kernel = KernelOfError(request_.source, log);
    status.text = Subject(request_, log) + " does not compile: " + FirstLines(log);
  }
  return status;
}

ClStatus Program::Compile(const char* step) {
  cl_device_id device = context_->device().id;
  return ClCall(
      step, context_->api().BuildProgram(program_.get(), 1, &device, request_.build_options.c_str(),
                                         nullptr, nullptr));
}

std::string Program::BuildLog() const {
  const ClApi& api = context_->api();
  cl_device_id device = context_->device().id;
  size_t size = 0;
  if (api.GetProgramBuildInfo(program_.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
          CL_SUCCESS ||
      size == 0) {
    return "the driver returned no build log";
  }
  std::string log(size, '\0');
  if (api.GetProgramBuildInfo(program_.get(), device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                              nullptr) != CL_SUCCESS) {
    return "the driver returned no build log";
  }
  return log.c_str();  // truncates at the terminating zero
}

ClStatus Program::QueryKernels() {
  limits_.clear();
  for (const std::string& name : request_.kernels) {
    ClStatus status;
    const ClKernel kernel = NewKernel(name, &status);
    if (!status.ok()) return status;
    KernelLimits limits;
    status = QueryLimits(context_->api(), kernel.get(), context_->device().id, &limits);
    if (!status.ok()) return status;
    limits_.emplace_back(name, limits);
  }
  return {};
}

ClKernel Program::NewKernel(const std::string& name, ClStatus* out_status) const {
  const ClApi& api = context_->api();
  cl_int code = CL_SUCCESS;
  ClKernel kernel(&api, api.CreateKernel(program_.get(), name.c_str(), &code));
  *out_status = ClCall(("clCreateKernel of '" + name + "'").c_str(), code);
  return kernel;
}

const KernelLimits* Program::LimitsOf(const std::string& name) const {
  for (const auto& [kernel, limits] : limits_) {
    if (kernel == name) return &limits;
  }
  return nullptr;
}

// Fetches the binary for the context's device. A client's context may have several devices; the
// program has a binary for each.
ClStatus Program::FetchBinary(std::string* out_binary) const {
  const ClApi& api = context_->api();
  cl_uint count = 0;
  cl_int code =
      api.GetProgramInfo(program_.get(), CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  std::vector<cl_device_id> devices(count);
  std::vector<size_t> sizes(count);
  if (code == CL_SUCCESS) {
    code = api.GetProgramInfo(program_.get(), CL_PROGRAM_DEVICES, count * sizeof(cl_device_id),
                              devices.data(), nullptr);
  }
  if (code == CL_SUCCESS) {
    code = api.GetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, count * sizeof(size_t),
                              sizes.data(), nullptr);
  }
  if (code != CL_SUCCESS) return ClCall("clGetProgramInfo", code);
  const auto own = std::find(devices.begin(), devices.end(), context_->device().id);
  if (own == devices.end()) return {CL_INVALID_DEVICE, "the program has no binary for this device"};
  const auto index = static_cast<size_t>(own - devices.begin());
  std::string binary(sizes[index], '\0');
  std::vector<unsigned char*> outputs(count);  // null: binary not requested
  outputs[index] = reinterpret_cast<unsigned char*>(binary.data());
  code = api.GetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, count * sizeof(unsigned char*),
                            outputs.data(), nullptr);
  if (code == CL_SUCCESS) *out_binary = std::move(binary);
  return ClCall("clGetProgramInfo of the binary", code);
}

std::string Program::Save(const std::string& tuning) {
  if (cache_ == nullptr || from_cache_ || saved_.exchange(true)) return "";
  std::string binary;
  const ClStatus status = FetchBinary(&binary);
  return status.ok() ? cache_->Store(key_, binary, tuning) : status.text;
}

}  // namespace deputy::gpu_cl
