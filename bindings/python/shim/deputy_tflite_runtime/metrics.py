# SPDX-License-Identifier: Apache-2.0
"""Counters of TensorFlow Lite's tools. As in the original packages, they record nothing."""
from __future__ import annotations

import abc
from typing import Any, Optional


class TFLiteMetricsInterface(metaclass=abc.ABCMeta):
    """Interface of a recorder of metrics."""

    @abc.abstractmethod
    def increase_counter_debugger_creation(self) -> None:
        """Counts a debugger of quantisation."""

    @abc.abstractmethod
    def increase_counter_interpreter_creation(self) -> None:
        """Counts an interpreter."""

    @abc.abstractmethod
    def increase_counter_converter_attempt(self) -> None:
        """Counts the begin of a conversion."""

    @abc.abstractmethod
    def increase_counter_converter_success(self) -> None:
        """Counts a successful conversion."""

    @abc.abstractmethod
    def set_converter_param(self, name: str, value: Any) -> None:
        """Records a parameter of a conversion."""

    @abc.abstractmethod
    def set_converter_error(self, error_data: Any) -> None:
        """Records the error of a conversion."""

    @abc.abstractmethod
    def set_converter_latency(self, value: Any) -> None:
        """Records the time of a conversion."""


class TFLiteMetrics(TFLiteMetricsInterface):
    """A recorder that ignores everything."""

    def __init__(self, model_hash: Optional[str] = None, model_path: Optional[str] = None) -> None:
        pass

    def increase_counter_debugger_creation(self) -> None:
        """Does nothing."""

    def increase_counter_interpreter_creation(self) -> None:
        """Does nothing."""

    def increase_counter_converter_attempt(self) -> None:
        """Does nothing."""

    def increase_counter_converter_success(self) -> None:
        """Does nothing."""

    def set_converter_param(self, name: str, value: Any) -> None:
        """Does nothing."""

    def set_converter_error(self, error_data: Any) -> None:
        """Does nothing."""

    def set_converter_latency(self, value: Any) -> None:
        """Does nothing."""


class TFLiteConverterMetrics(TFLiteMetrics):
    """A recorder for converters that ignores everything."""

    def set_export_required(self) -> None:
        """Does nothing."""

    def export_metrics(self) -> None:
        """Does nothing."""
