/** A batch is written while the next one is made: memory that its maker uses again is not in it. */
import { expect, test } from 'vitest';
import {
  dataOf,
  Field,
  Float64,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../../src/arrow/index.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { assignFieldIds } from '../../../src/table/fields/field-ids.ts';
import { writeFragments } from '../../../src/table/write/write.ts';
import { testEngine } from '../../helpers/engines.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const ROWS = 10_000;
const BATCHES = 6;
const schema = new Schema([new Field('x', new Float64(), false)]);

/**
 * Writes batches 0, 1, 2 .. each full of its number, made in so many buffers that take turns.
 * Every second one has `others` rows.
 */
async function written(ahead: boolean, buffers: number, others = ROWS) {
  const { engine, calls } = testEngine();
  const events: string[] = [];
  const values: number[] = [];
  calls.create = async (run, path) => {
    const writer = await run(path);
    const write = async (pieces: readonly Uint8Array[]): Promise<void> => {
      events.push('write');
      // A disk takes the bytes some time after it is called.
      for (let step = 0; step < 20; step++) await new Promise((resolve) => setImmediate(resolve));
      for (const piece of pieces) {
        if (piece.byteLength < ROWS * 8) continue;
        const all = new Float64Array(piece.slice().buffer).subarray(0, ROWS);
        values.push(all[0] as number, all[ROWS - 1] as number);
      }
      events.push('written');
      await writer.write(pieces);
    };
    return { write, finish: () => writer.finish(), abort: () => writer.abort() };
  };
  const memory = Array.from({ length: buffers }, () => new Float64Array(ROWS));
  async function* batches() {
    for (let batch = 0; batch < BATCHES; batch++) {
      const all = memory[batch % buffers] as Float64Array;
      events.push('made');
      all.fill(batch);
      const rows = batch % 2 === 0 ? ROWS : others;
      const data = dataOf(new Float64(), rows, { values: all.subarray(0, rows) });
      yield recordBatch(schema, [data], rows);
    }
  }
  await engine.store.createFolder('t');
  const { tree } = assignFieldIds(schema.fields, 0);
  const options = { lance: true, compression: 'none', asGiven: true, ahead } as const;
  const { durable } = await writeFragments(
    engine,
    't',
    recordBatchStream(schema, batches()),
    tree,
    options,
  );
  await durable;
  return { values, events };
}

const expected = Array.from({ length: BATCHES }, (_, batch) => [batch, batch]).flat();

test('a maker that uses its memory again for the next batch is asked for it once the last is written', async () => {
  const { values, events } = await written(false, 1);
  expect(values).toEqual(expected);
  expect(events.slice(0, 6)).toEqual(['made', 'write', 'written', 'made', 'write', 'written']);
});

test('one with memory for two batches makes the next one while the last is written', async () => {
  const { values, events } = await written(true, 2);
  expect(values).toEqual(expected);
  expect(events.slice(0, 4)).toEqual(['made', 'write', 'made', 'written']);
});

test('a small batch, which waits to be written, leaves the memory of the one before alone', async () => {
  const { values } = await written(true, 2, 10);
  expect(values).toEqual(expected.filter((batch) => batch % 2 === 0));
});

/** A disk that takes bytes of large writes some time after it is called. */
function slowDisk(): ReturnType<typeof memoryFs> {
  const inner = memoryFs();
  const writev = ((
    fd: number,
    pieces: NodeJS.ArrayBufferView[],
    position: number | null,
    done: Parameters<typeof inner.writev>[3],
  ) => {
    let steps = 40;
    const step = (): void => {
      if (steps-- > 0) setImmediate(step);
      else inner.writev(fd, pieces, position, done);
    };
    step();
  }) as typeof inner.writev;
  return Object.assign(Object.create(inner), { writev });
}

test.each([
  ['computed', 'y', 'x * 3', (row: number) => row * 3],
  ['passed on', 'y', 'x', (row: number) => row],
  ['updated', 'x', undefined, (row: number) => (row % 10 === 3 ? row + 0.5 : row)],
] as const)(
  'a column that is %s beside its fragment is right on a slow disk',
  async (_, column, valueSql, valueAt) => {
    await using catalog = await openDirectoryNamespace({
      root: '/c',
      fs: slowDisk(),
      durability: 'relaxed',
      limits: { overlayBytes: 0, batchRows: ROWS },
    });
    const id = ['t'];
    const count = ROWS * BATCHES;
    const values = Float64Array.from({ length: count }, (_, row) => row);
    // Beside others, as a column alone is not worth a file of its own.
    const names = ['x', 'a', 'b', 'c', 'd'];
    const wide = new Schema(names.map((name) => new Field(name, new Float64(), false)));
    const columns = names.map(() => dataOf(new Float64(), count, { values }));
    const batch = recordBatch(wide, columns, count);
    await catalog.createTable({ id }, recordBatchStream(wide, [batch]));
    if (valueSql === undefined) {
      await catalog.updateTable({ id, predicate: 'x % 10 = 3', updates: [['x', 'x + 0.5']] });
    } else
      await catalog.alterTableAddColumns({
        id,
        new_columns: [{ name: 'y', expression: valueSql }],
      });
    const rows = await collectRows(await catalog.queryTable({ id, k: count }));
    expect(rows).toHaveLength(count);
    expect(rows.find((row) => row[column] !== valueAt(row.a as number))).toBeUndefined();
  },
);
