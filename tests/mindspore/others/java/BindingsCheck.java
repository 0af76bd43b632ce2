// SPDX-License-Identifier: Apache-2.0

import static org.junit.Assert.*;

import com.mindspore.MSTensor;
import com.mindspore.Model;
import com.mindspore.ModelParallelRunner;
import com.mindspore.config.DataType;
import com.mindspore.config.DeviceType;
import com.mindspore.config.MSContext;
import com.mindspore.config.ModelType;
import com.mindspore.config.RunnerConfig;

import org.junit.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;

/** Calls functions of MindSpore Lite's Java API that its own tests do not call. */
public class BindingsCheck {
    private static final String MODEL = "mobilenetv2.ms";

    private static MSContext cpu(int threads) {
        MSContext context = new MSContext();
        assertTrue(context.init(threads, 0));
        assertTrue(context.addDeviceInfo(DeviceType.DT_CPU, false));
        return context;
    }

    private static ByteBuffer image(float value) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(224 * 224 * 3 * 4).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) bytes.putFloat(value);
        bytes.rewind();
        return bytes;
    }

    private static void checkProbabilities(MSTensor output) {
        assertTrue(Arrays.equals(new int[] {1, 1001}, output.getShape()));
        float sum = 0;
        for (float value : output.getFloatData()) sum += value;
        assertEquals(1, sum, 1e-4);
    }

    @Test
    public void contextKeepsItsSettings() {
        MSContext context = new MSContext();
        assertTrue(context.init(3, 1, true));
        assertEquals(3, context.getThreadNum());
        assertEquals(1, context.getThreadAffinityMode());
        assertTrue(context.getEnableParallel());
        context.setThreadNum(2);
        assertEquals(2, context.getThreadNum());
        context.setInterOpParallelNum(2);
        assertEquals(2, context.getInterOpParallelNum());
        context.setThreadAffinity(0);
        assertEquals(0, context.getThreadAffinityMode());
        context.setThreadAffinity(new ArrayList<>(Arrays.asList(0, 1)));
        assertEquals(Arrays.asList(0, 1), context.getThreadAffinityCoreList());
        context.setEnableParallel(false);
        assertFalse(context.getEnableParallel());
        assertTrue(context.addDeviceInfo(DeviceType.DT_GPU, true));
        assertTrue(context.addDeviceInfo(DeviceType.DT_NPU, false, 3));
        context.free();
    }

    @Test
    public void modelPredicts() {
        Model model = new Model();
        assertTrue(model.build(MODEL, ModelType.MT_MINDIR_LITE, cpu(2)));
        MSTensor input = model.getInputs().get(0);
        assertEquals("graph_input-173", input.tensorName());
        assertTrue(Arrays.equals(new int[] {1, 224, 224, 3}, input.getShape()));
        assertEquals(DataType.kNumberTypeFloat32, input.getDataType());
        assertEquals(224 * 224 * 3, input.elementsNum());
        assertEquals(224 * 224 * 3 * 4, input.size());
        assertTrue(model.getInputByTensorName("graph_input-173") != null);
        assertTrue(model.getInputByTensorName("none") == null);
        assertTrue(input.setData(image(0.5f)));
        assertTrue(model.predict());
        checkProbabilities(model.getOutputByTensorName("Softmax-65"));
        checkProbabilities(model.getOutputsByNodeName("Softmax-65").get(0));
        assertEquals(Arrays.asList("Softmax-65"), model.getOutputTensorNames());
        assertEquals(1001 * 4, model.getOutputs().get(0).getByteData().length);
        model.free();
    }

    @Test
    public void modelRefusesTraining() {
        Model model = new Model();
        assertTrue(model.build(MODEL, ModelType.MT_MINDIR_LITE, cpu(1)));
        assertFalse(model.setTrainMode(true));
        assertFalse(model.getTrainMode());
        assertFalse(model.setLearningRate(0.1f));
        assertFalse(model.setupVirtualBatch(2, 1, 0.5f));
        assertEquals(0, model.getFeatureMaps().size());
        model.free();
    }

    @Test
    public void tensorsKeepTheirData() {
        int[] shape = {2, 3};
        ByteBuffer bytes = ByteBuffer.allocateDirect(24).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 6; i++) bytes.putInt(i * 7);
        MSTensor tensor = MSTensor.createTensor("t", DataType.kNumberTypeInt32, shape, bytes);
        assertEquals("t", tensor.tensorName());
        assertEquals(DataType.kNumberTypeInt32, tensor.getDataType());
        assertTrue(Arrays.equals(new int[] {0, 7, 14, 21, 28, 35}, tensor.getIntData()));
        assertEquals(6, tensor.elementsNum());
        assertEquals(24, tensor.getByteData().length);
        tensor.setShape(new int[] {3, 2});
        assertTrue(Arrays.equals(new int[] {3, 2}, tensor.getShape()));
        tensor.free();
    }

    @Test
    public void runnerConfigKeepsItsSettings() {
        RunnerConfig config = new RunnerConfig();
        assertTrue(config.init(cpu(1)));
        config.setWorkersNum(2);
        config.setConfigPath("runner.ini");
        assertEquals("runner.ini", config.getConfigPath());
        HashMap<String, String> entries = new HashMap<>();
        entries.put("key", "value");
        config.setConfigInfo("section", entries);
        config.setDeviceIds(new ArrayList<>(Arrays.asList(4, 5)));
        assertEquals(Arrays.asList(4, 5), config.getDeviceIds());
        config.free();
    }

    @Test
    public void runnerPredicts() {
        RunnerConfig config = new RunnerConfig();
        assertTrue(config.init(cpu(1)));
        config.setWorkersNum(2);
        ModelParallelRunner runner = new ModelParallelRunner();
        assertTrue(runner.init(MODEL, config));
        List<MSTensor> inputs = runner.getInputs();
        assertEquals(1, inputs.size());
        assertTrue(inputs.get(0).setData(image(0.25f)));
        List<MSTensor> outputs = new ArrayList<>();
        assertTrue(runner.predict(inputs, outputs));
        assertEquals(1, outputs.size());
        checkProbabilities(outputs.get(0));
        assertEquals(1, runner.getOutputs().size());
        runner.free();
    }

    @Test
    public void runnerRefusesAnAbsentModel() {
        ModelParallelRunner runner = new ModelParallelRunner();
        assertFalse(runner.init("absent.ms"));
    }
}
