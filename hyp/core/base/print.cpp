#include "base/print.hpp"

namespace mmioscope {

void print_one(TextSink& out, const char* text) {
    for (; *text != '\0'; ++text) {
        if (*text == '\n') out.put('\r');
        out.put(*text);
    }
}

void print_one(TextSink& out, Hex hex) {
    print_one(out, "0x");
    unsigned digits = hex.digits;
    while (digits < 16 && (hex.value >> (4 * digits)) != 0) ++digits;
    while (digits-- > 0) out.put("0123456789abcdef"[(hex.value >> (4 * digits)) & 0xf]);
}

void print_one(TextSink& out, std::uint32_t decimal) {
    char digits[10];
    unsigned count = 0;
    do {
        digits[count++] = static_cast<char>('0' + decimal % 10);
        decimal /= 10;
    } while (decimal != 0);
    while (count > 0) out.put(digits[--count]);
}

} // namespace mmioscope
