// SPDX-License-Identifier: BSD-2-Clause
// Files in a process's root: no way out of it, and only regular files that answer.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "no_valgrind.h"
#include "target/mounts.h"
#include "target/process_root.h"
#include "target/root_file.h"

/*
 * A directory with "inside/root", which is a process's root, and the file "inside/secret" beside
 * it.
 */
struct scene {
	char directory[64];
	pid_t pid;
};

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void make(const struct scene *scene, char *path, const char *name)
{
	snprintf(path, 256, "%s/inside/%s", scene->directory, name);
}

static void link_to(const struct scene *scene, const char *target, const char *name)
{
	char path[256];

	make(scene, path, name);
	assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	char path[256], secret[256];
	int ready[2];
	char byte;

	strcpy(scene->directory, "/tmp/gpuprobe-root-XXXXXX");
	assert_non_null(mkdtemp(scene->directory));
	for (size_t i = 0; i < 4; i++) {
		make(scene, path, (const char *[]){"", "root", "root/lib", "root/lib/deep"}[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	make(scene, secret, "secret");
	write_file(secret, "outside");
	make(scene, path, "root/lib/file");
	write_file(path, "within");
	assert_int_equal(pipe(ready), 0);
	make(scene, path, "root");
	scene->pid = fork();
	if (!scene->pid) {
		if (chroot(path) || chdir("/") || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	*state = scene;
	/* Nothing arrives without permission for chroot(2). */
	if (read(ready[0], &byte, 1) != 1)
		skip();
	close(ready[0]);
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	char command[128];

	kill(scene->pid, SIGKILL);
	waitpid(scene->pid, NULL, 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", scene->directory);
	assert_int_equal(system(command), 0);
	free(scene);
	return 0;
}

/* The file's text, or the errno as "-N". */
static const char *text_of(int fd)
{
	static char text[64];
	ssize_t n;

	if (fd < 0) {
		snprintf(text, sizeof(text), "%d", fd);
		return text;
	}
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static const char *error(int code)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", code);
	return text;
}

#define opens(scene, path, expected) \
	assert_string_equal(text_of(root_file__open((scene)->pid, path)), expected)

static void follows_links_within(void **state)
{
	const struct scene *scene = *state;

	link_to(scene, "/lib/file", "root/absolute");
	link_to(scene, "lib", "root/directory");
	link_to(scene, "../file", "root/lib/deep/relative");
	link_to(scene, "directory/deep/relative", "root/chain");
	opens(scene, "/lib/file", "within");
	opens(scene, "lib//./file", "within");
	opens(scene, "/absolute", "within");
	opens(scene, "/directory/deep/../file", "within");
	opens(scene, "/chain", "within");
	opens(scene, "/lib/deep/relative", "within");
	opens(scene, "/nothing", error(-ENOENT));
	opens(scene, "/lib/file/more", error(-ENOTDIR));
}

static void never_leaves_the_root(void **state)
{
	const struct scene *scene = *state;
	char outside[256];

	make(scene, outside, "secret");
	link_to(scene, outside, "root/out");
	link_to(scene, "../secret", "root/up");
	link_to(scene, "../../../../../../../../../../../secret", "root/lib/far");
	link_to(scene, "..", "root/parent");
	link_to(scene, "/proc/self/root", "root/magic");
	opens(scene, "/out", error(-ENOENT));
	opens(scene, "/up", error(-ENOENT));
	opens(scene, "/../secret", error(-ENOENT));
	opens(scene, "/lib/../../secret", error(-ENOENT));
	opens(scene, "/lib/far", error(-ENOENT));
	opens(scene, "/parent/secret", error(-ENOENT));
	opens(scene, "/magic/etc/passwd", error(-ENOENT));
	/* There it would stay inside. */
	opens(scene, "/../../lib/file", "within");
	opens(scene, "/parent/lib/file", "within");
}

static void takes_regular_files_only(void **state)
{
	const struct scene *scene = *state;
	char path[256];
	int fd;

	make(scene, path, "root/fifo");
	assert_int_equal(mkfifo(path, 0666), 0);
	make(scene, path, "root/device");
	assert_int_equal(mknod(path, S_IFCHR | 0666, makedev(1, 5)), 0);
	make(scene, path, "root/huge");
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
	assert_int_equal(ftruncate(fd, (off_t)ROOT_FILE_MAX + 1), 0);
	opens(scene, "/fifo", error(-EINVAL));
	opens(scene, "/device", error(-EINVAL));
	opens(scene, "/lib", error(-EINVAL));
	opens(scene, "/", error(-EINVAL));
	opens(scene, "/huge", error(-EFBIG));
	assert_int_equal(ftruncate(fd, (off_t)ROOT_FILE_MAX), 0);
	close(fd);
	fd = root_file__open(scene->pid, "/huge");
	assert_true(fd >= 0);
	close(fd);
}

static void gives_up_on_long_ways(void **state)
{
	const struct scene *scene = *state;
	char path[8192];

	link_to(scene, "circle", "root/circle");
	opens(scene, "/circle", error(-ELOOP));
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[300] = '\0';
	opens(scene, path, error(-ENAMETOOLONG));
	path[300] = 'x';
	path[sizeof(path) - 1] = '\0';
	opens(scene, path, error(-ENAMETOOLONG));
	/* The same directories over and over, through a link in each round. */
	link_to(scene, "deep", "root/lib/again");
	link_to(scene, "..", "root/lib/deep/back");
	strcpy(path, "/lib");
	for (int i = 0; i < 60; i++)
		strcat(path, "/again/back");
	strcat(path, "/file");
	opens(scene, path, error(-ELOOP));
}

static void no_process_no_root(void **state)
{
	(void)state;
	assert_int_equal(root_file__open(999999999, "/etc/passwd"), -ESRCH);
}

/* Only the text of the kernel's own links counts: this file no longer has a name. */
static void takes_magic_links_by_their_text(void **state)
{
	char name[] = "/tmp/gpuprobe-magic-XXXXXX", link[64];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", getpid(), fd);
	assert_string_equal(text_of(root_file__open(0, link)), "");
	unlink(name);
	assert_string_equal(text_of(root_file__open(0, link)), error(-ENOENT));
	/* If that is wanted, the link is followed. */
	assert_string_equal(text_of(root_file__open_link(0, link)), "");
	close(fd);
}

/* --- mounts --- */

static void knows_fuse_by_its_type(void **state)
{
	char text[] = "23 1 0:21 / / rw,relatime shared:1 - overlay overlay rw,lowerdir=/a - fuse\n"
		      "24 23 0:22 / /home/a\\040-\\040b rw master:1 shared:2 - fuse.sshfs host:/ "
		      "rw,user_id=0\n"
		      "25 23 0:23 / /x rw - fuse served rw\n"
		      "26 23 8:1 / /y rw - fuseblk /dev/sda1 rw\n"
		      "27 23 0:24 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n"
		      "28 23 0:25 / /broken rw fuse\n"
		      "none\n"
		      "29 23 0:26 / /last rw - tmpfs tmpfs rw";
	const struct mount expected[] = {{23, false}, {24, true},  {25, true},
					 {26, false}, {27, false}, {29, false}};
	struct mounts mounts;
	size_t bytes = 0;
	FILE *in = fmemopen(text, sizeof(text) - 1, "r");

	(void)state;
	assert_non_null(in);
	mounts__init(&mounts, 0);
	assert_int_equal(mounts__read(&mounts, in, &bytes), 0);
	assert_int_equal(bytes, sizeof(text) - 1);
	fclose(in);
	assert_int_equal(mounts.count, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < mounts.count; i++) {
		assert_int_equal(mounts.list[i].id, expected[i].id);
		assert_int_equal(mounts.list[i].fuse, expected[i].fuse);
	}
	mounts__clear(&mounts);
}

/* A line in an invalid format, or cut off where it would be taken for another, is ignored. */
static void reads_up_to_a_bound(void **state)
{
	static const char line[] = "7 1 0:21 / /x rw - fuse.served served rw\n";
	size_t size = 20u << 20, bytes = 0;
	char *text = malloc(size);
	struct mounts mounts;
	FILE *in;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', size);
	memcpy(text, line, sizeof(line) - 1);
	memcpy(text + sizeof(line) - 1, "8 1 0:22 / /", 12);
	text[size - 1] = '\n';
	in = fmemopen(text, size, "r");
	assert_non_null(in);
	mounts__init(&mounts, 0);
	assert_int_equal(mounts__read(&mounts, in, &bytes), -EOVERFLOW);
	assert_in_range(bytes, 16u << 20, 17u << 20);
	assert_int_equal(mounts.count, 1);
	assert_true(mounts.list[0].id == 7 && mounts.list[0].fuse);
	rewind(in);
	assert_int_equal(mounts__read(&mounts, in, &bytes), -EOVERFLOW);
	assert_int_equal(mounts.count, 1);
	/* A line of any length is read, if all of it fits. */
	memcpy(text + (10u << 20), " - tmpfs none rw\n", 17);
	fclose(in);
	in = fmemopen(text, (10u << 20) + 17, "r");
	bytes = 0;
	assert_int_equal(mounts__read(&mounts, in, &bytes), 0);
	assert_int_equal(mounts.count, 3);
	assert_true(mounts.list[2].id == 8 && !mounts.list[2].fuse);
	fclose(in);
	mounts__clear(&mounts);
	free(text);
}

/* /proc is on no block device, so its mount is looked up. */
static void opens_what_is_known_to_answer(void **state)
{
	int fd = open("/proc/version", O_PATH | O_CLOEXEC), memory = memfd_create("", MFD_CLOEXEC);
	struct mounts mounts;
	struct statx status;

	(void)state;
	mounts__init(&mounts, 0);
	assert_int_equal(mounts__check(&mounts, fd, &status), 0);
	assert_true(S_ISREG(status.stx_mode));
	assert_true(mounts.count > 0);
	for (size_t i = 0; i < mounts.count; i++)
		mounts.list[i].fuse |= mounts.list[i].id == status.stx_mnt_id;
	assert_int_equal(mounts__check(&mounts, fd, &status), -EREMOTE);
	/* Mounted after the list was read, or unmounted: it might be FUSE. */
	mounts.count = 0;
	assert_int_equal(mounts__check(&mounts, fd, &status), -EREMOTE);
	/* It is in no list except the kernel's own. */
	assert_int_equal(mounts__check(&mounts, memory, &status), 0);
	mounts__clear(&mounts);
	close(memory);
	close(fd);
}

#define DEEP 100 /* names of LONG blanks, each of which is printed as four characters */
#define LONG 250
#define DEEP_MOUNTS 400 /* 40 MB to be read */
#define MOUNTS 1000
#define NOT_PERMITTED 77

static void mount_or_exit(const char *folder)
{
	if ((mkdir(folder, 0700) && errno != EEXIST) ||
	    mount("none", folder, "tmpfs", 0, "size=4k"))
		_exit(errno == EPERM || errno == EACCES ? NOT_PERMITTED : 1);
}

/* Opens a file there: 0 or a negative errno. */
static int opened(const char *folder)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		_exit(1);
	close(fd);
	fd = root_file__open(getpid(), path);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool can_open(const char *folder)
{
	return !opened(folder);
}

/* In its own mount namespace. */
static void look_among_mounts(const char *folder)
{
	char path[128], later[128];
	uint64_t begin;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(NOT_PERMITTED);
	for (int i = 0; i <= MOUNTS; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		mount_or_exit(i ? path : folder);
	}
	begin = spent();
	mounts__keep();
	mounts__keep();
	for (int i = 0; i < 100; i++)
		if (!can_open(path))
			_exit(2);
	print_message("100 files among %d mounts: %.1f ms\n", MOUNTS,
		      (double)(spent() - begin) / MS);
	if (spent() - begin > SLOWER * 200 * MS)
		_exit(3);
	/* The list includes mounts made while it is kept. */
	snprintf(later, sizeof(later), "%s/later", folder);
	mount_or_exit(later);
	if (!can_open(later) || !can_open(path))
		_exit(4);
	mounts__forget();
	if (!can_open(path))
		_exit(5);
	mounts__forget();
	_exit(can_open(path) ? 0 : 6);
}

static void in_namespace(void (*look)(const char *folder))
{
	char folder[] = "/tmp/gpuprobe-mounts-XXXXXX";
	pid_t child;
	int status;

	not_under_valgrind();
	assert_non_null(mkdtemp(folder));
	child = fork();
	if (!child)
		look(folder);
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(folder);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_PERMITTED)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void many_mounts_are_read_once(void **state)
{
	(void)state;
	in_namespace(look_among_mounts);
}

static void go_deep(const char *folder)
{
	char name[LONG + 1];

	memset(name, ' ', LONG);
	name[LONG] = '\0';
	if (chdir(folder))
		_exit(1);
	for (int i = 0; i < DEEP; i++)
		if (mkdir(name, 0700) || chdir(name))
			_exit(1);
}

static size_t peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss * 1024;
}

/* One file on a mount before those, and one after them. */
static void look_among_long_mounts(const char *folder)
{
	char first[128], last[128], number[16];
	size_t before;
	uint64_t begin;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(NOT_PERMITTED);
	mount_or_exit(folder);
	if (mount("none", folder, "tmpfs", MS_REMOUNT, "size=16m"))
		_exit(1);
	snprintf(first, sizeof(first), "%s/first", folder);
	snprintf(last, sizeof(last), "%s/last", folder);
	mount_or_exit(first);
	go_deep(folder);
	for (int i = 0; i < DEEP_MOUNTS; i++) {
		snprintf(number, sizeof(number), "%d", i);
		mount_or_exit(number);
	}
	mount_or_exit(last);
	before = peak_bytes();
	begin = spent();
	mounts__keep();
	if (!can_open(first))
		_exit(2);
	if (opened(last) != -EOVERFLOW)
		_exit(3);
	print_message("two files among %d mounts of %d characters: %.1f ms\n", DEEP_MOUNTS,
		      DEEP * LONG * 4, (double)(spent() - begin) / MS);
	/* The mounts change all the time, but are not read all the time. */
	begin = spent();
	for (int i = 0; i < 100; i++) {
		snprintf(number, sizeof(number), "more%d", i);
		mount_or_exit(number);
		if (opened(last) != -EOVERFLOW)
			_exit(4);
	}
	if (spent() - begin > SLOWER * 500 * MS)
		_exit(5);
	mounts__forget();
	if (!can_open(first))
		_exit(6);
	_exit(peak_bytes() - before < (8u << 20) ? 0 : 7);
}

/* A line may have any length, and any user can make such a line. */
static void long_mounts_are_bounded(void **state)
{
	(void)state;
	in_namespace(look_among_long_mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(follows_links_within, set_up, tear_down),
		cmocka_unit_test_setup_teardown(never_leaves_the_root, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_regular_files_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gives_up_on_long_ways, set_up, tear_down),
		cmocka_unit_test(no_process_no_root),
		cmocka_unit_test(takes_magic_links_by_their_text),
		cmocka_unit_test(knows_fuse_by_its_type),
		cmocka_unit_test(reads_up_to_a_bound),
		cmocka_unit_test(opens_what_is_known_to_answer),
		cmocka_unit_test(many_mounts_are_read_once),
		cmocka_unit_test(long_mounts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
