/* SPDX-License-Identifier: BSD-2-Clause */
/* A dump made by hand: a training process on one GPU, and a process that does not use CUDA. */
#ifndef TESTS_DUMP_SCENE_H
#define TESTS_DUMP_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "output/dump/dump.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define SCENE_THREADS 8
#define STACK(...) ((struct stack){.count = COUNT(__VA_ARGS__), .frames = (__VA_ARGS__)})

struct dump_scene {
	struct dump dump;
	struct process processes[2];
	struct dump_process dumps[2];
	struct dump_thread threads[SCENE_THREADS];
	struct dump_thread shell[1];
	struct process_gpu gpus[2];
	struct gpu gpu;
	struct dump_view view;
};

static const struct stack_frame wait_frames[] = {
	{.function = "poll", .object = "libc.so.6", .offset = 0x4f},
	{.function = "cudaEventSynchronize", .object = "libcudart.so.13", .offset = 0x1b},
	{.function = "at::wait(Event&)", .object = "libtorch.so", .offset = 0x10},
	{.kind = FRAME_PYTHON, .function = "loss.item", .file = "/app/train.py", .line = 60},
	{.function = "_PyEval_Vector", .object = "python3", .offset = 2},
	{.kind = FRAME_PYTHON, .function = "step", .file = "/app/train.py", .line = 44},
	{.kind = FRAME_PYTHON, .function = "main", .file = "/app/train.py", .line = 91},
};
static const struct stack_frame native_frames[] = {
	{.function = "cuLaunchKernel", .object = "libcuda.so.1"},
	{.object = "libtorch.so", .offset = 0x1000},
	{.object = "libtorch.so", .offset = 0x2000},
	{.function = "run_thread", .object = "python3", .file = "/src/main.c", .line = 12},
	{.offset = 0x7f00},
	{.kind = FRAME_MARK, .function = "[callers not found]"},
};
static const struct stack_frame lock_frames[] = {{.function = "futex_wait", .object = "libc.so.6"}};

static inline void add_thread(struct dump_scene *scene, struct dump_thread thread)
{
	struct dump_process *process = &scene->dumps[0];

	if (!thread.ends)
		thread.ends = thread.stack.count;
	process->in_cuda += thread.call || thread.by;
	scene->threads[process->thread_count++] = thread;
}

static inline void make_processes(struct dump_scene *scene)
{
	scene->processes[0] = (struct process){
		.pid = 4711,
		.comm = "python3",
		.start_ns = 77,
		.identified = true,
		.parent = 1,
		.uid = 1000,
		.user = "ann",
		.cgroup_known = true,
		.container = "trainer-0",
		.gpus = scene->gpus,
		.gpu_count = 1,
	};
	scene->processes[1] = (struct process){.pid = 12, .comm = "sh"};
	scene->gpu = (struct gpu){.mig = GPU_NONE, .name = "H100 80GB", .uuid = "GPU-1"};
	scene->gpus[0] = (struct process_gpu){.ordinal = GPU_NONE,
					      .used_bytes = 44238786560,
					      .untracked_bytes = GPU_UNKNOWN_BYTES};
	scene->dumps[0] = (struct dump_process){
		.process = &scene->processes[0],
		.command = (char *)"python3 train.py",
		.threads = scene->threads,
		.maps_cuda = true,
	};
	scene->dumps[1] = (struct dump_process){
		.process = &scene->processes[1], .threads = scene->shell, .thread_count = 1};
	scene->shell[0] = (struct dump_thread){
		.tid = 12,
		.comm = "sh",
		.run = DUMP_SLEEPS,
		.no_stack = true,
		.waiting = {.kind = DUMP_WAIT_CHILD,
			    .other = 13,
			    .other_comm = "ls",
			    .name = "wait4"},
	};
}

static inline void make_scene(struct dump_scene *scene)
{
	*scene = (struct dump_scene){
		.dump = {.boot_ns = 100 * NS_PER_S, .taken_ns = 700, .count = 1}};
	make_processes(scene);
	scene->dump.processes = scene->dumps;
	scene->dump.model = (struct model){
		.processes = scene->processes,
		.process_count = 2,
		.gpus = &scene->gpu,
		.gpu_count = 1,
	};
	add_thread(scene, (struct dump_thread){
				  .tid = 4711,
				  .comm = "MainThread",
				  .call = "cudaEventSynchronize",
				  .beyond = 2,
				  .stack = STACK(wait_frames),
			  });
	add_thread(scene, (struct dump_thread){
				  .tid = 4790,
				  .comm = "pt_autograd_0",
				  .run = DUMP_SLEEPS,
				  .call = "cuLaunchKernel",
				  .beyond = 1,
				  .stack = STACK(native_frames),
			  });
}

/* A thread outside CUDA. */
static inline struct dump_thread outside(pid_t tid, enum dump_run run, enum dump_wait kind)
{
	return (struct dump_thread){
		.tid = tid,
		.comm = "worker",
		.run = run,
		.waiting = {.kind = kind},
		.stack = STACK(lock_frames),
	};
}

typedef void (*dump_print_fn)(FILE *out, const struct dump *dump, const struct dump_view *view);

/* The caller frees it. */
static inline char *printed(dump_print_fn print, const struct dump_scene *scene)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out, &scene->dump, &scene->view);
	fclose(out);
	return text;
}

#endif
