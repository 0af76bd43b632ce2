// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/device.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "gpu_cl/device/half_probe.h"
#include "gpu_cl/device/process.h"

namespace deputy::gpu_cl {
namespace {

constexpr uint32_t kVendorAmd = 0x1002;
constexpr uint32_t kVendorNvidia = 0x10de;
constexpr uint32_t kVendorIntel = 0x8086;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Returns a property of a device; zero if the query fails.
template <typename T>
T DeviceValue(const ClApi& api, cl_device_id id, cl_device_info what) {
  T value{};
  // NOLINTNEXTLINE(bugprone-sizeof-expression): for a platform, T is the handle type
  const cl_int code = api.GetDeviceInfo(id, what, sizeof(T), &value, nullptr);
  return code == CL_SUCCESS ? value : T{};
}

// Returns a text property: `get` is called for its size, then for its characters. Leading and
// trailing spaces, which some drivers report, are removed.
template <typename Get>
std::string Text(const Get& get) {
  size_t size = 0;
  if (get(size_t{0}, static_cast<void*>(nullptr), &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  size_t* no_size = nullptr;
  if (get(text.size(), static_cast<void*>(text.data()), no_size) != CL_SUCCESS) return "";
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string DeviceText(const ClApi& api, cl_device_id id, cl_device_info what) {
  return Text([&](size_t size, void* value, size_t* out_size) {
    return api.GetDeviceInfo(id, what, size, value, out_size);
  });
}

std::string PlatformText(const ClApi& api, cl_platform_id id, cl_platform_info what) {
  return Text([&](size_t size, void* value, size_t* out_size) {
    return api.GetPlatformInfo(id, what, size, value, out_size);
  });
}

DeviceKind KindOf(cl_device_type type, bool unified_memory) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return unified_memory ? DeviceKind::kIntegratedGpu : DeviceKind::kDiscreteGpu;
  }
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return DeviceKind::kAccelerator;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceKind::kCpu : DeviceKind::kOther;
}

bool IsMobile(const DeviceProfile& profile) {
  const std::string text = Lower(profile.vendor + " " + profile.name);
  for (const char* part : {"mali", "adreno", "qualcomm", "powervr", "imagination", "videocore",
                           "vivante", "verisilicon", "xclipse"}) {
    if (Contains(text, part)) return true;
  }
  return Lower(profile.vendor) == "arm";
}

void Classify(DeviceProfile* profile) {
  profile->slow_sub_buffers = profile->vendor_id == kVendorNvidia;
  if (profile->kind == DeviceKind::kCpu || IsMobile(*profile)) {
    profile->device_class =
        profile->kind == DeviceKind::kCpu ? DeviceClass::kCpu : DeviceClass::kMobile;
    profile->known = true;
    return;
  }
  const bool discrete = profile->local_memory_is_dedicated && !profile->unified_memory;
  profile->device_class = DeviceClass::kDesktop;
  profile->known =
      profile->vendor_id == kVendorIntel ||
      (discrete && (profile->vendor_id == kVendorNvidia || profile->vendor_id == kVendorAmd));
}

void FillNames(const ClApi& api, cl_device_id id, cl_platform_id platform, DeviceProfile* profile) {
  profile->platform_name = PlatformText(api, platform, CL_PLATFORM_NAME);
  profile->platform_version = PlatformText(api, platform, CL_PLATFORM_VERSION);
  profile->name = DeviceText(api, id, CL_DEVICE_NAME);
  profile->vendor = DeviceText(api, id, CL_DEVICE_VENDOR);
  profile->vendor_id = DeviceValue<cl_uint>(api, id, CL_DEVICE_VENDOR_ID);
  profile->driver_version = DeviceText(api, id, CL_DRIVER_VERSION);
  profile->device_version = DeviceText(api, id, CL_DEVICE_VERSION);
  profile->c_version = DeviceText(api, id, CL_DEVICE_OPENCL_C_VERSION);
  profile->extensions = DeviceText(api, id, CL_DEVICE_EXTENSIONS);
  profile->lists_fp16 = Contains(" " + profile->extensions + " ", " cl_khr_fp16 ");
  profile->dot_products =
      Contains(" " + profile->extensions + " ", " cl_khr_integer_dot_product ") ||
      Contains(" " + profile->extensions + " ", " cl_arm_integer_dot_product_accumulate_int8 ");
}

// Returns whether a device is the host's processor. PoCL names its processors by their driver, and
// has devices of other machines, too.
bool IsHost(const DeviceProfile& profile) {
  return profile.kind == DeviceKind::kCpu &&
         profile.platform_name == "Portable Computing Language" &&
         (profile.name.rfind("pthread-", 0) == 0 || profile.name.rfind("cpu-", 0) == 0);
}

bool HostHasVnni() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

void FillLimits(const ClApi& api, cl_device_id id, DeviceProfile* profile) {
  profile->compute_units = DeviceValue<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS);
  profile->float_width = DeviceValue<cl_uint>(api, id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  profile->max_group_size = DeviceValue<size_t>(api, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  // A device may have more than three dimensions; the query needs space for all of them.
  std::vector<size_t> sizes(std::clamp<cl_uint>(
      DeviceValue<cl_uint>(api, id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS), 3, 64));
  api.GetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(size_t), sizes.data(),
                    nullptr);
  std::copy_n(sizes.begin(), 3, profile->max_item_sizes);
  profile->pointer_bits = DeviceValue<cl_uint>(api, id, CL_DEVICE_ADDRESS_BITS);
}

// Images require clCreateImage, which a library may lack (DEPUTY_CL_OPTIONAL).
void FillImages(const ClApi& api, cl_device_id id, DeviceProfile* profile) {
  profile->images = DeviceValue<cl_bool>(api, id, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
  if (!profile->images || api.CreateImage == nullptr) return;
  const auto limit = [&](cl_device_info what) {
    return uint64_t{DeviceValue<size_t>(api, id, what)};
  };
  profile->image_limits = {.buffer_width = limit(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE),
                           .width_2d = limit(CL_DEVICE_IMAGE2D_MAX_WIDTH),
                           .height_2d = limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT),
                           .layers_2d = limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE),
                           .width_3d = limit(CL_DEVICE_IMAGE3D_MAX_WIDTH),
                           .height_3d = limit(CL_DEVICE_IMAGE3D_MAX_HEIGHT),
                           .depth_3d = limit(CL_DEVICE_IMAGE3D_MAX_DEPTH)};
}

void FillMemory(const ClApi& api, cl_device_id id, DeviceProfile* profile) {
  profile->local_bytes = DeviceValue<cl_ulong>(api, id, CL_DEVICE_LOCAL_MEM_SIZE);
  profile->local_memory_is_dedicated =
      DeviceValue<cl_device_local_mem_type>(api, id, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  profile->global_bytes = DeviceValue<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE);
  profile->global_cache_bytes = DeviceValue<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  profile->max_allocation = DeviceValue<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  // The driver reports the alignment in bits.
  profile->base_alignment =
      std::max<cl_uint>(1, DeviceValue<cl_uint>(api, id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  profile->unified_memory = DeviceValue<cl_bool>(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
}

// Properties of cl_nv_device_attribute_query, which headers for 1.2 do not name.
void FillNvidia(const ClApi& api, cl_device_id id, DeviceProfile* profile) {
  constexpr cl_device_info kMajor = 0x4000, kMinor = 0x4001;
  if (!Contains(" " + profile->extensions + " ", " cl_nv_device_attribute_query ")) return;
  const auto major = DeviceValue<cl_uint>(api, id, kMajor),
             minor = DeviceValue<cl_uint>(api, id, kMinor);
  if (major < 100 && minor < 10) profile->nvidia_capability = 10 * major + minor;
}

// Adds the devices of one platform. Returns "" or the reason why the platform has none.
std::string ListPlatform(const ClApi& api, cl_platform_id platform, std::vector<Device>* devices) {
  cl_uint count = 0;
  cl_int code = api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> ids(code == CL_SUCCESS ? count : 0);
  if (!ids.empty()) {
    code = api.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
  }
  if (ids.empty() || code != CL_SUCCESS) {
    return "platform '" + PlatformText(api, platform, CL_PLATFORM_NAME) +
           "': " + (code == CL_SUCCESS ? "no device" : ClErrorName(code));
  }
  for (cl_device_id id : ids) {
    devices->push_back(DescribeDevice(api, id));
    devices->back().index = devices->size() - 1;
  }
  return "";
}

// Returns true if a device matches `requested`, which is not an index.
bool Fits(const Device& device, const std::string& requested) {
  const DeviceProfile& profile = device.profile;
  if (requested == "gpu") {
    return profile.kind == DeviceKind::kDiscreteGpu || profile.kind == DeviceKind::kIntegratedGpu;
  }
  if (requested == "accelerator") return profile.kind == DeviceKind::kAccelerator;
  if (requested == "cpu") return profile.kind == DeviceKind::kCpu;
  return Contains(Lower(profile.name), requested) || Contains(Lower(profile.vendor), requested) ||
         Contains(Lower(profile.platform_name), requested);
}

std::string Describe(const Device& device) {
  const DeviceProfile& profile = device.profile;
  return std::to_string(device.index) + ": " + profile.name + " (" + KindName(profile.kind) + ", " +
         profile.platform_name + (profile.usable ? ")" : ", not usable)");
}

ClStatus NoSuchDevice(const std::vector<Device>& devices, const std::string& requested) {
  std::string text = requested.empty()
                         ? "no usable OpenCL device"
                         : "OpenCL device '" + requested +
                               "': expected an index, gpu, accelerator, cpu, or a part of "
                               "a name";
  text += "; found ";
  for (const Device& device : devices)
    text += (&device == devices.data() ? "" : ", ") + Describe(device);
  if (devices.empty()) text += "none";
  return {CL_DEVICE_NOT_FOUND, text};
}

// Finds a device by its index in the list. If `requested` is an index, sets `*out_is_index` and
// returns that device, or null if out of range.
const Device* ByIndex(const std::vector<Device>& devices, const std::string& requested,
                      bool* out_is_index) {
  size_t index = 0;
  const char* end = requested.data() + requested.size();
  const auto [stop, error] = std::from_chars(requested.data(), end, index);
  *out_is_index = error == std::errc() && stop == end;
  return *out_is_index && index < devices.size() ? &devices[index] : nullptr;
}

const Device* BestFit(const std::vector<Device>& devices, const std::string& requested) {
  const Device* best = nullptr;
  for (const Device& device : devices) {
    if (!device.profile.usable || !Fits(device, requested)) continue;
    if (best == nullptr || device.profile.kind < best->profile.kind) best = &device;
  }
  return best;
}

}  // namespace

const char* KindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kDiscreteGpu:
      return "discrete GPU";
    case DeviceKind::kIntegratedGpu:
      return "integrated GPU";
    case DeviceKind::kAccelerator:
      return "accelerator";
    case DeviceKind::kCpu:
      return "CPU";
    default:
      return "other";
  }
}

const char* ClassName(DeviceClass device_class) {
  switch (device_class) {
    case DeviceClass::kCpu:
      return "cpu";
    case DeviceClass::kMobile:
      return "mobile";
    default:
      return "desktop";
  }
}

ClStatus ListDevices(const ClApi& api, std::vector<Device>* out_devices) {
  out_devices->clear();
  const std::string forked = StartDrivers();
  if (!forked.empty()) return {CL_DEVICE_NOT_AVAILABLE, forked};
  // These calls initialise drivers, and some are not thread-safe: PoCL 3.1 returns devices whose
  // name another thread has not written yet.
  static std::mutex listing;
  const std::lock_guard lock(listing);
  cl_uint count = 0;
  cl_int code = api.GetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? count : 0);
  if (!platforms.empty()) code = api.GetPlatformIDs(count, platforms.data(), nullptr);
  if (platforms.empty() || code != CL_SUCCESS) {
    std::string text = "OpenCL has no platform: no driver is registered in /etc/OpenCL/vendors";
    if (code != CL_SUCCESS) text += "; clGetPlatformIDs: " + ClErrorName(code);
    return {code == CL_SUCCESS ? CL_DEVICE_NOT_FOUND : code, text};
  }
  std::string problems;
  for (cl_platform_id platform : platforms) {
    const std::string problem = ListPlatform(api, platform, out_devices);
    if (!problem.empty()) problems += (problems.empty() ? "" : "; ") + problem;
  }
  if (out_devices->empty()) return {CL_DEVICE_NOT_FOUND, "OpenCL has no device: " + problems};
  return {};
}

Device DescribeDevice(const ClApi& api, cl_device_id id) {
  Device device;
  device.id = id;
  device.platform = DeviceValue<cl_platform_id>(api, id, CL_DEVICE_PLATFORM);
  DeviceProfile& profile = device.profile;
  FillNames(api, id, device.platform, &profile);
  FillLimits(api, id, &profile);
  FillImages(api, id, &profile);
  FillMemory(api, id, &profile);
  FillNvidia(api, id, &profile);
  profile.kind =
      KindOf(DeviceValue<cl_device_type>(api, id, CL_DEVICE_TYPE), profile.unified_memory);
  profile.usable = DeviceValue<cl_bool>(api, id, CL_DEVICE_AVAILABLE) == CL_TRUE &&
                   DeviceValue<cl_bool>(api, id, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  profile.host_vnni = IsHost(profile) && HostHasVnni();
  Classify(&profile);
  return device;
}

namespace {

DeputyPowerClass PowerClassOf(const DeviceProfile& profile) {
  switch (profile.kind) {
    case DeviceKind::kDiscreteGpu:
      return kDeputyPowerHigh;
    case DeviceKind::kIntegratedGpu:
      return profile.device_class == DeviceClass::kMobile ? kDeputyPowerLow : kDeputyPowerMedium;
    case DeviceKind::kCpu:
      return kDeputyPowerMedium;
    default:
      return kDeputyPowerUnknown;
  }
}

}  // namespace

DeputyDeviceInfo PublicInfo(const Device& device) {
  const DeviceProfile& profile = device.profile;
  DeputyDeviceInfo info{};
  info.struct_size = sizeof info;
  info.index = static_cast<int32_t>(device.index);
  info.usable = profile.usable ? 1 : 0;
  info.platform = profile.platform_name.c_str();
  info.platform_version = profile.platform_version.c_str();
  info.name = profile.name.c_str();
  info.vendor = profile.vendor.c_str();
  info.type = KindName(profile.kind);
  info.device_class = ClassName(profile.device_class);
  info.version = profile.device_version.c_str();
  info.driver_version = profile.driver_version.c_str();
  info.extensions = profile.extensions.c_str();
  info.memory_bytes = profile.global_bytes;
  info.max_buffer_bytes = profile.max_allocation;
  info.compute_units = profile.compute_units;
  info.fp16 = profile.lists_fp16 ? 1 : 0;
  info.power_class = PowerClassOf(profile);
  info.preferred_layout = kDeputyLayoutNhwc;
  // OpenCL on CPUs emulates half precision.
  info.preferred_precision =
      profile.lists_fp16 && profile.kind != DeviceKind::kCpu ? "fp16" : "fp32";
  info.options = "";
  return info;
}

ClStatus ChooseDevice(const std::vector<Device>& devices, const std::string& requested,
                      Device* out_device) {
  const char* environment = std::getenv("DEPUTY_OPENCL_DEVICE");
  const std::string name =
      Lower(requested.empty() && environment != nullptr ? environment : requested);
  bool is_index = false;
  const Device* device = ByIndex(devices, name, &is_index);
  if (!is_index) device = BestFit(devices, name);
  if (device == nullptr) return NoSuchDevice(devices, name);
  if (!device->profile.usable) {
    return {CL_DEVICE_NOT_AVAILABLE,
            "OpenCL device " + Describe(*device) + " is not available, or has no compiler"};
  }
  *out_device = *device;
  return {};
}

std::shared_ptr<SharedContext> SharedContext::Create(std::shared_ptr<const ClApi> api,
                                                     const Device& device, ClStatus* out_status) {
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(device.platform), 0};
  cl_int code = CL_SUCCESS;
  ClContext context(api.get(),
                    api->CreateContext(properties, 1, &device.id, nullptr, nullptr, &code));
  *out_status = ClCall("clCreateContext", code);
  if (!out_status->ok()) return nullptr;
  return std::shared_ptr<SharedContext>(
      new SharedContext(std::move(api), device, std::move(context)));
}

std::shared_ptr<SharedContext> SharedContext::Adopt(std::shared_ptr<const ClApi> api,
                                                    const Device& device, cl_context context,
                                                    ClStatus* out_status) {
  *out_status = ClCall("clRetainContext", api->RetainContext(context));
  if (!out_status->ok()) return nullptr;
  ClContext own(api.get(), context);
  return std::shared_ptr<SharedContext>(new SharedContext(std::move(api), device, std::move(own)));
}

void SharedContext::KeepProgram(const std::shared_ptr<Program>& program) {
  constexpr size_t kKept = 64;
  std::erase(kept_, program);
  kept_.push_front(program);
  if (kept_.size() > kKept) kept_.pop_back();
}

void SharedContext::ForgetPrograms() {
  const std::lock_guard lock(program_mutex_);
  kept_.clear();
}

std::string SharedContext::FindTuning(const std::string& key) {
  const std::lock_guard lock(tuning_mutex_);
  const auto found = tuning_.find(key);
  return found == tuning_.end() ? "" : found->second;
}

void SharedContext::KeepTuning(const std::string& key, const std::string& record) {
  constexpr size_t kMaxRecords = 10000;  // upper bound; a larger table is cleared
  const std::lock_guard lock(tuning_mutex_);
  if (tuning_.size() >= kMaxRecords) tuning_.clear();
  tuning_[key] = record;
}

void SharedContext::RefuseKernels(const std::set<std::string>& texts) {
  const std::lock_guard lock(refused_mutex_);
  refused_.insert(texts.begin(), texts.end());
}

std::set<std::string> SharedContext::RefusedKernels() {
  const std::lock_guard lock(refused_mutex_);
  return refused_;
}

bool SharedContext::ComputesInHalf() {
  if (device_.profile.lists_fp16) return true;
  // CPUs with half precision list the extension. On others the probe is not run, because the
  // compiler would print diagnostics about it.
  if (device_.profile.kind == DeviceKind::kCpu) return false;
  const std::lock_guard lock(half_mutex_);
  if (!computes_in_half_) computes_in_half_ = ProbeHalf(*api_, context_.get(), device_.id);
  return *computes_in_half_;
}

ClStatus CheckDevice(const SharedContext& context) {
  if (!context.lost()) return {};
  return {CL_INVALID_CONTEXT, "the device was lost; create a new delegate to use it again"};
}

ContextRegistry& ContextRegistry::Process() {
  static auto* registry = new ContextRegistry;  // never destroyed: delegates may live until exit
  return *registry;
}

std::shared_ptr<SharedContext> ContextRegistry::Acquire(const std::shared_ptr<const ClApi>& api,
                                                        const Device& device,
                                                        ClStatus* out_status) {
  const std::lock_guard lock(mutex_);
  std::erase_if(contexts_, [](const auto& entry) { return entry.expired(); });
  for (const std::weak_ptr<SharedContext>& entry : contexts_) {
    std::shared_ptr<SharedContext> context = entry.lock();
    if (context == nullptr || context->lost() || context->device().id != device.id) continue;
    if (context->api() != *api) continue;  // the context belongs to another library, or to a test
    *out_status = {};
    return context;
  }
  std::shared_ptr<SharedContext> context = SharedContext::Create(api, device, out_status);
  if (context != nullptr) contexts_.push_back(context);
  return context;
}

std::shared_ptr<SharedContext> ContextRegistry::Adopt(const std::shared_ptr<const ClApi>& api,
                                                      const Device& device, cl_context context,
                                                      ClStatus* out_status) {
  const std::lock_guard lock(mutex_);
  std::erase_if(adopted_, [](const auto& entry) { return entry.expired(); });
  for (const std::weak_ptr<SharedContext>& entry : adopted_) {
    std::shared_ptr<SharedContext> found = entry.lock();
    if (found == nullptr || found->lost() || found->context() != context) continue;
    if (found->device().id != device.id || found->api() != *api) continue;
    *out_status = {};
    return found;
  }
  std::shared_ptr<SharedContext> made = SharedContext::Adopt(api, device, context, out_status);
  if (made != nullptr) adopted_.push_back(made);
  return made;
}

}  // namespace deputy::gpu_cl
