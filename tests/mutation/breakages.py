# SPDX-License-Identifier: Apache-2.0
"""Named mutations: each disables a small, user-visible behaviour, and one of its tests must fail.

A mutation is anchored by a text that occurs once in the file, so that lines may move. The first eight were
not detected by any test when they were found; the others are similar cases elsewhere: options, settings,
variables, defaults, attributes and limits that are read but then ignored.
"""
import dataclasses

from .sites import Mutation


@dataclasses.dataclass(frozen=True)
class Breakage:
    name: str
    path: str
    before: str
    after: str
    tests: tuple

    def mutation(self):
        return Mutation('named', self.path, 0, self.before, self.after)


def row(name, path, before, after, *tests):
    return Breakage(name, path, before, after, tests)


BREAKAGES = (
    # ---- Eight mutations that no test detected at first ----
    row('gpu flag to option', 'tools/providers.cc', '"auto", "fp32"},', '"fp32", "auto"},',
        'provider_flags_test'),
    row('provider in the list', 'tools/providers.cc',
        '    Own("cpu", "CPU delegate", "The CPU\'s kernels as a delegate", {},\n'
        '        "this Deputy was built without it"),\n',
        '', 'provider_flags_test'),
    row('default of the GPU options V2', 'gpu_cl/plugin.cc', 'options.max_delegated_partitions = 1;',
        'options.max_delegated_partitions = 2;', 'gpu_public_test'),
    row('time limit of the NPU stub', 'npu_stub/partition.c',
        '(uint32_t)state->options.time_limit_ms', '1000u', 'npu_options_test'),
    row('value of a MindSpore attribute', 'mindspore/src/primitive.cc',
        'out->AddInt("out_channel", DimOf(source.output(0),',
        'out->AddInt("out_channel", DimOf(source.input(0),', 'mindspore_attributes_test'),
    row('threads of a MindSpore context', 'mindspore/src/model.cc',
        '  TfLiteInterpreterOptionsSetNumThreads(options.get(), context_->ThreadCount());\n', '',
        'mindspore_model_test'),
    row('default of bench', 'tools/bench/config.h', 'int runs = 50, warmup = 1;',
        'int runs = 20, warmup = 1;', 'bench_clock_test'),
    row('times of nodes', 'tools/profile.cc', 'row.nanoseconds += event->duration_ns;',
        'row.nanoseconds = event->duration_ns;', 'bench_clock_test'),
    # ---- Flags and options of the command ----
    row('external delegate options are dropped', 'tools/provider_options.cc',
        'for (auto& pair : Pairs(value)) pairs.push_back(std::move(pair));',
        'for (auto& pair : Pairs(value)) (void)pair;', 'provider_flags_test'),
    row('hexagon flag to option', 'tools/providers.cc', '"library_folder"', '"interface_library"',
        'provider_flags_test'),
    row('warm-up in seconds', 'tools/bench/series.cc', 'series.min_secs = options.warmup_secs;',
        'series.min_secs = 0;', 'bench_clock_test'),
    row('rate of inferences', 'tools/bench/series.cc', 'if (series.frequency > 0) {',
        'if (series.frequency > 1e9) {', 'bench_clock_test'),
    row('seconds at most', 'tools/bench/series.cc', 'elapsed >= series.max_secs',
        'elapsed >= 2 * series.max_secs', 'bench_clock_test'),
    row('range of pixels', 'tools/command_line.cc', '"--range", options->range',
        '"--range", options->mean',
        'cli_test:CliTest.test_range_mean_and_scale_map_pixel_values'),
    row('tolerance of compare', 'tools/commands.h', 'double tolerance = 1e-3;',
        'double tolerance = 1e+3;', 'cli_test:CliTest.test_compare_shows_where_a_delegate_differs',
        'cli_test:CliTest.test_compare_accepts_a_second_model'),
    row('inferences of explain', 'tools/command_line.cc', 'options->inferences = 10;',
        'options->inferences = 1;', 'bench_clock_test', 'explain_test'),
    # ---- Settings of an interpreter ----
    row('threads of an interpreter', 'c_api/src/c_api.cc',
        'if (options != nullptr) options->config.num_threads = num_threads;', '(void)num_threads;',
        'mindspore_model_test', 'abi_options_test', 'interpreter_test'),
    row('arithmetic by the environment', 'c_api/src/c_api.cc', 'config.arithmetic = deputy::Arithmetic::kReference;',
        '', 'option_effects_test:OptionEffectsTest.test_two_values_of_variables_differ'),
    row('policy by the environment', 'c_api/src/c_api.cc', '{"tflite", "hot"}) == "hot";',
        '{"tflite", "hot"}) == "tflite";',
        'option_effects_test:OptionEffectsTest.test_policies_by_their_names'),
    row('plan by the environment', 'c_api/src/c_api.cc', '{"fused", "off"}) != "off"',
        '{"fused", "off"}) != "on"', 'fusion_groups_run_test'),
    row('retry of a delegate', 'c_api/src/deputy.cc', '  options->config.delegate_retry = inferences;\n',
        '', 'back_off_test', 'delegate_hot_test', 'fallback_test'),
    row('limits of an interpreter', 'c_api/src/deputy.cc',
        '!ReadLimits(limits, &options->config.limits)', '(limits == nullptr)', 'limits_test'),
    row('thread pool of the client', 'c_api/src/deputy.cc',
        'options->config.pool = pool == nullptr ? nullptr : pool->impl;', '',
        'interpreter_threads_test'),
    row('fallback to the CPU', 'c_api/src/c_api_experimental.cc',
        'options->delegate_fallback = enable;', 'options->delegate_fallback = true;',
        'delegate_test'),
    row('outputs as buffer handles', 'c_api/src/c_api.cc',
        'impl.Invoke(interpreter->allow_buffer_handle_output)', 'impl.Invoke(false)',
        'delegate_semantics_test', 'delegate_test', 'gpu_handles_test'),
    row('telemetry of an interpreter', 'c_api/src/c_api_experimental.cc',
        'if (options != nullptr) options->telemetry = profiler;', '(void)profiler;',
        'telemetry_test'),
    # ---- Options of delegates ----
    row('storage precision of the GPU', 'gpu_cl/partition.cc',
        'StoresHalf(owner.options.precision, ClassOf(owner))', 'false', 'gpu_option_effects_test'),
    row('token of cached programs', 'gpu_cl/partition.cc',
        '  options.cache_token = owner.options.cache_token;\n', '', 'gpu_option_effects_test'),
    row('size of the program cache', 'gpu_cl/delegate.cc',
        'static_cast<uint64_t>(options.cache_max_mb) << 20', 'uint64_t{256} << 20',
        'gpu_option_effects_test'),
    row('optimisation of kernels', 'gpu_cl/partition.cc',
        'options.optimize = owner.options.optimize;', 'options.optimize = true;',
        'gpu_option_effects_test'),
    row('context of the client', 'gpu_cl/options.cc', '  options.context = known.cl_context;\n', '',
        'gpu_public_test'),
    row('partitions of the NPU stub', 'npu_stub/options.c', '"max_partitions", kDeputyOptionInt, 0, "0"',
        '"max_partitions", kDeputyOptionInt, 0, "1"', 'npu_options_test'),
    row('frequency of the NPU stub', 'npu_stub/partition.c',
        'models[i].frequency = state->options.frequency;', 'models[i].frequency = 3;',
        'npu_options_test'),
    row('frequency of a MindSpore device', 'mindspore/src/model.cc',
        'std::to_string(device.frequency)', '"3"', 'mindspore_model_test'),
    row('half precision of a MindSpore device', 'mindspore/src/model.cc',
        'device.type == kMSDeviceTypeGPU && device.enable_fp16', 'device.type == kMSDeviceTypeGPU',
        'mindspore_model_test'),
    row('NNAPI without its processor', 'bridges/nnapi/delegate.cc', 'options.disable_cpu,',
        'false,', 'nnapi_bridge_test'),
    row('timeout of an NNAPI inference', 'bridges/nnapi/partition.cc',
        'const int64_t timeout = engine_.options.execution_timeout_us;',
        'const int64_t timeout = 0;', 'nnapi_bridge_test'),
    row('threads of the CPU delegate', 'bridges/cpu/delegate.cc',
        'cpu->options.num_threads > 0 ? cpu->options.num_threads : context.recommended_num_threads',
        'context.recommended_num_threads', 'cpu_delegate_test'),
    row('arithmetic of the CPU delegate', 'bridges/cpu/partition.cc',
        'options.reference ? Arithmetic::kReference : Arithmetic::kDefault', 'Arithmetic::kDefault',
        'cpu_delegate_test'),
    row('partitions of ONNX Runtime', 'bridges/onnxruntime/delegate.cc', 'replaced.size < min_count',
        'false', 'onnxruntime_test'),
    row('threads of ONNX Runtime', 'bridges/onnxruntime/partition.cc',
        'SetIntraOpNumThreads(options, engine_.options.num_threads)',
        'SetIntraOpNumThreads(options, 1)', 'onnxruntime_test'),
    row('partitions of Hexagon', 'bridges/hexagon/delegate.cc', 'options.max_delegated_partitions,',
        '16,', 'hexagon_test'),
    # ---- Asynchronous execution ----
    row('tasks in flight are started again', 'core/async/execution_task.cc',
        '  if (is_running_) return false;\n', '', 'async_test', 'async_threads_test'),
    row('runners keep an old kernel', 'core/async/async_signature_runner.cc',
        'if (binding_ == subgraph()->plan_version()) return kernel_;', 'return kernel_;',
        'async_failures_test'),
    # ---- Names and values kept for compatibility ----
    row('value of an attribute map', 'c_api/src/attribute_map.cc',
        'if (known != nullptr) *value = *known;', '', 'exported_functions_test'),
    row('signature by its old name', 'c_api/src/old_names.cc',
        'return TfLiteInterpreterGetSignatureKey(interpreter, signature_index);', 'return nullptr;',
        'exported_functions_test'),
    row('name of a misspelt variable', 'core/base/environment.cc', '    "VALIDATION",\n', '',
        'exported_functions_test',
        'cli_test:CliTest.test_misspelt_variables_of_the_environment_are_reported'),
)
