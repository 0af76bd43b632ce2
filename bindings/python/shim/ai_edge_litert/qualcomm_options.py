# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.litert_options."""
from deputy.litert_options import QualcommBackend, QualcommDspPerformanceMode, QualcommGraphIOTensorMemType, QualcommGraphPriority, QualcommHtpPerformanceMode, QualcommLogLevel, QualcommOptimizationLevel, QualcommOptions, QualcommProfiling

__all__ = ['QualcommBackend', 'QualcommDspPerformanceMode', 'QualcommGraphIOTensorMemType', 'QualcommGraphPriority', 'QualcommHtpPerformanceMode', 'QualcommLogLevel', 'QualcommOptimizationLevel', 'QualcommOptions', 'QualcommProfiling']
