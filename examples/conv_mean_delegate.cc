// SPDX-License-Identifier: Apache-2.0
//
// A complete version of the delegate that TensorFlow Lite's documentation sketches: "MyDelegate"
// runs CONV_2D and MEAN, all other nodes stay with the interpreter. Apart from the header
// deputy/delegate_helper.h, which needs no library, it uses only TensorFlow Lite's headers and
// functions, so it also builds against the original library.
//
//     conv_mean_delegate [--helper] MODEL
//
// Prints the graph before and after delegation, runs the model without and with the delegate on the
// same input, and prints the difference of the outputs. With --helper the nodes are selected by
// deputy/delegate_helper.h instead of by hand.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

namespace {

// ---- Computation --------------------------------------------------------------------------------

// Extents and values of a tensor; the values are in the interpreter's or in the delegate's memory.
struct View {
  const int* dims = nullptr;
  const float* data = nullptr;
};

float Activate(TfLiteFusedActivation activation, float value) {
  if (activation == kTfLiteActRelu) return std::max(value, 0.0f);
  if (activation == kTfLiteActRelu6) return std::min(std::max(value, 0.0f), 6.0f);
  return value;
}

// Returns the padding before the first row or column.
int PaddingBefore(const TfLiteConvParams& params, int in, int filter, int stride, int dilation,
                  int out) {
  if (params.padding != kTfLitePaddingSame) return 0;
  const int needed = (out - 1) * stride + (filter - 1) * dilation + 1 - in;
  return std::max(needed, 0) / 2;
}

// Computes a convolution. Images are [batch, height, width, channels], filters [out channels,
// height, width, channels].
void Conv2d(const TfLiteConvParams& p, const View& in, const View& filter, const float* bias,
            const int* out_dims, float* out) {
  const int height = in.dims[1], width = in.dims[2], channels = in.dims[3];
  const int rows = filter.dims[1], columns = filter.dims[2];
  const int top =
      PaddingBefore(p, height, rows, p.stride_height, p.dilation_height_factor, out_dims[1]);
  const int left =
      PaddingBefore(p, width, columns, p.stride_width, p.dilation_width_factor, out_dims[2]);
  for (int b = 0; b < out_dims[0]; ++b) {
    for (int y = 0; y < out_dims[1]; ++y) {
      for (int x = 0; x < out_dims[2]; ++x) {
        for (int o = 0; o < out_dims[3]; ++o) {
          float sum = bias == nullptr ? 0 : bias[o];
          for (int r = 0; r < rows; ++r) {
            const int in_y = y * p.stride_height - top + r * p.dilation_height_factor;
            if (in_y < 0 || in_y >= height) continue;
            for (int c = 0; c < columns; ++c) {
              const int in_x = x * p.stride_width - left + c * p.dilation_width_factor;
              if (in_x < 0 || in_x >= width) continue;
              const float* pixel = in.data + ((b * height + in_y) * width + in_x) * channels;
              const float* weight = filter.data + ((o * rows + r) * columns + c) * channels;
              for (int k = 0; k < channels; ++k) sum += pixel[k] * weight[k];
            }
          }
          *out++ = Activate(p.activation, sum);
        }
      }
    }
  }
}

// Computes the mean over the axes marked in `reduced`.
void Mean(const View& in, const std::vector<bool>& reduced, size_t out_count, float* out) {
  const size_t rank = reduced.size();
  std::vector<size_t> step(rank, 0);  // distance in the output of one step along an axis
  size_t in_count = 1, stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    if (!reduced[axis]) step[axis] = stride;
    if (!reduced[axis]) stride *= static_cast<size_t>(in.dims[axis]);
    in_count *= static_cast<size_t>(in.dims[axis]);
  }
  std::vector<double> sums(out_count, 0);
  for (size_t i = 0; i < in_count; ++i) {
    size_t rest = i, at = 0;
    for (size_t axis = rank; axis-- > 0;) {
      at += rest % static_cast<size_t>(in.dims[axis]) * step[axis];
      rest /= static_cast<size_t>(in.dims[axis]);
    }
    sums[at] += static_cast<double>(in.data[i]);
  }
  const double share = static_cast<double>(out_count) / static_cast<double>(in_count);
  for (size_t i = 0; i < out_count; ++i) out[i] = static_cast<float>(sums[i] * share);
}

