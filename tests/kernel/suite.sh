#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: suite.sh BUILD [PATTERN...]
# The tests of gpuprobe on another kernel than the host's, run in a guest of
# boot.sh: POSIX sh and compiled programs, for under emulation an interpreter
# takes seconds to start. Runs the tests whose names match a PATTERN
# [*], prints `ok NAME` or `not ok NAME` for each, `N passed, N failed` at the
# end, and exits with 1 if any failed. `make test` leaves out those whose names
# begin with slow_: what they test has nothing to do with the kernel, and other
# tests run it.
HERE=$(cd "$(dirname "$0")" && pwd)
GPUPROBE=$(readlink -f "$1")/portable/gpuprobe
SIM=$(readlink -f "$1")/sim
shift
PATTERNS=${*:-*}
WORK=$(mktemp -d)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$HERE/lib.sh"

# --- links ---

# gpuprobe chooses by itself what every other test here uses, too: the best that there is.
chooses_links() {
	background
	case $LINKS in
	tracefs)
		something_attached
		grep -q ":gpuprobe_${probe}_" "$EVENTS"
		;;
	multi)
		nothing_attached
		bpftool prog list | grep ' name call_entry '
		bpftool prog list | grep ' name call_return '
		;;
	session)
		nothing_attached
		bpftool prog list | grep ' name call_session '
		;;
	esac
	finish
}

refuses_links() {
	status=0
	GPUPROBE_LINKS=$1 "$GPUPROBE" --duration 1 > out 2> err || status=$?
	test "$status" -eq 1
	grep "this kernel has no such links" err
	test "$(wc -l < err)" -eq 1
}

# What this kernel lacks has a name, and what gpuprobe uses in its place works.
check_tells() {
	"$GPUPROBE" check --libcuda-path "$SIM/libcuda.so.1" > out 2> err || {
		cat out
		return 1
	}
	for line in 'degraded  links: tracefs events' 'degraded  session: no session probes' \
		'degraded  copies: each copy from pageable memory' 'ok        tracefs: mounted' \
		'ok        probes: 64 calls' 'ok        seccomp: ' 'ok        iterator: ' \
		'ok        monitor: ' 'ok        tracer: ' 'ok        threads: ' \
		'ok        stacks: '; do
		grep "^$line" out
	done
	test ! -s err
}

# If probes cannot be taken out in time, the option is refused and not ignored; else it holds.
max_overhead() {
	status=0
	"$GPUPROBE" --max-overhead 5 --json --display-interval 0 --metrics-addr none -- \
		"$SIM/launch" --launches 10 > out 2> err || status=$?
	if [ "$LINKS" = tracefs ]; then
		test "$status" -eq 1
		grep -x 'gpuprobe: --max-overhead needs uprobe_multi links (Linux 6.6)' err
		return
	fi
	test "$status" -eq 0
	last_report out | grep '"max_overhead":0.05'
	keep out
}

# --- stacks ---

# Whose frame this kernel's own walk of the stack misses.
stacks_have_the_caller() {
	"$GPUPROBE" trace --format tsv -o stack -e cudaLaunchKernel -O lines -- \
		"$SIM/traced" --rounds 3
	test "$(grep -c '^runtime_round+0x[0-9a-f]* \[traced\] traced.c:' lines)" -eq 3
}

# stacks_of_leaks MODE: three allocations that are never freed.
stacks_of_leaks() {
	"$GPUPROBE" memleak --stack "$1" -- "$SIM/memory" --pairs 1 --keep 3 > leaks
	grep '12.0 KiB in 3 allocations leaked' leaks
	grep '^ *run_thread+0x[0-9a-f]* \[memory\] memory.c:' leaks
	! grep 'stack not known' leaks
}

