/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * c10::reportOutOfMemoryToProfiler of libc10.so, which PyTorch's allocator calls when an allocation
 * has failed for good. The device is a c10::Device: its type in the first byte, its index in the
 * second.
 */
#ifndef SIM_C10_REPORT_H
#define SIM_C10_REPORT_H

void report_out_of_memory(long bytes, unsigned long allocated, unsigned long reserved,
			  unsigned short device)
	__asm__("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE")
	__attribute__((visibility("default")));

#endif
