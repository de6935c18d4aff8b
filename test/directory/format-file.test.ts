/** The format file of a root: its checksum, what an older release wrote, damage, and its loss. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { decodeFormat, encodeFormat } from '../../src/format/catalog/records.ts';
import { hasChecksum } from '../../src/json.ts';
import { outcomeOf } from '../helpers/engines.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const FORMAT = '/c/.dirspace/format.json';
const FILE = '.dirspace/format.json';

/** As releases without checksums wrote it. */
const oldFormat = (foldsCase: boolean, properties: object): Uint8Array =>
  new TextEncoder().encode(
    `${JSON.stringify({ format: 1, features: [], folds_case: foldsCase, properties }, undefined, 2)}\n`,
  );

let fs: TestFs;
beforeEach(() => {
  fs = memoryFs();
});
const open = (options: object = {}) => openDirectoryNamespace({ root: '/c', fs, ...options });
const bytesNow = (): Uint8Array => new Uint8Array(fs.readFileSync(FORMAT) as Uint8Array);

async function filled(options: object = {}, properties?: object): Promise<void> {
  const catalog = await open(options);
  await catalog.createNamespace({ id: ['n'] });
  await catalog.createTable({ id: ['n', 't'] }, people(2));
  await catalog.close();
  if (properties !== undefined) fs.writeFileSync(FORMAT, oldFormat(false, properties));
}

describe('its bytes', () => {
  const sound: [string, Uint8Array][] = [true, false].flatMap((foldsCase) =>
    [{}, { managed_versioning: 'true' }].flatMap((properties): [string, Uint8Array][] => {
      const what = `${foldsCase} ${JSON.stringify(properties)}`;
      return [
        [`new ${what}`, new Uint8Array(encodeFormat({ foldsCase, properties }))],
        [`old ${what}`, oldFormat(foldsCase, properties)],
      ];
    }),
  );

  test.each(sound)('%s: no flipped bit, lost or added byte goes unnoticed', (_, bytes) => {
    const value = decodeFormat(bytes, FILE);
    const damaged: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const copy = bytes.slice();
        copy[at] = (copy[at] as number) ^ (1 << bit);
        damaged.push(copy);
      }
      // All but the newline at the end of a file without a checksum means something.
      if (at < bytes.length - 1) damaged.push(bytes.slice(0, at));
    }
    for (const copy of damaged) {
      let found: unknown;
      try {
        found = decodeFormat(copy, FILE);
      } catch (error) {
        expect(['Corrupt', 'UnsupportedFormat']).toContain((error as { code: string }).code);
        expect((error as Error).message).toContain(FILE);
        continue;
      }
      expect.fail(
        `${Buffer.from(copy)} reads as ${JSON.stringify(found)}, not ${JSON.stringify(value)}`,
      );
    }
  });

  test('begin with their checksum, and an older release finds its members in them', () => {
    const bytes = encodeFormat({ foldsCase: true, properties: { managed_versioning: 'true' } });
    expect(Buffer.from(bytes).toString()).toMatch(/^\{"checksum":"crc32:[0-9a-f]{8}",/);
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      format: 1,
      features: [],
      folds_case: true,
      properties: { managed_versioning: 'true' },
    });
  });

  test('of a newer release are named as such', () => {
    const newer = Buffer.from('{"format":1,"features":["x"],"folds_case":true,"properties":{}}');
    expect(() => decodeFormat(newer, FILE)).toThrow(/newer release/);
  });
});

