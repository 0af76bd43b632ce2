# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.compiled_model."""
from deputy.compiled_model import Environment, EnvironmentOptions

__all__ = ['Environment', 'EnvironmentOptions']
