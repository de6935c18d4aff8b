/**
 * Joins the modules of src into a few files: `node scripts/bundle.mjs [FOLDER [ENTRY]...]` builds
 * the library, as ES modules and as CommonJS, and the command line into dist, or into the folder
 * given, with further modules of src as entries of the library. Node needs half a millisecond to find, read and link a module: three
 * hundred of them made a program wait longer for `connect` than for its first answers.
 *
 * Packages stay outside of the library, so that a program and the library share their classes. The
 * command line runs in a process of its own and has copies of the packages that each start needs,
 * with their licences beside it. The CommonJS has copies of the packages that are ES modules alone.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { rolldown } from 'rolldown';

const project = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(process.argv[2] ?? join(project, 'dist'));
const LIBRARY = ['index', 'embedding', 'server', 'conformance', 'testing', 'duckdb'];

/** Packages whose code the command line carries, and where each has its licence. */
const CARRIED = {
  'apache-arrow': ['LICENSE.txt', 'NOTICE.txt'],
  flatbuffers: ['LICENSE'],
  tslib: ['LICENSE.txt'],
  commander: ['LICENSE'],
};

/** Packages whose code the CommonJS carries, as jest and others cannot require ES modules. */
const MODULES_ALONE = {
  chokidar: ['LICENSE'],
  readdirp: ['LICENSE'],
  jose: ['LICENSE.md'],
};

