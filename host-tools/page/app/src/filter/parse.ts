// Parses a filter into its tree: the grammar of mmioscope-filter(7), with the fields and words that the program wrote
// into the page.
import type { Facts, FilterField } from "../facts";
import { count, FilterError, time, tokensOf, type Token } from "./tokens";
import { glob, patternOf, regex, type Pattern } from "./pattern";

export type Range = [first: bigint, last: bigint];

export type Node =
  | { kind: "all" | "any" | "none"; children: Node[] }
  | { kind: "number"; field: string; mask: bigint; ranges: Range[] }
  | { kind: "text"; field: string; patterns: Pattern[]; column: number }
  | { kind: "bits"; reg: Pattern | null; field: Pattern; mask: bigint; ranges: Range[]; names: Pattern[] };

export const most = 0xffff_ffff_ffff_ffffn;
const mostDepth = 100;
const longest = 64 * 1024;
const comparisons = ["==", "!=", "<", "<=", ">", ">=", "=~", "!~", "="];

/** What is compared with a number. */
interface Numbers {
  ranges: Range[];
  /** Words that are not numbers. */
  names: Pattern[];
  negated: boolean;
}
interface Syntax {
  time: boolean;
  values: [string, number][];
  /** Other words are names of values. */
  names: boolean;
}

/** A suggestion: the known name that is nearest to a word. */
export function nearest(word: string, names: Iterable<string>): string {
  let best = "";
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase(), least);
    if (distance < least) [best, least] = [name, distance];
  }
  return best === "" ? "" : `, did you mean '${best}'?`;
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

class Parser {
  private readonly tokens: Generator<Token, never>;
  private ahead: Token;
  private last = "";

  constructor(
    text: string,
    private readonly facts: Facts,
  ) {
    if (text.length > longest) throw new FilterError(`longer than ${longest} characters`, longest);
    this.tokens = tokensOf(text);
    this.ahead = this.tokens.next().value;
  }

  whole(): Node {
    const node = this.any(0);
    if (this.peek().kind !== "end") throw this.complaint("expected && or ||");
    return node;
  }

  private peek(): Token {
    return this.ahead;
  }
  private take(): Token {
    const token = this.ahead;
    this.last = token.text;
    this.ahead = this.tokens.next().value;
    return token;
  }
  private takes(kind: Token["kind"], ...texts: string[]): boolean {
    const is = this.peek().kind === kind && texts.includes(this.peek().text);
    if (is) this.take();
    return is;
  }
  private complaint(message: string, token = this.peek()): FilterError {
    return new FilterError(message, token.column);
  }
  private needText(what: string): Token {
    const { kind } = this.peek();
    if (kind === "word" || kind === "quoted") return this.take();
    throw this.complaint(this.last === "" ? `expected ${what}` : `expected ${what} after '${this.last}'`);
  }
  private needSign(sign: string) {
    if (!this.takes("sign", sign)) throw this.complaint(`expected '${sign}'`);
  }

  private any(depth: number): Node {
    const children: Node[] = [];
    do children.push(this.all(depth));
    while (this.takes("sign", "||") || this.takes("word", "or"));
    return children.length === 1 ? children[0] : { kind: "any", children };
  }
  private all(depth: number): Node {
    const children: Node[] = [];
    do children.push(this.one(depth));
    while (this.takes("sign", "&&") || this.takes("word", "and"));
    return children.length === 1 ? children[0] : { kind: "all", children };
  }
  private one(depth: number): Node {
    if (depth >= mostDepth) throw this.complaint(`more than ${mostDepth} nested parentheses`);
    if (this.takes("sign", "!") || this.takes("word", "not")) return { kind: "none", children: [this.one(depth + 1)] };
    if (this.takes("sign", "(")) {
      const inside = this.any(depth + 1);
      this.needSign(")");
      return inside;
    }
    return this.condition();
  }

  private condition(): Node {
    const what = this.needText("a condition");
    if (what.kind === "word") {
      if (what.text.length > 1 && what.text.startsWith("@")) {
        throw this.complaint("filters of plug-ins run in 'mmioscope print -F' only", what);
      }
      const field = this.facts.fields.find(({ words }) => words.includes(what.text));
      if (field !== undefined) return field.text ? this.text(field.words[0], field.folded, what) : this.number(field);
      if (what.text === "field" && this.takes("sign", "(")) return this.bitsByCall();
      const point = what.text.indexOf(".");
      if (point > 0 && point + 1 < what.text.length) {
        return this.bits(glob(what.text.slice(0, point), true), glob(what.text.slice(point + 1), true));
      }
    }
    const known = this.facts.fields.flatMap(({ words }) => words);
    throw this.complaint(`there is no field '${what.text}'${nearest(what.text, known)}`, what);
  }

