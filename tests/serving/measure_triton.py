#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the back end in Triton's server with bare interpreters: throughput, and processor time per inference.

    measure_triton.py BUILD_FOLDER SERVING_FOLDER MODEL [--rounds N] [--runs N]

Rounds of both alternate, because other load on the machine varies. The model must have one int8 input.
`make check-serving` installs the server in SERVING_FOLDER, build/serving.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bindings/python'))

INSTANCES, CLIENTS = 2, 4


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('serving', type=pathlib.Path)
    parser.add_argument('model', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--runs', type=int, default=24, help='inferences per round')
    parser.add_argument('--grpc', action='store_true', help='use gRPC instead of binary tensors over HTTP')
    return parser.parse_args()


def in_threads(functions, runs, cpu_seconds):
    """Runs the functions at the same time. Returns the inferences per second and the processor time of each."""
    threads = [threading.Thread(target=function) for function in functions]
    begin, cpu = time.perf_counter(), cpu_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return runs / (time.perf_counter() - begin), (cpu_seconds() - cpu) / runs


def repeat(function, runs):
    return lambda: [function() for _ in range(runs)]


def http_client(server, name, values):
    from triton import Client
    client = Client(server)
    head = json.dumps({'inputs': [{'name': name, 'shape': list(values.shape), 'datatype': 'INT8',
                                   'parameters': {'binary_data_size': values.nbytes}}],
                       'parameters': {'binary_data_output': True}}).encode()
    body, headers = head + values.tobytes(), {'Inference-Header-Content-Length': str(len(head))}
    return lambda: client.call('POST', '/v2/models/m/infer', body, headers)


def grpc_client(server, name, values):
    import tritonclient.grpc as grpc
    client = grpc.InferenceServerClient(f'127.0.0.1:{server.grpc}')
    tensor = grpc.InferInput(name, values.shape, 'INT8')
    tensor.set_data_from_numpy(values)
    return lambda: client.infer('m', [tensor])


def main():
    options = parse()
    os.environ['DEPUTY_LIBRARY'] = str(options.build.resolve() / 'libdeputy.so.1')
    import numpy as np
    from deputy.interpreter import Interpreter
    from triton import Client, Server
    runs, content = options.runs, options.model.read_bytes()
    interpreters = [Interpreter(model_content=content, num_threads=1) for _ in range(INSTANCES)]
    for interpreter in interpreters:
        interpreter.allocate_tensors()
        interpreter.invoke()
    detail = interpreters[0].get_input_details()[0]
    values = np.random.default_rng(0).integers(-128, 128, detail['shape']).astype(np.int8)
    server = Server(options.serving / 'triton/pytriton/tritonserver/bin/tritonserver', options.build.resolve() / 'triton')
    try:
        server.write('m', content, f'instance_group [ {{ kind: KIND_CPU count: {INSTANCES} }} ]')
        Client(server).load('m')
        connect = grpc_client if options.grpc else http_client
        clients = [connect(server, detail['name'], values) for _ in range(CLIENTS)]
        for client in clients:
            client()
        bare, served = [], []
        for _ in range(options.rounds):
            bare.append(in_threads([repeat(each.invoke, runs // INSTANCES) for each in interpreters], runs,
                                   time.process_time))
            served.append(in_threads([repeat(each, runs // CLIENTS) for each in clients], runs, server.cpu_seconds))
    finally:
        server.stop()
    for text, rows in (('bare interpreters', bare), ('served', served)):
        print(f'{text}: {statistics.median(row[0] for row in rows):.1f}/s, '
              f'{statistics.median(row[1] for row in rows) * 1e3:.3f} ms of processor time')
    ratios = sorted(after[0] / before[0] for before, after in zip(bare, served))
    print(f'ratio of throughputs: median {statistics.median(ratios):.3f}, {ratios[0]:.2f} to {ratios[-1]:.2f}; load '
          + ' '.join(f'{load:.1f}' for load in os.getloadavg()))


if __name__ == '__main__':
    main()
