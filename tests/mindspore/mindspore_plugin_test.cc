// SPDX-License-Identifier: Apache-2.0
//
// Tests the entry points that mindspore/plugin.h adds to a library with a MindSpore delegate: the
// description that hosts read, options, failures, and reasons for nodes that are not claimed.
// tests/examples/examples_test.py loads a complete library.
#include "mindspore/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "deputy/builtin_ops.h"
#include "deputy/c_api.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "tests/mindspore/mindspore_support.h"

namespace deputy {
namespace {

using testing::HasSubstr;

// A delegate that claims additions. A "mute" one states in Explain that it does not report its
// support.
class AddDelegate : public RunDelegate {
 public:
  explicit AddDelegate(bool mute)
      : RunDelegate([](Kernel*, const ms_schema::Primitive& primitive, int) {
          return primitive.value_type() == ms_schema::PrimitiveType_AddFusion;
        }),
        mute_(mute) {}
  bool Explain(DelegateModel* model) override {
    for (auto iter = model->BeginKernelIterator(); iter != model->EndKernelIterator(); ++iter) {
      if (model->GetPrimitive(*iter)->value_type() == ms_schema::PrimitiveType_AddFusion) continue;
      model->Refuse(*iter, kDeputyReasonOperator, (*iter)->name() + " is none");
    }
    return !mute_;
  }
  bool is_mute() const { return mute_; }

 private:
  bool mute_;
};

std::shared_ptr<mindspore::Delegate> Make(const mindspore::PluginOptions& options,
                                          std::string* error) {
  if (options.Text("how") == "throw") throw std::runtime_error("it threw");
  if (options.Text("how") == "none") {
    *error = "no engine here";
    return nullptr;
  }
  EXPECT_EQ(options.Int("count"), options.Text("how") == "given" ? -5 : 7);
  EXPECT_EQ(options.Float("factor"), options.Text("how") == "given" ? 0.5 : 1);
  return std::make_shared<AddDelegate>(options.Bool("mute"));
}

const DeputyPluginOption kOptions[] = {
    {"how", kDeputyOptionString, 0, "", "What becomes of it."},
    {"count", kDeputyOptionInt, 0, "7", "A number."},
    {"factor", kDeputyOptionFloat, 0, "1", "A factor."},
    {"mute", kDeputyOptionBool, 0, "false", "Says nothing of nodes."},
};
constexpr mindspore::PluginDescription kPlugin = {
    .name = "adds",
    .version = "1.5",
    .vendor = "Test vendor",
    .options = kOptions,
    .option_count = 4,
    .create = Make,
    .report = [](mindspore::Delegate* delegate, DeputyDelegateReport* report) {
      report->cache_hits = static_cast<AddDelegate*>(delegate)->is_mute() ? 3 : 5;
    }};

}  // namespace
}  // namespace deputy

MINDSPORE_DELEGATE_PLUGIN(deputy::kPlugin)

namespace deputy {
namespace {

std::string& Reported() {
  static std::string text;
  return text;
}

using Delegate = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

Delegate Create(const std::vector<std::pair<const char*, const char*>>& options) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key);
    values.push_back(value);
  }
  Reported().clear();
  return {tflite_plugin_create_delegate(keys.data(), values.data(), keys.size(),
                                        [](const char* text) { Reported() = text; }),
          &tflite_plugin_destroy_delegate};
}

TEST(MindSporePlugin, describes_itself) {
  const DeputyDelegatePlugin* plugin = deputy_plugin();
  EXPECT_EQ(plugin->struct_size, sizeof *plugin);
  EXPECT_EQ(plugin->abi_version, DEPUTY_PLUGIN_ABI_VERSION);
  EXPECT_EQ(std::string(plugin->name) + plugin->version + plugin->vendor, "adds1.5Test vendor");
  EXPECT_EQ(plugin->options, kOptions);
  EXPECT_EQ(plugin->option_count, 4U);
  EXPECT_EQ(plugin, deputy_plugin());
}

TEST(MindSporePlugin, options_have_types_and_defaults) {
  EXPECT_NE(Create({}), nullptr);
  EXPECT_NE(Create({{"how", "given"}, {"count", "-5"}, {"factor", "0.5"}}), nullptr);
  const std::vector<std::pair<std::pair<const char*, const char*>, const char*>> wrong = {
      {{"color", "red"}, "unknown option 'color'"},
      {{"count", "7x"}, "option 'count': expected a whole number, found '7x'"},
      {{"count", ""}, "option 'count': expected a whole number, found ''"},
      {{"count", "99999999999999999999"},
       "option 'count': expected a whole number, found '99999999999999999999'"},
      {{"factor", "half"}, "option 'factor': expected a number, found 'half'"},
      {{"mute", "yes"}, "option 'mute': expected true, false, 1 or 0, found 'yes'"},
  };
  for (const auto& [option, text] : wrong) {
    EXPECT_EQ(Create({option}), nullptr) << text;
    EXPECT_EQ(Reported(), text);
  }
}

