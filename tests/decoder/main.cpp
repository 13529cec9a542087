// Compares the hypervisor's decoder with GNU binutils' disassembler.
//
//   decoder [WORDS [SEED]]
//
// Tests every Thumb-16 word, and WORDS (5,000,000) words each of ARM and Thumb-32, from SEED
// (random). The two must agree on the accesses, except for the listed differences
// (differences.cpp); each of these, and each mnemonic, must occur. ARM and Thumb run in separate
// processes, because the disassembler has globals.
#include "comparison.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace mmioscope::decoder_test;

namespace {

struct Options {
    std::uint64_t words{5'000'000};
    std::uint64_t seed{std::random_device{}()};
};

/// A whole number; exits if it is not one.
std::uint64_t number(const char* text) {
    char* end = nullptr;
    const std::uint64_t n = std::strtoull(text, &end, 10);
    if (*text != '\0' && *text != '-' && *end == '\0') return n;
    std::fprintf(stderr, "decoder: not a number: %s\n", text);
    std::exit(2);
}

Options read_options(int count, char** arguments) {
    Options options;
    if (count > 3) {
        std::fprintf(stderr, "usage: decoder [WORDS [SEED]]\n");
        std::exit(2);
    }
    if (count > 1) options.words = number(arguments[1]);
    if (count > 2) options.seed = number(arguments[2]);
    return options;
}

/// Compares `sets` in a new process, whose exit status is the number of failures.
pid_t start(std::initializer_list<Set> sets, const Options& options) {
    const pid_t child = fork();
    if (child != 0) return child;
    int failed = 0;
    for (const Set set : sets) {
        Comparison comparison(set);
        comparison.run(options.words, options.seed);
        failed += !comparison.report();
    }
    std::exit(failed);
}

int finish(pid_t child, int sets) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return sets;
    return WEXITSTATUS(status);
}

} // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    std::printf("decoder: %" PRIu64 " words of each set, seed %" PRIu64 "\n", options.words,
                options.seed);
    std::fflush(stdout);
    const pid_t arm = start({Set::arm}, options);
    const pid_t thumb = start({Set::thumb16, Set::thumb32}, options);
    const int failed = finish(arm, 1) + finish(thumb, 2);
    std::printf("decoder: %d passed, %d failed\n", 3 - failed, failed);
    return failed == 0 ? 0 : 1;
}