// ---- The delegate's node ------------------------------------------------------------------------

int nodes_computed = 0;

// One of the nodes that a delegate's node replaces.
struct Operation {
  int builtin_code = 0;
  std::vector<int> inputs;
  int output = 0;
  TfLiteConvParams conv = {};
  std::vector<bool> reduced;  // axes that MEAN reduces
};

// The kernel of a delegate node, which replaces a partition.
class MyDelegate {
 public:
  // Returns true if the delegate supports the node; otherwise false with the reason.
  static bool IsSupported(TfLiteContext* context, const TfLiteNode* node,
                          const TfLiteRegistration* registration, std::string* out_reason) {
    const int code = registration->builtin_code;
    if (code != kTfLiteBuiltinConv2d && code != kTfLiteBuiltinMean) {
      *out_reason = "neither CONV_2D nor MEAN";
      return false;
    }
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& second = context->tensors[node->inputs->data[1]];
    if (input.type != kTfLiteFloat32) {
      *out_reason = "expected a float32 input";
    } else if (code == kTfLiteBuiltinMean) {
      if (second.allocation_type == kTfLiteMmapRo && second.type == kTfLiteInt32) return true;
      *out_reason = "expected constant axes";
    } else if (second.type != kTfLiteFloat32 || second.dims->data[3] != input.dims->data[3]) {
      *out_reason = "expected a float32 filter over all channels";
    } else {
      const auto* params = static_cast<const TfLiteConvParams*>(node->builtin_data);
      if (params->activation <= kTfLiteActRelu || params->activation == kTfLiteActRelu6)
        return true;
      *out_reason = "cannot fuse this activation";
    }
    return false;
  }

  // Copies the nodes' contents; their structs may move, so no pointers into them are kept.
  bool Init(TfLiteContext* context, const TfLiteDelegateParams* params) {
    for (int i = 0; i < params->nodes_to_replace->size; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node,
                                          &registration) != kTfLiteOk) {
        return false;
      }
      Operation operation;
      operation.builtin_code = registration->builtin_code;
      operation.inputs.assign(node->inputs->data, node->inputs->data + node->inputs->size);
      operation.output = node->outputs->data[0];
      if (registration->builtin_code == kTfLiteBuiltinConv2d) {
        operation.conv = *static_cast<const TfLiteConvParams*>(node->builtin_data);
      } else {
        operation.reduced = ReducedAxes(context, operation);
      }
      operations_.push_back(std::move(operation));
    }
    return true;
  }

  // Allocates tensors inside the partition, for which the interpreter has no memory. Their shapes
  // are known, because the interpreter computed them before it called the delegate.
  TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
    const int* first = node->outputs->data;
    for (const Operation& operation : operations_) {
      if (std::find(first, first + node->outputs->size, operation.output) ==
          first + node->outputs->size) {
        inner_[operation.output].resize(context->tensors[operation.output].bytes / sizeof(float));
      }
    }
    return kTfLiteOk;
  }

  TfLiteStatus Invoke(TfLiteContext* context) {
    for (const Operation& operation : operations_) {
      const TfLiteTensor& result = context->tensors[operation.output];
      const auto inner = inner_.find(operation.output);
      float* out = inner != inner_.end() ? inner->second.data() : result.data.f;
      const View in = Read(context, operation.inputs[0]);
      if (operation.builtin_code == kTfLiteBuiltinConv2d) {
        const int bias = operation.inputs.size() > 2 ? operation.inputs[2] : -1;
        Conv2d(operation.conv, in, Read(context, operation.inputs[1]),
               bias < 0 ? nullptr : Read(context, bias).data, result.dims->data, out);
      } else {
        Mean(in, operation.reduced, result.bytes / sizeof(float), out);
      }
      ++nodes_computed;
    }
    return kTfLiteOk;
  }

 private:
  static std::vector<bool> ReducedAxes(TfLiteContext* context, const Operation& mean) {
    const int rank = context->tensors[mean.inputs[0]].dims->size;
    const TfLiteTensor& axes = context->tensors[mean.inputs[1]];
    std::vector<bool> reduced(static_cast<size_t>(rank), false);
    for (size_t i = 0; i < axes.bytes / sizeof(int32_t); ++i) {
      reduced[static_cast<size_t>((axes.data.i32[i] + rank) % rank)] = true;
    }
    return reduced;
  }

  View Read(TfLiteContext* context, int index) const {
    const TfLiteTensor& tensor = context->tensors[index];
    const auto inner = inner_.find(index);
    return {tensor.dims->data, inner != inner_.end() ? inner->second.data() : tensor.data.f};
  }

  std::vector<Operation> operations_;
  std::map<int, std::vector<float>> inner_;
};

