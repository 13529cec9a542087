// The user's notes on events. The browser keeps them; they can be saved as a file: a line "NUMBER<tab>TEXT" for each.

export class NoteBook {
  private readonly notes = new Map<number, string>();
  private readonly listeners: (() => void)[] = [];

  /** `key` tells the notes of one trace from those of others; `given`: those that came with the page. */
  constructor(
    private readonly key: string,
    given: [number, string][] = [],
  ) {
    for (const [event, text] of given) this.notes.set(event, text);
    try {
      for (const [event, text] of parse(localStorage.getItem(key) ?? "")) this.put(event, text);
    } catch {
      // A page from a file may have no storage: its notes last as long as the page.
    }
  }

  of(event: number): string {
    return this.notes.get(event) ?? "";
  }
  get count(): number {
    return this.notes.size;
  }
  set(event: number, text: string) {
    this.put(event, text.replace(/[\t\n\r]+/g, " ").trim());
    try {
      localStorage.setItem(this.key, this.text());
    } catch {
      // As above.
    }
    for (const listener of this.listeners) listener();
  }
  /** The notes as a file. */
  text(): string {
    return [...this.notes]
      .sort((a, b) => a[0] - b[0])
      .map(([event, text]) => `${event}\t${text}\n`)
      .join("");
  }
  listen(listener: () => void) {
    this.listeners.push(listener);
  }
  private put(event: number, text: string) {
    if (text === "") this.notes.delete(event);
    else this.notes.set(event, text);
  }
}

function parse(text: string): [number, string][] {
  return text.split("\n").flatMap((line): [number, string][] => {
    const found = /^([0-9]+)\t(.*)$/.exec(line);
    return found === null ? [] : [[Number(found[1]), found[2]]];
  });
}
