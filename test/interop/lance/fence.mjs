/**
 * Lets pylance and LanceDB try to write tables by the paths of their folders, in the modes `read` and `sync` and
 * after one `lance sync`, and shows that all of it is refused in Lance's own words and changes nothing:
 * `checkFence(options)`, which tells whether anything was wrong.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = import.meta.dirname;

export async function checkFence({ python, lancedb, entry, place, served }) {
  const { connect } = await import(pathToFileURL(entry).href);
  const [root, links] = [join(place, 'fenced'), join(place, 'fenced-links')];
  mkdirSync(links);
  const rows = (first) => [1, 2, 3].map((at) => ({ n: first + at, m: at, s: `row ${at}` }));
  const db = await connect(root, { lance: 'read' });
  await db.createTable('read', rows(0));
  await db.createTable('sync', rows(0), { lance: 'sync' });
  await db.createTable('once', rows(0));
  const paths = [];
  for (const name of ['read', 'sync', 'once']) {
    const table = await db.openTable(name);
    await table.add(rows(10));
    await table.delete('n = 12');
    paths.push(await table.location());
    // LanceDB opens folders of this name.
    symlinkSync(paths.at(-1), join(links, `${name}.lance`));
  }
  await db.syncLance(['once']);
  const state = async () => {
    const found = {};
    for (const name of ['read', 'sync', 'once']) {
      const table = await db.openTable(name);
      const { length } = await table.listVersions();
      found[name] = { length, rows: await table.query().withRowId().toArray() };
    }
    const { problems } = await db.namespace.verify({});
    return JSON.stringify({ found, problems }, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  };
  const before = await state();
  const check = (command, args) =>
    spawnSync(command, args, { stdio: ['ignore', 'inherit', 'pipe'] }).status !== 0;
  let failed = await served(root, async (uri) =>
    check(python, [join(here, 'check_fence.py'), uri, links, ...paths]),
  );
  if (lancedb !== undefined)
    failed = check(process.execPath, [join(here, 'check_fence.mjs'), lancedb, links]) || failed;
  if ((await state()) !== before) {
    console.log('FAILED refused writers by path changed a table', await state());
    failed = true;
  }
  await db.close();
  // The fence that earlier releases wrote.
  const golden = join(place, 'golden.lance');
  mkdirSync(join(golden, '_versions'), { recursive: true });
  cpSync(
    join(here, '../../../fixtures/lance-fence.manifest'),
    join(golden, '_versions', '18446744073709551615.manifest'),
  );
  return check(python, [join(here, 'check_fence.py'), '', '', golden]) || failed;
}
