// SPDX-License-Identifier: Apache-2.0
//
// digits.c in Java, with JNA (Debian: libjna-java):
//
//     java -cp /usr/share/java/jna.jar Digits.java MODEL IMAGES
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

public class Digits {
  public interface Deputy extends Library {
    Pointer TfLiteModelCreateFromFile(String path);
    void TfLiteModelDelete(Pointer model);
    Pointer TfLiteInterpreterCreate(Pointer model, Pointer options);
    void TfLiteInterpreterDelete(Pointer interpreter);
    int TfLiteInterpreterAllocateTensors(Pointer interpreter);
    int TfLiteInterpreterInvoke(Pointer interpreter);
    Pointer TfLiteInterpreterGetInputTensor(Pointer interpreter, int index);
    Pointer TfLiteInterpreterGetOutputTensor(Pointer interpreter, int index);
    Pointer TfLiteTensorData(Pointer tensor);
    String DeputyLastError();
  }

  public static void main(String[] arguments) throws Exception {
    Deputy deputy = Native.load("libdeputy.so.1", Deputy.class);
    Pointer model = deputy.TfLiteModelCreateFromFile(arguments[0]);
    Pointer interpreter = deputy.TfLiteInterpreterCreate(model, null);
    if (interpreter == null || deputy.TfLiteInterpreterAllocateTensors(interpreter) != 0) {
      throw new IllegalArgumentException(deputy.DeputyLastError());
    }
    Pointer input = deputy.TfLiteTensorData(deputy.TfLiteInterpreterGetInputTensor(interpreter, 0));
    Pointer output = deputy.TfLiteTensorData(deputy.TfLiteInterpreterGetOutputTensor(interpreter, 0));
    byte[] images = Files.readAllBytes(Path.of(arguments[1]));
    for (int at = 0; at + 784 <= images.length; at += 784) {
      for (int i = 0; i < 784; ++i) input.setFloat(4L * i, (images[at + i] & 255) / 255f);
      if (deputy.TfLiteInterpreterInvoke(interpreter) != 0) {
        throw new IllegalStateException(deputy.DeputyLastError());
      }
      float[] scores = output.getFloatArray(0, 10);
      int best = 0;
      for (int i = 1; i < 10; ++i) best = scores[i] > scores[best] ? i : best;
      System.out.printf(Locale.ROOT, "%d %.4f%n", best, scores[best]);
    }
    deputy.TfLiteInterpreterDelete(interpreter);
    deputy.TfLiteModelDelete(model);
  }
}