# The only interpreter of the suite. Python has the names in its memory: it runs until a report has
# them.
stacks_of_python() {
	cat > hungry.py <<-END
		import ctypes, time
		cuda = ctypes.CDLL("$SIM/libcudart.so.13")
		def hungry():
		    cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4096))
		hungry()
		for _ in range(6000):
		    if "(hungry.py:4)" in open("leaks").read():
		        break
		    time.sleep(0.1)
	END
	"$GPUPROBE" memleak --interval 1 --stack fp -- \
		/usr/bin/python3 -S -E hungry.py > leaks 2> err
	grep '4.0 KiB in 1 allocation leaked' leaks
	grep '^ *hungry (hungry.py:4)$' leaks
	grep '^ *<module> (hungry.py:5)$' leaks
}

# Probe points of a framework's allocator, with semaphores.
# Handles of libraries that the process loads late, and calls that fail; no call of CUDA is added.
handles_of_libraries() {
	each_gone='{"created":20,"destroyed":20,"unknown_destroyed":0,"with_context":0,"live":0,'
	for library in cufft nccl; do
		"$GPUPROBE" memleak --json -- "$SIM/handles" $library leak 20 > handles
		grep "\"kind\":\"$library\",\"live\":20,\"made\":20," handles
	done
	grep '"function":"serve"' handles
	"$GPUPROBE" --json -- "$SIM/handles" nccl all 5 > handles
	grep "\"nccl\":$each_gone" handles
	"$GPUPROBE" --json -- "$SIM/handles" cublas fail 20 > handles
	grep "\"cublas\":$each_gone" handles
	grep '"errors":\[\]' handles
}

tensors_of_an_allocator() {
	"$GPUPROBE" memleak --json -- "$SIM/tensors" 30 20 > tensors
	grep '^50 tensors made, 50000 bytes, 30 live' tensors
	grep '"live":30,"live_bytes":30000,"allocations":50,"allocated_bytes":50000' tensors
	grep '"frees":20' tensors
	grep '"function":"keep"' tensors
	"$GPUPROBE" memleak --json --max-overhead 0.1 -- "$SIM/tensors" 3000 20000 > tensors
	grep '"live":3000,"live_bytes":3000000,"allocations":23000,' tensors
	grep '"sites_estimated":true' tensors
	"$GPUPROBE" snapshot -o memory.pickle -- "$SIM/tensors" 30 20 > tensors
	grep -q segment_alloc memory.pickle
	"$GPUPROBE" memleak --json --stack dwarf -- "$SIM/tensors" 30 20 > tensors
	grep '"live":30,"live_bytes":30000' tensors
}

# The report of an allocation that fails for good.
reports_out_of_memory() {
	CUDA_SIM_MEMORY=1G "$GPUPROBE" memleak -- "$SIM/faults" oom > leaks 2> err
	test "$(grep -c 'OUT OF MEMORY: process [0-9]* (faults)' err)" -eq 1
	grep '^    asked for: 2.0 GiB.*, by cu' err
	grep '^    this process: .*128.0 MiB by its calls' err # also if it has freed them
	grep '^    likely cause: one large request of 2.0 GiB$' err
}

flame_of_live_bytes() {
	"$GPUPROBE" flame --by live-bytes -o live.folded -- \
		"$SIM/memory" --pairs 1 --keep 3 > out 2> err
	grep 'run_thread;cudaMalloc 12288$' live.folded
	test "$(wc -l < live.folded)" -eq 1
}

# --- what a process is in, now ---

# dumped WORDS PID: a dump of the process has these words.
dumped() {
	"$GPUPROBE" dump -p "$2" > dump
	grep "$1" dump
}

dumps_a_wait() {
	CUDA_SIM_ASYNC=600s "$SIM/cuda_events_test" > workload.out &
	waiting=$!
	wait_until dumped ' in cudaEventSynchronize' "$waiting"
	kill -KILL "$waiting"
	wait "$waiting" || true
}

# The process has made no call since, and is in the report all the same.
call_from_before() {
	CUDA_SIM_ASYNC=600s "$SIM/cuda_events_test" > workload.out &
	waiting=$!
	wait_until dumped ' in cudaEventSynchronize' "$waiting"
	"$GPUPROBE" stat --json --duration 1 -p "$waiting" > out
	grep '"in_progress":\[{"function":"cu[a-z]*EventSynchronize".*"before_attach":true}\]' out
	kill -KILL "$waiting"
	wait "$waiting" || true
}

