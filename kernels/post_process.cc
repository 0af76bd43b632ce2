// SPDX-License-Identifier: Apache-2.0
//
// TFLite_Detection_PostProcess: decodes boxes from a detector's encodings and anchors and removes
// those that overlap a box with a better score. The fast variant (the default) suppresses boxes by
// their best class and reports the best classes of each; the regular variant suppresses class by
// class and reports the best of all. Unused output entries are 0; upstream's fast variant leaves
// them unwritten.
#include "kernels/post_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/common/flex_map.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

struct Corners {
  float low_y, low_x, high_y, high_x;
};

struct PostProcessData {
  bool has_options = false, regular = false;
  int detections = 0, classes_per_detection = 0, detections_per_class = 0, classes = 0;
  float min_score = 0, overlap = 0;
  double scale[4] = {};  // divisors of the encoded y, x, height and width
};

// ---- Prepare ----------------------------------------------------------------------------------

TfLiteStatus CheckOptions(TfLiteContext* context, const PostProcessData& data) {
  if (!data.has_options) return KernelError(context, "options: expected a FlexBuffers map");
  if (data.detections < 0 || data.classes < 1 || data.classes_per_detection < 1 ||
      (data.regular && (data.detections_per_class < 1 || data.detections < 1))) {
    return KernelError(context,
                       "options: expected positive numbers, found max_detections %d, num_classes "
                       "%d, max_classes_per_detection %d and detections_per_class %d",
                       data.detections, data.classes, data.classes_per_detection,
                       data.detections_per_class);
  }
  if (!(data.overlap > 0.0f) || data.overlap > 1.0f) {
    return KernelError(context, "options: expected nms_iou_threshold from 0 to 1, found %g",
                       static_cast<double>(data.overlap));
  }
  return kTfLiteOk;
}

TfLiteStatus CheckTensors(TfLiteContext* context, const TfLiteNode* node, int classes) {
  const TfLiteTensor* boxes = Input(context, node, 0);
  const TfLiteTensor* scores = Input(context, node, 1);
  const TfLiteTensor* anchors = Input(context, node, 2);
  DEPUTY_TRY(CheckType(context, boxes, kFloat32Bit | kUInt8Bit));
  DEPUTY_TRY(CheckType(context, scores, kFloat32Bit | kUInt8Bit));
  DEPUTY_TRY(CheckSameType(context, anchors, boxes));
  DEPUTY_TRY(CheckRank(context, boxes, 3));
  DEPUTY_TRY(CheckRank(context, scores, 3));
  DEPUTY_TRY(CheckRank(context, anchors, 2));
  DEPUTY_TRY(CheckDim(context, boxes, 0, 1));
  DEPUTY_TRY(CheckDim(context, scores, 0, 1));
  DEPUTY_TRY(CheckDim(context, scores, 1, Dim(boxes, 1)));
  DEPUTY_TRY(CheckDim(context, anchors, 0, Dim(boxes, 1)));
  DEPUTY_TRY(CheckDim(context, anchors, 1, 4));
  if (Dim(boxes, 2) < 4) {
    return TensorError(context, boxes, "expected 4 values per box, found %d", Dim(boxes, 2));
  }
  if (Dim(scores, 2) != classes && int64_t{Dim(scores, 2)} != int64_t{classes} + 1) {
    return TensorError(context, scores,
                       "expected %d classes, optionally with a background, found %d", classes,
                       Dim(scores, 2));
  }
  return kTfLiteOk;
}

// ---- Boxes and scores -------------------------------------------------------------------------

// Returns element `index` of a tensor of float32 or of quantised bytes.
float RealAt(const TfLiteTensor* tensor, int64_t index) {
  if (tensor->type == kTfLiteFloat32) return Data<float>(tensor)[index];
  const int step = Data<uint8_t>(tensor)[index];
  return (static_cast<float>(step) - static_cast<float>(tensor->params.zero_point)) *
         tensor->params.scale;
}

// Converts centre and size, relative to an anchor, to corners.
Corners Decode(const TfLiteTensor* boxes, const TfLiteTensor* anchors, const double* scale,
               int64_t i) {
  double box[4], anchor[4];
  for (int k = 0; k < 4; ++k) {
    box[k] = static_cast<double>(RealAt(boxes, i * Dim(boxes, 2) + k)) / scale[k];
    anchor[k] = static_cast<double>(RealAt(anchors, i * 4 + k));
  }
  const auto y = static_cast<float>(box[0] * anchor[2] + anchor[0]);
  const auto x = static_cast<float>(box[1] * anchor[3] + anchor[1]);
  const auto half_height = static_cast<float>(0.5 * std::exp(box[2]) * anchor[2]);
  const auto half_width = static_cast<float>(0.5 * std::exp(box[3]) * anchor[3]);
  return {y - half_height, x - half_width, y + half_height, x + half_width};
}

