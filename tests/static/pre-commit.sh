#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks the staged files: laid out as `make format` does it, a line of SPDX in each file, no
# complaint of shellcheck or pyflakes, no space at the end of a line. Takes some seconds. `make
# hooks` makes git run it before each commit; `git commit --no-verify` goes without.
set -uo pipefail

cd "$(git rev-parse --show-toplevel)" || exit 1
status=0

# staged PATTERN...: the staged files of these patterns that are still there.
staged() {
	git diff --cached --name-only --diff-filter=ACMR -z -- "$@"
}

# complain WHAT: what is read from stdin, if anything, is a fault.
complain() {
	local said
	said=$(cat)
	[ -n "$said" ] || return 0
	printf '%s:\n%s\n' "$1" "$said" >&2
	status=1
}

complain "not laid out (make format)" < <(staged '*.c' '*.h' |
	xargs -0r clang-format --dry-run 2>&1)
complain "without a line of SPDX" < <(staged '*.c' '*.h' '*.py' '*.sh' '*.mk' |
	xargs -0r grep -L 'SPDX-License-Identifier')
complain "shellcheck" < <(staged '*.sh' .ci/run |
	xargs -0r shellcheck --severity=warning --exclude=SC2034,SC2154 2>&1)
complain "pyflakes" < <(staged '*.py' | xargs -0r /usr/bin/python3 -m pyflakes 2>&1 |
	grep -v 'star import\|import \*')
complain "space at the end of a line" < <(git diff --cached --check -- ':!tests/fuzz/corpus' 2>&1 |
	grep -A1 'trailing whitespace')
exit "$status"
