/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the JSON report: what it says of a process, a family of calls
 * in a file of its own, NAME.c. Each writes its keys and values into the
 * object that is open.
 */
#ifndef OUTPUT_JSON_PARTS_H
#define OUTPUT_JSON_PARTS_H

#include "base/json.h"
#include "model/model.h"

/* A key whose value is an address or a handle: "0x7989d8000000". */
void json_parts__key_address(struct json *j, const char *key, uint64_t address);

/* The key "time": the time of day, 2026-11-22T14:02:11.123456Z. */
void json_parts__key_time(struct json *j, const struct timespec *wall);

/* The key "without_calls": the processes that were asked for and have not called; nothing where none was asked for. */
void json_parts__key_without_calls(struct json *j, const struct model *model);

/* The key "lost": every loss by its name. */
void json_parts__key_lost(struct json *j, const struct model *model);

/* The key "sampling": the budget, what probes cost and what is sampled now; nothing where there is no budget. */
void json_sampling__write(struct json *j, const struct sampling *sampling);

/* The key "sampling": what of the process's calls is estimated, by family; nothing where nothing is. */
void json_sampling__write_process(struct json *j, const struct process *p);

/* The key "estimated": true; nothing where it is not. */
void json_sampling__key_estimated(struct json *j, const struct process *p, enum rate_family family);

/* Parent, user, container, pod; nothing where that is not known at all. */
void json_process__write(struct json *j, const struct process *p);

/* The members that a process begins with: who it is, those of json_process__write too, and its life. */
void json_process__write_life(struct json *j, const struct process *p);

/*
 * The member "before_attach" of a process that was there before gpuprobe: what it had then is not known (null), and in no
 * other member; what NVML says that it has now.
 */
void json_process__write_before_attach(struct json *j, const struct process *p);

/* The member "unfollowed", calls whose return was not followed, where there are any. */
void json_process__write_unfollowed(struct json *j, const struct process *p);

/* The member "shim", of a process with a driver library in front of another. */
void json_process__write_shim(struct json *j, const struct process *p);

/*
 * The members "other_calls", calls that had no counter by function, and "lost_notices", beyond the process's share of the
 * ring, where there are any.
 */
void json_process__write_lost(struct json *j, const struct process *p);

/* The member "slow_probes", calls whose probe the kernel must single-step, where there are any. */
void json_process__write_slow(struct json *j, const struct model *model, const struct process *p);

/* The process's GPUs, and the machine's. */
void json_process__write_gpus(struct json *j, const struct model *model, const struct process *p);
void json_process__write_machine(struct json *j, const struct model *model);

/* The key "device": its number in the process, or null where that is not known. */
void json_parts__key_device(struct json *j, uint8_t device);

/* The key "stack": its frames, innermost first, or null where it is not known. */
void json_stack__write(struct json *j, const struct stack *stack);

/* Call sites and live memory by site; where stacks are taken. */
void json_site__write(struct json *j, const struct model *model, const struct process *p);

void json_memory__write(struct json *j, const struct process *p);
/* An object of its own under `key`; the report's totals have it too. */
void json_memory__write_totals(struct json *j, const char *key, const struct memory_totals *m);

void json_launch__write(struct json *j, const struct model *model, const struct process *p);
void json_copy__write(struct json *j, const struct process *p);
void json_wait__write(struct json *j, const struct process *p);
/* Calls that have not returned: "calls_in_progress", and the longest in "in_progress", where there are any. */
void json_open_calls__write(struct json *j, const struct model *model, const struct process *p);
/* Keys "functions" and "devices": plain counts, by function as they were counted, and by device. */
void json_functions__write(struct json *j, unsigned int sections, const struct process *p);

void json_object__write(struct json *j, const struct process *p);
void json_error__write(struct json *j, const struct process *p);

#endif