# Where the kernel has its own address in place of the call's return address.
dumps_what_is_watched() {
	background -- env CUDA_SIM_ASYNC=600s "$SIM/cuda_events_test"
	wait_until grep -q '"in_progress":\[{"function":"cu[a-z]*EventSynchronize"' out
	waiting=$(last_report out | grep -o '"pid":[0-9]*' | head -n 1 | cut -d : -f 2)
	wait_until dumped ' main (cuda_events_test.c:' "$waiting"
	grep ' in cudaEventSynchronize' dump
	kill -KILL "$waiting"
	wait "$probe" || true
}

dumps_python() {
	cat > idle.py <<-END
		import time
		def idle():
		    time.sleep(600)
		idle()
	END
	/usr/bin/python3 -S -E idle.py &
	waiting=$!
	wait_until dumped 'idle (idle.py:3)' "$waiting"
	kill -KILL "$waiting"
	wait "$waiting" || true
}

# --- COMMAND: held until its probes are in ---

passes_the_status_on() {
	status=0
	probe -- sh -c 'exit 7' || status=$?
	test "$status" -eq 7
	status=0
	probe -- sh -c 'kill -KILL $$' || status=$?
	test "$status" -eq 137
}

check_memory_failure() {
	grep '"allocation_failures":1,' out
	error='"error":"cudaErrorMemoryAllocation","code":2,"count":1,'
	grep '"function":"cudaMalloc","layer":"runtime",'"$error" out
}

# compare.py compares their number.
check_launch_failures() {
	last_report out | grep -o '"function":"cuLaunchKernel"[^}]*' > failures
	grep '"count":10,.*"sampled":false' failures
}

# The report says whether results of launches are not looked at; with the option they are.
unchecked_launches() {
	for option in '' --check-launches; do
		# shellcheck disable=SC2086 # an empty option is none
		"$GPUPROBE" --memleak --cudatrace --bandwidth-util --metrics-addr none \
			--display-interval 0 $option -- \
			"$SIM/launch" --launches 10 --bad 5 > out 2> err
		grep 'total kernel launches: 15 calls of 1 kernel' out
		if [ "$LINKS" = session ] || [ -n "$option" ]; then
			grep 'cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1) x ' out
			test "$(grep -c 'whether launches failed' out)" -eq 0
		else
			grep '^whether launches failed was not looked at' out
			test "$(grep -c '^errors:' out)" -eq 0
		fi
	done
}

full_map_is_counted() {
	probe --display-interval 0 --max-allocations 16 -- "$SIM/memory" --pairs 1 --keep 100
	grep '"allocation_map_full":[1-9]' out
	grep '"device":{"allocations":101,' out
}

# --- processes that gpuprobe did not start ---

# Starts idle-holder, sets `holder` and waits until it is ready. A line to descriptor 4 makes it
# launch.
start_holder() {
	mkfifo holder.lines
	"$@" < holder.lines > holder.out &
	holder=$!
	exec 4> holder.lines
	wait_until grep -q READY holder.out
}

launches_seen() {
	shown "$holder" | grep -q "\"launches\":$1,"
}

since_attach() {
	start_holder "$SIM/idle-holder" --count 2 --launch 3 --then-launch 5
	background -p "$holder"
	echo >&4
	wait_until launches_seen 5
	# Memory of a process that was there before is not known, and that is said.
	shown "$holder" | grep '"since_attach":true'
	kill "$holder"
	wait "$holder" || true
	finish
}

# What /metrics tells is of the same calls as the reports.
whole_machine() {
	background --libcuda-path "$SIM/libcuda.so.1" --libcudart-path "$SIM/libcudart.so.13" \
		--metrics-addr 127.0.0.1:9100
	"$SIM/launch" --launches 500 --threads 2
	busybox wget -q -O page http://127.0.0.1:9100/metrics
	grep '^gpuprobe_kernel_launches_total{.*kernel="kernel_0".*} 1000' page
	"$SIM/memory" --pairs 50 --keep 2
	finish
	keep out
}

