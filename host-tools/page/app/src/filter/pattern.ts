// Words, globs and regular expressions that a filter compares texts with.
import { FilterError, type Token } from "./tokens";

export interface Pattern {
  matches(text: string): boolean;
  /** A text that it may equal beyond the names of a trace: the end of a path. Empty: none. */
  readonly whole: string;
}

const fold = (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());

export function literal(text: string, folded: boolean): Pattern {
  const wanted = folded ? fold(text) : text;
  return { whole: text, matches: (one) => (folded ? fold(one) : one) === wanted };
}

export function glob(text: string, folded: boolean): Pattern {
  if (!/[*?]/.test(text)) return literal(text, folded);
  const source = (folded ? fold(text) : text).replace(/[.+^${}()|[\]\\/]/g, "\\$&");
  const regex = new RegExp(`^${source.replace(/\*+/g, "[^]*").replace(/\?/g, "[^]")}$`);
  return { whole: text, matches: (one) => regex.test(folded ? fold(one) : one) };
}

/** A glob, or a quoted text as it is. */
export function patternOf(token: Token, folded: boolean): Pattern {
  return token.kind === "quoted" ? literal(token.text, folded) : glob(token.text, folded);
}

/** A character for each byte of UTF-8: the program's regular expressions see bytes. */
const bytes = (text: string) => (/[^\0-\x7f]/.test(text) ? String.fromCharCode(...new TextEncoder().encode(text)) : text);

const longestRegex = 1024;
const mostRepeats = 1000; // RE2's limit

// An element of a regular expression that RE2 and JavaScript read alike, or that is rewritten here.
const element =
  /\\([dDwWsSbBntrfv]|x[0-9a-fA-F]{2}|[!-/:-@[-`{-~ ])|\[(?!\^\])(\^?)((?:\\(?:[dDwWsSntrfv]|x[0-9a-fA-F]{2}|[!-/:-@[-`{-~ ])|[^\\\][])+)\]|\(\?:|\{(\d+)(,?)(\d*)\}|[\s\S]/y;

/** A regular expression in which RE2 and JavaScript agree. Throws FilterError with the reason for others. */
export function regex(token: Token, folded: boolean): Pattern {
  const refuse = (reason: string): never => {
    throw new FilterError(`${reason}; 'mmioscope print -F' can`, token.column);
  };
  const pattern = bytes(token.text);
  if (pattern.length > longestRegex) {
    throw new FilterError(`a regular expression has at most ${longestRegex} characters`, token.column);
  }
  const spaces = "\\t\\n\\f\\r ";
  let source = "";
  element.lastIndex = 0;
  for (let found; (found = element.exec(pattern)) !== null;) {
    const [text, escape, , inside, low, , high] = found;
    if (escape === "s") source += `[${spaces}]`;
    else if (escape === "S") source += `[^${spaces}]`;
    else if (inside?.includes('\\S')) refuse("this page cannot search for \\S in brackets");
    else if (inside !== undefined) source += text.replace(/\\s/g, spaces);
    else if (text === "[") refuse("this page cannot search for such a class of characters");
    else if (text === "\\") refuse("this page does not know what this backslash is for");
    else if (text === "(" && pattern[element.lastIndex] === "?") refuse("this page knows no (? but (?:");
    else if (low !== undefined && Math.max(Number(low), Number(high)) > mostRepeats) {
      throw new FilterError(`a repetition has at most ${mostRepeats} rounds`, token.column);
    } else if (text === "{" || text === "}" || text === "]") source += `\\${text}`;
    else source += text === "." ? "[^\\n]" : text;
  }
  try {
    const compiled = new RegExp(source, folded ? "i" : "");
    return { whole: "", matches: (one) => compiled.test(bytes(one)) };
  } catch (error) {
    throw new FilterError((error as Error).message, token.column);
  }
}
