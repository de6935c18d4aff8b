/**
 * `StatementCutter` cuts the lines of a text into SQL statements: `add` takes one line and returns
 * the statements that end in it, without their semicolons. Semicolons in texts, names in quotes and
 * comments end nothing; texts may have escapes (E'..') or tags ($tag$..$tag$), and comments nest.
 * Each line is looked at once, however long a statement is. `rest` is what was begun and has not
 * ended; comments alone are no statement.
 */

/** What a semicolon may lie in, and what is looked for there: its end, and what to pass over. */
interface Within {
  readonly marks: RegExp;
  readonly isComment: boolean;
}

const NAME = '[A-Za-z_\\u0080-\\u009f\\u00a1-\\uffff]';
const REST = '[\\w\\u0080-\\u009f\\u00a1-\\uffff]';

/** A word is passed over whole: what it ends in begins no text. */
const MARKS = new RegExp(
  `[Ee]?'|["\`;]|--|/\\*|\\$(?:${NAME}${REST}*)?\\$|${REST}(?:${REST}|\\$)*`,
  'g',
);

/** A quote that is doubled ends a text, and begins it again. */
const QUOTED: Readonly<Record<string, Within>> = {
  "'": { marks: /'/g, isComment: false },
  '"': { marks: /"/g, isComment: false },
  '`': { marks: /`/g, isComment: false },
};
const ESCAPED: Within = { marks: /\\.?|''|'/g, isComment: false };
const COMMENT: Within = { marks: /\/\*|\*\//g, isComment: true };

const tagged = (tag: string): Within => ({
  marks: new RegExp(tag.replaceAll('$', '\\$'), 'g'),
  isComment: false,
});

export class StatementCutter {
  /** Lines of the statement that has not ended. */
  #lines: string[] = [];
  /** What the line before ended in. */
  #within: Within | undefined;
  /** Comments that are open. */
  #depth = 0;
  /** Whether nothing but blanks came after a text with escapes, which goes on in the next quotes. */
  #goesOn = false;
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
      const within = this.#within;
      const marks = within?.marks ?? MARKS;
      marks.lastIndex = at;
      const mark = marks.exec(line);
      const [text = ''] = mark ?? [];
      const place = mark?.index ?? line.length;
      const from = at;
      at = place + text.length;
      if (within !== undefined) {
        if (mark !== null) this.#pass(within, text);
        continue;
      }
      if (line.slice(from, place).trim() !== '') this.#word();
      // A comment to the end of the line.
      if (text === '--') {
        this.#goesOn = false;
        break;
      }
      if (text !== ';') {
        if (text !== '') this.#begin(text);
        continue;
      }
      const statement = [...this.#lines, line.slice(start, place)].join('\n');
      if (this.#hasWords) found.push(statement);
      this.#lines = [];
      this.#hasWords = false;
      this.#goesOn = false;
      start = at;
    }
    if (this.#hasWords || this.#within !== undefined) this.#lines.push(line.slice(start));
    else this.#lines = [];
    return found;
  }

  #word(): void {
    this.#hasWords = true;
    this.#goesOn = false;
  }

  /** @param text what begins outside of texts, names in quotes and comments */
  #begin(text: string): void {
    if (text === '/*') {
      this.#within = COMMENT;
      this.#depth = 1;
      this.#goesOn = false;
      return;
    }
    const goesOn = this.#goesOn && text === "'";
    this.#word();
    if (goesOn || /^[Ee]'$/.test(text)) this.#within = ESCAPED;
    else if (text.startsWith('$')) this.#within = tagged(text);
    else this.#within = QUOTED[text];
  }

  /** @param text what was found within what has begun */
  #pass(within: Within, text: string): void {
    if (within.isComment) {
      this.#depth += text === '/*' ? 1 : -1;
      if (this.#depth > 0) return;
    } else if (within === ESCAPED) {
      if (text !== "'") return;
      this.#goesOn = true;
    }
    this.#within = undefined;
  }
}
