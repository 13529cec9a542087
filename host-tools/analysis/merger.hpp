// A consumer that merges some events into one, and passes the result on to another consumer.
#pragma once

#include "reading/drive.hpp"

namespace mmioscope::analysis {

class Merger : public reading::Consumer {
public:
    explicit Merger(reading::Consumer& next) : next_(next) {}

    /// Passes on the events held back.
    virtual void release() = 0;

    void add_derived(const DerivedEvent& derived) override {
        release();
        next_.add_derived(derived);
    }
    void add_unended(const Event& marker) override { next_.add_unended(marker); }
    void forget() override {
        release();
        next_.forget();
    }
    void flush() override {
        release();
        next_.flush();
    }
    void finish() override {
        release();
        next_.finish();
    }
    bool enough() const override { return next_.enough(); }

protected:
    reading::Consumer& next_;
};

} // namespace mmioscope::analysis
