/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Xids, the errors of GPUs that NVIDIA's driver reports by number: how many there were, the latest
 * ones, and who may have caused them. All of it is bounded: texts come from the kernel, but a
 * watched process chooses its names.
 */
#ifndef MODEL_XIDS_H
#define MODEL_XIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/gpu_label.h"

#define XID_COUNTS 256 /* pairs of GPU and number that are counted apart */
#define XID_EVENTS 32  /* latest ones that are kept */
#define XID_SUSPECTS 4 /* processes named for one Xid */
#define XID_TEXT_SIZE 160
#define XID_PLACE_SIZE 160
#define XID_KERNELS_SIZE 288
#define PCI_ADDRESS_SIZE 24

struct pci_address {
	uint32_t domain;
	uint8_t bus, device;
};

/* An Xid as the driver reports it. Texts are raw. */
struct xid_report {
	struct pci_address address;
	uint32_t number;
	int32_t pid;		  /* in the machine's first pid namespace; 0: not given */
	char comm[16];		  /* of the reporting thread; empty: not given */
	char text[XID_TEXT_SIZE]; /* the rest of the report, cut */
};

/* A process that may have caused an Xid, as it was then. Texts are raw. */
struct xid_suspect {
	int32_t pid; /* in gpuprobe's pid namespace */
	uint64_t start_ns;
	char comm[16];
	char user[33];		    /* empty: unknown */
	char place[XID_PLACE_SIZE]; /* pod, job, unit or container; empty: none known */
	/* kernels of its latest launches, model/launch_marks.h; empty: none known */
	char kernels[XID_KERNELS_SIZE];
};

struct xid_event {
	uint64_t ns; /* CLOCK_BOOTTIME of its arrival */
	struct xid_report report;
	char gpu[GPU_LABEL_SIZE]; /* empty: unknown */
	bool judged;		  /* the next fields are set */
	bool named;		  /* the report named the process: suspects[0] */
	bool failed;		  /* the suspects' calls began to fail for good at that time */
	struct xid_suspect suspects[XID_SUSPECTS];
	size_t suspect_count;
	size_t more_suspects; /* beyond these */
};

struct xid_count {
	struct pci_address address;
	uint32_t number;
	uint64_t count;
	uint64_t latest_ns; /* CLOCK_BOOTTIME */
};

struct xids {
	struct xid_count counts[XID_COUNTS]; /* in order of first sight */
	size_t count_count;
	uint64_t other; /* of further GPUs and numbers */
	uint64_t lost;	/* reports that gpuprobe was too slow to read, or could not read */
	struct xid_event events[XID_EVENTS]; /* oldest first */
	size_t event_count;
};

/* "0000:41:00" */
void pci_address__text(const struct pci_address *address, char text[PCI_ADDRESS_SIZE]);

/*
 * Reads "0000:41:00", as NVML "00000000:41:00.0" too. Returns the number of bytes read, 0 if there
 * is no address at the start of the `length` bytes at `text`.
 */
size_t pci_address__parse(const char *text, size_t length, struct pci_address *address);

void xids__add(struct xids *xids, const struct xid_report *report, uint64_t ns);

/* The latest event of that GPU and number; NULL: it is not kept any more. */
const struct xid_event *xids__latest(const struct xids *xids, const struct xid_count *count);

struct launch_marks;

/*
 * Finds out who may have caused the Xids that came before the model's reading and have not been
 * judged. `first_namespace`: gpuprobe is in the machine's first pid namespace, so it knows the pids
 * of reports. `marks` are those of the reading before.
 */
void xids__judge(struct xids *xids, const struct model *model, bool first_namespace,
		 const struct launch_marks *marks);

#endif
