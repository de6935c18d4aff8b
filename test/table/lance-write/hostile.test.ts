/**
 * Staged manifests, data files and deletion files with changed bytes: they are refused by a typed error and
 * leave nothing, or they say something else that is taken whole, as Lance has no checksums. And a writer of
 * Lance beside writers of ours: no row is lost.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDirspaceError } from '../../../src/errors.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { LanceClient } from '../../helpers/lance-client.ts';
import { casesOf } from '../../helpers/long.ts';
import { idsOf, people } from '../../helpers/people.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const FOLDER = 'data/t.table';

async function scene() {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, people(5));
  const files = filesOf(fs, '/c');
  const create = (request: CreateTableVersionRequest): Promise<unknown> =>
    db.namespace.createTableVersion({ id: ['t'], ...request });
  return { db, fs, files, create, client: new LanceClient(files, FOLDER) };
}

const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });

/** Most changed manifests do not even decode: of these it looks at more. */
const CASES = {
  'manifest-': casesOf(120, 100_000),
  '.lance': casesOf(40, 30_000),
  '_deletions/': casesOf(40, 30_000),
};

test.each(Object.entries(CASES))(
  'changed bytes in %s',
  async (part, numRuns) => {
    const { fs, files, client } = await scene();
    const request = await client.update(people(40, 50), 40, new Map([[0, [1]]]));
    const tree = treeOf(fs, '/c');
    const path = files.all().find((each) => each.includes(part) && !each.endsWith('/')) as string;
    const whole = files.read(path);
    const planted = async () => {
      const grown = grow(tree, '/c');
      return { copy: filesOf(grown, '/c'), db: await connect('/c', { fs: grown }) };
    };
    // A refused version leaves nothing, so the next one finds the catalog as it was.
    let { copy, db } = await planted();
    // A refused request may make the path that clients open the table by, which is swept later.
    const filesIn = (): string[] =>
      copy.all().filter((each) => !each.endsWith('/') && !each.includes('.dirspace/opened/'));
    const before = filesIn();
    const counts = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(changes, fc.integer({ max: 3, min: 0 }), async (edits, kind) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, value] of edits) bytes[at % bytes.length] = value;
        const [[end]] = edits as [[number, number]];
        copy.write(path, kind === 0 ? bytes.subarray(0, end % bytes.length) : bytes);
        const asked = { id: ['t'], ...request, manifest_size: copy.read(staged(copy)).length };
        try {
          await db.namespace.createTableVersion(asked);
        } catch (error) {
          // The name of the table that was read may be another.
          expect(isDirspaceError(error, 'InvalidInput', 'Unsupported', 'TableNotFound')).toBe(true);
          expect(filesIn()).toEqual(before);
          counts.refused += 1;
          return;
        }
        // Lance has no checksums: other values are values too. What was taken is whole.
        await idsOf(db.namespace, ['t']);
        expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
        counts.taken += 1;
        await db.close();
        ({ copy, db } = await planted());
      }),
      // The first leaves the bytes as they are.
      { numRuns, examples: [[[[0, whole[0] as number]], 1]] },
    );
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.taken).toBeGreaterThan(0);
  },
  3_600_000,
);

const staged = (files: ReturnType<typeof filesOf>): string =>
  files.all().find((path) => path.includes('.manifest-')) as string;

test('a writer of Lance between writers of ours loses nothing', async () => {
  const { db, create, client } = await scene();
  const gone = new Set<number>();
  const added = new Set<number>([0, 1, 2, 3, 4]);
  const rounds = casesOf(8, 100);
  let refused = 0;
  const theirs = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const from = 1000 + round * 10;
      for (;;) {
        client.open();
        const isDelete = round % 3 === 2;
        const offset = client.manifest.fragments.find(({ deletion }) => deletion === undefined);
        const request =
          isDelete && offset !== undefined && offset.physicalRows > 1
            ? client.delete(new Map([[offset.id, [0]]]))
            : await client.append(people(3, from), 3);
        const before = await idsOf(db.namespace, ['t']);
        try {
          await create(request);
        } catch (error) {
          if (!isDirspaceError(error, 'ConcurrentModification')) throw error;
          refused += 1;
          continue;
        }
        if (isDelete && offset !== undefined && offset.physicalRows > 1) {
          const version = request.version;
          const after = new Set(await idsOf(db.namespace, ['t'], { version }));
          const lost = before.filter((id) => !after.has(id));
          for (const id of lost) gone.add(id);
          expect(lost.length).toBeLessThanOrEqual(1);
        } else for (let id = from; id < from + 3; id++) added.add(id);
        break;
      }
    }
  };
  const ours = async (): Promise<void> => {
    const table = await db.openTable('t');
    for (let round = 0; round < rounds; round++) {
      const from = 100_000 + round * 10;
      await db.namespace.insertIntoTable({ id: ['t'] }, people(2, from));
      added.add(from).add(from + 1);
      if (round % 4 === 3) await table.optimize({});
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all([theirs(), ours()]);
  expect(refused).toBeGreaterThan(0);
  const found = await idsOf(db.namespace, ['t']);
  expect(new Set(found).size).toBe(found.length);
  const wanted = [...added].filter((id) => !gone.has(id)).sort((a, b) => a - b);
  expect(found.sort((a, b) => a - b)).toEqual(wanted);
  expect(client.names()).toHaveLength(
    (await db.namespace.listTableVersions({ id: ['t'] })).versions.length,
  );
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
}, 180_000);
