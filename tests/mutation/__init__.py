# SPDX-License-Identifier: Apache-2.0
"""What tests/mutate.py is made of: where a line can be changed (sites), the breakages that have
names (breakages), which tests should notice a change (selection), and how one is applied, built,
tested and undone (engine)."""
