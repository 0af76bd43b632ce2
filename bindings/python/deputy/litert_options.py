# SPDX-License-Identifier: Apache-2.0
"""Options of compiled models, with the names of ai-edge-litert 2.3.0."""
from __future__ import annotations

import dataclasses
import enum
from typing import Any, Iterator, Optional, Sequence


class HardwareAccelerator(enum.IntFlag):
    """Kinds of processors that may run a model; combined with |."""
    CPU = 1
    GPU = 2
    NPU = 4


class CpuKernelMode(enum.IntEnum):
    """Kernels of the CPU. Deputy's are used in each mode; REFERENCE selects its reference arithmetic."""
    DELEGATE = 0
    XNNPACK = 0
    REFERENCE = 1
    BUILTIN = 2


class IntelOpenVinoGraphBackend(enum.IntEnum):
    """Devices of Intel's plug-ins."""
    CPU = 0
    GPU = 1
    NPU = 2


class IntelOpenVinoPerformanceMode(enum.IntEnum):
    """Performance hints of Intel's plug-ins."""
    LATENCY = 0
    THROUGHPUT = 1
    CUMULATIVE_THROUGHPUT = 2


class QualcommLogLevel(enum.IntEnum):
    """Severity of messages of the QNN SDK."""
    OFF = 0
    ERROR = 1
    WARN = 2
    INFO = 3
    VERBOSE = 4
    DEBUG = 5


class QualcommDspPerformanceMode(enum.IntEnum):
    """Trade-off between power and speed of the DSP."""
    DEFAULT = 0
    SUSTAINED_HIGH_PERFORMANCE = 1
    BURST = 2
    HIGH_PERFORMANCE = 3
    POWER_SAVER = 4
    LOW_POWER_SAVER = 5
    HIGH_POWER_SAVER = 6
    LOW_BALANCED = 7
    BALANCED = 8


QualcommHtpPerformanceMode = enum.IntEnum(  # type: ignore[misc]
    'QualcommHtpPerformanceMode',
    {**{mode.name: mode.value for mode in QualcommDspPerformanceMode}, 'EXTREME_POWER_SAVER': 9}, module=__name__)
QualcommProfiling = enum.IntEnum(
    'QualcommProfiling', 'OFF BASIC DETAILED LINTING OPTRACE', module=__name__, start=0)
QualcommOptimizationLevel = enum.IntEnum(
    'QualcommOptimizationLevel', 'OPTIMIZE_FOR_INFERENCE OPTIMIZE_FOR_PREPARE OPTIMIZE_FOR_INFERENCE_O3',
    module=__name__, start=0)
QualcommGraphPriority = enum.IntEnum(
    'QualcommGraphPriority', 'DEFAULT LOW NORMAL NORMAL_HIGH HIGH', module=__name__, start=0)
QualcommBackend = enum.IntEnum('QualcommBackend', 'UNDEFINED GPU HTP DSP IR', module=__name__, start=0)
QualcommGraphIOTensorMemType = enum.IntEnum(
    'QualcommGraphIOTensorMemType', 'RAW MEM_HANDLE', module=__name__, start=0)


@dataclasses.dataclass
class CpuOptions:
    """Options of the CPU. 0 threads: the library decides. A None has the default of the library."""
    num_threads: int = 0
    kernel_mode: Optional[CpuKernelMode] = None
    enable_ynnpack: bool = False
    xnnpack_flags: Optional[int] = None
    xnnpack_weight_cache_path: str = ''

    def _settings(self) -> dict[str, Any]:
        return {'kernel_mode': self.kernel_mode, 'enable_ynnpack': self.enable_ynnpack or None,
                'num_threads': self.num_threads or None, 'flags': self.xnnpack_flags,
                'weight_cache_file_path': self.xnnpack_weight_cache_path or None}


@dataclasses.dataclass
class GpuOptions:
    """Options of a GPU."""
    enforce_f32: bool = False
    constant_tensor_sharing: bool = False
    infinite_float_capping: bool = False
    benchmark_mode: bool = False
    allow_src_quantized_fc_conv_ops: bool = False
    hint_waiting_for_completion: bool = False

    def _settings(self) -> dict[str, Any]:
        return {'precision': 2 if self.enforce_f32 else None,
                'enable_constant_tensors_sharing': self.constant_tensor_sharing or None,
                'enable_infinite_float_capping': self.infinite_float_capping or None,
                'benchmark_mode': self.benchmark_mode or None,
                'allow_src_quantized_fc_conv_ops': self.allow_src_quantized_fc_conv_ops or None,
                'hint_waiting_for_completion': self.hint_waiting_for_completion or None}


