// SPDX-License-Identifier: BSD-2-Clause
// Labels of launched kernels, see launch_labels.h.
#include "trace/launch_labels.h"

#include <string.h>

#include "base/table.h"

struct labelled_kernel {
	UT_hash_handle hh;
	char label[KERNEL_LABEL_SIZE];
	char mangled[]; /* the key */
};

static int remember(struct launch_labels *labels, const char *mangled, const char *label)
{
	size_t length = strlen(mangled);
	struct labelled_kernel *kernel = calloc(1, sizeof(*kernel) + length + 1);

	if (!kernel)
		return -ENOMEM;
	memcpy(kernel->mangled, mangled, length + 1);
	memcpy(kernel->label, label, sizeof(kernel->label));
	HASH_ADD_STR(labels->kernels, mangled, kernel);
	if (!kernel->hh.tbl) {
		free(kernel);
		return -ENOMEM;
	}
	labels->bytes += sizeof(*kernel) + length + 1;
	return 0;
}

int launch_labels__write(struct launch_labels *labels, size_t *all_bytes, const char *mangled,
			 const char *readable, char label[KERNEL_LABEL_SIZE])
{
	struct labelled_kernel *known;
	char plain[KERNEL_LABEL_SIZE];
	size_t before = labels->bytes + labels->set.bytes;
	int ret;

	HASH_FIND_STR(labels->kernels, mangled, known);
	if (known) {
		memcpy(label, known->label, KERNEL_LABEL_SIZE);
		return 0;
	}
	kernel_label__write(readable, plain);
	if (before > LAUNCH_LABELS_BYTES_MAX || *all_bytes > ALL_LAUNCH_LABELS_BYTES_MAX) {
		memcpy(label, plain, KERNEL_LABEL_SIZE);
		return 0;
	}
	ret = label_set__take(&labels->set, plain, mangled, label);
	if (!ret)
		ret = remember(labels, mangled, label);
	*all_bytes += labels->bytes + labels->set.bytes - before;
	return ret;
}

void launch_labels__clear(struct launch_labels *labels, size_t *all_bytes)
{
	*all_bytes -= labels->bytes + labels->set.bytes;
	TABLE_CLEAR(labels->kernels, free);
	label_set__clear(&labels->set);
	labels->bytes = 0;
}
