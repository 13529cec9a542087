/* Starts /vmlinuz in place of the running kernel, with the same device tree and /second.img as its RAM disk, where the
 * first boot had them. Only the init is another: /second-start, a name as long as that of the first one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kernel_at = 0x43000000, ramdisk_at = 0x44000000, tree_at = 0x47e00000, page = 4096 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static struct kexec_segment segment(const char *path, uint32_t at) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail(path);
    const size_t whole = ((size_t)status.st_size + page - 1) / page * page;
    char *bytes = calloc(1, whole);
    size_t size = 0;
    for (ssize_t n; (n = read(file, bytes + size, whole - size)) > 0;) size += (size_t)n;
    close(file);
    return (struct kexec_segment){.buf = bytes, .bufsz = size, .mem = (void *)(uintptr_t)at, .memsz = whole};
}

static void start_second(struct kexec_segment tree) {
    const char word[] = "rdinit=", second[] = "/second-start";
    char *found = memmem(tree.buf, tree.bufsz, word, sizeof word - 1);
    if (found == NULL || strcspn(found + sizeof word - 1, " ") != sizeof second - 1) fail("no such init in the tree");
    memcpy(found + sizeof word - 1, second, sizeof second - 1);
}

/* The tree says where the RAM disk ends: the first one's end, so this one is filled up with zeros. */
static void fill_up(struct kexec_segment *ramdisk, size_t size) {
    if (size > ramdisk->memsz) ramdisk->memsz = (size + page - 1) / page * page;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    struct kexec_segment segments[] = {segment("/vmlinuz", kernel_at), segment("/second.img", ramdisk_at),
                                       segment("/sys/firmware/fdt", tree_at)};
    fill_up(&segments[1], strtoul(words[1], NULL, 0));
    start_second(segments[2]);
    if (syscall(SYS_kexec_load, kernel_at, 3, segments, KEXEC_ARCH_ARM) != 0) fail("kexec_load");
    sync();
    syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
    fail("reboot");
}
