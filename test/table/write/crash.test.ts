/**
 * Every file system call of an update, a merge, a change of columns or of indexes is the last one, or
 * fails: the table is as before or as after, and can be written to.
 */
import { expect, test } from 'vitest';
import { Field, Int32, Int64, Schema, Utf8 } from '../../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { type Fault, FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { grow, type Tree, treeOf } from '../../helpers/trees.ts';

const ROOT = '/c';
const t = ['t'];
const schema = new Schema([
  new Field('id', new Int64(), true),
  new Field('n', new Int32(), true),
  new Field('name', new Utf8(), true),
]);
const rows = (from: number, count: number, name = 'n') =>
  toRecordBatchStream(
    Array.from({ length: count }, (_, at) => ({ id: BigInt(from + at), n: at, name })),
    { schema },
  );

const FULL_TEXT = { id: t, column: 'name', index_type: 'FTS', with_position: true };

const OPERATIONS: Readonly<Record<string, (catalog: DirectoryNamespace) => Promise<unknown>>> = {
  update: (catalog) =>
    catalog.updateTable({ id: t, predicate: 'n >= 2', updates: [['name', "'new'"]] }),
  'update of all rows': (catalog) => catalog.updateTable({ id: t, updates: [['n', 'n + 1']] }),
  merge: async (catalog) =>
    catalog.mergeInsertIntoTable(
      {
        id: t,
        on: 'id',
        when_matched_update_all: true,
        when_not_matched_insert_all: true,
        when_not_matched_by_source_delete: true,
        when_not_matched_by_source_delete_filt: 'n = 0',
      },
      await rows(3, 6, 'came'),
    ),
  delete: (catalog) => catalog.deleteFromTable({ id: t, predicate: 'id % 2 = 0' }),
  'add a column of values': (catalog) =>
    catalog.alterTableAddColumns({ id: t, new_columns: [{ name: 'twice', expression: 'id * 2' }] }),
  'update a column beside the fragments': (catalog) =>
    catalog.updateTable({ id: t, predicate: 'n >= 1', updates: [['n', 'n + 1']] }),
  'add a column beside the fragments': (catalog) =>
    catalog.alterTableAddColumns({ id: t, new_columns: [{ name: 'twice', expression: 'id * 2' }] }),
  'fill a computed column': (catalog) =>
    catalog.alterTableBackfillColumns({ id: t, column: 'computed' }),
  'fill a computed column beside the fragments': (catalog) =>
    catalog.alterTableBackfillColumns({ id: t, column: 'computed', where: 'id > 1' }),
  'add a column of nulls': (catalog) =>
    catalog.alterTableAddColumns({
      id: t,
      new_columns: [{ name: 'more', expression: 'CAST(NULL AS INT)' }],
    }),
  'alter columns': (catalog) =>
    catalog.alterTableAlterColumns({
      id: t,
      alterations: [
        { path: 'n', rename: 'number', data_type: { type: 'int64' } },
        { path: 'id', nullable: false },
      ],
    }),
  'narrow a column': (catalog) =>
    catalog.alterTableAlterColumns({
      id: t,
      alterations: [{ path: 'n', data_type: { type: 'int8' } }],
    }),
  'narrow a column beside the fragments': (catalog) =>
    catalog.alterTableAlterColumns({
      id: t,
      alterations: [{ path: 'n', data_type: { type: 'int8' } }],
    }),
  'drop a column': (catalog) => catalog.alterTableDropColumns({ id: t, columns: ['n'] }),
  'create an index': (catalog) =>
    catalog.createTableIndex({ id: t, column: 'name', index_type: 'BTREE' }),
  'create a full-text index': (catalog) => catalog.createTableIndex(FULL_TEXT),
  'bring an index that is there up to date': (catalog) =>
    catalog.optimizeTable({ id: t, compact: false }),
  'drop an index that is there': (catalog) =>
    catalog.dropTableIndex({ id: t, index_name: 'name_idx' }),
  'overwrite with compressed rows': async (catalog) =>
    catalog.createTable(
      { id: t, mode: 'overwrite', properties: { compression: 'zstd' } },
      // Texts that are long enough to be compressed.
      await rows(0, 3, 'long '.repeat(1_200)),
    ),
  'change metadata': (catalog) =>
    catalog.updateFieldMetadata({ id: t, updates: [{ path: 'n', metadata: { a: 'b' } }] }),
};

/** @param name of the operation, which says whether columns get files of their own */
const open = (fs: FileSystem, name = ''): Promise<DirectoryNamespace> => {
  const overlays = name.includes('beside') ? { overlayBytes: 0 } : {};
  return openDirectoryNamespace({
    root: ROOT,
    fs,
    limits: { batchRows: 2, fragmentRows: 4, segmentRows: 4, ...overlays },
  });
};

