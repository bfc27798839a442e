#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Writes the Grafana dashboards of gpuprobe's metrics to a folder: fleet, node and process.

usage: dashboards.py FOLDER        (make dashboards)

Series are by process, or by container, user or job (--metrics-by). Panels about programs take both:
series by process get the names of gpuprobe_process_info, and the others have theirs.
"""
import sys
from pathlib import Path

from grafana import annotation, dashboard, link, panel, row, text, variable

FLEET, NODE, PROCESS = "gpuprobe-fleet", "gpuprobe-node", "gpuprobe-process"
# The labels that tell one gpuprobe from another.
AGENT = "cluster, job, instance"
NAMES = "namespace, pod, container, user, slurm_job_id, slurm_sluid, pbs_job_id"
WHO = f"instance, {NAMES}, comm, pid"
# Those of gpuprobe_account_ series, which are by job and have no pid.
JOB = "user, slurm_job_id, pbs_job_id, namespace, pod, unit"
LEGEND = ("{{instance}} {{namespace}} {{pod}} {{container}} {{user}} {{slurm_job_id}} {{comm}} "
          "{{pid}}")
AT = 'cluster=~"$cluster", job=~"$job", instance=~"$instance"'
CHOSEN = ('namespace=~"$namespace", pod=~"$pod", user=~"$user", slurm_job_id=~"$slurm_job_id", '
          'pid=~"$pid"')
GPU_MEMORY = 'kind=~"device|managed|pool|array|physical"'
CRITICAL = 'severity="critical"'
RATE = "[$__rate_interval]"
PER_SECOND, BANDWIDTH, COUNT = "cps", "Bps", "short"
BY_GPU = "{{instance}} GPU {{gpu}}"
BY_PROCESS_ONLY = "With series by process only."


def of(series, *selectors):
    return f"{series}{{{', '.join([AT, *selectors])}}}"


def rate(series, *selectors):
    return f"rate({of(series, *selectors)}{RATE})"


def named(pattern, by, how="sum", chosen="", names=NAMES):
    """
    The sum by labels of programs. In the pattern, %s is where further selectors stand. If two
    processes had a pid within two minutes, one of them gives the names.
    """
    more = f", {chosen}" if chosen else ""
    return (f"{how} by ({by}) (\n  {pattern.replace('%s', '')}\n"
            f"    * on ({AGENT}, pid) group_left ({names})\n"
            f"    topk by ({AGENT}, pid) (1, gpuprobe_process_info{{{AT}{more}}})\n"
            f"  or\n  {pattern.replace('%s', more)}\n"
            f"    unless on ({AGENT}, pid) gpuprobe_process_info{{{AT}}}\n)")


def gauge_of(series, by=WHO, selectors="", how="sum", chosen="", offset=""):
    more = f", {selectors}" if selectors else ""
    return named(f"{series}{{{AT}{more}%s}}{offset}", by, how, chosen)


def rate_of(series, by=WHO, chosen="", window=RATE):
    function = "rate" if window == RATE else "increase"
    return named(f"{function}({series}{{{AT}%s}}{window})", by, "sum", chosen)


def risen(series, by):
    """
    Counters that rose in the time shown, with what they are now. An increase would miss programs
    that end soon: their first sample has it all.
    """
    latest = f"max_over_time({series}{{{AT}%s}}[$__range])"
    return named(f"({latest} unless {latest} == {series}{{{AT}%s}} offset $__range)", by) + " > 0"


def xid_table(links=()):
    latest = f"max_over_time({of('gpuprobe_xid_total')}[$__range])"
    return table(
        "Errors of GPUs (Xids)", "Errors that NVIDIA's driver reported in the time shown, with all "
        "so far. The runbook GpuprobeXid says what to do.", COUNT,
        [(f"sum by (instance, pci, xid) (\n  {latest}\n  unless {latest}\n    == "
          f"{of('gpuprobe_xid_total')} offset $__range\n) > 0", "errors")], 24, links=links)


def finding(series, by, chosen):
    """Series of findings have no comm of their own."""
    return named(f"{series}{{{AT}%s}}", by, "max", chosen, f"{NAMES}, comm")


def graph(title, description, unit, targets, width=12, **options):
    return panel("timeseries", title, description, unit, targets, width, **options)


def table(title, description, unit, targets, width=24, **options):
    return panel("table", title, description, unit, targets, width, **options)


def stat(title, description, expression, width=4, unit=COUNT, **options):
    return panel("stat", title, description, unit, [(expression, "")], width, **options)


TO_NODE = link("The node", NODE, ["instance"])
TO_PROCESSES = [
    link("The process", PROCESS, ["instance", "pid"]),
    link("The pod", PROCESS, ["namespace", "pod"]),
    link("The user's programs here", PROCESS, ["instance", "user"]),
    link("The Slurm job", PROCESS, ["slurm_job_id"])]
FINDINGS = annotation("Findings", f"{of('gpuprobe_finding_active')} == 1", "{{id}} {{pid}}")
# Without a pattern for all jobs: `up` has those of other exporters, too.
AGENTS = [variable("cluster", "Cluster", "gpuprobe_build_info"),
          variable("job", "Scrape job", 'gpuprobe_build_info{cluster=~"$cluster"}',
                   everything=None)]


def nodes(multi):
    return variable("instance", "Node",
                    'gpuprobe_build_info{cluster=~"$cluster", job=~"$job"}', multi)


def programs(links):
    """What each program holds and does, the largest first."""
    return [
        (f"topk(50, {gauge_of('gpuprobe_memory_live_bytes', selectors=GPU_MEMORY)})",
         "GPU memory"),
        (rate_of("gpuprobe_kernel_launches_total"), "launches/s"),
        (rate_of("gpuprobe_copy_bytes_total"), "copies"),
        (rate_of("gpuprobe_wait_seconds_total"), "threads that wait"),
        (rate_of("gpuprobe_errors_total"), "failed calls/s")], {
            "units": [PER_SECOND, BANDWIDTH, COUNT, PER_SECOND], "links": links}


def finding_table(width=24, chosen=""):
    return table(
        "Findings", "What gpuprobe holds against programs now. `gpuprobe diagnose --explain ID` "
        "says what a finding means and what helps.", COUNT,
        [(finding("gpuprobe_finding_active", f"id, severity, {WHO}", chosen) + " == 1",
          "active")], width, links=TO_PROCESSES)


def fleet():
    shown, how = programs([TO_NODE, *TO_PROCESSES])
    losses = of("gpuprobe_events_lost_total", 'reason!="ended_forgotten"')
    used, total = of("gpuprobe_gpu_memory_used_bytes"), of("gpuprobe_gpu_memory_total_bytes")
    before = gauge_of("gpuprobe_memory_live_bytes", selectors=GPU_MEMORY, offset=" offset 1h")
    idle = (gauge_of("gpuprobe_memory_live_bytes", selectors=GPU_MEMORY) + " > 0\nand "
            + before + " > 0\nunless "
            + rate_of("gpuprobe_kernel_launches_total", window="[1h]") + " > 0\nunless "
            + rate_of("gpuprobe_graph_launches_total", window="[1h]") + " > 0")
    return dashboard(FLEET, "gpuprobe: fleet", "All nodes: what needs attention, who holds GPU "
                     "memory, how much work there is.", [*AGENTS, nodes(True)], [FINDINGS], [
        row("Is gpuprobe well?"),
        stat("Nodes that answer", "gpuprobe answered Prometheus' latest scrape.",
             f"count({of('up')} == 1)"),
        stat("Nodes that do not answer", "The runbook GpuprobeDown says what to do.",
             f"count({of('up')} == 0) or vector(0)", wrong_from=1),
        stat("Nodes that lost events", "In the last hour: counters of these nodes are too low. "
             "The node's dashboard has the reasons.",
             f"count(sum by ({AGENT}) (increase({losses}[1h])) > 0) or vector(0)", wrong_from=1),
        stat("CUDA processes", "Including those that ended in the last two minutes, with series "
             "by process.",
             f"sum({of('gpuprobe_processes')} or {of('gpuprobe_process_info')})"),
        stat("GPUs", "GPUs of nodes with CUDA processes, by NVML.", f"count({total})"),
        stat("Critical findings", "The table below has them.",
             f"count({of('gpuprobe_finding_active', CRITICAL)} == 1)"
             " or vector(0)", wrong_from=1),
        row("What needs attention"),
        table("Alerts", "Alerts of gpuprobe.rules.yml that fire. docs/runbooks has a page for "
              "each.", COUNT,
              [(f"sum by (alertname, severity, id, {WHO}) "
                '(ALERTS{alertname=~"Gpuprobe.+", alertstate="firing", instance=~"$instance"})',
                "series")], 12, links=[TO_NODE]),
        finding_table(12),
        table("GPU memory held without work for an hour", "Programs that held GPU memory "
              "an hour ago, hold it now, and launched nothing meanwhile.", "bytes",
              [(idle, "GPU memory")], 12, links=[TO_NODE, *TO_PROCESSES]),
        table("Out of GPU memory", "Programs whose allocations failed for good in the time shown, "
              "with all such failures so far.", COUNT,
              [(risen("gpuprobe_out_of_memory_total", WHO), "failures")], 12,
              links=[TO_NODE, *TO_PROCESSES]),
        xid_table([TO_NODE]),
        table("GPUs by job and user", "GPUs that jobs hold on all nodes, and those without a CUDA "
              "call for 10 minutes; GPU time and memory over the time shown, whatever ended. "
              "Outside of jobs by user.", COUNT,
              [(f"sum by ({JOB}) ({of('gpuprobe_account_gpus')})", "GPUs"),
               (f"sum by ({JOB}) ({of('gpuprobe_account_idle_gpus')})", "idle GPUs"),
               (f"sum by ({JOB}) (increase({of('gpuprobe_account_gpu_seconds_total')}[$__range]))",
                "GPU time"),
               (f"sum by ({JOB}) "
                f"(increase({of('gpuprobe_account_memory_byte_seconds_total')}[$__range])) / 3600",
                "memory x hours")], 24, units=[COUNT, "s", "bytes"],
              links=[link("The user's programs", PROCESS, ["user"]),
                     link("The Slurm job", PROCESS, ["slurm_job_id"])]),
        row("GPU memory"),
        graph("GPU memory in use", "All programs together, by NVML.", "percentunit",
              [(f"{used} / {total}", BY_GPU)], max=1),
        graph("GPU memory by node", "What programs allocated and have not freed since gpuprobe "
              "attached.", "bytes",
              [(f"sum by (instance) ({of('gpuprobe_memory_live_bytes', GPU_MEMORY)})",
                "{{instance}}")], stacked=True),
        table("Largest programs", "The 50 that hold most GPU memory. A launch hands work to the "
              "GPU; it does not say how long the GPU works.", "bytes", shown, **how),
        row("Work"),
        graph("Launches", "Kernels and graphs that programs launched. This is not GPU time.",
              PER_SECOND,
              [(f"sum by (instance) ({rate('gpuprobe_kernel_launches_total')})",
                "{{instance}} kernels"),
               (f"sum by (instance) ({rate('gpuprobe_graph_launches_total')})",
                "{{instance}} graphs")]),
        graph("Copies", "Bytes that programs asked to copy or set.", BANDWIDTH,
              [(f"sum by (instance) ({rate('gpuprobe_copy_bytes_total')})", "{{instance}}")]),
        graph("Threads that wait for a GPU", "Average number of threads in a wait.", COUNT,
              [(f"sum by (instance) ({rate('gpuprobe_wait_seconds_total')})", "{{instance}}")]),
        graph("Failed calls", "Calls that returned an error.", PER_SECOND,
              [(f"sum by (instance) ({rate('gpuprobe_errors_total')})", "{{instance}}")])])


def node_gpus():
    return [
        row("GPUs"),
        graph("GPU memory in use", "All programs together, by NVML.", "bytes",
              [(of("gpuprobe_gpu_memory_used_bytes"), "GPU {{gpu}}"),
               (of("gpuprobe_gpu_memory_total_bytes"), "GPU {{gpu}} in all")]),
        graph("GPU memory by program", "What programs allocated and have not freed.", "bytes",
              [(gauge_of("gpuprobe_memory_live_bytes", selectors=GPU_MEMORY), LEGEND)],
              stacked=True),
        graph("Launches by GPU", "Kernels handed to each GPU. This is not GPU time.", PER_SECOND,
              [(f"sum by (gpu) ({rate('gpuprobe_device_launches_total')})", "GPU {{gpu}}")]),
        graph("Copies by GPU", "Bytes to, from and on each GPU.", BANDWIDTH,
              [(f"sum by (gpu) ({rate('gpuprobe_device_copy_bytes_total')})", "GPU {{gpu}}")]),
        graph("Threads that wait, by GPU", "Average number of threads in a wait for the GPU.",
              COUNT, [(f"sum by (gpu, kind) ({rate('gpuprobe_wait_seconds_total')})",
                       "GPU {{gpu}} {{kind}}")], stacked=True),
        graph("GPU provably idle", "Share of the latest minute. The GPU may have idled longer. "
              f"With --verdict only. {BY_PROCESS_ONLY}", "percentunit",
              [(f"max by (gpu) ({of('gpuprobe_gpu_idle_proved_ratio')})", "GPU {{gpu}}")], max=1),
        graph("GPU memory of processes that no allocation accounts for", "Contexts, code, "
              "libraries' own memory, and allocations from before gpuprobe attached.", "bytes",
              [(f"sum by (gpu) ({of('gpuprobe_device_memory_untracked_bytes')})",
                "GPU {{gpu}}")]),
        graph("GPU memory of processes", "By NVML, for each GPU.", "bytes",
              [(f"sum by (gpu) ({of('gpuprobe_process_gpu_memory_bytes')})", "GPU {{gpu}}")]),
        xid_table()]


def node_self():
    return [
        row("gpuprobe itself"),
        graph("CPU", "Cores that gpuprobe's own process uses.", COUNT,
              [(f"rate(process_cpu_seconds_total{{{AT}}}{RATE})", "cores")], 8),
        graph("Memory", "Resident memory of gpuprobe, without BPF maps.", "bytes",
              [(of("process_resident_memory_bytes"), "resident")], 8),
        graph("Descriptors", "Open files, and how many may be open.", COUNT,
              [(of("process_open_fds"), "open"), (of("process_max_fds"), "limit")], 8),
        graph("Probes attached", "By the library whose functions they are in. 0 on a node without "
              "CUDA programs.", COUNT,
              [(f"sum by (layer) ({of('gpuprobe_probes_attached')})", "{{layer}}")], 8),
        graph("Lost events", "By reason. The runbook GpuprobeEventsLost says what to do.", COUNT,
              [(f"sum by (reason) (increase({of('gpuprobe_events_lost_total')}{RATE})) > 0 "
                "or label_replace(vector(0), 'reason', 'none', '', '')", "{{reason}}")], 8),
        graph("Slowdown of the worst-hit thread", "With --max-overhead only: the estimate, and its "
              "limit.", "percentunit",
              [(of("gpuprobe_overhead_ratio"), "slowdown"),
               (of("gpuprobe_max_overhead_ratio"), "limit")], 8),
        graph("Share of time in which calls are counted", "With --max-overhead only. Below 100 % "
              "the counters include estimates.", "percentunit",
              [(of("gpuprobe_sampling_ratio"), "{{family}}")], 8, max=1),
        graph("Estimated calls", "With --max-overhead only: the estimated part of the counters.",
              PER_SECOND, [(f"sum by (family) ({rate('gpuprobe_estimated_calls_total')}) or "
                            f"sum by (family) (0 * {of('gpuprobe_sampling_ratio')})",
                            "{{family}}")], 8),
        table("Version and start", "When gpuprobe started. Its counters began at 0 then.",
              "dateTimeAsIso",
              [(f"{of('process_start_time_seconds')} * 1000 * on ({AGENT}) group_left (version) "
                f"{of('gpuprobe_build_info')}", "started")], 8)]


def node():
    shown, how = programs(TO_PROCESSES)
    return dashboard(NODE, "gpuprobe: node", "A node: its GPUs, the programs on them, and "
                     "gpuprobe itself.", [*AGENTS, nodes(False)], [FINDINGS], [
        *node_gpus(), row("Programs"),
        table("Programs", "The 50 that hold most GPU memory.", "bytes", shown, **how),
        finding_table(12),
        table("Failed calls", "Functions that failed in the time shown, with all such failures so "
              "far.", COUNT, [(risen("gpuprobe_errors_total", f"function, error, {WHO}"),
                               "failures")], 12, links=TO_PROCESSES),
        *node_self()])


def gauge(series, by, selectors="", how="sum"):
    """Of the chosen programs, as rated() is."""
    return gauge_of(series, by, selectors, how, CHOSEN)


def rated(series, by):
    return rate_of(series, by, CHOSEN)


def process_identity():
    info = f"{of('gpuprobe_process_info', CHOSEN)}"
    return [
        row("What it is"),
        table("Processes", f"What each process belongs to. {BY_PROCESS_ONLY}", COUNT,
              [(f"sum by (ppid, unit, slurm_step, ns_pid, {WHO}) ({info})", "known")], 24),
        finding_table(12, CHOSEN),
        table("What findings cost", "The longest time that each finding is known to have cost so "
              "far.", "s", [(finding("gpuprobe_finding_cost_seconds_total", f"id, {WHO}", CHOSEN)
                             + " > 0", "cost")], 12),
        table("Older than gpuprobe", "These ran before gpuprobe attached. Their series cover what "
              "came after.", COUNT,
              [(gauge("gpuprobe_process_since_attach", WHO), "since attach")], 24)]


def process_memory():
    return [
        row("Memory"),
        graph("Live memory by kind", "What was allocated and not freed. Reserved and mapped are "
              "address ranges, not memory.", "bytes",
              [(gauge("gpuprobe_memory_live_bytes", "kind"), "{{kind}}")], 8),
        graph("Live allocations by kind", "Growth without end is a leak: `gpuprobe memleak -p "
              "PID` names the lines of code.", COUNT,
              [(gauge("gpuprobe_memory_live_allocations", "kind"), "{{kind}}")], 8),
        graph("Allocations and frees", "Calls that succeeded, and those that failed.", PER_SECOND,
              [(rated("gpuprobe_allocations_total", "job"), "allocations"),
               (rated("gpuprobe_frees_total", "job"), "frees"),
               (rated("gpuprobe_allocation_failures_total", "job"), "failed allocations"),
               (rated("gpuprobe_free_failures_total", "job"), "failed frees"),
               (rated("gpuprobe_double_frees_total", "job"), "double frees")], 8),
        graph("Threads that allocate", "Average number of threads inside an allocation.", COUNT,
              [(rated("gpuprobe_allocation_seconds_total", "job"), "threads")], 8),
        graph("GPU memory by GPU", "Allocated and not freed; and all that the process uses, by "
              "NVML.", "bytes",
              [(gauge("gpuprobe_device_memory_live_bytes", "instance, gpu"),
                f"{BY_GPU} allocated"),
               (gauge("gpuprobe_process_gpu_memory_bytes", "instance, gpu"), f"{BY_GPU} NVML")],
              8),
        graph("Pools", "Memory of cudaMallocAsync: in use, and kept by the pools.", "bytes",
              [(gauge("gpuprobe_pool_used_bytes", "instance, gpu"), f"{BY_GPU} used"),
               (gauge("gpuprobe_pool_reserved_bytes", "instance, gpu"), f"{BY_GPU} reserved")],
              8)]


def process_work():
    return [
        row("Work"),
        graph("Launches by kernel", "The ten kernels launched most. This is not GPU time.",
              PER_SECOND,
              [(f"topk(10, {rated('gpuprobe_kernel_launches_total', 'kernel')})", "{{kernel}}")]),
        graph("Graphs", "Graphs launched, and the kernels that they ran.", PER_SECOND,
              [(rated("gpuprobe_graph_launches_total", "job"), "graphs"),
               (rated("gpuprobe_graph_kernels_total", "job"), "kernels in graphs")]),
        graph("Duration of a step", "The steps that the process repeats. "
              f"{BY_PROCESS_ONLY}", "s",
              [(gauge("gpuprobe_step_seconds", f"{WHO}, percentile", "", "max"),
                f"{LEGEND} {{{{percentile}}}} %")]),
        graph("Launches of a step", f"Average. {BY_PROCESS_ONLY}", COUNT,
              [(gauge("gpuprobe_step_launches", WHO, "", "max"), LEGEND)]),
        graph("First launches", "Slow, because the driver loads the kernel then.", COUNT,
              [(rated("gpuprobe_first_launch_seconds_total", "job"), "threads that load"),
               (rated("gpuprobe_module_load_seconds_total", "kind"),
                "threads that load a {{kind}}")]),
        graph("Objects", "Growth without end is a leak.", COUNT,
              [(gauge("gpuprobe_objects_live", "kind"), "{{kind}}")])]


def process_copies_and_waits():
    return [
        row("Copies and waits"),
        graph("Copies", "Bytes by direction. H2D: from host to GPU.", BANDWIDTH,
              [(rated("gpuprobe_copy_bytes_total", "kind, mode"), "{{kind}} {{mode}}")]),
        graph("Copies in flight", "Asynchronous copies that are not known to have ended.", "bytes",
              [(gauge("gpuprobe_copies_inflight_bytes", "kind"), "{{kind}}")]),
        graph("Threads in copies", "Average number of threads inside a call that copies.", COUNT,
              [(rated("gpuprobe_copy_seconds_total", "kind, mode"), "{{kind}} {{mode}}")]),
        graph("Threads that wait", "Average number of threads in a wait for the GPU.", COUNT,
              [(rated("gpuprobe_wait_seconds_total", "kind"), "{{kind}}")]),
        graph("Queries", "Calls that ask whether work has ended.", PER_SECOND,
              [(rated("gpuprobe_queries_total", "kind, answer"), "{{kind}} {{answer}}")]),
        graph("Longest call in progress", "Calls that have lasted 100 ms and more. `gpuprobe dump "
              "-p PID` shows where the threads are.", "s",
              [(gauge("gpuprobe_longest_call_in_progress_seconds", f"function, {WHO}", "", "max"),
                f"{{{{function}}}} {LEGEND}")]),
        graph("Why the GPU waits for the program", "Share of the threads' time in the latest "
              f"minute, if the program holds the GPU up. With --verdict only. {BY_PROCESS_ONLY}",
              "percentunit",
              [(gauge("gpuprobe_host_bound_ratio", f"reason, {WHO}", "", "max"),
                f"{{{{reason}}}} {LEGEND}")], max=1),
        graph("GPU provably idle", "Share of the latest minute; the GPU may have idled longer. "
              f"With --verdict only. {BY_PROCESS_ONLY}", "percentunit",
              [(gauge("gpuprobe_gpu_idle_proved_ratio", f"gpu, {WHO}", "", "max"),
                f"GPU {{{{gpu}}}} {LEGEND}")], max=1)]


def process():
    chosen = 'cluster=~"$cluster", job=~"$job", instance=~"$instance"'
    named_series = f'{{__name__=~"gpuprobe_process_info|gpuprobe_memory_live_bytes", {chosen}}}'
    variables = [variable(name, label, named_series) for name, label in (
        ("namespace", "Namespace"), ("pod", "Pod"), ("user", "User"),
        ("slurm_job_id", "Slurm job"))]
    variables.append(variable(
        "pid", "Process", f'gpuprobe_process_info{{{chosen}, namespace=~"$namespace", pod=~"$pod", '
        'user=~"$user", slurm_job_id=~"$slurm_job_id"}'))
    return dashboard(PROCESS, "gpuprobe: process", "One program, or all of a pod, user or job: "
                     "memory, work, copies, waits and failures.",
                     [*AGENTS, nodes(True), *variables], [FINDINGS], [
        *process_identity(), *process_memory(), *process_work(), *process_copies_and_waits(),
        row("Failures"),
        graph("Failed calls", "The 20 pairs of function and error that are most frequent.",
              PER_SECOND, [(f"topk(20, {rated('gpuprobe_errors_total', 'function, error')})",
                            "{{function}} {{error}}")]),
        graph("Out of GPU memory", "Allocations that failed for good, so far.", COUNT,
              [(gauge("gpuprobe_out_of_memory_total", WHO), LEGEND)])])


def main():
    for made in (fleet(), node(), process()):
        (Path(sys.argv[1]) / f"{made['uid']}.json").write_text(text(made), encoding="utf-8")


if __name__ == "__main__":
    main()