@dataclasses.dataclass
class QualcommOptions:
    """Options of Qualcomm's plug-ins. A None has the default of the plug-in."""
    LOG_LEVEL = QualcommLogLevel
    HTP_PERFORMANCE_MODE = QualcommHtpPerformanceMode
    DSP_PERFORMANCE_MODE = QualcommDspPerformanceMode
    PROFILING = QualcommProfiling
    OPTIMIZATION_LEVEL = QualcommOptimizationLevel
    GRAPH_PRIORITY = QualcommGraphPriority
    BACKEND = QualcommBackend
    GRAPH_IO_TENSOR_MEM_TYPE = QualcommGraphIOTensorMemType

    log_level: Optional[QualcommLogLevel] = None
    htp_performance_mode: Optional[QualcommHtpPerformanceMode] = None
    dsp_performance_mode: Optional[QualcommDspPerformanceMode] = None
    use_int64_bias_as_int32: Optional[bool] = None
    enable_weight_sharing: Optional[bool] = None
    use_conv_hmx: Optional[bool] = None
    use_fold_relu: Optional[bool] = None
    profiling: Optional[QualcommProfiling] = None
    dump_tensor_ids: Optional[Sequence[int]] = None
    ir_json_dir: str = ''
    dlc_dir: str = ''
    vtcm_size: Optional[int] = None
    num_hvx_threads: Optional[int] = None
    optimization_level: Optional[QualcommOptimizationLevel] = None
    graph_priority: Optional[QualcommGraphPriority] = None
    backend: Optional[QualcommBackend] = None
    saver_output_dir: str = ''
    graph_io_tensor_mem_type: Optional[QualcommGraphIOTensorMemType] = None

    def _settings(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values['qnn_backend'] = values.pop('backend')
        return {key: None if value == '' else value for key, value in values.items()}


@dataclasses.dataclass
class IntelOpenVinoOptions:
    """Options of Intel's plug-ins. A None has the default of the plug-in."""
    GRAPH_BACKEND = IntelOpenVinoGraphBackend
    PERFORMANCE_MODE = IntelOpenVinoPerformanceMode

    graph_backend: Optional[IntelOpenVinoGraphBackend] = None
    performance_mode: Optional[IntelOpenVinoPerformanceMode] = None
    configs_map: dict[str, str] = dataclasses.field(default_factory=dict)
    enable_weight_sharing: Optional[bool] = None

    def _settings(self) -> dict[str, Any]:
        return {'performance_mode': self.performance_mode, 'graph.0.graph_backend': self.graph_backend,
                'enable_weight_sharing': self.enable_weight_sharing,
                **{f'configs_map.{key}': value for key, value in self.configs_map.items()}}


def _text(settings: dict[str, Any]) -> str:
    """Returns settings that are not None as TOML."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str):
            quoted = value.replace('\\', '\\\\').replace('"', '\\"')
            return f'"{quoted}"'
        if isinstance(value, Sequence):
            return '[' + ', '.join(f'"{item}"' for item in value) + ']'
        return str(int(value))

    return ''.join(f'{key} = {text(value)}\n' for key, value in settings.items() if value is not None)


class Options:
    """Options of one compiled model."""

    def __init__(self, hardware_accelerators: HardwareAccelerator = HardwareAccelerator.CPU,
                 cpu_options: Optional[CpuOptions] = None, gpu_options: Optional[GpuOptions] = None,
                 qualcomm_options: Optional[QualcommOptions] = None,
                 intel_openvino_options: Optional[IntelOpenVinoOptions] = None):
        self.hardware_accelerators = hardware_accelerators
        self._cpu_options = cpu_options
        self._gpu_options = gpu_options
        self._qualcomm_options = qualcomm_options
        self._intel_openvino_options = intel_openvino_options

    @classmethod
    def create(cls) -> Options:
        """Returns options with the default values."""
        return cls()

    @property
    def cpu_options(self) -> CpuOptions:
        """Options of the CPU, which can be changed."""
        self._cpu_options = self._cpu_options or CpuOptions()
        return self._cpu_options

    @property
    def gpu_options(self) -> GpuOptions:
        """Options of the GPU, which can be changed."""
        self._gpu_options = self._gpu_options or GpuOptions()
        return self._gpu_options

    @property
    def qualcomm_options(self) -> QualcommOptions:
        """Options of Qualcomm's plug-ins, which can be changed."""
        self._qualcomm_options = self._qualcomm_options or QualcommOptions()
        return self._qualcomm_options

    @property
    def intel_openvino_options(self) -> IntelOpenVinoOptions:
        """Options of Intel's plug-ins, which can be changed."""
        self._intel_openvino_options = self._intel_openvino_options or IntelOpenVinoOptions()
        return self._intel_openvino_options

    def _opaque(self) -> Iterator[tuple[str, str]]:
        """Yields the identifier and text of each group with a value."""
        groups: tuple[tuple[str, Any], ...] = (
            ('xnnpack', self._cpu_options), ('gpu_options', self._gpu_options),
            ('qualcomm', self._qualcomm_options), ('intel_openvino', self._intel_openvino_options))
        for identifier, group in groups:
            text = _text(group._settings()) if group is not None else ''
            if text:
                yield identifier, text