# A stranger that brings a library never seen: told by the record of its mapping, and marked.
stranger() {
	mkdir library
	cp "$SIM"/libcuda*.so.* "$SIM/idle-holder" library
	background
	start_holder ./library/idle-holder --then-launch 5
	wait_until grep -q '"driver":[1-9]' out
	echo >&4
	wait_until launches_seen 5
	shown "$holder" | grep '"since_attach":true'
	kill "$holder"
	wait "$holder" || true
	finish
}

deleted_library() {
	mkdir library
	cp "$SIM"/libcuda*.so.* "$SIM/idle-holder" library
	start_holder ./library/idle-holder --then-launch 5
	rm -r library
	background -p "$holder"
	echo >&4
	wait_until launches_seen 5
	kill "$holder"
	wait "$holder" || true
	finish
}

# Two mounts of one lower directory are one inode to the kernel's probes.
overlays() {
	mkdir lower
	cp "$SIM"/libcuda*.so.* "$SIM/launch" lower
	for mount in 1 2; do
		mkdir upper$mount work$mount merged$mount
		upper=$PWD/upper$mount work=$PWD/work$mount
		mount -t overlay -o "lowerdir=$PWD/lower,upperdir=$upper,workdir=$work" \
			overlay merged$mount
	done
	probe --display-interval 0 -- \
		sh -c './merged1/launch --launches 10; ./merged2/launch --launches 10'
	umount merged1 merged2
	keep out
}

# --- all families ---

FAILURES="cuMemAlloc_v2:%7,cuMemFree_v2:%9,cuMemFreeAsync:%5,cuMemCreate:%4,cuMemUnmap:%3,\
cuMemcpyHtoDAsync_v2:%6,cuMemsetD8_v2:%4,cuLaunchKernel:%11,cuLaunchKernelEx:%5,cuGraphLaunch:%5,\
cuStreamCreate:%7,cuEventDestroy_v2:%3,cuStreamSynchronize:%5,cuCtxDestroy_v2:%3,\
cuModuleUnload:%4,cudaMalloc:%8"
MIX="export CUDA_SIM_DEVICES=3 CUDA_SIM_ASYNC=50us
	sim mix --threads 8 --seconds 2 --actions 2000 --children 2"

# --- the account of a run ---

# A loop that computes between its launches: sampled there, and nothing is lacking. It is followed
# after two seconds.
follows_threads() {
	"$GPUPROBE" diagnose --json -- "$SIM/steps" --steps 3000 --cpu 0.002 > out 2> err
	grep -o '"host":{"follows":true' out
	grep -o '"reasons":.*"kind":"on-cpu"' out
}

# Of a program that gets the library for them.
gpu_times() {
	CUDA_SIM_CLOCK=kernel=20us LD_LIBRARY_PATH=$SIM "$GPUPROBE" stat --gpu-times --json -- \
		"$SIM/launch" --launches 100 > out 2> err
	grep -o '"all_kernels":{"count":100,"without_time":0,"total_ns":2000000,' out
}

# The same, and what threads do in them.
nvtx_ranges() {
	LD_LIBRARY_PATH=$SIM "$GPUPROBE" stat --nvtx --json -- "$SIM/nvtx" --steps 30 > out 2> err
	grep -o '"name":"step","is_rest":false,"count":30,.*"launches":150,' out
}

# A line for each kernel that ran, with its call.
traces_gpu_times() {
	CUDA_SIM_CLOCK=kernel=20us LD_LIBRARY_PATH=$SIM "$GPUPROBE" trace --gpu-times \
		--format tsv -O lines -- "$SIM/launch" --launches 100 > out 2> err
	test "$(grep -c 'called=.*	20000	<gpu>$' lines)" -eq 100
}

# The same with GPU times, and as steps. A slow machine may lose the call of a piece of work.
nvtx_gpu_times() {
	CUDA_SIM_CLOCK=kernel=20us,copy=5us,set=2us,graph_node=1us LD_LIBRARY_PATH=$SIM \
		"$GPUPROBE" stat --gpu-times --steps-by step --json -- "$SIM/nvtx" --steps 30 \
		> out 2> err
	grep -o '"name":"step",.*"gpu":{"count":1[0-9][0-9],"total_ns":[23]' out
	grep -o '"steps":{"tid":[0-9]*,"range":"step","count":30,' out
}

