/**
 * A tool that keeps a catalog: it records the sizes of the files of a folder at every run, and says
 * what grew since the run before. `node examples/embedded-tool.mjs [folder] [catalog]`
 */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connect, isDirspaceError } from 'dirspace';

const [folder = '.', catalog = join(folder, '.sizes')] = process.argv
  .slice(2)
  .map((path) => resolve(path));

const db = await connect(catalog);
try {
  const now = await sizesOf(folder);
  const sizes = await openOrCreate(now);
  const before = await sizesBefore(sizes);
  for (const { file, bytes } of now) {
    const old = before.get(file);
    if (old === undefined) console.log(`new      ${file} (${bytes} bytes)`);
    else if (old !== bytes) console.log(`changed  ${file} (${old} to ${bytes} bytes)`);
  }
  const names = new Set(now.map(({ file }) => file));
  for (const file of before.keys()) if (!names.has(file)) console.log(`gone     ${file}`);
  console.log(`run ${await sizes.version()}: ${now.length} files`);
} finally {
  await db.close();
}

/** One version of the table for each run: overwriting keeps the older ones. */
async function openOrCreate(rows) {
  const schema = {
    fields: [
      { name: 'file', type: { type: 'utf8' }, nullable: false },
      { name: 'bytes', type: { type: 'float64' }, nullable: false },
    ],
  };
  try {
    const table = await db.openTable('sizes');
    await table.add(rows, { mode: 'overwrite' });
    return table;
  } catch (error) {
    if (!isDirspaceError(error, 'TableNotFound')) throw error;
    return await db.createTable('sizes', rows, [], { schema });
  }
}

async function sizesBefore(table) {
  const version = await table.version();
  if (version === 1) return new Map();
  const old = await db.openTable('sizes', [], { version: version - 1 });
  return new Map((await old.query().toArray()).map(({ file, bytes }) => [file, bytes]));
}

async function sizesOf(path) {
  const entries = await readdir(path, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return await Promise.all(
    files.sort().map(async (file) => ({ file, bytes: (await stat(join(path, file))).size })),
  );
}
