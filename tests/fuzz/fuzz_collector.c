// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notices of the monitor's ring with any contents, and the kernel names in them, up to the lists of
 * a report.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/attribution.h"
#include "collect/private.h"
#include "harness.h"
#include "model/kernels.h"
#include "output/json/report.h"
#include "output/report/text.h"

#define SLOTS 4
#define RECORD_MAX 700
#define STEPS_MAX 64

static unsigned int changes;

static void on_change(const struct record_library *record, void *arg)
{
	(void)arg;
	changes += record->pid > 0;
}

static void make(struct collector *collector)
{
	static const struct log quiet = {.level = LOG_QUIET};

	*collector = (struct collector){
		.options = {.sections = SECTION_ALL, .max_processes = SLOTS},
		.log = &quiet,
		.hooks = {.process_changed = on_change},
		.names = kernel_names__new(),
		.attribution = attribution__new(NULL, &(struct pod_logs){0}),
		.records = calloc(SLOTS, sizeof(struct process_record)),
		.index_of = malloc(SLOTS * sizeof(uint32_t)),
	};
	MUST(collector->names && collector->attribution && collector->records &&
	     collector->index_of);
	memset(collector->index_of, 0xff, SLOTS * sizeof(uint32_t));
	collector->model.sections = SECTION_ALL;
}

static void destroy(struct collector *collector)
{
	model__clear(&collector->model);
	kernel_names__free(collector->names);
	attribution__free(collector->attribution);
	free(collector->records);
	free(collector->index_of);
	free(collector->late);
}

static void take_notice(struct collector *collector, struct input *input)
{
	union {
		uint64_t words[(RECORD_MAX + 7) / 8];
		struct record record;
		struct record_name name;
	} notice = {{0}};
	uint64_t type = input__number(input, 1);
	size_t size = input__number(input, 2) % RECORD_MAX;
	const uint8_t *bytes;
	void *exact;

	size = input__bytes(input, size, &bytes);
	memcpy(&notice, bytes, size);
	if (type & 0x80 && size > sizeof(notice.name)) {
		notice.name.length = (uint16_t)(size - sizeof(notice.name) - 1);
		((char *)&notice)[size - 1] = '\0';
	}
	notice.record.type = (uint32_t)type % 8;
	notice.record.slot %= SLOTS + 1;
	exact = harness__exactly(&notice, size);
	notices__take(exact, size, collector);
	free(exact);
}

static void see_process(struct collector *collector, struct input *input)
{
	struct process_record *record = &collector->records[input__number(input, 1) % SLOTS];
	const uint8_t *bytes;
	size_t size = input__bytes(input, sizeof(*record), &bytes);

	memcpy(record, bytes, size);
	record->state = 1;
	if (collector->has_fresh)
		collector__see_fresh_processes(collector);
}

static void count_launches(struct collector *collector, struct input *input)
{
	struct launch_key key = {0};
	struct process *process;
	const uint8_t *bytes;
	uint32_t slot = (uint32_t)input__number(input, 1) % SLOTS;
	uint64_t launches = input__number(input, 8);
	const char *name;
	size_t size;

	size = input__bytes(input, sizeof(key), &bytes);
	memcpy(&key, bytes, size);
	key.kernel.slot = slot;
	process = collector__process_at(collector, slot);
	if (!process || !process->kernel_table)
		return;
	name = kernel_names__find(collector->names, &key.kernel);
	MUST(!kernel_table__set(process->kernel_table, &key, launches, name));
	if (launches & 1)
		kernel_table__retire(process->kernel_table, &key);
	if (launches & 2)
		MUST(!kernel_table__fold(process->kernel_table, &key));
	MUST(!kernel_table__list(process->kernel_table, process));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct report_options options = {.top = 5, .full_names = size & 1};
	struct collector collector;

	make(&collector);
	harness__set_file("/proc/", NULL, 0);
	for (int i = 0; i < STEPS_MAX && input.left; i++) {
		uint64_t step = input__number(&input, 1) % 4;

		if (step == 0)
			see_process(&collector, &input);
		else if (step == 1)
			count_launches(&collector, &input);
		else
			take_notice(&collector, &input);
	}
	report_text__print(harness__sink(), &collector.model, &options);
	report_json__print(harness__sink(), &collector.model, NULL, NULL, NULL);
	destroy(&collector);
	harness__set_file(NULL, NULL, 0);
	return 0;
}
