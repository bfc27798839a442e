// SPDX-License-Identifier: BSD-2-Clause
// Which members of threads on the host, tensors and out-of-memory reports are recorded, see
// fields.h.
#include "record/types.h"

#include "model/host.h"
#include "model/nccl_note.h"
#include "model/oom.h"
#include "model/tensors.h"

#define T struct host_partner
static const struct recorded_field host_partner_fields[] = {
	VALUE(tid), VALUE(pid), HIDDEN_TEXT(comm, "task"), VALUE(ns), VALUE(count), VALUE(thread),
};
RECORDED_TYPE(host_partner, 0);
#undef T

#define T struct host_file_wait
static const struct recorded_field host_file_wait_fields[] = {
	HIDDEN_TEXT(name, "file"),
	VALUE(ns),
	VALUE(count),
};
RECORDED_TYPE(host_file_wait, 0);
#undef T

#define T struct host_location
static const struct recorded_field host_location_fields[] = {
	BELOW(activity, HOST_ACTIVITIES),
	BELOW(class, HOST_CLASSES),
	STACK(stack),
	TOTAL(ns),
	TOTAL(times),
	STRING(call_name),
};
RECORDED_TYPE(host_location, 3);
#undef T

#define T struct host_thread
static const struct recorded_field host_thread_fields[] = {
	VALUE(pid),
	VALUE(tid),
	HIDDEN_TEXT(comm, "task"),
	VALUE(submits),
	VALUE(ended),
	VALUE(serves),
	VALUE(asks),
	TOTAL(watched_ns),
	STRUCTS(wakers, host_partner),
	STRUCTS(rivals, host_partner),
	STRUCTS(files, host_file_wait),
	LIST(locations, location_count, host_location),
	COUNTED(location_count),
};
RECORDED_TYPE(host_thread, 2);
#undef T

#define T struct host_process
static const struct recorded_field host_process_fields[] = {
	VALUE(pid),
	VALUE(start_ns),
	LIST(threads, thread_count, host_thread),
	COUNTED(thread_count),
	VALUE(serves),
	VALUE(limit_known),
	TOTAL(limited_ns),
};
RECORDED_TYPE(host_process, 2);
#undef T

#define T struct host_side
static const struct recorded_field host_side_fields[] = {
	STRING(lack),
	LIST(processes, process_count, host_process),
	COUNTED(process_count),
	VALUE(unfollowed),
};
RECORDED_TYPE(host_side, 0);
#undef T

#define T struct tensor_device_record
static const struct recorded_field tensor_device_record_fields[] = {
	TOTAL(made),	      TOTAL(made_bytes),     TOTAL(freed),     TOTAL(freed_bytes),
	TOTAL(replaced),      TOTAL(replaced_bytes), TOTAL(untracked), TOTAL(untracked_bytes),
	TOTAL(unknown_frees), VALUE(peak_bytes),     TOTAL(unsampled),
};
RECORDED_TYPE(tensor_device_record, 0);
#undef T

#define T struct tensor_device
static const struct recorded_field tensor_device_fields[] = {
	VALUE(device),
	STRUCTS(counts, tensor_device_record),
};
RECORDED_TYPE(tensor_device, 1);
#undef T

#define T struct tensor_site_record
static const struct recorded_field tensor_site_record_fields[] = {
	TOTAL(made), TOTAL(made_bytes), TOTAL(freed), TOTAL(freed_bytes), VALUE(peak_bytes),
};
RECORDED_TYPE(tensor_site_record, 0);
#undef T

#define T struct tensor_site
static const struct recorded_field tensor_site_fields[] = {
	STACK(stack),
	STRUCTS(counts, tensor_site_record),
	TOTAL(step_made),
	TOTAL(step_bytes),
};
RECORDED_TYPE(tensor_site, 1);
#undef T

