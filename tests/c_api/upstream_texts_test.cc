// SPDX-License-Identifier: Apache-2.0
//
// Compares messages with the texts that the C and C++ tests of TensorFlow Lite expect; bindings and
// programs compare with them, too. Each row names upstream's test. python_values_test.py has the
// texts of its Python tests.
//
// Omitted: texts of C++ functions that the C API does not have (InterpreterBuilder); pairs of
// numbers from macros ("3 != 4"), for which Deputy's texts name the expected and found values;
// TransposeTest.Test9DInputTensor, because all operators share one check of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"
#include "tests/support/test_interpreter.h"

namespace deputy::upstream_texts_test {
namespace {

using testing::HasSubstr;

void Append(void* user_data, const char* format, va_list args) {
  char text[2048];
  std::vsnprintf(text, sizeof text, format, args);
  *static_cast<std::string*>(user_data) += text;
}

// A model of z = x + y.
std::vector<uint8_t> Add() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, y});
  m.SetOutputs({z});
  return m.Finish();
}

// Creates an interpreter, passes it to `use` (null if its creation failed), and returns the texts
// that the client's reporter received.
std::string TextsOf(const std::vector<uint8_t>& bytes, bool selected_ops, int threads,
                    const std::function<void(TfLiteInterpreter*)>& use) {
  std::string texts;
  const Owned<TfLiteModel> model(TfLiteModelCreate(bytes.data(), bytes.size()));
  const Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), Append, &texts);
  if (threads != -1) TfLiteInterpreterOptionsSetNumThreads(options.get(), threads);
  const Owned<TfLiteInterpreter> interpreter(
      selected_ops ? TfLiteInterpreterCreateWithSelectedOps(model.get(), options.get())
                   : TfLiteInterpreterCreate(model.get(), options.get()));
  use(interpreter.get());
  return texts;
}

TEST(UpstreamTexts, c_api_test_error_reporter) {
  EXPECT_EQ(TextsOf(Add(), false, -1, [](auto* i) { TfLiteInterpreterInvoke(i); }),
            "Invoke called on model that is not ready.");
}

TEST(UpstreamTexts, c_api_test_model_create_with_error_reporter) {
  std::string texts;
  const std::vector<char> invalid(20, 'c');
  EXPECT_EQ(TfLiteModelCreateWithErrorReporter(invalid.data(), invalid.size(), Append, &texts),
            nullptr);
  EXPECT_EQ(texts, "The model is not a valid Flatbuffer buffer");
}

TEST(UpstreamTexts, c_api_test_model_create_from_file_with_error_reporter) {
  std::string texts;
  EXPECT_EQ(TfLiteModelCreateFromFileWithErrorReporter("invalid/path/foo.tflite", Append, &texts),
            nullptr);
  EXPECT_THAT(texts, HasSubstr("Could not open 'invalid/path/foo.tflite'."));
}

TEST(UpstreamTexts, c_api_experimental_test_missing_builtin) {
  const std::string texts = TextsOf(Add(), true, -1, [](auto* i) { EXPECT_EQ(i, nullptr); });
  EXPECT_THAT(texts, HasSubstr("Didn't find op for builtin opcode 'ADD' version '1'."));
}

TEST(UpstreamTexts, model_test_build_from_corrupted_allocation) {
  std::string texts;
  alignas(16) const char corrupted[] = {0, 0, 0, 0, 'T', 'F', 'L', '3', 0, 0};
  EXPECT_EQ(TfLiteModelCreateWithErrorReporter(corrupted, sizeof corrupted, Append, &texts),
            nullptr);
  EXPECT_EQ(texts, "The model is not a valid Flatbuffer buffer");
}

TEST(UpstreamTexts, model_test_build_from_invalid_allocation) {
  std::string texts;
  EXPECT_EQ(TfLiteModelCreateWithErrorReporter(nullptr, 0, Append, &texts), nullptr);
  EXPECT_EQ(texts, "The model allocation is null/empty");
}

// Upstream's C API calls Interpreter::SetNumThreads, which reports this text; tflitec-rs and others
// show it to users.
TEST(UpstreamTexts, interpreter_set_num_threads) {
  EXPECT_EQ(TextsOf(Add(), false, -2, [](auto* i) { EXPECT_NE(i, nullptr); }),
            "num_threads should be >=0 or just -1 to let TFLite runtime set the value.");
}

// ---- Macros, as in common_test.cc and opaque_delegate_test.cc -----------------------------------

