/**
 * The strict wrapper over memfs against the real disk: the same calls, outcome by outcome.
 *
 * What memfs alone answers differently is counted too, so that the wrapper is known to be needed.
 */
import nodeFs from 'node:fs';
import fc from 'fast-check';
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import {
  canonicalPath,
  errnoOf,
  type FileSystem,
  openFlags,
  readFolder,
} from '../src/store/file-system.ts';
import { strictFileSystem } from '../src/store/strict-fs.ts';
import { temporaryFolder } from './helpers/temporary.ts';

type Step = readonly [call: string, ...args: string[]];

/** Made before every case: files f1 f2, folders empty full full/child other, links. */
function prepare(fs: FileSystem, root: string): void {
  for (const folder of ['empty', 'full', 'full/child', 'other', 'other/deep']) {
    fs.mkdirSync(`${root}/${folder}`, {});
  }
  for (const file of ['f1', 'f2', 'full/file', 'other/deep/file']) run(fs, root, ['create', file]);
  fs.linkSync(`${root}/f1`, `${root}/f1-twin`);
}

function run(fs: FileSystem, root: string, [call, ...args]: Step): unknown {
  const [first = '', second = ''] = args.map((path) => (path === '' ? root : `${root}/${path}`));
  const flags = openFlags(fs);
  switch (call) {
    case 'create': {
      const fd = fs.openSync(first, flags.createNew, 0o600);
      try {
        return fs.writeSync(fd, new TextEncoder().encode(args[0]), 0, args[0]?.length ?? 0, null);
      } finally {
        fs.closeSync(fd);
      }
    }
    case 'read': {
      const fd = fs.openSync(first, flags.read);
      try {
        const buffer = new Uint8Array(300);
        const count = fs.readSync(fd, buffer, 0, 300, null);
        return new TextDecoder().decode(buffer.subarray(0, count));
      } finally {
        fs.closeSync(fd);
      }
    }
    case 'openFolder':
      return fs.closeSync(fs.openSync(first, flags.folder));
    case 'overwrite':
      return fs.closeSync(fs.openSync(first, flags.overwrite, 0o600));
    case 'rename':
      return fs.renameSync(first, second);
    case 'link':
      return fs.linkSync(first, second);
    case 'unlink':
      return fs.unlinkSync(first);
    case 'mkdir':
      return fs.mkdirSync(first, {}) === undefined;
    case 'rmdir':
      return fs.rmdirSync(first);
    case 'list':
      return readFolder(fs, first)
        .map((entry) => `${String(entry.name)}:${entry.isDirectory()}:${entry.isFile()}`)
        .sort();
    case 'stat': {
      const stat = fs.lstatSync(first, { throwIfNoEntry: false });
      return stat && [stat.isDirectory(), stat.isFile(), stat.isFile() && stat.nlink];
    }
    case 'realpath':
      return canonicalPath(fs, first).slice(root.length);
    default:
      throw new Error(`no such call: ${call}`);
  }
}

