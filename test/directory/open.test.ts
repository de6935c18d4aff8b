/** Opening a catalog: what is set up and when, what is read of it, and what a crash left is finished. */
import nodeFs from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type OpenOptions, openCatalog } from '../../src/directory/open-catalog.ts';
import { systemEnv } from '../../src/env.ts';
import { encodeManifest } from '../../src/format/catalog/manifest.ts';
import { decodeFormat, encodeFormat } from '../../src/format/catalog/records.ts';
import { encodeChecksummed } from '../../src/json.ts';
import { commit, nextManifest } from '../../src/table/versions/commit.ts';
import { DEFAULT_LIMITS } from '../../src/table/versions/engine.ts';
import type { Snapshot } from '../../src/table/versions/snapshot.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import {
  declared,
  draftOf,
  land,
  outcomeOf,
  ROOT,
  TestClock,
  testEngine,
} from '../helpers/engines.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const FORMAT = `${ROOT}/.dirspace/format.json`;
const ID = '00000000-0000-4000-8000-00000000aaaa';
const MiB = 1024 * 1024;

let fs: TestFs;
beforeEach(() => {
  fs = memoryFs();
});

const open = (options: Partial<OpenOptions> = {}) =>
  openCatalog({ root: ROOT, fs, env: new TestClock(), ...options });
const tree = (): string[] => filesOf(fs, ROOT).all();
const formatOf = () => decodeFormat(fs.readFileSync(FORMAT) as Uint8Array, 'format');
const writeFormat = (properties: Record<string, string>, foldsCase = false): void => {
  fs.mkdirSync(`${ROOT}/.dirspace`, { recursive: true });
  fs.writeFileSync(FORMAT, encodeFormat({ foldsCase, properties }));
};

