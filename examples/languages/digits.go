// SPDX-License-Identifier: Apache-2.0
//
// digits.c in Go, with cgo:
//
//	go build digits.go
package main

// #cgo pkg-config: deputy
// #include <stdlib.h>
// #include "deputy/deputy.h"
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: digits MODEL IMAGES")
		os.Exit(2)
	}
	images, err := os.ReadFile(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	model := C.TfLiteModelCreateFromFile(path)
	defer C.TfLiteModelDelete(model)
	interpreter := C.TfLiteInterpreterCreate(model, nil)
	defer C.TfLiteInterpreterDelete(interpreter)
	if C.TfLiteInterpreterAllocateTensors(interpreter) != C.kTfLiteOk {
		panic(C.GoString(C.DeputyLastError()))
	}
	input := C.TfLiteInterpreterGetInputTensor(interpreter, 0)
	output := C.TfLiteInterpreterGetOutputTensor(interpreter, 0)
	var values [28 * 28]float32
	var scores [10]float32
	for ; len(images) >= len(values); images = images[len(values):] {
		for i := range values {
			values[i] = float32(images[i]) / 255
		}
		C.TfLiteTensorCopyFromBuffer(input, unsafe.Pointer(&values), C.size_t(unsafe.Sizeof(values)))
		if C.TfLiteInterpreterInvoke(interpreter) != C.kTfLiteOk {
			panic(C.GoString(C.DeputyLastError()))
		}
		C.TfLiteTensorCopyToBuffer(output, unsafe.Pointer(&scores), C.size_t(unsafe.Sizeof(scores)))
		best := 0
		for i, score := range scores {
			if score > scores[best] {
				best = i
			}
		}
		fmt.Printf("%d %.4f\n", best, scores[best])
	}
}
