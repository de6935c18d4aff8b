/** Counting straight from what is read: the same count from everywhere, and no memory lost. */
import { expect, test } from 'vitest';
import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/index.ts';
import { type CountKernels, countKernels } from '../../../src/sql/expression.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';

const ROWS = 150_000;
const kernels = countKernels() as CountKernels;

const xOf = (row: number): number => ((row * 7_919) % 10_000) / 10_000;
const textOf = (row: number): string => `k${String((row * 31) % 23).padStart(2, '0')}`;

function rowsOf(rows: number): Table {
  const fields = [new Field('x', new Float64(), true), new Field('category', new Utf8(), true)];
  const texts = Array.from({ length: rows }, (_, row) => textOf(row));
  const children = [
    makeData({
      type: new Float64(),
      data: Float64Array.from({ length: rows }, (_, row) => xOf(row)),
    }),
    makeData({
      type: new Utf8(),
      length: rows,
      valueOffsets: Int32Array.from({ length: rows + 1 }, (_, row) => row * 3),
      data: Buffer.from(texts.join('')),
    }),
  ];
  const schema = new Schema(fields);
  const data = makeData({ type: new Struct(fields), length: rows, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

const rows = Array.from({ length: ROWS }, (_, row) => row);
const LARGE = rows.filter((row) => xOf(row) > 0.99).length;
const SOME = rows.filter((row) => textOf(row) === 'k03').length;

/** Reads that take so long that they go through the pool. */
function slowReads(fs: TestFs): TestFs {
  return new Proxy(fs, {
    get(target, name) {
      const real = Reflect.get(target, name);
      if (name !== 'readSync') return real;
      return (...args: unknown[]) => {
        const until = performance.now() + 3;
        while (performance.now() < until);
        return (real as (...all: unknown[]) => number).apply(target, args);
      };
    },
  });
}

function lentSlots(): number {
  const lent: Uint8Array[] = [];
  for (let memory = kernels.take(1); memory !== undefined; memory = kernels.take(1)) {
    lent.push(memory);
  }
  for (const memory of lent) kernels.give(memory);
  return lent.length;
}

async function written(): Promise<TestFs> {
  const fs = memoryFs();
  const db = await connect({ uri: '/c', fs: fs as never, durability: 'relaxed' });
  await db.createTable('t', rowsOf(ROWS) as never);
  await db.close();
  return fs;
}

const opened = async (fs: TestFs) => (await connect({ uri: '/c', fs: fs as never })).openTable('t');

test.each(['quick', 'slow'])(
  'counts of a %s disk, first and again, one by one and at once',
  async (pace) => {
    const memory = await written();
    const table = await opened(pace === 'slow' ? slowReads(memory) : memory);
    for (let times = 0; times < 4; times += 1) {
      expect(await table.countRows('x > 0.99')).toBe(LARGE);
      expect(await table.countRows("category = 'k03'")).toBe(SOME);
      expect(await table.countRows("category <> 'k03'")).toBe(ROWS - SOME);
    }
    const other = await opened(pace === 'slow' ? slowReads(memory) : memory);
    const counts = Array.from({ length: 12 }, (_, at) =>
      other.countRows(at % 2 === 0 ? 'x > 0.99' : "category = 'k03'"),
    );
    expect(await Promise.all(counts)).toEqual(counts.map((_, at) => (at % 2 === 0 ? LARGE : SOME)));
    expect(lentSlots()).toBe(5);
  },
);

test('deleted rows and columns that came later are counted as they are read', async () => {
  const table = await opened(await written());
  await table.add(rowsOf(100) as never);
  await table.delete('x > 0.995');
  const left = (await table.query().where('x > 0.99').toArrow()).numRows;
  expect(await table.countRows('x > 0.99')).toBe(left);
  await table.addColumns([{ name: 'y', valueSql: 'CAST(x AS double) + 1' }]);
  expect(await table.countRows('y > 1.99')).toBe(left);
  expect(lentSlots()).toBe(5);
});

test('a damaged page is told at each count, and costs no memory', async () => {
  const fs = await written();
  const folder = '/c/data/t.table/data';
  const [name] = fs.readdirSync(folder) as string[];
  const path = `${folder}/${name}`;
  const bytes = new Uint8Array(fs.readFileSync(path) as Buffer);
  const wanted = Buffer.from(Float64Array.of(xOf(1), xOf(2), xOf(3)).buffer);
  const at = Buffer.from(bytes.buffer).indexOf(wanted);
  bytes[at] = (bytes[at] as number) ^ 1;
  fs.writeFileSync(path, bytes);
  for (const disk of [fs, slowReads(fs)]) {
    const table = await opened(disk);
    for (let times = 0; times < 8; times += 1) {
      const failed = await table.countRows('x > 0.99').catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 'Corrupt' });
    }
    expect(await table.countRows("category = 'k03'")).toBe(SOME);
    expect(lentSlots()).toBe(5);
  }
});

test('fragments that statistics decide are counted without a look at their files', async () => {
  const fs = memoryFs();
  await using connection = await connect('/decided', { fs });
  const table = await connection.createTable('t', [{ n: 1 }, { n: 2 }, { n: 3 }]);
  await table.add([{ n: 4 }, { n: 50 }]);
  await table.delete('n = 2');
  await using other = await connect('/decided', { fs });
  const reader = await other.openTable('t');
  const folder = '/decided/data/t.table/data';
  for (const name of fs.readdirSync(folder)) fs.rmSync(`${folder}/${String(name)}`);
  expect(await reader.countRows('n < 100')).toBe(4);
  expect(await reader.countRows('n < 10 OR n > 90 OR n >= 1')).toBe(4);
  expect(await reader.countRows('n > 60')).toBe(0);
  await expect(reader.countRows('n < 10')).rejects.toThrow('is missing');
});
