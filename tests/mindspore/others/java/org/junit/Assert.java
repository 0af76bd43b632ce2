// SPDX-License-Identifier: Apache-2.0
package org.junit;

/** Replaces JUnit's class: the functions that MindSpore Lite's tests call. */
public class Assert {
    public static void assertTrue(boolean value) {
        if (!value) throw new AssertionError("expected true");
    }

    public static void assertFalse(boolean value) {
        if (value) throw new AssertionError("expected false");
    }

    public static void assertNotNull(Object value) {
        if (value == null) throw new AssertionError("expected an object, found null");
    }

    public static void assertEquals(Object expected, Object found) {
        if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    public static void assertEquals(long expected, long found) {
        if (expected != found) throw new AssertionError("expected " + expected + ", found " + found);
    }

    public static void assertEquals(double expected, double found, double tolerance) {
        if (Math.abs(expected - found) > tolerance) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
