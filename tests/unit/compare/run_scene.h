/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run as JSON of gpuprobe stat, with what a test says of it: 900 steps of 12 launches, a copy
 * and a wait. Include it after cmocka.h.
 */
#ifndef TESTS_RUN_SCENE_H
#define TESTS_RUN_SCENE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_reader.h"
#include "compare/run.h"

struct run_options {
	const char *comm;
	double steps; /* counted ones; 0: no steps were found */
	double launches, waits, copies, copies_back, bytes, allocations; /* of a step */
	double median_ns;
	double peak_bytes, queries;
	const char *gemm;    /* the kernel of 12 launches a step */
	const char *bias;    /* a second kernel of 6 launches a step, NULL: none */
	const char *finding; /* its id; NULL: none */
	const char *severity;
	bool since_attach;
	const char *sampled; /* a family, NULL: none */
	double spread;	     /* of the steps' times, as a part of the median */
	int lost;
};

static const struct run_options run_scene_usual = {
	.comm = "python3",
	.steps = 700,
	.launches = 12,
	.waits = 1,
	.copies = 1,
	.bytes = 4096,
	.median_ns = 4300000,
	.spread = 0.02,
	.peak_bytes = 1 << 20,
	.queries = 5,
	.gemm = "gemm<4>",
	.finding = "idle-gaps",
	.severity = "warning",
};

struct run_scene {
	char *text;
	struct json_document *document;
	struct compared_run run;
};

static inline void run_scene__steps(FILE *out, const struct run_options *o)
{
	if (!o->steps) {
		fputs("\"steps\":null,\"steady\":null,", out);
		return;
	}
	fprintf(out,
		"\"steps\":{\"summed\":%g,\"count\":%g,\"p50_ns\":%.10g,\"mean_ns\":%.10g,"
		"\"p25_ns\":%.10g,\"p75_ns\":%.10g,\"p99_ns\":9000000,\"launches\":%g,\"waits\":%g,"
		"\"copies\":{\"to_device\":%g,\"to_host\":%g,\"other\":0},"
		"\"bytes\":{\"to_device\":%.10g,\"to_host\":%g,\"other\":0},"
		"\"allocations\":%g,\"frees\":0,\"inside_ns\":{\"launch\":12000,\"memory\":%g,"
		"\"copy\":%g,\"wait\":%g,\"other\":0},\"kernels\":[{\"label\":\"%s\","
		"\"graph\":false,\"launches\":12}",
		o->steps, o->steps + 100, o->median_ns, o->median_ns,
		(1 - o->spread) * o->median_ns, (1 + o->spread) * o->median_ns, o->launches,
		o->waits, o->copies, o->copies_back, o->bytes, 64 * o->copies_back, o->allocations,
		6000 * o->allocations, 10000 * (1 + o->copies_back), 90000 * o->waits, o->gemm);
	if (o->bias)
		fprintf(out, ",{\"label\":\"%s\",\"graph\":false,\"launches\":6}", o->bias);
	fprintf(out,
		"]},\"steady\":{\"ns\":3000000000,\"launches\":%g,\"functions\":["
		"{\"function\":\"cuCtxSynchronize\",\"calls\":%g,\"total_ns\":9000000},"
		"{\"function\":\"cuEventQuery\",\"calls\":%g,\"total_ns\":1000},"
		"{\"function\":\"cuMemcpyHtoD_v2\",\"calls\":700,\"total_ns\":7000000}],"
		"\"copies\":[]},",
		700 * o->launches, 700 * o->waits, 700 * o->queries);
}

static inline void run_scene__print(FILE *out, const struct run_options *o)
{
	fprintf(out,
		"{\"schema\":\"gpuprobe.stat/1\",\"boot_ns\":9000000000,\"began_ns\":5000000000,"
		"\"processes\":[{\"pid\":7,\"comm\":\"%s\",\"start_ns\":1,\"since_attach\":%s,"
		"\"ended\":true,",
		o->comm, o->since_attach ? "true" : "false");
	if (o->sampled)
		fprintf(out, "\"sampling\":{\"%s\":{\"counted\":1,\"missed\":9}},", o->sampled);
	run_scene__steps(out, o);
	fprintf(out,
		"\"peak_bytes\":%.10g,\"launches\":%g,\"graph_launches\":0,\"waits\":[{\"in\":"
		"\"device\",\"calls\":%g}],\"copies\":[{\"kind\":\"H2D\",\"mode\":\"sync\","
		"\"calls\":900,\"bytes\":3686400,\"pageable\":{\"calls\":900}}],"
		"\"memory\":{\"device\":{\"allocations\":1,\"frees\":0},\"live_at_exit_bytes\":0},"
		"\"functions\":[{\"function\":\"cuMemAlloc_v2\",\"calls\":1,\"total_ns\":5000}],"
		"\"kernels\":[{\"label\":\"gemm<4>\",\"name\":\"void gemm<4>(float*)\","
		"\"launches\":%g}]}],\"findings\":[",
		o->peak_bytes, 900 * o->launches, 900 * o->waits, 900 * o->launches);
	if (o->finding)
		fprintf(out, "{\"id\":\"%s\",\"severity\":\"%s\",\"title\":\"what is wrong\"}",
			o->finding, o->severity);
	fprintf(out, "],\"lost\":{\"ring_full\":%d,\"stack_ring_full\":9}}", o->lost);
}

static inline void run_scene__begin(struct run_scene *scene, const struct run_options *options)
{
	struct error err = {""};
	size_t length;
	char *at;
	FILE *out = open_memstream(&scene->text, &length);

	assert_non_null(out);
	run_scene__print(out, options);
	fclose(out);
	at = scene->text;
	if (json_document__parse(&at, scene->text + length, &scene->document, &err) ||
	    compared_run__read(&scene->run, json_document__value(scene->document), "run.json",
			       &err))
		fail_msg("%s", err.text);
}

static inline void run_scene__end(struct run_scene *scene)
{
	compared_run__clear(&scene->run);
	json_document__free(scene->document);
	free(scene->text);
}

#endif
