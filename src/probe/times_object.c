// SPDX-License-Identifier: BSD-2-Clause
// Loads and attaches the BPF object for GPU times; see times_object.h.
#include "probe/times_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sigkill_safe.h"
#include "gen/gpuprobe.skel.h"
#include "gen/times.skel.h"
#include "probe/multi_link.h"
#include "target/elf_file.h"

#define POINTS 4

struct times_object {
	struct times_bpf *skeleton;
	int link;			/* of all functions, or -1 */
	struct bpf_link *links[POINTS]; /* of one function each, without uprobe_multi */
	int processors;
};

static const char *const functions[POINTS] = {"gpuprobe_times_work", "gpuprobe_times_name",
					      "gpuprobe_times_failure", "gpuprobe_times_clock"};
static const uint64_t cookies[POINTS] = {GPU_TIMES_WORK, GPU_TIMES_NAME, GPU_TIMES_FAILURE,
					 GPU_TIMES_CLOCK};

static int find_functions(const char *path, uint64_t offsets[POINTS], struct error *err)
{
	struct elf_file *file = NULL;
	int ret = elf_file__open(path, &file, err);

	if (ret)
		return ret;

	for (size_t i = 0; i < POINTS && !ret; i++) {
		struct elf_symbol symbol;

		ret = elf_file__find_function(file, functions[i], &symbol);
		if (!ret)
			offsets[i] = symbol.file_offset;
	}
	elf_file__free(file);
	return ret ? error__set(err, ret, "cannot read %s: %s; install gpuprobe again", path,
				strerror(-ret)) :
		     0;
}

static int share_maps(const struct times_bpf *times, const struct gpuprobe_bpf *monitor)
{
	bpf_map__set_autocreate(times->maps.ring, false);
	bpf_map__set_autocreate(times->maps.sites, false);
	bpf_map__set_autocreate(times->maps.losses, false);
	return bpf_map__reuse_fd(times->maps.watched, bpf_map__fd(monitor->maps.watched)) ? -errno :
											    0;
}

static int load(struct times_object *object, const struct gpuprobe_bpf *monitor, bool multi,
		struct error *err)
{
	struct times_bpf *times = times_bpf__open();
	int ret = times ? share_maps(times, monitor) : -errno;

	object->skeleton = times;
	if (!ret) {
		memcpy((void *)&times->rodata->config, (const void *)&monitor->rodata->config,
		       sizeof(times->rodata->config));
		if (multi)
			bpf_program__set_expected_attach_type(
				times->progs.gpu_times, (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
		ret = times_bpf__load(times);
	}
	return ret ? error__set(err, ret,
				"the kernel refused the program that takes GPU times: %s; it needs "
				"Linux 6.1 with BTF, CAP_BPF and CAP_PERFMON",
				strerror(-ret)) :
		     0;
}

static int attach_each(struct times_object *object, const char *path,
		       const uint64_t offsets[POINTS])
{
	for (size_t i = 0; i < POINTS; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookies[i]);

		object->links[i] = bpf_program__attach_uprobe_opts(
			object->skeleton->progs.gpu_times, -1, path, offsets[i], &options);
		if (!object->links[i])
			return -errno;
	}
	return 0;
}

static int attach(struct times_object *object, bool multi, const char *path, struct error *err)
{
	uint64_t offsets[POINTS] = {0};
	int ret = find_functions(path, offsets, err);

	if (ret)
		return ret;
	if (multi) {
		object->link = multi_link__create(
			bpf_program__fd(object->skeleton->progs.gpu_times), ATTACH_UPROBE_MULTI,
			path, offsets, cookies, POINTS, false);
		ret = object->link < 0 ? object->link : 0;
	} else {
		ret = attach_each(object, path, offsets);
	}
	return ret ? error__set(err, ret, "cannot probe %s: %s", path, strerror(-ret)) : 0;
}

int times_object__new(const struct gpuprobe_bpf *monitor, enum link_kind links, const char *path,
		      struct times_object **out, struct error *err)
{
	struct times_object *object = calloc(1, sizeof(*object));
	bool multi = links != LINKS_TRACEFS;
	int ret;

	if (!object)
		return error__set(err, -ENOMEM, "out of memory");
	object->link = -1;
	object->processors = libbpf_num_possible_cpus();
	ret = load(object, monitor, multi, err);
	if (!ret)
		ret = attach(object, multi, path, err);
	if (ret) {
		times_object__free(object);
		return ret;
	}
	*out = object;
	return 0;
}

static void detach(void *arg)
{
	const struct times_object *object = arg;

	if (object->link >= 0)
		close(object->link);
	for (size_t i = 0; i < POINTS; i++)
		bpf_link__destroy(object->links[i]);
}

void times_object__free(struct times_object *object)
{
	if (!object)
		return;
	sigkill_safe__run(detach, object, 1);
	times_bpf__destroy(object->skeleton);
	free(object);
}

int times_object__ring_fd(const struct times_object *object)
{
	return bpf_map__fd(object->skeleton->maps.gpu_times_ring);
}

void times_object__lost(const struct times_object *object, uint64_t lost[GPU_TIMES_LOSSES])
{
	int map = bpf_map__fd(object->skeleton->maps.gpu_times_lost);
	uint64_t *each = calloc((size_t)object->processors, sizeof(*each));

	for (uint32_t i = 0; i < GPU_TIMES_LOSSES; i++) {
		lost[i] = 0;
		if (!each || bpf_map_lookup_elem(map, &i, each))
			continue;
		for (int cpu = 0; cpu < object->processors; cpu++)
			lost[i] += each[cpu];
	}
	free(each);
}
