/**
 * T16: what a client of Lance stages, with changed bytes: manifests, data files and deletion files are refused by type
 * and leave nothing, or are taken whole. Lance has no checksums, so other values may be taken.
 */
import type { CreateTableVersionRequest } from '../../src/protocol/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { LanceClient } from '../helpers/lance-client.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { idsOf, people } from '../helpers/people.ts';
import { seeded } from '../helpers/seeded.ts';
import { grow, treeOf } from '../helpers/trees.ts';
import { inRounds, refusal, Slowest } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const ID = { id: ['t'] };
/** Most changed manifests do not even decode: of these it looks at more. */
const PARTS = [
  { part: '.manifest-', cases: { ci: 200, short: 4_000, nightly: 100_000 } },
  { part: '.lance', cases: { ci: 100, short: 1_000, nightly: 30_000 } },
  { part: '_deletions/', cases: { ci: 100, short: 1_000, nightly: 30_000 } },
];
/** Milliseconds for a case, with the new version's commit. */
const LIMIT = 2_000;
const REFUSALS: ReadonlySet<string | undefined> = new Set([
  ...['InvalidInput', 'Unsupported', 'TableNotFound'],
]);

/** A catalog with one table, and what a client has staged for it: an update of one row and more. */
async function scene(): Promise<{
  readonly tree: ReturnType<typeof treeOf>;
  readonly request: CreateTableVersionRequest;
}> {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable(ID, people(5));
  const client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  const request = await client.update(people(40, 50), 40, new Map([[0, [1]]]));
  await db.close();
  return { tree: treeOf(fs, '/c'), request };
}

async function planted(tree: ReturnType<typeof treeOf>) {
  const fs = grow(tree, '/c');
  return { files: filesOf(fs, '/c'), db: await connect('/c', { fs }) };
}

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const slowest = new Slowest(LIMIT, (what) => context.violated(what));
  const { tree, request } = await scene();
  let [cases, taken] = [0, 0];
  await inRounds(context, async (seed) => {
    const random = seeded(seed);
    const below = (most: number): number => Math.floor(random() * most);
    for (const { part, cases: counts } of PARTS) {
      let { files, db } = await planted(tree);
      const named = (): string[] => files.all().filter((path) => !path.endsWith('/'));
      const before = named().join();
      const path = named().find((each) => each.includes(part)) as string;
      const whole = files.read(path);
      for (let at = 0; at < counts[context.size]; at++) {
        const bytes = whole.slice();
        const what = (): string => `seed ${seed}, case ${at} of ${part}`;
        // The first is as it was staged, and has to be taken.
        for (let edits = at === 0 ? 0 : 1 + below(4); edits > 0; edits--)
          bytes[below(bytes.length)] = below(256);
        const length = at > 0 && below(4) === 0 ? below(bytes.length) : bytes.length;
        files.write(path, bytes.subarray(0, length));
        const size = part === '.manifest-' ? length : request.manifest_size;
        const asked = { ...ID, ...request, manifest_size: size as number };
        cases++;
        try {
          await slowest.time(what, LIMIT, () => db.namespace.createTableVersion(asked));
        } catch (error) {
          if (!REFUSALS.has(refusal(error))) context.violated(`${what()}: ${String(error)}`);
          if (at === 0) context.violated(`${what()}: refused as it is: ${String(error)}`);
          if (named().join() !== before) context.violated(`${what()}: left files`);
          continue;
        }
        taken++;
        try {
          await idsOf(db.namespace, ['t']);
          const [problem] = (await db.namespace.verify?.({}))?.problems ?? [];
          if (problem !== undefined) context.violated(`${what()}: ${JSON.stringify(problem)}`);
        } catch (error) {
          context.violated(`${what()}: taken, then unreadable: ${String(error)}`);
        }
        await db.close();
        ({ files, db } = await planted(tree));
      }
      await db.close();
    }
    return 0;
  });
  return { cases, note: `${taken} taken; slowest ${slowest.ms.toFixed(0)} ms` };
}

export const lanceFuzz: ProofRow = { row: 'T16 Lance fuzz', run };