describe('of an older release', () => {
  test.each([
    ['v1/types', false],
    ['v1/history', false],
  ])('%s is readable, and gets its checksum with the first change', async (name) => {
    const root = join(temporaryFolder(), 'c');
    cpSync(join(import.meta.dirname, '..', '..', 'fixtures', name), root, { recursive: true });
    const file = join(root, FILE);
    const before = readFileSync(file);
    expect(hasChecksum(before)).toBe(false);
    const catalog = await openDirectoryNamespace({ root });
    await catalog.listAllTables({});
    expect(readFileSync(file)).toEqual(before);
    await catalog.createNamespace({ id: ['added'] });
    expect(hasChecksum(readFileSync(file))).toBe(true);
    expect(decodeFormat(readFileSync(file), FILE)).toEqual(decodeFormat(before, FILE));
    expect((await (await openDirectoryNamespace({ root })).verify({})).problems).toEqual([]);
  });

  test('keeps what another process switched on meanwhile', async () => {
    await filled({}, {});
    const one = await open();
    const two = await open({ managedVersioning: true });
    await two.createNamespace({ id: ['two'] });
    await one.createNamespace({ id: ['one'] });
    expect(decodeFormat(bytesNow(), FILE).properties).toEqual({ managed_versioning: 'true' });
    expect((await (await open()).describeTable({ id: ['n', 't'] })).managed_versioning).toBe(true);
  });
});

describe('switched by another process', () => {
  let now = 0;
  const late = (options: object = {}) =>
    open({ env: { ...systemEnv, now: () => systemEnv.now() + now }, ...options });
  const told = async (catalog: DirectoryNamespace, name: string) => {
    await catalog.createTable({ id: [name] }, people(1));
    const { managed_versioning } = await catalog.describeTable({ id: [name] });
    const { location = '' } = await catalog.describeTable({ id: [name] }, { forLance: true });
    return [managed_versioning, location.includes('/.dirspace/opened/')];
  };

  beforeEach(() => {
    now = 0;
  });

  test('a process that writes goes by it within a second', async () => {
    const writer = await late();
    const named = await late({ lance: 'read' });
    for (const each of [writer, named]) await told(each, each === writer ? 'a' : 'b');
    const other = await open({ managedVersioning: true, lance: 'write' });
    expect(await told(other, 'c')).toEqual([true, true]);
    expect(await told(writer, 'd')).toEqual([false, false]);
    now = 1000;
    expect(await told(writer, 'e')).toEqual([true, true]);
    // What it was opened with stays.
    expect(await told(named, 'f')).toEqual([true, false]);
    const { properties } = decodeFormat(bytesNow(), FILE);
    expect(properties).toEqual({ managed_versioning: 'true', lance: 'write' });
    // Also where its clock was set back.
    expect(await told(await open({ lance: 'read' }), 'g')).toEqual([true, false]);
    now = -60_000;
    expect(await told(writer, 'h')).toEqual([true, false]);
  });

  test('one that writes goes on where the file is damaged or lost meanwhile', async () => {
    await filled({ lance: 'write' });
    const writer = await late();
    expect(await told(writer, 'a')).toEqual([false, true]);
    fs.writeFileSync(FORMAT, 'damaged');
    now = 1000;
    expect(await told(writer, 'b')).toEqual([false, true]);
    fs.unlinkSync(FORMAT);
    now = 2000;
    expect(await told(writer, 'c')).toEqual([false, true]);
  });
});

