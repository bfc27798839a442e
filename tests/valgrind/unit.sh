#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: unit.sh PROGRAM
# Runs a unit test under valgrind (run.sh) and prints valgrind's reports after the test's output.
set -u

GPUPROBE_REPORTS=$(mktemp -d)
export GPUPROBE_REPORTS
trap 'rm -r "$GPUPROBE_REPORTS"' EXIT
"$(dirname "$0")/run.sh" "$@"
status=$?
find "$GPUPROBE_REPORTS" -type f -exec cat {} +
exit $status
