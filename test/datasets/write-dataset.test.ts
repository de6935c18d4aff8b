/** Datasets that are written for Lance: read back, and never there in part. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  Binary,
  BinaryView,
  Field,
  Int32,
  Int64,
  List,
  Map_,
  type RecordBatch,
  Schema,
  Struct,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';
import { dataOf } from '../../src/arrow/index.ts';
import { openLanceDataset, writeLanceDataset } from '../../src/datasets/index.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { readLanceManifest } from '../../src/format/index.ts';
import { writeFile } from '../../src/interchange/files/write-file.ts';
import { processTag } from '../../src/store/index.ts';
import { batchOf, exactValues, randomBatch, seeded } from '../helpers/arrow-samples.ts';
import { lanceVersions, writeDataset } from '../helpers/lance-datasets.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

async function all(stream: AsyncIterable<RecordBatch>): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

async function* given(...batches: RecordBatch[]): AsyncGenerator<RecordBatch> {
  yield* batches;
}

const INTS = new Schema([new Field('n', new Int32(), true)]);
const ints = (rows: number): RecordBatch => randomBatch(INTS, rows, seeded(rows), 0.1);

test('views are written in their plain form', async () => {
  const place = temporaryFolder();
  const list = (type: Utf8 | Utf8View): List => new List(new Field('item', type, true));
  const struct = (type: Utf8 | Utf8View): Struct =>
    new Struct([new Field('x', type, true)] as never);
  const schemaOf = (type: Utf8 | Utf8View, bytes: Binary | BinaryView): Schema =>
    new Schema([
      new Field('text', type, true),
      new Field('bytes', bytes, true),
      new Field('list', list(type), true),
      new Field('struct', struct(type), false),
    ]);
  const plain = schemaOf(new Utf8(), new Binary());
  const views = schemaOf(new Utf8View(), new BinaryView());
  const rows = randomBatch(views, 50, seeded(4), 0.2);
  const target = join(place, 'x');
  const copy = await writeLanceDataset(target, views, given(rows, rows));
  expect(copy.rows).toBe(100);
  const found = await openLanceDataset(target);
  expect(found.schema.fields.map(String)).toEqual(plain.fields.map(String));
  expect(exactValues(await all(found))).toEqual(exactValues([rows, rows]));
});

describe('what a killed copy left beside the target', () => {
  const id = '01234567-89ab-4def-8123-456789abcdef';
  const old = new Date(Date.now() - 8 * 24 * 3_600_000);
  const [host] = processTag().split('-');
  const left = (place: string, name: string, isOld = false): string => {
    const folder = join(place, name);
    mkdirSync(join(folder, 'data'), { recursive: true });
    const file = join(folder, 'data', 'x.lance');
    writeFileSync(file, 'rows');
    if (isOld) for (const path of [file, join(folder, 'data'), folder]) utimesSync(path, old, old);
    return name;
  };

  test.each([
    ['of a process that died', `x.partial-${host}-7fffffff-1-${id}`, false, true],
    ['of a process at work', `x.partial-${processTag()}-${id}`, true, false],
    ['of another machine', `x.partial-01234567-1-1-${id}`, false, false],
    ['of another machine, a week ago', `x.partial-01234567-1-1-${id}`, true, true],
    ['of an older release', `x.partial-${id}`, false, false],
    ['of an older release, a week ago', `x.partial-${id}`, true, true],
    ['of another target', `y.partial-${host}-7fffffff-1-${id}`, true, false],
    ['of somebody else', 'x.partial-copy', true, false],
  ])('%s', async (_, name, isOld, isRemoved) => {
    const place = temporaryFolder();
    left(place, name, isOld);
    await writeLanceDataset(join(place, 'x'), INTS, given(ints(3)));
    expect(readdirSync(place).sort()).toEqual((isRemoved ? ['x'] : ['x', name]).sort());
  });

  test('of another machine stays where the clock of this one is wrong', async () => {
    const place = temporaryFolder();
    const name = left(place, `x.partial-01234567-1-1-${id}`);
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 30 * 24 * 3_600_000);
    await writeLanceDataset(join(place, 'x'), INTS, given(ints(3))).finally(() =>
      now.mockRestore(),
    );
    expect(readdirSync(place).sort()).toEqual(['x', name]);
  });
});

describe('a writer whose copy another program takes for abandoned', () => {
  const taken = (place: string): void => {
    const [staging] = readdirSync(place).filter((name) => name.includes('.partial-'));
    rmSync(join(place, staging as string), { recursive: true });
  };
  const told = {
    code: 'ConcurrentModification',
    message: expect.stringMatching(/was not written: "x\.partial-[^"]*" beside it,.* removed/),
  };

  test.each([
    ['of several files', 10],
    ['of one file', 1000],
  ])('%s publishes no part of it', async (_, maxFileRows) => {
    const place = temporaryFolder();
    async function* batches(): AsyncGenerator<RecordBatch> {
      yield ints(30);
      taken(place);
      yield ints(30);
    }
    const work = writeLanceDataset(join(place, 'x'), INTS, batches(), { maxFileRows });
    await expect(work).rejects.toMatchObject(told);
    expect(readdirSync(place)).toEqual([]);
  });

  test('publishes no file', async () => {
    const place = temporaryFolder();
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      taken(place);
    }
    await expect(writeFile(join(place, 'x'), pieces, undefined)).rejects.toMatchObject(told);
    expect(readdirSync(place)).toEqual([]);
  });
});

describe('what is written is read again', () => {
  const place = temporaryFolder();
  test.each(lanceVersions)('$dataset $choice', async ({ dataset, choice }) => {
    const home = writeDataset(dataset, temporaryFolder());
    const source = await openLanceDataset(home, choice);
    const expected = await all(source);
    const target = join(place, `${dataset}-${JSON.stringify(choice).replaceAll(/\W/g, '')}`);
    let told = 0;
    const copy = await writeLanceDataset(target, source.schema, given(...expected), {
      maxFileRows: 20,
      onRows: (rows) => {
        told += rows;
      },
    });
    expect(copy.rows).toBe(source.rows);
    expect(told).toBe(source.rows);
    const found = await openLanceDataset(target);
    expect(found.version).toBe(1);
    expect(found.schema.fields.map(String)).toEqual(source.schema.fields.map(String));
    expect([...found.schema.metadata]).toEqual([...source.schema.metadata]);
    expect(exactValues(await all(found))).toEqual(
      expected.length === 0 ? [] : exactValues(expected),
    );
  });
});

test('many batches stand in one file, and a new one begins at the bounds', async () => {
  const target = join(temporaryFolder(), 'x.lance');
  const batches = Array.from({ length: 7 }, (_, at) => ints(10 + at));
  await writeLanceDataset(target, INTS, given(...batches), { maxFileRows: 25 });
  const [name] = readdirSync(join(target, '_versions')) as [string];
  expect(name).toBe('18446744073709551614.manifest');
  const manifest = readLanceManifest(readFileSync(join(target, '_versions', name)), name);
  expect(manifest.fragments.map(({ id, physicalRows }) => [id, physicalRows])).toEqual([
    [0, 33],
    [1, 27],
    [2, 31],
  ]);
  expect(manifest.maxFragmentId).toBe(2);
  // Nothing keeps Lance's writers out.
  expect([manifest.readerFlags, manifest.writerFlags]).toEqual([0n, 0n]);
  for (const { files } of manifest.fragments) {
    const [{ path, fileSize }] = files as unknown as [{ path: string; fileSize: number }];
    const bytes = readFileSync(join(target, 'data', path));
    expect(path).toMatch(/^[0-9a-f-]{36}\.lance$/);
    expect(bytes.length).toBe(fileSize);
    expect(bytes.subarray(-4).toString()).toBe('LANC');
  }
  expect(exactValues(await all(await openLanceDataset(target)))).toEqual(exactValues(batches));
  const bounded = join(temporaryFolder(), 'y.lance');
  const copy = await writeLanceDataset(bounded, INTS, given(...batches), { maxFileBytes: 1 });
  expect(copy.files).toBe(7);
});

test('no rows are a dataset without fragments', async () => {
  const target = join(temporaryFolder(), 'x.lance');
  expect(await writeLanceDataset(target, INTS, given(ints(0)))).toMatchObject({
    rows: 0,
    files: 0,
  });
  expect((await openLanceDataset(target)).schema.fields.map(String)).toEqual(
    INTS.fields.map(String),
  );
});

test('metadata by which Lance would look for other layouts is left out', async () => {
  const metadata = new Map([
    ['packed', 'true'],
    ['lance-encoding:packed', 'true'],
    ['lance-encoding:blob', 'true'],
    ['kept', 'yes'],
  ]);
  const type = new Struct([new Field('x', new Int64(), true)]);
  const schema = new Schema([new Field('s', type, true, metadata)]);
  const target = join(temporaryFolder(), 'x.lance');
  await writeLanceDataset(target, schema, given(randomBatch(schema, 4, seeded(1), 0)));
  const found = await openLanceDataset(target);
  expect([...(found.schema.fields[0]?.metadata ?? [])]).toEqual([['kept', 'yes']]);
  expect(await all(found)).toHaveLength(1);
});

async function refused(
  work: Promise<unknown>,
  code: 'InvalidInput' | 'Unsupported',
): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isDirspaceError(error, code)) return (error as Error).message;
    throw error;
  }
  throw new Error('It was written.');
}

describe('nothing is left of what is refused or fails', () => {
  test('a folder or file that is there', async () => {
    const place = temporaryFolder();
    mkdirSync(join(place, 'folder'));
    writeFileSync(join(place, 'file'), 'x');
    for (const name of ['folder', 'file']) {
      const text = await refused(
        writeLanceDataset(join(place, name), INTS, given(ints(3))),
        'InvalidInput',
      );
      expect(text).toMatch(/is there already/);
    }
    expect(readdirSync(place).sort()).toEqual(['file', 'folder']);
    expect(readdirSync(join(place, 'folder'))).toEqual([]);
  });

  test('a folder in no folder', async () => {
    const target = join(temporaryFolder(), 'none', 'x.lance');
    expect(await refused(writeLanceDataset(target, INTS, given(ints(3))), 'InvalidInput')).toMatch(
      /there is no folder/,
    );
  });

  test.each([
    [
      'maps',
      new Map_(
        new Field(
          'entries',
          new Struct([new Field('key', new Utf8(), false), new Field('value', new Int32(), true)]),
          false,
        ) as never,
      ),
    ],
  ])('columns of %s, which are named', async (_, type) => {
    const place = temporaryFolder();
    const schema = new Schema([new Field('ok', new Int32(), true), new Field('wrong', type, true)]);
    const batches = given(randomBatch(schema, 3, seeded(1), 0));
    const text = await refused(writeLanceDataset(join(place, 'x'), schema, batches), 'Unsupported');
    expect(text).toMatch(/does not write it for Lance: column "wrong"/);
    expect(readdirSync(place)).toEqual([]);
  });

  test('null structs, once they come', async () => {
    const place = temporaryFolder();
    const type = new Struct([new Field('x', new Int32(), true)]);
    const schema = new Schema([new Field('s', type, true)]);
    const structs = (nulls: number): RecordBatch => {
      const x = dataOf(new Int32(), 2, { values: Int32Array.of(1, 2) });
      const validity = Uint8Array.of(nulls === 0 ? 3 : 1);
      return batchOf(schema, [dataOf(type, 2, { nullCount: nulls, validity, children: [x] })], 2);
    };
    let pulled = 0;
    async function* batches(): AsyncGenerator<RecordBatch> {
      for (const nulls of [0, 1, 0, 0]) {
        pulled += 1;
        yield structs(nulls);
      }
    }
    const text = await refused(
      writeLanceDataset(join(place, 'x'), schema, batches()),
      'Unsupported',
    );
    expect(text).toMatch(/column "s" holds null structs/);
    expect(pulled).toBe(2);
    expect(readdirSync(place)).toEqual([]);
  });

  test('rows that cannot be read to their end', async () => {
    const place = temporaryFolder();
    async function* broken(): AsyncGenerator<RecordBatch> {
      yield ints(30);
      throw new Error('the disk is gone');
    }
    const work = writeLanceDataset(join(place, 'x'), INTS, broken(), { maxFileRows: 10 });
    await expect(work).rejects.toThrow('the disk is gone');
    expect(readdirSync(place)).toEqual([]);
  });

  test('an export that is aborted, between batches and after the last', async () => {
    for (const last of [0, 1]) {
      const place = temporaryFolder();
      const control = new AbortController();
      async function* batches(): AsyncGenerator<RecordBatch> {
        yield ints(30);
        if (last === 0) control.abort();
        yield ints(30);
        control.abort();
      }
      const { signal } = control;
      await expect(
        writeLanceDataset(join(place, 'x'), INTS, batches(), { signal }),
      ).rejects.toThrow(/aborted/);
      expect(readdirSync(place)).toEqual([]);
    }
  });
});

test('until all is written, nothing has the name', async () => {
  const place = temporaryFolder();
  const target = join(place, 'x.lance');
  const seen: boolean[] = [];
  async function* batches(): AsyncGenerator<RecordBatch> {
    for (let at = 0; at < 3; at++) {
      seen.push(existsSync(target));
      yield ints(30);
    }
    seen.push(existsSync(target));
    const [staging] = readdirSync(place) as [string];
    seen.push(existsSync(join(place, staging, '_versions')));
  }
  await writeLanceDataset(target, INTS, batches(), { maxFileRows: 10 });
  expect(seen).toEqual([false, false, false, false, false]);
  expect(readdirSync(place)).toEqual(['x.lance']);
});

test('a folder that somebody makes meanwhile stays as it is', async () => {
  const target = join(temporaryFolder(), 'x.lance');
  async function* batches(): AsyncGenerator<RecordBatch> {
    yield ints(3);
    mkdirSync(target);
  }
  await refused(writeLanceDataset(target, INTS, batches()), 'InvalidInput');
  expect(readdirSync(target)).toEqual([]);
});

test('of several that write to one folder, one does, whole', async () => {
  const place = temporaryFolder();
  const target = join(place, 'x.lance');
  const counts = [10, 20, 30, 40, 50];
  const results = await Promise.allSettled(
    counts.map((rows) => writeLanceDataset(target, INTS, given(ints(rows)))),
  );
  const won = results.flatMap((one, at) => (one.status === 'fulfilled' ? [counts[at]] : []));
  expect(won).toHaveLength(1);
  for (const one of results) {
    if (one.status === 'rejected')
      expect((one.reason as Error).message).toMatch(/is there already/);
  }
  expect((await openLanceDataset(target)).rows).toBe(won[0]);
  expect(readdirSync(place)).toEqual(['x.lance']);
});
