/** What is in a folder, in an order that is the same everywhere. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, kindOfPath, wholeFile } from '../../../src/interchange/index.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

test('a folder comes before what is in it, all by name', async () => {
  const folder = temporaryFolder();
  for (const name of ['z', 'b', 'y', 'a', 'x', 'c', 'w', 'd']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, `${name}.csv`), 'abc');
  }
  writeFileSync(join(folder, 'B.csv'), '');
  symlinkSync(join(folder, 'a', 'a.csv'), join(folder, 'e'));
  symlinkSync(join(folder, 'a'), join(folder, 'f'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'g'));
  const found = await filesBelow(folder, {
    most: 18,
    leavesOut: (path) => path[0] === 'x',
    keepsWhole: (file) => file.endsWith('z'),
  });
  expect(found.map(({ path, kind, size }) => `${path.join('/')} ${kind} ${size}`)).toEqual([
    'B.csv file 0',
    ...['a', 'b', 'c', 'd'].flatMap((name) => [`${name} folder 0`, `${name}/${name}.csv file 3`]),
    'e file 3',
    'f other 0',
    'g other 0',
    ...['w', 'y'].flatMap((name) => [`${name} folder 0`, `${name}/${name}.csv file 3`]),
    'z folder 0',
  ]);
  await expect(filesBelow(folder, { most: 17 })).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('has more than 17 files and folders'),
  });
});

test('what cannot be read is told by name', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'a');
  writeFileSync(file, 'abc');
  expect([kindOfPath(file), kindOfPath(folder), kindOfPath(join(folder, 'b'))]).toEqual([
    'file',
    'folder',
    undefined,
  ]);
  expect((await wholeFile(file, 3)).toString()).toBe('abc');
  const refused = { code: 'InvalidInput', details: { file } };
  await expect(wholeFile(file, 2)).rejects.toMatchObject(refused);
  await expect(wholeFile(join(folder, 'b'), 2)).rejects.toThrow('cannot be read');
  await expect(filesBelow(file, { most: 1 })).rejects.toMatchObject(refused);
});
