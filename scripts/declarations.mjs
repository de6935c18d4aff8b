/**
 * Builds the declarations: `node scripts/declarations.mjs [FOLDER]`, dist by default. The compiler's
 * own output is a file for each module; here it is joined into one for each entry and the chunks
 * that entries share, so that a type is the same type in all of them. Every `.d.ts` has a `.d.cts`
 * beside it for programs in CommonJS, whose compilers refuse the declarations of an ES module.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const project = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(process.argv[2] ?? join(project, 'dist'));
const emitted = join(project, '.build', `declarations-${process.pid}`);
const ENTRIES = ['index', 'embedding', 'server', 'conformance', 'testing', 'duckdb'];

function emit() {
  const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
  const config = join(project, 'tsconfig.build.json');
  execFileSync(
    process.execPath,
    [compiler, '-p', config, '--emitDeclarationOnly', '--outDir', emitted],
    { stdio: 'inherit' },
  );
}

async function joinByEntry() {
  const made = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(emitted, `${name}.d.ts`)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    checks: { pluginTimings: false, bundlerTimings: false },
    // Declarations are the input: the plugin needs no compiler for them.
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  });
  await made.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].ts',
    chunkFileNames: 'types/[name].ts',
  });
  await made.close();
}

const declarationsIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.d\.c?ts$/.test(file))
    .map((file) => join(folder, file));

try {
  mkdirSync(dist, { recursive: true });
  for (const file of declarationsIn(dist)) rmSync(file);
  emit();
  await joinByEntry();
  for (const file of declarationsIn(dist)) {
    // The bundler says which file each part came from, in a folder that is gone.
    const text = readFileSync(file, 'utf8').replaceAll(
      /^\/\/#? ?(end)?region.*\n|^\/\/ \.build\/.*\n/gm,
      '',
    );
    writeFileSync(file, text);
    const common = text.replaceAll(/(from ")(\.{1,2}\/[^"]+)\.js(";)/g, '$1$2.cjs$3');
    writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), common);
  }
} finally {
  rmSync(emitted, { recursive: true, force: true });
}
