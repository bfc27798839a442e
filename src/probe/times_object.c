// SPDX-License-Identifier: BSD-2-Clause
// Loads and attaches the BPF object for GPU times; see times_object.h.
#include "probe/times_object.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/times.skel.h"
#include "probe/library_points.h"
#include "probe/lost_counts.h"
#include "probe/multi_link.h"

struct times_object {
	struct times_bpf *skeleton;
	struct library_points points;
};

static const char *const names[] = {"gpuprobe_times_work", "gpuprobe_times_name",
				    "gpuprobe_times_failure", "gpuprobe_times_clock"};
static const uint64_t cookies[] = {GPU_TIMES_WORK, GPU_TIMES_NAME, GPU_TIMES_FAILURE,
				   GPU_TIMES_CLOCK};
static const struct library_functions functions = {names, cookies,
						   sizeof(cookies) / sizeof(*cookies)};

static int share_maps(const struct times_bpf *times, const struct times_object_base *base)
{
	bpf_map__set_autocreate(times->maps.ring, false);
	bpf_map__set_autocreate(times->maps.sites, false);
	bpf_map__set_autocreate(times->maps.losses, false);
	return bpf_map__reuse_fd(times->maps.watched, base->watched) ? -errno : 0;
}

static int load(struct times_object *object, const struct times_object_base *base, bool multi,
		struct error *err)
{
	struct times_bpf *times = times_bpf__open();
	int ret = times ? share_maps(times, base) : -errno;

	object->skeleton = times;
	if (!ret) {
		memcpy((void *)&times->rodata->config, base->config, sizeof(times->rodata->config));
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

int times_object__new(const struct times_object_base *base, enum link_kind links, const char *path,
		      struct times_object **out, struct error *err)
{
	struct times_object *object = calloc(1, sizeof(*object));
	bool multi = links != LINKS_TRACEFS;
	int ret;

	if (!object)
		return error__set(err, -ENOMEM, "out of memory");
	object->points.link = -1;
	ret = load(object, base, multi, err);
	if (!ret)
		ret = library_points__attach(&object->points, object->skeleton->progs.gpu_times,
					     multi, path, &functions, err);
	if (ret) {
		times_object__free(object);
		return ret;
	}
	*out = object;
	return 0;
}

void times_object__free(struct times_object *object)
{
	if (!object)
		return;
	library_points__detach(&object->points);
	times_bpf__destroy(object->skeleton);
	free(object);
}

int times_object__ring_fd(const struct times_object *object)
{
	return bpf_map__fd(object->skeleton->maps.gpu_times_ring);
}

void times_object__lost(const struct times_object *object, uint64_t lost[GPU_TIMES_LOSSES])
{
	lost_counts__read(bpf_map__fd(object->skeleton->maps.gpu_times_lost), lost,
			  GPU_TIMES_LOSSES);
}
