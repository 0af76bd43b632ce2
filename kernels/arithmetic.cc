// SPDX-License-Identifier: Apache-2.0
//
// ADD and MUL on float32 and int8 with broadcasting. An operator of this family is two function
// objects, one per element type, run through the same plan.
//
// The output takes the type of the inputs whatever the model says. int8 ADD uses TensorFlow Lite's
// integer recipe in both arithmetic modes; int8 MUL requantises in float by default.
#include "kernels/activation_range.h"
#include "kernels/broadcast.h"
#include "kernels/kernel.h"
#include "kernels/registry.h"
#include "kernels/requantize.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillAdd(const OpOptions& options, TfLiteAddParams* params) {
  params->activation = options.Activation(0);
  params->pot_scale_int16 = options.Bool(1, true);
  return true;
}

bool FillMul(const OpOptions& options, TfLiteMulParams* params) {
  params->activation = options.Activation(0);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct ArithmeticData {
  BroadcastPlan plan;
  FloatRange float_range;
  IntRange int_range;
};

template <typename Params>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteFusedActivation activation = ParamsOf<Params>(node).activation;
  ArithmeticData& data = DataOf<ArithmeticData>(node);
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(CheckSameType(context, b, a));
  output->type = a->type;
  data.float_range = ActivationRange(activation);
  if (a->type == kTfLiteInt8) {
    DEPUTY_TRY(CheckQuantized(context, a));
    DEPUTY_TRY(CheckQuantized(context, b));
    DEPUTY_TRY(CheckQuantized(context, output));
    DEPUTY_TRY(QuantizedActivationRange(context, activation, output, &data.int_range));
  }
  return data.plan.Prepare(context, a, b, output);
}

// ---- Reference --------------------------------------------------------------------------------

// Both inputs are brought to a common scale with 20 more bits, added there, and brought to the
// scale of the output: every step is a rounding of its own.
class AddInt8 {
 public:
  AddInt8(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
          const IntRange& range)
      : zero_a_(a->params.zero_point), zero_b_(b->params.zero_point),
        zero_out_(output->params.zero_point), range_(range) {
    const double common = 2.0 * static_cast<double>(std::max(a->params.scale, b->params.scale));
    from_a_ = ToFixedMultiplier(static_cast<double>(a->params.scale) / common);
    from_b_ = ToFixedMultiplier(static_cast<double>(b->params.scale) / common);
    to_out_ = ToFixedMultiplier(
        common / ((1 << kExtraBits) * static_cast<double>(output->params.scale)));
  }

  int8_t operator()(int8_t a, int8_t b) const {
    const int32_t sum = Multiply((a - zero_a_) * (1 << kExtraBits), from_a_) +
                        Multiply((b - zero_b_) * (1 << kExtraBits), from_b_);
    const int64_t steps = int64_t{Multiply(sum, to_out_)} + zero_out_;
    return static_cast<int8_t>(
        std::min<int64_t>(std::max<int64_t>(steps, range_.low), range_.high));
  }

 private:
  static constexpr int kExtraBits = 20;
  int32_t zero_a_, zero_b_, zero_out_;
  FixedMultiplier from_a_, from_b_, to_out_;
  IntRange range_;
};

template <typename Requantizer>
class MulInt8 {
 public:
  MulInt8(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output,
          const IntRange& range)
      : zero_a_(a->params.zero_point), zero_b_(b->params.zero_point),
        // The factor is computed in float, as upstream does: its last bits are visible.
        requantize_(static_cast<double>(a->params.scale * b->params.scale / output->params.scale),
                    output->params.zero_point, range) {}

  int8_t operator()(int8_t a, int8_t b) const {
    return static_cast<int8_t>(requantize_((a - zero_a_) * (b - zero_b_)));
  }

 private:
  int32_t zero_a_, zero_b_;
  Requantizer requantize_;
};

// ---- Eval -------------------------------------------------------------------------------------

// output[i] = function(a[..], b[..]) on the elements of one type.
template <typename T, typename Function>
TfLiteStatus Run(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  DataOf<ArithmeticData>(node).plan.Run(Data<T>(Input(context, node, 0)),
                                        Data<T>(Input(context, node, 1)),
                                        Data<T>(Output(context, node, 0)), function);
  return kTfLiteOk;
}

template <typename Int8Function>
TfLiteStatus RunInt8(TfLiteContext* context, TfLiteNode* node) {
  const Int8Function function(Input(context, node, 0), Input(context, node, 1),
                              Output(context, node, 0), DataOf<ArithmeticData>(node).int_range);
  return Run<int8_t>(context, node, function);
}

TfLiteStatus EvalAdd(TfLiteContext* context, TfLiteNode* node) {
  const FloatRange range = DataOf<ArithmeticData>(node).float_range;
  switch (Input(context, node, 0)->type) {
    case kTfLiteFloat32:
      return Run<float>(context, node, [&](float a, float b) { return Clamp(a + b, range); });
    case kTfLiteInt8:
      return RunInt8<AddInt8>(context, node);
    default:
      return UnexpectedType(context, Input(context, node, 0));
  }
}

TfLiteStatus EvalMul(TfLiteContext* context, TfLiteNode* node) {
  const FloatRange range = DataOf<ArithmeticData>(node).float_range;
  switch (Input(context, node, 0)->type) {
    case kTfLiteFloat32:
      return Run<float>(context, node, [&](float a, float b) { return Clamp(a * b, range); });
    case kTfLiteInt8:
      return ArithmeticOf(context) == Arithmetic::kReference
                 ? RunInt8<MulInt8<ExactRequantizer>>(context, node)
                 : RunInt8<MulInt8<FloatRequantizer>>(context, node);
    default:
      return UnexpectedType(context, Input(context, node, 0));
  }
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "ADD",
     .code = kTfLiteBuiltinAdd,
     .min_version = 1,
     .max_version = 6,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 11},
     .params_size = sizeof(TfLiteAddParams),
     .parse = &ParseOptions<11, TfLiteAddParams, &FillAdd>,
     .init = &GuardedInit<&NewData<ArithmeticData>>,
     .free = &DeleteData<ArithmeticData>,
     .prepare = &Guarded<&Prepare<TfLiteAddParams>>,
     .invoke = &Guarded<&EvalAdd>,
     .inplace = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared},
    {.name = "MUL",
     .code = kTfLiteBuiltinMul,
     .min_version = 1,
     .max_version = 8,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 21},
     .params_size = sizeof(TfLiteMulParams),
     .parse = &ParseOptions<21, TfLiteMulParams, &FillMul>,
     .init = &GuardedInit<&NewData<ArithmeticData>>,
     .free = &DeleteData<ArithmeticData>,
     .prepare = &Guarded<&Prepare<TfLiteMulParams>>,
     .invoke = &Guarded<&EvalMul>,
     .inplace = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared},
};

}  // namespace

constexpr std::span<const OpDef> kArithmeticOps = kTable;

}  // namespace deputy
