# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What the tests of suite.sh are made of. A test is a function, which runs with
# set -ex in a directory of its own, and fails with the first command that does
# or if it leaves a probe attached. Needs HERE, GPUPROBE, SIM, WORK and PATTERNS.

EVENTS=/sys/kernel/tracing/uprobe_events
passed=0
failed=0

# has MAJOR MINOR: this kernel is that one or newer.
has() {
	release=$(uname -r)
	major=${release%%.*}
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	[ "$major" -gt "$1" ] || { [ "$major" -eq "$1" ] && [ "$minor" -ge "$2" ]; }
}

# The links that gpuprobe is to choose here.
# shellcheck disable=SC2034 # the tests ask
if has 6 13; then
	LINKS=session
elif has 6 6; then
	LINKS=multi
else
	LINKS=tracefs
fi

# Centiseconds since boot.
uptime_cs() {
	read -r up _ < /proc/uptime
	echo "${up%%.*}${up#*.}"
}

# wait_until COMMAND...: until it succeeds; its output is dropped. The bound only ends a hang: the
# speed of the guest depends on what else the host does.
wait_until() {
	patience=$(($(uptime_cs) + 60000))
	until "$@"; do
		[ "$(uptime_cs)" -lt "$patience" ] || return 1
		sleep 0.1
	done 2> /dev/null
}

nothing_attached() {
	[ "$(wc -l < "$EVENTS")" -eq 0 ]
}

something_attached() {
	! nothing_attached
}

is_chosen() {
	set -f # a pattern is not to become the names of files
	# shellcheck disable=SC2254 # a pattern it is
	for pattern in $PATTERNS; do
		case $1 in
		$pattern)
			set +f
			return 0
			;;
		esac
	done
	set +f
	return 1
}

# What a failed test has left behind: the next one is not to pay for it.
clean_up() {
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/exe")" != "$GPUPROBE" ] || kill -KILL "${process#/proc/}"
	done
	wait_until remove_events || true
}

# In a shell of its own: the shell whose `:` cannot write ends.
remove_events() {
	(: > "$EVENTS")
}

# tell STATUS: the outcome of the test `test`, which has run since `started`.
tell() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok $test ($(($(uptime_cs) - started))0 ms)"
		rm -r "${WORK:?}/$test"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $test"
	tail -n 40 "$WORK/$test/log" | sed 's/^/# /'
	for file in "$WORK/$test"/err*; do
		[ ! -e "$file" ] || tail -n 20 "$file" | sed 's/^/# stderr: /'
	done
	clean_up
}

# run NAME FUNCTION [ARG...]: one test, if its name matches a pattern.
run() {
	test=$1
	shift
	is_chosen "$test" || return
	mkdir -p "$WORK/$test/truth"
	started=$(uptime_cs)
	(
		set -ex
		cd "$WORK/$test"
		export CUDA_SIM_TRUTH="$PWD/truth/%p.%u.json"
		"$@"
		nothing_attached
	) > "$WORK/$test/log" 2>&1 < /dev/null
	tell $?
}

# What a shell is to do of the test `test`: its commands, and then to write their status.
commands_of() {
	cat <<-END
		(
			set -ex
			cd $WORK/$test
			export CUDA_SIM_TRUTH=$WORK/$test/truth/%p.%u.json
			$1
		) > $WORK/$test/log 2>&1
		echo \$? > $WORK/$test/status
	END
}

# Whether the test `test` of those run together has passed: its commands, gpuprobe and, if there is
# one, its own check of the report.
passed_together() {
	cd "$WORK/$test" || return
	ln -s ../together/out ../together/err .
	(
		set -ex
		test "$(cat status)" -eq 0
		test "$(cat ../together/status)" -eq 0
		keep out
		! command -v "check_$test" || "check_$test"
	) >> log 2>&1
}

# together "WORDS" NAME COMMANDS...: tests that one gpuprobe with these words runs, one after the
# other, since its start takes longer than they do. COMMANDS call `sim WORKLOAD [ARG...]`. The parts
# of the report are told apart by pid. The time of all counts as that of the first.
together() {
	words=$1
	shift
	chosen=
	mkdir "$WORK/together"
	echo "sim() { program=\$1; shift; $SIM/\$program \"\$@\"; }" > "$WORK/together/commands"
	while [ $# -gt 0 ]; do
		test=$1
		if is_chosen "$test"; then
			mkdir -p "$WORK/$test/truth"
			commands_of "$2" >> "$WORK/together/commands"
			chosen="$chosen $test"
		fi
		shift 2
	done
	started=$(uptime_cs)
	if [ -n "$chosen" ]; then
		(
			cd "$WORK/together" || exit
			# shellcheck disable=SC2086 # words they are
			"$GPUPROBE" $words -- sh commands > out 2> err && nothing_attached
		) < /dev/null
		echo $? > "$WORK/together/status"
	fi
	for test in $chosen; do
		(passed_together)
		tell $?
		started=$(uptime_cs)
	done
	rm -r "${WORK:?}/together"
}

last_report() {
	grep '^{"schema"' "$1" | tail -n 1
}

# shown PID: what the last report in `out` tells of a process, in a line.
shown() {
	last_report out | sed 's/{"pid":/\n&/g' | grep "^{\"pid\":$1,"
}

# keep FILE: keeps its reports and the truth files, which compare.py on the host compares.
keep() {
	test -n "$(ls truth)"
	mkdir -p "/run/output/$test"
	grep '^{"schema"' "$1" > "/run/output/$test/reports"
	cp -r truth "/run/output/$test"
}

# gpuprobe as most tests use it: reports to `out`, messages to `err`.
probe() {
	"$GPUPROBE" --json --top 0 --metrics-addr none "$@" > out 2> err
}

# Starts gpuprobe beside the test, with its reports in `out`, and waits for the
# first, which comes when all is attached. Sets `probe`. Lines that are written to
# descriptor 3 COMMAND reads.
background() {
	mkfifo lines
	"$GPUPROBE" --json --metrics-addr none --display-interval 0.3 "$@" < lines > out 2> err &
	probe=$!
	exec 3> lines
	wait_until grep -q '^{"schema"' out
}

# Interrupts the gpuprobe of `background` and waits for its final report.
finish() {
	kill -INT "$probe"
	wait "$probe"
	last_report out | grep '"final":true' > final
}
