/**
 * T27: hostile requests side by side with describes, over real sockets. Describes are answered soon,
 * the server's memory stays below what its limits say, budgets are refused by name, and the work of
 * clients that hang up ends.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '../../src/arrow/apache.ts';
import { connect } from '../../src/index.ts';
import { slowClients } from './hostile-connections.ts';
import { Child, inFolder } from './processes.ts';
import { breathe, inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';
import { mergeBody, soakRows } from './soak-data.ts';

const ROWS = { ci: 150_000, short: 1_000_000, nightly: 12_000_000 };
const SECONDS = { ci: 6, short: 25, nightly: 300 };
const MIB = 1024 * 1024;
const REQUEST_MEMORY = 48 * MIB;
const SERVER_MEMORY = 128 * MIB;
const CACHE_BYTES = 16 * MIB;
const BUFFER_BYTES = 16 * MIB;
/** What SECURITY.md promises: code, heap and sockets, caches, and garbage as much as requests may have. */
const MEMORY_BOUND = 384 * MIB + CACHE_BYTES + BUFFER_BYTES + 2 * SERVER_MEMORY;
/** Slow clients of each kind. */
const SLOW_CLIENTS = 12;
const CLIENTS = 6;
/** Milliseconds; on machines that others load, a process is up to three times as slow. */
const DESCRIBE_P99 = { ci: 250, short: 100, nightly: 100 };
/** One that waits for a place takes as long as what has it. */
const DESCRIBE_WORST = 1_000;
/** Requests at once that take long, more than a table has places for. */
const CROWD = 80;
const CROWD_DESCRIBES = 200;
/** So that one outlier is no p99; a slow machine gets so many milliseconds more for them. */
const LEAST_DESCRIBES = 250;
const LONGER = 20_000;
/** Of the time after clients hung up, how much the server may still work. */
const BUSY_AFTER = 0.3;

/** Starts a server, or without a root asks for its figures. */
export interface SoakTask {
  readonly root?: string;
  readonly limits?: { readonly requestMemory: number; readonly serverMemory: number };
  readonly kept?: { readonly cacheBytes: number; readonly bufferBytes: number };
}

interface Line {
  readonly url?: string;
  readonly pid?: number;
  readonly peak?: number;
  /** Milliseconds of its own time so far. */
  readonly cpu?: number;
}

const several = (count: number, of: (at: number) => string, joint: string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(joint);

const nested = (depth: number): string =>
  Array.from({ length: depth }).reduce<string>((inner, _, at) => `(${inner} + ${at})`, 'x');

interface Hostile {
  /** Of the table, or whole where it begins with a slash. */
  readonly path: string;
  /** Sent as JSON, or Arrow data where it is bytes. */
  readonly body: () => object | Promise<Uint8Array>;
  /** Refused by the name of this limit; undefined where it is answered, or refused while many are. */
  readonly refusedBy?: string;
}

const query = (members: object): Hostile => ({
  path: 'query',
  body: () => ({ k: 10, vector: {}, ...members }),
});

const count = (predicate: string): Hostile => ({ path: 'count_rows', body: () => ({ predicate }) });

const vectors = Array.from({ length: 300 }, (_, at) => [at, 1, 2, 3, 4, 5, 6, at % 7]);
const order = (column_name: string): object => ({ order_by: [{ column_name }] });

const offsets = Array.from({ length: 100_000 }, (_, at) => (at * 13) % 150_000);
const aliases = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, at) => [`c${at}`, `id + ${at}`]),
);

const HOSTILE: readonly Hostile[] = [
  query({ k: 1_000_000 }),
  query({ columns: { column_aliases: aliases }, k: 500 }),
  { path: '/v1/dirspace/table/t/take_rows', body: () => ({ offsets }) },
  {
    path: '/v1/table/bomb/create?mode=overwrite',
    body: async () => readFileSync(join('fixtures', 'ipc', 'constant-zstd.arrows')),
  },
  query(order('x')),
  query({ ...order('s'), k: 50_000 }),
  query({ vector: { multi_vector: vectors } }),
  query({ columns: { column_aliases: { y: several(60, () => 'upper(s)', ' || ') } }, k: 2_000 }),
  {
    ...query({ columns: { column_aliases: { y: 'upper(repeat(s, 20000))' } }, k: 5_000 }),
    refusedBy: 'requestMemory',
  },
  { ...query({ vector: { multi_vector: vectors }, k: 100_000 }), refusedBy: 'requestMemory' },
  count(several(1_500, (at) => `x + ${at} > 0`, ' AND ')),
  count(several(3_000, (at) => `id = ${at}`, ' OR ')),
  count(`${nested(150)} > 5`),
  count(`id IN (${several(20_000, (at) => String(at * 3), ',')})`),
  count("regexp_like(s, '(.*)(.*)(.*)(.*)(.*)zz$')"),
  { path: 'merge_insert?on=id&when_matched_update_all=true', body: () => mergeBody(20_000) },
  { path: 'merge_insert?on=s&when_not_matched_insert_all=true', body: () => mergeBody(5_000) },
  { path: 'update', body: () => ({ predicate: 'id % 50 = 0', updates: [['x', 'x + 1']] }) },
];

