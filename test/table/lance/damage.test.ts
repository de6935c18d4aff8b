/** Damage in the Lance part of fragments, and in what manifests say of it: verify finds all of it, rows stay readable. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDirspaceError } from '../../../src/errors.ts';
import {
  decodeVersion,
  encodeManifest,
  type Manifest,
} from '../../../src/format/catalog/manifest.ts';
import { decodeFragment } from '../../../src/format/fragment/index.ts';
import type { FragmentEntry } from '../../../src/format/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { exactValues, seeded } from '../../helpers/arrow-samples.ts';
import { filesOf, memoryFs, type TestFs } from '../../helpers/catalogs.ts';
import { casesOf } from '../../helpers/long.ts';

const FIXTURE = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'lance', 'data');

type Db = Awaited<ReturnType<typeof connect>>;
type Lance = NonNullable<FragmentEntry['lance']>;

async function made(): Promise<{ fs: TestFs; db: Db; fragment: string; manifest: string }> {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  await db.createTable('t', [
    { id: 1, name: 'Ada' },
    { id: 2, name: null },
  ]);
  const all = filesOf(fs, '/c').all();
  const fragment = `/c/${all.find((path) => path.endsWith('.arrow'))}`;
  const manifest = `/c/${all.find((path) => /versions-.*\/0+1\.json$/.test(path))}`;
  return { fs, db, fragment, manifest };
}

const manifestIn = (fs: TestFs, path: string): Manifest =>
  (decodeVersion(fs.readFileSync(path) as Buffer, path) as { manifest: Manifest }).manifest;

const problemsOf = async (fs: TestFs): Promise<readonly { path: string; what: string }[]> =>
  (await (await connect('/c', { fs })).namespace.verify?.({}))?.problems ?? [];

test('verify finds every damaged byte of a part, and rows are read as before', async () => {
  const { fs, fragment, manifest } = await made();
  const [entry] = manifestIn(fs, manifest).fragments as [FragmentEntry];
  const whole = fs.readFileSync(fragment) as Buffer;
  const { part } = decodeFragment(whole, entry, 'f').footer;
  const { offset, bytes } = part as { offset: number; bytes: number };
  expect(offset + bytes).toBe(entry.bytes - entry.footerBytes);
  for (let at = offset; at < offset + bytes; at += 17) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] as number) ^ 0x40;
    fs.writeFileSync(fragment, damaged);
    expect(await problemsOf(fs), `byte ${at}`).toMatchObject([{ kind: 'fragment' }]);
    const again = await (await connect('/c', { fs })).openTable('t');
    expect(await again.countRows('id > 1')).toBe(1);
  }
});

test.each<[string, (entry: FragmentEntry) => Lance, RegExp]>([
  ['an end of the part that is another', (entry) => ({ ...size(entry, -8) }), /Lance part/],
  ['an end behind the part', (entry) => ({ ...size(entry, 8) }), /Lance/],
  ['one field less', (entry) => ({ ...size(entry, 0), fields: [0] }), /columns/],
])('verify finds a manifest that says %s', async (_, change, message) => {
  const { fs, manifest: path } = await made();
  const manifest = manifestIn(fs, path);
  const [entry] = manifest.fragments as [FragmentEntry];
  const fragments = [{ ...entry, lance: change(entry) }];
  fs.writeFileSync(path, encodeManifest({ ...manifest, fragments }).bytes);
  const problems = await problemsOf(fs);
  expect(problems.map(({ what }) => what).join()).toMatch(message);
});

function size(entry: FragmentEntry, by: number): Extract<Lance, { fileSize: number }> {
  const lance = entry.lance as Extract<Lance, { fileSize: number }>;
  return { ...lance, fileSize: lance.fileSize + by };
}

test('a total of fragments for Lance that is wrong opens nothing, and is told', async () => {
  const { fs, manifest: path } = await made();
  const manifest = manifestIn(fs, path);
  const fragments = manifest.fragments.map(({ lance: _, ...entry }) => entry);
  fs.writeFileSync(path, encodeManifest({ ...manifest, fragments }).bytes);
  const db = await connect('/c', { fs });
  const version = db.namespace.describeTableVersion({ id: ['t'] }, { forLance: true });
  await version.catch((error) => expect(isDirspaceError(error)).toBe(true));
  expect((await problemsOf(fs)).map(({ what }) => what).join()).toContain('lanceFragments is 1');
  const totals = { ...manifest.totals, lanceFragments: 2 };
  fs.writeFileSync(path, encodeManifest({ ...manifest, totals }).bytes);
  expect(await problemsOf(fs)).not.toEqual([]);
});

test('damaged fragments of the fixture are read as they were, or refused', () => {
  const random = seeded(5);
  const below = (most: number): number => Math.floor(random() * most);
  const files: [Buffer, FragmentEntry, string][] = [];
  for (const table of ['types.table', 'changed.table']) {
    const folder = join(FIXTURE, table);
    const versions = readdirSync(folder).find((name) => name.startsWith('versions-')) as string;
    for (const name of readdirSync(join(folder, versions)).filter((each) => /^\d/.test(each))) {
      const found = decodeVersion(readFileSync(join(folder, versions, name)), name);
      for (const entry of (found as { manifest: Manifest }).manifest.fragments) {
        const bytes = readFileSync(join(folder, 'data', `${entry.file}.arrow`));
        const { batches } = decodeFragment(bytes, entry, entry.file);
        files.push([bytes, entry, JSON.stringify(exactValues(batches), plain)]);
      }
    }
  }
  for (let at = 0; at < casesOf(400, 50_000); at++) {
    const [bytes, entry, values] = files[below(files.length)] as (typeof files)[number];
    const damaged = Buffer.from(bytes);
    for (let each = 0; each <= below(3); each++) damaged[below(damaged.length)] = below(256);
    const cut = random() < 0.1 ? damaged.subarray(0, below(damaged.length)) : damaged;
    try {
      const { batches } = decodeFragment(cut, entry, entry.file);
      expect(JSON.stringify(exactValues(batches), plain)).toBe(values);
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
      expect(error.message).toContain(entry.file);
    }
  }
});

const plain = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
