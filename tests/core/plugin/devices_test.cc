// SPDX-License-Identifier: Apache-2.0
//
// Tests the devices of all plug-ins (deputy_devices.h): which device each policy chooses from
// literal lists, and lists of well-behaved and of hostile plug-ins. The plug-in is
// tests/plugins/elementwise.c, whose devices the environment variable ELEMENTWISE_DEVICES names.
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_api/include/deputy_devices.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::plugin_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr DeputyDevicePolicy kPolicies[] = {
    kDeputyDevicePolicyPerformance, kDeputyDevicePolicyEfficiency, kDeputyDevicePolicyLatency,
    kDeputyDevicePolicyPreferNpu, kDeputyDevicePolicyPreferGpu};

struct Fields {
  const char* type;
  int32_t power_class = kDeputyPowerUnknown;
  uint64_t memory_bytes = 0;
  int32_t preferred_batch = 0;
  int32_t usable = 1;
  int32_t index = 0;
  size_t struct_size = sizeof(DeputyDeviceInfo);
};

// Returns the choice of each policy, in the order of kPolicies.
std::vector<int64_t> Choices(const std::vector<Fields>& devices) {
  std::vector<DeputyDeviceInfo> infos;
  for (const Fields& fields : devices) {
    DeputyDeviceInfo info = {};
    info.struct_size = fields.struct_size;
    info.index = fields.index;
    info.usable = fields.usable;
    info.type = fields.type;
    info.memory_bytes = fields.memory_bytes;
    info.power_class = fields.power_class;
    info.preferred_batch = fields.preferred_batch;
    infos.push_back(info);
  }
  std::vector<const DeputyDeviceInfo*> pointers;
  for (const DeputyDeviceInfo& info : infos) pointers.push_back(&info);
  std::vector<int64_t> choices;
  for (const DeputyDevicePolicy policy : kPolicies) {
    choices.push_back(INT64_MIN);
    EXPECT_EQ(DeputyChooseDevice(policy, pointers.data(), pointers.size(), &choices.back()),
              kTfLiteOk);
  }
  return choices;
}

constexpr const char *kDiscrete = "discrete GPU", *kIntegrated = "integrated GPU", *kNpu = "NPU",
                     *kAccelerator = "accelerator", *kCpu = "CPU";

// ---- Policies -----------------------------------------------------------------------------------
// The expected positions are those of performance, efficiency, latency, prefer-npu and prefer-gpu.

