/**
 * Reads the declarations of `@lancedb/lancedb` as text: every name it exports with its public members
 * (`exportedNames`), and the file of checks that each has its counterpart here (`namesFile`). Run as a
 * program it writes names.json and names.ts anew: `node declarations.mjs FOLDER_OF_THE_PACKAGE`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXPORT = /^export (?:type )?(?:\{([^}]*)\}|\* as (\w+)) from "(\.[^"]+)";/gm;
const DECLARED =
  /^export (?:declare )?(?:abstract )?(class|interface|type|function|enum|const) (\w+)/gm;
const MEMBER = /^( {2}| {4})((?:static |abstract |readonly |get )*)(\w+)\??[(<:]/;

/** The file that a declaration imports from. */
function fileOf(from, path) {
  const base = join(dirname(from), path.replace(/\.js$/, ''));
  return [`${base}.d.ts`, join(base, 'index.d.ts')].find(existsSync);
}

/** Without what a program cannot reach, which also makes classes comparable by their structure. */
export const publicOnly = (text) =>
  text
    .replace(/\/\*\*[\s\S]*?\*\//g, (comment) => (/@hidden/.test(comment) ? '/*@hidden*/' : ''))
    .replace(/\/\*@hidden\*\/\s*\n[^\n]*;/g, '')
    .replace(/^ +(?:private|protected) [^;]*;\n/gm, '')
    .replace(/^ +#private;\n/gm, '');

function membersOf(text, name) {
  const start = text.search(
    new RegExp(`^export (?:declare )?(?:abstract )?(?:class|interface) ${name}\\b`, 'm'),
  );
  if (start < 0) return undefined;
  const body = text.slice(start, text.indexOf('\n}', start)).split('\n').slice(1);
  const found = new Map();
  const indent = body.find((line) => MEMBER.test(line))?.match(/^ */)[0];
  for (const line of body) {
    const [, spaces, words, member] = MEMBER.exec(line) ?? [];
    if (member === undefined || spaces !== indent || member === 'constructor') continue;
    found.set(member, { name: member, static: words.includes('static') });
  }
  return [...found.values()].map((one) => (one.static ? `static ${one.name}` : one.name));
}

function isMade(text, name) {
  const start = text.indexOf(`export declare class ${name} `);
  return /^ +(constructor|static)\b/m.test(text.slice(start, text.indexOf('\n}', start)));
}

/** `{ name: { kind, members? } }` of all that the file exports. */
export function exportedNames(file, prefix = '') {
  const text = publicOnly(readFileSync(file, 'utf8'));
  const found = {};
  const add = (name, kind, members) => {
    found[prefix + name] = members?.length ? { kind, members } : { kind };
  };
  for (const [, kind, name] of text.matchAll(DECLARED)) add(name, kind, membersOf(text, name));
  for (const [, list, space, path] of text.matchAll(EXPORT)) {
    const from = fileOf(file, path);
    if (space !== undefined) {
      Object.assign(found, exportedNames(from, `${space}.`));
      continue;
    }
    const source = publicOnly(readFileSync(from, 'utf8'));
    for (const entry of list.split(',').map((one) => one.trim())) {
      const [name, as = name] = entry.split(/ as /);
      if (name === '') continue;
      let [text, at] = [source, from];
      let declared = new RegExp(
        `^export (?:declare )?(?:abstract )?(class|interface|type|function|enum|const) ${name}\\b`,
        'm',
      ).exec(text);
      if (declared === null) {
        // Handed on from a third file.
        const on = [
          ...source.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm),
        ].find(([, names]) =>
          names.split(',').some(
            (one) =>
              one
                .trim()
                .replace(/^type /, '')
                .replace(/^\w+ as /, '') === name,
          ),
        );
        if (on === undefined) throw new Error(`${name} of ${from} is not found`);
        at = fileOf(from, on[2]);
        text = publicOnly(readFileSync(at, 'utf8'));
        declared = new RegExp(
          `^export (?:declare )?(?:abstract )?(class|interface|type|function|enum|const) ${name}\\b`,
          'm',
        ).exec(text);
      }
      const members = membersOf(text, name);
      // Made by the native module alone: programs know their type.
      const isHandedOut = at.endsWith('native.d.ts') && !isMade(text, name);
      add(as, isHandedOut && declared[1] === 'class' ? 'interface' : declared[1], members);
    }
  }
  return found;
}

/** Each name and each of its members, as `Table` and `Table.add`. */
export const allNames = (names) =>
  Object.entries(names).flatMap(([name, { members = [] }]) => [
    name,
    ...members.map((member) => `${name}.${member.replace('static ', '')}`),
  ]);

/** Whether a set of names has this one, or the name that it is a member of. */
export const withoutMembers = (set, name) => {
  const parts = name.split('.');
  return parts.some((_, at) => set.has(parts.slice(0, at + 1).join('.')));
};

/** Types with an argument that has no default. */
export const GENERIC = new Set(['embedding.CreateReturnType', 'embedding.EmbeddingFunctionCreate']);

const isValue = (kind) => ['class', 'function', 'enum', 'const'].includes(kind);

/** The type, in terms of `own`, that is there when the name and the member are. */
export function typeText(space, name, { kind }, member) {
  if (GENERIC.has(name) && member === undefined) return `${space}.${name}<never>`;
  if (GENERIC.has(name)) return `${space}.${name}<never>['${member}']`;
  const place = `${space}.${name}`;
  if (member === undefined) return isValue(kind) ? `typeof ${place}` : place;
  return member.startsWith('static ')
    ? `(typeof ${place})['${member.slice(7)}']`
    : `${place}['${member}']`;
}

/** A file that compiles when every name is here, but for those that are `absent`. */
export function namesFile(names, absent) {
  const lines = Object.entries(names).flatMap(([name, declared]) => {
    if (withoutMembers(absent, name)) return [];
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    const own = [`  ${key}: ${typeText('own', name, declared)};`];
    for (const member of declared.members ?? []) {
      const path = `${name}.${member.replace('static ', '')}`;
      if (!absent.has(path)) own.push(`  '${path}': ${typeText('own', name, declared, member)};`);
    }
    return own;
  });
  return `/**
 * Compiles when every name that @lancedb/lancedb exports is exported here too, with its members, but
 * for those that docs/moving-from-lancedb.md lists as absent. Written by declarations.mjs.
 */
import type * as own from '../../../src/index.ts';

export interface Names {
${lines.join('\n')}
}
`;
}

/** The names in the table of docs/moving-from-lancedb.md of those that are absent. Members go with their class. */
export function absentNames(page) {
  const [, section = ''] = page.split(/^## Names that are absent$/m);
  const rows = section.split(/^## /m)[0].matchAll(/^\| (`[^|]*) \|/gm);
  return new Set(
    [...rows].flatMap(([, cell]) => [...cell.matchAll(/`([\w.]+)`/g)].map((one) => one[1])),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = import.meta.dirname;
  const names = exportedNames(join(process.argv[2], 'dist/index.d.ts'));
  const page = readFileSync(join(here, '../../../docs/moving-from-lancedb.md'), 'utf8');
  writeFileSync(join(here, 'names.json'), `${JSON.stringify(names, null, 2)}\n`);
  const pending = JSON.parse(readFileSync(join(here, 'pending.json'), 'utf8'));
  const leftOut = new Set([...absentNames(page), ...pending]);
  writeFileSync(join(here, 'names.ts'), namesFile(names, leftOut));
}