describe('a new root', () => {
  test('is set up by its first write, once', async () => {
    const { catalog, store, autoCompaction } = await open();
    expect(tree()).toEqual(['data/']);
    expect([catalog.root, catalog.readOnly, catalog.managedVersioning]).toEqual([
      ROOT,
      false,
      false,
    ]);
    expect([catalog.vendor, autoCompaction, catalog.store]).toEqual([undefined, undefined, store]);
    expect(catalog.engine.names.foldsCase).toBe(false);
    const probe = vi.spyOn(store, 'probe');
    await Promise.all([catalog.prepareRoot(), catalog.prepareRoot()]);
    const make = vi.spyOn(store, 'createFolder');
    await catalog.prepareRoot();
    expect(probe).toHaveBeenCalledTimes(1);
    expect(make).not.toHaveBeenCalled();
    expect(tree()).toEqual([
      '.dirspace/',
      '.dirspace/detached/',
      '.dirspace/format.json',
      '.dirspace/intents/',
      '.dirspace/staging/',
      '.dirspace/transactions/',
      '.dirspace/trash/',
      'data/',
    ]);
    expect(formatOf()).toEqual({ foldsCase: false, properties: { lance: 'read' } });
    expect(catalog.engine.names.foldsCase).toBe(false);
  });

  test('is on the disk where no file system is given', async () => {
    const root = `${temporaryFolder()}/new`;
    const { catalog } = await openCatalog({ root });
    await catalog.prepareRoot();
    expect(nodeFs.existsSync(`${root}/.dirspace/format.json`)).toBe(true);
    expect(catalog.root).toBe(root);
  });

  test('is not made by who only reads, nor by a call that was ended before', async () => {
    const { catalog } = await open({ readOnly: true });
    expect(catalog.readOnly).toBe(true);
    const reason = new Error('enough');
    expect(await outcomeOf(open({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(await outcomeOf(open({ autoCompact: { fragments: 0 } }))).toMatchObject({
      code: 'InvalidInput',
    });
    expect(fs.existsSync(ROOT)).toBe(false);
  });

  test('without hard links is refused, and tried again at the next write', async () => {
    const faulty = new FaultyFs(fs);
    const { catalog } = await open({ fs: faulty.fs });
    faulty.arm({ kind: 'EPERM', at: 1, only: ['linkSync'], persistent: true });
    expect(await outcomeOf(catalog.prepareRoot())).toMatchObject({
      code: 'Unsupported',
      message:
        'The disk under the root has no hard links, without which commits cannot be exclusive. Put the catalog on a local POSIX file system.',
    });
    expect(fs.existsSync(FORMAT)).toBe(false);
    faulty.arm();
    await catalog.prepareRoot();
    expect(formatOf().foldsCase).toBe(false);
  });

  test('that somebody else set up meanwhile is as they found it', async () => {
    const { catalog } = await open();
    writeFormat({ a: 'b' }, true);
    await catalog.prepareRoot();
    expect(catalog.engine.names.foldsCase).toBe(true);
    expect(formatOf()).toEqual({ foldsCase: true, properties: { a: 'b' } });
  });

  test('whose format cannot be read back is as it was found to be', async () => {
    const { catalog, store } = await open();
    vi.spyOn(store, 'get').mockReturnValue(undefined);
    vi.spyOn(store, 'probe').mockReturnValue({ hardLinks: true, foldsCase: true });
    await catalog.prepareRoot();
    expect(catalog.engine.names.foldsCase).toBe(true);
    expect(formatOf()).toEqual({ foldsCase: true, properties: { lance: 'read' } });
  });
});

describe('a root that is there', () => {
  test('tells whether names fold', async () => {
    for (const foldsCase of [true, false]) {
      writeFormat({}, foldsCase);
      expect((await open()).catalog.engine.names.foldsCase).toBe(foldsCase);
    }
  });

  test('of a newer format is not opened, and of a damaged one not used', async () => {
    writeFormat({});
    fs.writeFileSync(FORMAT, '{"format":2}');
    expect(await outcomeOf(open())).toMatchObject({ code: 'UnsupportedFormat' });
    fs.writeFileSync(FORMAT, '{"format":1}');
    for (const readOnly of [false, true]) {
      const { catalog } = await open({ readOnly });
      expect(catalog.format.refusal).toMatchObject({
        code: 'Corrupt',
        details: { file: '.dirspace/format.json' },
      });
      if (!readOnly) expect(await outcomeOf(catalog.prepareRoot())).toBe(catalog.format.refusal);
    }
  });

  test('is switched to managed versioning and back, and keeps its other properties', async () => {
    writeFormat({ a: 'b' }, true);
    const steps: [boolean | undefined, boolean, Record<string, string>][] = [
      [undefined, false, { a: 'b' }],
      [true, true, { a: 'b', managed_versioning: 'true' }],
      [undefined, true, { a: 'b', managed_versioning: 'true' }],
      [true, true, { a: 'b', managed_versioning: 'true' }],
      [false, false, { a: 'b' }],
      [false, false, { a: 'b' }],
    ];
    for (const [given, managed, properties] of steps) {
      const before = formatOf();
      const { catalog, store } = await open({ managedVersioning: given });
      expect(catalog.managedVersioning).toBe(managed);
      expect(formatOf()).toEqual(before);
      const put = vi.spyOn(store, 'put');
      const probe = vi.spyOn(store, 'probe');
      await catalog.prepareRoot();
      expect(probe).not.toHaveBeenCalled();
      expect(formatOf()).toEqual({ foldsCase: true, properties });
      const same = JSON.stringify(before.properties) === JSON.stringify(properties);
      expect(put).toHaveBeenCalledTimes(same ? 0 : 1);
    }
    fs.unlinkSync(FORMAT);
    const { catalog, store } = await open({ managedVersioning: true });
    const put = vi.spyOn(store, 'put');
    await catalog.prepareRoot();
    expect(put).not.toHaveBeenCalled();
    expect(formatOf()).toEqual({
      foldsCase: false,
      properties: { managed_versioning: 'true', lance: 'read' },
    });
  });
});

describe('what a crash left', () => {
  const intent = '.dirspace/intents/0.json';
  const journal = '.dirspace/transactions/0000abcd-0000.journal.json';
  beforeEach(() => {
    for (const folder of ['intents', 'transactions', `trash/${ID}`]) {
      fs.mkdirSync(`${ROOT}/.dirspace/${folder}`, { recursive: true });
    }
    const place = { kind: 'drop_empty_namespace', place: 'a', trash: `.dirspace/trash/${ID}` };
    fs.writeFileSync(`${ROOT}/${intent}`, encodeChecksummed(place).bytes);
    const empty = { batch: '0000abcd-0000', declares: [], deletions: [], deregisters: [] };
    fs.writeFileSync(`${ROOT}/${journal}`, encodeChecksummed({ format: 1, journal: empty }).bytes);
    const decision = encodeChecksummed({ format: 1, outcome: 'committed' }).bytes;
    fs.writeFileSync(`${ROOT}/.dirspace/transactions/0000abcd-0000.json`, decision);
  });
  const left = (): string[] => [intent, journal].filter((file) => fs.existsSync(`${ROOT}/${file}`));

  test('is finished by who opens to write', async () => {
    writeFormat({});
    await open();
    expect(left()).toEqual([]);
  });

  test('is left by who only reads', async () => {
    writeFormat({});
    await open({ readOnly: true });
    expect(left()).toEqual([intent, journal]);
  });

  test('is not believed where no catalog is', async () => {
    await open();
    expect(left()).toEqual([intent, journal]);
  });
});

describe('its engine', () => {
  test('has what it is given, or else what there is by default', async () => {
    const vendor = async () => ({});
    const given = await open({
      cacheBytes: 100,
      bufferBytes: 7,
      durability: 'relaxed',
      limits: { batchRows: 3 },
      credentialVendor: vendor,
    });
    const { engine } = given.catalog;
    expect([engine.cache.limit, engine.heads.limit, engine.buffers.limit]).toEqual([100, 100, 7]);
    expect(engine.limits).toEqual({ ...DEFAULT_LIMITS, batchRows: 3 });
    expect([given.store.durability, given.catalog.vendor]).toEqual(['relaxed', vendor]);
    const plain = await openCatalog({ root: ROOT, fs });
    const limits = [plain.catalog.engine.cache, plain.catalog.engine.heads].map((c) => c.limit);
    expect(limits).toEqual([64 * MiB, 64 * MiB]);
    expect(plain.catalog.engine.buffers.limit).toBe(128 * MiB);
    expect(plain.store.durability).toBe('full');
    expect([plain.catalog.env, plain.catalog.engine.env]).toEqual([systemEnv, systemEnv]);
  });

  test('counts whole milliseconds', async () => {
    const clock = new TestClock();
    clock.time = 7.9;
    expect((await open({ env: clock })).catalog.env.now()).toBe(7);
  });

  test('works under a lock, and tells of what it commits', async () => {
    const { catalog, autoCompaction } = await open({ autoCompact: { fragments: 5 } });
    await catalog.prepareRoot();
    const result = await catalog.engine.withLock('key', async () => {
      expect(fs.readdirSync(`${ROOT}/.dirspace/locks`)).toHaveLength(1);
      return 7;
    });
    expect(result).toBe(7);
    expect(fs.readdirSync(`${ROOT}/.dirspace/locks`)).toEqual([]);
    const notice = vi.spyOn(autoCompaction as NonNullable<typeof autoCompaction>, 'notice');
    notice.mockReturnValue(undefined);
    const snapshot = {} as Snapshot;
    catalog.engine.committed?.(snapshot);
    expect(notice).toHaveBeenCalledWith(catalog.engine, snapshot);
    expect((await open()).catalog.engine.committed?.(snapshot)).toBeUndefined();
  });

  test.each([false, true])('publishes each number once, managed: %s', async (managedVersioning) => {
    const { catalog } = await open({ managedVersioning });
    await catalog.prepareRoot();
    const { engine } = catalog;
    const branch = await declared({ ...testEngine({ fs }), engine });
    const { snapshot } = await commit(engine, branch, { build: async () => draftOf('create') });
    expect(snapshot.version).toBe(1);
    const at = { slot: 1, snapshot };
    const next = nextManifest(engine, branch, draftOf('append'), at, 'mine');
    const { bytes } = encodeManifest(next);
    let durable = false;
    const after = Promise.resolve().then(() => {
      durable = true;
    });
    expect(await engine.publish(branch, 2, bytes, 'mine', after)).toBe(true);
    expect(durable).toBe(true);
    const other = encodeManifest({ ...next, transaction: 'other' }).bytes;
    expect(await engine.publish(branch, 2, other, 'other', undefined)).toBe(false);
    expect((await land({ ...testEngine({ fs }), engine }, branch)).snapshot.version).toBe(3);
    fs.renameSync(`${ROOT}/data/t.table`, `${ROOT}/data/moved.table`);
    expect(await outcomeOf(engine.publish(branch, 4, bytes, 'mine', undefined))).toMatchObject({
      code: 'TableNotFound',
    });
  });

  test('passes on what is wrong with the disk', async () => {
    const faulty = new FaultyFs(fs);
    const { catalog } = await open({ fs: faulty.fs });
    await catalog.prepareRoot();
    const branch = await declared({ ...testEngine({ fs }), engine: catalog.engine });
    faulty.arm({ kind: 'ENOSPC', at: 1, only: ['linkSync'] });
    const full = catalog.engine.publish(branch, 1, new Uint8Array(9), 'mine', undefined);
    expect(await outcomeOf(full)).toMatchObject({ code: 'ResourceExhausted' });
  });
});

test('requestMemory is a limit of the catalog', async () => {
  const plain = await openCatalog({ root: ROOT, fs });
  const given = await openCatalog({ root: ROOT, fs, requestMemory: 5_000_000 });
  expect(given.catalog.engine.limits.requestMemory).toBe(5_000_000);
  expect(plain.catalog.engine.limits.requestMemory).toBeGreaterThan(5_000_000);
});
