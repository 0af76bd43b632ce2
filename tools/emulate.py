#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of a build on an emulated CPU with AVX-512, independent of the host's CPU.

    emulate.py [--cpu MODEL] [--timeout SECONDS] COMMAND...

    emulate.py 'build/release/tests/gemm_test --gtest_filter=*int8*' 'cat /proc/cpuinfo'

Boots Linux in Bochs, which emulates about ten million instructions per second: choose short tests,
and `DEPUTY_RANDOM_GRAPHS=1` for tests that support it. The boot takes a minute. Each COMMAND is a
line for the emulated shell, in a directory with the same path as the current one; files of the
repository that its words name are copied, programs with their shared objects. Prints the output and
returns the first status other than 0, or 1 if the time limit expires or the machine stops.

Needs Debian's bochs, bochs-term, busybox-static, isolinux, syslinux-common and xorriso. The kernel
is Debian's linux-image-cloud-amd64, downloaded once with apt-get into build/emulate and not
installed. Debian's Bochs 2.7 is built with a debugger and has no AVX512-BF16; version 3.0,
configured without the debugger (--enable-x86-64 --enable-evex --enable-handlers-chaining), is three
times as fast and supports --cpu sapphire_rapids: select it with --bochs.
"""
import argparse
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / 'build/emulate'
KERNEL_PACKAGE = 'linux-image-cloud-amd64'
BUSYBOX = '/bin/busybox'
BOCHS = pathlib.Path('/usr/share/bochs')
ISOLINUX = pathlib.Path('/usr/lib/ISOLINUX/isolinux.bin')
LOADER = pathlib.Path('/usr/lib/syslinux/modules/bios/ldlinux.c32')
NEEDED = {'/usr/bin/bochs': 'bochs', str(BOCHS / 'BIOS-bochs-latest'): 'bochsbios',
          '/usr/share/vgabios/vgabios.bin': 'vgabios',
          '/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_term_gui.so': 'bochs-term',
          BUSYBOX: 'busybox-static', str(ISOLINUX): 'isolinux', str(LOADER): 'syslinux-common',
          '/usr/bin/xorriso': 'xorriso'}
# Emulated instructions that Bochs counts as one second.
RATE = 100_000_000
MARK = 'emulate.py:'
INIT = f'''#!{BUSYBOX} sh
{BUSYBOX} mkdir -p /proc /sys /dev /tmp /bin
{BUSYBOX} --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec >/dev/ttyS0 2>&1 </dev/null
export PATH=/bin:/usr/bin HOME=/tmp
. /commands
sleep 3600
'''
SETTINGS = '''
display_library: term
config_interface: textconfig
cpu: model={cpu}, count=1, ips={rate}, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest={memory}, host={memory}
romimage: file={bochs}/BIOS-bochs-latest, options=fastboot
vgaromimage: file=/usr/share/vgabios/vgabios.bin
pci: enabled=1, chipset=i440fx
clock: sync=none, time0=utc
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path={folder}/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={folder}/serial
log: {folder}/log
panic: action=fatal
error: action=report
'''
# CPU features of Bochs that are hidden from Linux: FSRM, which Linux takes for fast moves of any
# length, although Bochs disables those; protection keys and compacted XSAVE, whose sizes in Bochs
# differ, so that Linux would disable AVX; and the time stamp counter, whose frequency is wrong. The
# remaining options save time.
KERNEL_OPTIONS = ('console=ttyS0 quiet clearcpuid=fsrm,pku,xsavec,xsaves tsc=unstable '
                  f'lpj={RATE // 250} acpi=off nosmp nolapic noapic nokaslr mitigations=off '
                  'audit=0 random.trust_cpu=on cryptomgr.notests 8250.nr_uarts=1 '
                  'i8042.noaux i8042.nokbd')


def fetched_kernel():
    """Returns Debian's newest kernel without hardware drivers."""
    found = sorted(CACHE.glob('boot/vmlinuz-*'))
    if not found:
        words = subprocess.run(['apt-cache', 'depends', KERNEL_PACKAGE], capture_output=True,
                               text=True, check=True).stdout
        name = re.search(r'Depends: (linux-image-\S+)', words)[1]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['apt-get', '-qq', 'download', name], cwd=folder, check=True)
            package = next(pathlib.Path(folder).iterdir())
            subprocess.run(['dpkg-deb', '-x', package, folder], check=True)
            shutil.copytree(pathlib.Path(folder, 'boot'), CACHE / 'boot')
        found = sorted(CACHE.glob('boot/vmlinuz-*'))
    return found[-1]


def shared_objects(path):
    result = subprocess.run(['ldd', path], capture_output=True, text=True)
    return re.findall(r'(/\S+) \(0x', result.stdout) if result.returncode == 0 else []


def files_of(commands, carried):
    """Returns absolute paths of the files named by words of the commands, and of their
    dependencies."""
    words = [word for command in commands for word in shlex.split(command)] + carried
    found = {}
    for word in [*words, BUSYBOX]:
        path = pathlib.Path(os.path.abspath(word))
        if not path.exists() or not path.is_relative_to(ROOT) and word not in [*carried, BUSYBOX]:
            continue
        for file in path.rglob('*') if path.is_dir() else [path]:
            if file.is_file():
                found[str(file)] = True
                found.update(dict.fromkeys(shared_objects(file)))
    return list(found)


def contents(path):
    data = pathlib.Path(path).read_bytes()
    if data[:4] != b'\x7fELF':
        return data
    with tempfile.NamedTemporaryFile() as copy:  # debug information is most of a test's size
        subprocess.run(['objcopy', '--strip-debug', path, copy.name], check=True)
        return pathlib.Path(copy.name).read_bytes()


