/**
 * Random changes against a plain model: rows as JavaScript objects. One writer checks every version
 * after the fact; several writers at once must equal the replay of their changes in version order.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Field, Float64, Int64, Schema, Utf8 } from '../../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { casesOf } from '../../helpers/long.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const t = ['t'];
const schema = new Schema([
  new Field('k', new Int64(), true),
  new Field('x', new Float64(), true),
  new Field('s', new Utf8(), true),
]);

interface ModelRow {
  readonly k: number | null;
  readonly x: number | null;
  readonly s: string | null;
}

type Change =
  | { readonly kind: 'append'; readonly rows: readonly ModelRow[] }
  | { readonly kind: 'delete'; readonly below: number }
  | { readonly kind: 'update'; readonly above: number; readonly by: number }
  | {
      readonly kind: 'merge';
      readonly rows: readonly ModelRow[];
      readonly update: 'no' | 'always' | 'if greater';
      readonly insert: boolean;
      readonly remove: 'no' | 'all' | 'small';
    };

const key = fc.option(fc.integer({ min: 0, max: 12 }), { nil: null, freq: 8 });
const rowOf = fc.record({
  k: key,
  x: fc.option(fc.integer({ min: -9, max: 9 }), { nil: null, freq: 6 }),
  s: fc.option(fc.constantFrom('a', 'b', 'ä'), { nil: null, freq: 6 }),
});
/** No key twice, so that no merge is refused. */
const sourceRows = fc.uniqueArray(rowOf, {
  maxLength: 6,
  selector: ({ k }) => k ?? Symbol('null matches nothing'),
});
const changeOf: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), rows: fc.array(rowOf, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('delete' as const), below: fc.integer({ min: -9, max: 3 }) }),
  fc.record({
    kind: fc.constant('update' as const),
    above: fc.integer({ min: -9, max: 9 }),
    by: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('merge' as const),
    rows: sourceRows,
    update: fc.constantFrom('no' as const, 'always' as const, 'if greater' as const),
    insert: fc.boolean(),
    remove: fc.constantFrom('no' as const, 'no' as const, 'small' as const, 'all' as const),
  }),
);

interface Outcome {
  readonly rows: readonly ModelRow[];
  readonly counts: readonly number[];
}

/** What a change does to rows, and the counts it answers. */
function replay(rows: readonly ModelRow[], change: Change): Outcome {
  switch (change.kind) {
    case 'append':
      return { rows: [...rows, ...change.rows], counts: [change.rows.length] };
    case 'delete': {
      const kept = rows.filter(({ x }) => !(x !== null && x < change.below));
      return { rows: kept, counts: [rows.length - kept.length] };
    }
    case 'update': {
      const fits = ({ x }: ModelRow): boolean => x !== null && x > change.above;
      const changed = rows
        .filter(fits)
        .map((row) => ({ ...row, x: (row.x ?? 0) + change.by, s: row.s && `${row.s}!` }));
      return { rows: [...rows.filter((row) => !fits(row)), ...changed], counts: [changed.length] };
    }
    case 'merge':
      return replayMerge(rows, change);
  }
}

function replayMerge(
  rows: readonly ModelRow[],
  { rows: source, update, insert, remove }: Extract<Change, { kind: 'merge' }>,
): Outcome {
  const byKey = new Map(source.flatMap((row) => (row.k === null ? [] : [[row.k, row] as const])));
  const met = new Set<number>();
  const kept: ModelRow[] = [];
  const updated: ModelRow[] = [];
  let deleted = 0;
  for (const row of rows) {
    const came = row.k === null ? undefined : byKey.get(row.k);
    if (came === undefined) {
      const small = row.x !== null && row.x < 0;
      if (remove === 'all' || (remove === 'small' && small)) deleted += 1;
      else kept.push(row);
      continue;
    }
    met.add(came.k as number);
    const greater = came.x !== null && row.x !== null && came.x > row.x;
    if (update === 'always' || (update === 'if greater' && greater)) updated.push(came);
    else kept.push(row);
  }
  const added = insert ? source.filter(({ k }) => k === null || !met.has(k)) : [];
  return { rows: [...kept, ...updated, ...added], counts: [updated.length, added.length, deleted] };
}

const hasClause = (change: Change): boolean =>
  change.kind !== 'merge' || change.update !== 'no' || change.insert || change.remove !== 'no';

interface Applied {
  readonly counts: readonly number[];
  readonly version: number;
}

async function apply(catalog: DirectoryNamespace, change: Change): Promise<Applied> {
  switch (change.kind) {
    case 'append': {
      const rows = await toRecordBatchStream(change.rows.map(toRow), { schema });
      const answer = await catalog.insertIntoTable({ id: t }, rows);
      return { counts: [answer.num_inserted_rows ?? 0], version: answer.version ?? 0 };
    }
    case 'delete': {
      const predicate = `x < ${change.below}`;
      const answer = await catalog.deleteFromTable({ id: t, predicate });
      return { counts: [answer.num_deleted_rows ?? 0], version: answer.version ?? 0 };
    }
    case 'update': {
      const updates = [
        ['x', `x + ${change.by}`],
        ['s', "s || '!'"],
      ];
      const predicate = `x > ${change.above}`;
      const answer = await catalog.updateTable({ id: t, updates, predicate });
      return { counts: [answer.updated_rows], version: answer.version };
    }
    case 'merge': {
      const { update, insert, remove } = change;
      const answer = await catalog.mergeInsertIntoTable(
        {
          id: t,
          on: 'k',
          ...(update === 'no' ? {} : { when_matched_update_all: true }),
          ...(update === 'if greater'
            ? { when_matched_update_all_filt: 'source.x > target.x' }
            : {}),
          ...(insert ? { when_not_matched_insert_all: true } : {}),
          ...(remove === 'no' ? {} : { when_not_matched_by_source_delete: true }),
          ...(remove === 'small' ? { when_not_matched_by_source_delete_filt: 'x < 0' } : {}),
        },
        await toRecordBatchStream(change.rows.map(toRow), { schema }),
      );
      const { num_updated_rows: updated, num_inserted_rows: inserted } = answer;
      return {
        counts: [updated ?? 0, inserted ?? 0, answer.num_deleted_rows ?? 0],
        version: answer.version ?? 0,
      };
    }
  }
}