# The same as lines of a trace.
nvtx_lines() {
	LD_LIBRARY_PATH=$SIM "$GPUPROBE" trace --nvtx --json -- "$SIM/nvtx" --steps 30 \
		--payloads 3 > out 2> err
	[ "$(grep -c '"event":"nvtxRangePop","details":{"name":"step"}' out)" = 30 ]
	[ "$(grep -c 'nvtxRangePop.*operation=7, root=-1' out)" = 6 ]
}

# With stacks, and with the probes for findings alone. Which findings there are depends on the time,
# which is different here.
diagnoses() {
	"$GPUPROBE" diagnose --json -- "$SIM/faults" "$1" > out 2> err
	last_report out | grep '"final":true' | grep '"findings":\['
}

account_in_text() {
	"$GPUPROBE" stat -- "$SIM/launch" --launches 100 --kernels 2 > out 2> err
	grep '^ *100 .* cuLaunchKernel$' out
	grep '^ *50 .* kernel_1$' out
}

# What has not returned is read from the threads of the kernel.
call_in_progress() {
	background -- env CUDA_SIM_ASYNC=600s "$SIM/cuda_events_test"
	wait_until grep -q '"in_progress":\[{"function":"cu[a-z]*EventSynchronize"' out
	kill -KILL "$(last_report out | grep -o '"pid":[0-9]*' | head -n 1 | cut -d : -f 2)"
	wait "$probe" || true
	# In the last report, or in one before that: whoever has been shown as ended leaves.
	call='"function":"cu[a-z]*EventSynchronize"'
	grep '"calls_in_progress":0,"in_progress":\[{'"$call"'.*"ended":true}\]' out
}

# --- recordings ---

# What was recorded is what happened: compare.py compares the recorded report with the truth, and
# the other commands have the same numbers of the same recording.
recorded_run() {
	"$GPUPROBE" record --level summary --interval 0.3 -o run.rec -- sh -c "
		$SIM/launch --launches 500 --threads 2
		$SIM/memory --pairs 50 --keep 2
		$SIM/copy --count 3 --threads 2" > workload.out 2> err
	"$GPUPROBE" -i run.rec --json --top 0 > out
	keep out
	for command in stat diagnose; do
		"$GPUPROBE" $command -i run.rec --json > report
		grep '"label":"kernel_0","launches":1000,' report
	done
	"$GPUPROBE" memleak -i run.rec > leaks
	grep '(memory) ended: 8.0 KiB in 2 allocations leaked' leaks
	"$GPUPROBE" flame -i run.rec --by launches --folded -o launches > graph.out 2> err
	test "$(awk '/;cuLaunchKernel/ { sum += $NF } END { print sum }' launches)" -eq 1000
	"$GPUPROBE" top -b -i run.rec > rows
	grep ' ended *launch' rows
	"$GPUPROBE" diff run.rec run.rec > difference
	grep '^no difference' difference
}

# All families, by threads and processes: their calls by function.
recorded_mix() {
	"$GPUPROBE" record --level summary --interval 0.3 -o run.rec -- \
		"$SIM/mix" --seed 4 --threads 4 --seconds 1 --children 2 > workload.out 2> err
	"$GPUPROBE" stat -i run.rec --json > out
	keep out
}

# A machine where no program calls CUDA, which only a guest is: 1 MB an hour at most.
slow_idle_recording() {
	"$GPUPROBE" record --level summary --duration 120 -o idle.rec 2> err
	bytes=$(wc -c < idle.rec)
	echo "$bytes bytes in 120 s, $((bytes * 30)) an hour"
	test "$((bytes * 30))" -le 1000000
}

