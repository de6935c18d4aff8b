/** Programs that only read, and servers that Lance only reads from, run where what changes tables is not there. */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');

test('a table is read, and its version described to Lance', async () => {
  const root = temporaryFolder();
  const whole = join(project, 'dist');
  const { connect } = await import(pathToFileURL(join(whole, 'index.js')).href);
  const db = await connect(root);
  await db.createTable('t', [{ id: 1 }, { id: 2 }]);
  await db.close();

  // Where it finds the packages.
  const without = join(project, '.build', 'without-engine');
  rmSync(without, { recursive: true, force: true });
  cpSync(whole, without, { recursive: true });
  rmSync(join(without, 'chunks', 'engine.js'));
  const program = `
    const { connect } = await import(${JSON.stringify(pathToFileURL(join(without, 'index.js')).href)});
    const db = await connect(${JSON.stringify(root)});
    const table = await db.openTable('t');
    const id = ['t'];
    const { versions } = await db.namespace.listTableVersions({ id }, { forLance: true });
    const { version } = await db.namespace.describeTableVersion({ id }, { forLance: true });
    const rows = await table.countRows();
    await db.close();
    console.log(rows, versions.length, version.manifest_path.endsWith('.manifest'));
  `;
  const given = ['--input-type=module', '--eval', program];
  const said = execFileSync(process.execPath, given, { encoding: 'utf8', timeout: 60_000 });
  expect(said).toBe('2 1 true\n');
});
