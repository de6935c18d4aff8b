/** Footers that are known from before their table had its name. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

test('damage names the file where it is, also after the table was made or renamed', async () => {
  const fs = memoryFs();
  await using db = await connect({ uri: '/c', fs: fs as never });
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, x: id / 3 }));
  const table = await db.createTable('t', rows);
  const damage = (folder: string): string => {
    const [file] = fs.readdirSync(`/c/data/${folder}/data`, { withFileTypes: true });
    const path = `data/${folder}/data/${String((file as { name: string }).name)}`;
    const fd = fs.openSync(`/c/${path}`, 'r+');
    fs.writeSync(fd, Uint8Array.of(255, 255, 255), 0, 3, 300_000);
    fs.closeSync(fd);
    return path;
  };
  await expect(table.countRows('x > 1')).resolves.toBe(49_996);
  const path = damage('t.table');
  await expect(table.query().where('id > 100 AND x > 1').toArray()).rejects.toThrow(path);
  await db.renameTable('t', 'other');
  const renamed = await db.openTable('other');
  await expect(renamed.query().where('id > 100 AND x > 1').toArray()).rejects.toThrow(
    path.replace('t.table', 'other.table'),
  );
});
