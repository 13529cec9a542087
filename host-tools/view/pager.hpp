// Sends output on a terminal through a pager, like git.
#pragma once

#include <sys/types.h>

namespace mmioscope::view {

class Pager {
public:
    /// As long as this object lives, standard output goes to a pager, and so does standard error if
    /// it is a terminal. Does nothing if `wanted` is false, if standard output is not a terminal or
    /// a dumb one, or if there is no pager. The pager is MMIOSCOPE_PAGER, PAGER or `less`; empty
    /// and `cat` mean none. One at a time.
    explicit Pager(bool wanted);
    /// Waits until the user leaves the pager.
    ~Pager();
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;

private:
    int output_ = -1; ///< the original standard output; -1: no pager
    int errors_ = -1; ///< likewise for standard error
};

} // namespace mmioscope::view
