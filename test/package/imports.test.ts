import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/**
 * From the bottom up: a room may import from the rooms before it. A room is a folder; the files of
 * `src` itself that are no entries are the ground.
 */
const ORDER = [
  '(ground)',
  'values',
  'arrow',
  'protocol',
  'store',
  'ipc',
  'format',
  'datasets',
  'interchange',
  'vector',
  'search',
  'sql',
  'indexes',
  'table',
  'statements',
  'directory',
  'client',
  'server',
  'conformance',
  'sdk',
  'testing',
  'duckdb',
  'cli',
  'ui',
  '(entries)',
];
const ENTRIES = [
  'index.ts',
  'protocol-names.ts',
  'embedding.ts',
  'server.ts',
  'conformance.ts',
  'testing.ts',
  'duckdb.ts',
];
/** Rooms that use less than what stands before them: values no library, the store bytes alone. */
const MAY_USE: Record<string, readonly string[]> = {
  values: ['(ground)'],
  store: ['(ground)'],
  // Of the browser: it asks the server, and shares no code with it.
  ui: [],
};
/** The page is built apart, and no other room imports it. */
const APART = ['ui'];
/** Files of a room with its face, and without rooms inside it. */
const FEWEST = 5;
/** Smaller on purpose. */
const SMALLER: readonly string[] = [
  // Opening a catalog loads it; the files around it are loaded when something is changed.
  'table/staged',
];
/** Files of a room, its face and the rooms inside it not counted. */
const MOST = 20;

/** Lines of a file; 300 are a reason to look twice. */
const MOST_LINES = 500;

const root = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.tsx?$/.test(file),
);

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|\nimport\s+['"]([^'"]+)['"]/g;

const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const textOf = (file: string): string => texts.get(file) as string;

const imports = new Map(
  files.map((file) => {
    const found = textOf(file).matchAll(IMPORT);
    return [file, [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? '')];
  }),
);
const importsOf = (file: string): readonly string[] => imports.get(file) ?? [];

const linesOf = (file: string): number => textOf(file).split('\n').length - 1;

/** The files of `src` that a file imports. */
const localImports = (file: string): string[] =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(root, resolve(root, dirname(file), name)));

/** The folder of a file: the room that it belongs to. */
function roomOf(file: string): string {
  if (ENTRIES.includes(file)) return '(entries)';
  return file.includes('/') ? dirname(file) : '(ground)';
}
const outermost = (room: string): string => room.split('/')[0] as string;
const isFace = (file: string): boolean => file.endsWith('/index.ts');

/** The one file through which `room` reaches `file` in another room; undefined where it may not. */
function faceBetween(room: string, file: string): string | undefined {
  const to = roomOf(file);
  if (to === '(ground)') return file;
  const [from, path] = [room.split('/'), to.split('/')];
  const shared = path.findIndex((name, depth) => name !== from[depth]);
  return shared < 0 ? undefined : `${path.slice(0, shared + 1).join('/')}/index.ts`;
}

const rooms = [...new Set(files.map(roomOf))].sort();
/** Each room with the rooms its files import from. */
const uses = new Map(
  rooms.map((room) => {
    const used = files.filter((file) => roomOf(file) === room).flatMap(localImports);
    return [room, new Set(used.map(roomOf).filter((other) => other !== room))];
  }),
);

