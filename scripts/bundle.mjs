/**
 * Joins the modules of src into one file for each entry and the chunks that entries share, in dist
 * or the folder given: `node scripts/bundle.mjs [FOLDER [ENTRY]...]`, with further modules of src as
 * entries. Node needs half a millisecond to find, read and link a module: three hundred of them made
 * a program wait longer for `connect` than for its first answers. Packages stay outside.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const project = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(process.argv[2] ?? join(project, 'dist'));
const LIBRARY = ['index', 'server', 'conformance'];
const ENTRIES = [...LIBRARY, 'cli/main', ...process.argv.slice(3)];

async function bundle() {
  const made = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(project, 'src', `${name}.ts`)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    platform: 'node',
    tsconfig: false,
  });
  await made.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
    minify: 'dce-only',
  });
  await made.close();
}

mkdirSync(dist, { recursive: true });
// Declarations are the compiler's; scripts of earlier builds would be shipped along.
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (/\.c?js(\.map)?$/.test(file)) rmSync(join(dist, file));
}
await bundle();
// For compilers and bundlers of CommonJS; Node takes an ES module by `require` too.
for (const name of LIBRARY) {
  writeFileSync(join(dist, `${name}.cjs`), `module.exports = require('./${name}.js');\n`);
}
