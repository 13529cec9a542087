// The file that follow reads while a recorder writes it: it may come later, and be made anew.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

namespace mmioscope::cli {

class FollowedPath {
public:
    /// Waits until `path`, whose folder exists, is there, with a message, or `stop` returns true;
    /// "-" is there.
    FollowedPath(std::string path, const std::function<bool()>& stop);

    /// Call it when nothing new came for a moment. True, from the second call on: another file has
    /// that name now, or the file has become shorter, so another recording has begun in it. (A
    /// recorder, too, replaces the file when it has written its end: the first call gives its
    /// reader the time to see that.)
    bool is_made_anew();

private:
    std::string path_;
    struct stat read_ {}; ///< the file when it was last looked at
    bool suspected_ = false;
};

} // namespace mmioscope::cli
