# SPDX-License-Identifier: BSD-2-Clause
# Facts from a report of gpuprobe --json, a line each, to compare with those of
# truth.awk: nothing is lost, and no process known since attach only, or there is
# a line that the truth does not have. Needs json.awk before it. Failures of
# launches are left out where they are sampled.

function add(fact, count) {
	facts[fact] += count
}

function kernel_leaf(field, value) {
	if (field == "name")
		kernel = value
	else if (field == "launches")
		add(pid " kernel " kernel, value)
}

function copy_leaf(field, value) {
	if (field == "kind")
		copy = value
	else if (field == "mode")
		copy = copy " " value
	else if (field == "calls" || field == "bytes")
		add(pid " copy " copy " " field, value)
}

function error_leaf(field, value) {
	if (field == "function")
		error = value
	else if (field == "layer")
		error = value " " error
	else if (field == "code")
		error = error " " value
	else if (field == "count" && error !~ /Launch(Kernel|Cooperative)/)
		add(pid " error " error, value)
}

function memory_leaf(kind, field, value) {
	if (field == "allocation_failures")
		add(pid " alloc failures", value)
	else if (field == "free_failures")
		add(pid " free failures", value)
	else if (field == "live_allocations")
		add(pid " memory " kind " live_count", value)
	else if (field == "allocations" || field == "frees" || field == "live_bytes")
		add(pid " memory " kind " " field, value)
}

function process_leaf(p, n, value) {
	if (p[3] == "pid")
		pid = value
	else if (p[3] == "since_attach" && value == "true")
		add(pid " since attach", 1)
	else if (p[3] == "launches")
		add(pid " launches", value)
	else if (p[3] == "graph_launches")
		add(pid " graph launches", value)
	else if (p[3] == "kernels")
		kernel_leaf(p[5], value)
	else if (p[3] == "copies" && n == 5)
		copy_leaf(p[5], value)
	else if (p[3] == "copies" && p[7] == "" && p[6] != "oldest_ns")
		add(pid " in flight " copy " " p[6], value)
	else if (p[3] == "errors")
		error_leaf(p[5], value)
	else if (p[3] == "memory" && n == 5)
		memory_leaf(p[4], p[5], value)
}

function leaf(path, value,   p, n) {
	n = split(path, p, "/")
	if (p[1] == "processes")
		process_leaf(p, n, value)
	else if (p[1] == "lost")
		add("lost " p[2], value)
}

END {
	for (fact in facts)
		if (facts[fact])
			printf "%s %.0f\n", fact, facts[fact]
}
