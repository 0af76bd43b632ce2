// SPDX-License-Identifier: Apache-2.0
//
// The schema of MindSpore's primitives: numbers and names against lists of MindSpore Lite, and
// every attribute of every primitive from a .ms file to a delegate. The attributes are those of
// flatc's static reflection, which calls the typed accessors; a count guards against gaps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "flatbuffers/reflection_generated.h"
#include "ms_bfbs_generated.h"
#include "reflected_generated.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_schema_test {
namespace {

namespace file = mindspore::schema;
// The schema with static reflection.
namespace reflected = mindspore::reflected;

// The names of all primitives in the order of their numbers, from 1 on: data of MindSpore Lite.
// clang-format off
#define DEPUTY_PRIMITIVES(X)                                                                      \
  X(Abs) X(Activation) X(ActivationGrad) X(Adam) X(AddFusion) X(AdderFusion) X(AddGrad) X(AddN)   \
  X(All) X(ApplyMomentum) X(ArgMaxFusion) X(ArgMinFusion) X(Assert) X(Assign) X(AssignAdd)        \
  X(AudioSpectrogram) X(AvgPoolFusion) X(AvgPoolGrad) X(BatchNorm) X(BatchNormGrad)               \
  X(BatchToSpace) X(BatchToSpaceND) X(BiasAdd) X(BinaryCrossEntropy) X(BinaryCrossEntropyGrad)    \
  X(BiasAddGrad) X(BroadcastTo) X(Cast) X(Ceil) X(Clip) X(Concat) X(Attention)                    \
  X(Conv2DBackpropFilterFusion) X(Conv2DBackpropInputFusion) X(Conv2DFusion)                      \
  X(Conv2dTransposeFusion) X(Cos) X(ConstantOfShape) X(Crop) X(CustomExtractFeatures)             \
  X(CustomNormalize) X(CustomPredict) X(DeConv2DGradFilter) X(Depend) X(DepthToSpace)             \
  X(DetectionPostProcess) X(DivFusion) X(DivGrad) X(Dropout) X(DropoutGrad) X(Elu) X(Eltwise)     \
  X(Equal) X(EmbeddingLookupFusion) X(ExpFusion) X(ExpandDims) X(FakeQuantWithMinMaxVars)         \
  X(FakeQuantWithMinMaxVarsPerChannel) X(FftReal) X(FftImag) X(Flatten) X(FlattenGrad) X(Floor)   \
  X(FloorDiv) X(FloorMod) X(Fill) X(FullConnection) X(FusedBatchNorm) X(Gather) X(GatherNd)       \
  X(Greater) X(GreaterEqual) X(HashtableLookup) X(InstanceNorm) X(LayerNormFusion) X(LeakyRelu)   \
  X(Less) X(LessEqual) X(Log) X(LogGrad) X(LogicalAnd) X(LogicalNot) X(LogicalOr)                 \
  X(LpNormalization) X(LRN) X(LshProjection) X(LSTM) X(L2NormalizeFusion) X(MatMulFusion)         \
  X(Maximum) X(MaximumGrad) X(MaxPoolFusion) X(MaxPoolGrad) X(SwitchLayer) X(Mfcc) X(Minimum)     \
  X(MinimumGrad) X(Mod) X(MulFusion) X(MulGrad) X(Neg) X(NegGrad) X(NotEqual)                     \
  X(NonMaxSuppression) X(OneHot) X(OnesLike) X(PadFusion) X(PartialFusion) X(PowerGrad)           \
  X(PowFusion) X(PriorBox) X(PReLUFusion) X(QuantDTypeCast) X(Rank) X(Range) X(Reciprocal)        \
  X(RealDiv) X(ReduceFusion) X(Reshape) X(Resize) X(ReverseSequence) X(ReverseV2) X(Rfft)         \
  X(ROIPooling) X(Round) X(Rsqrt) X(ScaleFusion) X(ScatterNd) X(SGD) X(Shape)                     \
  X(SigmoidCrossEntropyWithLogits) X(SigmoidCrossEntropyWithLogitsGrad) X(Sin) X(SkipGram)        \
  X(SliceFusion) X(SmoothL1Loss) X(SmoothL1LossGrad) X(Softmax) X(SoftmaxCrossEntropyWithLogits)  \
  X(SpaceToBatch) X(SpaceToBatchND) X(SpaceToDepth) X(SparseSoftmaxCrossEntropyWithLogits)        \
  X(SparseToDense) X(Split) X(Sqrt) X(Squeeze) X(Square) X(SquaredDifference) X(Stack)            \
  X(StridedSlice) X(SubFusion) X(SubGrad) X(Switch) X(TensorListFromTensor) X(TensorListGetItem)  \
  X(TensorListReserve) X(TensorListSetItem) X(TensorListStack) X(TileFusion) X(TopKFusion)        \
  X(Transpose) X(Unique) X(UnsortedSegmentSum) X(Unsqueeze) X(Unstack) X(LSTMGrad) X(Where)       \
  X(ZerosLike) X(Select) X(ScatterNdUpdate) X(GRU) X(NonZero) X(InvertPermutation) X(Size)        \
  X(RandomStandardNormal) X(CropAndResize) X(Erf) X(StridedSliceGrad) X(IsFinite) X(LinSpace)     \
  X(UniformReal) X(AbsGrad) X(RsqrtGrad) X(SqrtGrad) X(LayerNormGrad) X(ResizeGrad) X(Splice)     \
  X(LogSoftmax) X(Call) X(Custom) X(CumSum) X(SplitWithOverlap) X(GenOP) X(RaggedRange) X(GLU)    \
  X(TensorArray) X(TensorArrayRead) X(TensorArrayWrite) X(Affine) X(AllGather) X(ReduceScatter)   \
  X(DynamicQuant) X(LSTMGradData) X(LSTMGradWeight) X(RandomNormal) X(NLLLoss) X(NLLLossGrad)     \
  X(FormatTranspose) X(GatherD) X(GroupNormFusion) X(Log1p) X(TensorScatterAdd)                   \
  X(SparseFillEmptyRows) X(SparseReshape) X(SparseSegmentSum) X(ScatterElements) X(Triu) X(Tril)  \
  X(AdamWeightDecay) X(FillV2)
// clang-format on

constexpr size_t kPrimitives = 221;
constexpr size_t kAttributes = 437;

// ---- Numbers and names --------------------------------------------------------------------------

TEST(MindSporeSchema, primitives_have_mindspores_numbers_and_names) {
  const std::vector<std::string> names = {
#define DEPUTY_NAME(name) #name,
      DEPUTY_PRIMITIVES(DEPUTY_NAME)
#undef DEPUTY_NAME
  };
  ASSERT_EQ(names.size(), kPrimitives);
  EXPECT_EQ(file::PrimitiveType_MAX, static_cast<int>(kPrimitives));
  EXPECT_STREQ(file::EnumNamePrimitiveType(file::PrimitiveType_NONE), "NONE");
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(file::EnumNamePrimitiveType(static_cast<file::PrimitiveType>(i + 1)), names[i]);
  }
  EXPECT_STREQ(file::EnumNamePrimitiveType(static_cast<file::PrimitiveType>(222)), "");
  // Constants by name, spread over the list.
  EXPECT_EQ(file::PrimitiveType_Abs, 1);
  EXPECT_EQ(file::PrimitiveType_Conv2DFusion, 35);
  EXPECT_EQ(file::PrimitiveType_LSTM, 87);
  EXPECT_EQ(file::PrimitiveType_Resize, 120);
  EXPECT_EQ(file::PrimitiveType_Custom, 191);
  EXPECT_EQ(file::PrimitiveType_FillV2, 221);
}