// Returns the four functions of the delegate's node. If Init fails, init returns null and prepare
// fails: runtimes before TensorFlow 2.20 take TfLiteKernelInitFailed() for a valid object.
TfLiteRegistration MyDelegateNode() {
  TfLiteRegistration registration = {};
  registration.builtin_code = kTfLiteBuiltinDelegate;
  registration.custom_name = "MyDelegate";
  registration.version = 1;
  registration.init = [](TfLiteContext* context, const char* buffer, size_t) -> void* {
    auto kernel = std::make_unique<MyDelegate>();
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    return kernel->Init(context, params) ? kernel.release() : nullptr;
  };
  registration.free = [](TfLiteContext*, void* kernel) { delete static_cast<MyDelegate*>(kernel); };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    auto* kernel = static_cast<MyDelegate*>(node->user_data);
    return kernel == nullptr ? kTfLiteError : kernel->Prepare(context, node);
  };
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    return static_cast<MyDelegate*>(node->user_data)->Invoke(context);
  };
  return registration;
}

// ---- The delegate -------------------------------------------------------------------------------

std::string NameOf(const TfLiteRegistration& registration) {
  if (registration.custom_name != nullptr) return registration.custom_name;
  switch (registration.builtin_code) {
    case kTfLiteBuiltinConv2d:
      return "Conv2D";
    case kTfLiteBuiltinDepthwiseConv2d:
      return "DepthwiseConv2D";
    case kTfLiteBuiltinMean:
      return "Mean";
    case kTfLiteBuiltinLogistic:
      return "Logistic";
    case kTfLiteBuiltinSoftmax:
      return "Softmax";
    default:
      return "operator " + std::to_string(registration.builtin_code);
  }
}

// Prints "before: 0 Conv2D -> 1 Mean": the nodes in execution order.
void PrintGraph(TfLiteContext* context, const char* when) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return;
  std::printf("%s:", when);
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) !=
        kTfLiteOk) {
      return;
    }
    std::printf("%s %d %s", i == 0 ? "" : " ->", plan->data[i], NameOf(*registration).c_str());
  }
  std::printf("\n");
}

// Selects nodes by hand. The plan is copied, since the interpreter may overwrite it.
TfLiteStatus ChooseByHand(TfLiteContext* context, std::vector<int>* out_nodes) {
  TfLiteIntArray* plan = nullptr;
  TF_LITE_ENSURE_STATUS(context->GetExecutionPlan(context, &plan));
  const std::vector<int> nodes(plan->data, plan->data + plan->size);
  for (int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    TF_LITE_ENSURE_STATUS(context->GetNodeAndRegistration(context, index, &node, &registration));
    std::string reason;
    if (MyDelegate::IsSupported(context, node, registration, &reason)) out_nodes->push_back(index);
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareByHand(TfLiteContext* context, TfLiteDelegate* delegate) {
  PrintGraph(context, "before");
  std::vector<int> chosen;
  TF_LITE_ENSURE_STATUS(ChooseByHand(context, &chosen));
  TfLiteIntArray* nodes = DeputyIntArrayCreate(static_cast<int>(chosen.size()));
  if (nodes == nullptr) return kTfLiteError;
  std::copy(chosen.begin(), chosen.end(), nodes->data);
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, MyDelegateNode(), nodes, delegate);
  DeputyIntArrayFree(nodes);
  PrintGraph(context, "after");
  return status;
}

// Selects nodes by the helper, which also records why nodes are not supported.
TfLiteStatus PrepareWithHelper(TfLiteContext* context, TfLiteDelegate* delegate) {
  PrintGraph(context, "before");
  const auto is_supported = [](TfLiteContext* c, TfLiteNode* node,
                               const TfLiteRegistration* registration, void*, char* reason,
                               size_t reason_size) {
    std::string text;
    const bool supported = MyDelegate::IsSupported(c, node, registration, &text);
    std::snprintf(reason, reason_size, "%s", text.c_str());
    return supported;
  };
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, is_supported, nullptr, 0, INT_MAX);
  if (status == kTfLiteOk) {
    for (int i = 0; i < helper.unsupported_count; ++i) {
      std::printf("node %d stays: %s\n", helper.unsupported[i].node, helper.unsupported[i].reason);
    }
    std::printf("%d of %d nodes in %d partitions\n", helper.supported->size, helper.plan->size,
                helper.partition_count);
    TfLiteIntArray* nodes = DeputyPartitionHelperLargest(&helper, INT_MAX, 0);
    status = nodes == nullptr ? kTfLiteError
                              : context->ReplaceNodeSubsetsWithDelegateKernels(
                                    context, MyDelegateNode(), nodes, delegate);
    DeputyIntArrayFree(nodes);
  }
  DeputyPartitionHelperFree(&helper);
  PrintGraph(context, "after");
  return status;
}

