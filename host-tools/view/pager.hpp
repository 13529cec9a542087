// What is printed on a terminal goes through a pager, as git's does.
#pragma once

#include <sys/types.h>

namespace mmioscope::view {

class Pager {
public:
    /// As long as this lives, standard output goes to a pager, and standard error where that is a
    /// terminal, too. Does nothing if `wanted` is false, standard output is no terminal or a dumb
    /// one, or there is no pager: MMIOSCOPE_PAGER, PAGER, else `less`; an empty one, and `cat`, is
    /// none. One at a time.
    explicit Pager(bool wanted);
    /// Waits until the user has left the pager.
    ~Pager();
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;

private:
    int output_ = -1; ///< what standard output was; -1: there is no pager
    int errors_ = -1; ///< likewise of standard error
};

} // namespace mmioscope::view
