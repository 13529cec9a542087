// A made-up boot with what the page must show: two CPUs, a poll, an interrupt, a register that two CPUs write, a value of
// 64 bits, records of other kinds, and texts that would be markup if they were not escaped.

export const hostile = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><!--<script>";

export const registers = `device dev : <i>evil</i>
compatible acme,dev
0x000 CTRL : control
  [0] EN
  [2:1] MODE 0=off 1=slow 2=fast
0x004 STATUS : status
  [0] BUSY
  [7:4] LEVEL
`;

export function bootText(accesses = 600) {
  const lines = [
    "frequency 24000000",
    "device dev@1000 0x1c050000 0x1000 acme,dev",
    "device uart@2,2000 0x1c060000 0x1000 acme,uart",
    "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic",
    "device gic@2c001000[1] 0x2c002000 0x1000",
    "device memory 0x80000000 0x1000000",
    "interrupt dev@1000 41",
    "code 0xc0500000 0x100 dev_start",
    "code 0xc0500100 0x100 dev_wait",
    "code 0xbf000000 0x100 probe acme_dev",
    "task 0xc1000000 7 <b>evil</b>",
    "task 0xc1000040 8 modprobe 7",
    "0.5 cpu0 R4 0x1c060000 1 type=3",
  ];
  for (let i = 0; i < accesses; i++) {
    const at = (1 + i / 100).toFixed(6);
    const took = i === 300 ? 900_000 : 24 + 24 * (i % 3);
    const reads = `R4 0x1c050004 ${i % 50 === 49 ? 0x50 : 0x51} pc=0xc0500110 lr=0xc0500010`;
    const access = i % 50 === 0 ? `W4 0x1c050000 ${(i / 50) % 7} pc=0xc0500010 lr=0xbf000020` : reads;
    const task = i % 3 === 0 ? "0xc1000040" : "0xc1000000";
    lines.push(`${at} cpu${i % 2} ${access} duration=${took} task=${task} mode=${i % 7 === 0 ? 0x10 : 0x13} sp=0xc1602f00 va=0xe0000000`);
  }
  const end = 1 + accesses / 100;
  lines.push(
    `${end + 0.05} cpu0 marker value=7`,
    // dev_start() calls dev_wait(); the second call of that never returns.
    `${end + 0.06} cpu0 call pc=0xc0500000 lr=0xbf000020 sp=0xc1602f80 value=0x200000001 flags=64 task=0xc1000040 mode=0x13`,
    `${end + 0.07} cpu0 call pc=0xc0500100 lr=0xc0500010 sp=0xc1602f40 value=3 flags=64 task=0xc1000040 mode=0x13`,
    `${end + 0.08} cpu0 ret pc=0xc0500100 lr=0xc0500010 sp=0xc1602f40 value=4 duration=240000 task=0xc1000040 mode=0x13`,
    `${end + 0.085} cpu0 call pc=0xc0500100 lr=0xc0500010 sp=0xc1602f40 flags=64 task=0xc1000040 mode=0x13`,
    `${end + 0.095} cpu0 ret pc=0xc0500000 lr=0xbf000020 sp=0xc1602f80 value=5 duration=840000 task=0xc1000040 mode=0x13`,
    `${end + 0.1} cpu1 R4 0x2c00200c 41 pc=0xc0500010`,
    `${end + 0.2} cpu1 W4 0x2c002010 41 pc=0xc0500010`,
    `${end + 0.25} cpu0 R8 0x1c060010 0xfedcba9876543210 pc=0xbf000010`,
    `${end + 0.26} cpu0 R1 0x1c060001 ? pc=0xbf000014 mode=0x33`,
    // A page that moves between the CPUs, one that only one of them has, and a value as in abi/record.hpp.
    `${end + 0.27} cpu0 W4 0x80001b00 0x10000 type=21 pc=0xc0500010`,
    `${end + 0.28} cpu1 W1 0x80001f04 0x10101 type=21 pc=0xbf000018 task=0xc1000040`,
    `${end + 0.285} cpu0 R4 0x80002000 0 type=21 pc=0xc0500010`,
    `${end + 0.29} cpu0 R4 0x80001b00 0x102 type=21 pc=0xc0500110 task=0xc1000000`,
    `${end + 0.3} cpu0 W2 0x1c050000 5 pc=0xc0500014`,
    `${end + 0.305} cpu1 R4 0x1c060020 8 type=11 pc=0xbf000010`,
    `console ${end + 0.31} hello\\n${hostile}\\n`,
  );
  return lines.join("\n") + "\n";
}