const toRow = (row: ModelRow): Record<string, unknown> => ({
  ...row,
  k: row.k === null ? null : BigInt(row.k),
});

/** Rows as texts, in no order: updates and merges put theirs last. */
const textOf = (rows: readonly object[]): string[] =>
  rows.map((row) => Object.values(row).map(String).join('|')).sort();

async function rowsAt(catalog: DirectoryNamespace, version: number): Promise<string[]> {
  return textOf(await collectRows(await catalog.queryTable({ id: t, k: 1e9, version })));
}

const SMALL = { batchRows: 3, fragmentRows: 6 };

async function start(root: string, fs: FileSystem | undefined, rows: readonly ModelRow[]) {
  const open = () => openDirectoryNamespace({ root, fs, limits: SMALL, durability: 'relaxed' });
  const catalog = await open();
  await catalog.createTable({ id: t }, await toRecordBatchStream(rows.map(toRow), { schema }));
  return { catalog, open };
}

describe('one writer', () => {
  test('every version is what the model says, also when reopened', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf, { minLength: 1, maxLength: 20 }),
        fc.array(changeOf.filter(hasClause), { minLength: 1, maxLength: 8 }),
        async (first, changes) => {
          const { catalog, open } = await start('/c', memoryFs(), first);
          let rows: readonly ModelRow[] = first;
          const versions = new Map([[1, textOf(first)]]);
          for (const change of changes) {
            const expected = replay(rows, change);
            const { counts, version } = await apply(catalog, change);
            expect({ change, counts }).toEqual({ change, counts: expected.counts });
            rows = expected.rows;
            const before = versions.get(version);
            if (before !== undefined) expect(textOf(rows)).toEqual(before);
            versions.set(version, textOf(rows));
          }
          for (const reader of [catalog, await open()]) {
            for (const [version, expected] of versions) {
              expect({ version, rows: await rowsAt(reader, version) }).toEqual({
                version,
                rows: expected,
              });
            }
            const { count } = await reader.countTableRows({ id: t });
            expect(count).toBe(rows.length);
          }
        },
      ),
      { numRuns: casesOf(25, 40) },
    );
  });
});

describe.each(['memory', 'disk'] as const)('several writers on %s', (place) => {
  test('their changes in version order give every version', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowOf, { minLength: 1, maxLength: 20 }),
        fc.array(fc.array(changeOf.filter(hasClause), { minLength: 1, maxLength: 4 }), {
          minLength: 2,
          maxLength: 4,
        }),
        async (first, writers) => {
          const { catalog, open } =
            place === 'memory'
              ? await start('/c', memoryFs(), first)
              : await start(temporaryFolder(), undefined, first);
          const done: { change: Change; applied: Applied }[] = [];
          await Promise.all(
            writers.map(async (changes) => {
              const own = await open();
              for (const change of changes) {
                done.push({ change, applied: await apply(own, change) });
              }
            }),
          );
          const { versions } = await catalog.listTableVersions({ id: t });
          const byVersion = new Map<number, { change: Change; applied: Applied }>();
          const states = new Map<number, readonly ModelRow[]>([[1, first]]);
          const idle: typeof done = [];
          for (const each of done) {
            // A change that found nothing to do names the version it looked at.
            const { counts, version } = each.applied;
            const changes = each.change.kind === 'append' || counts.some((count) => count > 0);
            if (!changes) {
              idle.push(each);
              continue;
            }
            expect(byVersion.has(version)).toBe(false);
            byVersion.set(version, each);
          }
          expect(versions.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
            [1, ...byVersion.keys()].sort((a, b) => a - b),
          );
          let rows: readonly ModelRow[] = first;
          for (let version = 2; version <= byVersion.size + 1; version++) {
            const { change, applied } = byVersion.get(version) as (typeof done)[number];
            const expected = replay(rows, change);
            expect({ version, change, counts: applied.counts }).toEqual({
              version,
              change,
              counts: expected.counts,
            });
            rows = expected.rows;
            states.set(version, rows);
          }
          for (const { change, applied } of idle) {
            const seen = states.get(applied.version) as readonly ModelRow[];
            expect(replay(seen, change).counts.every((count) => count === 0)).toBe(true);
          }
          const reader = await open();
          for (const [version, expected] of states) {
            expect({ version, rows: await rowsAt(reader, version) }).toEqual({
              version,
              rows: textOf(expected),
            });
          }
        },
      ),
      { numRuns: place === 'memory' ? casesOf(15, 25) : casesOf(5, 8) },
    );
  }, 60_000);
});
