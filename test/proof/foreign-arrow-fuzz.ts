/**
 * T16: Arrow bytes from others, damaged or forged, through the SDK and through the server: refused
 * by type, or a table that holds what they decode to. Soon, and without much memory.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RecordBatch } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Connection, connect } from '../../src/index.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { createServer, type Server } from '../../src/server.ts';
import { exactValues } from '../helpers/arrow-samples.ts';
import { damagedAtRandom, STAMPS, stamped, withFlippedBit } from '../helpers/damage.ts';
import {
  FOREIGN_SHAPES,
  foreignSample,
  ipcFixture,
  nullRows,
  sharedFields,
} from '../helpers/foreign-samples.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { seeded } from '../helpers/seeded.ts';
import { breathe, inRounds, refusal, Slowest } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const CASES = { ci: 800, short: 42_000, nightly: 42_000 };
/** One case of so many goes through the server: a request costs more than a call. */
const SERVED = 10;
/** Tables that are taken fill a file system in memory; then a new one takes its place. */
const RENEWED = 300;
/** Milliseconds for each MB, and for what is smaller. */
const LIMIT = 500;
const GROWTH = 256 * 2 ** 20;
const REFUSALS: ReadonlySet<string | undefined> = new Set([
  ...['InvalidInput', 'PayloadTooLarge', 'TableSchemaValidation', 'Unsupported'],
]);
/** Beyond this many rows only their number is compared. */
const COMPARED_ROWS = 5_000;

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** How often it is drawn. */
  readonly weight: number;
}

function samples(): Sample[] {
  const forms = ['stream', 'file'] as const;
  const fixture = (name: string, weight: number): Sample => ({
    name,
    bytes: ipcFixture(name),
    weight,
  });
  return [
    ...forms.flatMap((form) =>
      FOREIGN_SHAPES.map((shape) => ({
        name: `${shape} ${form}`,
        bytes: foreignSample(shape, form),
        weight: 20,
      })),
    ),
    fixture('dictionary-deltas.arrows', 20),
    fixture('dictionary-replaced.arrows', 20),
    fixture('dictionary-deltas.arrow', 20),
    fixture('corpus/arrow-rs/plain.arrow', 10),
    fixture('corpus/polars-2.1/categorical.arrow', 10),
    fixture('types-lz4.arrows', 2),
    fixture('types-lz4.arrow', 1),
    fixture('types-zstd.arrows', 2),
    fixture('types-zstd.arrow', 1),
    fixture('types-v4.arrows', 1),
  ];
}

/** Tables that bytes are offered to, in memory. */
class Door {
  #connection: Connection | undefined;
  #server: Server | undefined;
  #taken = 0;

  async open(): Promise<Connection> {
    if (this.#connection !== undefined && this.#taken < RENEWED) return this.#connection;
    await this.close();
    const fs = memoryFs();
    const options = { fs, durability: 'relaxed', bufferBytes: 0 } as const;
    this.#connection = await connect('/c', options);
    const namespace = await openDirectoryNamespace({ root: '/c', ...options });
    this.#server = await createServer({ namespace, limits: { maxEventLoopDelayMs: 0 } });
    this.#taken = 0;
    return this.#connection;
  }

  /** Undefined when they were taken, else the code of the refusal. */
  async offer(bytes: Uint8Array): Promise<string | undefined> {
    const connection = await this.open();
    try {
      await connection.createTable('t', bytes, { mode: 'overwrite' });
      this.#taken++;
      return undefined;
    } catch (error) {
      const code = refusal(error);
      if (REFUSALS.has(code)) return code;
      throw error;
    }
  }

  async post(bytes: Uint8Array): Promise<string | undefined> {
    await this.open();
    const form = bytes[0] === 'A'.charCodeAt(0) ? 'file' : 'stream';
    const answer = await this.#server?.fetch(
      'http://server.test/v1/table/t/create?mode=overwrite',
      {
        method: 'POST',
        headers: { 'content-type': `application/vnd.apache.arrow.${form}` },
        body: bytes as Uint8Array<ArrayBuffer>,
      },
    );
    const body = (await answer?.json()) as Record<string, unknown>;
    if (answer?.status === 200) {
      this.#taken++;
      return undefined;
    }
    const sound =
      typeof body.type === 'string' &&
      body.type.startsWith('/errors/') &&
      typeof body.detail === 'string' &&
      body.status === answer?.status;
    if (!sound || [400, 406, 413].every((status) => status !== answer?.status)) {
      throw new Error(`answered ${answer?.status} ${JSON.stringify(body).slice(0, 300)}`);
    }
    return 'answered';
  }

  async stored(): Promise<readonly RecordBatch[]> {
    const table = await this.#connection?.openTable('t');
    return (await table?.query().toArrow())?.batches ?? [];
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    await this.#server?.close();
  }
}

async function decoded(bytes: Uint8Array): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for await (const batch of await openArrowBody(bytes)) batches.push(batch);
  return batches;
}

const rowsOf = (batches: readonly RecordBatch[]): number =>
  batches.reduce((sum, { numRows }) => sum + numRows, 0);

