// SPDX-License-Identifier: Apache-2.0
package org.junit.runner;

/** Replaces JUnit's annotation, without effect. */
public @interface RunWith {
    Class<?> value();
}
