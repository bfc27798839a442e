// SPDX-License-Identifier: BSD-2-Clause
// Matches CUDA_VISIBLE_DEVICES with the machine's list of GPUs; see visible_devices.h.
#include "device/visible_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whole GPUs in PCI bus order, limited to those whose device nodes the process has. */
struct candidates {
	const struct gpu *gpus;
	size_t gpu_count;
	int index[VISIBLE_MAX];
	size_t count;
	bool divided; /* at least one GPU has instances */
	bool ordered; /* the subscript in index[] is CUDA's number */
};

static bool has_node(const struct cuda_environment *environment, const struct gpu *gpu)
{
	if (environment->nodes == NODES_ALL)
		return true;
	return gpu->minor < NODES_MAX && environment->minors >> gpu->minor & 1;
}

static void insert(struct candidates *candidates, int index)
{
	const struct gpu *gpus = candidates->gpus;
	size_t at = candidates->count++;

	for (; at && strcmp(gpus[candidates->index[at - 1]].bus_id, gpus[index].bus_id) > 0; at--)
		candidates->index[at] = candidates->index[at - 1];
	candidates->index[at] = index;
}

/* Whether the list has every GPU whose node the process has. */
static bool covers_nodes(const struct candidates *candidates,
			 const struct cuda_environment *environment)
{
	uint64_t known = 0;

	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->gpus[candidates->index[i]].minor < NODES_MAX)
			known |= 1ull << candidates->gpus[candidates->index[i]].minor;
	return environment->nodes == NODES_ALL || (environment->minors & ~known) == 0;
}

static bool of_one_name(const struct candidates *candidates)
{
	const struct gpu *gpus = candidates->gpus;

	for (size_t i = 0; i < candidates->count; i++)
		if (!gpus[candidates->index[i]].name[0] ||
		    strcmp(gpus[candidates->index[0]].name, gpus[candidates->index[i]].name))
			return false;
	return true;
}

/* Returns false if too little is known. */
static bool find_candidates(const struct cuda_environment *environment, const struct gpu *gpus,
			    size_t count, struct candidates *candidates)
{
	bool by_bus = !strcmp(environment->order, "PCI_BUS_ID");

	*candidates = (struct candidates){.gpus = gpus, .gpu_count = count};
	for (size_t i = 0; i < count; i++) {
		candidates->divided |= gpus[i].mig != GPU_NONE || gpus[i].divided;
		if (gpus[i].mig != GPU_NONE || !has_node(environment, &gpus[i]))
			continue;
		if (candidates->count == VISIBLE_MAX || !gpus[i].bus_id[0])
			return false;
		insert(candidates, (int)i);
	}
	candidates->ordered = !environment->batch_job && (by_bus || of_one_name(candidates));
	return candidates->count && covers_nodes(candidates, environment);
}

/* Adds a device to the list. CUDA shows no device at all if one is repeated. */
static bool add(struct visible_devices *visible, const struct candidates *candidates, size_t number,
		size_t *numbers)
{
	for (size_t i = 0; i < visible->count; i++) {
		if (numbers[i] == number) {
			visible->count = 0;
			return false;
		}
	}
	numbers[visible->count] = number;
	visible->gpu[visible->count++] = candidates->ordered ? candidates->index[number] : GPU_NONE;
	return true;
}

/*
 * Parses numbers as strtoul does, cut to 32 bits, and ignores what follows them up to the comma.
 * The first element that is no number, or too large, ends the list.
 */
static void map_numbers(const char *list, const struct candidates *candidates,
			struct visible_devices *visible)
{
	size_t numbers[VISIBLE_MAX] = {0};

	while (list) {
		char *end;
		uint32_t number = (uint32_t)strtoul(list, &end, 10);

		if (end == list || number >= candidates->count ||
		    !add(visible, candidates, number, numbers))
			return;
		list = strchr(end, ',');
		if (list)
			list++;
	}
}

/*
 * Returns the GPU whose UUID begins with the element, ignoring case; text after a whole UUID is
 * ignored. -1 if none or several match.
 */
