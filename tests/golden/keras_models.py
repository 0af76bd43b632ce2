# SPDX-License-Identifier: Apache-2.0
"""Small Keras models converted by TensorFlow's converter: recurrent layers and a detector, in float32,
with int8 weights ("dynamic range") and fully quantised. The converter does not quantise constants of
fewer than 1024 elements, so the layers are at least that large.

    python tests/golden/keras_models.py FOLDER      writes keras_*.tflite there

Needs tensorflow-cpu (2.21 made the files in tests/data/streams) and tf_keras, whose LSTM the converter
fuses into one operator (that of Keras 3 becomes a loop); nothing else of tests/golden. `python
tests/golden streams` then records TFLite's results.
"""
import atexit
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile

try:
    import numpy as np
    import tensorflow as tf
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing: pip install tensorflow-cpu")

STEPS, FEATURES, IMAGE_SIZE = 5, 32, 32


def recurrent(layer):
    """A model from a sequence to a few classes."""
    x = tf.keras.Input((STEPS, FEATURES), batch_size=1)
    return tf.keras.Model(x, tf.keras.layers.Dense(4, activation="softmax")(layer(x)))


def lstm():
    two = tf.keras.Sequential([tf.keras.layers.LSTM(32, return_sequences=True),
                               tf.keras.layers.LSTM(8)])
    return recurrent(two)


def gru():
    return recurrent(tf.keras.layers.GRU(32))


def bidirectional():
    return recurrent(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(32)))


def unrolled():
    """Unrolls the loop, because the converter crashes when it calibrates one."""
    return recurrent(tf.keras.layers.LSTM(16, unroll=True))


def unrolled_gru():
    return recurrent(tf.keras.layers.GRU(16, unroll=True))


class Detector(tf.Module):
    """A backbone of depthwise convolutions, boxes around anchors, scores, and optionally non-maximum
    suppression; without it the centres of the boxes and the best scores."""

    def __init__(self, suppress=True):
        super().__init__()
        layers = tf.keras.layers
        x = tf.keras.Input((IMAGE_SIZE, IMAGE_SIZE, 3), batch_size=1)
        y = layers.Conv2D(16, 3, 2, "same", activation="relu6")(x)
        for channels, stride in ((32, 2), (32, 2), (32, 1)):
            z = layers.DepthwiseConv2D(3, stride, "same")(y)
            z = layers.ReLU(6.0)(layers.BatchNormalization()(z))
            z = layers.Conv2D(channels, 1)(z)
            y = layers.Add()([y, z]) if z.shape == y.shape else z
        low = layers.Conv2D(16, 3, 2, "same", activation="relu6")(y)
        boxes = [layers.Reshape((-1, 4))(layers.Conv2D(8, 3, 1, "same")(f)) for f in (y, low)]
        scores = [layers.Reshape((-1, 3))(layers.Conv2D(6, 3, 1, "same")(f)) for f in (y, low)]
        self.net = tf.keras.Model(x, [layers.Concatenate(1)(boxes),
                                      tf.keras.activations.sigmoid(layers.Concatenate(1)(scores))])
        self.suppress = suppress
        anchors = [(r / n, c / n, s) for n, s in ((4, 0.3), (2, 0.6)) for r in range(n)
                   for c in range(n) for s in (s, s * 1.4)]
        self.anchors = tf.constant(np.float32(anchors))

    @tf.function(input_signature=[tf.TensorSpec((1, IMAGE_SIZE, IMAGE_SIZE, 3), tf.float32)])
    def step(self, x):
        boxes, scores = self.net(x)
        centre = self.anchors[:, :2] + 0.1 * boxes[0, :, :2]
        half = 0.5 * self.anchors[:, 2:] * tf.exp(0.2 * boxes[0, :, 2:])
        corners = tf.concat([centre - half, centre + half], 1)
        best = tf.reduce_max(scores[0], 1)
        if not self.suppress:
            return best, centre
        kept, strength, count = tf.raw_ops.NonMaxSuppressionV5(
            boxes=corners, scores=best, max_output_size=8, iou_threshold=0.4, score_threshold=0.3,
            soft_nms_sigma=0.0, pad_to_max_output_size=True)
        return tf.gather(corners, kept), kept, strength, count


def sample(shape, seed):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def convert(converter, shape, how):
    if how != "f32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if how == "i8":
        converter.representative_dataset = lambda: ([sample(shape, n)] for n in range(40))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8,
                                               tf.lite.OpsSet.TFLITE_BUILTINS]
    return converter.convert()


def of_keras(model, shape):
    """Converts a model with its weights as constants."""
    function = tf.function(model, input_signature=[tf.TensorSpec(shape, tf.float32)])
    return tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])


def of_module(module, shape):
    del shape
    return tf.lite.TFLiteConverter.from_concrete_functions([module.step.get_concrete_function()])


def of_saved(model, shape):
    """Converts by way of a saved model, in which tf_keras marks LSTMs."""
    function = tf.function(model, input_signature=[tf.TensorSpec(shape, tf.float32)])
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)  # convert() reads it
    model.save(folder, save_format="tf", signatures=function.get_concrete_function())
    return tf.lite.TFLiteConverter.from_saved_model(folder)


SEQUENCE, IMAGE = (1, STEPS, FEATURES), (1, IMAGE_SIZE, IMAGE_SIZE, 3)
MODELS = {"lstm": (of_keras, lstm, SEQUENCE, ("f32", "dynamic")),
          "lstm_unrolled": (of_keras, unrolled, SEQUENCE, ("i8",)),
          "gru": (of_keras, gru, SEQUENCE, ("f32", "dynamic")),
          "gru_unrolled": (of_keras, unrolled_gru, SEQUENCE, ("i8",)),
          "bidirectional": (of_keras, bidirectional, SEQUENCE, ("dynamic",)),
          "detector": (of_module, Detector, IMAGE, ("f32", "dynamic")),
          "boxes": (of_module, lambda: Detector(False), IMAGE, ("i8",)),
          "fused_lstm": (of_saved, lstm, SEQUENCE, ("f32", "dynamic", "i8")),
          "fused_bidirectional": (of_saved, bidirectional, SEQUENCE, ("i8",))}


def write(path, name, how):
    tf.keras.utils.set_random_seed(1)
    converter, make, shape, _ = MODELS[name]
    path.write_bytes(convert(converter(make(), shape), shape, how))


def main(folder):
    """Converts each model in a process of its own, because the converter may crash."""
    for name, (make, _, _, forms) in MODELS.items():
        os.environ["TF_USE_LEGACY_KERAS"] = "1" if make is of_saved else "0"
        for how in forms:
            path = folder / f"keras_{name}_{how}.tflite"
            child = multiprocessing.get_context("spawn").Process(target=write,
                                                                 args=(path, name, how))
            child.start()
            child.join()
            print(path.name, path.stat().st_size if child.exitcode == 0 else "failed", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: keras_models.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