# The lines of a recording are those of a trace.
recorded_calls() {
	"$GPUPROBE" record -q -o calls.rec -e launch,memory -- sh -c "
		$SIM/launch --threads 4 --launches 500
		$SIM/memory --pairs 100 --fail-frees 3" > workload.out
	"$GPUPROBE" trace --format tsv -i calls.rec > lines
	test "$(cut -f 9 lines | grep -c kernel_0)" -eq 2000
	test "$(grep -c 'cudaFree.*cudaErrorInvalidValue' lines)" -eq 3
	tail -n +2 lines | awk '$1 < before { exit 1 } { before = $1 }'
	"$GPUPROBE" trace -c -i calls.rec > summary
	grep ' 103 * 3 .* cudaFree$' summary
	"$GPUPROBE" export -i calls.rec --to chrome -o timeline.json
	test "$(grep -o '"name":"cudaLaunchKernel"' timeline.json | wc -l)" -eq 2000
}

# --- the tracer ---

# traced CALLS ARG...: gpuprobe trace with these arguments writes so many calls, in their order, and
# loses none.
traced() {
	calls=$1
	shift
	"$GPUPROBE" trace --format tsv -O lines "$@" > workload.out 2> err
	grep "written $calls calls, lost 0" err
	test "$(grep -vc '^#' lines)" -eq $((calls + 1))
	tail -n +2 lines | awk '$1 < before { exit 1 } { before = $1 }'
}

traces_launches() {
	traced 20000 -e launch -- "$SIM/launch" --threads 4 --launches 5000 --kernels 3
	test "$(cut -f 9 lines | grep -cx 'kernel_[0-2]')" -eq 20000
}

traces_nested() {
	traced 400 --nested -e 'cudaMalloc,cudaFree,cuMemAlloc_v2,cuMemFree_v2' -- \
		"$SIM/memory" --pairs 100
}

traces_entries() {
	"$GPUPROBE" trace --entry-return --format tsv -O lines -e launch -- \
		"$SIM/launch" --launches 500 > workload.out 2> err
	grep 'written 500 calls, lost 0' err
	test "$(grep -c '<entry>' lines)" -eq 500
	test "$(grep -c '<returned>' lines)" -eq 500
}

traces_failures() {
	"$GPUPROBE" trace --format tsv -O lines --failed -e memory -- \
		"$SIM/memory" --pairs 100 --fail-frees 3 > workload.out 2> err
	grep 'written 3 calls, lost 0' err
	test "$(grep -c 'cudaFree.*cudaErrorInvalidValue' lines)" -eq 3
	"$GPUPROBE" trace -c -e memory -- "$SIM/memory" --pairs 100 --fail-frees 3 > summary 2> err
	grep ' 103 * 3 .* cudaFree$' summary
}

# Calls of NCCL at their begin and at their end, and the stack of the rank that is missing.
names_the_missing_rank() {
	export TMPDIR=$PWD
	"$GPUPROBE" nccl --interval 0 --json -O report -- "$SIM/ranks" --ranks 2 --steps 20 \
		--shape split > workload.out 2> err
	grep '"final":true.*"sequence":20,.*"findings":\[\].*"lost_calls":0' report
	"$GPUPROBE" nccl --interval 0 --hang 3s -- "$SIM/ranks" --ranks 2 --steps 20 --at 3 \
		--rank 1 --fault host --block > found 2> err &
	watching=$!
	wait_until grep 'rank 1 is in .*stuck_in_host_code' found
	grep 'critical  nccl-hang: comm 0x' found
	grep 'rank 1 (pid .*) never came: its last was 9$' found
	for pid in $(sed -n 's/^rank . pid //p' found); do
		kill -KILL "$pid"
	done
	wait "$watching" || true
}

# What the process is in already: an iterator tells that no probe has seen the call begin.
traces_what_began_before() {
	CUDA_SIM_ASYNC=600s "$SIM/cuda_events_test" > workload.out &
	waiting=$!
	wait_until dumped ' in cudaEventSynchronize' "$waiting"
	"$GPUPROBE" trace --format tsv -O lines -p "$waiting" --duration 2 2> err
	test "$(grep -c 'cudaEventSynchronize.*<began before attach>' lines)" -eq 1
	grep 'written 0 calls, lost 0; 1 call had begun before attach' err
	kill -KILL "$waiting"
	wait "$waiting" || true
}

