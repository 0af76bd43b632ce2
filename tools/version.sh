#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the version, whose only place is project(… VERSION) in CMakeLists.txt.
sed -n 's/^project(deputy VERSION \([0-9.]*\).*/\1/p' "$(dirname "$0")/../CMakeLists.txt"
