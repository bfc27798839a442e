/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the JSON report. Each family of calls has its file, NAME.c. Each function writes
 * keys and values into the object that is open.
 */
#ifndef OUTPUT_JSON_PARTS_H
#define OUTPUT_JSON_PARTS_H

#include "base/json.h"
#include "model/model.h"

struct export_counts;
struct tensors;
struct tensor_site;

/* Writes the key "time": the time of day, 2026-11-22T14:02:11.123456Z. */
void json_parts__key_time(struct json *j, const struct timespec *wall);

/*
 * Writes the key "without_calls": the target processes that have made no call. Writes nothing if
 * the user named no targets.
 */
void json_parts__key_without_calls(struct json *j, const struct model *model);

/* Writes the key "lost": every loss by its name. The second writes what it knows of stacks, too. */
void json_parts__key_losses(struct json *j, const uint64_t lost[LOSS_COUNT]);
void json_parts__key_lost(struct json *j, const struct model *model);

/*
 * Writes the key "sampling": the budget, the cost of probes and what is sampled now. Writes nothing
 * if there is no budget.
 */
void json_sampling__write(struct json *j, const struct sampling *sampling);

/*
 * Writes the key "sampling": the estimated part of the process's calls, by family. Writes nothing
 * if nothing is estimated.
 */
void json_sampling__write_process(struct json *j, const struct process *p);

/* Writes the key "estimated": true, or nothing if the family's calls were all counted. */
void json_sampling__key_estimated(struct json *j, const struct process *p, enum rate_family family);

/* Writes parent, user, container and pod. Writes nothing if none of them is known. */
void json_process__write(struct json *j, const struct process *p);

/*
 * Writes the first members of a process: its identity, including those of json_process__write, and
 * its life.
 */
void json_process__write_life(struct json *j, const struct process *p);

/*
 * Writes the member "before_attach" of a process that is older than gpuprobe. Memory from that time
 * is unknown (null) and in no other member. The member also has the memory that NVML reports now.
 */
void json_process__write_before_attach(struct json *j, const struct process *p);

/* Writes the member "unfollowed", calls whose return was not followed, if there are any. */
void json_process__write_unfollowed(struct json *j, const struct process *p);

/* Writes the member "shim" of a process that has a driver library in front of another. */
void json_process__write_shim(struct json *j, const struct process *p);

/*
 * Writes the members "other_calls", calls that had no counter by function, and "lost_notices",
 * notices beyond the process's share of the ring, if there are any.
 */
void json_process__write_lost(struct json *j, const struct process *p);

/*
 * Writes the member "slow_probes", calls whose probe the kernel must single-step, if there are any.
 */
void json_process__write_slow(struct json *j, const struct model *model, const struct process *p);

/* Write the process's GPUs, and the machine's. */
void json_process__write_gpus(struct json *j, const struct model *model, const struct process *p);
void json_process__write_machine(struct json *j, const struct model *model);

/* Writes bytes of a GPU, or null for GPU_UNKNOWN_BYTES. */
void json_parts__key_bytes(struct json *j, const char *key, uint64_t bytes);

/* Writes the key "device": its number in the process, or null if unknown. */
void json_parts__key_device(struct json *j, uint8_t device);

/* Writes the key "stack": its frames, innermost first, or null if unknown. */
void json_stack__write(struct json *j, const struct stack *stack);

/* Writes call sites and live memory by site, if stacks are taken. */
void json_site__write(struct json *j, const struct model *model, const struct process *p);

void json_memory__write(struct json *j, const struct process *p);
/* Writes an object under `key`. The report's totals use it too. */
void json_memory__write_totals(struct json *j, const char *key, const struct memory_totals *m);

/*
 * Writes the member "tensors" with its live call sites, if the process has tensors; the other
 * function only the object's first members, for a process that has some.
 */
void json_tensors__write(struct json *j, const struct model *model, const struct process *p);
void json_tensors__write_totals(struct json *j, const struct process *p);

/* What the call site makes in a step, as keys of an object; nothing if steps are unknown. */
void json_tensors__write_step(struct json *j, const struct tensors *tensors,
			      const struct tensor_site *site);

void json_launch__write(struct json *j, const struct model *model, const struct process *p);
void json_copy__write(struct json *j, const struct process *p);
void json_wait__write(struct json *j, const struct process *p);
/*
 * Writes calls that have not returned: "calls_in_progress", and the longest in "in_progress", if
 * there are any.
 */
void json_open_calls__write(struct json *j, const struct model *model, const struct process *p);
/* Writes the keys "functions" and "devices": plain counts, by function and by device. */
void json_functions__write(struct json *j, unsigned int sections, const struct process *p);

void json_object__write(struct json *j, const struct process *p);
void json_error__write(struct json *j, const struct process *p);

/* Errors of GPUs: nothing if they are not watched. */
void json_xids__write(struct json *j, const struct model *model);

/* "otlp": what became of data for OTLP, by signal (EXPORT_SIGNALS of them). */
void json_exports__write(struct json *j, const struct export_counts *exports);

#endif
