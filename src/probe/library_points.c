// SPDX-License-Identifier: BSD-2-Clause
// Probes on a library of gpuprobe's, see library_points.h.
#include "probe/library_points.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/sigkill_safe.h"
#include "probe/multi_link.h"
#include "target/elf_file.h"

static int find_functions(const char *path, const struct library_functions *functions,
			  uint64_t offsets[LIBRARY_POINTS], struct error *err)
{
	struct elf_file *file = NULL;
	int ret = elf_file__open(path, &file, err);

	if (ret)
		return ret;

	for (size_t i = 0; i < functions->count && !ret; i++) {
		struct elf_symbol symbol;

		ret = elf_file__find_function(file, functions->names[i], &symbol);
		if (!ret)
			offsets[i] = symbol.file_offset;
	}
	elf_file__free(file);
	return ret ? error__set(err, ret, "cannot read %s: %s; install gpuprobe again", path,
				strerror(-ret)) :
		     0;
}

static int attach_each(struct library_points *points, const struct bpf_program *program,
		       const char *path, const struct library_functions *functions,
		       const uint64_t offsets[LIBRARY_POINTS])
{
	for (size_t i = 0; i < functions->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = functions->cookies[i]);

		points->links[i] =
			bpf_program__attach_uprobe_opts(program, -1, path, offsets[i], &options);
		if (!points->links[i])
			return -errno;
	}
	return 0;
}

int library_points__attach(struct library_points *points, struct bpf_program *program, bool multi,
			   const char *path, const struct library_functions *functions,
			   struct error *err)
{
	uint64_t offsets[LIBRARY_POINTS] = {0};
	int ret = find_functions(path, functions, offsets, err);

	*points = (struct library_points){.link = -1};
	if (ret)
		return ret;
	if (multi) {
		points->link =
			multi_link__create(bpf_program__fd(program), ATTACH_UPROBE_MULTI, path,
					   offsets, functions->cookies, functions->count, false);
		ret = points->link < 0 ? points->link : 0;
	} else {
		ret = attach_each(points, program, path, functions, offsets);
	}
	return ret ? error__set(err, ret, "cannot probe %s: %s", path, strerror(-ret)) : 0;
}

static void detach(void *arg)
{
	struct library_points *points = arg;

	if (points->link >= 0)
		close(points->link);
	for (size_t i = 0; i < LIBRARY_POINTS; i++)
		bpf_link__destroy(points->links[i]);
	*points = (struct library_points){.link = -1};
}

void library_points__detach(struct library_points *points)
{
	sigkill_safe__run(detach, points, 1);
}
