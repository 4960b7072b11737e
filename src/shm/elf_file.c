/* Reads ELF files. See elf_file.h. */
#include "shm/elf_file.h"
#include "base/plain_file.h"
#include "shm/file_data.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define NATIVE_MACHINE EM_X86_64
#elif defined __aarch64__
#define NATIVE_MACHINE EM_AARCH64
#else
#define NATIVE_MACHINE EM_NONE /* no ROCm */
#endif

/* Read, not mapped: truncating a mapped file would end the viewer (SIGBUS). */
struct elf_input {
    int fd;
    uint64_t size;
};

static bool open_file(struct elf_input *f, const char *path, char *why, size_t why_bytes)
{
    struct stat st;
    f->fd = rtl_plain_file_open(open(path, O_PATH | O_CLOEXEC), &st);
    if (f->fd < 0) {
        snprintf(why, why_bytes, "%s", errno ? strerror(errno) : "it is no file");
        return false;
    }
    f->size = (uint64_t)st.st_size;
    return true;
}

static bool read_at(const struct elf_input *f, uint64_t offset, void *to, size_t bytes)
{
    return offset <= f->size && bytes <= f->size - offset && rtl_file_read(f->fd, to, bytes, offset);
}

/* Read a terminated string at an offset; a string that is too long becomes "". */
static void fetch_name(const struct elf_input *f, uint64_t offset, char name[RTL_ELF_NAME_MAX + 1])
{
    name[0] = '\0';
    if (offset >= f->size)
        return;
    uint64_t left = f->size - offset;
    size_t bytes = left < RTL_ELF_NAME_MAX + 1 ? (size_t)left : RTL_ELF_NAME_MAX + 1;
    if (!read_at(f, offset, name, bytes) || !memchr(name, '\0', bytes))
        name[0] = '\0';
}

enum { HEADERS_MAX = 256, DYNAMIC_MAX = 4096 };

struct layout {
    unsigned count;
    Elf64_Phdr header[HEADERS_MAX];
};

/* Return the file offset of an address of the loaded image; the file's size if there is none. */
static uint64_t file_offset_of(const struct elf_input *f, const struct layout *l, uint64_t address)
{
    for (unsigned i = 0; i < l->count; i++) {
        const Elf64_Phdr *p = &l->header[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz &&
            p->p_offset <= f->size)
            return p->p_offset + (address - p->p_vaddr);
    }
    return f->size;
}

static void read_needed(const struct elf_input *f, const struct layout *l, const Elf64_Phdr *dynamic,
                        struct rtl_elf_file *elf)
{
    uint64_t strings = f->size;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < DYNAMIC_MAX && (i + 1) * sizeof(Elf64_Dyn) <= dynamic->p_filesz; i++) {
            Elf64_Dyn entry;
            if (!read_at(f, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry) || entry.d_tag == DT_NULL)
                break;
            if (pass == 0 && entry.d_tag == DT_STRTAB)
                strings = file_offset_of(f, l, entry.d_un.d_ptr);
            elf->audits |= entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT;
            if (pass == 1 && entry.d_tag == DT_NEEDED && elf->needed_count < RTL_ELF_NEEDED_MAX &&
                entry.d_un.d_val < f->size && strings < f->size) {
                fetch_name(f, strings + entry.d_un.d_val, elf->needed[elf->needed_count]);
                elf->needed_count += elf->needed[elf->needed_count][0] != '\0';
            }
        }
    }
}

static bool read_headers(const struct elf_input *f, struct rtl_elf_file *elf)
{
    Elf64_Ehdr header;
    struct layout layout = {0};
    if (!read_at(f, 0, &header, sizeof header))
        return false;
    elf->native = header.e_machine == NATIVE_MACHINE && header.e_ident[EI_DATA] == ELFDATA2LSB;
    elf->shared = header.e_type == ET_DYN;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > HEADERS_MAX ||
        (header.e_type != ET_DYN && header.e_type != ET_EXEC))
        return false;
    layout.count = header.e_phnum;
    if (!read_at(f, header.e_phoff, layout.header, layout.count * sizeof(Elf64_Phdr)))
        return false;
    for (unsigned i = 0; i < layout.count; i++) {
        const Elf64_Phdr *p = &layout.header[i];
        if (p->p_type == PT_INTERP)
            fetch_name(f, p->p_offset, elf->interpreter);
        if (p->p_type == PT_DYNAMIC) {
            elf->dynamic = true;
            read_needed(f, &layout, p, elf);
        }
    }
    return true;
}

bool rtl_elf_read(const char *path, struct rtl_elf_file *elf, char *why, size_t why_bytes)
{
    unsigned char ident[EI_NIDENT] = {0};
    struct elf_input f;
    memset(elf, 0, sizeof *elf);
    if (!open_file(&f, path, why, why_bytes))
        return false;
    bool ok = true;
    elf->elf = read_at(&f, 0, ident, sizeof ident) && memcmp(ident, ELFMAG, SELFMAG) == 0;
    elf->bits32 = elf->elf && ident[EI_CLASS] == ELFCLASS32;
    if (elf->elf && ident[EI_CLASS] == ELFCLASS64 && !read_headers(&f, elf)) {
        snprintf(why, why_bytes, "it is a damaged ELF file");
        ok = false;
    }
    close(f.fd);
    return ok;
}

bool rtl_elf_has(const char *path, const char *text)
{
    enum { PIECE = 1 << 16 };
    static const uint64_t bytes_max = 2ull << 30; /* no library is larger; a sparse file may have terabytes */
    static char piece[PIECE];                     /* single-threaded */
    char why[200];
    struct elf_input f;
    size_t length = strlen(text) + 1, kept = 0;
    bool found = false;
    if (!open_file(&f, path, why, sizeof why))
        return false;
    /* by the size at open: don't follow a growing file */
    for (uint64_t at = 0; !found && at < f.size && at < bytes_max;) {
        ssize_t n = pread(f.fd, piece + kept, PIECE - kept, (off_t)at);
        if (n <= 0)
            break;
        at += (uint64_t)n;
        size_t have = kept + (size_t)n;
        found = memmem(piece, have, text, length) != NULL;
        kept = have < length - 1 ? have : length - 1;
        memmove(piece, piece + have - kept, kept);
    }
    close(f.fd);
    return found;
}