TEST(DevicePolicy, types_are_ranked_by_each_policy) {
  EXPECT_THAT(Choices({{kCpu}, {kDiscrete}, {kIntegrated}, {kNpu}, {kAccelerator}}),
              ElementsAre(1, 3, 3, 3, 1));
  EXPECT_THAT(Choices({{kCpu}, {kAccelerator}, {kNpu}, {kIntegrated}}), ElementsAre(1, 2, 2, 2, 3));
  EXPECT_THAT(Choices({{kCpu}, {kAccelerator}, {kIntegrated}, {kDiscrete}}),
              ElementsAre(3, 1, 2, 3, 3));
  EXPECT_THAT(Choices({{kCpu}, {kAccelerator}, {kDiscrete}}), ElementsAre(2, 1, 2, 2, 2));
  EXPECT_THAT(Choices({{kIntegrated}, {kAccelerator}}), ElementsAre(1, 1, 0, 1, 0));
  EXPECT_THAT(Choices({{kIntegrated}, {kNpu}}), ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(Choices({{kNpu}, {kAccelerator}}), ElementsAre(1, 0, 0, 0, 1));
}

TEST(DevicePolicy, a_single_device_is_chosen_unless_the_cpu_is_preferred) {
  EXPECT_THAT(Choices({{kDiscrete}}), ElementsAre(0, -1, 0, 0, 0));
  EXPECT_THAT(Choices({{kIntegrated}}), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(Choices({{kNpu}}), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(Choices({{kAccelerator}}), ElementsAre(0, 0, 0, 0, 0));
  for (const char* const type : {kCpu, "simulated NPU", "other", "npu", ""}) {
    EXPECT_THAT(Choices({{type}}), ElementsAre(-1, -1, -1, -1, -1)) << type;
  }
}

TEST(DevicePolicy, a_stated_power_class_replaces_that_of_the_type) {
  EXPECT_THAT(Choices({{kNpu, kDeputyPowerHigh}, {kDiscrete, kDeputyPowerMedium}}),
              ElementsAre(1, 1, 0, 0, 1));
  EXPECT_THAT(Choices({{kAccelerator}, {kIntegrated, kDeputyPowerLow}}),
              ElementsAre(0, 1, 1, 0, 1));
  EXPECT_THAT(Choices({{kDiscrete, 99}, {kNpu, -5}}), ElementsAre(0, 1, 1, 1, 0));
}

TEST(DevicePolicy, power_and_memory_decide_between_devices_of_a_type) {
  EXPECT_THAT(Choices({{kDiscrete, kDeputyPowerMedium, 9}, {kDiscrete, kDeputyPowerHigh, 5}}),
              ElementsAre(1, 0, 0, 1, 1));
  EXPECT_THAT(Choices({{kNpu, 0, 5}, {kNpu, 0, UINT64_MAX}, {kNpu, 0, 7}}),
              ElementsAre(1, 0, 0, 1, 1));
}

TEST(DevicePolicy, latency_avoids_devices_that_prefer_batches) {
  EXPECT_THAT(Choices({{kNpu, 0, 0, 8}, {kAccelerator, 0, 0, 1}}), ElementsAre(1, 0, 1, 0, 1));
  EXPECT_THAT(Choices({{kNpu, 0, 0, 8}}), ElementsAre(0, 0, 0, 0, 0));
}

TEST(DevicePolicy, the_first_of_equal_devices_is_chosen) {
  EXPECT_THAT(Choices({{kCpu}, {kNpu}, {kNpu}, {kNpu}}), ElementsAre(1, 1, 1, 1, 1));
}

TEST(DevicePolicy, without_usable_devices_the_cpu_is_chosen) {
  EXPECT_THAT(Choices({}), ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_THAT(Choices({{kNpu, 0, 0, 0, 0}, {nullptr}}), ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_THAT(Choices({{kNpu, 0, 0, 0, 1, -1}, {kDiscrete, 0, 0, 0, 1, INT_MIN}}),
              ElementsAre(-1, -1, -1, -1, -1));
}

TEST(DevicePolicy, structs_of_other_releases_have_their_known_fields) {
  const size_t first = offsetof(DeputyDeviceInfo, power_class);
  // The first device's power class is beyond its struct, so that it has the class of its type.
  EXPECT_THAT(Choices({{kNpu, kDeputyPowerHigh, 0, 0, 1, 0, first}}), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(Choices({{kNpu, kDeputyPowerHigh}}), ElementsAre(0, -1, 0, 0, 0));
  EXPECT_THAT(Choices({{kNpu, 0, 0, 0, 1, 0, first - 1}, {kNpu, 0, 0, 0, 1, 0, 0}}),
              ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_THAT(Choices({{kNpu, 0, 0, 0, 1, 0, SIZE_MAX}}), ElementsAre(0, 0, 0, 0, 0));
}

TEST(DevicePolicy, thousands_of_devices_are_compared) {
  std::vector<Fields> devices(20000, Fields{kAccelerator});
  devices[17777].type = kNpu;
  devices[19999].type = kDiscrete;
  EXPECT_THAT(Choices(devices), ElementsAre(19999, 17777, 17777, 17777, 19999));
}

TEST(DevicePolicy, invalid_arguments_are_refused) {
  const DeputyDeviceInfo* none[] = {nullptr};
  int64_t index = 7;
  EXPECT_EQ(DeputyChooseDevice(static_cast<DeputyDevicePolicy>(5), none, 1, &index), kTfLiteError);
  EXPECT_EQ(DeputyChooseDevice(static_cast<DeputyDevicePolicy>(-1), none, 1, &index), kTfLiteError);
  EXPECT_EQ(DeputyChooseDevice(kDeputyDevicePolicyLatency, nullptr, 1, &index), kTfLiteError);
  EXPECT_EQ(DeputyChooseDevice(kDeputyDevicePolicyLatency, none, 1, nullptr), kTfLiteError);
  EXPECT_EQ(index, 7);
  EXPECT_EQ(DeputyChooseDevice(kDeputyDevicePolicyLatency, nullptr, 0, &index), kTfLiteOk);
  EXPECT_EQ(index, -1);
}

// ---- Callbacks ----------------------------------------------------------------------------------

int64_t ReturnNumber(void* number, const DeputyDeviceInfo* const*, size_t) {
  return *static_cast<int64_t*>(number);
}

class DeviceCallback : public QuietTest {
 protected:
  DeviceCallback() {
    for (DeputyDeviceInfo& info : infos_) {
      info.struct_size = sizeof info;
      info.type = kCpu;
    }
    infos_[0].usable = infos_[1].usable = 1;
  }
  TfLiteStatus Choose(int64_t number) {
    return DeputyChooseDeviceByCallback(&ReturnNumber, &number, devices_, 3, &index_);
  }
  DeputyDeviceInfo infos_[2] = {};
  const DeputyDeviceInfo* devices_[3] = {infos_, infos_ + 1, nullptr};
  int64_t index_ = 7;
};

TEST_F(DeviceCallback, chooses_any_usable_device_or_the_cpu) {
  EXPECT_EQ(Choose(1), kTfLiteOk);
  EXPECT_EQ(index_, 1);
  EXPECT_EQ(Choose(-1), kTfLiteOk);
  EXPECT_EQ(index_, -1);
}

TEST_F(DeviceCallback, wrong_results_are_refused) {
  for (const int64_t wrong : {int64_t{3}, int64_t{-2}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(Choose(wrong), kTfLiteError);
    EXPECT_EQ(index_, -1);
    EXPECT_THAT(DeputyLastError(), HasSubstr("the callback's result is out of range"));
  }
  infos_[0].usable = 0;
  for (const int64_t unusable : {0, 2}) {
    EXPECT_EQ(Choose(unusable), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), HasSubstr("the callback chose a device that is not usable"));
  }
}

TEST_F(DeviceCallback, exceptions_end_in_an_error) {
  const auto chooser = [](void*, const DeputyDeviceInfo* const*, size_t) -> int64_t {
    throw std::runtime_error("no");
  };
  EXPECT_EQ(DeputyChooseDeviceByCallback(chooser, nullptr, devices_, 3, &index_), kTfLiteError);
  EXPECT_EQ(index_, -1);
  EXPECT_THAT(DeputyLastError(), HasSubstr("the callback threw an exception"));
  EXPECT_EQ(DeputyChooseDeviceByCallback(nullptr, nullptr, devices_, 3, &index_), kTfLiteError);
  EXPECT_EQ(DeputyChooseDeviceByCallback(chooser, nullptr, nullptr, 3, &index_), kTfLiteError);
  EXPECT_EQ(DeputyChooseDeviceByCallback(chooser, nullptr, devices_, 3, nullptr), kTfLiteError);
}

// ---- Lists --------------------------------------------------------------------------------------

using List = std::unique_ptr<DeputyDeviceList, void (*)(DeputyDeviceList*)>;

List ListOf(const std::string& paths, const char* devices = nullptr) {
  if (devices != nullptr) setenv("ELEMENTWISE_DEVICES", devices, 1);
  List list(DeputyDeviceListCreate(paths.c_str()), &DeputyDeviceListDelete);
  unsetenv("ELEMENTWISE_DEVICES");
  return list;
}

DeputyDeviceEntry EntryOf(const List& list, size_t index) {
  DeputyDeviceEntry entry = {};
  entry.struct_size = sizeof entry;
  EXPECT_EQ(DeputyDeviceListGetEntry(list.get(), index, &entry), kTfLiteOk);
  return entry;
}

// Returns the names of the devices, or the reasons why entries have none.
std::vector<std::string> TextsOf(const List& list) {
  std::vector<std::string> texts;
  const DeputyDeviceInfo* const* devices = DeputyDeviceListGetDevices(list.get());
  for (size_t i = 0; i < DeputyDeviceListGetCount(list.get()); ++i) {
    const DeputyDeviceEntry entry = EntryOf(list, i);
    texts.emplace_back(devices[i] == nullptr ? entry.problem : devices[i]->name);
    EXPECT_EQ(entry.problem[0] == '\0', devices[i] != nullptr);
  }
  return texts;
}

class DeviceList : public QuietTest {};

TEST_F(DeviceList, has_the_devices_of_all_plug_ins_and_the_reasons_of_others) {
  const List list = ListOf(Library("devices") + ":" + Library("described_first_release") + ":" +
                               Library("no_create") + ":" + Library("described0"),
                           "NPU,-discrete GPU");
  EXPECT_THAT(TextsOf(list),
              ElementsAre("device 0", "device 1", HasSubstr("expected a plug-in that can list"),
                          HasSubstr("does not export"), "abacus", "fingers"));
  const DeputyDeviceInfo* const* devices = DeputyDeviceListGetDevices(list.get());
  EXPECT_STREQ(devices[0]->type, "NPU");
  EXPECT_STREQ(devices[1]->options, "device=1");
  EXPECT_EQ(devices[1]->usable, 0);
  EXPECT_STREQ(devices[4]->options, "ops=0");
  EXPECT_STREQ(devices[4]->preferred_precision, "int8");
  EXPECT_EQ(devices[4]->preferred_batch, 4);
  // The struct of the last device is one of the first release.
  EXPECT_EQ(devices[5]->struct_size, sizeof(DeputyDeviceInfo));
  EXPECT_EQ(devices[5]->power_class, kDeputyPowerUnknown);
  EXPECT_STREQ(devices[5]->preferred_precision, "");
  EXPECT_STREQ(devices[5]->options, "");
  EXPECT_STREQ(EntryOf(list, 5).name, "elementwise");
  EXPECT_EQ(EntryOf(list, 5).path, Library("described0"));
  EXPECT_NE(EntryOf(list, 2).plugin, nullptr);
  EXPECT_EQ(EntryOf(list, 3).plugin, nullptr);
}

TEST_F(DeviceList, reports_nothing) {
  int reports = 0;
  DeputySetDefaultReporter([](void* count, const char*, va_list) { ++*static_cast<int*>(count); },
                           &reports);
  const List list = ListOf(Library("described_first_release") + ":" + Library("no_create"));
  EXPECT_EQ(DeputyDeviceListGetCount(list.get()), 2u);
  EXPECT_EQ(reports, 0);
}

TEST_F(DeviceList, devices_of_hostile_plug_ins_are_checked) {
  const std::string size = std::to_string(offsetof(DeputyDeviceInfo, power_class));
  EXPECT_THAT(
      TextsOf(ListOf(Library("devices"), "!null,!index,!size,NPU")),
      ElementsAre("expected a device, found NULL",
                  "DeputyDeviceInfo.index: expected at least 0, found -1",
                  "DeputyDeviceInfo: expected a struct_size of at least " + size + ", found 40",
                  "device 3"));
  EXPECT_THAT(TextsOf(ListOf(Library("devices"), "")),
              ElementsAre("listed no device and gave no reason"));
  const List texts = ListOf(Library("devices"), "!texts");
  const DeputyDeviceInfo& device = *DeputyDeviceListGetDevices(texts.get())[0];
  for (const char* const text :
       {device.platform, device.platform_version, device.name, device.vendor, device.type,
        device.device_class, device.version, device.driver_version, device.extensions,
        device.preferred_precision}) {
    EXPECT_STREQ(text, "");
  }
  EXPECT_STREQ(device.options, "device=0");
  const List many = ListOf(Library("devices"), "!many");
  ASSERT_EQ(DeputyDeviceListGetCount(many.get()), 1025u);
  EXPECT_EQ(DeputyDeviceListGetDevices(many.get())[1023]->index, 1023);
  EXPECT_STREQ(EntryOf(many, 1024).problem, "listed more than 1024 devices");
}

// y = x + x, of shape [1].
std::vector<uint8_t> SumModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x"), y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST_F(DeviceList, nodes_run_on_the_chosen_device) {
  List list = ListOf(Library("devices"), "CPU,discrete GPU,NPU");
  int64_t index = -1;
  ASSERT_EQ(DeputyChooseDevice(kDeputyDevicePolicyLatency, DeputyDeviceListGetDevices(list.get()),
                               DeputyDeviceListGetCount(list.get()), &index),
            kTfLiteOk);
  ASSERT_EQ(index, 2);
  const char* keys[] = {"ops", "unheard"};
  const char* values[] = {"0", "1"};
  EXPECT_EQ(DeputyDeviceListCreateDelegate(list.get(), 2, keys, values, 2), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("'unheard'"));
  TfLiteDelegate* const delegate = DeputyDeviceListCreateDelegate(list.get(), 2, keys, values, 1);
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  list.reset();
  {
    TestInterpreter t(SumModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, {21});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(42));
    DeputyDelegateReport report = {};
    report.struct_size = sizeof report;
    ASSERT_EQ(DeputyPluginReportDelegate(delegate, &report, nullptr, nullptr), kTfLiteOk);
    EXPECT_STREQ(report.device, "device 2");
    EXPECT_EQ(report.compile_ns, 5000000);  // 5 ms for each computed node
  }
  DeputyPluginDeleteDelegate(delegate);
}

TEST_F(DeviceList, wrong_arguments_are_refused) {
  const List list = ListOf(Library("no_create"));
  DeputyDeviceEntry entry = {};
  EXPECT_EQ(DeputyDeviceListGetEntry(list.get(), 0, &entry), kTfLiteError);
  entry.struct_size = sizeof entry;
  EXPECT_EQ(DeputyDeviceListGetEntry(list.get(), 1, &entry), kTfLiteError);
  EXPECT_EQ(DeputyDeviceListGetEntry(nullptr, 0, &entry), kTfLiteError);
  EXPECT_EQ(DeputyDeviceListGetEntry(list.get(), 0, nullptr), kTfLiteError);
  for (const size_t index : {size_t{0}, size_t{1}, SIZE_MAX}) {
    EXPECT_EQ(DeputyDeviceListCreateDelegate(list.get(), index, nullptr, nullptr, 0), nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr("has no device"));
  }
  EXPECT_EQ(DeputyDeviceListCreateDelegate(nullptr, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(DeputyDeviceListGetCount(nullptr), 0u);
  EXPECT_EQ(DeputyDeviceListGetDevices(nullptr), nullptr);
  DeputyDeviceListDelete(nullptr);
  const List empty = ListOf("");
  EXPECT_EQ(DeputyDeviceListGetCount(empty.get()), 0u);
}

}  // namespace
}  // namespace deputy::plugin_test