async function firstTree(hasIndex: boolean): Promise<Tree> {
  const fs = memoryFs();
  const catalog = await open(strictFileSystem(fs));
  await catalog.createTable({ id: t }, await rows(0, 5));
  await catalog.insertIntoTable({ id: t }, await rows(5, 2));
  await catalog.deleteFromTable({ id: t, predicate: 'id = 1' });
  const new_columns = [{ name: 'computed', computed: 'id * 3' }];
  await catalog.alterTableAddColumns({ id: t, new_columns });
  if (hasIndex) {
    await catalog.createTableIndex(FULL_TEXT);
    await catalog.insertIntoTable({ id: t }, await rows(7, 3, 'later n'));
  }
  return treeOf(fs, ROOT);
}

/** By whether it has an index. */
const first = new Map<boolean, Promise<Tree>>();

/** All versions with their rows and fields, the indexes, and what a search finds. */
async function stateOf(catalog: DirectoryNamespace): Promise<string> {
  const { versions } = await catalog.listTableVersions({ id: t });
  const state: unknown[] = [];
  for (const { version } of versions) {
    const stream = await catalog.queryTable({ id: t, k: 1e9, version });
    const fields = stream.schema.fields.map((field) => [String(field), ...field.metadata]);
    const { count } = await catalog.countTableRows({ id: t, version });
    state.push([version, fields, count, await collectRows(stream)]);
  }
  const { indexes } = await catalog.listTableIndices({ id: t });
  state.push(
    indexes.map(
      ({ index_name, index_type, num_indexed_rows, num_unindexed_rows, num_segments }) => [
        [index_name, index_type, num_segments],
        [num_indexed_rows, num_unindexed_rows],
      ],
    ),
  );
  const query = { terms: 'n later', column: 'name', fuzziness: 0 };
  const full_text_query = { structured_query: { query: { match: query } } };
  const found = await catalog.queryTable({ id: t, k: 20, full_text_query, with_row_id: true });
  for (const row of await collectRows(found)) {
    state.push([row._rowid, (row._score as number).toFixed(4)]);
  }
  return JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** How often each has its turn; a long run takes all calls. */
const FAULTS: readonly (Omit<Fault, 'at'> & { readonly step: number })[] = [
  { kind: 'kill', changing: true, step: casesOf(29, 1) },
  { kind: 'ENOSPC', persistent: true, step: casesOf(89, 1) },
];

test.each(Object.entries(OPERATIONS))(
  '%s: whole or not at all',
  async (name, operation) => {
    const hasIndex = name.includes('that is there');
    const made = first.get(hasIndex) ?? firstTree(hasIndex);
    first.set(hasIndex, made);
    const tree = await made;
    const clean = grow(tree, ROOT);
    const old = await stateOf(await open(strictFileSystem(clean)));
    await operation(await open(strictFileSystem(clean), name));
    const done = await stateOf(await open(strictFileSystem(clean)));
    expect(done).not.toBe(old);
    const files = treeOf(clean, ROOT).map(([, bytes]) =>
      Buffer.from(bytes ?? []).toString('latin1'),
    );
    expect(files.join().includes('"overlays"')).toBe(name.includes('beside'));
    expect(files.join().includes('"compressed":true')).toBe(name.includes('compressed'));
    // Operations share many of their first calls, so each begins with another one.
    const index = Object.keys(OPERATIONS).indexOf(name);
    for (const { step, ...fault } of FAULTS) {
      for (let at = 1 + (index % step); ; at += step) {
        const healthy = strictFileSystem(grow(tree, ROOT));
        const faulty = new FaultyFs(healthy);
        const catalog = await open(faulty.fs, name);
        faulty.arm({ ...fault, at });
        let error: unknown;
        await operation(catalog).catch((thrown: unknown) => {
          error = thrown;
        });
        const again = await open(healthy);
        const state = await stateOf(again);
        const where = `${JSON.stringify({ ...fault, at })} ${String(error)}`;
        const plain = isDirspaceError(error) && error.code !== 'CommitStateUnknown';
        const allowed = error === undefined ? [done] : plain ? [old] : [old, done];
        if (!allowed.includes(state)) expect.fail(`${where} leaves ${state}`);
        const { lance } = await again.describeTable({ id: t, load_detailed_metadata: true });
        expect(lance, where).toEqual({ opens: true });
        expect((await again.verify({})).problems, where).toEqual([]);
        const answer = await again.updateTable({ id: t, updates: [['name', "'after'"]] });
        expect(answer.updated_rows, where).toBe((await again.countTableRows({ id: t })).count);
        if (!faulty.fired) break;
      }
    }
  },
  60_000,
);
