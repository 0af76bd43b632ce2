// SPDX-License-Identifier: Apache-2.0
//
// Models that share memory. Deputy's models share nothing: a group checks that each model can be
// built, and logs that sharing a workspace has no effect.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_GROUP_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_GROUP_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "context.h"
#include "model.h"
#include "status.h"
#include "types.h"

namespace mindspore {

enum class ModelGroupFlag : int {
  kShareWeight = 1,
  kShareWorkspace = 2,
  kShareWeightAndWorkspace = 3,
};

class ModelGroup {
 public:
  explicit ModelGroup(ModelGroupFlag flags = ModelGroupFlag::kShareWorkspace) : flags_(flags) {}

  // Add models by path, or from memory, which must outlive the group. An empty list fails with
  // kLiteParamInvalid, a group that shares constants with kLiteNotSupport.
  Status AddModel(const std::vector<std::string>& paths) { return Add(paths, &paths_); }
  Status AddModel(const std::vector<std::pair<const void*, size_t>>& buffers) {
    return Add(buffers, &buffers_);
  }
  // Models that are built already cannot share constants.
  Status AddModel(const std::vector<Model>& /*models*/) { return RefuseSharing(); }

  // Builds each model, and frees it; returns the first failure.
  Status CalMaxSizeOfWorkspace(ModelType type, const std::shared_ptr<Context>& context) {
    if (paths_.empty() && buffers_.empty()) {
      return {kLiteParamInvalid, "CalMaxSizeOfWorkspace: the group has no model"};
    }
    for (const std::string& path : paths_) {
      if (Status status = Model().Build(path, type, context); status.IsError()) return status;
    }
    for (const auto& buffer : buffers_) {
      Status status = Model().Build(buffer.first, buffer.second, type, context);
      if (status.IsError()) return status;
    }
    DeputyMSLog(kDeputyMSLogWarning,
                "ModelGroup: sharing a workspace has no effect; each model has its own memory");
    return kSuccess;
  }

 private:
  template <class List>
  Status Add(const List& models, List* added) {
    if (flags_ != ModelGroupFlag::kShareWorkspace) return RefuseSharing();
    if (models.empty()) return {kLiteParamInvalid, "AddModel: the list of models is empty"};
    added->insert(added->end(), models.begin(), models.end());
    return kSuccess;
  }
  static Status RefuseSharing() {
    return {
        kLiteNotSupport,
        "AddModel: models do not share constants; ModelParallelRunner shares them among workers"};
  }

  ModelGroupFlag flags_;
  std::vector<std::string> paths_;
  std::vector<std::pair<const void*, size_t>> buffers_;
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_GROUP_H_
