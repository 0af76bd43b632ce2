// SPDX-License-Identifier: Apache-2.0
//
// Types of MindSpore Lite's older interface that programs for the 2.x API still use: the affinity
// modes of Context::SetThreadAffinity by name, and shared pointers to allocators and delegates.
#ifndef DEPUTY_MINDSPORE_INCLUDE_LITE_TYPES_H_
#define DEPUTY_MINDSPORE_INCLUDE_LITE_TYPES_H_

#include <memory>

namespace mindspore {

class Allocator;
using AllocatorPtr = std::shared_ptr<Allocator>;

class Delegate;
using DelegatePtr = std::shared_ptr<Delegate>;

namespace lite {

class Tensor;  // a class of MindSpore Lite's older interface, which Deputy does not have

// Values for Context::SetThreadAffinity(int).
enum CpuBindMode {
  NO_BIND = 0,
  HIGHER_CPU = 1,
  MID_CPU = 2,
};

enum DeviceType {
  DT_CPU = 0,
  DT_GPU = 1,
  DT_NPU = 2,
  DT_ASCEND = 3,
  DT_CUSTOM = 4,
  DT_END = 5,
};

// Settings of converters, which Deputy does not have.
enum FormatType {
  FT_FLATBUFFERS = 0,
  FT_PROTOBUF = 1,
};
enum QuantizationType {
  QT_DEFAULT = 0,
  QT_NONE = 1,
  QT_WEIGHT = 2,
};
enum ModelType {
  MT_TRAIN = 0,
  MT_INFERENCE = 1,
};

}  // namespace lite
}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_LITE_TYPES_H_
