// The words and signs of a filter, as mmioscope-filter(7) has them, and errors with a column.

/** What is wrong with a filter, and where: a column from 0 on. */
export class FilterError extends Error {
  constructor(
    message: string,
    readonly column: number,
  ) {
    super(message);
  }
}

export interface Token {
  kind: "word" | "quoted" | "sign" | "end";
  /** Of a quoted text without the quotes. */
  text: string;
  column: number;
  end: number;
}

const signs = ["==", "!=", "<=", ">=", "=~", "!~", "&&", "||", "..", "<", ">", "!", "&", "(", ")", ",", "=", "|"];
const isSpace = (c: string) => c === " " || c === "\t" || c === "\n" || c === "\r";
const isWord = (c: string | undefined) => c !== undefined && (/[0-9a-zA-Z_@./*?:[\]-]/.test(c) || c >= "\x80");

/** A text as a word of a filter, in quotes if it must be. */
export function filterWord(text: string): string {
  return /^[\w@./:-]+$/.test(text) && !text.includes("..") ? text : `'${text.replace(/'/g, "''")}'`;
}

/** The tokens of a text, one by one; the last one is its end. Throws FilterError where there is none. */
export function* tokensOf(text: string): Generator<Token, never> {
  let at = 0;
  let compared = false; // after == or !=, where a comma belongs to a word
  const goesOn = () =>
    (isWord(text[at]) || (compared && text[at] === "," && isWord(text[at + 1]))) && !text.startsWith("..", at);
  for (;;) {
    while (at < text.length && isSpace(text[at])) at++;
    const column = at;
    const c = text[at];
    let kind: Token["kind"];
    let inside = "";
    if (c === undefined) {
      kind = "end";
    } else if (c === '"' || c === "'") {
      kind = "quoted";
      for (at++; ; at++) {
        if (at >= text.length) throw new FilterError("this quote is not closed", column);
        if (text[at] === c && text[++at] !== c) break; // a doubled quote is one
        inside += text[at];
      }
    } else if (isWord(c) && !text.startsWith("..", at)) {
      kind = "word";
      while (goesOn()) at++;
      inside = text.slice(column, at);
    } else {
      kind = "sign";
      const sign = signs.find((one) => text.startsWith(one, at));
      if (sign === undefined) throw new FilterError("put this character in quotes", column);
      at += sign.length;
      inside = sign;
    }
    yield { kind, text: inside, column, end: at };
    compared = kind === "sign" && (inside === "==" || inside === "!=");
  }
}

const most = 0xffff_ffff_ffff_ffffn;

function fitting(value: bigint): bigint | undefined {
  return value <= most ? value : undefined;
}

/** 12, 0x1f, 0b101, 64K; nothing if it is none of these, or has more than 64 bits. */
export function count(text: string): bigint | undefined {
  if (/^0b[01]+$/.test(text)) return fitting(BigInt(text));
  const found = /^(0[xX][0-9a-fA-F]+|[0-9]+)([KMGkmg]?)$/.exec(text);
  if (found === null) return undefined;
  const shift = found[2] === "" ? 0 : 10 * ("KMG".indexOf(found[2].toUpperCase()) + 1);
  return fitting(BigInt(found[1]) << BigInt(shift));
}

/** Nanoseconds of 1.5, 1.5s, 200ms, 10us, 3ns; without a unit, seconds. */
export function time(text: string): bigint | undefined {
  const found = /^([0-9]+)(?:\.([0-9]+))?(ns|us|ms|s|)$/.exec(text);
  if (found === null) return undefined;
  const digits = { ns: 0, us: 3, ms: 6, s: 9, "": 9 }[found[3]]!;
  const part = (found[2] ?? "").slice(0, digits).padEnd(digits, "0");
  return fitting(BigInt(found[1] + part));
}
