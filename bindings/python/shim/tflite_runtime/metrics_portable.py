# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy_tflite_runtime.metrics."""
from deputy_tflite_runtime.metrics import TFLiteConverterMetrics, TFLiteMetrics

from . import metrics_interface

__all__ = ['TFLiteConverterMetrics', 'TFLiteMetrics', 'metrics_interface']
