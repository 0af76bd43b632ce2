# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy_tflite_runtime.metrics."""
from deputy_tflite_runtime.metrics import TFLiteMetricsInterface

__all__ = ['TFLiteMetricsInterface']
