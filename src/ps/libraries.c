// SPDX-License-Identifier: BSD-2-Clause
// NVIDIA's libraries in a process; see libraries.h.
#include "ps/libraries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "target/cuda_library.h"
#include "target/proc.h"
#include "target/proc_maps.h"
#include "target/root_file.h"
#include "target/runtime_major.h"

#define PROGRAMS_MAX 64 /* different programs that are read: a user may have any number */

static const char *const file_names[PS_LIBRARY_KINDS] = {
	[PS_DRIVER] = "libcuda.so",
	[PS_CUDART] = "libcudart.so",
	[PS_NCCL] = "libnccl.so",
	[PS_CUDNN] = "libcudnn.so",
};

/* --- mapped files --- */

/* The digits and dots after the name; empty if anything else follows. */
static void take_version(struct ps_library *library, const char *rest)
{
	size_t length = strspn(rest, "0123456789.");

	if (*rest++ != '.' || !--length || length >= PS_VERSION_SIZE || rest[length])
		return;
	if (length > strlen(library->version))
		snprintf(library->version, PS_VERSION_SIZE, "%s", rest);
}

void ps_libraries__add(struct ps_libraries *libraries, const char *path)
{
	const char *name = mapping__base_name(path);

	for (size_t i = 0; name && i < PS_LIBRARY_KINDS; i++) {
		size_t length = strlen(file_names[i]);

		if (strncmp(name, file_names[i], length) != 0 ||
		    (name[length] && name[length] != '.'))
			continue;
		libraries->list[i].mapped = true;
		take_version(&libraries->list[i], name + length);
	}
}

static int look_at(const struct mapping *mapping, void *arg)
{
	struct ps_libraries *libraries = arg;

	/* Who only reads a file does not use it: gpuprobe maps libraries to look into them. */
	if (!mapping->executable || !mapping__is_file(mapping))
		return 0;
	libraries->maps_cuda |= mapping__is_named_like_cuda(mapping->path);
	ps_libraries__add(libraries, mapping->path);
	return 0;
}

int ps_libraries__read(pid_t pid, struct ps_libraries *libraries)
{
	int ret;

	*libraries = (struct ps_libraries){0};
	ret = proc_maps__each(pid, look_at, libraries);
	libraries->known = !ret;
	return ret;
}

/* --- the runtime in the program --- */

struct program {
	dev_t device;
	ino_t inode;
	bool inside;
	int major; /* of the runtime; API_NEWEST: unknown */
};

struct ps_programs {
	struct program list[PROGRAMS_MAX];
	size_t count;
};

struct ps_programs *ps_programs__new(void)
{
	return calloc(1, sizeof(struct ps_programs));
}

void ps_programs__free(struct ps_programs *programs)
{
	free(programs);
}

static const struct program *find(const struct ps_programs *programs, const struct stat *status)
{
	for (size_t i = 0; i < programs->count; i++)
		if (programs->list[i].device == status->st_dev &&
		    programs->list[i].inode == status->st_ino)
			return &programs->list[i];
	return NULL;
}

/* Takes ownership of `fd`. */
static struct program read_program(int fd, const struct stat *status)
{
	struct program program = {
		.device = status->st_dev, .inode = status->st_ino, .major = API_NEWEST};
	struct elf_file *elf = NULL;
	unsigned int layers = 0;

	if (elf_file__open_fd(fd, "program", &elf, NULL))
		return program;
	if (!cuda_library__layers(elf, &layers) && (layers & LAYER_BIT(LAYER_RUNTIME))) {
		program.inside = true;
		program.major = runtime_major__of(elf);
	}
	elf_file__free(elf);
	return program;
}

static const struct program *find_program(struct ps_programs *programs, pid_t pid)
{
	const struct program *found;
	struct stat status;
	char link[64];
	int fd;

	proc__exe_path(pid, link, sizeof(link));
	fd = root_file__open_link(pid, link);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status))
		memset(&status, 0, sizeof(status));
	found = find(programs, &status);
	if (!found && programs->count < PROGRAMS_MAX) {
		programs->list[programs->count] = read_program(fd, &status);
		return &programs->list[programs->count++];
	}
	close(fd);
	return found;
}

void ps_libraries__look_inside(struct ps_programs *programs, pid_t pid,
			       struct ps_libraries *libraries)
{
	struct ps_library *runtime = &libraries->list[PS_CUDART];
	const struct program *program;

	if (!libraries->list[PS_DRIVER].mapped || runtime->mapped)
		return;
	program = find_program(programs, pid);
	if (!program || !program->inside)
		return;
	runtime->mapped = true;
	runtime->inside = true;
	if (program->major != API_NEWEST)
		snprintf(runtime->version, sizeof(runtime->version), "%d", program->major);
}
