/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the collector share: its state, and reading of the maps. */
#ifndef COLLECT_PRIVATE_H
#define COLLECT_PRIVATE_H

#include "base/ring.h"
#include "collect/attribution.h"
#include "collect/collector.h"
#include "collect/contexts.h"
#include "collect/key_list.h"
#include "collect/largest.h"
#include "collect/map_reader.h"
#include "gpuprobe/state.h"
#include "model/kernels.h"
#include "model/kernel_names.h"
#include "probe/stack_maps.h"
#include "symbol/host_stub.h"
#include "target/memory_reader.h"

#define NO_PROCESS UINT32_MAX

struct profile_maps;
struct ended_keys;
struct open_calls;
struct thread_counts_reader;
struct steps;

struct late_process {
	pid_t pid;
	uint64_t time_ns; /* when it was already running what had no probes */
};

struct collector {
	struct gpuprobe_bpf *skeleton;
	struct collector_options options;
	struct collector_hooks hooks;
	const struct log *log;
	struct ring ring;  /* of notices */
	int waiting_fd;	   /* an epoll set: readable while notices or stacks wait */
	uint64_t until_ns; /* when others have to have a turn: the rest of the ring waits then */
	struct model model;
	struct kernel_names *names;
	size_t name_bytes; /* of kernels, of all processes */
	struct map_reader *reader;
	struct host_stubs *stubs;
	struct memory_reader *memory; /* what processes are read by, but for stack/intake.h */
	struct attribution *attribution;
	struct thread_counts_reader *thread_counts_reader;
	struct open_calls *open_calls;
	struct profile_maps *profile_maps; /* NULL: no profile is kept */
	struct steps *steps;		   /* NULL: none are looked for */
	struct estimates *estimates;	   /* NULL: all calls are seen */
	struct stacks *stacks;		   /* NULL: none are taken */
	struct stack_maps stack_maps;
	struct contexts *contexts;	/* as the latest reading found them */
	struct process_record *records; /* the BPF map, mapped */
	size_t records_bytes;
	bool reports;	    /* are made: see collector__expect_reports */
	size_t reaped;	    /* processes, by the latest reaping */
	uint64_t paged_ns;  /* of the latest page */
	bool has_fresh;	    /* a process has made its first call since */
	bool has_steps;	    /* a thread has submitted much, and no step of it is known */
	uint32_t *index_of; /* slot -> place in model.processes, or NO_PROCESS */
	uint64_t attached_ns;
	struct late_process *late;
	size_t late_count;
	struct largest *largest; /* NULL: all allocations are gone through for lists */
	struct key_list dead;	 /* allocations that went with their context */
	struct ended_keys *ended;
};

/* processes.c */

/* Adds the process in `slot` to the model. Returns 0 or -ENOMEM. */
int collector__add_process(struct collector *collector, uint32_t slot);

/* Marks the process where another one was late that has its memory, and whose calls are its own. */
void collector__look_at_sharer(struct collector *collector, struct process *process);

/* The model's process in `slot`, or NULL. Valid until a process is added. */
struct process *collector__process_at(struct collector *collector, uint32_t slot);

/* Frees the slots of ended processes, whose entries in the maps have been read and deleted. */
void collector__release_slots(struct collector *collector);

/* Drops ended processes from the model once reports and scrapers have had the time to see them. */
void collector__drop_old_processes(struct collector *collector);

/*
 * Reads all maps into the model (snapshot.c); with `reap` also deletes the
 * entries of processes that have ended.
 */
int collector__read_maps(struct collector *collector, bool with_lists, bool reap);

#endif
