#include "lent_root.hpp"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mmioscope::guest {

namespace {

/// The capabilities of a set-uid program end when no id is root's any more (capabilities(7)). Those
/// of the file itself, or under SECBIT_NO_SETUID_FIXUP, do not.
bool drop_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capset, &header, sets) != 0 || ::syscall(SYS_capget, &header, sets) != 0) {
        return false;
    }
    for (const __user_cap_data_struct& set : sets) {
        if (set.effective != 0 || set.permitted != 0 || set.inheritable != 0) {
            return false;
        }
    }
    return true;
}

} // namespace

// The kernel tells: set-uid, set-gid, capabilities of the file.
bool root_is_lent() {
    return ::getauxval(AT_SECURE) != 0 && ::getuid() != 0;
}

// Changes the group first, because that needs root. Changes saved ids, too, so there is no way
// back.
bool give_root_back() {
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    if (::setresgid(group, group, group) != 0 || ::setresuid(user, user, user) != 0 ||
        !drop_capabilities()) {
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
