/** Calls on a file system as data, so that two file systems can be asked the same. */
import {
  canonicalPath,
  errnoOf,
  type FileSystem,
  openFlags,
  readFolder,
} from '../../src/store/disk/file-system.ts';

export type Step = readonly [call: string, ...args: string[]];

/** Made before every case: files f1 f2, folders empty full full/child other, links. */
export function prepareTree(fs: FileSystem, root: string): void {
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

export function outcomeOf(fs: FileSystem, root: string, step: Step): unknown {
  try {
    return run(fs, root, step) ?? 'ok';
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
}

export function treeOf(fs: FileSystem, folder: string): unknown {
  return Object.fromEntries(
    readFolder(fs, folder)
      .map((entry): [string, unknown] => {
        const name = String(entry.name);
        const path = `${folder}/${name}`;
        return [name, entry.isDirectory() ? treeOf(fs, path) : run(fs, folder, ['read', name])];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const long = 'n'.repeat(255);
export const tooLong = 'n'.repeat(256);
const wide = 'ä'.repeat(128);

/** What the engine rests on, one question each. */
export const FILE_SYSTEM_CASES: readonly (readonly Step[])[] = [
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

const PATHS = [
  ...['f1', 'f2', 'empty', 'full', 'full/child', 'full/new', 'new', 'new/x', 'other', 'f1-twin'],
];

/** Up to a dozen calls drawn from a seed. */
export function randomSteps(random: () => number): Step[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from(
    { length: 1 + Math.floor(random() * 12) },
    (): Step =>
      random() < 0.4
        ? [pick(['rename', 'link']), pick(PATHS), pick(PATHS)]
        : [pick(['create', 'unlink', 'mkdir', 'rmdir', 'read', 'list', 'stat']), pick(PATHS)],
  );
}

/** Which of two errors a folder to unlink gives differs between systems, and the engine asks none. */
export const isAskedOfNone = (fs: FileSystem, root: string, step: Step): boolean =>
  step[0] === 'unlink' && Array.isArray(outcomeOf(fs, root, ['list', step[1] as string]));
