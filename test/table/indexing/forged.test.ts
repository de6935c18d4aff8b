/**
 * Files of indexes with right checksums and wrong content, as a hostile writer makes them: searches
 * answer rows that there are, each once, or say that the file is damaged.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { type Data, dataOf } from '../../../src/arrow/index.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import { DirspaceError } from '../../../src/errors.ts';
import { Index, MatchQuery, PhraseQuery, type Table } from '../../../src/index.ts';
import { Connection } from '../../../src/sdk/connection.ts';
import { OpenSegment } from '../../../src/table/indexes/segment.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const ROWS = 400;
const random = seeded(5);
const rows = Array.from({ length: ROWS }, (_, id) => ({
  id,
  name: `n${id % 7}`,
  tags: [`t${id % 3}`, `u${id % 50}`],
  text: `${id % 2 === 0 ? 'even word' : 'odd word'} ${'x '.repeat(id % 9)}w${id % 40}`,
  vector: Array.from({ length: 8 }, () => Math.fround(random())),
}));

const QUERIES: Readonly<
  Record<string, readonly ((table: Table) => { toArray(): Promise<unknown[]> })[]>
> = {
  id: [
    (t) => t.query().where('id = 7'),
    (t) => t.query().where('id BETWEEN 10 AND 13'),
    (t) => t.query().orderBy({ columnName: 'id' }).limit(5),
  ],
  name: [(t) => t.query().where("name = 'n3'"), (t) => t.query().where("name IN ('n1', 'n2')")],
  tags: [(t) => t.query().where("array_has(tags, 'u7')")],
  text: [
    (t) => t.search(new MatchQuery('even w7', 'text')),
    (t) => t.search(new MatchQuery('wodr', 'text', { fuzziness: 2 })),
    (t) => t.search(new PhraseQuery('odd word', 'text')),
    (t) => t.search(new PhraseQuery('odd word', 'text', { slop: 3 })).where('id > 100'),
  ],
  vector: [
    (t) => t.vectorSearch(rows[3]?.vector as number[]).limit(5),
    (t) =>
      t
        .vectorSearch(rows[4]?.vector as number[])
        .nprobes(2)
        .limit(300),
    (t) => t.vectorSearch(rows[5]?.vector as number[]).distanceRange(0, 0.5),
  ],
};

const KINDS: readonly (readonly [string, string, Index])[] = [
  ['BTREE', 'id', Index.btree()],
  ['BITMAP', 'name', Index.bitmap()],
  ['LABEL_LIST', 'tags', Index.labelList()],
  ['FTS', 'text', Index.fts({ withPosition: true, stem: false })],
  ['IVF_SQ', 'vector', Index.ivfSq({ numPartitions: 5 })],
];

/** The column with some bytes of its values changed, those of its items too. */
function forged(data: Data): Data {
  const children = data.children.map((child) => forged(child as Data));
  const { values } = data;
  let changed = values as unknown as Uint8Array | undefined;
  if (ArrayBuffer.isView(values) && values.byteLength > 0) {
    const { constructor: TypedArray } = values as unknown as {
      constructor: new (buffer: ArrayBuffer) => Uint8Array;
    };
    const view = values as unknown as Uint8Array;
    const bytes = new Uint8Array(view.byteLength);
    bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    for (let count = 1 + Math.floor(random() * 4); count > 0; count--) {
      const odd = [0, 1, 0x7f, 0x80, 0xff, Math.floor(random() * 256)];
      bytes[Math.floor(random() ** 2 * bytes.length)] = odd[Math.floor(random() * 6)] as number;
    }
    changed = new TypedArray(bytes.buffer);
  }
  return dataOf(data.type, data.length, {
    nullCount: data.nullCount,
    validity: data.nullBitmap,
    offsets: data.valueOffsets as never,
    values: changed as never,
    children,
  });
}

/** Whose indexes are used however few rows there are. */
async function opened(fs: TestFs, readOnly: boolean): Promise<Connection> {
  const limits = { batchRows: 64, fragmentRows: 256, indexedRows: 0, indexedShare: 1 };
  const options = { root: '/c', fs, durability: 'relaxed', readOnly, limits } as const;
  return new Connection(await openDirectoryNamespace(options), { env: systemEnv });
}

test.each(KINDS)(
  'of type %s',
  async (_, column, config) => {
    const fs = memoryFs();
    const db = await opened(fs, false);
    const table = await db.createTable('t', rows);
    await table.createIndex(column, { config });
    await db.close();
    let read = 0;
    for (let run = 0; run < casesOf(8, 200); run++) {
      const hurt = await opened(fs, true);
      const { column: whole } = OpenSegment.prototype;
      const spied = vi.spyOn(OpenSegment.prototype, 'column').mockImplementation(function (
        this: OpenSegment,
        ...at
      ) {
        const found = whole.apply(this, at);
        if (random() < 0.4) return found;
        read += 1;
        return found instanceof Promise ? found.then(forged) : forged(found);
      });
      const copy = await hurt.openTable('t');
      for (const query of QUERIES[column] ?? []) {
        try {
          const found = (await query(copy).toArray()) as { id: number }[];
          const ids = found.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(rows[id]?.id).toBe(id);
        } catch (error) {
          if (!(error instanceof DirspaceError) || error.code !== 'Corrupt') throw error;
        }
      }
      spied.mockRestore();
      await hurt.close();
    }
    expect(read).toBeGreaterThan(4);
  },
  120_000,
);

test('positions that are cut off are told by their own file', async () => {
  const fs = memoryFs();
  const db = await opened(fs, false);
  const table = await db.createTable('t', rows);
  await table.createIndex('text', { config: Index.fts({ withPosition: true, stem: false }) });
  let file = '';
  const { column: whole } = OpenSegment.prototype;
  vi.spyOn(OpenSegment.prototype, 'column').mockImplementation(function (this: OpenSegment, ...at) {
    const found = whole.apply(this, at);
    if (!this.fieldName(0)?.includes('positions')) return found;
    file = this.name;
    const cut = (data: Data): Data =>
      dataOf(data.type, data.length, {
        offsets: new (data.valueOffsets.constructor as Int32ArrayConstructor)(data.length + 1),
        values: new Uint8Array(0),
      });
    return found instanceof Promise ? found.then(cut) : cut(found);
  });
  const phrase = () => table.search(new PhraseQuery('odd word', 'text'));
  expect(await phrase().limit(ROWS).toArray()).toHaveLength(ROWS / 2);
  expect(file).not.toBe('');
  expect(await phrase().explainPlan()).toContain(`${file} is damaged`);
  await db.close();
});
