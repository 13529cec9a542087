// Writes a trace file from text (trace_text.hpp). Usage: trace-of-text TEXT FILE
#include "system/file_descriptor.hpp"
#include "trace_text.hpp"

#include <cstdio>
#include <exception>
#include <fstream>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: trace-of-text TEXT FILE\n", stderr);
        return 2;
    }
    try {
        std::ifstream in(argv[1]);
        const mmioscope::FileDescriptor file = mmioscope::create_output(argv[2]);
        mmioscope::test::write_trace(mmioscope::test::read_trace_text(in), file.get());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "trace-of-text: %s: %s\n", argv[1], error.what());
        return 2;
    }
    return 0;
}