#define T struct tensor_segments
static const struct recorded_field tensor_segments_fields[] = {
	VALUE(count),	     VALUE(bytes),	  VALUE(tensors), VALUE(tensor_bytes),
	VALUE(unused_bytes), VALUE(pinned_bytes), VALUE(pinning), VALUE(largest_hole),
};
RECORDED_TYPE(tensor_segments, 0);
#undef T

#define T struct tensors
static const struct recorded_field tensors_fields[] = {
	LIST(devices, device_count, tensor_device),
	COUNTED(device_count),
	STRUCTS(total, tensor_device_record),
	VALUE(live_count),
	VALUE(live_bytes),
	LIST(sites, site_count, tensor_site),
	COUNTED(site_count),
	LIST(live_sites, live_site_count, live_site),
	COUNTED(live_site_count),
	LIST(live, live_listed, allocation),
	COUNTED(live_listed),
	VALUE(left_out_bytes),
	VALUE(left_out_count),
	STRUCTS(segments, tensor_segments),
	VALUE(is_sampled),
	VALUE(has_python),
	TOTAL(steps),
	SKIPPED(stretches, "gpuprobe snapshot alone uses them, which reads no recording"),
	SKIPPED(stretch_count, "with stretches"),
	SKIPPED(detail, "collect/ alone uses it"),
};
RECORDED_TYPE(tensors, 0);
#undef T

#define T struct site_increase
static const struct recorded_field site_increase_fields[] = {
	POINTER(site, live_site),
	VALUE(bytes),
	VALUE(count),
	VALUE(span_ns),
};
RECORDED_TYPE(site_increase, 0);
#undef T

#define T struct oom_neighbour
static const struct recorded_field oom_neighbour_fields[] = {
	VALUE(pid),
	HIDDEN_TEXT(comm, "task"),
	HIDDEN_TEXT(user, "user"),
	HIDDEN_TEXT(container, "ctr"),
	VALUE(bytes),
};
RECORDED_TYPE(oom_neighbour, 0);
#undef T

#define T struct oom
static const struct recorded_field oom_fields[] = {
	VALUE(pid),
	VALUE(time_ns),
	VALUE(tid),
	HIDDEN_TEXT(comm, "task"),
	VALUE(start_ns),
	VALUE(bytes),
	ROW(row),
	VALUE(of_framework),
	VALUE(cuda_failed),
	VALUE(allocated),
	VALUE(reserved),
	STACK(stack),
	HIDDEN_TEXT(line, "line"),
	TEXT(gpu),
	VALUE(total),
	VALUE(used),
	VALUE(own),
	VALUE(tracked),
	VALUE(ended),
	STRUCTS(sites, live_site),
	BELOW(site_count, OOM_SITES + 1),
	VALUE(more_sites),
	VALUE(of_tensors),
	VALUE(sites_estimated),
	VALUE(unused),
	VALUE(largest_hole),
	VALUE(as_of_failure),
	VALUE(late_frees_lost),
	STRUCTS(increase, site_increase),
	VALUE(increase_kept),
	STRUCTS(neighbours, oom_neighbour),
	VALUE(neighbour_count),
	VALUE(others),
	BELOW(cause, OOM_CAUSES),
};
RECORDED_TYPE(oom, 2);
#undef T

#define T struct nccl_finding_key
static const struct recorded_field nccl_finding_key_fields[] = {
	VALUE(comm),
	BELOW(verdict, NCCL_VERDICTS),
	VALUE(cause),
	VALUE(sequence),
};
RECORDED_TYPE(nccl_finding_key, 0);
#undef T

#define T struct nccl_note
static const struct recorded_field nccl_note_fields[] = {
	STRUCTS(key, nccl_finding_key),
	VALUE(over),
	VALUE(pid),
	VALUE(start_ns),
	VALUE(ns),
	VALUE(late),
	VALUE(compared),
	VALUE(share),
	VALUE(blamed),
	VALUE(waiting),
	VALUE(count),
	HIDDEN_STRING(subject, ""),
	HIDDEN_STRING(evidence, ""),
	HIDDEN_STRING(details, ""),
};
RECORDED_TYPE(nccl_note, 0);
#undef T