std::string* g_texts;

void Report(TfLiteContext*, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Append(g_texts, format, args);
  va_end(args);
}

TEST(UpstreamTexts, common_test_ensure_ok) {
  std::string texts;
  g_texts = &texts;
  TfLiteContext context = {};
  context.ReportError = Report;
  const auto silent = [](TfLiteContext* c) -> TfLiteStatus {
    TF_LITE_ENSURE_OK(c, kTfLiteError);
    return kTfLiteOk;
  };
  EXPECT_EQ(silent(&context), kTfLiteError);
  EXPECT_EQ(texts, "");
  const auto loud = [](TfLiteContext* c) -> TfLiteStatus {
    TF_LITE_ENSURE_OK(c, kTfLiteError, "Error code: %d", 42);
    return kTfLiteOk;
  };
  EXPECT_EQ(loud(&context), kTfLiteError);
  EXPECT_THAT(texts, HasSubstr("Error code: 42"));
  EXPECT_THAT(texts, HasSubstr("upstream_texts_test.cc"));
}

using OpaquePrepare = TfLiteStatus (*)(TfLiteOpaqueContext*, TfLiteOpaqueDelegate*, void*);

std::string OpaqueTexts(OpaquePrepare prepare) {
  TfLiteOpaqueDelegateBuilder builder = {};
  builder.Prepare = prepare;
  TfLiteOpaqueDelegate* const delegate = TfLiteOpaqueDelegateCreate(&builder);
  const std::string texts = TextsOf(Add(), false, -1, [delegate](auto* i) {
    TfLiteInterpreterModifyGraphWithDelegate(i, delegate);
  });
  TfLiteOpaqueDelegateDelete(delegate);
  return texts;
}

TEST(UpstreamTexts, opaque_delegate_test_macros) {
  const std::pair<const char*, OpaquePrepare> rows[] = {
      {"false was not true",
       [](TfLiteOpaqueContext* c, TfLiteOpaqueDelegate*, void*) {
         TF_LITE_OPAQUE_ENSURE(c, false);
         return kTfLiteOk;
       }},
      {"true != false",
       [](TfLiteOpaqueContext* c, TfLiteOpaqueDelegate*, void*) {
         TF_LITE_OPAQUE_ENSURE_EQ(c, true, false);
         return kTfLiteOk;
       }},
      {"custom error msg",
       [](TfLiteOpaqueContext* c, TfLiteOpaqueDelegate*, void*) {
         TF_LITE_OPAQUE_ENSURE_MSG(c, false, "custom error msg");
         return kTfLiteOk;
       }},
      {"kTfLiteFloat32 != kTfLiteInt32",
       [](TfLiteOpaqueContext* c, TfLiteOpaqueDelegate*, void*) {
         TF_LITE_OPAQUE_ENSURE_TYPES_EQ(c, kTfLiteFloat32, kTfLiteInt32);
         return kTfLiteOk;
       }},
  };
  for (const auto& [text, prepare] : rows) {
    const std::string texts = OpaqueTexts(prepare);
    EXPECT_THAT(texts, HasSubstr(text));
    EXPECT_THAT(texts, HasSubstr("upstream_texts_test.cc"));
  }
}

// ---- Options of operators, as in flatbuffer_conversions_test.cc ---------------------------------

struct OptionsCase {
  TfLiteBuiltinOperator code;
  std::function<void(ModelBuilder*)> add;  // adds the operator from tensor 0 to tensor 1
  std::string text;
};

template <typename Make>
OptionsCase Refused(TfLiteBuiltinOperator code, const Make& make, const std::string& text) {
  return {code, [code, make](ModelBuilder* m) { m->AddOp(code, {0}, {1}, make(m->fbb())); }, text};
}

OptionsCase WithoutOptions(TfLiteBuiltinOperator code, const std::string& text) {
  return {code, [code](ModelBuilder* m) { m->AddOp(code, {0}, {1}); }, text};
}

using Longs = std::vector<int64_t>;
const Longs* Given(const Longs& list) { return list.empty() ? nullptr : &list; }

OptionsCase Pad(const Longs& low, const Longs& high, const Longs& interior,
                const std::string& text) {
  return Refused(
      kTfLiteBuiltinStablehloPad,
      [=](auto& fbb) {
        return schema::CreateStablehloPadOptionsDirect(fbb, Given(low), Given(high),
                                                       Given(interior));
      },
      text);
}

