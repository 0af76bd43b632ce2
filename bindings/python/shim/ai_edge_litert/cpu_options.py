# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.litert_options."""
from deputy.litert_options import CpuKernelMode, CpuOptions

__all__ = ['CpuKernelMode', 'CpuOptions']
