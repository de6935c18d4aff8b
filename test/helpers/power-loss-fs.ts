/**
 * A file system that can lose power: only what was flushed is certain to survive.
 *
 * Names survive when every folder they touch was flushed afterwards, contents when the file was.
 * What was not flushed survives or not by a seeded draw, so that a run can be replayed.
 */
import { createFsFromVolume, Volume } from 'memfs';
import { completed, type FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem, trustFileSystem } from '../../src/store/disk/strict-fs.ts';

interface FileNode {
  content: Buffer;
  flushed: Buffer;
}

interface NameChange {
  readonly folders: readonly string[];
  /** Folders not flushed since. */
  readonly open: Set<string>;
  apply(tree: Tree): void;
}

type Tree = Map<string, FileNode | 'folder'>;

const parent = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

export class PowerLossFs {
  readonly fs: FileSystem;
  readonly #base: FileSystem;
  readonly #changes: NameChange[] = [];
  readonly #files = new Map<number, FileNode>();
  readonly #opened = new Map<number, { path: string; node: FileNode | undefined }>();

  constructor() {
    const base = strictFileSystem(createFsFromVolume(new Volume()));
    this.#base = base;
    this.fs = trustFileSystem({
      ...base,
      openSync: (path, flags, mode) => {
        const existed = base.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
        const fd = base.openSync(path, flags, mode);
        const stat = base.fstatSync(fd);
        if (!existed) {
          const node = { content: Buffer.alloc(0), flushed: Buffer.alloc(0) };
          this.#files.set(stat.ino, node);
          this.#changed([parent(path)], (tree) => tree.set(path, node));
        }
        this.#opened.set(fd, { path, node: this.#files.get(stat.ino) });
        return fd;
      },
      closeSync: (fd) => {
        this.#note(fd);
        this.#opened.delete(fd);
        base.closeSync(fd);
      },
      fdatasync: (fd, callback) => {
        base.fdatasync(fd, (error) => {
          if (!error) this.#flushFile(fd);
          callback(error);
        });
      },
      fsync: (fd, callback) => {
        base.fsync(fd, (error) => {
          if (!error) this.#flushFile(fd);
          callback(error);
        });
      },
      fsyncSync: (fd) => {
        base.fsyncSync(fd);
        this.#flushFile(fd);
      },
      mkdirSync: (path, options) => {
        const missing: string[] = [];
        for (let at = path; at !== '/'; at = parent(at)) {
          if (base.existsSync(at)) break;
          missing.unshift(at);
        }
        const made = base.mkdirSync(path, options);
        for (const folder of missing) {
          this.#changed([parent(folder)], (tree) => tree.set(folder, 'folder'));
        }
        return made;
      },
      linkSync: (existing, added) => {
        base.linkSync(existing, added);
        this.#changed([parent(added)], (tree) => {
          const node = tree.get(existing);
          if (node !== undefined) tree.set(added, node);
        });
      },
      unlinkSync: (path) => {
        base.unlinkSync(path);
        this.#changed([parent(path)], (tree) => tree.delete(path));
      },
      rmdirSync: (path) => {
        base.rmdirSync(path);
        this.#changed([parent(path)], (tree) => {
          for (const name of [...tree.keys()]) {
            if (name === path || name.startsWith(`${path}/`)) tree.delete(name);
          }
        });
      },
      renameSync: (from, to) => {
        base.renameSync(from, to);
        this.#changed([parent(from), parent(to)], (tree) => {
          for (const [name, node] of [...tree]) {
            if (name !== from && !name.startsWith(`${from}/`)) continue;
            tree.delete(name);
            tree.set(to + name.slice(from.length), node);
          }
        });
        for (const change of this.#changes) renameOpen(change, from, to);
      },
    });
  }

  /** The file system as the next boot finds it. */
  async afterPowerLoss(random: () => number): Promise<FileSystem> {
    for (const fd of this.#opened.keys()) this.#note(fd);
    const tree: Tree = new Map();
    for (const change of this.#changes) {
      if (change.open.size === 0 || random() < 0.5) change.apply(tree);
    }
    const next = strictFileSystem(createFsFromVolume(new Volume()));
    const survived = new Map<FileNode, Buffer>();
    for (const [path, node] of [...tree].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!next.existsSync(parent(path))) continue;
      if (node === 'folder') {
        next.mkdirSync(path, {});
        continue;
      }
      let content = survived.get(node);
      if (content === undefined) {
        content = node.content.equals(node.flushed) ? node.content : draw(node, random);
        survived.set(node, content);
      }
      const fd = next.openSync(path, 'wx', 0o600);
      const buffer = content;
      if (buffer.length > 0) await completed<number>((done) => next.writev(fd, [buffer], 0, done));
      next.closeSync(fd);
    }
    return next;
  }

  #changed(folders: readonly string[], apply: (tree: Tree) => void): void {
    this.#changes.push({ folders, open: new Set(folders), apply });
  }

  /** Takes over what was written through a descriptor. */
  #note(fd: number): void {
    const node = this.#opened.get(fd)?.node;
    if (node === undefined) return;
    const { size } = this.#base.fstatSync(fd);
    const content = Buffer.alloc(size);
    // Descriptors for writing cannot be read from, so the bytes are fetched by another.
    const path = this.#opened.get(fd)?.path as string;
    if (!this.#base.existsSync(path)) return;
    const reading = this.#base.openSync(path, 'r');
    if (this.#base.fstatSync(reading).ino === this.#base.fstatSync(fd).ino && size > 0) {
      this.#base.readSync(reading, content, 0, size, 0);
      node.content = content;
    }
    this.#base.closeSync(reading);
  }

  #flushFile(fd: number): void {
    const opened = this.#opened.get(fd);
    if (opened === undefined) return;
    if (this.#base.fstatSync(fd).isDirectory()) {
      for (const change of this.#changes) change.open.delete(opened.path);
    } else if (opened.node !== undefined) {
      this.#note(fd);
      opened.node.flushed = opened.node.content;
    }
  }
}

/** A folder that moved takes along what is still to be flushed in it. */
function renameOpen(change: NameChange, from: string, to: string): void {
  for (const folder of [...change.open]) {
    if (folder !== from && !folder.startsWith(`${from}/`)) continue;
    change.open.delete(folder);
    change.open.add(to + folder.slice(from.length));
  }
}

function draw(node: FileNode, random: () => number): Buffer {
  const fate = random();
  if (fate < 0.4) return node.flushed;
  if (fate < 0.6) return Buffer.alloc(0);
  if (fate < 0.8) return node.content.subarray(0, Math.floor(random() * node.content.length));
  return node.content;
}
