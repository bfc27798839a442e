/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that the forms of a flame graph share, each in its file: flame_NAME__verb is in NAME.c. */
#ifndef OUTPUT_FLAME_PARTS_H
#define OUTPUT_FLAME_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "model/gpu_times.h"
#include "output/flame/graph.h"

/*
 * --- labels of frames: escaped (base/escape.h), one line, never empty; the caller frees them ---
 */

char *flame_label__text(const char *text);
char *flame_label__frame(const struct stack_frame *frame); /* as frame_text__print_label */
char *flame_label__process(const struct process *process); /* "train (1234)" */

/* A kernel's name, or its label without `full_names`; "copy H2D", "set", "graph". */
char *flame_label__gpu_work(const struct gpu_process_times *times, const struct gpu_site_key *key,
			    bool full_names);

/* --- GPU times --- */

/* The time of the process's work, of all its call sites; 0 if there are no GPU times. */
uint64_t flame_gpu_time__of(const struct model *model, const struct process *process);

/* Why processes have no GPU times, one a line. */
void flame_gpu_time__print_notes(FILE *out, const struct model *model);

/* --- colours: each kind has its range; within it, a name always has the same colour --- */

#define FLAME_COLOR_SIZE 8

/* "#ffa040"; light enough for dark text. */
void flame_color(enum flame_frame_kind kind, const char *label, char text[FLAME_COLOR_SIZE]);

/* The legend's word for a kind: "native". */
const char *flame_color__word(enum flame_frame_kind kind);

/* --- numbers for people --- */

/* "1.5 MiB", "1.2 ms", "12.0 k launches", "1 failure"; in the form of the graph's amounts */
void flame_text__amount(FILE *out, const struct flame_graph *graph, enum flame_by by,
			uint64_t value);

/* "12.3 %"; "0.0 %" if `whole` is 0. */
void flame_text__share(FILE *out, uint64_t part, uint64_t whole);

/* --- parts that all SVGs share (svg_page.c); each is the content of a CDATA section --- */

extern const char flame_svg_style[];

/*
 * Zoom, search and details. It only reads names as text and writes them as text, so that no name
 * can become markup or code.
 */
extern const char flame_svg_script[];

#endif
