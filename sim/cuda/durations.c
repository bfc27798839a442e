// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long the device takes for each kind of work: CUDA_SIM_CLOCK, a list of WORK=DURATION. Work
 * that is not listed takes no time.
 */
#include "cuda/durations.h"
#include "record/internal.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "CUDA_SIM_CLOCK"
#define EXPECTED "expected kernel=, kernel:NAME= or graph_node=DURATION, copy= or " \
		 "set=DURATION[+DURATION/B], latency=DURATION, or queue=1 to 65536, " \
		 "in a list with commas"
#define KERNEL_PREFIX "kernel:"
#define MAX_QUEUE 65536ull

/* A kernel with its own duration. */
struct named {
	uint32_t kernel; /* the id of its name */
	struct sim_latency takes;
};

static struct {
	struct sim_latency kernel, copy, set, node;
	struct sim_latency latency; /* of work before it begins, on a GPU without work too */
	struct named *named;
	size_t nr_named;
	uint32_t queue;
} durations = { .queue = 1024 };

static struct sim_latency *add_named(const char *name, size_t length)
{
	struct named *grown = realloc(durations.named, (durations.nr_named + 1) * sizeof(*grown));
	char *copy = strndup(name, length);

	if (!grown || !copy)
		sim_parse__refuse(VARIABLE, name, "out of memory");
	durations.named = grown;
	grown[durations.nr_named] = (struct named){ .kernel = sim_names__intern(copy) };
	free(copy);
	return &grown[durations.nr_named++].takes;
}

/* The member for an item's work, NULL if there is no such work. */
static struct sim_latency *place_of(const char *item, size_t length)
{
	const struct {
		const char *name;
		struct sim_latency *place;
	} places[] = {
		{ "kernel", &durations.kernel }, { "copy", &durations.copy },
		{ "set", &durations.set }, { "graph_node", &durations.node },
		{ "latency", &durations.latency }
	};
	size_t prefix = strlen(KERNEL_PREFIX);

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(item, places[i].name, length) && !places[i].name[length])
			return places[i].place;
	if (length > prefix && !strncmp(item, KERNEL_PREFIX, prefix))
		return add_named(item + prefix, length - prefix);
	return NULL;
}

/* Both return the rest of the text, NULL if they do not understand it. */
static const char *read_queue(const char *text)
{
	char *end;
	unsigned long long queue = strtoull(text, &end, 10);

	if (end == text || *text == '-' || !queue || queue > MAX_QUEUE)
		return NULL;
	durations.queue = (uint32_t)queue;
	return end;
}

static const char *read_item(const char *item)
{
	size_t length = strcspn(item, "=,");
	struct sim_latency *place, takes;
	const char *end;

	if (item[length] != '=')
		return NULL;
	if (length == strlen("queue") && !strncmp(item, "queue", length))
		return read_queue(item + length + 1);
	place = place_of(item, length);
	if (!place || !sim_parse__latency(item + length + 1, &takes, &end))
		return NULL;
	if (takes.byte_ns > 0 && place != &durations.copy && place != &durations.set)
		return NULL;
	*place = takes;
	return end;
}

bool durations__read(void)
{
	const char *list = getenv(VARIABLE);
	const char *text = list;

	if (!list || !*list)
		return false;
	do {
		text = read_item(text);
		if (!text || (*text && *text != ','))
			sim_parse__refuse(VARIABLE, list, EXPECTED);
	} while (*text++);
	return true;
}

static uint64_t total(const struct sim_latency *takes, uint64_t bytes)
{
	return (uint64_t)(takes->fixed_ns + takes->byte_ns * (double)bytes);
}

static uint64_t kernel_ns(uint64_t kernel)
{
	for (size_t i = 0; i < durations.nr_named; i++)
		if (durations.named[i].kernel == kernel)
			return total(&durations.named[i].takes, 0);
	return total(&durations.kernel, 0);
}

uint64_t durations__of(enum work work, uint64_t amount)
{
	switch (work) {
	case WORK_KERNEL:
		return kernel_ns(amount);
	case WORK_COPY:
		return total(&durations.copy, amount);
	case WORK_SET:
		return total(&durations.set, amount);
	case WORK_GRAPH:
		return amount;
	case WORK_OTHER:
		break;
	}
	return 0;
}

uint64_t durations__of_node(void)
{
	return total(&durations.node, 0);
}

uint64_t durations__latency(void)
{
	return total(&durations.latency, 0);
}

uint32_t durations__queue(void)
{
	return durations.queue;
}
