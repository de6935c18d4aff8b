/** Rows that lack structs are cut into runs: every row comes once, in order where it is kept, without the columns it lacks. */
import { expect, test } from 'vitest';
import {
  Field,
  Int32,
  RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { type StructOrder, structRuns } from '../../../src/table/lance/index.ts';
import { fitFragments, fitOf } from '../../../src/table/write/match-fields.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

const PAIR = new Struct([new Field('x', new Int32(), true)]);
const FIELDS = [
  new Field('id', new Int32(), true),
  new Field('a', PAIR, true),
  new Field('b', PAIR, true),
];
const SCHEMA = new Schema(FIELDS);
const TREE = FIELDS.map((field, id) => ({ id, field, children: [] }));

interface Row {
  readonly id: number;
  readonly a: { readonly x: number } | null;
  readonly b: { readonly x: number } | null;
}

/** A slice, whose bitmaps begin within a byte. */
function batchOf(given: readonly Row[]): RecordBatch {
  const rows = [
    ...Array.from({ length: 3 }, (): Row => ({ id: 0, a: null, b: { x: 0 } })),
    ...given,
  ];
  const column = (name: 'a' | 'b') =>
    vectorFromArray(
      rows.map((row) => row[name]),
      PAIR,
    );
  const id = vectorFromArray(
    rows.map((row) => row.id),
    new Int32(),
  );
  const table = new Table({ id, a: column('a'), b: column('b') });
  return new RecordBatch(SCHEMA, (table.batches[0] as RecordBatch).slice(3).data);
}

const LIMITS = { rows: 65_536, bytes: 8 * 1024 * 1024 };
const cutting = (order: StructOrder, limits = LIMITS) => ({
  order,
  limits,
  pause: () => undefined,
});

async function runsOf(batches: readonly (readonly Row[])[], order: StructOrder) {
  const stream = recordBatchStream(SCHEMA, batches.map(batchOf)) as RecordBatchStream;
  const runs: { columns: string[]; rows: Row[] }[] = [];
  for await (const run of structRuns(stream, TREE, [1, 2], cutting(order))) {
    expect(run.fields.map(({ field }) => field.name)).toEqual(
      run.stream.schema.fields.map(({ name }) => name),
    );
    const rows: Row[] = [];
    for await (const batch of run.stream) {
      const read = new Table([batch]).toArray() as unknown as Row[];
      for (const { id, a, b } of read)
        rows.push({ id, a: a ? { x: a.x } : null, b: b ? { x: b.x } : null });
    }
    runs.push({ columns: run.stream.schema.fields.map(({ name }) => name), rows });
  }
  return runs;
}

test('random rows, in their order and in any', async () => {
  for (let seed = 1; seed < 120; seed++) {
    const random = seeded(seed);
    let next = 0;
    const odds = [random() ** 4, random() ** 4];
    let lacks = [false, false];
    const batches = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
      Array.from({ length: Math.floor(random() * 30) }, (): Row => {
        lacks = lacks.map((lack, at) => (random() < (odds[at] as number) ? !lack : lack));
        const id = next++;
        return { id, a: lacks[0] ? null : { x: id }, b: lacks[1] ? null : { x: id + 1 } };
      }),
    );
    const all = batches.flat();
    for (const order of ['kept', 'any', 'one'] as const) {
      const runs = await runsOf(batches, order);
      const found = runs.flatMap(({ rows }) => rows);
      if (order === 'any') found.sort((one, other) => one.id - other.id);
      expect(found.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      for (const { columns, rows } of runs) {
        for (const { id, a, b } of rows) {
          const was = all[id] as Row;
          if (columns.includes('a')) expect(a).toEqual(was.a);
          else expect(was.a).toBe(null);
          if (columns.includes('b')) expect(b).toEqual(was.b);
          else expect(was.b).toBe(null);
        }
      }
      expect(runs.length).toBeLessThanOrEqual({ any: 4, kept: 9, one: 2 }[order]);
    }
  }
});

test('batches pass until the first null struct, and then few are held at a time', async () => {
  const size = 10;
  const full = (id: number): Row => ({ id, a: { x: id }, b: { x: id } });
  const lacking = (id: number): Row => ({ id, a: id % 2 === 0 ? null : { x: id }, b: { x: id } });
  const whole = Array.from({ length: 20 }, () =>
    batchOf(Array.from({ length: size }, (_, id) => full(id))),
  );
  const mixed = Array.from({ length: 20 }, () =>
    batchOf(Array.from({ length: size }, (_, id) => lacking(id))),
  );
  let pulled = 0;
  const batches = async function* () {
    for (const batch of [...whole, ...mixed]) {
      pulled += 1;
      yield batch;
    }
  };
  const stream = recordBatchStream(SCHEMA, batches()) as RecordBatchStream;
  let yielded = 0;
  let rows = 0;
  const options = cutting('any', { ...LIMITS, rows: 2 * size });
  for await (const run of structRuns(stream, TREE, [1, 2], options)) {
    for await (const batch of run.stream) {
      if (yielded < whole.length) expect(batch).toBe(whole[yielded]);
      yielded += 1;
      rows += batch.numRows;
      expect(pulled * size - rows).toBeLessThanOrEqual(4 * size);
    }
  }
  expect(rows).toBe(40 * size);
});

test('rows that fail after the first run leave no file', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const table = await db.createTable('t', [{ id: 1, a: { x: 1 }, b: { x: 1 } }]);
  const files = (): number => filesOf(fs, '/c').all().length;
  const before = files();
  const failing = async function* () {
    yield { id: 2, a: { x: 2 }, b: { x: 2 } };
    yield { id: 3, a: null, b: { x: 3 } };
    for (let id = 4; id < 200_000; id++) yield { id, a: { x: 4 }, b: null };
    throw new Error('the source ends');
  };
  await expect(table.add(failing() as never)).rejects.toThrow('the source ends');
  expect(files()).toBe(before);
  expect(await table.countRows()).toBe(1);
});

test('fragments without a struct fit what their columns have become meanwhile', () => {
  const written = fitOf(TREE, SCHEMA);
  const statistics = [
    [2, 0, 1, 2],
    [2, 0],
  ];
  const fragment = { file: 'f', rows: 2, fields: [0, 2], statistics } as never;
  const now = (change: (field: Field) => Field) =>
    TREE.map((node) => ({ ...node, field: change(node.field) }));
  const required = (name: string) =>
    now((field) => new Field(field.name, field.type, field.name !== name));
  expect(fitFragments(required('b'), written, [fragment])).toEqual([fragment]);
  expect(() => fitFragments(required('a'), written, [fragment])).toThrow(
    'column "a" is required and null in 2 rows',
  );
});
