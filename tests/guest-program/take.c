/* take SOCKET FILE: listens at the unix socket SOCKET, and writes what the first one sends to FILE. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 3) return 2;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    strncpy(name.sun_path, words[1], sizeof name.sun_path - 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    FILE *file = fopen(words[2], "w");
    if (!file || bind(listener, (struct sockaddr *)&name, sizeof name) || listen(listener, 1)) {
        perror(words[0]);
        return 1;
    }
    const int sender = accept(listener, NULL, NULL);
    char bytes[4096];
    for (ssize_t n; (n = read(sender, bytes, sizeof bytes)) > 0;) fwrite(bytes, 1, (size_t)n, file);
    return fclose(file) != 0;
}
