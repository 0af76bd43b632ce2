// SPDX-License-Identifier: Apache-2.0
//
// digits.c in JavaScript, for Node with the package koffi (npm install koffi):
//
//     node digits.mjs MODEL IMAGES
import { readFileSync } from 'node:fs';
import koffi from 'koffi';

const deputy = koffi.load('libdeputy.so.1');
const createModel = deputy.func('void* TfLiteModelCreateFromFile(const char* path)');
const deleteModel = deputy.func('void TfLiteModelDelete(void* model)');
const createInterpreter = deputy.func('void* TfLiteInterpreterCreate(void* model, void* options)');
const deleteInterpreter = deputy.func('void TfLiteInterpreterDelete(void* interpreter)');
const allocate = deputy.func('int TfLiteInterpreterAllocateTensors(void* interpreter)');
const invoke = deputy.func('int TfLiteInterpreterInvoke(void* interpreter)');
const inputTensor = deputy.func('void* TfLiteInterpreterGetInputTensor(void* interpreter, int index)');
const outputTensor = deputy.func('void* TfLiteInterpreterGetOutputTensor(void* interpreter, int index)');
const copyIn = deputy.func('int TfLiteTensorCopyFromBuffer(void* tensor, void* data, size_t size)');
const copyOut = deputy.func('int TfLiteTensorCopyToBuffer(void* tensor, void* data, size_t size)');
const lastError = deputy.func('const char* DeputyLastError()');

const [modelPath, imagesPath] = process.argv.slice(2);
const model = createModel(modelPath);
const interpreter = createInterpreter(model, null);
if (interpreter === null || allocate(interpreter) !== 0) throw new Error(lastError());
const input = inputTensor(interpreter, 0);
const output = outputTensor(interpreter, 0);
const images = readFileSync(imagesPath);
const scores = new Float32Array(10);
for (let at = 0; at + 784 <= images.length; at += 784) {
  const values = Float32Array.from(images.subarray(at, at + 784), (pixel) => pixel / 255);
  copyIn(input, values, values.byteLength);
  if (invoke(interpreter) !== 0) throw new Error(lastError());
  copyOut(output, scores, scores.byteLength);
  const best = scores.indexOf(Math.max(...scores));
  console.log(`${best} ${scores[best].toFixed(4)}`);
}
deleteInterpreter(interpreter);
deleteModel(model);