OptionsCase Reduce(const std::array<Longs, 5>& lists, const std::string& text) {
  return Refused(
      kTfLiteBuiltinStablehloReduceWindow,
      [=](auto& fbb) {
        return schema::CreateStablehloReduceWindowOptionsDirect(fbb, Given(lists[0]),
                                                                Given(lists[1]), Given(lists[2]),
                                                                Given(lists[3]), Given(lists[4]));
      },
      text);
}

std::vector<OptionsCase> PadCases() {
  const std::string absent = "Input array not provided for operation 'stablehlo.pad'.\n";
  const Longs nine(9, 1);
  return {
      Pad({}, {2, 0, -2}, {3, 0, 3}, absent + "Check the 'edge_padding_low' attribute."),
      Pad({2, 0, -2}, {}, {3, 0, 3}, absent + "Check the 'edge_padding_high' attribute."),
      Pad({2, 0, -2}, {2, 0, -2}, {}, absent + "Check the 'interior_padding' attribute."),
      Pad({1, 0, -1}, {2, 0, -2}, {3, 0, 3, 5},
          "'stablehlo.pad' operation parameter array sizes are not consistent."),
      Pad(nine, nine, nine,
          "Found too many dimensions in the input array of operation 'stablehlo.pad'.\nCheck the "
          "'edge_padding_low' attribute."),
      WithoutOptions(kTfLiteBuiltinStablehloPad,
                     "Could not get 'stablehlo.pad' operation parameters."),
  };
}

std::vector<OptionsCase> ReduceWindowCases() {
  const auto size = [](const char* attribute, const char* counts) {
    return std::string("'") + attribute +
           "' attribute of 'stablehlo.reduce_window' does not have the expected size (" + counts +
           ").";
  };
  return {
      Reduce({},
             "'window_dimensions' attribute is not optional for 'stablehlo.reduce_window' and "
             "cannot be empty."),
      Reduce({Longs(9, 1)},
             "Found too many dimensions in the input array of operation "
             "'stablehlo.reduce_window'.\nCheck the 'window_dimensions' attribute."),
      Reduce({Longs{1, 2}, Longs{1}}, size("window_strides", "1 != 2")),
      Reduce({Longs{1, 2}, {}, Longs{1, 2, 3}}, size("base_dilations", "3 != 2")),
      Reduce({Longs{1, 2}, {}, {}, Longs{1}}, size("window_dilations", "1 != 2")),
      Reduce({Longs{1, 2}, {}, {}, {}, Longs{1, 2}}, size("padding", "2 != 4")),
      WithoutOptions(kTfLiteBuiltinStablehloReduceWindow,
                     "Could not get 'stablehlo.reduce_window' operation parameters."),
  };
}

std::vector<OptionsCase> OtherCases() {
  const std::vector<int32_t> many(21, 1);
  const auto too_many = [](const char* name) {
    return std::string("Found too many dimensions in the input array of operation '") + name +
           "'.\n";
  };
  return {
      Refused(
          kTfLiteBuiltinStablehloComposite,
          [](auto& fbb) { return schema::CreateStableHLOCompositeOptionsDirect(fbb, nullptr); },
          "'stablehlo.composite' missing required option 'name'."),
      WithoutOptions(kTfLiteBuiltinStablehloComposite,
                     "Could not get 'stablehlo.composite' operation parameters."),
      Refused(
          kTfLiteBuiltinStablehloCase,
          [](auto& fbb) { return schema::CreateStablehloCaseOptionsDirect(fbb); },
          "Input array not provided for operation 'stablehlo.case'.\nCheck the 'branch subgraph "
          "indices' attribute."),
      WithoutOptions(kTfLiteBuiltinStablehloCase,
                     "Could not get 'stablehlo.case' operation parameters."),
      Refused(
          kTfLiteBuiltinReshape,
          [=](auto& fbb) { return schema::CreateReshapeOptionsDirect(fbb, &many); },
          too_many("reshape")),
      Refused(
          kTfLiteBuiltinSqueeze,
          [=](auto& fbb) { return schema::CreateSqueezeOptionsDirect(fbb, &many); },
          too_many("squeeze")),
      Refused(
          kTfLiteBuiltinBucketize,
          [](auto& fbb) { return schema::CreateBucketizeOptionsDirect(fbb, nullptr); },
          "boundaries array not provided for operation 'bucketize'.\n"),
      Refused(
          kTfLiteBuiltinLstm,
          [](auto& fbb) {
            return schema::CreateLSTMOptions(fbb, {}, 0, 0, static_cast<schema::LSTMKernelType>(5));
          },
          "Unhandled LSTM kernel type: 5"),
      WithoutOptions(kTfLiteBuiltinLstm, "No valid LSTM builtin options exist"),
      Refused(
          kTfLiteBuiltinFullyConnected,
          [](auto& fbb) {
            return schema::CreateFullyConnectedOptions(
                fbb, {}, static_cast<schema::FullyConnectedOptionsWeightsFormat>(9));
          },
          "Unhandled fully-connected weights format."),
  };
}

