# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.compiled_model."""
from deputy.compiled_model import CompiledModel, CpuKernelMode, CpuOptions, Environment, EnvironmentOptions, GpuOptions, HardwareAccelerator, IntelOpenVinoOptions, Options, QualcommOptions, TensorBuffer

__all__ = ['CompiledModel', 'CpuKernelMode', 'CpuOptions', 'Environment', 'EnvironmentOptions', 'GpuOptions', 'HardwareAccelerator', 'IntelOpenVinoOptions', 'Options', 'QualcommOptions', 'TensorBuffer']
