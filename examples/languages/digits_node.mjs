// SPDX-License-Identifier: Apache-2.0
//
// digits.c in JavaScript, for Debian's Node, with the add-on of digits_node.c in this directory:
//
//     node digits_node.mjs MODEL IMAGES
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const deputy = createRequire(import.meta.url)('./digits_node.node');

const [modelPath, imagesPath] = process.argv.slice(2);
const model = deputy.open(modelPath);
const images = readFileSync(imagesPath);
for (let at = 0; at + 784 <= images.length; at += 784) {
  const values = Float32Array.from(images.subarray(at, at + 784), (pixel) => pixel / 255);
  const scores = deputy.run(model, values);
  const best = scores.indexOf(Math.max(...scores));
  console.log(`${best} ${scores[best].toFixed(4)}`);
}