/** What opens a catalog and lists names: a group takes along all that its modules import. */
const CATALOG = { name: 'catalog', test: /src\/directory\/directory-namespace\.ts$|src\/store\// };
/** What opens and reads tables, and is loaded for the first operation that does. */
const READS = { name: 'reads', test: /src\/directory\/read-handlers\.ts$/ };
/** What sorts and searches the rows of a query, loaded for the first that asks for it. */
const RANKS = { name: 'ranks', test: /src\/table\/query\/index\.ts$/ };
/** What changes and maintains tables and runs SELECT statements, loaded for the first that does. */
const ENGINE = {
  name: 'engine',
  test: /src\/(format|indexes|vector|search|sql|table|statements|directory)\//,
};
const inOrder = (groups) =>
  groups.map((group, index) => ({ ...group, priority: groups.length - index }));

/** Chunks of the command line: its help and its version need the first two alone. */
const GROUPS = inOrder([
  {
    name: 'ground',
    test: /src\/[^/]+\.ts$|src\/protocol\/(ident|namespace|every-|oper)|src\/conformance\/report/,
  },
  { name: 'commander', test: /node_modules\/commander\// },
  {
    name: 'arrow',
    test: /node_modules\/(apache-arrow|flatbuffers|tslib)\/|src\/(arrow|values|ipc|protocol)\/|handles\/header-provider/,
  },
  CATALOG,
  READS,
  RANKS,
  ENGINE,
]);

/**
 * What every entry of the library loads is one chunk, however few of its modules the least entry
 * needs; `language` is what the names of the package need of SQL.
 */
const SHARED = inOrder([
  {
    name: 'arrow',
    test: /src\/(arrow|values|ipc|protocol)\/|src\/(?!index|embedding|server|conformance|testing|duckdb)[^/]+\.ts$|src\/sdk\/convert\/read-column|src\/sdk\/handles\/option-names/,
  },
  { name: 'language', test: /src\/sql\/register\.ts$/ },
  CATALOG,
  READS,
  RANKS,
  ENGINE,
]);

/** Of code that no program debugs: less text is parsed at each start. Errors keep the names of functions. */
const SHORT = { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } };

const ENDING = { esm: '.js', cjs: '.cjs' };

async function bundle(
  entries,
  folder,
  { carried = [], groups, sourcemap = true, minify = 'dce-only', format = 'esm' } = {},
) {
  const isCarried = (id) => carried.some((name) => id === name || id.startsWith(`${name}/`));
  const made = await rolldown({
    input: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, join(project, 'src', `${path}.ts`)]),
    ),
    // What a package imports of its own files comes as a relative path.
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !isCarried(id),
    platform: 'node',
    tsconfig: false,
    // A part of it of which nothing is used would be loaded for nothing.
    treeshake: { moduleSideEffects: [{ test: /^apache-arrow\//, sideEffects: false }] },
  });
  await made.write({
    dir: folder,
    format,
    entryFileNames: `[name]${ENDING[format]}`,
    chunkFileNames: `chunks/[name]${ENDING[format]}`,
    // Jest takes no `import()` in CommonJS.
    dynamicImportInCjs: false,
    exports: 'named',
    sourcemap,
    minify,
    // The sources in the maps have them; of the bundles each start would read them.
    comments: { jsdoc: false },
    ...(groups && { codeSplitting: { groups } }),
  });
  await made.close();
  if (sourcemap) for (const file of filesIn(folder, /\.js\.map$/)) mapLines(file);
  for (const file of filesIn(folder, /\.c?js$/)) writeAscii(file);
}

/**
 * Escapes what is not ASCII. One letter beyond Latin makes V8 keep a whole file as text of two bytes a
 * letter: that takes twice the memory, is parsed more slowly, and brings garbage collections into the
 * first query of a program.
 */
function writeAscii(file) {
  const text = readFileSync(file, 'utf8');
  const raw = /(?<!\\)(?:\\\\)*\\[\u0080-\uffff]|String\.raw/.exec(text);
  if (raw !== null) {
    const line = text.slice(0, raw.index).split('\n').length;
    throw new Error(`${file}:${line}: an escape cannot take the place of this letter: ${raw[0]}`);
  }
  const hex = (unit) => unit.charCodeAt(0).toString(16).padStart(4, '0');
  const escaped = text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${hex(unit)}`);
  if (escaped !== text) writeFileSync(file, escaped);
}

/**
 * Stack traces name lines of the sources: a map of each column takes three times the bytes. The text of
 * the sources is left out, which would be a quarter of an installation: the code beside a map can be read.
 */
function mapLines(file) {
  const map = JSON.parse(readFileSync(file, 'utf8'));
  const lines = decode(map.mappings).map((segments) =>
    segments
      .filter(
        ([, source, line], at) =>
          source !== undefined &&
          (source !== segments[at - 1]?.[1] || line !== segments[at - 1]?.[2]),
      )
      .map(([column, source, line, from]) => [column, source, line, from]),
  );
  const { sourcesContent: _, ...named } = map;
  writeFileSync(file, JSON.stringify({ ...named, names: [], mappings: encode(lines) }));
}

const filesIn = (folder, name) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));

/** The page that `dirspace ui` serves: one script for browsers, which needs no other file. */
async function bundlePage(folder) {
  const from = join(project, 'src', 'ui');
  const made = await rolldown({
    input: join(from, 'main.tsx'),
    platform: 'browser',
    tsconfig: false,
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: 'es2022' },
  });
  await made.write({ file: join(folder, 'app.js'), format: 'esm', sourcemap: false, minify: true });
  await made.close();
  for (const file of ['index.html', 'app.css', 'icon.svg']) {
    copyFileSync(join(from, file), join(folder, file));
  }
  writeFileSync(join(folder, 'LICENCES.txt'), licences({ preact: ['LICENSE'] }).join('\n'));
}

/** The licences of the packages whose code is carried. */
function licences(carried) {
  return Object.entries(carried).map(([name, files]) => {
    const folder = join(project, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return `${name} ${version}\n\n${texts.join('\n\n')}\n`;
  });
}

mkdirSync(dist, { recursive: true });
// Declarations are the compiler's; scripts of earlier builds would be shipped along.
for (const file of filesIn(dist, /\.c?js(\.map)?$/)) rmSync(file);
const library = [...LIBRARY, ...process.argv.slice(3)];
await bundle(Object.fromEntries(library.map((name) => [name, name])), dist, {
  groups: SHARED,
});
// CommonJS for whatever compiles or cannot take ES modules that are required: tsx, jest and others.
await bundle(Object.fromEntries(LIBRARY.map((name) => [`common/${name}`, name])), dist, {
  carried: Object.keys(MODULES_ALONE),
  groups: SHARED,
  sourcemap: false,
  minify: SHORT,
  format: 'cjs',
});
// Node itself takes the ES modules by `require` too, so that a program has one copy of each class. A
// hook that makes CommonJS of a required module leaves the `import()` in it to Node, which would load
// second copies of the classes. There, the module is a function, and has `arguments`. Where packages are
// in archives, as yarn keeps them, a required module cannot import another, which it tries first. What
// checks packages without running them finds by `exports.default` that there may be a default export.
writeFileSync(join(dist, 'chunks', 'native-part.js'), 'export {};\n');
writeFileSync(
  join(dist, 'chunks', 'native.js'),
  `import './native-part.js';
export const native = typeof arguments === 'undefined';
`,
);
for (const name of LIBRARY) {
  writeFileSync(
    join(dist, `${name}.cjs`),
    `"use strict";
let native = false;
try {
  ({ native } = require("./chunks/native.js"));
} catch {}
exports.default = module.exports = native
  ? require("./${name}.js")
  : require("./common/${name}.cjs");
`,
  );
}
const LINE = `\n${'-'.repeat(80)}\n\n`;
writeFileSync(join(dist, 'LICENCES.txt'), licences(MODULES_ALONE).join(LINE));
await bundle({ main: 'cli/main' }, join(dist, 'cli'), {
  carried: Object.keys(CARRIED),
  groups: GROUPS,
  sourcemap: false,
  minify: SHORT,
});
writeFileSync(join(dist, 'cli', 'LICENCES.txt'), licences(CARRIED).join(LINE));
await bundlePage(join(dist, 'ui'));
