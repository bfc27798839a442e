/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that several commands have: rows for their tables (option_table.h), the functions that
 * take the values of rows of their own, and the help of options whose rows differ in their fields
 * or limits.
 */
#ifndef CLI_SHARED_ROWS_H
#define CLI_SHARED_ROWS_H

#include "cli/options/option_table.h"
#include "probe/selection.h"

#define CAPACITIES "Capacities (whatever does not fit is reported as lost):"

#define DURATION_HELP "stop after S seconds; COMMAND runs on [0 = no limit]"
#define OUTPUT_HELP "write to FILE instead of standard output"
#define API_HELP \
	"layers to probe [auto: the driver for everything, the\n" \
	"runtime for allocations and frees]"
#define THRESHOLD_HELP \
	"threshold that triggers a finding, or ID.NAME=VALUE\n" \
	"(repeatable); gpuprobe diagnose --list has them all"

/* for a struct targets: --pid for any number of processes, and filter_rows */
extern const struct option_row process_rows[];
/* for a struct targets: --libcudart-path and --libcuda-path */
extern const struct option_row library_rows[];
/* for a double, a fraction: --max-overhead if all families may be sampled */
extern const struct option_row overhead_rows[];
extern const struct option_row tensor_rows[];	  /* for a bool: --tensors */
extern const struct option_row capacity_rows[];	  /* for a struct live_model_limits */
extern const struct option_row exact_rows[];	  /* for an enum quantity_form: --exact */
extern const struct option_row full_names_rows[]; /* for a bool: --full-names */
extern const struct option_row gpu_times_rows[];  /* for a bool: --gpu-times of traces */
extern const char *const api_words[4];		  /* for an enum api_mode */

/* struct targets */
int shared_rows__take_pid(const struct option_row *row, void *field, const char *text,
			  struct error *err);
/* enum api_mode, not API_AUTO */
int shared_rows__take_layers(const struct option_row *row, void *field, const char *text,
			     struct error *err);
/* uint32_t, up to max */
int shared_rows__take_capacity(const struct option_row *row, void *field, const char *text,
			       struct error *err);
/* double, a fraction */
int shared_rows__take_overhead(const struct option_row *row, void *field, const char *text,
			       struct error *err);
/* uint64_t */
int shared_rows__take_window(const struct option_row *row, void *field, const char *text,
			     struct error *err);

#endif
