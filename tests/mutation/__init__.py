# SPDX-License-Identifier: Apache-2.0
"""Modules of tests/mutate.py: sites finds places where a line can be changed, breakages lists named
mutations, selection finds the tests that should detect a change, and engine applies, builds, tests and
undoes one."""
