# SPDX-License-Identifier: BSD-2-Clause
# Facts from truth files of the simulated CUDA libraries, as report.awk makes
# them from gpuprobe's report: what --api auto is to tell, a line each. Needs
# json.awk before it and the rows of the API table (-v table=FILE).

BEGIN {
	FS = "\t"
	while ((getline row < table) > 0) {
		split(row, column, "\t")
		operation[column[2]] = column[4]
	}
}

function add(fact, count) {
	facts[fact] += count
}

# An allocation or free that the runtime passed on is the runtime's; of all else the driver's count.
function function_leaf(layer, symbol, p, n, count,   what, nested) {
	what = operation[symbol]
	nested = p[3] == "nested"
	if (what == "alloc" || what == "free") {
		if (nested)
			count = -count
	} else if (layer != "driver" || nested || what == "" || what == "-") {
		return
	}
	if (what == "graph_launch" && p[n] == "calls")
		add(pid " graph launches", count)
	else if (p[n] == "failures" && (what == "alloc" || what == "free"))
		add(pid " " what " failures", count)
	else if (p[n - 1] == "errors" && what != "launch") {
		sub(/_pt[ds][sz]$/, "", symbol)
		add(pid " error " layer " " symbol " " p[n], count)
	}
}

function leaf(path, value,   p, n) {
	n = split(path, p, "/")
	if (path == "pid") {
		pid = value
	} else if (p[1] == "driver" || p[1] == "runtime") {
		function_leaf(p[1], p[2], p, n, value)
	} else if (p[1] == "kernels" && p[3] != "runtime" && p[4] == "launches") {
		add(pid " kernel " p[2], value)
		add(pid " launches", value)
	} else if (p[1] == "copies" && p[2] != "runtime") {
		if (p[5] == "failures")
			add(pid " copy " p[3] " " p[4] " calls", -value)
		else
			add(pid " copy " p[3] " " p[4] " " p[5], value)
	} else if (p[1] == "memory" && p[2] ~ /^(device|managed|pool|host)$/ &&
		   p[3] ~ /^(allocations|frees|live_bytes|live_count)$/) {
		add(pid " memory " p[2] " " p[3], value)
	}
}

END {
	for (fact in facts)
		if (facts[fact])
			printf "%s %.0f\n", fact, facts[fact]
}
