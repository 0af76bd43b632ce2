// SPDX-License-Identifier: Apache-2.0
#include "litert/src/plugin_delegate.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "deputy/deputy.h"
#include "deputy/deputy_plugin_entry.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

struct OptionRow {
  DeputyPluginOption option;
  std::string PluginDelegateOptions::*value;
};

constexpr OptionRow kRows[] = {
    {{"dispatch_library_dir", kDeputyOptionString, 0, "",
      "Folder with the dispatch plug-in, libLiteRtDispatch*.so. Required."},
     &PluginDelegateOptions::dispatch_library_dir},
    {{"compiler_plugin_library_dir", kDeputyOptionString, 0, "",
      "Folder with compiler plug-ins, which compile the operators that they select."},
     &PluginDelegateOptions::compiler_plugin_library_dir},
    {{"soc_model", kDeputyOptionString, 0, "",
      "Device for which models are compiled; empty: the compiler plug-in's default."},
     &PluginDelegateOptions::soc_model},
    {{"model", kDeputyOptionString, 0, "",
      "File of the model, for hosts that do not pass it to the delegate."},
     &PluginDelegateOptions::model},
};

// Returns the reason why the options are invalid, or "".
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         PluginDelegateOptions* out_options) {
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i] == nullptr ? "" : keys[i];
    const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                         [&](const auto& each) { return key == each.option.name; });
    if (row == std::end(kRows)) {
      std::string names;
      for (const OptionRow& each : kRows) {
        names += (names.empty() ? "" : ", ") + std::string(each.option.name);
      }
      return "option '" + std::string(key) + "': expected one of " + names;
    }
    out_options->*row->value = values[i] == nullptr ? "" : values[i];
  }
  if (!out_options->dispatch_library_dir.empty()) return "";
  return "option 'dispatch_library_dir': expected a folder, found nothing";
}

// Returns a subgraph of the model that has the operators of the context's graph, or null.
LiteRtSubgraph FindSubgraph(TfLiteContext* context, const LiteRtModelT& model) {
  const auto is_same = [&](const LiteRtSubgraphT& subgraph) {
    for (size_t i = 0; i < subgraph.ops.size(); ++i) {
      const LiteRtOpT& op = *subgraph.ops[i];
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, static_cast<int>(i), &node, &registration) !=
              kTfLiteOk ||
          registration->builtin_code != static_cast<int>(op.code) ||
          !std::equal(op.outputs.begin(), op.outputs.end(), node->outputs->data,
                      node->outputs->data + node->outputs->size,
                      [](const LiteRtTensorT* output, int index) {
                        return static_cast<int>(output->index) == index;
                      })) {
        return false;
      }
    }
    return true;
  };
  for (const auto& subgraph : model.subgraphs) {
    if (subgraph->tensors.size() <= context->tensors_size && is_same(*subgraph)) {
      return subgraph.get();
    }
  }
  return nullptr;
}

// Returns a text if an input of the subgraph has another shape than the model declares, else "".
std::string FindResizedInput(const TfLiteContext& context, const LiteRtSubgraphT& subgraph) {
  for (const LiteRtTensorT* input : subgraph.inputs) {
    const TfLiteIntArray& dims = *context.tensors[input->index].dims;
    const LiteRtLayout& layout = input->type.layout;
    const std::vector<int> declared(layout.dimensions, layout.dimensions + layout.rank);
    const std::span found(dims.data, static_cast<size_t>(dims.size));
    // Open extents are -1.
    if (!std::equal(declared.begin(), declared.end(), found.begin(), found.end(),
                    [](int expected, int size) { return expected < 0 || expected == size; })) {
      return "input '" + input->name + "': the shape of compiled programs is " +
             ShapeText(declared) + ", found " + ShapeText(found);
    }
  }
  return "";
}

bool IsDispatchOp(TfLiteContext* context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  return context->GetNodeAndRegistration(context, index, &node, &registration) == kTfLiteOk &&
         registration->builtin_code == kTfLiteBuiltinCustom &&
         registration->custom_name != nullptr &&
         std::strcmp(registration->custom_name, kDispatchOpCode) == 0;
}

}  // namespace

PluginDelegate::~PluginDelegate() {
  if (delegate_ != nullptr) {
    DeleteDispatchDelegate(reinterpret_cast<TfLiteOpaqueDelegate*>(delegate_));
  }
  LiteRtDestroyOptions(options_);
  LiteRtDestroyEnvironment(environment_);
}

