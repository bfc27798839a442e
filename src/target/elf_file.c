// SPDX-License-Identifier: BSD-2-Clause
// Opens an ELF file and reads its headers; see elf_file.h.
#include "target/elf_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elf_internal.h"
#include "target/root_file.h"

/* The kernel executes no file with more than 64 KiB of program headers. */
#define SEGMENTS_MAX (65536 / sizeof(Elf64_Phdr))
#define NOTE_SIZE_MAX 65536
/*
 * Each symbol is searched in them, one by one, so more segments could make that take minutes.
 * Linkers make four to ten.
 */
#define LOADED_MAX 64

long elf_file__read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	size_t done = 0;

	if (offset > INT64_MAX - size)
		return 0;
	while (done < size) {
		ssize_t n =
			pread(file->fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (long)done;
}

int elf_internal__read_all(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	long n = elf_file__read(file, offset, buffer, size);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}

bool elf_internal__in_file(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	uint64_t end = (uint64_t)file->stat.st_size;

	return offset <= end && size <= end - offset;
}

char *elf_internal__string(const struct elf_file *file, uint64_t offset, size_t max)
{
	char *buffer = malloc(max);
	long n;

	if (!buffer)
		return NULL;
	n = elf_file__read(file, offset, buffer, max);
	if (n <= 0 || !memchr(buffer, '\0', (size_t)n)) {
		free(buffer);
		return NULL;
	}
	return buffer;
}

bool elf_internal__map(const struct elf_file *file, uint64_t vaddr, bool executable,
		       uint64_t *offset)
{
	for (size_t i = 0; i < file->loaded_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t size = file->debug ? segment->p_memsz : segment->p_filesz;

		if (vaddr < segment->p_vaddr || vaddr - segment->p_vaddr >= size)
			continue;
		if (executable && !(segment->p_flags & PF_X))
			continue;
		*offset = vaddr - segment->p_vaddr + segment->p_offset;
		return true;
	}
	return false;
}

bool elf_file__vaddr_to_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset)
{
	return elf_internal__map(file, vaddr, false, offset);
}

bool elf_file__offset_to_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < file->loaded_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (offset < segment->p_offset || offset - segment->p_offset >= segment->p_filesz)
			continue;
		*vaddr = offset - segment->p_offset + segment->p_vaddr;
		return true;
	}
	return false;
}

static int refuse(const struct elf_file *file, const char *why, struct error *err)
{
	return error__set(err, -ENOEXEC, "%s: %s", file->name, why);
}

static int check_header(const struct elf_file *file, const Elf64_Ehdr *header, struct error *err)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(file, "not an ELF file", err);
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return refuse(file, "not a 64-bit x86-64 ELF file, the only kind supported", err);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return refuse(file, "neither an executable nor a shared library", err);
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    header->e_phnum > SEGMENTS_MAX)
		return refuse(file, "damaged ELF file (program headers)", err);
	return 0;
}

/* Shortens or empties a segment that claims more than the file has, or wraps around. */
static void bound_segment(const struct elf_file *file, Elf64_Phdr *segment)
{
	uint64_t end = (uint64_t)file->stat.st_size;

	if (segment->p_offset > end)
		segment->p_filesz = 0;
	else if (segment->p_filesz > end - segment->p_offset)
		segment->p_filesz = end - segment->p_offset;
	if (segment->p_filesz > UINT64_MAX - segment->p_vaddr)
		segment->p_filesz = 0;
}

/* Keeps their order. */
static void put_loaded_first(struct elf_file *file)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		Elf64_Phdr segment = file->segments[i];

		if (segment.p_type != PT_LOAD)
			continue;
		memmove(&file->segments[file->loaded_count + 1],
			&file->segments[file->loaded_count],
			(i - file->loaded_count) * sizeof(segment));
		file->segments[file->loaded_count++] = segment;
		if (file->loaded_count > LOADED_MAX)
			return;
	}
}

static int read_segments(struct elf_file *file, const Elf64_Ehdr *header, struct error *err)
{
	size_t size = header->e_phnum * sizeof(Elf64_Phdr);
	int ret;

	file->segments = malloc(size);
	if (!file->segments)
		return error__set(err, -ENOMEM, "%s: out of memory", file->name);
	ret = elf_internal__read_all(file, header->e_phoff, file->segments, size);
	if (ret == -EBADMSG)
		return refuse(file, "damaged ELF file (cut short)", err);
	if (ret)
		return error__set(err, ret, "%s: cannot read it: %s", file->name, strerror(-ret));
	file->segment_count = header->e_phnum;
	for (size_t i = 0; i < file->segment_count; i++)
		bound_segment(file, &file->segments[i]);
	put_loaded_first(file);
	return file->loaded_count > LOADED_MAX ?
		       refuse(file, "more loaded segments than any library has", err) :
		       0;
}