function outcome(fs: FileSystem, root: string, step: Step): unknown {
  try {
    return run(fs, root, step) ?? 'ok';
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

function tree(fs: FileSystem, folder: string): unknown {
  return Object.fromEntries(
    readFolder(fs, folder)
      .map((entry): [string, unknown] => {
        const name = String(entry.name);
        const path = `${folder}/${name}`;
        return [name, entry.isDirectory() ? tree(fs, path) : run(fs, folder, ['read', name])];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const long = 'n'.repeat(255);
const tooLong = 'n'.repeat(256);
const wide = 'ä'.repeat(128);

const CASES: readonly (readonly Step[])[] = [
  [['create', 'new']],
  [['create', 'f1']],
  [['create', 'empty']],
  [['create', 'missing/new']],
  [['create', 'f1/new']],
  [['create', long]],
  [['create', tooLong]],
  [['create', wide]],
  [['read', 'f1']],
  [['read', 'missing']],
  [['read', 'empty']],
  [['read', 'f1/below']],
  [['openFolder', 'empty']],
  [['openFolder', 'missing']],
  [['openFolder', 'f1']],
  [
    ['overwrite', 'f1'],
    ['read', 'f1'],
  ],
  [
    ['overwrite', 'new'],
    ['read', 'new'],
  ],
  [['overwrite', 'empty']],
  [['rename', 'f1', 'new']],
  [
    ['rename', 'f1', 'f2'],
    ['read', 'f2'],
  ],
  [['rename', 'f1', 'f1']],
  [
    ['rename', 'f1', 'f1-twin'],
    ['stat', 'f1'],
    ['stat', 'f1-twin'],
  ],
  [['rename', 'f1', 'empty']],
  [['rename', 'f1', 'full']],
  [['rename', 'f1', 'missing/new']],
  [['rename', 'f1', 'f2/new']],
  [['rename', 'f1', tooLong]],
  [['rename', 'missing', 'new']],
  [['rename', 'missing', 'f1']],
  [['rename', 'missing', 'full']],
  [
    ['rename', 'full', 'new'],
    ['read', 'new/file'],
  ],
  [
    ['rename', 'full', 'empty'],
    ['read', 'empty/file'],
  ],
  [['rename', 'full', 'other']],
  [['rename', 'empty', 'full']],
  [['rename', 'empty', 'empty']],
  [['rename', 'full', 'full']],
  [['rename', 'full', 'f1']],
  [['rename', 'empty', 'f1']],
  [['rename', 'full', 'full/child']],
  [['rename', 'full', 'full/new']],
  [['rename', 'full', 'full/child/new']],
  [['rename', 'other', 'other/deep/new']],
  [['rename', 'full', 'missing/new']],
  [['rename', 'full', 'f1/new']],
  [
    ['rename', 'full', 'other/new'],
    ['read', 'other/new/file'],
  ],
  [
    ['rename', 'full', 'fuller'],
    ['list', 'fuller'],
  ],
  [['rename', 'full/child', 'full']],
  [['rename', 'other/deep', 'other']],
  [['rename', 'full', tooLong]],
  [
    ['link', 'f1', 'new'],
    ['stat', 'f1'],
    ['unlink', 'f1'],
    ['stat', 'new'],
    ['read', 'new'],
  ],
  [['link', 'f1', 'f2']],
  [['link', 'f1', 'f1']],
  [['link', 'f1', 'empty']],
  [['link', 'f1', 'missing/new']],
  [['link', 'f1', 'f2/new']],
  [['link', 'f1', tooLong]],
  [['link', 'missing', 'new']],
  [['link', 'empty', 'new']],
  [['link', 'full', 'new']],
  [['link', 'full', 'f1']],
  [
    ['unlink', 'f1'],
    ['stat', 'f1'],
  ],
  [['unlink', 'missing']],
  [['unlink', 'f1/below']],
  [
    ['mkdir', 'new'],
    ['stat', 'new'],
  ],
  [['mkdir', 'f1']],
  [['mkdir', 'empty']],
  [['mkdir', 'missing/new']],
  [['mkdir', 'f1/new']],
  [['mkdir', tooLong]],
  [
    ['rmdir', 'empty'],
    ['stat', 'empty'],
  ],
  [['rmdir', 'full']],
  [['rmdir', 'missing']],
  [['rmdir', 'f1']],
  [['list', '']],
  [['list', 'empty']],
  [['list', 'f1']],
  [['list', 'missing']],
  [['stat', 'missing']],
  [['realpath', 'full/child']],
  [['realpath', 'full/child/.']],
  [['realpath', 'full/file/.']],
  [['realpath', 'missing/.']],
];

function bothRoots(): { disk: [FileSystem, string]; memory: [FileSystem, string] } {
  const volume = strictFileSystem(createFsFromVolume(new Volume()));
  volume.mkdirSync('/r/oot', { recursive: true });
  return { disk: [nodeFs, temporaryFolder()], memory: [volume, '/r/oot'] };
}

describe('the strict wrapper answers as the disk does', () => {
  test.each(
    CASES.map(
      (steps) => [steps.map((step) => step.join(' ').slice(0, 40)).join('; '), steps] as const,
    ),
  )('%s', (_title, steps) => {
    const { disk, memory } = bothRoots();
    prepare(...disk);
    prepare(...memory);
    const onDisk = steps.map((step) => outcome(...disk, step));
    const inMemory = steps.map((step) => outcome(...memory, step));
    expect(inMemory).toEqual(onDisk);
    expect(tree(...memory)).toEqual(tree(...disk));
  });

  test('random sequences', () => {
    const path = fc.constantFrom(
      'f1',
      'f2',
      'empty',
      'full',
      'full/child',
      'full/new',
      'new',
      'new/x',
      'other',
      'f1-twin',
    );
    const step = fc.oneof(
      fc.tuple(fc.constantFrom('rename', 'link'), path, path),
      fc.tuple(fc.constantFrom('create', 'unlink', 'mkdir', 'rmdir', 'read', 'list', 'stat'), path),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const { disk, memory } = bothRoots();
        prepare(...disk);
        prepare(...memory);
        for (const each of steps) {
          // Which of the two errors a folder to unlink gives differs between systems.
          if (each[0] === 'unlink' && Array.isArray(outcome(...disk, ['list', each[1]]))) continue;
          expect([each, outcome(...memory, each)]).toEqual([each, outcome(...disk, each)]);
        }
        expect(tree(...memory)).toEqual(tree(...disk));
      }),
      { numRuns: 300 },
    );
  });

  test('memfs alone does not', () => {
    const volume = createFsFromVolume(new Volume());
    volume.mkdirSync('/r', { recursive: true });
    prepare(volume, '/r');
    expect(outcome(volume, '/r', ['rename', 'full', 'other'])).toBe('ok');
    expect(outcome(volume, '/r', ['create', tooLong])).toBe(tooLong.length);
  });

  test('wrapping is idempotent and leaves node:fs alone', () => {
    const volume = createFsFromVolume(new Volume());
    const strict = strictFileSystem(volume);
    expect(strictFileSystem(volume)).toBe(strict);
    expect(strictFileSystem(strict)).toBe(strict);
    expect(strictFileSystem(nodeFs)).toBe(nodeFs);
  });
});
