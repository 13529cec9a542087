@ Only CPU 0 enters: the firmware starts the others where CPU 0 says.
    .arch armv7ve
    .arm

    .text
    .global pen
pen:
    b .
