# SPDX-License-Identifier: Apache-2.0
"""Starts Triton's server on a repository of its own, and sends requests over HTTP."""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

import numpy as np

TYPES = {'FP32': np.float32, 'INT8': np.int8, 'UINT8': np.uint8, 'INT32': np.int32, 'INT64': np.int64}
NAMES = {np.dtype(value): key for key, value in TYPES.items()}


class RequestError(Exception):
    """The server refused a request; `status` is the HTTP status."""

    def __init__(self, status, text):
        super().__init__(f'{status}: {text}')
        self.status, self.text = status, text


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(('127.0.0.1', 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Server:
    """A server in the mode `explicit`. The folder of the repository is deleted at the end."""

    def __init__(self, program, back_ends, environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='deputy-serving-'))
        self.repository = self.folder / 'models'
        self.repository.mkdir()
        self.http, self.grpc, self.metrics = free_ports(3)
        self.log = self.folder / 'log'
        with self.log.open('w') as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                [program, f'--model-repository={self.repository}', f'--backend-directory={back_ends}',
                 '--model-control-mode=explicit', '--http-address=127.0.0.1', f'--http-port={self.http}',
                 '--grpc-address=127.0.0.1', f'--grpc-port={self.grpc}', '--metrics-address=127.0.0.1',
                 f'--metrics-port={self.metrics}'],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})})
        self._wait_until_ready()

    def _wait_until_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.is_ready():
                return
            time.sleep(0.1)
        text = self.log.read_text(errors='replace')
        self.stop()
        raise RuntimeError(f'the server did not become ready:\n{text[-3000:]}')

    def is_ready(self):
        client = Client(self)
        try:
            return client.call('GET', '/v2/health/ready') == b''
        except (OSError, RequestError):
            return False
        finally:
            client.connection.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, model, config='', version=1):
        """Writes a model's file in place, and its configuration."""
        folder = self.repository / name / str(version)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'model.tflite').write_bytes(model)
        (self.repository / name / 'config.pbtxt').write_text('backend: "deputy"\n' + config)

    def cpu_seconds(self):
        """Returns the processor time of the server's threads."""
        fields = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def resident_bytes(self):
        status = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+) kB', status)[1]) << 10

    def metric(self, name, **labels):
        """Returns the value of a metric with these labels; None if there is none."""
        connection = http.client.HTTPConnection('127.0.0.1', self.metrics, timeout=30)
        connection.request('GET', '/metrics')
        text = connection.getresponse().read().decode()
        connection.close()
        for line in text.splitlines():
            found = re.fullmatch(r'(\w+)\{(.*)\} (\S+)', line)
            if not found or found[1] != name:
                continue
            present = dict(re.findall(r'(\w+)="([^"]*)"', found[2]))
            if all(present.get(key) == value for key, value in labels.items()):
                return float(found[3])
        return None


class Client:
    """A connection; not for several threads."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection('127.0.0.1', server.http, timeout=60)

    def call(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body=body, headers=headers or {})
        response = self.connection.getresponse()
        data = response.read()
        self.headers = response.headers
        if response.status != 200:
            text = data.decode(errors='replace')
            try:
                text = json.loads(text)['error']
            except (ValueError, KeyError):
                pass
            raise RequestError(response.status, text)
        return data

    def json(self, method, path, value=None):
        data = self.call(method, path, None if value is None else json.dumps(value))
        return json.loads(data) if data else None

    def load(self, name):
        self.json('POST', f'/v2/repository/models/{name}/load', {})

    def unload(self, name):
        """Unloads a model and waits for the end."""
        # Triton 2.51 crashes if the thread of an instance is still at the end of its last request.
        time.sleep(0.05)
        self.json('POST', f'/v2/repository/models/{name}/unload', {})
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            rows = self.json('POST', '/v2/repository/index', {})
            if all(row.get('state') == 'UNAVAILABLE' and row.get('reason') == 'unloaded'
                   for row in rows if row['name'] == name):
                return
            time.sleep(0.01)
        raise RuntimeError(f'{name} is not unloaded')

    def infer_json(self, model, inputs, parameters=None):
        """Runs a model on arrays by name. Returns arrays by name."""
        request = {'inputs': [{'name': name, 'shape': list(array.shape), 'datatype': NAMES[array.dtype],
                               'data': array.ravel().tolist()} for name, array in inputs.items()]}
        if parameters:
            request['parameters'] = parameters
        reply = self.json('POST', f'/v2/models/{model}/infer', request)
        return {output['name']: np.array(output['data'], TYPES[output['datatype']]).reshape(output['shape'])
                for output in reply['outputs']}

    def infer(self, model, inputs):
        """Does the same with binary tensors."""
        arrays = {name: np.ascontiguousarray(array) for name, array in inputs.items()}
        head = json.dumps({
            'inputs': [{'name': name, 'shape': list(array.shape), 'datatype': NAMES[array.dtype],
                        'parameters': {'binary_data_size': array.nbytes}} for name, array in arrays.items()],
            'parameters': {'binary_data_output': True}}).encode()
        body = head + b''.join(array.tobytes() for array in arrays.values())
        data = self.call('POST', f'/v2/models/{model}/infer', body,
                         {'Inference-Header-Content-Length': str(len(head))})
        length = int(self.headers['Inference-Header-Content-Length'])
        results, at = {}, length
        for output in json.loads(data[:length])['outputs']:
            size = output['parameters']['binary_data_size']
            results[output['name']] = np.frombuffer(data[at:at + size], TYPES[output['datatype']]).reshape(
                output['shape'])
            at += size
        return results