// Compares all values of an enumeration with a list.
template <typename Enum, size_t kCount>
void ExpectValues(const Enum (&all)[kCount], const char* (*name_of)(Enum),
                  const std::vector<std::pair<int, const char*>>& expected) {
  ASSERT_EQ(kCount, expected.size());
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(static_cast<int>(all[i]), expected[i].first);
    EXPECT_STREQ(name_of(all[i]), expected[i].second);
  }
}

TEST(MindSporeSchema, enumerations_have_mindspores_values) {
  ExpectValues(file::EnumValuesFormat(), file::EnumNameFormat,
               {{0, "NCHW"},
                {1, "NHWC"},
                {2, "NHWC4"},
                {3, "HWKC"},
                {4, "HWCK"},
                {5, "KCHW"},
                {6, "CKHW"},
                {7, "KHWC"},
                {8, "CHWK"},
                {9, "HW"},
                {10, "HW4"},
                {11, "NC"},
                {12, "NC4"},
                {13, "NC4HW4"},
                {14, "NUM_OF_FORMAT"},
                {15, "NCDHW"},
                {16, "NWC"},
                {17, "NCW"},
                {18, "NC8HW8"}});
  ExpectValues(file::EnumValuesActivationType(), file::EnumNameActivationType,
               {{0, "NO_ACTIVATION"}, {1, "RELU"},       {2, "SIGMOID"},
                {3, "RELU6"},         {4, "ELU"},        {5, "LEAKY_RELU"},
                {6, "ABS"},           {7, "RELU1"},      {8, "SOFTSIGN"},
                {9, "SOFTPLUS"},      {10, "TANH"},      {11, "SELU"},
                {12, "HSWISH"},       {13, "HSIGMOID"},  {14, "THRESHOLDRELU"},
                {15, "LINEAR"},       {16, "HARD_TANH"}, {17, "SIGN"},
                {18, "SWISH"},        {19, "GELU"},      {20, "FAST_GELU"},
                {27, "CELU"},         {40, "UNKNOWN"}});
  ExpectValues(file::EnumValuesPadMode(), file::EnumNamePadMode,
               {{0, "PAD"}, {1, "SAME"}, {2, "VALID"}});
  ExpectValues(file::EnumValuesPaddingMode(), file::EnumNamePaddingMode,
               {{0, "CONSTANT"}, {1, "REFLECT"}, {2, "SYMMETRIC"}, {3, "MODE_RESERVED"}});
  ExpectValues(file::EnumValuesRoundMode(), file::EnumNameRoundMode, {{0, "FLOOR"}, {1, "CEIL"}});
  ExpectValues(file::EnumValuesEltwiseMode(), file::EnumNameEltwiseMode,
               {{0, "PROD"}, {1, "SUM"}, {2, "MAXIMUM"}, {3, "UNKNOWN"}});
  ExpectValues(file::EnumValuesReduceMode(), file::EnumNameReduceMode,
               {{0, "ReduceMean"},
                {1, "ReduceMax"},
                {2, "ReduceMin"},
                {3, "ReduceProd"},
                {4, "ReduceSum"},
                {5, "ReduceSumSquare"},
                {6, "ReduceASum"},
                {7, "ReduceAll"},
                {8, "ReduceL2"}});
  ExpectValues(file::EnumValuesReduction(), file::EnumNameReduction,
               {{0, "REDUCTION_SUM"}, {1, "MEAN"}, {2, "NONE"}});
  ExpectValues(file::EnumValuesResizeMethod(), file::EnumNameResizeMethod,
               {{-1, "UNKNOWN"}, {0, "LINEAR"}, {1, "NEAREST"}, {2, "CUBIC"}});
  ExpectValues(file::EnumValuesCoordinateTransformMode(), file::EnumNameCoordinateTransformMode,
               {{0, "ASYMMETRIC"}, {1, "ALIGN_CORNERS"}, {2, "HALF_PIXEL"}});
  ExpectValues(
      file::EnumValuesNearestMode(), file::EnumNameNearestMode,
      {{0, "NORMAL"}, {1, "ROUND_HALF_DOWN"}, {2, "ROUND_HALF_UP"}, {3, "FLOOR"}, {4, "CEIL"}});
  ExpectValues(file::EnumValuesLshProjectionType(), file::EnumNameLshProjectionType,
               {{0, "UNKNOWN"}, {1, "SPARSE"}, {2, "DENSE"}});
  ExpectValues(file::EnumValuesQuantType(), file::EnumNameQuantType,
               {{0, "QUANT_NONE"},
                {1, "AwareTraining"},
                {2, "WeightQuant"},
                {3, "PostTraining"},
                {4, "QUANT_WEIGHT"},
                {5, "QUANT_ALL"},
                {6, "QUANT_DYNAMIC"}});
}

