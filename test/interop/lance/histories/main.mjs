/** The check of run.mjs alone, on a catalog of its own: `main.mjs PYTHON COMMITS SEED [LANCEDB]`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { served } from '../served.mjs';
import { checkHistories } from './run.mjs';

const [python, commits, seed, lancedb] = process.argv.slice(2);
const entry = join(import.meta.dirname, '../../../../dist/index.js');
const place = mkdtempSync(join(tmpdir(), 'dirspace-histories-'));
let failed = true;
try {
  const root = join(place, 'catalog');
  const given = { python, lancedb, entry, root, served, commits: Number(commits), seed };
  failed = await checkHistories(given);
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
