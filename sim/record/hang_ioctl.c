// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hang in an ioctl of the driver's device, as in the real driver; /dev/nvidiactl may be any file
 * here. The kernel waits for the page with the ioctl's argument, which userfaultfd withholds; this
 * requires root. No signal ends such a wait, so another thread takes SIGUSR1 and provides the page.
 */
#define _GNU_SOURCE
#include "record/internal.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEVICE "/dev/nvidiactl"

struct held_page {
	int release;
	int faults;
	struct uffdio_range range;
};

static bool hold(struct held_page *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register registered = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page->faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (memory == MAP_FAILED || page->faults < 0)
		return false;
	page->range = (struct uffdio_range){ (uintptr_t)memory, size };
	registered.range = page->range;
	return !ioctl(page->faults, UFFDIO_API, &api) &&
	       !ioctl(page->faults, UFFDIO_REGISTER, &registered);
}

static void *bring(void *argument)
{
	struct held_page *page = argument;
	struct pollfd event = { .fd = page->release, .events = POLLIN };
	struct uffdio_zeropage zero = { .range = page->range };

	while (poll(&event, 1, -1) != 1)
		;
	ioctl(page->faults, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

void sim_hang__ioctl(int release)
{
	struct held_page page = { .release = release };
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);
	sigset_t mine, usual;
	pthread_t thread;

	if (device < 0 || !hold(&page) || pthread_create(&thread, NULL, bring, &page))
		sim_parse__refuse("CUDA_SIM_HANG", DEVICE, "there is none, or no userfaultfd");
	sigemptyset(&mine);
	sigaddset(&mine, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mine, &usual);
	ioctl(device, FIONBIO, (void *)(uintptr_t)page.range.start);
	pthread_sigmask(SIG_SETMASK, &usual, NULL);
	pthread_join(thread, NULL);
	munmap((void *)(uintptr_t)page.range.start, page.range.len);
	close(page.faults);
	close(device);
}
