# SPDX-License-Identifier: Apache-2.0
"""A model on Deputy's OpenCL delegate, through the C API: its memory, its tasks and its kernels.

Needs Python's standard library only. Used by gpu_transfers.py.
"""
import ctypes
import os
import pathlib

POINTER, SIZE, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
# Values of enumerations of the C API.
REQUIRE_FULL = 2
MEMORY_OPENCL = 2
ATTRIBUTES_OF_BUFFER = 1
KEY_TYPE, KEY_SIZE = 1, 5
IO_INPUT = 1
CL_MEM_READ_WRITE = 1


class Allocation(ctypes.Structure):
    _fields_ = [("data", POINTER), ("bytes", SIZE)]


class MemoryRequirements(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("type", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("domain", ctypes.c_uint64), ("alignment", SIZE), ("padding", SIZE)]


class Buffer(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("type", ctypes.c_int32), ("file", ctypes.c_int32),
                ("object", POINTER), ("domain", ctypes.c_uint64), ("offset", SIZE),
                ("bytes", SIZE), ("size", SIZE)]


class DeviceEvent(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("first_node", ctypes.c_int32), ("node", ctypes.c_int32),
                ("name", ctypes.c_char_p), ("kernel", ctypes.c_char_p),
                ("queued_ns", ctypes.c_int64), ("begin_ns", ctypes.c_int64),
                ("duration_ns", ctypes.c_int64)]


MemoryTypeCallback = ctypes.CFUNCTYPE(None, POINTER, ctypes.POINTER(MemoryRequirements))
EventCallback = ctypes.CFUNCTYPE(None, POINTER, ctypes.POINTER(DeviceEvent))


class Failure(Exception):
    """A call of a library failed."""


class Library:
    """Functions of a library. A call without a declared result returns nothing; one that returns a
    status raises Failure if it is not 0."""

    def __init__(self, path, error=None):
        self.library, self.error = ctypes.CDLL(str(path)), error

    def reason(self):
        if self.error is None:
            return ""
        function = getattr(self.library, self.error)
        function.restype = ctypes.c_char_p
        return (function() or b"").decode()

    def call(self, name, *arguments, result=None):
        function = getattr(self.library, name)
        function.restype = result
        return function(*[ctypes.c_void_p(a) if a is None else a for a in arguments])

    def check(self, name, *arguments):
        status = self.call(name, *arguments, result=INT)
        if status != 0:
            raise Failure(f"{name}: status {status}: {self.reason()}")

    def make(self, name, *arguments):
        """Returns the pointer that the function returns."""
        made = self.call(name, *arguments, result=POINTER)
        if not made:
            raise Failure(f"{name}: {self.reason()}")
        return ctypes.c_void_p(made)


def array_of(texts):
    return (ctypes.c_char_p * len(texts))(*[os.fsencode(str(text)) for text in texts])


class Session:
    """An interpreter whose nodes all run in a delegate."""

    def __init__(self, build, model, options, batch):
        self.own = Library(pathlib.Path(build) / "libdeputy.so.1", "DeputyLastError")
        path = pathlib.Path(build) / "libdeputy_gpu.so"
        self.gpu = Library(path, "DeputyGpuLastError")
        self.closing = []
        try:
            self._open(path, model, options, batch)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        while self.closing:
            self.closing.pop()()

    def _later(self, library, name, *arguments):
        self.closing.append(lambda: library.call(name, *arguments, result=INT))

    def _open(self, path, model, options, batch):
        own = self.own
        plugin = own.make("DeputyPluginLoad", os.fsencode(path))
        self._later(own, "DeputyPluginRelease", plugin)
        self.delegate = own.make("DeputyPluginCreateDelegate", plugin, array_of(options),
                                 array_of(options.values()), SIZE(len(options)))
        self._later(own, "DeputyPluginDeleteDelegate", self.delegate)
        # The runtime's delegate has another address than the library's own, from which pinned memory
        # is allocated. Both share a context.
        self.allocator = self.gpu.make("tflite_plugin_create_delegate", array_of(options),
                                       array_of(options.values()), SIZE(len(options)), None)
        self.closing.append(lambda: self.gpu.call("tflite_plugin_destroy_delegate", self.allocator))
        loaded = own.make("TfLiteModelCreateFromFile", os.fsencode(model))
        self._later(own, "TfLiteModelDelete", loaded)
        self.interpreter = own.make("TfLiteInterpreterCreate", loaded, None)
        self._later(own, "TfLiteInterpreterDelete", self.interpreter)
        if batch is not None:
            self._resize(batch)
        own.check("TfLiteInterpreterModifyGraphWithDelegate", self.interpreter, self.delegate)
        own.check("TfLiteInterpreterAllocateTensors", self.interpreter)
        own.check("DeputyInterpreterCheckDelegation", self.interpreter, REQUIRE_FULL, None, None)

    def _resize(self, batch):
        tensor = self.tensors("Input")[0]
        count = self.own.call("TfLiteTensorNumDims", tensor, result=INT)
        shape = [self.own.call("TfLiteTensorDim", tensor, i, result=INT) for i in range(count)]
        self.own.check("TfLiteInterpreterResizeInputTensor", self.interpreter, 0,
                       (INT * count)(batch, *shape[1:]), count)

    # ---- Tensors ------------------------------------------------------------------------------------

    def tensors(self, kind):
        """Returns the tensors of a kind, "Input" or "Output"."""
        count = self.own.call(f"TfLiteInterpreterGet{kind}TensorCount", self.interpreter, result=INT)
        return [self.own.make(f"TfLiteInterpreterGet{kind}Tensor", self.interpreter, i)
                for i in range(count)]

    def indices(self, kind):
        return [self.own.call(f"TfLiteInterpreterGet{kind}TensorIndex", self.interpreter, i,
                              result=ctypes.c_int32) for i in range(len(self.tensors(kind)))]

    def sizes(self, kind):
        return [self.own.call("TfLiteTensorByteSize", tensor, result=SIZE)
                for tensor in self.tensors(kind)]

    def addresses(self, kind):
        return [self.own.make("TfLiteTensorData", tensor).value for tensor in self.tensors(kind)]

    def outputs(self):
        return [ctypes.string_at(address, size)
                for address, size in zip(self.addresses("Output"), self.sizes("Output"))]

    def invoke(self):
        self.own.check("TfLiteInterpreterInvoke", self.interpreter)

    # ---- Memory -------------------------------------------------------------------------------------

    def pinned(self, size):
        """Returns the address of pinned memory, which lives as long as the session."""
        memory = self.gpu.make("DeputyGpuAllocateHostMemory", self.allocator, SIZE(max(size, 1)))
        # Memory is freed after the interpreter.
        self.closing.insert(0, lambda: self.gpu.call("DeputyGpuFreeHostMemory", memory, result=INT))
        return memory.value

    def pin_tensors(self):
        for kind in ("Input", "Output"):
            for index, size in zip(self.indices(kind), self.sizes(kind)):
                allocation = Allocation(self.pinned(size), max(size, 1))
                self.own.check("TfLiteInterpreterSetCustomAllocationForTensor", self.interpreter,
                               index, ctypes.byref(allocation), ctypes.c_int64(0))
        self.own.check("TfLiteInterpreterAllocateTensors", self.interpreter)

    def domain(self):
        """Returns the address of the delegate's cl_context."""
        domains = []

        def add(_, given):
            if given.contents.type == MEMORY_OPENCL:
                domains.append(given.contents.domain)

        self.own.check("DeputyInterpreterListMemoryTypes", self.interpreter, 0,
                       self.indices("Input")[0], MemoryTypeCallback(add), None)
        if not domains:
            raise Failure("the delegate has no memory of OpenCL")
        return domains[0]

    def bind_device_buffers(self):
        """Binds all inputs and outputs to buffers on the device. The contents are undefined."""
        opencl = Library(os.environ.get("DEPUTY_OPENCL_LIBRARY") or "libOpenCL.so.1")
        domain = self.domain()
        self.own.call("TfLiteSetAllowBufferHandleOutput", self.interpreter, ctypes.c_bool(True))
        for kind in ("Input", "Output"):
            for index, size in zip(self.indices(kind), self.sizes(kind)):
                code = INT(0)
                memory = opencl.call("clCreateBuffer", ctypes.c_void_p(domain),
                                     ctypes.c_uint64(CL_MEM_READ_WRITE), SIZE(max(size, 1)), None,
                                     ctypes.byref(code), result=POINTER)
                if not memory:
                    raise Failure(f"clCreateBuffer: error {code.value}")
                buffer = Buffer(ctypes.sizeof(Buffer), MEMORY_OPENCL, -1, memory, domain, 0, size,
                                size)
                self.own.check("DeputyInterpreterBindBuffer", self.interpreter, 0, index,
                               ctypes.byref(buffer))
                # The delegate has a reference of its own.
                opencl.call("clReleaseMemObject", ctypes.c_void_p(memory), result=INT)

    # ---- Tasks --------------------------------------------------------------------------------------

    def runner(self):
        made = self.own.make("TfLiteInterpreterGetAsyncSignatureRunner", self.interpreter, None)
        self._later(self.own, "TfLiteAsyncSignatureRunnerDelete", made)
        return made

    def task(self, runner, memory):
        """Returns a task on host memory: addresses of the inputs, then of the outputs."""
        own = self.own
        task = own.make("TfLiteAsyncSignatureRunnerCreateTask", runner)
        self._later(own, "TfLiteAsyncSignatureRunnerFinish", runner, task)
        indices = self.indices("Input") + self.indices("Output")
        sizes = self.sizes("Input") + self.sizes("Output")
        for index, size, address in zip(indices, sizes, memory):
            attributes = own.make("TfLiteAttributeMapCreate", ATTRIBUTES_OF_BUFFER)
            own.call("TfLiteAttributeMapSetStringBufferAttr", attributes, KEY_TYPE, b"host_memory")
            own.call("TfLiteAttributeMapSetSizeTBufferAttr", attributes, KEY_SIZE, SIZE(size))
            buffer = own.make("TfLiteBackendBufferCreate")
            own.call("TfLiteBackendBufferSetPtr", buffer, ctypes.c_void_p(address))
            handle = INT(-1)
            own.check("TfLiteAsyncSignatureRunnerRegisterBuffer", runner, IO_INPUT, buffer,
                      attributes, ctypes.byref(handle))
            own.check("TfLiteExecutionTaskSetBufferByIndex", task, index, handle)
            own.call("TfLiteBackendBufferDelete", buffer)
            own.call("TfLiteAttributeMapDelete", attributes)
        return task

    def start(self, runner, task):
        self.own.check("TfLiteAsyncSignatureRunnerInvokeAsync", runner, task)

    def wait(self, runner, task):
        self.own.check("TfLiteAsyncSignatureRunnerWait", runner, task)

    # ---- Kernels ------------------------------------------------------------------------------------

    def kernel_ns(self):
        """Returns the nanoseconds of kernels, without copies, since the last call. The delegate has
        the option profiling=1."""
        durations = []

        def add(_, event):
            if event.contents.kernel:
                durations.append(event.contents.duration_ns)

        self.own.check("DeputyPluginTakeEvents", self.delegate, EventCallback(add), None)
        return sum(durations)
