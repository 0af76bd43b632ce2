# SPDX-License-Identifier: Apache-2.0
"""Owners of nodes with reasons, and findings of the validation layer: see deputy/deputy.h."""
import ctypes

import numpy as np

from . import _native

POLICIES = {'tflite': 0, 'hot': 1}
BACKGROUND_STATES = ('none', 'waiting', 'preparing', 'ready', 'active', 'failed', 'timed out')
SEVERITIES = ('error', 'suspicion', 'portability')


def _filled(function, struct, *where):
    """Returns `struct` filled by the function, or None if the index is out of range."""
    return struct if function(*where, ctypes.byref(struct)) == _native.OK else None


def _text(data):
    return (data or b'').decode(errors='replace')


def _delegates(lib, interpreter):
    found = []
    for i in range(lib.DeputyInterpreterGetDelegateCount(interpreter)):
        info = _filled(lib.DeputyInterpreterGetDelegateInfo, _native.DelegateInfo(), interpreter, i)
        found.append({'name': _text(info.name), 'applied': bool(info.applied),
                      'partitions': info.partition_count, 'nodes': info.node_count,
                      'failure': _text(info.failure)})
    return found


def _node(lib, interpreter, subgraph, index, names):
    info = _filled(lib.DeputyInterpreterGetNodeInfo, _native.NodeInfo(), interpreter, subgraph,
                   index)
    run = _filled(lib.DeputyInterpreterGetNodeRun, _native.NodeRun(), interpreter, subgraph, index)
    if info is None or info.builtin_code == 51:  # a delegate's own node
        return None
    reasons = []
    for i, name in enumerate(names):
        support = _filled(lib.DeputyInterpreterGetNodeSupport, _native.NodeSupport(), interpreter,
                         subgraph, index, i)
        if support is not None and not support.delegated:
            reasons.append({'delegate': name, 'reason': _text(support.reason_name),
                            'text': _text(support.text)})
    delegated = run is not None and run.delegate_index >= 0
    return {'subgraph': subgraph, 'node': index, 'operator': _text(info.operator_name),
            'version': info.version,
            'inputs': info.inputs[:info.input_count], 'outputs': info.outputs[:info.output_count],
            'run_by': names[run.delegate_index] if delegated else 'CPU', 'reasons': reasons}


def node_details(lib, interpreter, index):
    """Returns index, op_name, inputs and outputs of a node of the main subgraph; None if there is
    none."""
    info = _filled(lib.DeputyInterpreterGetNodeInfo, _native.NodeInfo(), interpreter, 0, index)
    if info is None:
        return None
    return {'index': index, 'op_name': _text(info.operator_name),
            'inputs': np.array(info.inputs[:info.input_count], np.int32),
            'outputs': np.array(info.outputs[:info.output_count], np.int32)}


def explain(lib, interpreter):
    delegates = _delegates(lib, interpreter)
    names = [delegate['name'] for delegate in delegates]
    nodes = []
    for subgraph in range(lib.DeputyInterpreterGetSubgraphCount(interpreter)):
        for index in range(lib.DeputyInterpreterGetNodeCount(interpreter, subgraph)):
            node = _node(lib, interpreter, subgraph, index, names)
            if node is not None:
                nodes.append(node)
    return {'delegates': delegates, 'nodes': nodes}


def delegation_status(lib, interpreter):
    status = _filled(lib.DeputyInterpreterGetDelegationStatus, _native.DelegationStatus(),
                     interpreter)
    policy = {number: name for name, number in POLICIES.items()}[status.policy]
    return {'policy': policy, 'degraded': bool(status.degraded),
            'delegates_skipped': status.delegates_skipped,
            'recomputed_nodes': status.recomputed_nodes, 'restarts': status.restarts}


def background_status(lib, interpreter):
    status = _filled(lib.DeputyInterpreterGetBackgroundStatus, _native.BackgroundStatus(),
                     interpreter)
    return {'state': BACKGROUND_STATES[status.state], 'failure': _text(status.failure),
            'kept_shapes': status.kept_shapes, 'preparations': status.preparations,
            'cpu_inferences': status.cpu_inferences,
            'delegate_inferences': status.delegate_inferences,
            'first_inference': status.first_inference, 'prepare_ns': status.prepare_ns}


def findings(lib, interpreter):
    found = []
    for i in range(lib.DeputyInterpreterGetFindingCount(interpreter)):
        finding = _filled(lib.DeputyInterpreterGetFinding, _native.Finding(), interpreter, i)
        found.append({'rule': _text(finding.rule), 'text': _text(finding.text),
                      'severity': SEVERITIES[finding.severity],
                      'subgraph': finding.subgraph_index, 'node': finding.node_index,
                      'tensor': finding.tensor_index, 'count': finding.count,
                      'delegate': _text(finding.delegate_name)})
    return found
