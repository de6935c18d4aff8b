/**
 * A server is killed again and again under fifty writers, who send what was not acknowledged again
 * with the same key: nothing acknowledged is ever missing, and nothing is there twice.
 */
import {
  type Connection,
  connect,
  connectNamespace,
  isDirspaceError,
  type Table,
} from '../../src/index.ts';
import { seeded } from '../helpers/seeded.ts';
import { Child, inFolder } from './processes.ts';
import { breathe, inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const WRITERS = 50;
const KILLS = { ci: 2, short: 20, nightly: 60 } as const;
/** Every so many writes of a writer one adds to its counter instead, which shows what is doubled. */
const COUNT_EVERY = 4;

export interface ServeTask {
  readonly root: string;
  readonly port: number;
}

interface Line {
  readonly url?: string;
}

export const serverKills: ProofRow = {
  row: 'REST server kills',
  async run(context) {
    let [writes, repeated] = [0, 0];
    const kills = await inRounds(context, async (seed) => {
      const counted = await inFolder((root) => round(context, root, seed));
      writes += counted.writes;
      repeated += counted.repeated;
      return counted.kills;
    });
    const note = `${writes} writes acknowledged to ${WRITERS} writers, ${repeated} sent again`;
    return { cases: kills, note };
  },
};

/** The server that is there now, or the next one. */
class Server {
  readonly #root: string;
  #port = 0;
  #child: Child<Line> | undefined;
  #up: Promise<string> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  start(): Promise<string> {
    const child = new Child<Line>('server-child');
    this.#child = child;
    child.tell({ root: this.#root, port: this.#port } satisfies ServeTask);
    this.#up = child
      .line(({ url }) => url !== undefined)
      .then((line) => {
        if (line?.url === undefined) throw new Error('the server ended before it listened');
        this.#port = Number(new URL(line.url).port);
        return line.url;
      });
    return this.#up;
  }

  /** Resolves once a server listens. */
  async up(): Promise<string> {
    return (await this.#up) as string;
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
  }
}

/** Counts what was acknowledged, and tells who waits for a number. */
class Tally {
  #count = 0;
  #waiting: { readonly wanted: number; readonly resolve: () => void } | undefined;

  get count(): number {
    return this.#count;
  }

  add(): void {
    this.#count++;
    if (this.#waiting !== undefined && this.#count >= this.#waiting.wanted) this.#waiting.resolve();
  }

  reaches(wanted: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { wanted, resolve };
    });
  }
}

interface Tables {
  readonly rows: Table;
  readonly counters: Table;
}

/** What one writer was told is done. */
interface Acknowledged {
  readonly rows: Set<number>;
  counted: number;
  repeated: number;
}

async function round(
  { size, violated }: ProofContext,
  root: string,
  seed: number,
): Promise<{ readonly kills: number; readonly writes: number; readonly repeated: number }> {
  const random = seeded(seed);
  const kills = KILLS[size];
  const server = new Server(root);
  const uri = await server.start();
  const connection = await connectNamespace('rest', { uri }, { retries: 0 });
  const zeros = Array.from({ length: WRITERS }, (_, writer) => ({ writer, count: 0 }));
  const tables = {
    rows: await connection.createTable('rows', [{ writer: -1, n: -1 }]),
    counters: await connection.createTable('counters', zeros),
  };
  const done: Acknowledged[] = zeros.map(() => ({ rows: new Set(), counted: 0, repeated: 0 }));
  const tally = new Tally();
  const state = { stop: false };
  const writing = Promise.all(
    done.map((own, writer) => write(tables, server, writer, own, tally, state)),
  );
  for (let kill = 0; kill < kills; kill++) {
    const wanted = tally.count + 5 + Math.floor(random() * 40);
    await Promise.race([tally.reaches(wanted), writing]);
    await server.kill();
    const told = done.map(({ rows }) => [...rows]);
    await server.start();
    const stored = await rowsOf(connection);
    for (const [writer, rows] of told.entries()) {
      const missing = rows.filter((n) => !stored.has(`${writer} ${n}`));
      if (missing.length > 0) {
        violated(`rows ${missing} of writer ${writer} are gone after kill ${kill + 1}`, seed);
      }
    }
  }
  state.stop = true;
  await writing;
  await connection.close();
  await server.kill();
  await check(root, done, (what) => violated(what, seed));
  const repeated = done.reduce((sum, own) => sum + own.repeated, 0);
  return { kills, writes: tally.count, repeated };
}

async function write(
  { rows, counters }: Tables,
  server: Server,
  writer: number,
  own: Acknowledged,
  tally: Tally,
  state: { readonly stop: boolean },
): Promise<void> {
  for (let n = 0; !state.stop; n++) {
    const options = { idempotencyKey: `${writer}-${n}` };
    const counts = n % COUNT_EVERY === COUNT_EVERY - 1;
    await untilDone(server, own, async () => {
      if (!counts) {
        await rows.add([{ writer, n }], options);
        return;
      }
      const where = `writer = ${writer}`;
      await counters.update({ where, valuesSql: { count: 'count + 1' } }, options);
    });
    if (counts) own.counted++;
    else own.rows.add(n);
    tally.add();
  }
}

/** Sends it again while the server may be gone, or may have it done. */
async function untilDone(
  server: Server,
  own: Acknowledged,
  work: () => Promise<void>,
): Promise<void> {
  while (true) {
    await server.up();
    try {
      await work();
      return;
    } catch (error) {
      const again = isDirspaceError(error) && AGAIN.has(error.code);
      if (!again) throw error;
      own.repeated++;
      await breathe();
    }
  }
}

const AGAIN: ReadonlySet<string> = new Set([
  'ServiceUnavailable',
  'CommitStateUnknown',
  'ConcurrentModification',
  'Throttling',
]);

async function rowsOf(connection: Connection): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const table = await connection.openTable('rows');
  for (const { writer, n } of await table.query().toArray()) {
    const name = `${writer} ${n}`;
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

/** What is on disk, looked at without a server. */
async function check(
  root: string,
  done: readonly Acknowledged[],
  violated: (what: string) => void,
): Promise<void> {
  const connection = await connect(root);
  const stored = await rowsOf(connection);
  for (const [name, times] of stored) {
    if (times > 1) violated(`the row ${name} is there ${times} times`);
  }
  const expected = done.reduce((sum, { rows }) => sum + rows.size, 1);
  if (stored.size !== expected) violated(`${stored.size} rows instead of ${expected}`);
  const counters = await (await connection.openTable('counters')).query().toArray();
  for (const { writer, count } of counters) {
    const told = done[Number(writer)]?.counted;
    if (Number(count) !== told) violated(`writer ${writer} counted ${told}, stored is ${count}`);
  }
  const report = await connection.namespace.verify?.({});
  for (const { path, what } of report?.problems ?? []) violated(`${path}: ${what}`);
  await connection.close();
}