TfLiteDelegate CreateMyDelegate(bool with_helper) {
  TfLiteDelegate delegate = {};
  delegate.flags = kTfLiteDelegateFlagsNone;
  delegate.Prepare = with_helper ? PrepareWithHelper : PrepareByHand;
  // Results are in the interpreter's own memory, so nothing is ever copied.
  delegate.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle,
                                     TfLiteTensor*) { return kTfLiteError; };
  return delegate;
}

// ---- The client ---------------------------------------------------------------------------------

// Fills the inputs with values in [-1, 1], which are the same in every call.
void FillInputs(TfLiteInterpreter* interpreter) {
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, i);
    auto* values = static_cast<float*>(TfLiteTensorData(input));
    for (size_t k = 0; k < TfLiteTensorByteSize(input) / sizeof(float); ++k) {
      values[k] = static_cast<float>(k * 37 % 101) / 50 - 1;
    }
  }
}

using Interpreter = std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)>;

// Runs the model; returns false after a message on stderr.
bool Run(TfLiteInterpreter* interpreter, std::vector<float>* out_values) {
  if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return false;
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
  if (output == nullptr || TfLiteTensorType(output) != kTfLiteFloat32) {
    std::fprintf(stderr, "expected a model with a float32 output\n");
    return false;
  }
  FillInputs(interpreter);
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return false;
  out_values->resize(TfLiteTensorByteSize(output) / sizeof(float));
  std::memcpy(out_values->data(), TfLiteTensorData(output), TfLiteTensorByteSize(output));
  return true;
}

int Compare(const TfLiteModel* model, TfLiteDelegate* delegate) {
  std::vector<float> expected, found;
  const Interpreter cpu(TfLiteInterpreterCreate(model, nullptr), &TfLiteInterpreterDelete);
  if (cpu == nullptr || !Run(cpu.get(), &expected)) return 1;
  const Interpreter delegated(TfLiteInterpreterCreate(model, nullptr), &TfLiteInterpreterDelete);
  if (delegated == nullptr ||
      TfLiteInterpreterModifyGraphWithDelegate(delegated.get(), delegate) != kTfLiteOk ||
      !Run(delegated.get(), &found)) {
    return 1;
  }
  float difference = 0, largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    difference = std::max(difference, std::fabs(found[i] - expected[i]));
    largest = std::max(largest, std::fabs(expected[i]));
  }
  std::printf("MyDelegate computed %d nodes\n", nodes_computed);
  const bool equal = difference <= 1e-5f * largest + 1e-6f;
  std::printf("outputs %s (largest difference %g)\n", equal ? "agree" : "differ",
              static_cast<double>(difference));
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_helper = argc == 3 && std::strcmp(argv[1], "--helper") == 0;
  if (argc != 2 && !with_helper) {
    std::fprintf(stderr, "usage: %s [--helper] MODEL\n", argv[0]);
    return 2;
  }
  TfLiteModel* model = TfLiteModelCreateFromFile(argv[argc - 1]);
  if (model == nullptr) return 1;
  // The delegate must outlive every interpreter to which it is applied.
  TfLiteDelegate delegate = CreateMyDelegate(with_helper);
  const int result = Compare(model, &delegate);
  TfLiteModelDelete(model);
  return result;
}
