# SPDX-License-Identifier: Apache-2.0
"""Placement of nodes by measured times (deputy_placement.h)."""
from __future__ import annotations

import ctypes
import os

from . import _native
from ._native import OK

_SETTINGS = ('budget_ms', 'runs', 'cache_directory')


def _settings(given):
    if given is True:
        given = {}
    unknown = sorted(set(given) - set(_SETTINGS))
    if unknown:
        raise ValueError(f"placement: expected {', '.join(_SETTINGS)}, found {unknown[0]!r}")
    values = dict(given)
    if values.get('cache_directory') is not None:
        values['cache_directory'] = os.fsencode(values['cache_directory'])
    return _native.PlacementSettings(**values)


def _alternative(lib, plan, index):
    each = _native.PlacementAlternative()
    lib.DeputyPlacementPlanGetAlternative(plan, index, ctypes.byref(each))
    measured = each.measured_ns if each.measured_ns >= 0 else None
    return {'name': each.name.decode(), 'nodes': each.delegated_count, 'partitions': each.partition_count,
            'predicted_ns': each.predicted_ns, 'estimated_ns': each.estimated_ns, 'measured_ns': measured}


def _description(lib, plan):
    status = _native.PlacementStatus()
    lib.DeputyPlacementPlanGetStatus(plan, ctypes.byref(status))
    owners: list[int | None] = []
    while (owner := lib.DeputyPlacementPlanGetOwner(plan, len(owners))) != -2:
        owners.append(owner if owner >= 0 else None)
    alternatives = [_alternative(lib, plan, i) for i in range(lib.DeputyPlacementPlanGetAlternativeCount(plan))]
    return {'owners': owners, 'alternatives': alternatives, 'measurements': status.measurements,
            'from_cache': bool(status.from_cache), 'spent_ns': status.spent_ns}


def place(lib, model, options, delegates, given):
    """Adds the delegates to the options and places the nodes. Returns the description of the plan, or None
    if the library makes none."""
    settings = _settings(given)
    for delegate in delegates:
        lib.TfLiteInterpreterOptionsAddDelegate(options, delegate)
    plan = lib.DeputyPlacementPlanCreate(model, options, ctypes.byref(settings))
    if not plan:
        return None
    try:
        if lib.DeputyInterpreterOptionsSetPlacementPlan(options, plan) != OK:
            return None
        return _description(lib, plan)
    finally:
        lib.DeputyPlacementPlanDelete(plan)
