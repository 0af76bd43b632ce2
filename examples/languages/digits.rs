// SPDX-License-Identifier: Apache-2.0
//
// digits.c in Rust, without a crate:
//
//     rustc -O digits.rs $(pkg-config --libs deputy)
use std::ffi::{c_void, CString};
use std::os::raw::{c_char, c_int};

#[link(name = "deputy")]
extern "C" {
    fn TfLiteModelCreateFromFile(path: *const c_char) -> *mut c_void;
    fn TfLiteModelDelete(model: *mut c_void);
    fn TfLiteInterpreterCreate(model: *const c_void, options: *const c_void) -> *mut c_void;
    fn TfLiteInterpreterDelete(interpreter: *mut c_void);
    fn TfLiteInterpreterAllocateTensors(interpreter: *mut c_void) -> c_int;
    fn TfLiteInterpreterInvoke(interpreter: *mut c_void) -> c_int;
    fn TfLiteInterpreterGetInputTensor(interpreter: *const c_void, index: i32) -> *mut c_void;
    fn TfLiteInterpreterGetOutputTensor(interpreter: *const c_void, index: i32) -> *const c_void;
    fn TfLiteTensorCopyFromBuffer(tensor: *mut c_void, data: *const c_void, size: usize) -> c_int;
    fn TfLiteTensorCopyToBuffer(tensor: *const c_void, data: *mut c_void, size: usize) -> c_int;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: digits MODEL IMAGES");
        std::process::exit(2);
    }
    let images = std::fs::read(&arguments[2]).expect("the images");
    let path = CString::new(arguments[1].as_str()).expect("a path");
    unsafe {
        let model = TfLiteModelCreateFromFile(path.as_ptr());
        let interpreter = TfLiteInterpreterCreate(model, std::ptr::null());
        assert_eq!(TfLiteInterpreterAllocateTensors(interpreter), 0);
        let input = TfLiteInterpreterGetInputTensor(interpreter, 0);
        let output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
        let mut scores = [0f32; 10];
        for image in images.chunks_exact(28 * 28) {
            let values: Vec<f32> = image.iter().map(|&pixel| pixel as f32 / 255.0).collect();
            TfLiteTensorCopyFromBuffer(input, values.as_ptr().cast(), values.len() * 4);
            assert_eq!(TfLiteInterpreterInvoke(interpreter), 0);
            TfLiteTensorCopyToBuffer(output, scores.as_mut_ptr().cast(), 40);
            let best = (0..10).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
            println!("{} {:.4}", best, scores[best]);
        }
        TfLiteInterpreterDelete(interpreter);
        TfLiteModelDelete(model);
    }
}