// ---- Attributes as text -------------------------------------------------------------------------

// A value of an attribute, as written to a file.
struct Value {
  std::vector<int64_t> ints = {};
  std::vector<float> floats = {};
  std::string text = {};
  std::vector<std::vector<int64_t>> rows = {};
  std::vector<std::pair<std::string, std::string>> entries = {};
};

std::string TextOf(int64_t value) { return std::to_string(value); }
std::string TextOf(float value) { return std::to_string(value); }

template <typename List>
std::string ListText(const List& list) {
  std::string text;
  for (const auto& value : list) text += (text.empty() ? "" : " ") + TextOf(value);
  return "[" + text + "]";
}

std::string RowsText(const std::vector<std::vector<int64_t>>& rows) {
  std::string text;
  for (const auto& row : rows) text += ListText(row);
  return "[" + text + "]";
}

// Returns the result of a typed accessor as text.
template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
std::string TypedText(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return TextOf(value);
  } else {
    return TextOf(static_cast<int64_t>(value));
  }
}
template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
std::string TypedText(const flatbuffers::Vector<T>* list) {
  if (list == nullptr) return "null";
  if constexpr (std::is_same_v<T, float>) {
    return ListText(std::vector<float>(list->begin(), list->end()));
  } else {
    return ListText(std::vector<int64_t>(list->begin(), list->end()));
  }
}
std::string TypedText(const flatbuffers::String* text) {
  return text == nullptr ? "null" : text->str();
}
std::string TypedText(const reflected::Vec2D* table) {
  if (table == nullptr) return "null";
  std::vector<std::vector<int64_t>> rows;
  for (const reflected::Vec* row : *table->data()) {
    rows.emplace_back(row->data()->begin(), row->data()->end());
  }
  return RowsText(rows);
}
std::string TypedText(
    const flatbuffers::Vector<flatbuffers::Offset<reflected::Attribute>>* entries) {
  if (entries == nullptr) return "null";
  std::string text;
  for (const reflected::Attribute* entry : *entries) {
    text += entry->name()->str() + ":" + std::string(entry->data()->begin(), entry->data()->end());
  }
  return text;
}

