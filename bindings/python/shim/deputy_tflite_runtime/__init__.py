# SPDX-License-Identifier: Apache-2.0
"""Lets programs for `tflite_runtime` and `ai_edge_litert` run on Deputy unchanged.

The packages `tflite_runtime` and `ai_edge_litert` of this wheel forward to `deputy.interpreter` and
`deputy.compiled_model`.
"""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import pathlib
import sys
import types
import warnings
from typing import Optional, Sequence


class _AbsentModules(importlib.abc.MetaPathFinder):
    """Finds no module. For those that the original package may have, the error names the ones that exist here."""

    def __init__(self, package: str, folder: str):
        self._package = package
        self._modules = sorted(path.stem for path in pathlib.Path(folder).glob('[a-z]*.py'))

    def find_spec(self, fullname: str, path: Optional[Sequence[str]] = None,
                  target: Optional[types.ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname.startswith(f'{self._package}.'):
            raise ModuleNotFoundError(
                f"No module named '{fullname}': deputy-tflite-runtime replaces {', '.join(self._modules)} of "
                f'{self._package} only', name=fullname)
        return None


def prepare(package: str, distribution: str, folder: str) -> None:
    """Prepares a package of this wheel when it is imported.

    Adds _AbsentModules for it, and warns if files of the original distribution are in the package's folder: pip lets two distributions write the
    same folder, and removes shared files with either of them."""
    sys.meta_path.append(_AbsentModules(package, folder))
    if next(pathlib.Path(folder).glob('_pywrap_*'), None):
        warnings.warn(
            f'{folder} has files of {distribution} and of deputy-tflite-runtime, which cannot be installed together: '
            f'run `pip uninstall {distribution} deputy-tflite-runtime` and install one of them', RuntimeWarning,
            stacklevel=3)