describe('the import rule', () => {
  test('every room has its place in the order', () => {
    expect(rooms.map(outermost).filter((room) => !ORDER.includes(room))).toEqual([]);
  });

  test('imports go downwards only', () => {
    const upward: string[] = [];
    for (const file of files) {
      const from = outermost(roomOf(file));
      for (const found of localImports(file)) {
        const to = outermost(roomOf(found));
        if (from !== to && APART.includes(to)) upward.push(`${file} -> ${found}`);
        const allowed =
          from === to || (MAY_USE[from]?.includes(to) ?? ORDER.indexOf(to) < ORDER.indexOf(from));
        if (!allowed) upward.push(`${file} -> ${found}`);
      }
    }
    expect(upward).toEqual([]);
  });

  test('a room is reached through its face', () => {
    const past: string[] = [];
    for (const file of files) {
      for (const found of localImports(file)) {
        const room = roomOf(file);
        if (roomOf(found) !== room && faceBetween(room, found) !== found) {
          past.push(`${file} -> ${found}`);
        }
      }
    }
    expect(past).toEqual([]);
  });

  test('tests lie in folders that mirror the rooms', () => {
    const apart = ['ground', 'package', 'proof'];
    const rooms = new Set(files.map(roomOf));
    const tests = readdirSync(join(root, '..', 'test'), { recursive: true, encoding: 'utf8' });
    const stray = tests
      .filter((file) => file.endsWith('.test.ts') && !file.startsWith('interop'))
      .map((file) => dirname(file))
      .filter((folder) => !apart.includes(folder) && !rooms.has(folder));
    expect([...new Set(stray)]).toEqual([]);
  });

  test('no file of a room imports its own face', () => {
    const own = files.filter((file) =>
      localImports(file).some((found) => isFace(found) && roomOf(found) === roomOf(file)),
    );
    expect(own).toEqual([]);
  });

  test('rooms do not import each other in a circle', () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const visit = (room: string, path: readonly string[]): void => {
      if (path.includes(room)) circles.push([...path.slice(path.indexOf(room)), room].join(' -> '));
      if (done.has(room) || path.includes(room)) return;
      for (const other of uses.get(room) ?? []) visit(other, [...path, room]);
      done.add(room);
    };
    for (const room of rooms) visit(room, []);
    expect(circles).toEqual([]);
  });

  test('a room has as many files as one can keep in mind', () => {
    const sizes = rooms
      .filter((room) => !room.startsWith('('))
      .map((room) => {
        const own = files.filter((file) => roomOf(file) === room && !isFace(file)).length;
        const inner = rooms.filter((other) => dirname(other) === room).length;
        return { room, own, inner };
      });
    expect(sizes.filter(({ own }) => own > MOST)).toEqual([]);
    const few = sizes.filter(({ own, inner }) => inner === 0 && own + 1 < FEWEST);
    expect(few.map(({ room }) => room)).toEqual(SMALLER);
  });

  test('the picture of the rooms', () => {
    const lines = rooms.map((room) => {
      const own = files.filter((file) => roomOf(file) === room);
      const face = own.some(isFace) ? 'face' : '';
      const used = [...(uses.get(room) ?? [])].sort((a, b) => a.localeCompare(b));
      return `${room.padEnd(24)}${String(own.length).padStart(3)} files ${face.padEnd(5)} -> ${used.join(', ')}`;
    });
    if (process.env.ROOMS !== undefined) process.stdout.write(`${lines.join('\n')}\n`);
    // Behind the face of `table` nothing is imported by other rooms.
    const reached = files
      .filter((file) => outermost(roomOf(file)) !== 'table')
      .flatMap(localImports)
      .filter((found) => outermost(roomOf(found)) === 'table');
    expect([...new Set(reached)]).toEqual(['table/index.ts']);
  });

  test('each outside package is imported by one file', () => {
    const importers = new Map<string, string[]>();
    for (const file of files) {
      const names = importsOf(file)
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
      for (const packageName of new Set(names)) {
        importers.set(packageName, [...(importers.get(packageName) ?? []), file]);
      }
    }
    const shared = [...importers].filter(([, by]) => by.length > 1);
    expect(shared).toEqual([]);
    expect(importers.size).toBeGreaterThan(3);
  });

  test('clock, ids and randomness come from env.ts', () => {
    const direct = /\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\bsetInterval\b|\bnew Date\(\)/;
    const users = files.filter(
      (file) =>
        file !== 'env.ts' && !APART.includes(outermost(roomOf(file))) && direct.test(textOf(file)),
    );
    expect(users).toEqual([]);
  });

  test('pauses come from event-loop.ts, which faked timers do not hold', () => {
    const direct = /\bsetImmediate\b|\bqueueMicrotask\b|\bnode:timers\b/;
    const users = files.filter((file) => direct.test(textOf(file)));
    expect(users).toEqual(['event-loop.ts']);
  });

  test('only deadlines of sockets have timers of their own', () => {
    const users = files.filter((file) => /\bsetTimeout\b/.test(textOf(file)));
    expect(
      users.filter(
        (file) =>
          !['env.ts', 'progress.ts', 'request-memory.ts'].includes(file) &&
          !['server', ...APART].includes(outermost(roomOf(file))),
      ),
    ).toEqual([]);
  });

  test('no file is longer than 500 lines', () => {
    const long = files.filter((file) => linesOf(file) > MOST_LINES);
    expect(long).toEqual([]);
  });

  test('only the store and those who deal with files of others touch the file system', () => {
    const users = files.filter((file) => importsOf(file).some((name) => /^node:fs/.test(name)));
    expect(
      users.filter(
        (file) =>
          !['store', 'datasets', 'interchange', 'cli', 'server'].includes(outermost(roomOf(file))),
      ),
    ).toEqual([]);
  });
});
