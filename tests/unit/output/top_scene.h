/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine for the tests of `gpuprobe top`: two GPUs, five processes, rates over 2 s. */
#ifndef TESTS_TOP_SCENE_H
#define TESTS_TOP_SCENE_H

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/process_rates.h"
#include "output/top/list.h"

struct top_machine {
	struct gpu gpus[2];
	struct process_gpu used[5];
	struct process processes[5];
	struct model model;
	struct process_rates *rates;
};

static inline void top_machine__process(struct top_machine *machine, size_t i, int32_t pid,
					int32_t parent, const char *user, const char *command)
{
	struct process *process = &machine->processes[i];

	machine->used[i] = (struct process_gpu){
		.ordinal = 0, .gpu = (int)i % 2, .used_bytes = GPU_UNKNOWN_BYTES};
	*process = (struct process){
		.pid = pid,
		.start_ns = (uint64_t)pid * NS_PER_S,
		.parent = parent,
		.identified = true,
		.gpus = &machine->used[i],
		.gpu_count = 1,
	};
	snprintf(process->user, sizeof(process->user), "%s", user);
	snprintf(process->command, sizeof(process->command), "%s", command);
}

static inline void top_machine__gpu(struct top_machine *machine, unsigned int i)
{
	machine->gpus[i] = (struct gpu){
		.index = i,
		.mig = GPU_NONE,
		.total_bytes = 80ull << 30,
		.used_bytes = 20ull << 30,
		.busy_percent = 97,
		.milliwatts = 349600,
		.celsius = 66,
	};
	snprintf(machine->gpus[i].name, GPU_NAME_SIZE, "NVIDIA H100");
}

/* Release it with top_machine__end. */
static inline void top_machine__begin(struct top_machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	top_machine__gpu(machine, 0);
	top_machine__gpu(machine, 1);
	top_machine__process(machine, 0, 100, 1, "ann", "/usr/bin/torchrun train.py");
	top_machine__process(machine, 1, 101, 100, "ann", "python3 train.py --rank 0");
	top_machine__process(machine, 2, 102, 100, "ann", "python3 train.py --rank 1");
	top_machine__process(machine, 3, 200, 1, "bob", "/opt/serve/bin/server --port 80");
	top_machine__process(machine, 4, 90, 1, "bob", "old");
	machine->model = (struct model){
		.wall = {.tv_sec = 1764295331},
		.now_ns = 1000 * NS_PER_S,
		.processes = machine->processes,
		.process_count = 5,
		.gpus = machine->gpus,
		.gpu_count = 2,
	};
	machine->processes[4].ended = true;
	machine->processes[4].ended_ns = 999 * NS_PER_S;
	machine->rates = process_rates__new();
	process_rates__sample(machine->rates, &machine->model);
	machine->model.now_ns += 2 * NS_PER_S;
	machine->processes[1].launches = 24000;
	machine->processes[2].launches = 22000;
	machine->processes[1].memory[MEMORY_DEVICE].live_bytes = 40ull << 30;
	machine->processes[2].memory[MEMORY_DEVICE].live_bytes = 41ull << 30;
	machine->processes[3].memory[MEMORY_DEVICE].live_bytes = 3ull << 20;
	machine->processes[2].waits[WAIT_STREAM].ns = NS_PER_S / 2;
	process_rates__sample(machine->rates, &machine->model);
}

static inline void top_machine__end(struct top_machine *machine)
{
	process_rates__free(machine->rates);
}

#endif
