# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.litert_options."""
from deputy.litert_options import CpuKernelMode, CpuOptions, GpuOptions, HardwareAccelerator, IntelOpenVinoGraphBackend, IntelOpenVinoOptions, IntelOpenVinoPerformanceMode, Options, QualcommBackend, QualcommDspPerformanceMode, QualcommGraphIOTensorMemType, QualcommGraphPriority, QualcommHtpPerformanceMode, QualcommLogLevel, QualcommOptimizationLevel, QualcommOptions, QualcommProfiling

__all__ = ['CpuKernelMode', 'CpuOptions', 'GpuOptions', 'HardwareAccelerator', 'IntelOpenVinoGraphBackend', 'IntelOpenVinoOptions', 'IntelOpenVinoPerformanceMode', 'Options', 'QualcommBackend', 'QualcommDspPerformanceMode', 'QualcommGraphIOTensorMemType', 'QualcommGraphPriority', 'QualcommHtpPerformanceMode', 'QualcommLogLevel', 'QualcommOptimizationLevel', 'QualcommOptions', 'QualcommProfiling']
