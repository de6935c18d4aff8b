/**
 * A table with branches and tags as writers have acknowledged it: `History` takes their lines, in any order, and tells
 * what each version has to hold. A change that its writer was not told the outcome of may be there or not. Rows are
 * compared as the text of `rowsText`, by its digest.
 */
import { createHash } from 'node:crypto';
import { randomFrom } from '../random.mjs';

export const MAIN = 'main';

/** Whole numbers from 0 up to `count`, the same for the same seed. */
export function numbers(seed) {
  const random = randomFrom(seed);
  return (count) => Math.floor(random() * count);
}

/** Branches that nobody deletes: one with a tag cannot be, and their files are there as long as the table is. */
export const LASTING = /^[bjp]-/;

/** Tells of a change when it is acknowledged, with its version, or that nothing is known of it. */
export const changedBy = (tell) => async (branch, change, run) => {
  let result;
  try {
    result = await run();
  } catch (error) {
    tell({ event: 'unknown', branch, change, why: String(error) });
    throw error;
  }
  tell({ event: 'changed', branch, version: result.version, change });
};

/** One line a row, by id; `rows` are `[id, name, v]`. */
export const rowsText = (rows) =>
  [...rows]
    .sort(([one], [other]) => one - other)
    .map((row) => `${row.join('|')}\n`)
    .join('');

export const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The rows after a change, which stay those of before where it does nothing. */
export function applied(rows, change) {
  const after = new Map(rows);
  switch (change.does) {
    case 'put':
      for (const [id, name, v] of change.rows) after.set(id, [id, name, v]);
      break;
    case 'delete':
      for (const id of change.ids) after.delete(id);
      break;
    case 'count':
      for (const id of change.ids) {
        const row = after.get(id);
        if (row !== undefined) after.set(id, [id, row[1], row[2] + 1]);
      }
      break;
    default:
      throw new Error(`unknown change ${change.does}`);
  }
  return after;
}

export class History {
  /** By branch: what was acknowledged, by version. */
  #changes = new Map([[MAIN, new Map()]]);
  /** By branch: changes without an answer. */
  #unknown = new Map();
  #branches = new Map();
  #tags = new Map();
  #counts = {};
  #first;
  problems = [];

  constructor(rows) {
    this.#first = new Map(rows.map((row) => [row[0], row]));
  }

  get counts() {
    return this.#counts;
  }

  #note(what) {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  /** Takes what a writer says. */
  take(line) {
    const { who, event } = line;
    this.#note(`${who} ${event}${line.change === undefined ? '' : ` ${line.change.does}`}`);
    if (event === 'changed') {
      const changes = this.#changesOf(line.branch);
      if (changes.has(line.version))
        this.problems.push(
          `two changes are acknowledged as ${line.branch} version ${line.version}`,
        );
      changes.set(line.version, line.change);
    } else if (event === 'unknown') {
      const known = this.#unknown.get(line.branch) ?? [];
      this.#unknown.set(line.branch, [...known, line.change]);
    } else if (event === 'branched') {
      this.#branches.set(line.branch, { parent: line.from, at: line.at });
    } else if (event === 'unbranched') this.#branches.delete(line.branch);
    else if (event === 'tagged')
      this.#tags.set(line.tag, { branch: line.branch, version: line.version });
    else if (event === 'untagged') this.#tags.delete(line.tag);
  }

  #changesOf(branch) {
    const found = this.#changes.get(branch) ?? new Map();
    this.#changes.set(branch, found);
    return found;
  }

  get branches() {
    return [...this.#branches.keys()].sort();
  }

  get tags() {
    return new Map([...this.#tags].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** How many changes of rows were acknowledged, on branches that are gone too. */
  get changes() {
    return [...this.#changes.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * What every version has to hold: digests by `branch/version`.
   * @param listed the numbers of the versions that there are, by branch
   * @param found the digest of what was read, by `branch/version`: tells whether a change without an answer is there
   */
  wanted(listed, found) {
    const wanted = new Map();
    const states = new Map();
    const of = (branch) => {
      const known = states.get(branch);
      if (known !== undefined) return known;
      const made = new Map();
      states.set(branch, made);
      const { parent, at } = this.#branches.get(branch) ?? {};
      let rows = parent === undefined ? this.#first : of(parent).get(at);
      if (rows === undefined) {
        this.problems.push(`${branch} starts at ${parent} version ${at}, which is not there`);
        return made;
      }
      const unknown = [...(this.#unknown.get(branch) ?? [])];
      const changes = this.#changes.get(branch) ?? new Map();
      const numbers = listed.get(branch) ?? [];
      for (const version of changes.keys()) {
        if (!numbers.includes(version))
          this.problems.push(`${branch} version ${version} is acknowledged and not there`);
      }
      for (const version of numbers) {
        const key = `${branch}/${version}`;
        const change = changes.get(version);
        if (change !== undefined) rows = applied(rows, change);
        else if (digest(rowsText(rows.values())) !== found.get(key)) {
          const at = unknown.findIndex(
            (each) => digest(rowsText(applied(rows, each).values())) === found.get(key),
          );
          if (at >= 0) {
            rows = applied(rows, unknown[at]);
            unknown.splice(at, 1);
            this.#note('changes without an answer that are there');
          }
        }
        made.set(version, rows);
        wanted.set(key, digest(rowsText(rows.values())));
      }
      return made;
    };
    for (const branch of [MAIN, ...this.branches]) of(branch);
    return wanted;
  }
}
