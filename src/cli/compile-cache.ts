/**
 * `useCompileCache` turns on Node's compile cache, so that the next command starts faster, unless
 * the environment names a cache or switches it off. If anything fails, the cache stays off. Node
 * runs the code that it finds in the cache, so a folder that another user owns or can write to is
 * not used; Windows is not checked for this. `compileCacheFolders` tells the folders. main.ts
 * imports this file first, so it imports no other file of the project.
 */
import { mkdirSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, posix, win32 } from 'node:path';

/** What names the user's folder for caches. */
interface Place {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  home: () => string;
}

/** What the cache depends on; the process's own by default. */
export interface CacheSurroundings extends Place {
  /** The user's number; undefined on Windows. */
  user: number | undefined;
  /** The function `enableCompileCache` of `node:module`, from Node 22.8 on. */
  enable: ((folder: string) => unknown) | undefined;
}

const ofProcess = (): CacheSurroundings => ({
  platform: process.platform,
  env: process.env,
  home: homedir,
  user: process.geteuid?.(),
  enable: (nodeModule as { enableCompileCache?: (folder: string) => unknown }).enableCompileCache,
});

/**
 * Switches the cache on where Node has one and the environment names none. What is loaded from the
 * folder is code: one that is another user's, or that others can write to, is not used. Without a
 * usable folder the program is compiled as ever, so nothing here is an error.
 */
export function useCompileCache(around: CacheSurroundings = ofProcess()): void {
  const { env, enable } = around;
  // Node has obeyed NODE_COMPILE_CACHE before this file is loaded.
  if (enable === undefined || env.NODE_COMPILE_CACHE) return;
  if (env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  try {
    const { base, folders } = compileCacheFolders(around);
    if (!isOwn(base, around.user)) return;
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isOwn(folder, around.user)) return;
    }
    enable(folders.at(-1) as string);
  } catch {
    // No home, a full disk, a read-only one.
  }
}

/** The user's folder that must be there, and those below it that are made. */
export function compileCacheFolders({ platform, env, home }: Place): {
  base: string;
  folders: string[];
} {
  const { join } = platform === 'win32' ? win32 : posix;
  const below = (base: string, caches: string): { base: string; folders: string[] } => {
    const own = join(caches, 'dirspace');
    return { base, folders: [...(caches === base ? [] : [caches]), own, join(own, 'compiled')] };
  };
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || join(home(), 'AppData', 'Local');
    return below(local, local);
  }
  if (platform === 'darwin') return below(home(), join(home(), 'Library', 'Caches'));
  const named = env.XDG_CACHE_HOME;
  // The specification of XDG has relative paths ignored.
  if (named && isAbsolute(named)) return below(named, named);
  return below(home(), join(home(), '.cache'));
}

/** Whether the folder is the user's and no other can write to it; Windows keeps profiles apart. */
function isOwn(folder: string, user: number | undefined): boolean {
  const { uid, mode } = statSync(folder);
  return user === undefined || (uid === user && (mode & 0o022) === 0);
}