TEST(UpstreamTexts, of_refused_options) {
  std::vector<OptionsCase> cases = PadCases();
  for (auto* more : {&ReduceWindowCases, &OtherCases}) {
    for (OptionsCase& c : more()) cases.push_back(std::move(c));
  }
  for (const OptionsCase& c : cases) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
    const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
    c.add(&m);
    m.SetInputs({x});
    m.SetOutputs({y});
    const std::string texts =
        TextsOf(m.Finish(), false, -1, [](auto* i) { EXPECT_EQ(i, nullptr); });
    const std::string_view text(c.text.data(), c.text.size() - c.text.ends_with('\n'));
    EXPECT_TRUE(texts.starts_with(std::string(text) + "; subgraph 0 node 0 ")) << texts;
  }
}

// ---- Kernels ------------------------------------------------------------------------------------

struct KernelCase {
  const char* test;  // name of upstream's test
  TfLiteBuiltinOperator code;
  std::vector<int32_t> shape;    // shape of the input
  std::vector<int32_t> operand;  // values of a constant operand
  std::vector<int32_t> operand_shape;
  const char* text;
};

TEST(UpstreamTexts, of_kernels) {
  const char* const not_broadcastable = "Output shape must be broadcastable from input shape.";
  const char* const out_of_bounds = "Transpose op permutations array is out of bounds.";
  const KernelCase cases[] = {
      {"PadOpTest.Int32PaddingInvalidPadValue",
       kTfLiteBuiltinPad,
       {1, 1, 2, 1},
       {0, 0, 1, -1, 2, -1, 0, 0},
       {4, 2},
       "Pad value has to be greater than equal to 0."},
      {"BroadcastToOpTest.MismatchDimension",
       kTfLiteBuiltinBroadcastTo,
       {2, 4, 1, 3},
       {2, 4, 1, 2},
       {4},
       not_broadcastable},
      {"BroadcastToOpTest.MismatchDimension, ranks",
       kTfLiteBuiltinBroadcastTo,
       {2, 4, 1, 2, 3},
       {2, 4, 1, 2},
       {4},
       not_broadcastable},
      {"ReshapeOpTest.MismatchedDimensions",
       kTfLiteBuiltinReshape,
       {1, 2, 4, 1},
       {2, 1},
       {2},
       "num_input_elements != num_output_elements"},
      {"ReshapeOpTest.TooManySpecialDimensions",
       kTfLiteBuiltinReshape,
       {1, 2, 4, 1},
       {-1, -1, 2, 4},
       {4},
       "stretch_dim != -1"},
      {"TransposeTest.TestPermOutOfBounds, below",
       kTfLiteBuiltinTranspose,
       {1, 3, 3, 1},
       {0, -1, -2, -5},
       {4},
       out_of_bounds},
      {"TransposeTest.TestPermOutOfBounds, above",
       kTfLiteBuiltinTranspose,
       {1, 3, 3, 1},
       {0, 1, 2, 4},
       {4},
       out_of_bounds},
  };
  for (const KernelCase& c : cases) {
    SCOPED_TRACE(c.test);
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, c.shape, "x");
    const int operand = m.AddConstant<int32_t>(kTfLiteInt32, c.operand_shape, c.operand);
    const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
    m.AddOp(c.code, {x, operand}, {y}, c.code == kTfLiteBuiltinBroadcastTo ? 2 : 1);
    m.SetInputs({x});
    m.SetOutputs({y});
    const std::vector<uint8_t> bytes = m.Finish();
    std::string known;
    TextsOf(bytes, false, -1, [&known](TfLiteInterpreter* interpreter) {
      EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteError);
      known = DeputyInterpreterLastError(interpreter);
    });
    EXPECT_THAT(known, HasSubstr(c.text));
  }
}

}  // namespace
}  // namespace deputy::upstream_texts_test
