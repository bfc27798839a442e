// SPDX-License-Identifier: BSD-2-Clause
// Records holds and computes with them; see holds.h.
#include "probe/holds.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "gpuprobe/holds.h"

void holds__note(const struct probe_programs *programs, pid_t pid, uint64_t from_ns, uint64_t to_ns)
{
	struct holds holds = {0};
	int fd = bpf_map__fd(programs->holds);

	bpf_map_lookup_elem(fd, &pid, &holds);
	if (holds.count && from_ns < holds.kept[(holds.count - 1) % HOLDS_KEPT].to_ns)
		return;
	holds.kept[holds.count++ % HOLDS_KEPT] = (struct hold){from_ns, to_ns};
	/* If this fails for lack of memory, calls are reported with their full duration. */
	if (!bpf_map_update_elem(fd, &pid, &holds, BPF_ANY))
		__atomic_store_n(programs->let_go_ns, to_ns, __ATOMIC_RELEASE);
}

uint64_t holds__of_process(const struct probe_programs *programs, pid_t pid, uint64_t from_ns,
			   uint64_t to_ns)
{
	struct holds holds;

	if (*programs->let_go_ns <= from_ns ||
	    bpf_map_lookup_elem(bpf_map__fd(programs->holds), &pid, &holds))
		return 0;
	return holds__within(&holds, from_ns, to_ns);
}
