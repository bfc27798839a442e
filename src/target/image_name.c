// SPDX-License-Identifier: BSD-2-Clause
// Images of containers, by their runtimes' files; see image_name.h.
#include "target/image_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_reader.h"
#include "target/cgroup.h"
#include "target/root_file.h"

#define FILE_MAX (2u << 20) /* bytes; containers.json has about 1 KiB for each container */
#define KEPT 64		    /* containers */
#define TASKS "/containerd/io.containerd.runtime.v2.task/k8s.io"
#define STORAGE "/containers/storage/overlay-containers"

struct image_names {
	struct known {
		char id[CONTAINER_ID_LENGTH + 1];
		char name[IMAGE_NAME_SIZE];
	} known[KEPT];
	size_t next; /* is replaced next */
};

/*
 * Where runtimes keep their files: DIRECTORY/ID/NAME for each container, or else one list of all,
 * which is longer and comes last.
 */
static const struct place {
	enum image_file file;
	const char *directory; /* of a list: its path */
	const char *name;      /* NULL: it is a list */
} places[] = {
	{IMAGE_CONTAINERD, "/run" TASKS, "config.json"},
	{IMAGE_CONTAINERD, "/run/k3s" TASKS, "config.json"},
	{IMAGE_CONTAINERD, "/run/k0s" TASKS, "config.json"},
	{IMAGE_CONTAINERD, "/var/snap/microk8s/common/run" TASKS, "config.json"},
	{IMAGE_CRIO, "/run" STORAGE, "userdata/config.json"},
	{IMAGE_CRIO, "/var/lib" STORAGE, "userdata/config.json"},
	{IMAGE_DOCKER, "/var/lib/docker/containers", "config.v2.json"},
	{IMAGE_STORAGE, "/var/lib" STORAGE "/containers.json", NULL},
	{IMAGE_STORAGE, "/run" STORAGE "/volatile-containers.json", NULL},
};

/* --- the text of a file --- */

static bool take(const char *text, char name[IMAGE_NAME_SIZE])
{
	size_t length = text ? strlen(text) : 0;

	if (!length || length >= IMAGE_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	memcpy(name, text, length + 1);
	return true;
}

/* `metadata` is JSON in a text: {"image-name":"..."}. */
static bool take_metadata(const char *metadata, char name[IMAGE_NAME_SIZE])
{
	char *copy = metadata ? strdup(metadata) : NULL, *at = copy;
	struct json_document *document = NULL;
	struct error err;
	bool found = false;

	if (copy && !json_document__parse(&at, copy + strlen(copy), &document, &err))
		found = take(json_value__string(json_document__value(document), "image-name"),
			     name);
	json_document__free(document);
	free(copy);
	return found;
}

static bool take_listed(const struct json_value *list, const char *id, char name[IMAGE_NAME_SIZE])
{
	for (const struct json_value *each = list->first; each; each = each->next) {
		const char *its = json_value__string(each, "id");

		if (its && !strcmp(its, id))
			return take_metadata(json_value__string(each, "metadata"), name);
	}
	return false;
}

/* An annotation's name has dots. */
static bool take_annotation(const struct json_value *config, const char *key,
			    char name[IMAGE_NAME_SIZE])
{
	const struct json_value *value =
		json_value__member(json_value__member(config, "annotations"), key);

	return value && value->type == JSON_STRING && take(value->text, name);
}

static bool take_value(enum image_file file, const struct json_value *value, const char *id,
		       char name[IMAGE_NAME_SIZE])
{
	switch (file) {
	case IMAGE_CONTAINERD: return take_annotation(value, "io.kubernetes.cri.image-name", name);
	case IMAGE_CRIO: return take_annotation(value, "io.kubernetes.cri-o.ImageName", name);
	case IMAGE_DOCKER: return take(json_value__string(value, "Config.Image"), name);
	case IMAGE_STORAGE: return take_listed(value, id, name);
	case IMAGE_FILES: break;
	}
	return false;
}

bool image_name__parse(enum image_file file, char *text, size_t length, const char *id,
		       char name[IMAGE_NAME_SIZE])
{
	struct json_document *document;
	struct error err;
	bool found;

	name[0] = '\0';
	if (json_document__parse(&text, text + length, &document, &err))
		return false;
	found = take_value(file, json_document__value(document), id, name);
	json_document__free(document);
	return found;
}

/* --- files --- */

/* A text of *length bytes and one more, malloc; NULL: it cannot be read, or is too large. */
static char *read_all(int fd, size_t *length)
{
	struct stat status;
	char *text;
	ssize_t n = 1;

	*length = 0;
	if (fstat(fd, &status) || status.st_size > FILE_MAX)
		return NULL;
	text = malloc(FILE_MAX + 1);
	while (text && n > 0 && *length < FILE_MAX) {
		n = read(fd, text + *length, FILE_MAX - *length);
		*length += n > 0 ? (size_t)n : 0;
	}
	if (n == 0)
		return text;
	free(text);
	return NULL;
}

static bool find_in(const struct place *place, pid_t root, const char *id,
		    char name[IMAGE_NAME_SIZE])
{
	char path[256], *text;
	size_t length;
	bool found;
	int fd;

	if (place->name)
		snprintf(path, sizeof(path), "%s/%s/%s", place->directory, id, place->name);
	else
		snprintf(path, sizeof(path), "%s", place->directory);
	fd = root_file__open(root, path);
	if (fd < 0)
		return false;
	text = read_all(fd, &length);
	close(fd);
	found = text && image_name__parse(place->file, text, length, id, name);
	free(text);
	return found;
}

static void look(const char *id, char name[IMAGE_NAME_SIZE])
{
	static const pid_t roots[] = {1, 0}; /* the host's, or gpuprobe's own */

	name[0] = '\0';
	for (size_t r = 0; r < sizeof(roots) / sizeof(*roots); r++)
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			if (find_in(&places[i], roots[r], id, name))
				return;
}

/* --- names that were looked up --- */

struct image_names *image_names__new(void)
{
	return calloc(1, sizeof(struct image_names));
}

void image_names__free(struct image_names *names)
{
	free(names);
}

const char *image_names__find(struct image_names *names, const char *id)
{
	struct known *known;

	for (size_t i = 0; i < KEPT; i++)
		if (!strcmp(names->known[i].id, id))
			return names->known[i].name;
	known = &names->known[names->next];
	names->next = (names->next + 1) % KEPT;
	snprintf(known->id, sizeof(known->id), "%s", id);
	look(id, known->name);
	return known->name;
}
