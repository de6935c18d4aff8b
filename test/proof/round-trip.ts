/**
 * T17: tables of random schemas and data, in every form they are handed in: what is committed
 * reads back equal, here and by apache-arrow, and what cannot be is refused before the commit.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type Schema, tableFromIPC } from '../../src/arrow/apache.ts';
import { type Connection, connect } from '../../src/index.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { randomRows } from '../helpers/random-rows.ts';
import { seeded } from '../helpers/seeded.ts';
import { KINDS, type Kind, type Offer, OfferGenerator, rowsOf } from './random-offers.ts';
import { breathe, inRounds, refusal } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const CASES = { ci: 250, short: 10_500, nightly: 10_500 };
const RENEWED = 250;
const DATA = '/c/data/t.table/data';

/** A catalog in memory, renewed before it grows large. */
class Place {
  fs: TestFs = memoryFs();
  #connection: Connection | undefined;
  #used = 0;
  #version = 0;
  #files = new Set<string>();

  get connection(): Connection {
    if (this.#connection === undefined) throw new Error('nothing was offered yet');
    return this.#connection;
  }

  /** The catalog that takes the next offer. */
  async next(): Promise<Connection> {
    if (this.#connection === undefined || this.#used++ >= RENEWED) {
      await this.#connection?.close();
      this.fs = memoryFs();
      this.#connection = await connect('/c', {
        fs: this.fs,
        durability: 'relaxed',
        bufferBytes: 0,
      });
      await this.#connection.createTable('t', [{ x: 0 }]);
      this.#version = 1;
      this.#used = 0;
      this.#files = new Set(this.#names());
    }
    return this.#connection;
  }

  /** Whether the newest version is the one it was when this was asked last, or follows it. */
  async changed(): Promise<number> {
    const now = await (await this.connection.openTable('t')).version();
    const change = now - this.#version;
    this.#version = now;
    return change;
  }

  /** Fragments written since this was asked last. */
  fragments(): Uint8Array[] {
    const added = this.#names().filter((name) => !this.#files.has(name));
    for (const name of added) this.#files.add(name);
    return added.map((name) => new Uint8Array(this.fs.readFileSync(`${DATA}/${name}`)));
  }

  #names(): string[] {
    return this.fs.readdirSync(DATA).map(String);
  }
}

class Judge {
  readonly counts = new Map<string, number>();
  readonly #place = new Place();
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async offered(offer: Offer, what: string, options: { schema?: Schema } = {}): Promise<void> {
    const connection = await this.#place.next();
    try {
      await connection.createTable('t', offer.data, { mode: 'overwrite', ...options });
    } catch (error) {
      const code = refusal(error);
      if (code === undefined) this.#violated(`${what}: threw ${(error as Error).stack}`);
      if (offer.refused === 'never') this.#violated(`${what}: refused, ${String(error)}`);
      if ((await this.#place.changed()) !== 0) this.#violated(`${what}: refused after the commit`);
      // Fragments of a refused commit are litter that cleanup removes.
      this.#place.fragments();
      this.#count('refused');
      return;
    }
    this.#count('equal');
    if (offer.refused === 'always') this.#violated(`${what}: taken`);
    if ((await this.#place.changed()) !== 1) this.#violated(`${what}: not one version`);
    await this.#compare(connection, offer, what);
  }

  async rows(schema: Schema, rows: readonly object[], what: string): Promise<void> {
    const offer: Offer = {
      data: rows as never,
      expected: undefined,
      rows: rows.length,
      refused: 'never',
    };
    await this.offered(offer, what, { schema });
    const table = await this.#place.connection.openTable('t');
    const found = await table.query().toArray();
    // Rows and structs of queries have a toJSON(), which a copy does not.
    if (!isDeepStrictEqual(structuredClone(found), rows)) this.#violated(`${what}: other rows`);
  }

  async #compare(connection: Connection, offer: Offer, what: string): Promise<void> {
    const { batches } = await (await connection.openTable('t')).query().toArrow();
    if (rowsOf(batches) !== offer.rows) {
      this.#violated(`${what}: ${rowsOf(batches)} rows of ${offer.rows}`);
    }
    if (offer.rows === 0) return;
    const values = exactValues(batches);
    if (offer.expected !== undefined && !isDeepStrictEqual(values, offer.expected)) {
      this.#violated(`${what}: other values`);
    }
    const names = (batches[0]?.schema.fields ?? []).map(({ name }) => name);
    const rows = new UntakenRows(names, values, offer.rows);
    for (const fragment of this.#place.fragments()) {
      try {
        const { batches: theirs } = tableFromIPC(fragment);
        const columns = theirs[0]?.schema.fields.map(({ name }) => name) ?? [];
        if (!rows.take(columns, exactValues(theirs))) {
          this.#violated(`${what}: apache-arrow reads other values`);
        }
      } catch (error) {
        this.#violated(`${what}: apache-arrow cannot read the fragment: ${String(error)}`);
      }
    }
    if (rows.left > 0) this.#violated(`${what}: the fragments lack ${rows.left} rows`);
  }
}

/** Rows of a table that no fragment was found to have. */
class UntakenRows {
  readonly #names: readonly string[];
  readonly #values: readonly unknown[][];
  readonly #taken: Uint8Array;
  left: number;

  constructor(names: readonly string[], values: readonly unknown[][], rows: number) {
    this.#names = names;
    this.#values = values;
    this.#taken = new Uint8Array(rows);
    this.left = rows;
  }

  /**
   * Takes the rows of a fragment, which come in their order; false where one of them is not there.
   * A fragment may lack columns, which are null in all of its rows.
   */
  take(columns: readonly string[], theirs: readonly unknown[][]): boolean {
    const places = this.#names.map((name) => columns.indexOf(name));
    let row = 0;
    for (let at = 0; at < (theirs[0]?.length ?? 0); at++) {
      const isSame = (): boolean =>
        this.#taken[row] === 0 &&
        places.every((place, column) =>
          isDeepStrictEqual(theirs[place]?.[at] ?? null, this.#values[column]?.[row]),
        );
      while (row < this.#taken.length && !isSame()) row++;
      if (row === this.#taken.length) return false;
      this.#taken[row++] = 1;
      this.left--;
    }
    return true;
  }
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  const cases = await inRounds(context, async (seed) => {
    const generator = new OfferGenerator(seeded(seed));
    const many = CASES[context.size];
    const objects = fc.sample(randomRows, { seed: seed | 0, numRuns: Math.ceil(many / 8) });
    let made = 0;
    for (let at = 0; made < many; at++) {
      // The forms that must come back equal are most of them.
      const kind =
        at % 8 < 5
          ? (KINDS[at % 5] as Kind)
          : at % 8 === 5
            ? 'rows'
            : generator.pick(KINDS.slice(6));
      const what = `seed ${seed}, case ${at}, ${kind}`;
      if (kind === 'rows') {
        const next = objects.pop();
        if (next === undefined) continue;
        await judge.rows(next.schema, next.rows, what);
      } else {
        const offer = generator.offer(kind);
        if (offer === undefined) continue;
        await judge.offered(offer, what);
      }
      if (++made % 100 === 0) await breathe();
    }
    return made;
  });
  const counts = [...judge.counts].map(([what, count]) => `${count} ${what}`);
  return { cases, note: counts.join(', ') };
}

export const roundTrip: ProofRow = { row: 'T17 round trips', run };
