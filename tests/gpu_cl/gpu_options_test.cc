// SPDX-License-Identifier: Apache-2.0
//
// Tests options of the OpenCL delegate: defaults, texts, the plug-in's descriptions, and upstream's
// struct.
#include "gpu_cl/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace deputy::gpu_cl::gpu_options_test {
namespace {

using testing::HasSubstr;

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string Parse(const Pairs& pairs, Options* options) {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : pairs) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return ParseOptions(keys.data(), values.data(), keys.size(), options);
}

std::string Problem(const Pairs& pairs) {
  Options options;
  return Parse(pairs, &options);
}

TEST(OptionsTest, defaults) {
  const Options options;
  EXPECT_EQ(options.device, "");
  EXPECT_EQ(options.device_class, ClassChoice::kAutomatic);
  EXPECT_EQ(options.precision, Precision::kFp32);
  EXPECT_TRUE(options.quantized);
  EXPECT_EQ(options.quantized_arithmetic, QuantizedArithmetic::kAutomatic);
  EXPECT_EQ(options.max_partitions, 0);
  EXPECT_EQ(options.min_gain_us, kNoMinGain);
  EXPECT_FALSE(options.force);
  EXPECT_EQ(options.preference, Preference::kSingleAnswer);
  EXPECT_EQ(options.tuning, Tuning::kNone);
  EXPECT_EQ(options.cache_dir, "");
  EXPECT_EQ(options.cache_token, "");
  EXPECT_EQ(options.cache_max_mb, 256);
  EXPECT_FALSE(options.profiling);
  EXPECT_FALSE(options.describe);
  EXPECT_FALSE(options.keep_outputs);
  EXPECT_TRUE(options.optimize);
  EXPECT_EQ(options.kept_plans, 4);
  EXPECT_EQ(options.overlapped_tasks, -1);
}

TEST(OptionsTest, every_option_is_read) {
  Options options;
  EXPECT_EQ(Parse({{"device", "NVIDIA"},
                   {"device_class", "mobile"},
                   {"precision", "fp16"},
                   {"quantized", "false"},
                   {"quantized_arithmetic", "int8"},
                   {"max_partitions", "3"},
                   {"min_gain_us", "-2.5"},
                   {"force", "1"},
                   {"preference", "balanced"},
                   {"tuning", "fast"},
                   {"cache_dir", "/tmp/x"},
                   {"cache_token", "net"},
                   {"cache_max_mb", "1"},
                   {"profiling", "true"},
                   {"describe", "true"},
                   {"keep_outputs", "true"},
                   {"optimize", "false"},
                   {"kept_plans", "7"},
                   {"overlapped_tasks", "2"}},
                  &options),
            "");
  EXPECT_EQ(options.device, "NVIDIA");
  EXPECT_EQ(options.device_class, ClassChoice::kMobile);
  EXPECT_EQ(options.precision, Precision::kFp16);
  EXPECT_FALSE(options.quantized);
  EXPECT_EQ(options.quantized_arithmetic, QuantizedArithmetic::kInt8);
  EXPECT_EQ(options.max_partitions, 3);
  EXPECT_EQ(options.min_gain_us, -2.5);
  EXPECT_TRUE(options.force);
  EXPECT_EQ(options.preference, Preference::kBalanced);
  EXPECT_EQ(options.tuning, Tuning::kFast);
  EXPECT_EQ(options.cache_dir, "/tmp/x");
  EXPECT_EQ(options.cache_token, "net");
  EXPECT_EQ(options.cache_max_mb, 1);
  EXPECT_TRUE(options.profiling);
  EXPECT_TRUE(options.describe);
  EXPECT_TRUE(options.keep_outputs);
  EXPECT_FALSE(options.optimize);
  EXPECT_EQ(options.kept_plans, 7);
  EXPECT_EQ(options.overlapped_tasks, 2);
}

TEST(OptionsTest, unknown_key_is_reported_with_the_known_keys) {
  EXPECT_THAT(Problem({{"Device", "0"}}),
              testing::StartsWith("unknown option 'Device': expected one of 'device', "));
  EXPECT_THAT(Problem({{"", ""}}), HasSubstr("unknown option ''"));
}

TEST(OptionsTest, wrong_value_is_reported_with_the_valid_ones) {
  EXPECT_EQ(Problem({{"precision", "fp64"}}),
            "option 'precision': expected fp32, fp16 or auto, found 'fp64'");
  EXPECT_EQ(Problem({{"tuning", ""}}), "option 'tuning': expected none, fast or full, found ''");
  EXPECT_EQ(Problem({{"precision", "fp32|fp16"}}),
            "option 'precision': expected fp32, fp16 or auto, found 'fp32|fp16'");
  EXPECT_EQ(Problem({{"force", "yes"}}),
            "option 'force': expected true, false, 1 or 0, found 'yes'");
  EXPECT_EQ(Problem({{"max_partitions", "two"}}),
            "option 'max_partitions': expected a whole number from 0 to 1000000000, found 'two'");
  for (const char* value : {"", " 1", "1 ", "+1", "1.0", "0x1", "99999999999999999999"}) {
    EXPECT_THAT(Problem({{"max_partitions", value}}), HasSubstr("found '")) << value;
  }
  for (const char* value : {"", "nan", "inf", "-inf", "1e400", "1,5"}) {
    EXPECT_THAT(Problem({{"min_gain_us", value}}), HasSubstr("found '")) << value;
  }
}