def archive(files):
    """Returns a `cpio -H newc` archive of files {path: (mode, bytes)} and the current directory."""
    paths = [*files, os.getcwd() + '/.']
    folders = {str(parent) for path in paths for parent in pathlib.Path(path + 'x').parents} - {'/'}
    entries = [(path, 0o40755, b'') for path in sorted(folders)]
    entries += [(path, 0o100000 | mode, data) for path, (mode, data) in files.items()]
    entries.append(('/TRAILER!!!', 0, b''))
    out = bytearray()
    for number, (path, mode, data) in enumerate(entries):
        name = path[1:].encode() + b'\0'
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        out += b'070701' + b''.join(b'%08x' % field for field in fields) + name
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def guest_script(commands):
    lines = [f'cd {shlex.quote(os.getcwd())}']
    for number, command in enumerate(commands):
        lines += ['read before rest </proc/uptime',
                  f'sh -c {shlex.quote(command)}; status=$?; read after rest </proc/uptime',
                  f'echo "{MARK} {number} $status $before $after"']
    return '\n'.join(lines).encode() + b'\n'


def make_image(folder, kernel, commands, carried):
    files = {path: (os.stat(path).st_mode & 0o777, contents(path))
             for path in files_of(commands, carried)}
    files |= {'/init': (0o755, INIT.encode()), '/commands': (0o644, guest_script(commands))}
    disk = folder / 'disk'
    disk.mkdir()
    (disk / 'files').write_bytes(archive(files))
    shutil.copy(kernel, disk / 'kernel')
    shutil.copy(ISOLINUX, disk)
    shutil.copy(LOADER, disk)
    (disk / 'isolinux.cfg').write_text(
        f'default linux\nlabel linux\nkernel kernel\nappend initrd=files {KERNEL_OPTIONS}\n')
    subprocess.run(['xorriso', '-as', 'mkisofs', '-quiet', '-o', folder / 'boot.iso', '-b',
                    'isolinux.bin', '-c', 'boot.cat', '-no-emul-boot', '-boot-load-size', '4',
                    '-boot-info-table', disk], check=True, stderr=subprocess.DEVNULL)


def start(folder, arguments):
    (folder / 'settings').write_text(SETTINGS.format(
        cpu=arguments.cpu, rate=RATE, memory=arguments.memory, bochs=BOCHS, folder=folder))
    command = [arguments.bochs, '-q', '-f', folder / 'settings']
    text = subprocess.run([arguments.bochs, '--help'], capture_output=True, text=True)
    # Debian's build of Bochs has a debugger, which waits for a command.
    if ' -rc ' in text.stdout + text.stderr:
        (folder / 'debugger').write_text('continue\n')
        command += ['-rc', folder / 'debugger']
    # Bochs' display needs a terminal; its output is discarded.
    terminal, inner = pty.openpty()
    process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner,
                               env=os.environ | {'TERM': 'vt100'})
    os.close(inner)
    os.set_blocking(terminal, False)
    return process, terminal


def drain(terminal):
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


def lines_of(process, terminal, serial, deadline):
    """Yields the lines that the machine writes, until it is off or the time limit expires."""
    text = ''
    while True:
        running = process.poll() is None
        drain(terminal)
        if serial.exists():
            with open(serial, encoding='utf-8', errors='replace', newline='') as file:
                whole = file.read().replace('\r', '')
            *lines, _ = whole[len(text):].split('\n')
            for line in lines:
                text += line + '\n'
                yield line
        if not running or time.monotonic() > deadline:
            return
        time.sleep(0.5)


def run(folder, arguments):
    process, terminal = start(folder, arguments)
    worst, done = 0, 0
    try:
        deadline = time.monotonic() + arguments.timeout
        for line in lines_of(process, terminal, folder / 'serial', deadline):
            if not line.startswith(MARK):
                print(line, flush=True)
                continue
            number, status, before, after = line.removeprefix(MARK).split()
            millions = (float(after) - float(before)) * RATE / 1e6
            print(f'{MARK} {arguments.commands[int(number)]}: status {status}, '
                  f'{millions:.0f} million instructions', flush=True)
            worst, done = worst or int(status), done + 1
            if done == len(arguments.commands):
                return worst
    finally:
        process.kill()  # Bochs ignores SIGTERM
        process.wait()
        os.close(terminal)
    print(f'{MARK} stopped before the end of: {arguments.commands[done]}', file=sys.stderr)
    log = folder / 'log'
    if log.exists():
        print(''.join(log.read_text(errors='replace').splitlines(True)[-5:]), file=sys.stderr)
    return worst or 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('commands', nargs='+', metavar='COMMAND')
    parser.add_argument('--cpu', default='tigerlake',
                        help='one of bochs -help cpu (default: %(default)s)')
    parser.add_argument('--memory', type=int, default=1024, help='megabytes (default: %(default)s)')
    parser.add_argument('--timeout', type=int, default=1800, help='seconds (default: %(default)s)')
    parser.add_argument('--carry', action='append', default=[], metavar='FILE',
                        help='additional file or directory to copy')
    parser.add_argument('--bochs', default='bochs', help='path of the Bochs program')
    arguments = parser.parse_args()
    for file, package in NEEDED.items():
        if not pathlib.Path(file).exists():
            print(f'{MARK} Debian\'s package {package} is missing', file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_image(folder, fetched_kernel(), arguments.commands, arguments.carry)
        return run(folder, arguments)


if __name__ == '__main__':
    sys.exit(main())
