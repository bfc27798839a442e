/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer of RAS as NCCL 2.28.9 gave it on an H100, with the ranks of other nodes added. */
#ifndef RAS_TEXTS_H
#define RAS_TEXTS_H

#define RAS_COUNTS(all_reduces) \
	"\"collective_counts\": {\"Broadcast\": 1, \"Reduce\": 0, \"AllGather\": 2, " \
	"\"ReduceScatter\": 0, \"AllReduce\": " #all_reduces "}"

#define RAS_RANK(rank, host, pid, device, all_reduces, destroyed) \
	"{\n\"rank\": " #rank ",\n\"host\": \"" host "\",\n\"pid\": " #pid \
	",\n\"cuda_dev\": " #device \
	",\n\"nvml_dev\": 0,\n\"status\": {\"init_state\": 0, \"async_error\": 0, " \
	"\"finalize_called\": false, \"destroy_flag\": " #destroyed \
	", \"abort_flag\": false},\n" RAS_COUNTS(all_reduces) "\n}"

#define RAS_MISSING(rank, host, pid, unresponsive, dead) \
	"{\"rank\": " #rank ", \"host\": \"" host "\", \"pid\": " #pid ", \"cuda_dev\": 0, " \
	"\"nvml_dev\": 0, \"status\": {\"unresponsive\": " #unresponsive \
	", \"considered_dead\": " #dead "}}"

#define RAS_COMM(hash, size, ranks, missing) \
	"{\n\"hash\": \"" hash \
	"\",\n\"secondary_hash\": \"0x787c27bd77ebc875:0x2a13e8b37b5f592f\",\n" \
	"\"size\": " #size \
	",\n\"ranks_count\": 1,\n\"missing_ranks_count\": 0,\n\"ranks\": [\n" ranks \
	"\n],\n\"missing_ranks\": [\n" missing "\n]\n}"

#define RAS_ANSWER(comms) \
	"{\n\"nccl_version\": \"2.28.9\",\n\"cuda_runtime_version\": 13000,\n" \
	"\"communicators\": [\n" comms "\n],\n" \
	"\"ras\": {\"collection_time_sec\": 0.000, \"timeouts_count\": 0}\n}\n"

#endif
