/** T23: what opening, using and watching leaves behind: no descriptors, no timers, no memory. */
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Connection, connect } from '../../src/index.ts';
import { people } from '../helpers/people.ts';
import { Watched } from '../helpers/watched.ts';
import { inFolder } from './processes.ts';
import { breathe, inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const OPENS = { ci: 600, short: 10_000, nightly: 10_000 };
const WATCHES = { ci: 60, short: 1_000, nightly: 1_000 };
/** Of each size so many are looked at, the first half of them to warm up. */
const LOOKS = 10;
/** Bytes of heap that a round of one piece of work may leave behind. */
const BYTES_EACH = 200;
/** Bytes of heap that come and go for other reasons, such as compiled code. */
const NOISE = 400_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Look {
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: string;
}

/** What is there once all that is going away has gone. */
async function look(): Promise<Look> {
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    for (let turn = 0; turn < 5; turn++) await breathe();
    collect();
    const heap = process.memoryUsage().heapUsed;
    // Finalizers run between collections: until nothing more comes of it.
    if (heap > before - 50_000) {
      return {
        heap,
        descriptors: readdirSync('/proc/self/fd').length,
        resources: process.getActiveResourcesInfo().sort().join(),
      };
    }
    before = heap;
  }
}

/** Slope by least squares: change of the value for one step. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [above, below] = [0, 0];
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return above / below;
}

async function flat(
  what: string,
  times: number,
  violated: (what: string) => void,
  work: (at: number) => Promise<void>,
): Promise<string> {
  const looks: Look[] = [];
  const part = Math.ceil(times / LOOKS);
  for (let at = 0; at < LOOKS; at++) {
    for (let each = 0; each < part; each++) await work(at * part + each);
    looks.push(await look());
  }
  const late = looks.slice(LOOKS / 2);
  const each = slope(late.map(({ heap }) => heap)) / part;
  const [first, last] = [late[0] as Look, late.at(-1) as Look];
  if (each * part * late.length > BYTES_EACH * part * late.length + NOISE)
    violated(`${what}: each leaves ${each.toFixed(0)} bytes of heap`);
  if (last.descriptors > first.descriptors) {
    violated(`${what}: ${first.descriptors} descriptors became ${last.descriptors}`);
  }
  if (last.resources !== first.resources) {
    violated(`${what}: left active: ${last.resources}, before: ${first.resources}`);
  }
  return `${what}: ${each.toFixed(0)} bytes each`;
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const { size } = context;
  const violated = (what: string): void => context.violated(what);
  const notes: string[] = [];
  const cases = await inRounds(context, async () => {
    notes.length = 0;
    await inFolder(async (folder) => {
      const root = `${folder}/c`;
      const options = { durability: 'relaxed' } as const;
      const owner = await connect(root, options);
      await owner.createTable('t', people(50));
      const before = await look();
      const opened = async (): Promise<void> => {
        const connection: Connection = await connect(root, options);
        const table = await connection.openTable('t');
        // A scan that is not read to its end must let go of its file too.
        for await (const batch of table.query()) if (batch.numRows > 0) break;
        await connection.close();
      };
      notes.push(await flat('open and close', OPENS[size], violated, opened));
      const watched = async (at: number): Promise<void> => {
        const connection = await connect(root, options);
        const watch = new Watched(connection.namespace as never);
        // Half of them are ended before they are ready.
        if (at % 2 === 0) await watch.ready;
        await watch.end();
        await connection.close();
      };
      notes.push(await flat('watch and close', WATCHES[size], violated, watched));
      await owner.close();
      const after = await look();
      if (after.descriptors > before.descriptors) {
        violated(
          `${before.descriptors} descriptors before, ${after.descriptors} after all was closed`,
        );
      }
      if (after.resources !== before.resources) {
        violated(`active after all was closed: ${after.resources}, before: ${before.resources}`);
      }
    });
    return OPENS[size] + WATCHES[size];
  });
  return { cases, note: notes.join('; ') };
}

export const leaks: ProofRow = { row: 'T23 leaks', run };
