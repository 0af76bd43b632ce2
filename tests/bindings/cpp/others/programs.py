# SPDX-License-Identifier: Apache-2.0
"""Programs and delegates of other projects that compile unchanged against Deputy's headers.

Each row of PROGRAMS names its origin, and the folders of the fetched sources that it needs:
    litert      github.com/google-ai-edge/LiteRT, folder tflite, commit f6745779
    ethosu      github.com/nxp-imx/tflite-ethosu-delegate-imx, commit 6fb32a1
    neutron     github.com/nxp-imx/tflite-neutron-delegate, commit f6ed0fc
    vx          github.com/VeriSilicon/tflite-vx-delegate, commit 3f4759e
    tim-vx      github.com/VeriSilicon/TIM-VX, commit 19ac74c: include
    libedgetpu  github.com/google-coral/libedgetpu, commit e35aed1
    secda       github.com/gicLAB/SECDA-TFLite, commit 9d42878: src
    nnstreamer  github.com/nnstreamer/nnstreamer, commit 5b13ea61
    opencv_style  github.com/Qengineering/TensorFlow_Lite_Classification_RPi_64-bits, commit 495a0b4
    debian      headers of libabsl-dev, libjsoncpp-dev and libglib2.0-dev, as dpkg-deb -x unpacks them
doubles/ has small headers that replace those of drivers, OpenCV, absl and other dependencies.
"""
import dataclasses
import importlib.util
import pathlib
import re
import shutil
import struct
import sysconfig
import typing

import builder


@dataclasses.dataclass
class Setting:
    sources: pathlib.Path
    build: pathlib.Path
    root: pathlib.Path
    products: pathlib.Path

    def builder(self, *includes, flags=()):
        return builder.Builder(self.build, self.products, [self.sources / path for path in includes],
                               list(flags))


@dataclasses.dataclass
class Program:
    name: str
    origin: str
    folders: tuple
    check: typing.Callable  # (test case, Setting)


def expect_compiled(case, made, sources):
    """Compiles each source; the test fails with the messages of those that do not compile."""
    case.assertTrue(sources)
    objects, failures = made.compile_all(sources)
    if failures:
        case.fail(f'{len(failures)} of {len(sources)} files do not compile\n' + '\n'.join(
            f'{source}:\n{text}' for source, text in failures.items()))
    return objects


def expect_run(case, command, **options):
    done = builder.run_with_limit(command, **options)
    case.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-builder.MAX_MESSAGE:])
    return done.stdout + done.stderr


def minimal(case, setting):
    folder = setting.sources / 'litert/tflite/examples/minimal'
    program = setting.builder().program('minimal', [folder / 'minimal.cc'])
    printed = expect_run(case, [program, setting.root / 'examples/digits/digits_int8.tflite'])
    case.assertIn('Post-invoke Interpreter State', printed)


def write_bmp(path, width, height, pixels):
    """Writes a greyscale bitmap of 8 bits a pixel; `pixels` begins with the uppermost row."""
    rows = [pixels[row * width:(row + 1) * width] for row in range(height - 1, -1, -1)]
    content = b''.join(row + bytes(-len(row) % 4) for row in rows)
    path.write_bytes(b'BM' + struct.pack('<IIIIiiHHIIiiII', 54 + len(content), 0, 54, 40, width, height, 1, 8,
                                         0, len(content), 2835, 2835, 0, 0) + content)