export const hostileSoak: ProofRow = {
  row: 'T27 hostile requests beside describes',
  async run(context) {
    const notes: string[] = [];
    const cases = await inRounds(context, () =>
      inFolder(async (root) => {
        const { requests, note } = await round(context, root);
        notes[0] = note;
        return requests;
      }),
    );
    return { cases, note: notes.join('; ') };
  },
};

async function round(
  { size, violated }: ProofContext,
  root: string,
): Promise<{ requests: number; note: string }> {
  const db = await connect(root, { durability: 'relaxed' });
  await db.createTable('t', soakRows(ROWS[size]) as never);
  await db.close();
  const server = new Child<Line>('soak-child');
  const told = async (): Promise<Required<Pick<Line, 'peak' | 'cpu'>>> => {
    const seen = server.lines.length;
    server.tell({} satisfies SoakTask);
    const line = await server.line((each) => server.lines.indexOf(each) >= seen);
    return { peak: line?.peak ?? 0, cpu: line?.cpu ?? 0 };
  };
  try {
    const limits = { requestMemory: REQUEST_MEMORY, serverMemory: SERVER_MEMORY };
    const kept = { cacheBytes: CACHE_BYTES, bufferBytes: BUFFER_BYTES };
    server.tell({ root, limits, kept } satisfies SoakTask);
    const { url = '', pid = 0 } = (await server.line((line) => line.url !== undefined)) ?? {};
    const soak = new Soak(url, pid, violated);
    await soak.describe();
    const before = await told();
    const slow = slowClients({
      url,
      query: { k: 10_000_000, vector: {} },
      data: await mergeBody(20_000),
      each: SLOW_CLIENTS,
    });
    let figures: Figures;
    try {
      figures = await soak.run(SECONDS[size] * 1_000);
    } finally {
      slow.end();
    }
    const crowded = await soak.crowd();
    const after = await told();
    if (after.peak > MEMORY_BOUND) {
      violated(`the server took ${mib(after.peak)}, and may take ${mib(MEMORY_BOUND)}`);
    }
    const p99 = quantile(figures.describes.own, 0.99);
    if (p99 > DESCRIBE_P99[size]) violated(`the p99 of describe is ${p99.toFixed(1)} ms`);
    for (const [share, most] of [
      [0.99, DESCRIBE_P99[size]],
      [1, DESCRIBE_WORST],
    ] as const) {
      const taken = quantile(crowded.own, share);
      if (taken <= most) continue;
      violated(
        `a describe took ${taken.toFixed(1)} ms beside ${CROWD} long requests of one table, and may take ${most}`,
      );
    }
    const busy = await soak.hangUp(told);
    if (busy > BUSY_AFTER) {
      violated(`the server works for ${Math.round(busy * 100)} % of the time after clients left`);
    }
    const note = [
      `${figures.requests} hostile requests by ${CLIENTS} clients and ${3 * SLOW_CLIENTS} slow ones`,
      `describe ${figures.describes}`,
      `beside ${CROWD} long requests at once ${crowded}`,
      `memory ${mib(before.peak)}, at most ${mib(after.peak)} of ${mib(MEMORY_BOUND)}`,
      `${figures.refused} refused by name`,
      `busy after hang-ups ${Math.round(busy * 100)} %`,
    ].join(', ');
    const describes = figures.describes.own.length + crowded.own.length;
    return { requests: figures.requests + CROWD + describes, note };
  } finally {
    await server.kill();
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / MIB)} MiB`;

/**
 * Milliseconds that the thread of a process with the event loop has worked; what describes take where
 * other processes have the cores. The clock's where the system does not tell.
 */
function ownTime(pid: number): number {
  try {
    const [nanos] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanos) / 1e6;
  } catch {
    return performance.now();
  }
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** What each of several requests took, in milliseconds. */
class Times {
  /** Of the server's own time, or of the clock where that is less. */
  readonly own: number[] = [];
  /** By the clock: what a caller sees, where the machine is quiet. */
  readonly clock: number[] = [];

  toString(): string {
    const of = (figures: readonly number[], share: number): string =>
      quantile(figures, share).toFixed(1);
    const { own, clock } = this;
    return `p50 ${of(own, 0.5)} ms p99 ${of(own, 0.99)} ms worst ${of(own, 1)} ms of ${own.length} (by the clock p99 ${of(clock, 0.99)} ms, worst ${of(clock, 1)} ms)`;
  }
}

interface Figures {
  requests: number;
  refused: number;
  readonly describes: Times;
}

class Soak {
  readonly #url: string;
  readonly #pid: number;
  readonly #violated: (what: string) => void;
  readonly #figures: Figures = { requests: 0, refused: 0, describes: new Times() };

  constructor(url: string, pid: number, violated: (what: string) => void) {
    this.#url = url;
    this.#pid = pid;
    this.#violated = violated;
  }

  async run(millis: number): Promise<Figures> {
    const end = performance.now() + millis;
    const isGoing = (): boolean => {
      const left = end - performance.now();
      return left > 0 || (this.#figures.describes.own.length < LEAST_DESCRIBES && left > -LONGER);
    };
    const hostile = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let at = client * 5; isGoing(); at++) {
        await this.#ask(HOSTILE[at % HOSTILE.length] as Hostile);
      }
    });
    const describing = (async () => {
      while (isGoing()) {
        await this.#timed(this.#figures.describes);
      }
    })();
    await Promise.all([...hostile, describing]);
    return this.#figures;
  }

  /** Describes of a table that has no place left for what takes long; that is given up at the end. */
  async crowd(): Promise<Times> {
    const controller = new AbortController();
    const long = count(several(1_500, (at) => `x + ${at} > 2`, ' AND '));
    const asked = Array.from({ length: CROWD }, async () => {
      const response = await this.#post(long.path, await long.body(), controller.signal);
      await response.arrayBuffer();
    });
    const settled = Promise.allSettled(asked);
    const times = new Times();
    for (let at = 0; at < CROWD_DESCRIBES; at++) await this.#timed(times);
    controller.abort();
    await settled;
    return times;
  }

  async #timed({ own, clock }: Times): Promise<void> {
    const [begin, before] = [performance.now(), ownTime(this.#pid)];
    await this.describe();
    const taken = performance.now() - begin;
    clock.push(taken);
    own.push(Math.min(taken, ownTime(this.#pid) - before));
    await breathe();
  }

  async describe(): Promise<void> {
    const response = await this.#post('describe', {});
    await response.arrayBuffer();
    if (response.status !== 200) this.#violated(`describe was answered ${response.status}`);
  }

  /** Sends long requests and hangs up; then tells which share of the time the server works. */
  async hangUp(told: () => Promise<{ readonly cpu: number }>): Promise<number> {
    const controller = new AbortController();
    const long = count(several(1_500, (at) => `x + ${at} > 1`, ' AND '));
    const asked = [long, query(order('s')), query({ vector: { multi_vector: vectors } })].map(
      async ({ path, body }) => {
        const response = await this.#post(path, await body(), controller.signal);
        await response.arrayBuffer();
      },
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    controller.abort();
    await Promise.allSettled(asked);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [before, begin] = [await told(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const after = await told();
    return (after.cpu - before.cpu) / (performance.now() - begin);
  }

  async #ask({ path, body, refusedBy }: Hostile): Promise<void> {
    const response = await this.#post(path, await body());
    const bytes = new Uint8Array(await response.arrayBuffer());
    this.#figures.requests += 1;
    const { status } = response;
    if (status === 200) {
      if (refusedBy !== undefined)
        this.#violated(`${path} was answered, and ${refusedBy} not held`);
      if (path === 'query') tableFromIPC(bytes);
      return;
    }
    const text = Buffer.from(bytes).toString();
    const named = text.includes('requestMemory') || text.includes('serverMemory');
    const told = status === 503 ? response.headers.has('retry-after') : status === 400;
    if (named && told) this.#figures.refused += 1;
    else if (status !== 409)
      this.#violated(`${path} was answered ${status}: ${text.slice(0, 300)}`);
  }

  #post(path: string, body: object | Uint8Array, signal?: AbortSignal): Promise<Response> {
    const isArrow = body instanceof Uint8Array;
    const type = isArrow ? 'application/vnd.apache.arrow.stream' : 'application/json';
    return fetch(`${this.#url}${path.startsWith('/') ? path : `/v1/table/t/${path}`}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: isArrow ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    } as RequestInit);
  }
}
