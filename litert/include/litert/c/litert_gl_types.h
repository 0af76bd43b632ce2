// SPDX-License-Identifier: Apache-2.0
//
// Types of OpenGL and EGL. They are those of the system's headers where the platform has OpenGL,
// and types of the same size elsewhere.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_GL_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_GL_TYPES_H_

#include <stdint.h>

#include "litert/c/litert_common.h"

#if LITERT_HAS_OPENGL_SUPPORT

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <GLES3/gl32.h>

typedef GLenum LiteRtGLenum;
typedef GLuint LiteRtGLuint;
typedef GLint LiteRtGLint;
typedef EGLContext LiteRtEglContext;
typedef EGLDisplay LiteRtEglDisplay;
typedef EGLSyncKHR LiteRtEglSyncKhr;
#define LITE_RT_EGL_NO_CONTEXT EGL_NO_CONTEXT
#define LITE_RT_EGL_NO_DISPLAY EGL_NO_DISPLAY

#else

typedef uint32_t LiteRtGLenum;
typedef uint32_t LiteRtGLuint;
typedef int32_t LiteRtGLint;
typedef struct LiteRtEglContextStruct* LiteRtEglContext;
typedef struct LiteRtEglDisplayStruct* LiteRtEglDisplay;
typedef struct LiteRtEglSyncKhrStruct* LiteRtEglSyncKhr;
#define LITE_RT_EGL_NO_CONTEXT ((LiteRtEglContext)0)
#define LITE_RT_EGL_NO_DISPLAY ((LiteRtEglDisplay)0)

#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_GL_TYPES_H_
