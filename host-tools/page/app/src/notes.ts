// Notes on events: those of the trace's file of notes, which came with the page, and what the user changed since, which the
// browser keeps. They can be saved as such a file, a line "NUMBER<tab>TEXT" for each, for `mmioscope note --import`.

type Note = [event: number, text: string];

/** Of characters; records/notes.hpp has the same. */
const longest = 1000;

export class NoteBook {
  private readonly given: Map<number, string>;
  /** An empty text is a note that was removed. */
  private readonly changes = new Map<number, string>();
  private readonly listeners: (() => void)[] = [];

  /** `key` tells the notes of one trace from those of others; `given`: those that came with the page. */
  constructor(
    private readonly key: string,
    given: Note[],
  ) {
    this.given = new Map(given);
    try {
      for (const [event, text] of parse(localStorage.getItem(key) ?? "")) this.changes.set(event, text);
    } catch {
      // A page from a file may have no storage: its notes last as long as the page.
    }
  }

  of(event: number): string {
    return this.changes.get(event) ?? this.given.get(event) ?? "";
  }
  /** In the order of events. */
  all(): Note[] {
    return [...new Map([...this.given, ...this.changes])].filter(([, text]) => text !== "").sort((a, b) => a[0] - b[0]);
  }
  set(event: number, text: string) {
    const note = Array.from(text.replace(/\p{Cc}+/gu, " ").trim()).slice(0, longest).join("");
    if (note === (this.given.get(event) ?? "")) this.changes.delete(event);
    else this.changes.set(event, note);
    try {
      localStorage.setItem(this.key, lines([...this.changes]));
    } catch {
      // As above.
    }
    for (const listener of this.listeners) listener();
  }
  /** The notes as a file. */
  text(): string {
    return lines(this.all());
  }
  listen(listener: () => void) {
    this.listeners.push(listener);
  }
}

function lines(notes: Note[]): string {
  return notes.map(([event, text]) => `${event}\t${text}\n`).join("");
}

function parse(text: string): Note[] {
  return text.split("\n").flatMap((line): Note[] => {
    const found = /^([0-9]+)\t(.*)$/.exec(line);
    return found === null ? [] : [[Number(found[1]), found[2]]];
  });
}
