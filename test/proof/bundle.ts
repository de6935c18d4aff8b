/**
 * Makes one file of each script that many processes run, after the compiler: a process that loads
 * one file is ready in half the time of one that loads hundreds, and kills are counted by the
 * thousand. What is not bundled runs from the files themselves.
 */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const SCRIPTS = [
  ...['kill-child', 'operation-child', 'writer-child', 'mixed-child', 'lock-child'],
  'contention-child',
];
/** Loaded late if at all, and what they load lies beside them. */
const PACKAGES = ['chokidar', 'memfs'];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const input = Object.fromEntries(SCRIPTS.map((name) => [name, here(`${name}.js`)]));
const bundle = await rolldown({ input, platform: 'node', external: PACKAGES, logLevel: 'silent' });
await bundle.write({ dir: here('bundled'), format: 'esm', entryFileNames: '[name].js' });
await bundle.close();