TfLiteStatus DecodeBoxes(TfLiteContext* context, const TfLiteNode* node,
                         std::vector<Corners>* out) {
  const TfLiteTensor* boxes = Input(context, node, 0);
  const double* scale = DataOf<PostProcessData>(node).scale;
  for (int64_t i = 0; i < Dim(boxes, 1); ++i) {
    const Corners box = Decode(boxes, Input(context, node, 2), scale, i);
    if (box.low_y > box.high_y || box.low_x > box.high_x) {
      return TensorError(context, boxes, "expected boxes with sizes of 0 or more, found box %lld",
                         static_cast<long long>(i));
    }
    out->push_back(box);
  }
  return kTfLiteOk;
}

float Overlap(const Corners& a, const Corners& b) {
  const float area_a = (a.high_y - a.low_y) * (a.high_x - a.low_x);
  const float area_b = (b.high_y - b.low_y) * (b.high_x - b.low_x);
  if (area_a <= 0 || area_b <= 0) return 0.0f;
  const float height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const float width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  const float both = std::max(height, 0.0f) * std::max(width, 0.0f);
  return both / (area_a + area_b - both);
}

// Returns at most `max_boxes` boxes with scores of at least min_score, in descending order of
// scores, that overlap no previous one by more than `overlap`.
std::vector<int> Suppress(const PostProcessData& data, const std::vector<Corners>& boxes,
                          const std::vector<float>& scores, int max_boxes) {
  const auto at = [](int i) { return static_cast<size_t>(i); };
  std::vector<int> order, selected;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] >= data.min_score) order.push_back(static_cast<int>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return scores[at(a)] > scores[at(b)]; });
  for (const int box : order) {
    if (static_cast<int>(selected.size()) >= max_boxes) break;
    const bool covered = std::any_of(selected.begin(), selected.end(), [&](int other) {
      return Overlap(boxes[at(other)], boxes[at(box)]) > data.overlap;
    });
    if (!covered) selected.push_back(box);
  }
  return selected;
}

// ---- Detections -------------------------------------------------------------------------------

struct Detection {
  int box, type;
  float score;
};

// Access to the scores of the classes, without those of the background, which are first.
class ClassScores {
 public:
  ClassScores(const TfLiteTensor* scores, int classes)
      : scores_(scores), width_(Dim(scores, 2)), first_(width_ - classes) {}
  float At(int64_t box, int type) const { return RealAt(scores_, box * width_ + first_ + type); }

 private:
  const TfLiteTensor* scores_;
  int width_, first_;
};

// Returns the detections of the fast variant: boxes are suppressed by their best class, and each
// remaining box gives its best classes.
std::vector<Detection> DetectFast(const PostProcessData& data, const std::vector<Corners>& boxes,
                                  const ClassScores& scores) {
  std::vector<float> best(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    const auto box = static_cast<int64_t>(i);
    best[i] = scores.At(box, 0);
    for (int c = 1; c < data.classes; ++c) best[i] = std::max(best[i], scores.At(box, c));
  }
  std::vector<Detection> found;
  std::vector<int> order(static_cast<size_t>(data.classes));
  const int kept = std::min(data.classes_per_detection, data.classes);
  for (const int box : Suppress(data, boxes, best, data.detections)) {
    std::iota(order.begin(), order.end(), 0);
    const auto is_better = [&](int a, int b) { return scores.At(box, a) > scores.At(box, b); };
    if (kept == 1) {
      std::iter_swap(order.begin(), std::min_element(order.begin(), order.end(), is_better));
    } else {
      std::partial_sort(order.begin(), order.begin() + kept, order.end(), is_better);
    }
    for (int k = 0; k < data.classes_per_detection; ++k) {
      if (k >= kept) {
        found.push_back({-1, 0, 0.0f});
        continue;
      }
      const int type = order[static_cast<size_t>(k)];
      found.push_back({box, type, scores.At(box, type)});
    }
  }
  return found;
}

