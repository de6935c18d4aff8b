/**
 * Compares types: the public declarations of `@lancedb/lancedb` beside those of the built package, name by
 * name (`typeDifferences`). What a program passes in has to be accepted here (options, and members that are
 * called), what it gets has to be what it knows. Private members are taken out first, for they would make
 * every class differ from every other. Answers the names that do not fit, with the compiler's first words.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exportedNames, GENERIC, publicOnly, typeText, withoutMembers } from './declarations.mjs';

const project = join(import.meta.dirname, '../../..');

/** Handed in by programs, so that LanceDB's form must be accepted; all else is handed out. */
const IS_INPUT =
  /(Options|Config|Spec|Like|Input|Update|Alteration|Sql|Data|IntoVector|MultiVector|Ordering|Query|Select)$/;

/** Its argument is a class of LanceDB's native module; the classes that extend it are compared. */
const NATIVE = new Set(['QueryBase']);

/** The public parts of the declarations of a package, in a folder of their own. */
function copyDeclarations(from, to) {
  for (const path of readdirSync(from, { recursive: true })) {
    if (!path.endsWith('.d.ts')) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), publicOnly(readFileSync(join(from, path), 'utf8')));
  }
}

export function typeDifferences(peer, absent) {
  const folder = join(project, '.build/lancedb-types');
  rmSync(folder, { recursive: true, force: true });
  copyDeclarations(join(peer, 'dist'), join(folder, 'peer'));
  copyDeclarations(join(project, 'dist'), join(folder, 'own'));
  // Its declarations import each other without extensions.
  writeFileSync(join(folder, 'peer/package.json'), '{"type":"commonjs"}');
  const names = exportedNames(join(peer, 'dist/index.d.ts'));
  const lines = [
    "import type * as own from './own/index.js';",
    "import type * as peer from './peer/index.js';",
  ];
  const places = [];
  const check = (path, name, declared, member) => {
    const [ours, theirs] = ['own', 'peer'].map((space) => typeText(space, name, declared, member));
    const isInput =
      declared.kind !== 'class' && declared.kind !== 'function' && IS_INPUT.test(name);
    const [to, from] = isInput ? [ours, theirs] : [theirs, ours];
    places[lines.length + 1] = path;
    lines.push(`export const c${lines.length}: ${to} = undefined! as ${from};`);
  };
  for (const [name, declared] of Object.entries(names)) {
    if (withoutMembers(absent, name)) continue;
    const { kind, members = [] } = declared;
    // A class is compared by its members: its constructor is not for programs.
    if (kind !== 'class' && !GENERIC.has(name)) check(name, name, declared);
    for (const member of kind === 'class' && !NATIVE.has(name) ? members : []) {
      const path = `${name}.${member.replace('static ', '')}`;
      if (!absent.has(path)) check(path, name, declared, member);
    }
  }
  const file = join(folder, 'check.ts');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const compiler = join(project, 'node_modules/typescript/bin/tsc');
  const flags = [
    '--ignoreConfig',
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--pretty',
    'false',
  ];
  const { stdout } = spawnSync(
    process.execPath,
    [
      compiler,
      ...flags,
      '--module',
      'nodenext',
      '--types',
      'node',
      '--lib',
      'es2023,esnext.disposable,dom',
      file,
    ],
    { cwd: project, encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  const found = new Map();
  let at;
  for (const line of stdout.split('\n')) {
    const row = /check\.ts\((\d+),\d+\): error \w+: (.*)/.exec(line);
    if (row !== null) {
      at = places[Number(row[1])] ?? row[1];
      found.set(at, row[2]);
    } else if (at !== undefined && line.startsWith(' ')) found.set(at, `${found.get(at)}\n${line}`);
  }
  return found;
}

if (process.argv[1] === import.meta.filename) {
  for (const [name, why] of typeDifferences(process.argv[2], new Set()))
    console.log(`${name}: ${why}\n`);
}
