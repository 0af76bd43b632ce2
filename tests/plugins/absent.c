// SPDX-License-Identifier: Apache-2.0
//
// A library that a plug-in of broken.c needs and that the loader does not find.
__attribute__((visibility("default"))) int absent_function(void);

int absent_function(void) { return 1; }