  private number(field: FilterField): Node {
    const mask = this.mask();
    const { ranges, negated } = this.numbers({ time: field.time, values: field.values, names: false });
    return negatedIf(negated, { kind: "number", field: field.words[0], mask, ranges });
  }
  private bits(reg: Pattern | null, field: Pattern): Node {
    const mask = this.mask();
    const { ranges, names, negated } = this.numbers({ time: false, values: [], names: true });
    return negatedIf(negated, { kind: "bits", reg, field, mask, ranges, names });
  }
  private bitsByCall(): Node {
    let field = patternOf(this.needText("the name of a field"), true);
    let reg: Pattern | null = null;
    if (this.takes("sign", ",")) {
      reg = field;
      field = patternOf(this.needText("the name of a field"), true);
    }
    this.needSign(")");
    return this.bits(reg, field);
  }

  private text(field: string, folded: boolean, what: Token): Node {
    if (this.peek().kind === "sign" && this.peek().text === "&") {
      throw this.complaint(`'${field}' is a text, and has no bits`);
    }
    const patterns: Pattern[] = [];
    let negated = false;
    const takePattern = () => patterns.push(patternOf(this.needText("a value"), folded));
    if (this.peek().kind === "sign" && comparisons.includes(this.peek().text)) {
      const sign = this.take();
      negated = sign.text.startsWith("!");
      if (sign.text === "==" || sign.text === "!=") takePattern();
      else if (sign.text === "=~" || sign.text === "!~") {
        patterns.push(regex(this.needText("a regular expression"), folded));
      } else throw this.complaint(`'${field}' is a text; compare it with ==, !=, =~, !~ or in`, sign);
    } else {
      const listed = this.list(takePattern);
      if (listed === null) patterns.push(glob("*", false));
      else negated = listed;
    }
    return negatedIf(negated, { kind: "text", field, patterns, column: what.column });
  }

  private mask(): bigint {
    if (!this.takes("sign", "&")) return most;
    const token = this.needText("a number");
    const bits = token.kind === "word" ? count(token.text) : undefined;
    if (bits === undefined) throw this.complaint(`'${token.text}' is not a 64-bit number`, token);
    return bits;
  }

  private numbers(syntax: Syntax): Numbers {
    const result: Numbers = { ranges: [], names: [], negated: false };
    if (this.peek().kind === "sign" && comparisons.includes(this.peek().text)) {
      const sign = this.take();
      if (sign.text === "=") throw this.complaint("use '==' to compare", sign);
      if (sign.text === "=~" || sign.text === "!~") {
        throw this.complaint("regular expressions are for texts, this is a number", sign);
      }
      if (sign.text === "==" || sign.text === "!=") {
        this.item(syntax, result);
        result.negated = sign.text === "!=";
        return result;
      }
      const value = this.value(this.needText("a value"), syntax);
      const first = sign.text === ">" ? value + 1n : sign.text === ">=" ? value : 0n;
      const last = sign.text === "<" ? value - 1n : sign.text === "<=" ? value : most;
      if (first <= last) result.ranges.push([first, last]);
      return result;
    }
    const listed = this.list(() => this.item(syntax, result));
    if (listed === null) result.ranges.push([1n, most]);
    else result.negated = listed;
    return result;
  }

  /** "in" or "not in", and one item or several: whether it is the latter; null: neither is there. */
  private list(item: () => void): boolean | null {
    const negated = this.takes("word", "not");
    if (!this.takes("word", "in")) {
      if (negated) throw this.complaint("expected 'in' after 'not'");
      return null;
    }
    if (!this.takes("sign", "(")) {
      item();
      return negated;
    }
    do item();
    while (this.takes("sign", ","));
    this.needSign(")");
    return negated;
  }

  private item(syntax: Syntax, to: Numbers) {
    const token = this.needText("a value");
    if (syntax.names && (token.kind === "quoted" || valueOf(token.text, syntax) === undefined)) {
      to.names.push(patternOf(token, true));
      return;
    }
    const first = this.value(token, syntax);
    const last = this.takes("sign", "..") ? this.value(this.needText("a value"), syntax) : first;
    if (last < first) throw this.complaint("this range ends before it begins", token);
    to.ranges.push([first, last]);
  }
  private value(token: Token, syntax: Syntax): bigint {
    const value = token.kind === "word" ? valueOf(token.text, syntax) : undefined;
    if (value !== undefined) return value;
    const { text } = token;
    if (syntax.time) throw this.complaint(`'${text}' is not a time such as 1.5, 20ms, 3us or 7ns`, token);
    const words = syntax.values.map(([word]) => word);
    throw this.complaint(
      words.length === 0
        ? `'${text}' is not a 64-bit number`
        : `'${text}' is not a value of this field${nearest(text, words)}`,
      token,
    );
  }
}

function valueOf(word: string, syntax: Syntax): bigint | undefined {
  const named = syntax.values.find(([one]) => one === word);
  if (named !== undefined) return BigInt(named[1]);
  return syntax.time ? time(word) : count(word);
}

function negatedIf(negated: boolean, test: Node): Node {
  return negated ? { kind: "none", children: [test] } : test;
}

/** Throws FilterError if the text is not a filter. */
export function parse(text: string, facts: Facts): Node {
  return new Parser(text, facts).whole();
}
