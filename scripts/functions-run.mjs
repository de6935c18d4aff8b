/** Which functions of a build a first session runs, as V8 counts them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const session = fileURLToPath(new URL('./first-session.mjs', import.meta.url));

/** By file, relative to the build's folder: its text, and where the functions in it lie. */
export function functionsRun(dist) {
  // Node names modules by their real paths.
  const real = realpathSync(dist);
  const folder = mkdtempSync(join(tmpdir(), 'dirspace-build-'));
  const [catalog, counted] = [join(folder, 'catalog'), join(folder, 'counted')];
  const index = join(dist, 'index.js');
  try {
    // Writing is another process's: what only writers run is not for every program to compile.
    execFileSync(process.execPath, [session, 'write', index, catalog]);
    execFileSync(process.execPath, [session, 'read', index, catalog], {
      env: { ...process.env, NODE_V8_COVERAGE: counted },
    });
    const reports = readdirSync(counted);
    if (reports.length !== 1) throw new Error(`${reports.length} reports of functions, not 1`);
    const files = new Map();
    for (const { url, functions } of JSON.parse(readFileSync(join(counted, reports[0]))).result) {
      const file = url.startsWith('file:') ? relative(real, fileURLToPath(url)) : '..';
      if (file.startsWith('..')) continue;
      const ranges = functions.map(({ ranges }) => ranges[0]).filter(({ count }) => count > 0);
      // The bundler names its files with slashes everywhere.
      files.set(file.replaceAll(sep, '/'), {
        text: readFileSync(join(real, file), 'utf8'),
        functions: ranges.map(({ startOffset, endOffset }) => [startOffset, endOffset]),
      });
    }
    // Paths that do not match would leave every function as it is, and the build as it was.
    if (files.size === 0) throw new Error(`No file of ${real} was counted`);
    return files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