LiteRtStatus PluginDelegate::Open() {
  std::vector<LiteRtEnvOption> options;
  const auto add = [&](LiteRtEnvOptionTag tag, const std::string& folder) {
    if (folder.empty()) return;
    options.push_back(
        {.tag = tag, .value = {.type = kLiteRtAnyTypeString, .str_value = folder.c_str()}});
  };
  add(kLiteRtEnvOptionTagDispatchLibraryDir, settings_.dispatch_library_dir);
  add(kLiteRtEnvOptionTagCompilerPluginLibraryDir, settings_.compiler_plugin_library_dir);
  LITERT_TRY(
      LiteRtCreateEnvironment(static_cast<int>(options.size()), options.data(), &environment_));
  LITERT_TRY(LiteRtCreateOptions(&options_));
  constexpr LiteRtHwAcceleratorSet kAll =
      kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorNpu;
  LITERT_TRY(LiteRtSetOptionsHardwareAccelerators(options_, kAll));
  std::string reason;
  library_ = OpenDispatchLibrary(environment_, options_, &reason);
  if (library_ == nullptr) {
    return Fail(kLiteRtStatusErrorNotFound, "no dispatch plug-in: %s", reason.c_str());
  }
  choose_ = [this](TfLiteContext* context, std::shared_ptr<const DispatchSource>* out_source) {
    return Choose(context, out_source);
  };
  delegate_ = reinterpret_cast<TfLiteDelegate*>(CreateDispatchDelegate(
      *library_, environment_, options_, std::make_shared<DispatchSource>(), &choose_));
  if (delegate_ == nullptr) return kLiteRtStatusErrorRuntimeFailure;
  // Otherwise hosts prepare all nodes before they apply the delegate, and DISPATCH_OP has no
  // kernel.
  if (settings_.compiler_plugin_library_dir.empty()) {
    delegate_->flags |= kTfLiteDelegateFlagsAllowDynamicTensors;
  }
  return kLiteRtStatusOk;
}

void PluginDelegate::SetModel(const void* data, size_t size) {
  const std::scoped_lock lock(mutex_);
  if (model_ != nullptr && model_->bytes.size() == size &&
      std::memcmp(model_->bytes.data(), data, size) == 0) {
    return;
  }
  model_ = nullptr;
  auto model = std::make_shared<LiteRtModelT>();
  const auto* const bytes = static_cast<const uint8_t*>(data);
  model->owned.assign(bytes, bytes + size);
  if (model->Load(model->owned) == kLiteRtStatusOk) model_ = std::move(model);
}

LiteRtStatus PluginDelegate::LoadModel(std::shared_ptr<LiteRtModelT>* out_model) {
  const std::scoped_lock lock(mutex_);
  if (model_ == nullptr) {
    if (settings_.model.empty()) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "the host does not pass the model; option 'model': expected its file");
    }
    LiteRtModel loaded = nullptr;
    LITERT_TRY(LiteRtCreateModelFromFile(environment_, settings_.model.c_str(), &loaded));
    model_.reset(loaded, &LiteRtDestroyModel);
  }
  *out_model = model_;
  return kLiteRtStatusOk;
}

LiteRtStatus PluginDelegate::Compile(TfLiteContext* context, bool selects_only,
                                     std::shared_ptr<LiteRtModelT>* out_model,
                                     std::shared_ptr<GroupCompilation>* out_compilation) {
  LITERT_TRY(LoadModel(out_model));
  *out_compilation = std::make_shared<GroupCompilation>();
  if (settings_.compiler_plugin_library_dir.empty()) {
    (*out_compilation)->refusal =
        "it is not compiled; option 'compiler_plugin_library_dir' is empty";
    return kLiteRtStatusOk;
  }
  const LiteRtSubgraph subgraph = FindSubgraph(context, **out_model);
  if (subgraph == nullptr) {
    return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                "the graph is not a subgraph of the model with %zu bytes",
                (*out_model)->bytes.size());
  }
  (*out_compilation)->refusal = FindResizedInput(*context, *subgraph);
  if (!(*out_compilation)->refusal.empty()) return kLiteRtStatusOk;
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) {
    return kLiteRtStatusErrorRuntimeFailure;
  }
  std::vector<bool> is_usable(subgraph->ops.size());
  for (const int node : std::span(plan->data, static_cast<size_t>(plan->size))) {
    if (static_cast<size_t>(node) < is_usable.size()) is_usable[static_cast<size_t>(node)] = true;
  }
  const char* const soc_model = settings_.soc_model.empty() ? nullptr : settings_.soc_model.c_str();
  return CompileGroups(environment_, options_, **out_model, subgraph, is_usable, soc_model,
                       selects_only, out_compilation->get());
}

LiteRtStatus PluginDelegate::Choose(TfLiteContext* context,
                                    std::shared_ptr<const DispatchSource>* out_source) {
  std::shared_ptr<LiteRtModelT> model;
  std::shared_ptr<GroupCompilation> compilation;
  LITERT_TRY(Compile(context, false, &model, &compilation));
  auto source = std::make_shared<DispatchSource>();
  source->file = model->bytes;
  for (size_t i = 0; i < compilation->groups.size(); ++i) {
    const OpGroup& group = compilation->groups[i];
    const LiteRtOpT& call = *compilation->calls[i];
    DispatchProgram& program = source->programs.emplace_back();
    program.nodes = group.ops;
    program.inputs = group.inputs;
    program.outputs = group.outputs;
    program.name = call.entry_point;
    program.byte_code = call.byte_code;
    const auto handle = compilation->programs.find(call.entry_point);
    if (handle != compilation->programs.end()) program.handle = handle->second;
  }
  source->owned = {model, compilation};
  *out_source = std::move(source);
  return kLiteRtStatusOk;
}