TEST(OptionsTest, number_out_of_range_is_reported) {
  EXPECT_EQ(Problem({{"max_partitions", "-1"}}),
            "option 'max_partitions': expected a whole number from 0 to 1000000000, found '-1'");
  EXPECT_EQ(Problem({{"cache_max_mb", "0"}}),
            "option 'cache_max_mb': expected a whole number from 1 to 1000000, found '0'");
  EXPECT_EQ(Problem({{"cache_max_mb", "1000000"}}), "");
  EXPECT_NE(Problem({{"cache_max_mb", "1000001"}}), "");
}

TEST(OptionsTest, failure_does_not_change_the_options) {
  Options options;
  EXPECT_NE(Parse({{"device", "1"}, {"force", "maybe"}}, &options), "");
  EXPECT_EQ(options.device, "");
}

TEST(OptionsTest, last_of_equal_keys_is_used) {
  Options options;
  options.force = true;
  EXPECT_EQ(Parse({{"device", "1"}, {"device", "2"}}, &options), "");
  EXPECT_EQ(options.device, "2");
  EXPECT_TRUE(options.force);
}

TEST(OptionsTest, null_pointers_are_reported) {
  Options options;
  EXPECT_EQ(ParseOptions(nullptr, nullptr, 0, &options), "");
  EXPECT_EQ(ParseOptions(nullptr, nullptr, 2, &options),
            "2 options: expected their keys and values, found NULL");
  const char* const null = nullptr;
  const char* const key = "device";
  EXPECT_EQ(ParseOptions(&null, &key, 1, &options), "expected the key of an option, found NULL");
  EXPECT_EQ(ParseOptions(&key, &null, 1, &options),
            "option 'device': expected a value, found NULL");
}

TEST(OptionsTest, plugin_describes_every_option_with_its_default) {
  std::set<std::string> names;
  for (const DeputyPluginOption& option : PluginOptions()) {
    names.insert(option.name);
    EXPECT_EQ(Problem({{option.name, option.default_value}}), "") << option.name;
    const std::string help = option.help;
    EXPECT_TRUE(help.ends_with(".")) << option.name;
    EXPECT_EQ(option.live, 0);
  }
  EXPECT_EQ(
      names,
      std::set<std::string>(
          {"cache_dir",      "cache_max_mb", "cache_token", "client_objects",       "describe",
           "device",         "device_class", "force",       "keep_outputs",         "kept_plans",
           "max_partitions", "min_gain_us",  "optimize",    "overlapped_tasks",     "precision",
           "preference",     "profiling",    "quantized",   "quantized_arithmetic", "source_dir",
           "storage",        "tuning"}));
  EXPECT_EQ(PluginOptions().size(), names.size());
  EXPECT_EQ(PluginOptions().data(), PluginOptions().data());
}

TEST(OptionsTest, client_objects_are_addresses_of_this_process) {
  const std::string process = std::to_string(getpid());
  Options options;
  const auto parse = [&](const std::string& text) {
    const char *const key = "client_objects", *const value = text.c_str();
    return ParseOptions(&key, &value, 1, &options);
  };
  ASSERT_EQ(parse(process + ":4096:0"), "");
  EXPECT_EQ(options.context, reinterpret_cast<void*>(uintptr_t{4096}));
  EXPECT_EQ(options.queue, nullptr);
  ASSERT_EQ(parse(process + ":4096:8192"), "");
  EXPECT_EQ(options.queue, reinterpret_cast<void*>(uintptr_t{8192}));
  EXPECT_FALSE(options.has_foreign_objects);
  for (const char* wrong : {":", "::", ":4096", ":4096:", ":4096:8192:", ":4096:8192 ", ":-1:0",
                            ":4096:0x2000", ":99999999999999999999:0", " :1:2"}) {
    EXPECT_EQ(
        parse(process + wrong),
        "option 'client_objects': expected PROCESS:CONTEXT:QUEUE, found '" + process + wrong + "'");
  }
  EXPECT_EQ(options.queue, reinterpret_cast<void*>(uintptr_t{8192})) << "unchanged by errors";
  ASSERT_EQ(parse("1:4096:8192"), "") << "objects of another process are ignored";
  EXPECT_EQ(options.context, nullptr);
  EXPECT_EQ(options.queue, nullptr);
  EXPECT_TRUE(options.has_foreign_objects);
  ASSERT_EQ(parse(""), "");
  EXPECT_EQ(options.context, nullptr);
  EXPECT_FALSE(options.has_foreign_objects);
}