def example_reader(root):
    """Returns the module examples/classify.py, which reads the images of the examples."""
    spec = importlib.util.spec_from_file_location('classify', root / 'examples/classify.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources_in(folder, pattern='*.cc', skipped=()):
    return sorted(path for path in folder.glob(pattern) if path.name not in skipped)


def label_image_headers(setting):
    """Returns a folder in which upstream's headers of examples/label_image have their paths, old and new."""
    for name in ('tflite', 'tensorflow/lite'):
        link = setting.products / 'support' / name / 'examples'
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(setting.sources / 'litert/tflite/examples')
    return setting.products / 'support'


def label_image(case, setting):
    folder = setting.sources / 'litert/tflite/examples/label_image'
    made = setting.builder()
    made.includes.append(label_image_headers(setting))
    program = made.program('label_image', [folder / 'label_image.cc', folder / 'bitmap_helpers.cc'])
    digits = setting.root / 'examples/digits'
    for image in sorted((digits / 'images').glob('*.png'))[:8]:
        bitmap = setting.products / 'image.bmp'
        write_bmp(bitmap, *example_reader(setting.root).read_png(image))
        for model, scale in (('digits_float', '255'), ('digits_int8', '1')):
            printed = expect_run(case, [program, '--tflite_model', digits / f'{model}.tflite', '--image', bitmap,
                                        '--labels', digits / 'labels.txt', '--input_mean', '0', '--input_std',
                                        scale])
            best = re.findall(r'[0-9.]+: ([0-9]+) ([0-9]+)$', printed, re.MULTILINE)[0]
            label = image.stem.split('_')[1]
            case.assertEqual(best, (label, label), f'{image.name} with {model}: {printed}')


def my_delegate(case, setting):
    """Joins the two classes of the documentation, in the order in which they compile: the kernel before the
    delegate that creates it, inside namespace tflite, with their includes."""
    page = setting.sources / 'litert/tflite/g3doc/performance/implementing_delegate.md'
    blocks = re.findall(r'^```\n(.*?)^```$', page.read_text(encoding='utf-8'), re.MULTILINE | re.DOTALL)
    parts = [next(block for block in blocks if f'class {name} :' in block)
             for name in ('MyDelegateKernel', 'MyDelegate')]
    setting.products.joinpath('my_delegate.h').write_text(
        'namespace tflite {\n' + '\n'.join(parts) + '}  // namespace tflite\n', encoding='utf-8')
    made = setting.builder()
    made.includes.append(setting.products)
    program = made.program('my_delegate', [builder.HERE / 'my_delegate_main.cc'])
    expect_run(case, [program])


def ethosu(case, setting):
    made = setting.builder('ethosu', flags=[f"-I{sysconfig.get_path('include')}"])
    expect_compiled(case, made, sources_in(setting.sources / 'ethosu'))


def neutron(case, setting):
    """Compiles all files, and runs the delegate with a test double of its driver."""
    made = setting.builder('neutron')
    expect_compiled(case, made, sources_in(setting.sources / 'neutron'))
    program = made.program('neutron', [builder.HERE / 'neutron_main.cc',
                                       setting.sources / 'neutron/neutron_delegate.cc'])
    expect_run(case, [program])


def vx(case, setting):
    """Compiles all files against TIM-VX's headers, and runs the delegate with a test double of that library."""
    made = setting.builder('vx', 'tim-vx/include', 'debian/usr/include', 'debian/usr/include/jsoncpp')
    objects = expect_compiled(case, made, sources_in(setting.sources / 'vx'))
    json = sorted(pathlib.Path('/usr/lib').glob('*/libjsoncpp.so.*'))
    if not json:
        case.skipTest("VeriSilicon's delegate compiles, but links libjsoncpp, which is not installed")
    others, failures = made.compile_all([builder.HERE / 'tim_vx_double.cc', builder.HERE / 'vx_main.cc'])
    case.assertFalse(failures)
    objects += others
    expect_run(case, [made.link('vx', [*objects, made.stubs_of(objects, '3tim2vx|4absl')], '-no-pie', json[0])])


def libedgetpu(case, setting):
    """Runs the delegate and the kernel with libedgetpu's own registry of packages and a test double of its
    driver."""
    made = setting.builder('libedgetpu', 'debian/usr/include',
                           flags=['-DDARWINN_PORT_DEFAULT', '-DBUILD_EMBED_LABEL=""',
                                  '-DFLATBUFFERS_LOCALE_INDEPENDENT=0'])
    generate_edgetpu_schemas(case, setting)
    made.includes.append(setting.products)
    folder = setting.sources / 'libedgetpu'
    driver = [folder / 'driver' / f'{name}.cc' for name in (
        'aligned_allocator', 'allocator', 'device_buffer', 'device_buffer_mapper', 'executable_util',
        'instruction_buffers', 'package_registry', 'package_verifier')]
    api = [folder / 'api' / f'{name}.cc' for name in (
        'allocated_buffer', 'buffer', 'driver_factory', 'layer_information', 'tensor_util')]
    objects = expect_compiled(case, made, [
        *sources_in(folder / 'tflite'), *driver, *api, *sources_in(folder / 'port/default'),
        *sources_in(folder / 'port/default/port_from_tf'), builder.HERE / 'edgetpu_driver_double.cc',
        builder.HERE / 'edgetpu_main.cc'])
    absl = sorted((setting.sources / 'debian/usr/lib').glob('*/libabsl_*.a'))
    case.assertTrue(absl, 'libabsl-dev is not unpacked')
    expect_run(case, [made.link('edgetpu', [*objects, '-Wl,--start-group', *absl, '-Wl,--end-group'])])


def generate_edgetpu_schemas(case, setting):
    for folder, name in (('executable', 'executable'), ('api', 'driver_options')):
        target = setting.products / folder
        target.mkdir(exist_ok=True)
        expect_run(case, ['flatc', '--cpp', '--gen-object-api', '--gen-mutable', '-o', target,
                          setting.sources / f'libedgetpu/{folder}/{name}.fbs'])


def secda(case, setting):
    """Compiles the adaptors and providers. The delegates themselves need the repository SECDA-tools and
    SystemC, and two adaptors a delegate that is not in the repository."""
    folder = setting.sources / 'secda/src/secda_delegates'
    sources = [path for path in sorted(folder.rglob('*.cc'))
               if path.name.endswith(('_adaptor.cc', '_provider.cc'))
               and 'bert_delegate' not in path.read_text(encoding='utf-8')]
    link = setting.products / 'support/tensorflow/lite/delegates/utils/secda_delegates'
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(folder)
    made = setting.builder()
    made.includes.append(setting.products / 'support')
    expect_compiled(case, made, sources)


def nnstreamer(case, setting):
    glib = 'debian/usr/include/glib-2.0'
    flags = ['TFLITE_VERSION_MAJOR=2', 'TFLITE_VERSION_MINOR=19', 'TFLITE_EXTERNAL_DELEGATE_SUPPORTED',
             'TFLITE_XNNPACK_DELEGATE_SUPPORTED', 'TFLITE_GPU_DELEGATE_SUPPORTED', 'TFLITE_INT8=1',
             'TFLITE_INT16=1', 'TFLITE_FLOAT16=1', 'TFLITE_COMPLEX64=1',
             'TFLITE_SUBPLUGIN_NAME="tensorflow2-lite"']
    made = setting.builder('nnstreamer/gst/nnstreamer/include', 'nnstreamer/gst/nnstreamer', glib,
                           'debian/usr/lib/x86_64-linux-gnu/glib-2.0/include',
                           flags=[f'-D{flag}' for flag in flags])
    folder = setting.sources / 'nnstreamer/ext/nnstreamer/tensor_filter'
    objects = expect_compiled(case, made, [folder / 'tensor_filter_tensorflow_lite.cc'])
    glib = sorted(pathlib.Path('/usr/lib').glob('*/libglib-2.0.so.0'))
    if not glib:
        case.skipTest("nnstreamer's filter compiles, but links libglib-2.0, which is not installed")
    made.flags.append('-DVERSION="2.6.0"')
    objects += expect_compiled(case, made, [
        setting.sources / 'nnstreamer/gst/nnstreamer/nnstreamer_plugin_api_util_impl.c',
        builder.HERE / 'nnstreamer_double.cc', builder.HERE / 'nnstreamer_main.cc'])
    objects.append(made.stubs_of(objects, '^_nnstreamer_|^_backtrace|^TfLiteGpu'))
    program = made.link('nnstreamer', objects, glib[0])
    for name, pixels in digit_images(setting):
        image = setting.products / 'image.raw'
        image.write_bytes(pixels)
        for model, properties in (('float', ''), ('float', 'NumThreads:2,Delegate:XNNPACK'), ('int8', '')):
            printed = expect_run(case, [program, setting.root / f'examples/digits/digits_{model}.tflite', image,
                                        properties])
            expected = expected_scores(setting, model)[name]
            scores = [float(line) for line in re.findall(r'^[01]\.\d{6}$', printed, re.MULTILINE)]
            case.assertEqual(len(scores), 30, printed)
            for frame in (scores[:10], scores[10:20], scores[20:]):
                case.assertEqual(frame.index(max(frame)), expected[0], f'{name} with {model}')
                case.assertAlmostEqual(max(frame), expected[1], 5, f'{name} with {model}')


def digit_images(setting):
    """Returns the names and pixels of the first eight digits of the examples."""
    reader = example_reader(setting.root)
    images = sorted((setting.root / 'examples/digits/images').glob('*.png'))[:8]
    return [(image.name, bytes(reader.read_png(image)[2])) for image in images]


def expected_scores(setting, model):
    """Returns the label and probability from the real TensorFlow Lite, per image."""
    lines = (setting.root / f'examples/digits/expected_{model}.txt').read_text(encoding='utf-8').splitlines()
    return {name: (int(label), float(score)) for name, label, score in map(str.split, lines)}


def opencv_style(case, setting):
    """Runs a classifier for the Raspberry Pi with a test double of OpenCV. The program reads fixed names of
    files in the current folder."""
    made = setting.builder()
    made.includes.append(label_image_headers(setting))
    maker = made.program('uint8_digits', [builder.HERE / 'uint8_digits_main.cc'])
    program = made.program('classify', [setting.sources / 'opencv_style/TensorFlow_Lite_Class.cpp'])
    digits = setting.root / 'examples/digits'
    expect_run(case, [maker, digits / 'digits_int8.tflite',
                      setting.products / 'mobilenet_v1_1.0_224_quant.tflite'])
    shutil.copy(digits / 'labels.txt', setting.products)
    for name, pixels in digit_images(setting):
        (setting.products / 'tabby.jpeg').write_bytes(b'P5 28 28 255\n' + pixels)
        printed = expect_run(case, [program], cwd=setting.products)
        label, score = expected_scores(setting, 'int8')[name]
        best = re.search(r'^output_size: 10\n(\S+) : (\d)$', printed, re.MULTILINE)
        case.assertTrue(best, printed)
        # The program prints quotients of the uint8 score and 255; the score's scale is 1/256.
        case.assertAlmostEqual(float(best[1]), score * 256 / 255, 5, name)
        case.assertEqual(int(best[2]), label, name)


PROGRAMS = (
    Program('minimal', "TensorFlow's examples/minimal", ('litert',), minimal),
    Program('label_image', "TensorFlow's examples/label_image", ('litert',), label_image),
    Program('my_delegate', 'the delegate of the documentation', ('litert',), my_delegate),
    Program('ethosu', "NXP's Ethos-U delegate", ('ethosu',), ethosu),
    Program('neutron', "NXP's Neutron delegate", ('neutron',), neutron),
    Program('vx', "VeriSilicon's delegate", ('vx', 'tim-vx', 'debian'), vx),
    Program('libedgetpu', "Coral's libedgetpu", ('libedgetpu', 'debian'), libedgetpu),
    Program('secda', "SECDA's delegates", ('secda/src',), secda),
    Program('nnstreamer', "nnstreamer's filter", ('nnstreamer', 'debian'), nnstreamer),
    Program('opencv_style', 'a classifier that uses OpenCV', ('opencv_style', 'litert'), opencv_style),
)