// Returns the detections of the regular variant: the best of all classes, suppressed class by
// class.
std::vector<Detection> DetectRegular(const PostProcessData& data, const std::vector<Corners>& boxes,
                                     const ClassScores& scores) {
  const int max_boxes = std::min(data.detections_per_class, data.detections);
  std::vector<Detection> found;
  std::vector<float> of_class(boxes.size());
  for (int type = 0; type < data.classes; ++type) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      of_class[i] = scores.At(static_cast<int64_t>(i), type);
    }
    const auto before = static_cast<ptrdiff_t>(found.size());
    for (const int box : Suppress(data, boxes, of_class, max_boxes)) {
      found.push_back({box, type, of_class[static_cast<size_t>(box)]});
    }
    std::inplace_merge(found.begin(), found.begin() + before, found.end(),
                       [](const Detection& a, const Detection& b) { return a.score > b.score; });
    if (static_cast<int>(found.size()) > data.detections) {
      found.resize(static_cast<size_t>(data.detections));
    }
  }
  return found;
}

}  // namespace

// ---- The operator -----------------------------------------------------------------------------

void* InitPostProcess(TfLiteContext*, const char* options, size_t length) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(options);
  const FlexMap map({bytes, options == nullptr ? 0 : length});
  auto* data = new PostProcessData();
  data->has_options = map.is_map();
  data->regular = map.Bool("use_regular_nms");
  data->detections = map.Int("max_detections");
  data->classes_per_detection = map.Int("max_classes_per_detection");
  data->detections_per_class = map.Int("detections_per_class", 100);
  data->classes = map.Int("num_classes");
  data->min_score = map.Float("nms_score_threshold");
  data->overlap = map.Float("nms_iou_threshold");
  const char* const names[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (int i = 0; i < 4; ++i) data->scale[i] = static_cast<double>(map.Float(names[i]));
  return data;
}

void FreePostProcess(TfLiteContext*, void* user_data) {
  delete static_cast<PostProcessData*>(user_data);
}

TfLiteStatus PreparePostProcess(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 4));
  const PostProcessData& data = DataOf<PostProcessData>(node);
  DEPUTY_TRY(CheckOptions(context, data));
  DEPUTY_TRY(CheckTensors(context, node, data.classes));
  const int64_t count = int64_t{data.detections} * data.classes_per_detection;
  if (count > INT32_MAX) return KernelError(context, "options: too many detections");
  const int boxes[] = {1, static_cast<int>(count), 4};
  const int one = 1;
  for (int i = 0; i < 4; ++i) Output(context, node, i)->type = kTfLiteFloat32;
  DEPUTY_TRY(ResizeTo(context, Output(context, node, 0), boxes));
  DEPUTY_TRY(ResizeTo(context, Output(context, node, 1), {boxes, 2}));
  DEPUTY_TRY(ResizeTo(context, Output(context, node, 2), {boxes, 2}));
  return ResizeTo(context, Output(context, node, 3), {&one, 1});
}

TfLiteStatus EvalPostProcess(TfLiteContext* context, TfLiteNode* node) {
  const PostProcessData& data = DataOf<PostProcessData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckContainerSize(context, input, Dim(input, 1), 2 * sizeof(Corners), "boxes"));
  std::vector<Corners> boxes;
  DEPUTY_TRY(DecodeBoxes(context, node, &boxes));
  const ClassScores scores(Input(context, node, 1), data.classes);
  std::vector<Detection> found;
  // Without boxes, the size of the scores does not limit the number of classes.
  if (!boxes.empty()) {
    found = data.regular ? DetectRegular(data, boxes, scores) : DetectFast(data, boxes, scores);
  }
  auto* out_boxes = Data<Corners>(Output(context, node, 0));
  float* out_types = Data<float>(Output(context, node, 1));
  float* out_scores = Data<float>(Output(context, node, 2));
  const auto count = static_cast<size_t>(Dim(Output(context, node, 1), 1));
  for (size_t i = 0; i < count; ++i) {
    const Detection one = i < found.size() ? found[i] : Detection{-1, 0, 0.0f};
    out_boxes[i] = one.box < 0 ? Corners{0, 0, 0, 0} : boxes[static_cast<size_t>(one.box)];
    out_types[i] = static_cast<float>(one.type);
    out_scores[i] = one.score;
  }
  const size_t each = data.regular ? 1 : static_cast<size_t>(data.classes_per_detection);
  const size_t detections = found.size() / each;
  *Data<float>(Output(context, node, 3)) = static_cast<float>(detections);
  return kTfLiteOk;
}

}  // namespace deputy
