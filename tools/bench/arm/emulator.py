# SPDX-License-Identifier: Apache-2.0
"""Runs AArch64 programs in QEMU's user mode with the plug-in count_blocks.c."""
import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

from instructions import read_profile

FOLDER = pathlib.Path(__file__).resolve().parent
EMULATOR = 'qemu-aarch64'
COMPILER = 'aarch64-linux-gnu-gcc'


@dataclasses.dataclass(frozen=True)
class Cpu:
    """An emulated processor: QEMU's name, the part number and features of /proc/cpuinfo, from which
    XNNPACK chooses kernels, and llvm-mca's name of the processor for the estimate of cycles ('' for
    none)."""
    emulated: str
    part: int
    features: str
    simulated: str = ''


_V8 = 'fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid'
_V82 = _V8 + ' atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp'
_V86 = _V82 + ' jscvt fcma sha3 sha512 asimdfhm uscat ilrcpc flagm i8mm bf16 rng'
CPUS = {
    'cortex-a53': Cpu('cortex-a53', 0xd03, _V8),
    # QEMU 7.2 has no Cortex-A55, so this is a Cortex-A76 with the part number of a Cortex-A55.
    'cortex-a55': Cpu('cortex-a76', 0xd05, _V82, 'cortex-a55'),
    'cortex-a76': Cpu('cortex-a76', 0xd0b, _V82, 'neoverse-n1'),
    # Armv8.6 with I8MM and the part number of a Neoverse V1, without SVE and SME.
    'max': Cpu('max,sve=off,sme=off', 0xd40, _V86, 'neoverse-v1'),
}


def missing_tools():
    """Returns the names of the missing programs, or '' if this machine can count instructions."""
    programs = [EMULATOR, COMPILER, 'cc', 'llvm-mc-19', 'llvm-mca-19']
    missing = [program for program in programs if not shutil.which(program)]
    return ', '.join(missing)


def _run(command, environment=None):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise RuntimeError(f'{pathlib.Path(command[0]).name} failed with status {result.returncode}: '
                           f'{lines[-1] if lines else "no message"}')
    return result.stdout


def build_plugin(folder):
    """Compiles count_blocks.c in `folder` and returns the library."""
    library = folder / 'libcount_blocks.so'
    _run(['cc', '-O2', '-fPIC', '-shared', '-o', library, FOLDER / 'count_blocks.c'])
    return library


def build_program(source, program, *arguments):
    """Compiles a program for AArch64 and returns it."""
    _run([COMPILER, '-O2', '-o', program, source, *arguments])
    return program


def write_prefix(folder, root, cpu):
    """Creates a directory for QEMU's option -L and returns it: the libraries of `root` and files that
    describe a machine with one core. QEMU opens a file of this directory instead of the one of this
    machine; XNNPACK's cpuinfo does not understand the /proc/cpuinfo of x86-64."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / 'proc').mkdir(parents=True)
    (folder / 'proc' / 'cpuinfo').write_text(
        f'processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: {cpu.features}\nCPU implementer\t: 0x41\n'
        f'CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {cpu.part:#x}\nCPU revision\t: 1\n\n')
    cores = folder / 'sys' / 'devices' / 'system' / 'cpu'
    cores.mkdir(parents=True)
    for name in ('possible', 'present', 'online'):
        (cores / name).write_text('0\n')
    for name in ('lib', 'usr'):
        if (root / name).exists():
            (folder / name).symlink_to((root / name).resolve())
    return folder


def count(plugin, prefix, cpu, command, environment=None):
    """Runs `command` and returns its profile and its output. `cpu` is QEMU's name. `environment` is the
    complete environment of the program: the counts do not depend on the one of this process."""
    with tempfile.TemporaryDirectory() as folder:
        blocks = pathlib.Path(folder) / 'blocks'
        output = _run([shutil.which(EMULATOR), '-L', prefix, '-cpu', cpu, '-plugin', f'{plugin},out={blocks}',
                       *command], environment or {})
        with blocks.open(encoding='ascii') as file:
            return read_profile(file), output