# --- copies in flight ---

in_flight() {
	background --top 0 -- "$SIM/copy" --count 1 --in-flight 5 --by-line
	wait_until grep -q '"in_flight":{"calls":5,' out
	printf '\n\n' >&3
	wait "$probe"
	keep out
}

# --- the end ---

# How many grace periods of RCU the kernel has ended since `count_grace_periods`.
grace_periods() {
	awk '$1 == "grace_period" { print $2 }' "${EVENTS%/*}/kprobe_profile"
}

count_grace_periods() {
	echo 'p:kprobes/grace_period rcu_gp_cleanup' > "${EVENTS%/*}/kprobe_events"
	echo 1 > "${EVENTS%/*}/events/kprobes/grace_period/enable"
}

# The time depends on the host; most of it is spent waiting for the kernel. With an event for each
# site it would be some grace periods for each.
ends_soon() {
	background --libcuda-path "$SIM/libcuda.so.1" --libcudart-path "$SIM/libcudart.so.13" \
		--api both
	sites=$(wc -l < "$EVENTS")
	events=$(cut -d ' ' -f 1 "$EVENTS" | sort -u | wc -l)
	if [ "$LINKS" = tracefs ]; then
		test "$sites" -gt 300
		test "$((events * 10))" -lt "$sites"
	fi
	count_grace_periods
	before=$(grace_periods)
	finish
	took=$(($(grace_periods) - before))
	echo "$sites sites of $events events, ended in $took grace periods"
	test "$took" -gt 0
	test "$took" -lt 1000
}

# Killed while COMMAND runs: COMMAND is not hurt, and the next gpuprobe clears what
# stayed, even where someone has enabled all events there are meanwhile: the kernel
# frees most sites of an event in use that is removed, and crashes.
killed() {
	background -- "$SIM/idle-holder" --launch 20 --then-launch 20
	wait_until grep -q '"launches":20' out
	holder=$(last_report out | grep -o '"pid":[0-9]*' | head -n 1 | cut -d : -f 2)
	kill -KILL "$probe"
	wait "$probe" || true
	if [ "$LINKS" = tracefs ]; then
		something_attached
		for enable in "${EVENTS%/*}"/events/gpuprobe_*/enable; do
			echo 1 > "$enable"
		done
	fi
	echo >&3
	wait_until grep -q DONE out
	probe --duration 0.1
	kill "$holder"
}

# Pids of another namespace are not its own: it must not take the events of a living gpuprobe for
# stale.
# The first report may come before all probes are in.
sites_stay() {
	before=$sites
	sites=$(wc -l < "$EVENTS")
	sleep 0.5
	[ "$sites" -gt 0 ] && [ "$sites" -eq "$before" ]
}

other_namespace() {
	start_holder "$SIM/idle-holder" --then-launch 5
	background -v -p "$holder"
	wait_until grep -q 'libcuda.*functions probed' err
	sites=0
	wait_until sites_stay
	unshare -pf --mount-proc "$GPUPROBE" --duration 0.2 --metrics-addr none \
		> nested 2> err-nested
	test "$(wc -l < "$EVENTS")" -eq "$sites"
	echo >&4
	wait_until launches_seen 5
	kill "$holder"
	wait "$holder" || true
	finish
}

no_programs() {
	bpftool prog list > programs
	names='call_|trace_|calls_in|mapping_exit|process_e|process_f|identity_of|look_at'
	! grep -E " name ($names)" programs
}

# The kernel takes its time to free them.
no_programs_left() {
	wait_until no_programs
}

kernel_is_content() {
	dmesg > messages
	status=0
	grep -E 'BUG:|Oops|WARNING: CPU|general protection' messages || status=$?
	test "$status" -eq 1
}

echo "# Linux $(uname -r)"
run chooses_links chooses_links
[ "$LINKS" != tracefs ] || run refuses_multi refuses_links multi
[ "$LINKS" = session ] || run refuses_session refuses_links session
run max_overhead max_overhead
[ "$LINKS" != tracefs ] || run check_tells check_tells

