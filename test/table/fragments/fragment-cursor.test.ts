/** The cursor over fragments: all that is wanted, at its position, and no more of the list read. */
import { beforeAll, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import {
  chunkFile,
  type FragmentEntry,
  liveRows,
  type Manifest,
} from '../../../src/format/index.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { FragmentCursor } from '../../../src/table/fragments/fragment-cursor.ts';
import type { Engine } from '../../../src/table/versions/engine.ts';
import { EMPTY_FRAGMENTS, editFragments } from '../../../src/table/versions/fragment-list.ts';
import { readChunk, Snapshot } from '../../../src/table/versions/snapshot.ts';
import { ByteCache } from '../../../src/table/work/cache.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

const FRAGMENTS = 2_600;

const entryOf = (id: number, rows: number, deleted: number): FragmentEntry => ({
  id,
  file: id.toString(16).padStart(8, '0'),
  rows,
  bytes: 1000,
  footerBytes: 10,
  footerChecksum: 1,
  fields: [0],
  statistics: [[0, 'text '.repeat(20), 'x']],
  deletion: deleted === 0 ? undefined : { file: 'dddddddd', rows: deleted, bytes: 7, checksum: 1 },
});

const fs = memoryFs();
const entries: FragmentEntry[] = [];
const starts: number[] = [];
let list = EMPTY_FRAGMENTS;
/** The files read, with the bytes of each. */
let reads: [string, number][] = [];

function engine(): Engine {
  const store = openFileStore({ root: '/c', fs, durability: 'relaxed' });
  const open = async (path: string) => {
    const object = await store.open(path);
    if (object === undefined) return undefined;
    return {
      size: object.size,
      read: (offset: number, length: number) => {
        reads.push([path, length]);
        return object.read(offset, length);
      },
      close: () => object.close(),
    };
  };
  const get = async (path: string) => {
    const bytes = await store.get(path);
    reads.push([path, bytes?.length ?? 0]);
    return bytes;
  };
  return {
    store: { ...boundMethods(store), open, get },
    env: systemEnv,
    newObject: systemEnv.uuid,
    cache: new ByteCache(1 << 26),
  } as unknown as Engine;
}

const boundMethods = (store: object): object =>
  new Proxy(
    {},
    {
      ownKeys: () => Object.getOwnPropertyNames(Object.getPrototypeOf(store)),
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
      get: (_, name) => (store as Record<string, () => unknown>)[name as string]?.bind(store),
    },
  );

const snapshotOf = (on: Engine, chunks = list.chunks): Snapshot =>
  new Snapshot(
    on,
    { tableFolder: 't', incarnation: 'i', branch: 'main', folder: 't/v' },
    { version: 1, chunks, fragments: list.tail } as unknown as Manifest,
    '',
    0,
  );

const withoutIndex = () => list.chunks.map(({ index: _, ...chunk }) => chunk);

async function walk(cursor: FragmentCursor): Promise<[FragmentEntry, number][]> {
  const found: [FragmentEntry, number][] = [];
  for (;;) {
    const entry = await cursor.next();
    if (entry === undefined) return found;
    found.push([entry, cursor.first]);
  }
}

beforeAll(async () => {
  const random = seeded(7);
  const on = engine();
  await on.store.createFolder('t');
  let position = 0;
  for (let id = 0; id < FRAGMENTS; id++) {
    const rows = 1 + Math.floor(random() * 20);
    const entry = entryOf(id, rows, random() < 0.2 ? Math.floor(random() * rows) : 0);
    entries.push(entry);
    starts.push(position);
    position += liveRows(entry);
    list = await editFragments(on, 't', list, { added: [entry] });
  }
  expect(list.chunks.some(({ fragments }) => fragments >= 512)).toBe(true);
  expect(list.tail.length).toBeGreaterThan(0);
});

describe.each([
  ['indexed chunks', () => list.chunks],
  ['chunks without an index', withoutIndex],
  [
    'one in two with an index',
    () => withoutIndex().map((chunk, at) => (at % 2 ? (list.chunks[at] ?? chunk) : chunk)),
  ],
])('%s', (_, chunks) => {
  test('all fragments in their order, with the rows before them', async () => {
    const on = engine();
    for (const round of ['read', 'cached']) {
      const found = await walk(new FragmentCursor(on, snapshotOf(on, chunks())));
      expect(found, round).toEqual(entries.map((entry, at) => [entry, starts[at]]));
    }
  });

  test('any choice of runs holds what is wanted, at the same positions', async () => {
    const random = seeded(11);
    const on = engine();
    for (let round = 0; round < 16; round++) {
      const count = 1 + Math.floor(random() * 6);
      const ids = Array.from({ length: count }, () => Math.floor(random() * FRAGMENTS));
      const byRow = round % 2 === 0;
      let passed = 0;
      const cursor = new FragmentCursor(
        on,
        snapshotOf(on, chunks()),
        ({ firstId, lastId, rows, deletedRows }, position) =>
          byRow
            ? ids.some((id) => {
                const start = starts[id] as number;
                return position <= start && start < position + rows - deletedRows;
              })
            : ids.some((id) => firstId <= id && id <= lastId),
        (run) => {
          passed += run.fragments;
        },
      );
      const found = await walk(cursor);
      const wanted = ids.filter((id) => !byRow || liveRows(entries[id] as FragmentEntry) > 0);
      for (const id of wanted) expect(found).toContainEqual([entries[id], starts[id]]);
      for (const [entry, first] of found) {
        expect(entry).toEqual(entries[entry.id]);
        expect(first).toBe(starts[entry.id]);
      }
      expect(found.length + passed).toBe(FRAGMENTS);
    }
  });
});

test('of a long chunk only the index and the block that is needed are read, once', async () => {
  const on = engine();
  const longest = list.chunks.reduce((one, other) => (one.size < other.size ? other : one));
  const id = longest.firstId + 300;
  const one = () =>
    walk(new FragmentCursor(on, snapshotOf(on), (run) => run.firstId <= id && id <= run.lastId));
  reads = [];
  expect((await one()).map(([entry]) => entry.id)).toContain(id);
  expect(reads).toHaveLength(2);
  expect(reads.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(longest.size / 4);
  expect(new Set(reads.map(([path]) => path))).toEqual(new Set([chunkFile('t', longest.file)]));
  await one();
  expect(reads).toHaveLength(2);
});

test('no byte of a list that is gone through is read twice, in few reads', async () => {
  const on = engine();
  reads = [];
  await walk(new FragmentCursor(on, snapshotOf(on)));
  const size = list.chunks.reduce((sum, chunk) => sum + chunk.size, 0);
  expect(reads.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(size);
  expect(reads.length).toBeLessThan(10 * list.chunks.length);
});

test('damage is noticed where it is read, and nowhere else', async () => {
  const on = engine();
  const longest = list.chunks.reduce((one, other) => (one.size < other.size ? other : one));
  const path = `/c/${chunkFile('t', longest.file)}`;
  const sound = fs.readFileSync(path) as Buffer;
  const wanted = (id: number) => (run: { firstId: number; lastId: number }) =>
    run.firstId <= id && id <= run.lastId;
  const damaged = Buffer.from(sound);
  const at = damaged.indexOf(`"id":${longest.firstId + 300},`);
  damaged[at + 8] = 0x20;
  fs.writeFileSync(path, damaged);
  try {
    const elsewhere = await walk(
      new FragmentCursor(on, snapshotOf(on), wanted(longest.firstId + 10)),
    );
    expect(elsewhere.map(([entry]) => entry.id)).toContain(longest.firstId + 10);
    const found = walk(new FragmentCursor(on, snapshotOf(on), wanted(longest.firstId + 300)));
    const error = await found.catch((failure: unknown) => failure);
    expect(isDirspaceError(error, 'Corrupt')).toBe(true);
    const whole = await readChunk(on, 't', longest).catch((failure: unknown) => failure);
    expect(isDirspaceError(whole, 'Corrupt')).toBe(true);
    fs.writeFileSync(path, sound.subarray(0, sound.length - 1));
    const short = walk(new FragmentCursor(engine(), snapshotOf(engine())));
    expect(isDirspaceError(await short.catch((failure: unknown) => failure), 'Corrupt')).toBe(true);
  } finally {
    fs.writeFileSync(path, sound);
  }
});
