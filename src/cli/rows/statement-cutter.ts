/**
 * `StatementCutter` cuts the lines of a text into SQL statements: `add` takes one line and returns
 * the statements that end in it, without their semicolons. Semicolons in texts, names in quotes and
 * comments end nothing. Each line is looked at once, however long a statement is. `rest` is what
 * was begun and has not ended; comments alone begin no statement.
 */

/** What a semicolon may lie in, by how it begins, and how it ends. */
const ENDS = { "'": "'", '"': '"', '/*': '*/' } as const;
type Begin = keyof typeof ENDS;

const MARKS = /['";]|--|\/\*/g;

export class StatementCutter {
  /** Lines of the statement that has not ended. */
  #lines: string[] = [];
  /** What the line before ended in. A quote that is doubled ends a text, and begins it again. */
  #within: Begin | undefined;
  #hasWords = false;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  get rest(): string {
    return this.#lines.join('\n');
  }

  add(line: string): string[] {
    const found: string[] = [];
    let start = 0;
    for (let at = 0; at < line.length; ) {
      if (this.#within !== undefined) {
        const end = ENDS[this.#within];
        const place = line.indexOf(end, at);
        if (place < 0) break;
        this.#within = undefined;
        at = place + end.length;
        continue;
      }
      MARKS.lastIndex = at;
      const mark = MARKS.exec(line);
      const place = mark?.index ?? line.length;
      this.#hasWords ||= line.slice(at, place).trim() !== '';
      const [text] = mark ?? [];
      // A comment to the end of the line.
      if (text === undefined || text === '--') break;
      at = place + text.length;
      if (text !== ';') {
        this.#within = text as Begin;
        this.#hasWords ||= text !== '/*';
        continue;
      }
      const statement = [...this.#lines, line.slice(start, place)].join('\n');
      if (statement.trim() !== '') found.push(statement);
      this.#lines = [];
      this.#hasWords = false;
      start = at;
    }
    if (this.#hasWords || this.#within !== undefined) this.#lines.push(line.slice(start));
    else this.#lines = [];
    return found;
  }
}
