/** Fragment entries roll into shared chunks: manifests stay small, order and totals stay right. */
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import { checkChunk } from '../../../src/format/catalog/chunk.ts';
import {
  type ChunkBlock,
  decodeChunkBlock,
  decodeChunkIndex,
} from '../../../src/format/catalog/chunk-index.ts';
import type { FragmentEntry } from '../../../src/format/catalog/fragment-entry.ts';
import { chunkFile, NameCodec } from '../../../src/paths.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { DEFAULT_LIMITS, type Engine } from '../../../src/table/versions/engine.ts';
import {
  EMPTY_FRAGMENTS,
  editFragments,
  type FragmentList,
} from '../../../src/table/versions/fragment-list.ts';
import { HeadCache } from '../../../src/table/versions/head-cache.ts';
import { blockKey, readChunk } from '../../../src/table/versions/snapshot.ts';
import { ByteCache } from '../../../src/table/work/cache.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { decodeChunk } from '../../helpers/chunks.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

async function engineFor(): Promise<Engine> {
  const store = openFileStore({ root: '/c', fs: memoryFs(), durability: 'relaxed' });
  await store.createFolder('t');
  return {
    store,
    env: systemEnv,
    newObject: systemEnv.uuid,
    names: new NameCodec(false),
    cache: new ByteCache(1 << 24),
    heads: new HeadCache(store, 1 << 20),
    limits: DEFAULT_LIMITS,
  } as unknown as Engine;
}

const entryOf = (id: number, deleted = 0): FragmentEntry => ({
  id,
  file: id.toString(16).padStart(8, '0'),
  rows: 100,
  bytes: 1000,
  footerBytes: 10,
  footerChecksum: 1,
  fields: [0],
  statistics: [],
  deletion: deleted === 0 ? undefined : { file: 'dddddddd', rows: deleted, bytes: 7, checksum: 1 },
});

async function allOf(engine: Engine, list: FragmentList): Promise<FragmentEntry[]> {
  const all: FragmentEntry[] = [];
  for (const chunk of list.chunks) all.push(...(await readChunk(engine, 't', chunk)));
  return [...all, ...list.tail];
}

test('10,000 appends keep the manifest small and the order', async () => {
  const engine = await engineFor();
  let list = EMPTY_FRAGMENTS;
  let longest = 0;
  for (let id = 0; id < 10_000; id++) {
    list = await editFragments(engine, 't', list, { added: [entryOf(id)] });
    longest = Math.max(longest, list.tail.length + list.chunks.length);
  }
  expect(longest).toBeLessThan(100);
  expect(list.totals).toEqual({
    rows: 1_000_000,
    deletedRows: 0,
    bytes: 10_000_000,
    fragments: 10_000,
  });
  const ids = (await allOf(engine, list)).map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: 10_000 }, (_, id) => id));
});

test('chunks whose entries are long are not merged into one that is too long to be read', async () => {
  const engine = await engineFor();
  const text = 'x'.repeat(20_000);
  let list = EMPTY_FRAGMENTS;
  for (let id = 0; id < 16 * 32; id++) {
    const statistics = [[0, 0, text, `${text}y`]];
    list = await editFragments(engine, 't', list, { added: [{ ...entryOf(id), statistics }] });
  }
  expect(list.chunks.map(({ fragments }) => fragments)).toEqual(
    Array.from({ length: 16 }, () => 32),
  );
  expect(Math.max(...list.chunks.map(({ size }) => size))).toBeLessThan(1 << 24);
  expect((await allOf(engine, list)).map(({ id }) => id)).toHaveLength(16 * 32);
});

test('entries are replaced and removed inside chunks', async () => {
  const engine = await engineFor();
  const random = seeded(20_240_601);
  let list = EMPTY_FRAGMENTS;
  let model: FragmentEntry[] = [];
  let next = 0;
  let longest = 0;
  const ROUNDS = casesOf(900, 3_000);
  for (let round = 0; round < ROUNDS; round++) {
    const added = Array.from({ length: 1 + Math.floor(random() * 2) }, () => entryOf(next++));
    const replaced = new Map<number, FragmentEntry>();
    const removed = new Set<number>();
    if (random() < 0.2) {
      for (const entry of model) {
        const draw = random();
        if (draw < 0.01) removed.add(entry.id);
        else if (draw < 0.02) replaced.set(entry.id, entryOf(entry.id, 1 + (round % 50)));
      }
    }
    list = await editFragments(engine, 't', list, { added, replaced, removed });
    model = [
      ...model.filter(({ id }) => !removed.has(id)).map((entry) => replaced.get(entry.id) ?? entry),
      ...added,
    ];
    longest = Math.max(longest, list.tail.length + list.chunks.length);
    if (round % 500 === 0 || round === ROUNDS - 1) {
      expect(await allOf(engine, list)).toEqual(model);
    }
    const sum = (of: (entry: FragmentEntry) => number): number =>
      model.reduce((total, entry) => total + of(entry), 0);
    if (round % 50 === 0) {
      expect(list.totals).toEqual({
        rows: sum(({ rows }) => rows),
        deletedRows: sum(({ deletion }) => deletion?.rows ?? 0),
        bytes: sum(({ bytes, deletion }) => bytes + (deletion?.bytes ?? 0)),
        fragments: model.length,
      });
    }
  }
  expect(longest).toBeLessThan(150);
});

