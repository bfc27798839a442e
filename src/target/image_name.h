/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The image of a container, from the files in which its runtime keeps the container's settings:
 * containerd for Kubernetes, CRI-O, Docker, Podman. Only root can read them. gpuprobe in a
 * container with the host's pids finds them below the root of process 1. Names are as the runtime
 * was given them, so the same image may have several.
 */
#ifndef TARGET_IMAGE_NAME_H
#define TARGET_IMAGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* "registry/repository:tag@digest": a repository has at most 255 characters, a tag 128 */
#define IMAGE_NAME_SIZE 512

enum image_file {
	IMAGE_CONTAINERD = 0, /* config.json, by its annotations */
	IMAGE_CRIO,	      /* the same, with an annotation of its own */
	IMAGE_DOCKER,	      /* config.v2.json */
	IMAGE_STORAGE,	      /* containers.json: all containers of Podman, CRI-O */
	IMAGE_FILES,
};

/*
 * Finds the image of the container with this id (64 digits) in the text of a runtime's file, which
 * is changed; there is a writable byte at `text[length]`. Returns false, with an empty name, if it
 * is not there, damaged, no printable text without blanks, or too long.
 */
bool image_name__parse(enum image_file file, char *text, size_t length, const char *id,
		       char name[IMAGE_NAME_SIZE]);

/* Looks names up and keeps the latest. */
struct image_names;

struct image_names *image_names__new(void);	   /* NULL without memory */
void image_names__free(struct image_names *names); /* NULL ok */

/*
 * The image of the container with this id, 64 lower-case hex digits; empty if no runtime's file
 * names it. The files are there before the container's processes, so an answer remains. The text is
 * valid until the next call.
 */
const char *image_names__find(struct image_names *names, const char *id);

#endif