LiteRtStatus PluginDelegate::FindSupport(TfLiteContext* context, DeputySupportResult* result) {
  thread_local std::string text;
  std::shared_ptr<LiteRtModelT> model;
  std::shared_ptr<GroupCompilation> compilation;
  LITERT_TRY(Compile(context, true, &model, &compilation));
  std::vector<int> selected;
  for (const OpGroup& group : compilation->groups) {
    selected.insert(selected.end(), group.ops.begin(), group.ops.end());
  }
  text = compilation->refusal;
  for (size_t i = 0; i < result->node_count; ++i) {
    const int node = result->nodes[i];
    if (std::find(selected.begin(), selected.end(), node) != selected.end() ||
        (selected.empty() && IsDispatchOp(context, node))) {
      result->supported[i] = 1;
      result->reason_of_node[i] = kDeputyReasonNone;
    } else {
      result->reason_of_node[i] = kDeputyReasonOperator;
      result->text_of_node[i] = text.c_str();
    }
  }
  return kLiteRtStatusOk;
}

namespace {

// All delegates, which are found by the pointer that the host has.
class Delegates {
 public:
  static Delegates& Get() {
    static auto* const delegates = new Delegates();
    return *delegates;
  }

  void Add(std::unique_ptr<PluginDelegate> added) {
    const std::scoped_lock lock(mutex_);
    TfLiteDelegate* const key = added->delegate();
    delegates_.emplace(key, std::move(added));
  }
  PluginDelegate* Find(TfLiteDelegate* delegate) {
    const std::scoped_lock lock(mutex_);
    const auto found = delegates_.find(delegate);
    return found == delegates_.end() ? nullptr : found->second.get();
  }
  std::unique_ptr<PluginDelegate> Remove(TfLiteDelegate* delegate) {
    const std::scoped_lock lock(mutex_);
    auto node = delegates_.extract(delegate);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<TfLiteDelegate*, std::unique_ptr<PluginDelegate>> delegates_;
};

TfLiteDelegate* CreatePluginDelegate(const char* const* keys, const char* const* values,
                                     size_t count, std::string* error) {
  PluginDelegateOptions options;
  *error = ParseOptions(keys, values, count, &options);
  if (!error->empty()) return nullptr;
  auto created = std::make_unique<PluginDelegate>(std::move(options));
  const KeptMessages kept;
  if (created->Open() != kLiteRtStatusOk) {
    *error = kept.text();
    return nullptr;
  }
  TfLiteDelegate* const delegate = created->delegate();
  Delegates::Get().Add(std::move(created));
  return delegate;
}

void DestroyPluginDelegate(TfLiteDelegate* delegate) { Delegates::Get().Remove(delegate).reset(); }

void SetModelOf(TfLiteDelegate* delegate, const void* data, size_t size, int32_t) {
  const KeptMessages kept;
  PluginDelegate* const owner = Delegates::Get().Find(delegate);
  if (owner == nullptr) return;
  (void)Guard([&] {
    owner->SetModel(data, size);
    return kLiteRtStatusOk;
  });
}

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result) {
  const KeptMessages kept;
  PluginDelegate* const owner = Delegates::Get().Find(delegate);
  if (owner != nullptr &&
      Guard([&] { return owner->FindSupport(context, result); }) == kLiteRtStatusOk) {
    return kTfLiteOk;
  }
  context->ReportError(context, "%s", kept.text());
  return kTfLiteError;
}

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback, void*) {
  const PluginDelegate* const owner = Delegates::Get().Find(delegate);
  if (owner == nullptr) return kTfLiteError;
  report->device = owner->vendor();
  return kTfLiteOk;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    static DeputyPluginOption options[std::size(kRows)];
    std::transform(std::begin(kRows), std::end(kRows), options,
                   [](const OptionRow& row) { return row.option; });
    DeputyDelegatePlugin plugin = plugin_entry::Describe("litert", DeputyVersion(), "Deputy");
    plugin.options = options;
    plugin.option_count = std::size(options);
    plugin.create = &plugin_entry::Create<&CreatePluginDelegate>;
    plugin.destroy = &DestroyPluginDelegate;
    plugin.set_model = &SetModelOf;
    plugin.get_support = &GetSupport;
    plugin.report = &ReportDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::litert

DEPUTY_PLUGIN_EXPORTS(deputy::litert::Describe())
