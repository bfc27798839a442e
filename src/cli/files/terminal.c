// SPDX-License-Identifier: BSD-2-Clause
// The width of the terminal, see terminal.h.
#include "cli/files/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80

unsigned int terminal__width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? DEFAULT_WIDTH : size.ws_col;
}
