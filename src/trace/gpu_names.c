// SPDX-License-Identifier: BSD-2-Clause
// Names of kernels that ran, see gpu_names.h.
#include "trace/gpu_names.h"

#include <string.h>

#include "gpuprobe/gpu_times.h"
#include "symbol/kernel_name.h"

static void free_name(struct gpu_name *name)
{
	free(name->mangled);
	free(name->shown);
	free(name->label);
	free(name);
}

static int make_label(struct gpu_names *names, struct gpu_names_room *room, struct gpu_name *name,
		      const char *readable)
{
	char label[KERNEL_LABEL_SIZE];
	int ret = launch_labels__write(&names->labels, &room->label_bytes, name->mangled, readable,
				       label);

	name->label = ret ? NULL : strdup(label);
	return name->label ? 0 : -ENOMEM;
}

static int make_texts(struct gpu_names *names, struct gpu_names_room *room, struct gpu_name *name,
		      const char *text, bool full)
{
	char *readable = kernel_name__demangle_within(&names->spent_ns, text);
	int ret = -ENOMEM;

	name->mangled = strdup(text);
	if (!readable || !name->mangled)
		goto out;
	name->shown = full ? strdup(readable) : kernel_name__short(readable);
	ret = !name->shown ? -ENOMEM : full ? 0 : make_label(names, room, name, readable);
out:
	free(readable);
	return ret;
}

int gpu_names__add(struct gpu_names *names, struct gpu_names_room *room, uint64_t number,
		   const char *text, bool full)
{
	struct gpu_name *name;
	int ret;

	if (gpu_names__find(names, number))
		return 0;
	if (!kernel_name__valid(text, GPU_TIMES_NAME_SIZE))
		return -EINVAL;
	if (HASH_COUNT(names->names) >= GPU_NAMES_MAX || room->bytes >= GPU_NAMES_BYTES_MAX)
		return -ENOSPC;
	name = calloc(1, sizeof(*name));
	if (!name)
		return -ENOMEM;
	name->number = number;
	ret = make_texts(names, room, name, text, full);
	if (!ret)
		ret = TABLE_ADD(names->names, number, name);
	if (ret) {
		free_name(name);
		return ret;
	}
	name->bytes = sizeof(*name) + strlen(name->mangled) + strlen(name->shown);
	room->bytes += name->bytes;
	return 0;
}

const struct gpu_name *gpu_names__find(const struct gpu_names *names, uint64_t number)
{
	return TABLE_FIND(names->names, number, &number);
}

void gpu_names__clear(struct gpu_names *names, struct gpu_names_room *room)
{
	const struct gpu_name *name, *next;

	HASH_ITER (hh, names->names, name, next)
		room->bytes -= name->bytes;
	TABLE_CLEAR(names->names, free_name);
	launch_labels__clear(&names->labels, &room->label_bytes);
}