/* Looks for the build id in one PT_NOTE segment. */
static void read_notes(struct elf_file *file, const Elf64_Phdr *segment)
{
	size_t size = segment->p_filesz < NOTE_SIZE_MAX ? segment->p_filesz : NOTE_SIZE_MAX;
	size_t align = segment->p_align == 8 ? 8 : 4;
	uint8_t *notes = malloc(size ? size : 1);
	size_t at = 0;

	if (!notes || elf_internal__read_all(file, segment->p_offset, notes, size))
		goto out;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc, next;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > NOTE_SIZE_MAX || note.n_descsz > NOTE_SIZE_MAX)
			break;
		name = at + sizeof(note);
		desc = (name + note.n_namesz + align - 1) / align * align;
		next = (desc + note.n_descsz + align - 1) / align * align;
		if (desc + note.n_descsz > size)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp(notes + name, "GNU", sizeof("GNU")) == 0 &&
		    note.n_descsz <= sizeof(file->build_id)) {
			memcpy(file->build_id, notes + desc, note.n_descsz);
			file->build_id_size = note.n_descsz;
			break;
		}
		if (next >= size)
			break;
		at = next;
	}
out:
	free(notes);
}

static void read_segment_contents(struct elf_file *file)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type == PT_DYNAMIC && !file->dynamic) {
			file->dynamic = true;
			elf_dynamic__read(file, segment);
		} else if (segment->p_type == PT_INTERP && !file->interpreter) {
			file->interpreter = elf_internal__string(file, segment->p_offset, PATH_MAX);
		} else if (segment->p_type == PT_NOTE && !file->build_id_size) {
			read_notes(file, segment);
		}
	}
}

static int read_file(struct elf_file *file, struct error *err)
{
	Elf64_Ehdr header;
	int ret;

	if (fstat(file->fd, &file->stat))
		return error__set(err, -errno, "%s: %s", file->name, strerror(errno));
	if (!S_ISREG(file->stat.st_mode))
		return refuse(file, "not a regular file", err);
	if ((uint64_t)file->stat.st_size > ROOT_FILE_MAX)
		return error__set(err, -EFBIG, "%s: more than 64 GiB, no library is that large",
				  file->name);
	ret = elf_internal__read_all(file, 0, &header, sizeof(header));
	if (ret == -EBADMSG)
		return refuse(file, "not an ELF file", err);
	if (ret)
		return error__set(err, ret, "%s: cannot read it: %s", file->name, strerror(-ret));
	ret = check_header(file, &header, err);
	if (!ret)
		ret = read_segments(file, &header, err);
	if (ret)
		return ret;
	elf_sections__read(file, &header);
	read_segment_contents(file);
	return 0;
}

static int open_file(int fd, const char *name, bool debug, struct elf_file **out, struct error *err)
{
	struct elf_file *file = calloc(1, sizeof(*file));
	int ret;

	*out = NULL;
	if (!file) {
		close(fd);
		return error__set(err, -ENOMEM, "%s: out of memory", name);
	}
	file->fd = fd;
	file->debug = debug;
	file->name = strdup(name);
	ret = file->name ? read_file(file, err) : error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		elf_file__free(file);
		return ret;
	}
	*out = file;
	return 0;
}

int elf_file__open_fd(int fd, const char *name, struct elf_file **out, struct error *err)
{
	return open_file(fd, name, false, out, err);
}

int elf_file__open_debug_fd(int fd, const char *name, struct elf_file **out, struct error *err)
{
	return open_file(fd, name, true, out, err);
}

int elf_file__open(const char *path, struct elf_file **out, struct error *err)
{
	int fd = regular_file__open(path);

	*out = NULL;
	if (fd < 0)
		return error__set(err, fd == -EINVAL ? -ENOEXEC : fd, "%s: %s", path,
				  root_file__why(fd));
	return elf_file__open_fd(fd, path, out, err);
}

void elf_file__free(struct elf_file *file)
{
	if (!file)
		return;
	close(file->fd);
	free(file->name);
	free(file->segments);
	free(file->soname);
	free(file->interpreter);
	free(file->debug_link);
	free(file->index.symbols);
	free(file);
}

const char *elf_file__name(const struct elf_file *file)
{
	return file->name;
}

const struct stat *elf_file__stat(const struct elf_file *file)
{
	return &file->stat;
}

const char *elf_file__soname(const struct elf_file *file)
{
	return file->soname;
}

int elf_file__soname_major(const struct elf_file *file)
{
	const char *number = file->soname ? strstr(file->soname, ".so.") : NULL;
	char *end;
	long major;

	if (!number || number[4] < '0' || number[4] > '9')
		return -1;
	major = strtol(number + 4, &end, 10);
	if ((*end != '\0' && *end != '.') || major > INT_MAX)
		return -1;
	return (int)major;
}

const char *elf_file__interpreter(const struct elf_file *file)
{
	return file->interpreter;
}

size_t elf_file__build_id(const struct elf_file *file, const uint8_t **id)
{
	*id = file->build_id;
	return file->build_id_size;
}

int elf_file__fd(const struct elf_file *file)
{
	return file->fd;
}

const char *elf_file__debug_link(const struct elf_file *file, uint32_t *crc)
{
	*crc = file->debug_crc;
	return file->debug_link;
}

bool elf_file__has_table(const struct elf_file *file, enum elf_table table)
{
	return file->tables[table].present && !file->tables[table].broken &&
	       file->tables[table].count;
}
