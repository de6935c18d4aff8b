/** The engine's file system in memory does what node:fs does, step by step, with the same errors. */
import nodeFs, { constants, mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { memoryFileSystem } from '../../src/store/disk/memory-fs.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const path = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
  .map((parts) => `/${parts.join('/')}`);
const { O_CREAT, O_EXCL, O_RDWR, O_TRUNC, O_RDONLY } = constants;
const flags = fc.constantFrom(
  O_RDONLY,
  O_RDWR | O_CREAT,
  O_RDWR | O_CREAT | O_EXCL,
  O_RDWR | O_TRUNC,
);
const bytes = fc.uint8Array({ maxLength: 9 });
const small = fc.nat(12);

const step = fc.oneof(
  fc.record({ call: fc.constant('mkdir' as const), path, recursive: fc.boolean() }),
  fc.record({ call: fc.constant('write' as const), path, flags, bytes, at: small }),
  fc.record({
    call: fc.constant('read' as const),
    path,
    at: small,
    count: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({ call: fc.constant('truncate' as const), path, size: small }),
  fc.record({ call: fc.constant('rename' as const), path, to: path }),
  fc.record({ call: fc.constant('link' as const), path, to: path }),
  fc.record({ call: fc.constant('unlink' as const), path }),
  fc.record({ call: fc.constant('rmdir' as const), path }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function withFile<T>(fs: FileSystem, at: string, flag: number, use: (fd: number) => T): T {
  const fd = fs.openSync(at, flag, 0o600);
  try {
    return use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function run(fs: FileSystem, one: Step): unknown {
  switch (one.call) {
    case 'mkdir':
      fs.mkdirSync(one.path, { recursive: one.recursive });
      return true;
    case 'write':
      return withFile(fs, one.path, one.flags, (fd) => {
        if (one.flags === O_RDONLY) return fs.fstatSync(fd).isFile();
        return fs.writeSync(fd, one.bytes, 0, one.bytes.length, one.at);
      });
    case 'read':
      return withFile(fs, one.path, O_RDONLY, (fd) => {
        const into = new Uint8Array(20);
        return [fs.readSync(fd, into, 2, one.count, one.at), [...into]];
      });
    case 'truncate':
      return withFile(fs, one.path, O_RDWR, (fd) => fs.ftruncateSync(fd, one.size));
    case 'rename':
      return fs.renameSync(one.path, one.to);
    case 'link':
      return fs.linkSync(one.path, one.to);
    case 'unlink':
      return fs.unlinkSync(one.path);
    case 'rmdir':
      return fs.rmdirSync(one.path);
  }
}

function outcome(fs: FileSystem, one: Step): unknown {
  try {
    return run(fs, one);
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
}

/** Every folder and file with its size, its links and its bytes. */
function content(fs: FileSystem, root = '', at = ''): unknown[] {
  return fs
    .readdirSync(`${root}${at}` || '/', { withFileTypes: true })
    .map((entry) => (typeof entry === 'object' && 'name' in entry ? String(entry.name) : ''))
    .sort()
    .flatMap((name) => {
      const found = fs.statSync(`${root}${at}/${name}`);
      if (found.isDirectory()) return [`${at}/${name}`, ...content(fs, root, `${at}/${name}`)];
      const into = new Uint8Array(found.size);
      withFile(fs, `${root}${at}/${name}`, O_RDONLY, (fd) =>
        fs.readSync(fd, into, 0, into.length, 0),
      );
      return [[`${at}/${name}`, found.nlink, [...into]]];
    });
}

test.skipIf(process.platform === 'win32')('every history of steps ends as on a disk', () => {
  const disk = temporaryFolder();
  let run = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const ours = strictFileSystem(memoryFileSystem());
      const root = `${disk}/${run++}`;
      mkdirSync(root);
      for (const one of steps) {
        const there = { ...one, path: root + one.path, ...('to' in one && { to: root + one.to }) };
        expect(outcome(ours, one), JSON.stringify(one)).toEqual(outcome(nodeFs, there));
      }
      expect(content(ours)).toEqual(content(nodeFs, root));
    }),
    { numRuns: process.env.TEST_LONG ? 3_000 : 100 },
  );
});

test('what is gone stays readable by its descriptor, and a change has a later time', async () => {
  const fs = memoryFileSystem();
  const fd = fs.openSync('/f', O_RDWR | O_CREAT);
  fs.writeSync(fd, Uint8Array.of(1, 2), 0, 2, null);
  const before = fs.fstatSync(fd);
  fs.writeSync(fd, Uint8Array.of(3), 0, 1, null);
  expect(fs.fstatSync(fd).mtimeMs).toBeGreaterThan(before.mtimeMs);
  expect(fs.fstatSync(fd).ctimeMs).toBeGreaterThan(before.ctimeMs);
  fs.unlinkSync('/f');
  expect([fs.existsSync('/f'), fs.fstatSync(fd).nlink]).toEqual([false, 0]);
  const into = new Uint8Array(3);
  const read = await new Promise((resolve) =>
    fs.read(fd, into, 0, 3, 0, (error, count) => resolve([error, count])),
  );
  expect([read, [...into]]).toEqual([
    [null, 3],
    [1, 2, 3],
  ]);
  fs.closeSync(fd);
  expect(() => fs.fstatSync(fd)).toThrow('EBADF');
  expect(memoryFileSystem().statSync('/').dev).not.toBe(fs.statSync('/').dev);
});
