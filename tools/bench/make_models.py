#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the whole networks that `make bench` times, float32 and full-integer int8.

    python tools/bench/make_models.py [--out FOLDER] [--force] [NET…]

MobileNetV2-1.0-224, an EfficientNet-Lite0 and ResNet-50, batch 1, with seeded random weights: the
time of an inference depends on the structure, not on the values of the weights. They are stored
outside of the tree, in ${XDG_CACHE_HOME:-~/.cache}/deputy-bench; existing files are kept. Needs
tools/requirements-bench.txt, about 3 GB of memory and some minutes.

The batch normalisations get the statistics of one random batch before they are folded. With their
initial values the activations of fifty random layers would shrink to denormals or overflow, and
neither int8 ranges nor float timings would be realistic.
"""
import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

SEED = 20250311
SIDE = 224
REPRESENTATIVES = 4


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "deputy-bench"


def efficientnet_lite0(tf):
    """EfficientNet-B0 as its authors reduced it for mobile devices: no squeeze-and-excite, ReLU6
    throughout, stem and head not scaled."""
    layers = tf.keras.layers

    def normed(x, activation=True):
        x = layers.BatchNormalization()(x)
        return layers.ReLU(max_value=6.0)(x) if activation else x

    def block(x, kernel, stride, expansion, channels):
        before = x
        if expansion > 1:
            x = normed(layers.Conv2D(x.shape[-1] * expansion, 1, use_bias=False)(x))
        x = normed(layers.DepthwiseConv2D(kernel, strides=stride, padding="same",
                                          use_bias=False)(x))
        x = normed(layers.Conv2D(channels, 1, use_bias=False)(x), activation=False)
        return layers.Add()([before, x]) if before.shape == x.shape else x

    inputs = layers.Input((SIDE, SIDE, 3))
    x = normed(layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False)(inputs))
    for kernel, stride, expansion, channels, repeats in (
            (3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3),
            (5, 1, 6, 112, 3), (5, 2, 6, 192, 4), (3, 1, 6, 320, 1)):
        for number in range(repeats):
            x = block(x, kernel, stride if number == 0 else 1, expansion, channels)
    x = normed(layers.Conv2D(1280, 1, use_bias=False)(x))
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(1000, activation="softmax")(x))


def mobilenet_v2(tf):
    return tf.keras.applications.MobileNetV2((SIDE, SIDE, 3), weights=None)


def resnet50(tf):
    return tf.keras.applications.ResNet50(input_shape=(SIDE, SIDE, 3), weights=None)


NETS = {"mobilenet_v2": mobilenet_v2, "efficientnet_lite0": efficientnet_lite0,
        "resnet50": resnet50}
FORMS = ("fp32", "int8")


def file_names(nets=NETS):
    return [f"{net}_{form}.tflite" for net in nets for form in FORMS]


def images(count, seed):
    """Returns random images with some structure: upscaled coarse noise plus weak fine noise."""
    import numpy as np

    random = np.random.default_rng(seed)
    coarse = random.uniform(-1, 1, (count, 14, 14, 3)).repeat(16, axis=1).repeat(16, axis=2)
    return (0.8 * coarse + 0.2 * random.uniform(-1, 1, coarse.shape)).astype(np.float32)


def settle_batch_norms(model):
    norms = [layer for layer in model.layers if hasattr(layer, "moving_variance")]
    for layer in norms:
        layer.momentum = 0.0
    model(images(4, SEED), training=True)


def convert(tf, model, integer):
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2)

    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(
        tf.TensorSpec([1, SIDE, SIDE, 3], tf.float32, name="image"))
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [convert_variables_to_constants_v2(function)])
    if integer:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: (
            [image[None]] for image in images(REPRESENTATIVES, SEED + 1))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def make(net, folder, force):
    """Writes the missing files of one net; imports TensorFlow only if a file is missing."""
    paths = {form: folder / f"{net}_{form}.tflite" for form in FORMS}
    missing = [form for form, path in paths.items() if force or not path.exists()]
    if not missing:
        return
    import tensorflow as tf

    tf.keras.utils.set_random_seed(SEED)
    model = NETS[net](tf)
    settle_batch_norms(model)
    folder.mkdir(parents=True, exist_ok=True)
    for form in missing:
        content = convert(tf, model, form == "int8")
        unfinished = paths[form].with_suffix(".part")
        unfinished.write_bytes(content)
        unfinished.replace(paths[form])
        print(f"created {paths[form]}: {len(content)} bytes", flush=True)
    tf.keras.backend.clear_session()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=cache_folder())
    parser.add_argument("--force", action="store_true", help="recreate existing files")
    parser.add_argument("nets", nargs="*", metavar="NET", help=", ".join(NETS))
    arguments = parser.parse_args()
    unknown = set(arguments.nets) - set(NETS)
    if unknown:
        sys.exit(f"unknown nets: {', '.join(sorted(unknown))}")
    for net in arguments.nets or NETS:
        make(net, arguments.out, arguments.force)


if __name__ == "__main__":
    main()
