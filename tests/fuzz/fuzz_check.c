// SPDX-License-Identifier: BSD-2-Clause
/*
 * What `gpuprobe check` reads of a process and prints about it: mappings, texts of /proc/PID, the
 * program's link, and a file of any contents for its libraries. If the first byte is odd, the input
 * is texts of the machine instead, which inside a container anybody may have written. The output
 * must be text and JSON that a terminal does not act on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "check/gpus.h"
#include "check/host.h"
#include "check/kernel.h"
#include "check/libraries.h"
#include "check/processes.h"
#include "harness.h"
#include "output/check/check.h"

#define TEXTS 6 /* maps, status, stat, the user map, cgroup, the program's link */

/* JSON is one line. */
static void must_be_text(const char *text, bool json)
{
	const char *newline = strchr(text, '\n');

	MUST(!json || (newline && !newline[1]));
	while (*text) {
		size_t length =
			json ? json__utf8_length(text) : escape__printable(text, strnlen(text, 4));

		MUST(length || *text == '\n');
		text += length ? length : 1;
	}
}

static void print(const struct check_list *list, bool json)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	MUST(out && !list->no_memory);
	if (json)
		check_json__print(out, list);
	else
		check_text__print(out, list, false, 0);
	MUST(!fclose(out) && strlen(text) == length);
	must_be_text(text, json);
	free(text);
}

static void print_all(struct check_list *list)
{
	print(list, false);
	print(list, true);
	check_list__clear(list);
}

static void stand_in(char *const texts[TEXTS], const struct input *file, bool opens)
{
	/* The first prefix that matches wins: status must come before stat. */
	harness__set_file("/proc/1/status", texts[1], strlen(texts[1]));
	harness__add_file("/proc/1/stat", texts[2], strlen(texts[2]));
	harness__add_file("/proc/1/uid_map", texts[3], strlen(texts[3]));
	harness__add_file("/proc/1/cgroup", texts[4], strlen(texts[4]));
	harness__add_file("/proc/1/exe", file->at, file->left);
	harness__add_file("/proc/", NULL, 0);
	harness__add_file("/", opens ? file->at : NULL, file->left);
	harness__set_link(texts[5]);
	harness__set_maps(texts[0]);
	harness__set_memory(0x7f0000000000, file->at, file->left);
}

static void check_process(struct input *input, uint64_t how)
{
	bool asked_for = how & 2, filters_kill = how & 4, opens = !(how & 8);
	struct checked_libraries libraries = {0};
	struct looked_at looked = {.given = asked_for};
	struct check_list list = {0};
	struct process_facts facts;
	char *texts[TEXTS];
	int ret;

	for (size_t i = 0; i < TEXTS; i++)
		texts[i] = input__string(input);
	stand_in(texts, input, opens);
	ret = process_facts__read(NULL, 1, asked_for, &libraries, &facts);
	MUST(!ret || ret == -ESRCH);
	if (!ret)
		check_process__judge(&facts, filters_kill, &list);
	process_facts__clear(&facts);
	check_libraries__judge(&libraries, &looked, &list);
	checked_libraries__clear(&libraries);
	print_all(&list);
	harness__set_memory(0, NULL, 0);
	harness__set_maps(NULL);
	for (size_t i = 0; i < TEXTS; i++)
		free(texts[i]);
}

static void check_machine(struct input *input, bool perf)
{
	struct kernel_facts kernel = {.machine = "x86_64"};
	struct gpu_facts gpus = {.failure = -ENOENT};
	struct check_list list = {0};
	struct host_facts host;
	char *path = input__string(input), *text = input__rest(input);

	harness__set_file("/", text, strlen(text));
	host_facts__read("", &host);
	check_host__judge(&host, perf, &list);
	gpu_facts__read_module("", &gpus);
	check_gpus__judge(&gpus, library_version__of(path), &list);
	snprintf(kernel.release, sizeof(kernel.release), "%s", text);
	kernel_facts__parse_lockdown(text, kernel.lockdown);
	check_kernel__judge(&kernel, &list);
	print_all(&list);
	free(path);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	uint64_t how = input__number(&input, 1);

	if (how & 1)
		check_machine(&input, how & 2);
	else
		check_process(&input, how);
	harness__set_file(NULL, NULL, 0);
	return 0;
}
