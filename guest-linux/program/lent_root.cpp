#include "lent_root.hpp"

#include <sys/auxv.h>
#include <unistd.h>

namespace mmioscope::guest {

// The kernel's own word for it: set-uid, set-gid, capabilities of the file.
bool root_is_lent() {
    return ::getauxval(AT_SECURE) != 0 && ::getuid() != 0;
}

// The group first: without root it would stay. Saved ids go, too, so that there is no way back;
// with the last id that is root's the kernel takes all capabilities away (capabilities(7)).
bool give_root_back() {
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    if (::setresgid(group, group, group) != 0 || ::setresuid(user, user, user) != 0) {
        return false;
    }
    uid_t users[3];
    gid_t groups[3];
    return ::getresuid(&users[0], &users[1], &users[2]) == 0 &&
           ::getresgid(&groups[0], &groups[1], &groups[2]) == 0 && users[0] == user &&
           users[1] == user && users[2] == user && groups[0] == group && groups[1] == group &&
           groups[2] == group && ::setuid(0) != 0;
}

} // namespace mmioscope::guest
