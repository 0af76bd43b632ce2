-- SPDX-License-Identifier: Apache-2.0
--
-- digits.c in Lua, with LuaJIT's FFI: luajit digits.lua MODEL IMAGES
local ffi = require('ffi')
ffi.cdef[[
typedef struct TfLiteModel TfLiteModel;
typedef struct TfLiteInterpreter TfLiteInterpreter;
typedef struct TfLiteTensor TfLiteTensor;
TfLiteModel* TfLiteModelCreateFromFile(const char* path);
void TfLiteModelDelete(TfLiteModel* model);
TfLiteInterpreter* TfLiteInterpreterCreate(const TfLiteModel* model, const void* options);
void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter);
int TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter);
int TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter);
TfLiteTensor* TfLiteInterpreterGetInputTensor(const TfLiteInterpreter* interpreter, int32_t index);
const TfLiteTensor* TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter* interpreter, int32_t index);
void* TfLiteTensorData(const TfLiteTensor* tensor);
const char* DeputyLastError(void);
]]
local deputy = ffi.load('libdeputy.so.1')

local function check(status)
  if status ~= 0 then error(ffi.string(deputy.DeputyLastError())) end
end

local model = deputy.TfLiteModelCreateFromFile(arg[1])
local interpreter = deputy.TfLiteInterpreterCreate(model, nil)
check(interpreter == nil and 1 or deputy.TfLiteInterpreterAllocateTensors(interpreter))
local input = ffi.cast('float*', deputy.TfLiteTensorData(
  deputy.TfLiteInterpreterGetInputTensor(interpreter, 0)))
local output = ffi.cast('const float*', deputy.TfLiteTensorData(
  deputy.TfLiteInterpreterGetOutputTensor(interpreter, 0)))

local file = assert(io.open(arg[2], 'rb'))
for pixels in function() return file:read(28 * 28) end do
  for i = 1, #pixels do input[i - 1] = pixels:byte(i) / 255 end
  check(deputy.TfLiteInterpreterInvoke(interpreter))
  local best = 0
  for i = 1, 9 do
    if output[i] > output[best] then best = i end
  end
  print(string.format('%d %.4f', best, output[best]))
end
file:close()
deputy.TfLiteInterpreterDelete(interpreter)
deputy.TfLiteModelDelete(model)