test('fragments that need a feature are counted, and none is left once they are gone', async () => {
  const engine = await engineFor();
  const shared = (id: number): FragmentEntry => ({
    ...entryOf(id),
    deletion: { file: 'dddddddd', rows: 1, bytes: 4, checksum: 1, offset: 8 * id },
  });
  let list = await editFragments(engine, 't', EMPTY_FRAGMENTS, {
    added: [entryOf(0), shared(1), shared(2), entryOf(3)],
  });
  expect(list.totals.features).toEqual({ shared_deletions: 2 });
  list = await editFragments(engine, 't', list, {
    replaced: new Map([[1, entryOf(1, 5)]]),
    spliced: new Map([[3, [shared(4), shared(5)]]]),
  });
  expect(list.totals.features).toEqual({ shared_deletions: 3 });
  list = await editFragments(engine, 't', list, { removed: new Set([2, 4, 5]) });
  expect(list.totals).not.toHaveProperty('features');
});

describe('a long chunk of which little changes', () => {
  const COUNT = 3_000;
  /** What of the entries is in memory. */
  type Kept = 'chunk' | 'blocks' | 'nothing';
  const all: Kept[] = ['chunk', 'blocks', 'nothing'];
  /** An engine on the same store. */
  async function keeping(kept: Kept, engine: Engine, list: FragmentList): Promise<Engine> {
    if (kept === 'chunk') return engine;
    const cache = new ByteCache(1 << 24);
    const [chunk] = list.chunks;
    if (kept === 'blocks' && chunk !== undefined) {
      const { blocks, bytes, file } = await stored(engine, list);
      for (const block of blocks) {
        const text = bytes.subarray(block.offset, block.offset + block.bytes);
        cache.set(blockKey(chunk, block), decodeChunkBlock(text, block, file), text.length);
      }
    }
    return { ...engine, cache };
  }
  const made = async (engine: Engine): Promise<FragmentList> =>
    editFragments(engine, 't', EMPTY_FRAGMENTS, {
      added: Array.from({ length: COUNT }, (_, id) => entryOf(id)),
    });
  /** What is on the disk, whatever is kept in memory. */
  const stored = async (engine: Engine, { chunks }: FragmentList) => {
    const [chunk] = chunks;
    if (chunk?.index === undefined) throw new Error('no indexed chunk');
    const file = chunkFile('t', chunk.file);
    const bytes = (await engine.store.get(file)) as Uint8Array;
    const entries = decodeChunk(bytes, chunk, file);
    checkChunk(bytes, chunk, entries, file);
    const { offset, bytes: length } = chunk.index;
    return {
      bytes,
      file,
      entries,
      blocks: decodeChunkIndex(bytes.subarray(offset, offset + length), chunk, file),
    };
  };
  const edits = {
    replaced: new Map([
      [0, entryOf(0, 3)],
      [1_500, entryOf(1_500, 4)],
    ]),
    removed: new Set([700, COUNT - 1]),
    spliced: new Map([[900, [entryOf(5_000), entryOf(5_001)]]]),
  };

  test.each(all)('is copied by its blocks (in memory: %s)', async (kept) => {
    const engine = await engineFor();
    const list = await made(engine);
    const before = await stored(engine, list);
    const other = await keeping(kept, engine, list);
    const now = await editFragments(other, 't', list, edits);
    const after = await stored(engine, now);
    expect(after.entries).toEqual(
      Array.from({ length: COUNT }, (_, id) => entryOf(id)).flatMap((entry) =>
        edits.removed.has(entry.id)
          ? []
          : (edits.spliced.get(entry.id) ?? [edits.replaced.get(entry.id) ?? entry]),
      ),
    );
    const known = new Set(before.blocks.map(({ checksum }) => checksum));
    const copied = after.blocks.filter(({ checksum }) => known.has(checksum));
    expect(before.blocks.length).toBeGreaterThan(20);
    expect(copied.length).toBeGreaterThanOrEqual(before.blocks.length - 6);
    expect(now.totals).toMatchObject({ fragments: COUNT - 1, deletedRows: 7 });
  });

  test('does not fall into ever shorter blocks', async () => {
    const engine = await engineFor();
    let list = await made(engine);
    for (let id = 0; id < casesOf(100, 200); id++) {
      list = await editFragments(engine, 't', list, {
        replaced: new Map([[id, entryOf(id, 1 + (id % 50))]]),
      });
    }
    const { blocks, bytes } = await stored(engine, list);
    expect(blocks.length).toBeLessThan(4 + bytes.length / (1 << 13));
  });

  test.each(all)('is refused where it is damaged (in memory: %s)', async (kept) => {
    const engine = await engineFor();
    const list = await made(engine);
    const { bytes, file, blocks } = await stored(engine, list);
    const other = await keeping(kept, engine, list);
    const untouched = blocks.at(-3) as ChunkBlock;
    bytes[untouched.offset + 9] = (bytes[untouched.offset + 9] as number) ^ 1;
    await engine.store.put(file, bytes);
    await expect(
      editFragments(other, 't', list, { replaced: edits.replaced }),
    ).rejects.toMatchObject({ code: 'Corrupt' });
  });
});