static int match_uuid(const char *element, size_t length, const struct candidates *candidates)
{
	int found = -1;

	if (length <= strlen("GPU-") || strncmp(element, "GPU-", strlen("GPU-")))
		return -1;
	for (size_t i = 0; i < candidates->count; i++) {
		const char *uuid = candidates->gpus[candidates->index[i]].uuid;
		size_t compared = length < strlen(uuid) ? length : strlen(uuid);

		if (!compared || strncasecmp(element, uuid, compared))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static void map_uuids(const char *list, struct candidates *candidates,
		      struct visible_devices *visible)
{
	size_t numbers[VISIBLE_MAX] = {0};

	/* UUIDs name GPUs directly, so the order does not matter. */
	candidates->ordered = true;
	while (*list) {
		size_t length = strcspn(list, ",");
		int number = match_uuid(list, length, candidates);

		if (number < 0)
			return;
		/* It is unknown which instance of a divided GPU CUDA takes. */
		if (candidates->gpus[candidates->index[number]].divided) {
			visible->known = false;
			return;
		}
		if (!add(visible, candidates, (size_t)number, numbers))
			return;
		list += length + (list[length] == ',');
	}
}

/* "MIG-UUID", or before driver 470 "MIG-GPU-UUID/GPU INSTANCE/COMPUTE INSTANCE". */
static bool is_instance(const char *element, size_t length, const struct gpu *gpu,
			const struct candidates *candidates)
{
	char old[GPU_UUID_SIZE + 48];

	if (gpu->mig == GPU_NONE || !gpu->uuid[0])
		return false;
	if (strlen(gpu->uuid) == length && !strncasecmp(gpu->uuid, element, length))
		return true;
	for (size_t i = 0; i < candidates->gpu_count; i++) {
		const struct gpu *whole = &candidates->gpus[i];

		if (whole->mig != GPU_NONE || whole->index != gpu->index)
			continue;
		snprintf(old, sizeof(old), "MIG-%s/%u/%u", whole->uuid, gpu->instance[0],
			 gpu->instance[1]);
		if (strlen(old) == length && !strncasecmp(old, element, length))
			return true;
	}
	return false;
}

static void map_instance(const char *list, const struct candidates *candidates,
			 struct visible_devices *visible)
{
	size_t length = strcspn(list, ",");

	for (size_t i = 0; i < candidates->gpu_count; i++) {
		if (!is_instance(list, length, &candidates->gpus[i], candidates))
			continue;
		visible->gpu[visible->count++] = (int)i;
		return;
	}
	/*
	 * The element may have a form that is unknown here. Without instances CUDA shows no device.
	 */
	visible->known = !candidates->divided;
}

void visible_devices__map(const struct cuda_environment *environment, const struct gpu *gpus,
			  size_t count, struct visible_devices *visible)
{
	struct candidates candidates;

	*visible = (struct visible_devices){0};
	if (!environment->known || environment->nodes == NODES_UNKNOWN ||
	    !find_candidates(environment, gpus, count, &candidates))
		return;
	visible->known = true;
	/* An order that the driver does not know makes cuInit fail. */
	if (environment->has_order && strcmp(environment->order, "PCI_BUS_ID") &&
	    strcmp(environment->order, "FASTEST_FIRST"))
		return;
	if (environment->has_visible && !strncmp(environment->visible, "GPU-", 4)) {
		map_uuids(environment->visible, &candidates, visible);
	} else if (environment->has_visible && !strncmp(environment->visible, "MIG-", 4)) {
		map_instance(environment->visible, &candidates, visible);
	} else if (candidates.divided || environment->batch_job) {
		visible->known = false;
	} else if (environment->has_visible) {
		map_numbers(environment->visible, &candidates, visible);
	} else {
		for (size_t i = 0; i < candidates.count; i++)
			visible->gpu[i] = candidates.ordered ? candidates.index[i] : GPU_NONE;
		visible->count = candidates.count;
	}
	if (!visible->known)
		visible->count = 0;
}

int visible_devices__by_uuid(const uint8_t uuid[16], const struct gpu *gpus, size_t count)
{
	char text[40], *at = text;

	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      uuid[i]);
	for (size_t i = 0; i < count; i++)
		if (strlen(gpus[i].uuid) > 4 && !strcasecmp(gpus[i].uuid + 4, text))
			return (int)i;
	return GPU_NONE;
}
