// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Runs the tests of classes: prints "pass NAME" or "fail NAME: REASON" for each. */
public class Driver {
    public static void main(String[] classes) throws Exception {
        for (String name : classes) {
            Class<?> tests = Class.forName(name);
            for (Method method : tests.getDeclaredMethods()) {
                if (!method.isAnnotationPresent(org.junit.Test.class)) continue;
                String test = tests.getSimpleName() + "." + method.getName();
                try {
                    method.invoke(tests.getDeclaredConstructor().newInstance());
                    System.out.println("pass " + test);
                } catch (InvocationTargetException e) {
                    Throwable cause = e.getCause();
                    StackTraceElement[] trace = cause.getStackTrace();
                    String where = trace.length > 1 ? " at " + trace[1] : "";
                    System.out.println("fail " + test + ": " + cause + where);
                }
            }
        }
    }
}
