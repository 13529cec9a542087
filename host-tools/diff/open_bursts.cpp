#include "diff/open_bursts.hpp"

#include <utility>

namespace mmioscope::diff {

void OpenBursts::add(analysis::Thread thread, const abi::Record& record, std::uint32_t site,
                     std::uint64_t event) {
    const std::uint64_t key = std::uint64_t{record.device} << 32 | thread;
    const std::uint64_t address = abi::physical_address(record);
    if (!abi::is_write(record)) {
        const auto found = open_.find(key);
        if (found != open_.end()) {
            end(found->second);
        }
        return;
    }
    Open& open = opened(key);
    if (open.address != address) {
        end(open);
    }
    if (open.length++ == 0) {
        open.address = address;
        open.first = event;
    }
    if (open.words.size() < Burst::most_words) {
        open.words.push_back({site, record.value});
    }
}

OpenBursts::Open& OpenBursts::opened(std::uint64_t key) {
    if (open_.size() == most && !open_.contains(key)) {
        std::erase_if(open_, [](const auto& of) { return of.second.length == 0; });
        if (open_.size() == most) {
            open_.clear();
        }
    }
    return open_[key];
}

void OpenBursts::end(Open& open) {
    if (open.length > 1) {
        const std::pair key(open.words.front().site, open.length);
        if (boot_.bursts.size() < Boot::most_bursts || boot_.bursts.contains(key)) {
            Burst& burst = boot_.bursts[key];
            burst.words.resize(open.words.size());
            for (std::size_t i = 0; i < open.words.size(); ++i) {
                burst.words[i].site = open.words[i].site;
                burst.words[i].ones |= open.words[i].value;
                burst.words[i].zeros |= ~open.words[i].value;
            }
            if (burst.count++ == 0) {
                burst.first = open.first;
            }
        } else {
            boot_.left_out += open.length;
        }
    }
    open.length = 0;
    open.words.clear();
}

} // namespace mmioscope::diff
