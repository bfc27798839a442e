// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a gpuprobe under soak: tells every second, in the file SOAK_HEAP,
 * how many bytes of its heap are in use. What is resident also has what was freed
 * and lies between what was not, which hides small leaks.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *tell(void *argument)
{
	volatile uint64_t *place = argument;

	for (;;) {
		struct mallinfo2 info = mallinfo2();

		*place = info.uordblks + info.hblkhd;
		sleep(1);
	}
	return NULL;
}

static __attribute__((constructor)) void begin(void)
{
	const char *path = getenv("SOAK_HEAP");
	void *place = MAP_FAILED;
	sigset_t all, before;
	pthread_t thread;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && !ftruncate(fd, sizeof(uint64_t)))
		place = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	/* Without it the file stays empty, which the soak takes for a failure. */
	if (place == MAP_FAILED)
		return;
	/* Signals are gpuprobe's own. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, tell, place);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
