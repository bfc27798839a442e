// SPDX-License-Identifier: BSD-2-Clause
// libc10.so, a stand-in for PyTorch's: the function that its allocator calls when an allocation has
// failed for good. The device is a c10::Device: its type in the first byte, its index in the
// second.

void report(long bytes, unsigned long allocated, unsigned long reserved, unsigned short device)
	__asm__("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE")
	__attribute__((visibility("default")));

void report(long bytes, unsigned long allocated, unsigned long reserved, unsigned short device)
{
	(void)bytes;
	(void)allocated;
	(void)reserved;
	(void)device;
	__asm__ volatile("");
}