class Judge {
  cases = 0;
  taken = 0;
  served = 0;
  highest = 0;
  readonly slowest: Slowest;
  readonly door = new Door();
  readonly #violated: (what: string) => void;
  #before: number | undefined;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
    this.slowest = new Slowest(LIMIT, violated);
  }

  /** `refused`: bytes that nobody may take. */
  async offered(bytes: Uint8Array, what: () => string, refused = false): Promise<void> {
    const at = this.cases++;
    const served = at % SERVED === 0;
    if (served) this.served++;
    const limit = LIMIT * Math.max(1, bytes.length / 1e6);
    try {
      const code = await this.slowest.time(what, limit, () =>
        served ? this.door.post(bytes) : this.door.offer(bytes),
      );
      if (code === undefined && refused) this.#violated(`${what()}: taken`);
      if (code === undefined) await this.#compare(bytes, what);
    } catch (error) {
      this.#violated(`${what()}${served ? ', served' : ''}: ${String(error)}`);
    }
    if (at % 250 === 0) await this.#look();
  }

  async #compare(bytes: Uint8Array, what: () => string): Promise<void> {
    this.taken++;
    const [expected, found] = [await decoded(bytes), await this.door.stored()];
    const same =
      rowsOf(expected) === rowsOf(found) &&
      (rowsOf(expected) === 0 ||
        rowsOf(expected) > COMPARED_ROWS ||
        isDeepStrictEqual(exactValues(found), exactValues(expected)));
    if (!same) {
      this.#violated(
        `${what()}: the table has ${rowsOf(found)} rows, and other values than the ${rowsOf(expected)} rows it came from`,
      );
    }
  }

  /** The first look comes after everything was loaded and used once. */
  async #look(): Promise<void> {
    await breathe();
    const { rss } = process.memoryUsage();
    if (this.cases < 1_000) return;
    this.#before ??= rss;
    this.highest = Math.max(this.highest, rss - this.#before);
  }

  end(): void {
    if (this.highest > GROWTH) {
      this.#violated(`memory grew by ${(this.highest / 2 ** 20).toFixed(0)} MiB`);
    }
  }
}

/** What is known to hurt: sizes and lengths that nothing stands for. */
async function forged(judge: Judge): Promise<void> {
  for (const count of [2 ** 24 + 1, 2 ** 31, 2 ** 45, -1]) {
    await judge.offered(nullRows(count), () => `${count} nulls`, true);
  }
  await judge.offered(sharedFields(), () => 'shared fields', true);
  const magic = Uint8Array.of(4, 0x22, 0x4d, 0x18);
  const zstd = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);
  for (const [name, mark] of [
    ['types-lz4.arrows', magic],
    ['types-zstd.arrows', zstd],
  ] as const) {
    const bytes = ipcFixture(name);
    let at = Buffer.from(bytes).indexOf(mark);
    for (let each = 0; at >= 0; each++) {
      for (const size of [2n ** 40n, 2n ** 31n, 2n ** 62n, -2n, 0n, 1n]) {
        const copy = bytes.slice();
        new DataView(copy.buffer).setBigInt64(at - 8, size, true);
        const place = at;
        if (each % 8 === 0) {
          await judge.offered(copy, () => `${name}: a size of ${size} at ${place}`, true);
        }
      }
      at = Buffer.from(bytes).indexOf(mark, at + 4);
    }
  }
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  const drawn = samples().flatMap((sample) => new Array<Sample>(sample.weight).fill(sample));
  for (const sample of samples()) {
    const before = judge.taken;
    await judge.offered(sample.bytes, () => `${sample.name} as it is`);
    if (judge.taken === before) context.violated(`${sample.name} as it is: refused`);
  }
  await forged(judge);
  await inRounds(context, async (seed) => {
    const random = seeded(seed);
    const whole = (below: number): number => Math.floor(random() * below);
    for (let at = 0; at < CASES[context.size]; at++) {
      const { name, bytes } = drawn[whole(drawn.length)] as Sample;
      const kind = whole(8);
      const place = whole(bytes.length * 8);
      const word = STAMPS[whole(STAMPS.length)] as number;
      const what = (): string => `seed ${seed}, case ${at}: ${name}, kind ${kind} at ${place}`;
      if (kind === 0) await judge.offered(bytes.slice(0, place >> 3), what, true);
      else if (kind === 1) {
        await judge.offered(damagedAtRandom(bytes, random), what);
      } else if (kind === 2 || kind === 3) {
        const aligned = Math.min(place >> 5, (bytes.length >> 2) - 1) * 4;
        await judge.offered(stamped(bytes, aligned, word), what);
      } else await judge.offered(withFlippedBit(bytes, place), what);
    }
    return 0;
  });
  judge.end();
  await judge.door.close();
  const { cases, taken, served, slowest, highest } = judge;
  return {
    cases,
    note: `${served} served; ${taken} taken; slowest ${slowest.ms.toFixed(0)} ms; memory grew by ${(highest / 2 ** 20).toFixed(0)} MiB`,
  };
}

export const foreignArrowFuzz: ProofRow = { row: 'T16 foreign Arrow fuzz', run };
