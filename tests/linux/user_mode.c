// Two threads read the interrupt controller's type from User mode, 10 times each, and say who they are: "user-mode TID PID
// NAME".
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile const uint32_t *type;

static void *reader(void *name)
{
    pthread_setname_np(pthread_self(), name);
    printf("user-mode %ld %d %s\n", syscall(SYS_gettid), getpid(), (const char *)name);
    fflush(stdout);
    for (int i = 0; i < 10; ++i) {
        (void)*type;
        usleep(20000);
    }
    usleep(300000); // whoever looks for it finds it
    return NULL;
}

int main(void)
{
    const int memory = open("/dev/mem", O_RDONLY | O_SYNC);
    const uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0x2c001000);
    if (page == MAP_FAILED) {
        perror("user-mode");
        return 1;
    }
    type = (volatile const uint32_t *)(page + 4); // GICD_TYPER
    pthread_t second;
    if (pthread_create(&second, NULL, reader, "second-thread") != 0)
        return 1;
    reader("first-thread");
    pthread_join(second, NULL);
    return 0;
}