describe('damaged', () => {
  test('it is refused by name wherever a bit flips, and never read as unmanaged', async () => {
    await filled({ managedVersioning: true });
    const sound = bytesNow();
    for (let at = 0; at < sound.length; at++) {
      const bytes = sound.slice();
      bytes[at] = (bytes[at] as number) ^ 1;
      fs.writeFileSync(FORMAT, bytes);
      for (const readOnly of [true, false]) {
        const catalog = await open({ readOnly });
        const refused = await outcomeOf(catalog.describeTable({ id: ['n', 't'] }));
        expect(refused).toMatchObject({ code: 'Corrupt', details: { file: FILE } });
        expect((refused as Error).message).toMatch(/repair/);
        expect(bytesNow()).toEqual(bytes);
      }
    }
  });

  test('verify says so, and repair writes what is legible of it', async () => {
    await filled({ managedVersioning: true });
    const bytes = bytesNow();
    bytes[20] = (bytes[20] as number) ^ 4;
    fs.writeFileSync(FORMAT, bytes);
    const catalog = await open();
    expect((await catalog.verify({})).problems).toMatchObject([{ path: FILE, kind: 'format' }]);
    const planned = await catalog.repair({});
    expect(planned).toMatchObject({ applied: false, actions: [{ path: FILE }], left: [] });
    expect(planned.actions[0]?.why).toContain('managed_versioning true');
    expect(bytesNow()).toEqual(bytes);
    const done = await catalog.repair({ apply: true });
    expect(done.left).toEqual([]);
    const kept = fs.readFileSync(`/c/${done.actions[0]?.quarantined}`) as Uint8Array;
    expect(new Uint8Array(kept)).toEqual(bytes);
    // The same connection goes on.
    expect((await catalog.describeTable({ id: ['n', 't'] })).managed_versioning).toBe(true);
    await catalog.insertIntoTable({ id: ['n', 't'] }, people(1, 5));
    expect((await (await open()).verify({})).problems).toEqual([]);
  });

  test.each([
    ['a folder', () => fs.mkdirSync(FORMAT)],
    ['a link', () => fs.symlinkSync('/c/n', FORMAT)],
    ['empty', () => fs.writeFileSync(FORMAT, '')],
    ['huge', () => fs.writeFileSync(FORMAT, new Uint8Array(2 * 1024 * 1024))],
    ['missing', () => {}],
  ])('%s: only repair that is told whether versions are managed mends it', async (_, put) => {
    await filled();
    fs.unlinkSync(FORMAT);
    put();
    const catalog = await open();
    const refused = outcomeOf(catalog.createNamespace({ id: ['m'] }));
    expect(await refused).toMatchObject({ code: 'Corrupt', details: { file: FILE } });
    const untold = await catalog.repair({ apply: true });
    expect(untold.left).toMatchObject([{ path: FILE, kind: 'format' }]);
    expect(untold.left[0]?.what).toContain('--managed-versioning');
    expect(await outcomeOf(catalog.listAllTables({}))).toMatchObject({ code: 'Corrupt' });
    const told = await catalog.repair({ apply: true, managed_versioning: false });
    expect(told.left).toEqual([]);
    await catalog.createNamespace({ id: ['m'] });
    expect((await (await open()).verify({})).problems).toEqual([]);
  });
});

describe('missing', () => {
  test('a copy of the visible files alone can be read, and is not written to', async () => {
    await filled();
    fs.rmSync('/c/.dirspace', { recursive: true });
    const reader = await open({ readOnly: true });
    expect((await reader.countTableRows({ id: ['n', 't'] })).count).toBe(2);
    expect((await reader.verify({})).problems).toMatchObject([{ path: FILE, kind: 'format' }]);
    const writer = await open();
    for (const call of [
      () => writer.insertIntoTable({ id: ['n', 't'] }, people(1)),
      () => writer.describeTable({ id: ['n', 't'] }),
    ]) {
      expect(await outcomeOf(call())).toMatchObject({ code: 'Corrupt' });
    }
    expect(fs.existsSync(FORMAT)).toBe(false);
  });

  test.each([
    ['n', 'Capital.table', false],
    ['n', '%43apital.table', true],
    ['%4eew', 't.table', true],
  ])('whether names fold is told by the names: %s/%s', async (namespace, table, folds) => {
    await filled();
    fs.renameSync('/c/n/t.table', `/c/n/${table}`);
    if (namespace !== 'n') fs.renameSync('/c/n', `/c/${namespace}`);
    fs.unlinkSync(FORMAT);
    const reader = await open({ readOnly: true });
    const tables = (await reader.listAllTables({})).tables;
    expect(tables).toHaveLength(1);
    const catalog = await open();
    await catalog.repair({ apply: true, managed_versioning: false });
    expect(decodeFormat(bytesNow(), FILE).foldsCase).toBe(folds);
    expect((await (await open()).listAllTables({})).tables).toEqual(tables);
  });

  test('lost while it is open, content that came without it stops the first write', async () => {
    const catalog = await open();
    fs.mkdirSync('/c/n', { recursive: true });
    fs.writeFileSync('/c/n/.namespace.json', 'x');
    expect(await outcomeOf(catalog.createNamespace({ id: ['m'] }))).toMatchObject({
      code: 'Corrupt',
    });
    expect(fs.existsSync(FORMAT)).toBe(false);
  });
});
