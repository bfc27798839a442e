/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latest 15 minutes for the plots of a person's page: by process, and by call site of its
 * memory. Its size is bounded: what is gone makes room first, and what finds no room is counted.
 */
#ifndef OUTPUT_WEB_HISTORY_H
#define OUTPUT_WEB_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "finding/finding.h"
#include "model/model.h"
#include "model/process_rates.h"

#define HISTORY_NS 900000000000ull
#define HISTORY_POINTS 300
#define HISTORY_SITES 8			    /* call sites of a process's memory */
#define HISTORY_LABEL 160		    /* bytes of a call site's label */
#define HISTORY_BYTES_MAX ((size_t)8 << 20) /* of all processes and call sites */

struct history;

/* What a sample is made of. */
struct history_input {
	const struct model *model;
	const struct process_rates *rates; /* with this reading as its latest sample */
	const struct findings *verdicts;   /* for proved idle time; NULL: it is unknown */
};

/* `bytes_max`: of all processes and call sites. NULL without memory. */
struct history *history__new(size_t bytes_max);
void history__free(struct history *history); /* NULL ok */

/*
 * Adds a point from the model's latest reading. A reading that was broken off, or that is as old as
 * the previous one, is skipped. Points older than HISTORY_NS are dropped, and processes without a
 * point with them.
 */
void history__add(struct history *history, const struct history_input *input);

size_t history__points(const struct history *history);

/* Bytes that processes and call sites take now: at most `bytes_max`. */
size_t history__bytes(const struct history *history);

/* How often a process or a call site found no room so far. */
uint64_t history__left_out(const struct history *history);

/*
 * Writes the keys "times", "processes" and "left_out": for each process, its values at these times,
 * null where they are unknown.
 */
void history__write(const struct history *history, struct json *j);

/* Writes the key "site_history" of the process with that serial: live memory by call site. */
void history__write_sites(const struct history *history, uint64_t serial, struct json *j);

#endif