TEST(MindSporePlugin, failures_of_the_factory_are_reported) {
  EXPECT_EQ(Create({{"how", "none"}}), nullptr);
  EXPECT_EQ(Reported(), "no engine here");
  EXPECT_EQ(Create({{"how", "throw"}}), nullptr);
  EXPECT_EQ(Reported(), "it threw");
  const char* key = "how";
  const char* value = "throw";
  EXPECT_EQ(tflite_plugin_create_delegate(&key, &value, 1, nullptr), nullptr);
}

// Queries a library's delegate for the nodes of a chain, as the host does.
class SupportQuery {
 public:
  explicit SupportQuery(TfLiteDelegate* delegate) : delegate_(delegate) {
    base_.data_ = this;
    base_.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
      return static_cast<SupportQuery*>(self->data_)->Query(context);
    };
    const std::vector<uint8_t> bytes = ChainModel(4);
    TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
    TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, nullptr);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter, &base_), kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
  }

  TfLiteStatus status = kTfLiteOk;
  std::vector<uint8_t> supported = std::vector<uint8_t>(4, 0);
  std::vector<int32_t> reasons = std::vector<int32_t>(4, 0);
  std::vector<std::string> texts = std::vector<std::string>(4);

 private:
  TfLiteStatus Query(TfLiteContext* context) {
    const int32_t nodes[] = {0, 1, 2, 3};
    std::vector<const char*> text_pointers(4, nullptr);
    DeputySupportResult result = {};
    result.struct_size = sizeof result;
    result.node_count = 4;
    result.nodes = nodes;
    result.supported = supported.data();
    result.reason_of_node = reasons.data();
    result.text_of_node = text_pointers.data();
    status = deputy_plugin()->get_support(delegate_, context, &result);
    for (size_t i = 0; i < text_pointers.size(); ++i)
      texts[i] = text_pointers[i] == nullptr ? "" : text_pointers[i];
    return kTfLiteOk;
  }

  TfLiteDelegate* const delegate_;
  TfLiteDelegate base_ = {};
};

TEST(MindSporePlugin, reports_supported_nodes_and_reasons_for_others) {
  const Delegate delegate = Create({});
  const SupportQuery query(delegate.get());
  EXPECT_EQ(query.status, kTfLiteOk);
  EXPECT_THAT(query.supported, testing::ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(query.reasons,
              testing::ElementsAre(0, kDeputyReasonOperator, 0, kDeputyReasonOperator));
  EXPECT_THAT(query.texts,
              testing::ElementsAre("", "MulFusion-op1 is none", "", "MulFusion-op3 is none"));
}

TEST(MindSporePlugin, may_lack_a_support_query) {
  const Delegate delegate = Create({{"mute", "true"}});
  EXPECT_EQ(SupportQuery(delegate.get()).status, kTfLiteError);
  TfLiteDelegate unrelated = {};
  EXPECT_EQ(SupportQuery(&unrelated).status, kTfLiteError);
  EXPECT_THAT(DeputyMSLastError(), HasSubstr("was not created by DeputyMSDelegateCreateTfLite"));
}

TEST(MindSporePlugin, adds_to_the_report) {
  for (const bool mute : {false, true}) {
    const Delegate delegate = Create({{"mute", mute ? "true" : "false"}});
    DeputyDelegateReport report = {};
    EXPECT_EQ(deputy_plugin()->report(delegate.get(), &report, nullptr, nullptr), kTfLiteOk);
    EXPECT_EQ(report.cache_hits, mute ? 3 : 5);
  }
  TfLiteDelegate unrelated = {};
  EXPECT_EQ(DeputyMSDelegateGetUserData(&unrelated), nullptr);
}

// The delegate reports reasons reserved for the runtime, and invalid kernels.
TEST(MindSporePlugin, refusals_are_checked) {
  DeputyMSDelegate c = {};
  c.struct_size = sizeof c;
  c.abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION;
  c.build = [](void*, DeputyMSGraph*) { return 0; };
  c.explain = [](void*, DeputyMSGraph* graph) {
    const DeputyMSKernel* kernel = DeputyMSGraphKernelAt(graph, 0);
    EXPECT_EQ(DeputyMSGraphRefuse(graph, kernel, 0, ""), kMSStatusLiteParamInvalid);
    EXPECT_EQ(DeputyMSGraphRefuse(graph, kernel, 100, ""), kMSStatusLiteParamInvalid);
    EXPECT_EQ(DeputyMSGraphRefuse(graph, nullptr, 1, ""), kMSStatusLiteNullptr);
    EXPECT_EQ(DeputyMSGraphRefuse(nullptr, kernel, 1, ""), kMSStatusLiteNullptr);
    EXPECT_EQ(DeputyMSGraphRefuse(graph, kernel, kDeputyReasonShape, nullptr), kMSStatusSuccess);
    return 0;
  };
  const Delegate adapted(DeputyMSDelegateCreateTfLite(&c), &DeputyMSDelegateDeleteTfLite);
  const SupportQuery query(adapted.get());
  EXPECT_EQ(query.status, kTfLiteOk);
  EXPECT_THAT(query.supported, testing::ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(query.reasons[0], kDeputyReasonShape);
}

}  // namespace
}  // namespace deputy
