// SPDX-License-Identifier: Apache-2.0
package org.junit;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Replaces JUnit's annotation; Driver runs the methods. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {}
