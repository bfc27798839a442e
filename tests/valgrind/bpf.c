// SPDX-License-Identifier: BSD-2-Clause
// What valgrind 3.19 does not know of bpf(2): which memory the kernel has written for commands on many elements of a
// map at once. Stands before the C library's syscall(2), which libbpf calls.
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

#define IN_BATCH_BYTES 4 /* of arrays and hash tables, which are all that gpuprobe reads so */

long syscall(long number, ...);

static long call(long number, const long args[6])
{
	register long fourth __asm__("r10") = args[3];
	register long fifth __asm__("r8") = args[4];
	register long sixth __asm__("r9") = args[5];
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(args[0]), "S"(args[1]), "d"(args[2]), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return ret;
}

static size_t value_bytes(const struct bpf_map_info *info)
{
	switch (info->type) {
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return (info->value_size + 7) / 8 * 8 * (size_t)sysconf(_SC_NPROCESSORS_CONF);
	default:
		return info->value_size;
	}
}

/* With these errors, too, the elements that are counted have been written. */
static void note_batch(const union bpf_attr *attr, long ret)
{
	struct bpf_map_info info;
	union bpf_attr ask;
	const long args[6] = {BPF_OBJ_GET_INFO_BY_FD, (long)&ask, sizeof(ask)};

	if (ret && ret != -ENOENT && ret != -ENOSPC)
		return;
	memset(&info, 0, sizeof(info));
	memset(&ask, 0, sizeof(ask));
	ask.info.bpf_fd = attr->batch.map_fd;
	ask.info.info_len = sizeof(info);
	ask.info.info = (uintptr_t)&info;
	if (call(SYS_bpf, args))
		abort();
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.out_batch, IN_BATCH_BYTES);
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.keys, (size_t)attr->batch.count * info.key_size);
	VALGRIND_MAKE_MEM_DEFINED(attr->batch.values, attr->batch.count * value_bytes(&info));
}

long syscall(long number, ...)
{
	long args[6], ret;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	ret = call(number, args);
	if (number == SYS_bpf && (args[0] == BPF_MAP_LOOKUP_BATCH || args[0] == BPF_MAP_LOOKUP_AND_DELETE_BATCH))
		note_batch((const union bpf_attr *)args[1], ret);
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}
