/**
 * `FreshNames.of` gives a column of a plan a unique name. If it had to change the name, it
 * remembers in `written` what the new one stands for. `atMost` throws InvalidInput if a statement
 * has too many parts of a kind.
 */
import { refuse } from '../../sql/index.ts';

export class FreshNames {
  readonly #used = new Set<string>();
  /** How often a name was asked for, so that the next one is found at once. */
  readonly #counts = new Map<string, number>();
  /** Names that had to be made, with what they stand for: a table and a column, or a column alone. */
  readonly written = new Map<string, readonly string[]>();

  /** The name itself, with its table, or with a number that no other has. */
  of(name: string, table = '', separator = ' ', first = 2): string {
    let fresh = name;
    if (this.#used.has(fresh) && table !== '') fresh = `${table}.${name}`;
    while (this.#used.has(fresh)) {
      const count = this.#counts.get(name) ?? first;
      this.#counts.set(name, count + 1);
      fresh = `${name}${separator}${count}`;
    }
    this.#used.add(fresh);
    if (fresh !== name) this.written.set(fresh, table === '' ? [name] : [table, name]);
    return fresh;
  }
}

/** @throws InvalidInput where a statement has more of something than it may have */
export function atMost(count: number, most: number, what: string, at: number | undefined): void {
  if (count > most) refuse(at, `The statement has ${count} ${what}, and ${most} is the most`);
}
