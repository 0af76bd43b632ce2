# SPDX-License-Identifier: Apache-2.0
"""Support for the tests of engines: JPEG images, a plain loop to compare with, and measurements.

The functions that workers run are in this module, because engines pickle functions by name.
"""
import argparse
import glob
import hashlib
import os
import pathlib
import signal
import sys
import threading
import time
import uuid

try:
    import numpy as np
    from PIL import Image
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is missing; make check-engines installs it')

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = str(ROOT / 'examples/digits/digits_float.tflite')
SIZE = 128
UNREADABLE_EVERY = 997  # Every 997th file is no image.
MARKER = 'DEPUTY_ENGINE_TEST'  # Environment variable that all processes of a test inherit.


def parse(description):
    """Returns the arguments of a test's program, and sets MARKER."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--images', type=int, default=10000, help='number of images (10000)')
    parser.add_argument('--work', type=pathlib.Path, default=ROOT / 'build/engines/work', help='folder for images')
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release', help="folder of the tests' plug-ins")
    parser.add_argument('--kills', type=int, default=2, help='runs in which a worker is killed (2)')
    arguments = parser.parse_args()
    os.environ[MARKER] = uuid.uuid4().hex
    # Workers import this module and the package from where this process does.
    os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, sys.path))
    return arguments


def paths_of_images(folder, count):
    """Writes `count` different JPEG files unless they exist, and returns their paths."""
    folder = folder / f'images-{count}'
    paths = [folder / f'{i:06d}.jpg' for i in range(count)]
    if not (folder / 'complete').exists():
        folder.mkdir(parents=True, exist_ok=True)
        y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
        for i, path in enumerate(paths):
            if is_unreadable(i):
                path.write_bytes(b'\xff\xd8\xff no image')
                continue
            random = np.random.default_rng(i)
            channels = [128 + 127 * np.sin(a * x + b * y + c) for a, b, c in random.uniform(0, 20, (3, 3))]
            Image.fromarray(np.stack(channels, -1).astype(np.uint8)).save(path, quality=90)
        (folder / 'complete').touch()
    return [str(path) for path in paths]


def is_unreadable(index):
    return index % UNREADABLE_EVERY == 5


def read_image(path):
    """Returns the input of the model for a file."""
    image = Image.open(path).convert('L').resize((28, 28))
    return np.asarray(image, np.float32)[..., np.newaxis] / np.float32(255)


def classify(outputs):
    """Returns the class, and a digest of all bits of the outputs."""
    scores = outputs['Identity']
    return {'digit': int(scores.argmax()), 'bits': hashlib.sha1(scores.tobytes()).hexdigest()}


def plain_loop(paths, library=None):
    """Returns the digests of the readable images by path, computed by the interpreter alone, with a delegate's
    library if one is given."""
    from deputy.interpreter import Interpreter, load_delegate
    delegates = [load_delegate(library)] if library else None
    interpreter = Interpreter(MODEL, num_threads=1, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    first = interpreter.get_input_details()[0]['index']
    last = interpreter.get_output_details()[0]['index']
    found = {}
    for i, path in enumerate(paths):
        if not is_unreadable(i):
            interpreter.set_tensor(first, read_image(path)[np.newaxis])
            interpreter.invoke()
            found[path] = classify({'Identity': interpreter.get_tensor(last)})['bits']
    return found


def crashing_delegate(build):
    """Returns a library, correct without options, and options with which it ends its process by a signal in its
    1000th call, after 500 images."""
    library = build / 'tests/plugins/libfaulty.so'
    check(library.exists(), f'{library} is missing')
    return str(library), {'fault': 'segv', 'in': 'invoke', 'call': 1000}


def check(condition, text):
    if not condition:
        sys.exit(f'FAILED: {text}')


def check_rows(rows, expected, paths):
    """Checks rows of (path, digest or None, error) against the plain loop."""
    check(len(rows) == len(paths), f'expected {len(paths)} rows, found {len(rows)}')
    check({path for path, _, _ in rows} == set(paths), 'an image is lost or occurs twice')
    good = {path: bits for path, bits, error in rows if not error}
    check(good == expected, f'{sum(good.get(path) != bits for path, bits in expected.items())} results differ')
    dead = {path: error for path, _, error in rows if error}
    check(set(dead) == set(paths) - set(expected), f'expected the unreadable images, found {sorted(dead)}')
    check(all('UnidentifiedImageError' in error for error in dead.values()), f'unexpected errors: {dead}')
    check(len(dead) >= len(paths) // UNREADABLE_EVERY, 'no image is unreadable')


class Log:
    """Files, one per process, to which workers append each image that they read."""

    def __init__(self, folder):
        self.folder = str(folder)
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name in self.names():
            os.remove(name)

    def names(self):
        return sorted(glob.glob(f'{self.folder}/*'))

    def lines(self):
        return [line for name in self.names() for line in pathlib.Path(name).read_text('utf-8').splitlines()]

    def kill_one_at(self, count):
        """Kills the process that has read the newest image once `count` images have been read. Returns
        a list that then has its id."""
        killed = []

        def wait():
            while len(self.lines()) < count:
                time.sleep(.01)
            for name in sorted(self.names(), key=os.path.getmtime, reverse=True):
                try:
                    os.kill(int(os.path.basename(name)), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                killed.append(name)
                return

        threading.Thread(target=wait, daemon=True).start()
        return killed


class LoggingReader:
    """read_image() for workers, with a line in the log's file of the process."""

    def __init__(self, folder):
        self._folder = folder

    def __call__(self, path):
        with open(f'{self._folder}/{os.getpid()}', 'a', encoding='utf-8') as file:
            file.write(path + '\n')
        return read_image(path)


def cpu_seconds():
    """Returns the processor time of all living processes of this test, by process."""
    mark = f'{MARKER}={os.environ[MARKER]}'.encode()
    seconds = {}
    for folder in glob.glob('/proc/[0-9]*'):
        try:
            with open(f'{folder}/environ', 'rb') as file:
                if mark not in file.read() and folder != f'/proc/{os.getpid()}':
                    continue
            with open(f'{folder}/stat', encoding='utf-8') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue
        seconds[folder] = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    return seconds


class Stopwatch:
    """Elapsed time and processor time of all processes of the test."""

    def __init__(self):
        self._cpu, self._wall = cpu_seconds(), time.perf_counter()

    def read(self):
        now = cpu_seconds()
        cpu = sum(value - self._cpu.get(process, 0) for process, value in now.items())
        return time.perf_counter() - self._wall, cpu


def report(engine, name, images, wall, cpu):
    load = os.getloadavg()[0]
    print(f'{engine}: {name}: {images} images, {wall:.1f} s, {cpu / images * 1e3:.3f} ms of processor time per image '
          f'(load {load:.1f})', flush=True)


def measure_plain(engine, paths):
    """Runs the plain loop; returns its results."""
    watch = Stopwatch()
    expected = plain_loop(paths)
    report(engine, 'plain loop', len(paths), *watch.read())
    return expected