TEST(OptionsTest, types_match_the_plugin_interface) {
  for (const DeputyPluginOption& option : PluginOptions()) {
    const std::string name = option.name;
    const int32_t expected = name == "max_partitions" || name == "cache_max_mb" ||
                                     name == "kept_plans" || name == "overlapped_tasks"
                                 ? kDeputyOptionInt
                             : name == "min_gain_us" ? kDeputyOptionFloat
                             : name == "quantized" || name == "force" || name == "profiling" ||
                                     name == "describe" || name == "keep_outputs" ||
                                     name == "optimize"
                                 ? kDeputyOptionBool
                                 : kDeputyOptionString;
    EXPECT_EQ(option.type, expected) << name;
  }
}

// Returns the defaults of TfLiteGpuDelegateOptionsV2Default (abi.md 3.9).
TfLiteGpuDelegateOptionsV2 DefaultV2() {
  TfLiteGpuDelegateOptionsV2 v2 = {};
  v2.is_precision_loss_allowed = -1;
  v2.inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
  v2.experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT;
  v2.max_delegated_partitions = 1;
  return v2;
}

Options Mapped(const TfLiteGpuDelegateOptionsV2& v2) {
  Options options;
  EXPECT_EQ(FromV2(v2, &options), "");
  return options;
}

std::string Refused(const TfLiteGpuDelegateOptionsV2& v2) {
  Options options;
  options.device = "untouched";
  const std::string problem = FromV2(v2, &options);
  EXPECT_EQ(options.device, "untouched");
  return problem;
}

TEST(OptionsV2Test, defaults_are_full_precision_and_one_partition) {
  const Options options = Mapped(DefaultV2());
  EXPECT_EQ(options.precision, Precision::kFp32);
  EXPECT_EQ(options.max_partitions, 1);
  EXPECT_TRUE(options.quantized);
  EXPECT_EQ(options.preference, Preference::kSingleAnswer);
  EXPECT_EQ(options.cache_dir, "");
}

TEST(OptionsV2Test, precision_is_set_by_the_flag_or_else_the_priorities) {
  TfLiteGpuDelegateOptionsV2 v2 = DefaultV2();
  v2.is_precision_loss_allowed = 1;
  EXPECT_EQ(Mapped(v2).precision, Precision::kAutomatic);
  v2.inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY;
  v2.is_precision_loss_allowed = 0;
  EXPECT_EQ(Mapped(v2).precision, Precision::kFp32);
  v2.is_precision_loss_allowed = -1;
  EXPECT_EQ(Mapped(v2).precision, Precision::kAutomatic);
  v2.inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
  EXPECT_EQ(Mapped(v2).precision, Precision::kAutomatic);
  v2.inference_priority1 = v2.inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_AUTO;
  EXPECT_EQ(Mapped(v2).precision, Precision::kFp32);
}

TEST(OptionsV2Test, partitions_preference_and_flags) {
  TfLiteGpuDelegateOptionsV2 v2 = DefaultV2();
  for (const auto& [partitions, expected] :
       std::vector<std::pair<int32_t, int64_t>>{{0, 1}, {-7, 1}, {1, 1}, {100, 100}}) {
    v2.max_delegated_partitions = partitions;
    EXPECT_EQ(Mapped(v2).max_partitions, expected);
  }
  v2.inference_preference = TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED;
  v2.experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY;
  EXPECT_EQ(Mapped(v2).preference, Preference::kSustainedSpeed);
  EXPECT_FALSE(Mapped(v2).quantized);
}

TEST(OptionsV2Test, programs_are_cached_with_flag_folder_and_token) {
  TfLiteGpuDelegateOptionsV2 v2 = DefaultV2();
  v2.serialization_dir = "/tmp/programs";
  v2.model_token = "net";
  EXPECT_EQ(Mapped(v2).cache_dir, "");
  v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
  EXPECT_EQ(Mapped(v2).cache_dir, "/tmp/programs");
  EXPECT_EQ(Mapped(v2).cache_token, "net");
  v2.model_token = nullptr;
  EXPECT_EQ(Mapped(v2).cache_dir, "");
}

TEST(OptionsV2Test, invalid_values_are_reported) {
  TfLiteGpuDelegateOptionsV2 v2 = DefaultV2();
  v2.is_precision_loss_allowed = 2;
  EXPECT_EQ(Refused(v2), "is_precision_loss_allowed: expected -1, 0 or 1, found 2");
  v2 = DefaultV2();
  v2.inference_preference = -1;
  EXPECT_EQ(Refused(v2), "inference_preference: expected 0, 1 or 2, found -1");
  v2 = DefaultV2();
  v2.experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY;
  EXPECT_THAT(Refused(v2), HasSubstr("OpenGL is not supported"));
  v2 = DefaultV2();
  v2.inference_priority3 = 4;
  EXPECT_EQ(Refused(v2), "inference_priority3: expected 0 to 3, found 4");
  v2 = DefaultV2();
  v2.inference_priority3 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY;
  EXPECT_EQ(Refused(v2), "inference priorities: AUTO may be followed by AUTO only");
  v2.inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
  EXPECT_EQ(Refused(v2), "inference priorities: duplicate value");
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_options_test
