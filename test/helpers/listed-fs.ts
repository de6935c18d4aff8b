/** The real file system, with a list of the calls that look for something on it or remove a file. */
import nodeFs from 'node:fs';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';

export interface Disk {
  /** The calls on paths. */
  readonly calls: string[];
  /** Runs a call in place of the one it is given. */
  around: (<Result>(call: string, run: () => Result) => Result) | undefined;
}

export function listed(disk: Disk) {
  const noting =
    <Args extends unknown[], Result>(name: string, call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      const line = `${name} ${String(args[0]).split('/').at(-1)}`;
      disk.calls.push(line);
      const run = (): Result => call(...args);
      return disk.around === undefined ? run() : disk.around(line, run);
    };
  const realpathSync = Object.assign(noting('realpath', nodeFs.realpathSync), {
    native: noting('realpath', nodeFs.realpathSync.native),
  });
  return trustFileSystem({
    ...nodeFs,
    lstatSync: noting('lstat', nodeFs.lstatSync),
    openSync: noting('open', nodeFs.openSync),
    unlinkSync: noting('unlink', nodeFs.unlinkSync),
    readdirSync: noting('readdir', nodeFs.readdirSync),
    realpathSync,
  } as never);
}
