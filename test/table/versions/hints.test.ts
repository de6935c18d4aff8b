/** Hints that are no small files of the engine: as good as none, for readers and for writers. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { DirspaceError } from '../../../src/errors.ts';
import { connect } from '../../../src/index.ts';
import { encodeChecksummed } from '../../../src/json.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { declared, land, testEngine } from '../../helpers/engines.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const hintOf = (document: Record<string, unknown>): Uint8Array =>
  encodeChecksummed({ version: '8'.padStart(20, '0'), ...document }).bytes;

async function eightVersions() {
  const root = temporaryFolder();
  const db = await connect(root, { durability: 'relaxed' });
  const table = await db.createTable('t', [{ a: 1 }]);
  for (let a = 2; a <= 8; a++) await table.add([{ a }]);
  await db.close();
  const folder = `${root}/data/t.table`;
  const [versions = ''] = fs.readdirSync(folder).filter((name) => name.startsWith('versions-'));
  return { root, hint: `${folder}/${versions}/latest.json`, versions: `${folder}/${versions}` };
}

const elsewhere = `${temporaryFolder()}/elsewhere`;

const KINDS: readonly (readonly [string, (hint: string) => void])[] = [
  ['a folder', (hint) => fs.mkdirSync(hint)],
  ['a folder with something in it', (hint) => fs.mkdirSync(`${hint}/more`, { recursive: true })],
  ['a link to a file', (hint) => fs.symlinkSync(elsewhere, hint)],
  ['a link to nothing', (hint) => fs.symlinkSync('/nowhere/at/all', hint)],
  ['a second name of another file', (hint) => fs.linkSync(elsewhere, hint)],
  ['a named pipe', (hint) => void execFileSync('mkfifo', [hint])],
  [
    'a file of 4 GiB',
    (hint) => {
      fs.writeFileSync(hint, hintOf({}));
      fs.truncateSync(hint, 2 ** 32);
    },
  ],
  ['a file of a wrong checksum', (hint) => fs.writeFileSync(hint, hintOf({}).fill(48, 12, 14))],
  ['a hint of a newer release', (hint) => fs.writeFileSync(hint, hintOf({ format: 2 }))],
  [
    'a hint of unknown features',
    (h) => fs.writeFileSync(h, hintOf({ format: 1, features: ['x'] })),
  ],
  ['an empty file', (hint) => fs.writeFileSync(hint, '')],
];

test.each(KINDS)(
  'a hint that is %s costs neither readers nor writers anything',
  async (_, make) => {
    const { root, hint, versions } = await eightVersions();
    fs.writeFileSync(elsewhere, 'of somebody else');
    fs.rmSync(hint);
    make(hint);
    for (const readOnly of [true, false]) {
      const db = await connect(root, { readOnly });
      const table = await db.openTable('t');
      expect(await table.version()).toBe(8);
      expect(await table.countRows()).toBe(8);
      await db.close();
    }
    const db = await connect(root, { durability: 'relaxed' });
    const table = await db.openTable('t');
    for (let a = 9; a <= 17; a++) await table.add([{ a }]);
    expect(await table.version()).toBe(17);
    await db.close();
    expect(fs.readFileSync(elsewhere, 'utf8')).toBe('of somebody else');
    const again = await connect(root, { readOnly: true });
    expect(await (await again.openTable('t')).countRows()).toBe(17);
    await again.close();
    expect(fs.readdirSync(versions).filter((name) => /^\d{20}/.test(name))).toHaveLength(17);
  },
);

test('what stands in the way of a hint and can be unlinked makes room for the next one', async () => {
  for (const [name, make] of KINDS) {
    if (name.includes('folder') || name.includes('pipe')) continue;
    const { root, hint } = await eightVersions();
    fs.writeFileSync(elsewhere, 'of somebody else');
    fs.rmSync(hint);
    make(hint);
    openFileStore({ root }).putHint(
      `data/t.table/${hint.split('/').slice(-2).join('/')}`,
      hintOf({}),
    );
    const found = fs.lstatSync(hint);
    expect([name, found.isFile(), found.size]).toEqual([name, true, hintOf({}).length]);
  }
});

test('a hint that cannot be written at all does not fail the commit that was made', async () => {
  const one = testEngine();
  const branch = await declared(one);
  one.calls.putHint = () => {
    throw new DirspaceError('InvalidInput', 'a link in the chain');
  };
  for (let version = 1; version <= 8; version++) {
    const { snapshot } = await land(one, branch, version === 1 ? 'create' : 'append');
    expect(snapshot.version).toBe(version);
  }
});

test('a folder that is a link is refused with its own name, not with that of a hint', async () => {
  const { root, versions } = await eightVersions();
  fs.renameSync(versions, `${versions}.away`);
  fs.symlinkSync(`${versions}.away`, versions);
  const store = openFileStore({ root });
  const hint = `data/t.table/${versions.split('/').at(-1)}/latest.json`;
  const before = fs.readFileSync(`${versions}/latest.json`);
  expect(store.getHint(hint)).toBeUndefined();
  expect(() => store.putHint(hint, hintOf({ format: 1 }))).toThrow(/symbolic link/);
  expect(fs.readFileSync(`${versions}/latest.json`)).toEqual(before);
  const db = await connect(root);
  await expect(db.openTable('t').then((table) => table.countRows())).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await db.close();
});
