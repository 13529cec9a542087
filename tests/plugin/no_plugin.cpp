// A library, and no plug-in.
extern "C" int answer() {
    return 42;
}