// ---- Values of a field --------------------------------------------------------------------------

const reflection::Schema& Schema() {
  return *reflection::GetSchema(file::MetaGraphBinarySchema::data());
}

const reflection::Object& TableOf(const std::string& primitive) {
  return *Schema().objects()->LookupByKey(("mindspore.schema." + primitive).c_str());
}

// Returns two different values, at least one of which is not the default.
std::vector<Value> ValuesOf(const reflection::Field& field) {
  const int64_t standard = field.default_integer();
  switch (field.type()->base_type()) {
    case reflection::Bool:
      return {{.ints = {1}}, {.ints = {0}}};
    case reflection::Byte:
      return {{.ints = {standard == 0 ? 1 : 0}}, {.ints = {2}}};
    case reflection::Int:
      return {{.ints = {11}}, {.ints = {-70'000}}};
    case reflection::Long:
      return {{.ints = {7}}, {.ints = {-3'000'000'000}}};
    case reflection::Float:
      return {{.floats = {0.25F}}, {.floats = {-3.5F}}};
    case reflection::String:
      return {{.text = "alpha"}, {.text = "\xce\xb2 and more than eight bytes"}};
    case reflection::Obj:
      return {{.rows = {{1, 2}, {3, 4}}}, {.rows = {{}, {int64_t{1} << 40}, {-1, 0, 5}}}};
    default:
      break;
  }
  switch (field.type()->element()) {
    case reflection::Long:
      return {{.ints = {1, -2, int64_t{1} << 40}}, {.ints = {}}};
    case reflection::Int:
      return {{.ints = {1, -2, 70'000}}, {.ints = {5}}};
    case reflection::Float:
      return {{.floats = {0.5F, -2}}, {.floats = {4}}};
    default:
      return {{.entries = {{"size", "abc"}, {"type", "x"}}}, {.entries = {{"other", ""}}}};
  }
}

// Returns the text that TypedText must return for a value.
std::string ExpectedText(const reflection::Field& field, const Value& value) {
  switch (field.type()->base_type()) {
    case reflection::String:
      return value.text;
    case reflection::Float:
      return TextOf(value.floats[0]);
    case reflection::Obj:
      return RowsText(value.rows);
    case reflection::Vector: {
      if (field.type()->element() == reflection::Float) return ListText(value.floats);
      if (field.type()->element() != reflection::Obj) return ListText(value.ints);
      std::string text;
      for (const auto& [name, data] : value.entries) text += name + ":" + data;
      return text;
    }
    default:
      return TextOf(value.ints[0]);
  }
}

// Returns the text that TypedText must return for an attribute that the file does not set.
std::string DefaultText(const reflection::Field& field) {
  switch (field.type()->base_type()) {
    case reflection::Vector:
    case reflection::String:
    case reflection::Obj:
      return "null";
    case reflection::Float:
      return TextOf(static_cast<float>(field.default_real()));
    default:
      return TextOf(field.default_integer());
  }
}

// Reads an attribute by name and compares it with a value.
void ExpectByName(const mindspore::Attributes& attributes, const reflection::Field& field,
                  const Value& value) {
  const char* name = field.name()->c_str();
  const reflection::BaseType type = field.type()->base_type();
  const reflection::BaseType element = field.type()->element();
  if (type == reflection::String) {
    EXPECT_EQ(attributes.GetBytes(name), value.text);
  } else if (type == reflection::Obj) {
    std::vector<int64_t> all;
    for (const auto& row : value.rows) all.insert(all.end(), row.begin(), row.end());
    EXPECT_EQ(attributes.GetInts(name), all);
  } else if (type == reflection::Bool) {
    EXPECT_EQ(attributes.GetBool(name, value.ints[0] == 0), value.ints[0] != 0);
  } else if (type == reflection::Float) {
    EXPECT_EQ(attributes.GetFloat(name, 1), value.floats[0]);
  } else if (type != reflection::Vector) {
    EXPECT_EQ(attributes.GetInt(name, 1), value.ints[0]);
  } else if (element == reflection::Float) {
    EXPECT_EQ(attributes.GetFloats(name), value.floats);
  } else if (element != reflection::Obj) {
    EXPECT_EQ(attributes.GetInts(name), value.ints);
  } else {
    EXPECT_FALSE(attributes.has(name));
    for (const auto& [entry, data] : value.entries) {
      EXPECT_TRUE(attributes.has(entry.c_str())) << entry;
      // `type` by name is the field, which comes first.
      EXPECT_EQ(attributes.GetBytes(entry.c_str()), entry == "type" ? "" : data);
    }
  }
}

// ---- Files --------------------------------------------------------------------------------------

flatbuffers::Offset<void> WriteReference(flatbuffers::FlatBufferBuilder* fbb,
                                         const reflection::Field& field, const Value& value) {
  const reflection::BaseType element = field.type()->element();
  switch (field.type()->base_type()) {
    case reflection::String:
      return fbb->CreateString(value.text).Union();
    case reflection::Obj: {
      std::vector<flatbuffers::Offset<file::Vec>> rows;
      for (const auto& row : value.rows) {
        rows.push_back(file::CreateVec(*fbb, fbb->CreateVector(row)));
      }
      return file::CreateVec2D(*fbb, fbb->CreateVector(rows)).Union();
    }
    case reflection::Vector:
      break;
    default:
      return 0;
  }
  if (element == reflection::Float) return fbb->CreateVector(value.floats).Union();
  if (element == reflection::Long) return fbb->CreateVector(value.ints).Union();
  if (element == reflection::Int) {
    return fbb->CreateVector(std::vector<int32_t>(value.ints.begin(), value.ints.end())).Union();
  }
  std::vector<flatbuffers::Offset<file::Attribute>> entries;
  for (const auto& [name, data] : value.entries) {
    const std::vector<uint8_t> bytes(data.begin(), data.end());
    entries.push_back(file::CreateAttributeDirect(*fbb, name.c_str(), &bytes));
  }
  return fbb->CreateVector(entries).Union();
}

// Writes a table in which one field is set, or none if `field` is null.
flatbuffers::Offset<file::Abs> WriteTable(flatbuffers::FlatBufferBuilder* fbb,
                                          const reflection::Field* field, const Value& value) {
  const auto reference =
      field == nullptr ? flatbuffers::Offset<void>() : WriteReference(fbb, *field, value);
  const auto start = fbb->StartTable();
  if (field != nullptr) {
    const flatbuffers::voffset_t at = field->offset();
    switch (field->type()->base_type()) {
      case reflection::Bool:
      case reflection::Byte:
        fbb->AddElement<int8_t>(at, static_cast<int8_t>(value.ints[0]));
        break;
      case reflection::Int:
        fbb->AddElement<int32_t>(at, static_cast<int32_t>(value.ints[0]));
        break;
      case reflection::Long:
        fbb->AddElement<int64_t>(at, value.ints[0]);
        break;
      case reflection::Float:
        fbb->AddElement<float>(at, value.floats[0]);
        break;
      default:
        fbb->AddOffset(at, reference);
    }
  }
  return {fbb->EndTable(start)};
}

// Returns a file with one node. It has more inputs and outputs than the mapped primitives, so that
// each primitive becomes one operator.
std::vector<uint8_t> FileWith(int type, const reflection::Field* field, const Value& value) {
  constexpr size_t kInputs = 6, kOutputs = 2;
  ms::MsWriter w;
  std::vector<uint32_t> inputs, outputs;
  for (size_t i = 0; i < kInputs; ++i) inputs.push_back(w.Input({1, kColumns}));
  for (size_t i = 0; i < kOutputs; ++i) outputs.push_back(w.Output({1, kColumns}));
  w.Node(static_cast<file::PrimitiveType>(type), inputs, outputs,
         WriteTable(&w.fbb(), field, value));
  return w.Finish();
}

// A kernel that writes 5 to its outputs.
class FiveKernel : public Kernel {
 public:
  using Kernel::Kernel;
  int Prepare() override { return RET_OK; }
  int ReSize() override { return RET_OK; }
  int Execute() override {
    for (MSTensor output : outputs()) {
      std::fill_n(static_cast<float*>(output.MutableData()), output.ElementNum(), 5.0F);
    }
    return RET_OK;
  }
};

// A delegate that passes the only kernel to a function, and replaces it.
class Inspector : public mindspore::Delegate {
 public:
  using Inspect = std::function<void(const file::Primitive&, const mindspore::Attributes&)>;
  explicit Inspector(Inspect inspect) : inspect_(std::move(inspect)) {}
  mindspore::Status Init() override { return mindspore::kSuccess; }
  mindspore::Status Build(DelegateModel* model) override {
    EXPECT_EQ(model->nodes()->size(), 1U);
    Kernel* kernel = *model->BeginKernelIterator();
    const file::Primitive* primitive = model->GetPrimitive(kernel);
    EXPECT_EQ(kernel->type(), primitive->value_type());
    inspect_(*primitive, model->attributes(kernel));
    model->Replace(model->BeginKernelIterator(), model->EndKernelIterator(),
                   new FiveKernel(kernel->inputs(), kernel->outputs(), nullptr, nullptr));
    return mindspore::kSuccess;
  }

 private:
  const Inspect inspect_;
};

// Builds the model, inspects its only primitive, and checks that the delegate's kernel computes.
void InspectModel(const std::vector<uint8_t>& bytes, const Inspector::Inspect& inspect) {
  int inspected = 0;
  const auto delegate = std::make_shared<Inspector>(
      [&](const file::Primitive& primitive, const mindspore::Attributes& attributes) {
        ++inspected;
        inspect(primitive, attributes);
      });
  mindspore::Model model;
  const mindspore::Status built =
      model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext(delegate));
  ASSERT_EQ(built, mindspore::kSuccess) << built.ToString();
  EXPECT_EQ(inspected, 1);
  std::vector<MSTensor> outputs;
  ASSERT_EQ(model.Predict(model.GetInputs(), &outputs), mindspore::kSuccess);
  for (const MSTensor& output : outputs) {
    EXPECT_EQ(static_cast<const float*>(output.Data().get())[kColumns - 1], 5);
  }
}

// ---- All attributes -----------------------------------------------------------------------------

template <typename Table, size_t... kIndices>
std::vector<std::string> TypedTexts(const Table& table, std::index_sequence<kIndices...>) {
  return {TypedText(table.template get_field<kIndices>())...};
}

// Writes each attribute of a primitive with two values, and reads it by the typed accessor and by
// name. All other attributes must have their defaults. Returns the number of attributes.
template <typename Table>
size_t CheckAttributes(int type, const Table* (reflected::Primitive::*value_as)() const,
                       bool (*is_type)(const file::Primitive&)) {
  constexpr size_t kCount = Table::Traits::fields_number;
  const auto names = Table::Traits::field_names;
  const reflection::Object& object = TableOf(Table::Traits::name);
  EXPECT_EQ(object.fields()->size(), kCount);
  const auto field_of = [&](size_t i) { return object.fields()->LookupByKey(names[i]); };
  const auto check = [&](const reflection::Field* set, const Value& value) {
    InspectModel(FileWith(type, set, value), [&](const file::Primitive& primitive,
                                                 const mindspore::Attributes& attributes) {
      const auto* root = reinterpret_cast<const reflected::Primitive*>(&primitive);
      const Table* table = (root->*value_as)();
      ASSERT_NE(table, nullptr);
      EXPECT_TRUE(is_type(primitive));
      EXPECT_EQ(attributes.type(), type);
      EXPECT_EQ(attributes.type_name(), Table::Traits::name);
      const std::vector<std::string> texts = TypedTexts(*table, std::make_index_sequence<kCount>());
      for (size_t i = 0; i < kCount; ++i) {
        const reflection::Field* field = field_of(i);
        EXPECT_EQ(texts[i], field == set ? ExpectedText(*field, value) : DefaultText(*field))
            << names[i];
      }
      if (set != nullptr) ExpectByName(attributes, *set, value);
    });
  };
  check(nullptr, {});
  for (size_t i = 0; i < kCount; ++i) {
    const std::vector<Value> values = ValuesOf(*field_of(i));
    SCOPED_TRACE(std::string(Table::Traits::name) + "." + names[i]);
    EXPECT_NE(ExpectedText(*field_of(i), values[0]), ExpectedText(*field_of(i), values[1]));
    for (const Value& value : values) check(field_of(i), value);
  }
  return kCount;
}

TEST(MindSporeSchema, each_attribute_of_a_file_reaches_a_delegate) {
  size_t primitives = 0, attributes = 0;
#define DEPUTY_CHECK(name)                                                                      \
  attributes += CheckAttributes<reflected::name>(                                               \
      file::PrimitiveType_##name, &reflected::Primitive::value_as_##name,                       \
      [](const file::Primitive& primitive) { return primitive.value_as_##name() != nullptr; }); \
  ++primitives;
  DEPUTY_PRIMITIVES(DEPUTY_CHECK)
#undef DEPUTY_CHECK
  EXPECT_EQ(primitives, kPrimitives);
  EXPECT_EQ(attributes, kAttributes);
  // No primitive of the schema is missing from the list above.
  size_t in_schema = 0;
  const auto* all = Schema().enums()->LookupByKey("mindspore.schema.PrimitiveType")->values();
  for (const reflection::EnumVal* value : *all) {
    if (value->value() != 0) in_schema += TableOf(value->name()->str()).fields()->size();
  }
  EXPECT_EQ(all->size(), kPrimitives + 1);
  EXPECT_EQ(in_schema, kAttributes);
}

// ---- Nodes of files -----------------------------------------------------------------------------

mindspore::Status BuildWith(mindspore::Model* model, const std::vector<uint8_t>& bytes,
                            const std::shared_ptr<mindspore::Delegate>& delegate) {
  return model->Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext(delegate));
}

// A file with a RealDiv, which becomes DIV, and a convolution whose attributes the operator does
// not have: explicit padding that equals SAME, and wrong numbers of channels.
std::vector<uint8_t> MappedFile() {
  ms::MsWriter w;
  const uint32_t x = w.Input({1, 4, 4, 1}), y = w.Output({1, 4, 4, 1});
  const uint32_t half = w.Tensor({1, 4, 4, 1});
  const uint32_t two = w.Constant<float>({1}, {2});
  const uint32_t filter = w.Constant<float>({1, 3, 3, 1}, {0, 0, 0, 0, 1, 0, 0, 0, 0});
  w.Node(file::PrimitiveType_RealDiv, {x, two}, {half});
  const auto kernel = w.Longs({3, 3}), ones = w.Longs({1, 1}), pads = w.Longs({1, 1, 1, 1});
  w.Node(file::PrimitiveType_Conv2DFusion, {half, filter}, {y},
         file::CreateConv2DFusion(w.fbb(), file::Format_NHWC, kernel, ones, ones, file::PadMode_PAD,
                                  pads, 7, 1, 5, 6));
  return w.Finish();
}

TEST(MindSporeSchema, mapped_nodes_have_the_primitives_of_the_file) {
  int inspected = 0;
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&inspected](DelegateModel* model) -> mindspore::Status {
    const std::vector<Kernel*>& kernels = *model->nodes();
    EXPECT_EQ(kernels.size(), 2U);
    EXPECT_EQ(model->GetPrimitive(kernels[0])->value_type(), file::PrimitiveType_RealDiv);
    EXPECT_EQ(model->derived_attributes(kernels[0]).type(), file::PrimitiveType_DivFusion);
    const file::Conv2DFusion* conv = model->GetPrimitive(kernels[1])->value_as_Conv2DFusion();
    EXPECT_EQ(conv->pad_mode(), file::PadMode_PAD);
    EXPECT_EQ(conv->pad_list()->Get(3), 1);
    EXPECT_EQ(conv->mode(), 7);
    EXPECT_EQ(conv->in_channel(), 5);
    EXPECT_EQ(conv->out_channel(), 6);
    const mindspore::Attributes derived = model->derived_attributes(kernels[1]);
    EXPECT_EQ(derived.GetInt("pad_mode"), file::PadMode_SAME);
    EXPECT_EQ(derived.GetInt("in_channel"), 1);
    ++inspected;
    return mindspore::kSuccess;
  };
  mindspore::Model model;
  ASSERT_EQ(BuildWith(&model, MappedFile(), delegate), mindspore::kSuccess);
  EXPECT_EQ(inspected, 1);
  EXPECT_EQ(Predict(&model, std::vector<float>(16, 6)), std::vector<float>(16, 3));
}

// A file with an Abs, which becomes ABS, an Erf, which has no operator, and a TopKFusion whose
// attributes prevent the mapping.
std::vector<uint8_t> UnmappedFile() {
  ms::MsWriter w;
  const uint32_t x = w.Input({1, kColumns}), a = w.Tensor({1, kColumns});
  const uint32_t b = w.Tensor({1, kColumns}), y = w.Output({1, kColumns});
  w.Node(file::PrimitiveType_Abs, {x}, {a});
  w.Node(file::PrimitiveType_Erf, {a}, {b});
  w.Node(file::PrimitiveType_TopKFusion, {b, w.Ints({kColumns})},
         {y, w.Tensor({1, kColumns}, ms::kMsInt32)}, file::CreateTopKFusion(w.fbb(), true, -1, 0));
  return w.Finish();
}

TEST(MindSporeSchema, nodes_without_a_mapping_are_refused_without_a_delegate) {
  mindspore::Model model;
  const mindspore::Status status = BuildWith(&model, UnmappedFile(), nullptr);
  EXPECT_EQ(status, mindspore::kLiteGraphFileError);
  EXPECT_THAT(status.ToString(),
              testing::HasSubstr("node 1 'n1' Erf: this primitive is not supported"));
}

TEST(MindSporeSchema, nodes_without_a_mapping_are_named_if_no_delegate_claims_them) {
  mindspore::Model model;
  const mindspore::Status status =
      BuildWith(&model, UnmappedFile(), std::make_shared<RunDelegate>(nullptr));
  EXPECT_EQ(status, mindspore::kLiteNotFindOp);
  EXPECT_THAT(status.ToString(),
              testing::AllOf(testing::HasSubstr("no delegate has claimed a node without a kernel"),
                             testing::HasSubstr("node 1 'n1' Erf: this primitive is not supported"),
                             testing::HasSubstr("node 2 'n2' TopKFusion: expected the largest")));
}

TEST(MindSporeSchema, a_delegate_claims_nodes_without_a_mapping) {
  std::vector<std::string> names;
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&names](DelegateModel* model) -> mindspore::Status {
    for (Kernel* kernel : *model->nodes()) names.push_back(kernel->name());
    const auto first = model->BeginKernelIterator() + 1;
    Kernel* erf = *first;
    auto next = model->Replace(first, first + 1,
                               new FiveKernel(erf->inputs(), erf->outputs(), nullptr, nullptr));
    Kernel* top = *next;
    model->Replace(next, next + 1, new FiveKernel(top->inputs(), top->outputs(), nullptr, nullptr));
    return mindspore::kSuccess;
  };
  mindspore::Model model;
  const mindspore::Status status = BuildWith(&model, UnmappedFile(), delegate);
  ASSERT_EQ(status, mindspore::kSuccess) << status.ToString();
  EXPECT_EQ(names, (std::vector<std::string>{"Abs-op0", "Erf-op1", "TopKFusion-op2"}));
  EXPECT_EQ(Predict(&model, {1, -2, 3, -4}), (std::vector<float>{5, 5, 5, 5}));
}

// ---- Metadata of other files --------------------------------------------------------------------

// Returns metadata that states a primitive for operator `op`.
std::vector<uint8_t> Stating(file::PrimitiveType type, uint32_t op) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto primitive = file::CreatePrimitive(fbb, type, WriteTable(&fbb, nullptr, {}).Union());
  const auto index = fbb.CreateVector(std::vector{op});
  const auto node = file::CreateCNode(fbb, 0, primitive, index, index);
  const auto nodes = fbb.CreateVector(std::vector{node});
  file::MetaGraphBuilder graph(fbb);
  graph.add_nodes(nodes);
  fbb.Finish(graph.Finish());
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

// Returns the type that a delegate sees for ABS in a .tflite file with this metadata.
int TypeSeenWith(const std::vector<uint8_t>& metadata) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y");
  m.AddOp(kTfLiteBuiltinAbs, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddMetadata("mindspore.nodes", metadata);
  int type = -1;
  InspectModel(m.Finish(), [&type](const file::Primitive& primitive, const mindspore::Attributes&) {
    type = primitive.value_type();
  });
  return type;
}

TEST(MindSporeSchema, metadata_of_any_file_is_checked) {
  const std::vector<uint8_t> neg = Stating(file::PrimitiveType_Neg, 0);
  EXPECT_EQ(TypeSeenWith(neg), file::PrimitiveType_Neg);
  EXPECT_EQ(TypeSeenWith(Stating(file::PrimitiveType_LSTM, 0)), file::PrimitiveType_LSTM);
  // Two indices that are not that of the operator, an unknown type, and a type that has more inputs
  // than the operator.
  EXPECT_EQ(TypeSeenWith(Stating(file::PrimitiveType_Neg, 1)), file::PrimitiveType_Abs);
  EXPECT_EQ(TypeSeenWith(Stating(file::PrimitiveType_Neg, UINT32_MAX)), file::PrimitiveType_Abs);
  EXPECT_EQ(TypeSeenWith(Stating(static_cast<file::PrimitiveType>(250), 0)),
            file::PrimitiveType_Abs);
  EXPECT_EQ(TypeSeenWith(Stating(file::PrimitiveType_AddFusion, 0)), file::PrimitiveType_Abs);
  // Damaged metadata: every prefix, and every byte set to 0 or 255.
  for (size_t size = 0; size < neg.size(); ++size) {
    TypeSeenWith({neg.begin(), neg.begin() + static_cast<ptrdiff_t>(size)});
  }
  for (size_t i = 0; i < neg.size(); ++i) {
    for (const uint8_t byte : {uint8_t{0}, uint8_t{255}}) {
      std::vector<uint8_t> changed = neg;
      changed[i] = byte;
      TypeSeenWith(changed);
    }
  }
}

// ADD is written before the activation turns out to have no equivalent.
TEST(MindSporeSchema, a_mapping_that_fails_leaves_no_operators) {
  ms::MsWriter w;
  const uint32_t x = w.Input({1, kColumns});
  w.Node(file::PrimitiveType_AddFusion, {x, x}, {w.Output({1, kColumns})},
         file::CreateAddFusion(w.fbb(), file::ActivationType_THRESHOLDRELU));
  InspectModel(w.Finish(), [](const file::Primitive& primitive, const mindspore::Attributes&) {
    ASSERT_NE(primitive.value_as_AddFusion(), nullptr);
    EXPECT_EQ(primitive.value_as_AddFusion()->activation_type(),
              file::ActivationType_THRESHOLDRELU);
  });
}

// A node with fewer inputs than its conversion needs is refused, also with a delegate.
TEST(MindSporeSchema, nodes_with_too_few_inputs_are_refused) {
  ms::MsWriter w;
  w.Node(file::PrimitiveType_Conv2DFusion, {w.Input({1, 4, 4, 1})}, {w.Output({1, 4, 4, 1})});
  mindspore::Model model;
  const mindspore::Status status =
      BuildWith(&model, w.Finish(), std::make_shared<RunDelegate>(ClaimsAll));
  EXPECT_EQ(status, mindspore::kLiteGraphFileError);
  EXPECT_THAT(status.ToString(), testing::HasSubstr("expected 2 to 3 inputs, found 1"));
}

}  // namespace
}  // namespace deputy::mindspore_schema_test