COUNT="--json --top 0 --metrics-addr none --display-interval 0"
# The first program meets the libraries; those of other ways to them follow.
together "$COUNT" \
	command_dlopen "sim dlopener --library $SIM/libcuda.so.1" \
	command_static_runtime "sim static_runtime" \
	launch_1_thread "sim launch --launches 20000 --kernels 3" \
	launch_4_threads "sim launch --threads 4 --launches 5000 --kernels 3" \
	launch_functions "sim launch --function ex
		sim launch --function cooperative
		sim launch --function graph --kernels 2
		sim launch --threads 2 --api driver
		sim launch --function ex --api driver
		sim launch --kernels 3 --name-length 4096" \
	memory_1_thread "sim memory --pairs 2000 --keep 5 --fail-frees 2 --null-frees 2" \
	memory_4_threads "sim memory --threads 4 --pairs 2000 --keep 2" \
	memory_kinds "sim memory --kind managed --keep 1
		sim memory --kind host --keep 1
		sim memory --kind pool --keep 1
		sim memory --kind pitch --keep 1
		sim memory --pairs 20 --double-free 3
		sim memory --threads 2 --keep 2 --api driver" \
	memory_failure "export CUDA_SIM_FAIL=cuMemAlloc_v2:3
		sim memory --pairs 20" \
	copies "sim copy --count 3 --threads 2
		sim copy --count 3 --threads 2 --api driver" \
	modules "sim modules --rounds 5
		sim modules --rounds 5 --api driver" \
	command_children "sim forker --processes 4
		sim forker --processes 2 --exec"
run launch_unchecked unchecked_launches

run slow_memory_full_map full_map_is_counted

run copies_in_flight in_flight

run recorded_run recorded_run
run recorded_mix recorded_mix
run recorded_calls recorded_calls
run slow_idle_recording slow_idle_recording

run trace_launches traces_launches
run trace_nested traces_nested
run trace_entries traces_entries
run trace_stacks stacks_have_the_caller
run memleak_frame_pointers stacks_of_leaks fp
run trace_failures traces_failures
run trace_before traces_what_began_before
run nccl_missing_rank names_the_missing_rank
run memleak_copies stacks_of_leaks dwarf
run stacks_of_python stacks_of_python
run memleak_tensors tensors_of_an_allocator
run memleak_handles handles_of_libraries
run memleak_out_of_memory reports_out_of_memory
run flame_of_live_bytes flame_of_live_bytes

together "stat --json" \
	command_ld_library_path "export LD_LIBRARY_PATH=$SIM
		sim dlopener" \
	account_graphs "sim launch --function graph --kernels 2" \
	account_mix "sim mix --seed 3 --threads 4 --seconds 1 --children 2"
run slow_account_in_text account_in_text
run call_in_progress call_in_progress
run dump_of_a_wait dumps_a_wait
run call_from_before call_from_before
run dump_of_what_is_watched dumps_what_is_watched
run dump_of_python dumps_python
run follows_threads follows_threads
run slow_gpu_times gpu_times
run slow_trace_gpu_times traces_gpu_times
run nvtx_ranges nvtx_ranges
run slow_nvtx_gpu_times nvtx_gpu_times
run nvtx_lines nvtx_lines
run account_diagnose diagnoses sync-after-every-launch

# All families at once, by threads and processes that die in the middle of calls.
together "$COUNT --check-launches" \
	launch_failures "sim launch --launches 100 --bad 5 --threads 2 --api driver" \
	mix "$MIX --seed 1" \
	mix_failures "export CUDA_SIM_FAIL='$FAILURES'
		$MIX --seed 2"

run slow_command_status passes_the_status_on

run process_since_attach since_attach
run process_whole_machine whole_machine
run process_stranger stranger
run file_deleted deleted_library
run file_overlays overlays

run ends_soon ends_soon
run killed killed
run other_namespace other_namespace
run no_programs_left no_programs_left
run kernel_is_content kernel_is_content

rm -rf "$WORK"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
