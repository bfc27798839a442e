// SPDX-License-Identifier: BSD-2-Clause
// Loads and attaches the BPF object for NVTX ranges; see nvtx_object.h.
#include "probe/nvtx_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gpuprobe.skel.h"
#include "gen/nvtx.skel.h"
#include "probe/library_points.h"
#include "probe/lost_counts.h"
#include "probe/multi_link.h"

struct nvtx_object {
	struct nvtx_bpf *skeleton;
	struct library_points points;
};

static const char *const names[] = {"gpuprobe_nvtx_push", "gpuprobe_nvtx_pop",
				    "gpuprobe_nvtx_start", "gpuprobe_nvtx_end",
				    "gpuprobe_nvtx_name"};
static const uint64_t cookies[] = {NVTX_PUSH, NVTX_POP, NVTX_START, NVTX_END, NVTX_NAME};
static const struct library_functions functions = {names, cookies,
						   sizeof(cookies) / sizeof(*cookies)};

static int share_maps(const struct nvtx_bpf *nvtx, const struct gpuprobe_bpf *monitor)
{
	const struct {
		struct bpf_map *own;
		const struct bpf_map *theirs;
	} maps[] = {
		{nvtx->maps.watched, monitor->maps.watched},
		{nvtx->maps.threads, monitor->maps.threads},
		{nvtx->maps.thread_accounts, monitor->maps.thread_accounts},
		{nvtx->maps.step_records, monitor->maps.step_records},
	};

	bpf_map__set_autocreate(nvtx->maps.ring, false);
	bpf_map__set_autocreate(nvtx->maps.sites, false);
	bpf_map__set_autocreate(nvtx->maps.losses, false);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (bpf_map__reuse_fd(maps[i].own, bpf_map__fd(maps[i].theirs)))
			return -errno;
	return 0;
}

static int load(struct nvtx_object *object, const struct gpuprobe_bpf *monitor, bool multi,
		struct error *err)
{
	struct nvtx_bpf *nvtx = nvtx_bpf__open();
	int ret = nvtx ? share_maps(nvtx, monitor) : -errno;

	object->skeleton = nvtx;
	if (!ret) {
		memcpy((void *)&nvtx->rodata->config, (const void *)&monitor->rodata->config,
		       sizeof(nvtx->rodata->config));
		if (nvtx->rodata->config.gpu_times)
			bpf_map__set_max_entries(nvtx->maps.nvtx_paths, NVTX_ALL_PATHS);
		if (multi)
			bpf_program__set_expected_attach_type(
				nvtx->progs.nvtx, (enum bpf_attach_type)ATTACH_UPROBE_MULTI);
		ret = nvtx_bpf__load(nvtx);
	}
	return ret ? error__set(err, ret,
				"the kernel refused the program that takes NVTX ranges: %s; it "
				"needs Linux 6.1 with BTF, CAP_BPF and CAP_PERFMON",
				strerror(-ret)) :
		     0;
}

int nvtx_object__new(const struct gpuprobe_bpf *monitor, enum link_kind links, const char *path,
		     struct nvtx_object **out, struct error *err)
{
	struct nvtx_object *object = calloc(1, sizeof(*object));
	bool multi = links != LINKS_TRACEFS;
	int ret;

	if (!object)
		return error__set(err, -ENOMEM, "out of memory");
	object->points.link = -1;
	ret = load(object, monitor, multi, err);
	if (!ret)
		ret = library_points__attach(&object->points, object->skeleton->progs.nvtx, multi,
					     path, &functions, err);
	if (ret) {
		nvtx_object__free(object);
		return ret;
	}
	*out = object;
	return 0;
}

void nvtx_object__free(struct nvtx_object *object)
{
	if (!object)
		return;
	library_points__detach(&object->points);
	nvtx_bpf__destroy(object->skeleton);
	free(object);
}

int nvtx_object__ring_fd(const struct nvtx_object *object)
{
	return bpf_map__fd(object->skeleton->maps.nvtx_names);
}

void nvtx_object__each(const struct nvtx_object *object, nvtx_range_fn fn, void *arg)
{
	int map = bpf_map__fd(object->skeleton->maps.nvtx_ranges);
	struct nvtx_record record;
	struct nvtx_key key;
	bool first = true;

	while (!bpf_map_get_next_key(map, first ? NULL : &key, &key)) {
		first = false;
		if (!bpf_map_lookup_elem(map, &key, &record))
			fn(&key, &record, arg);
	}
}

void nvtx_object__each_path(const struct nvtx_object *object, nvtx_path_fn fn, void *arg)
{
	int map = bpf_map__fd(object->skeleton->maps.nvtx_paths);
	struct nvtx_path_key key;
	struct nvtx_path path;
	bool first = true;

	while (!bpf_map_get_next_key(map, first ? NULL : &key, &key)) {
		first = false;
		if (!bpf_map_lookup_elem(map, &key, &path))
			fn(&key, &path, arg);
	}
}

void nvtx_object__lost(const struct nvtx_object *object, uint64_t lost[NVTX_LOSSES])
{
	lost_counts__read(bpf_map__fd(object->skeleton->maps.nvtx_lost), lost, NVTX_LOSSES);
}
