/** Data goes through a server without staying in it: its memory is measured in its own process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compiledModule } from '../helpers/compiled.ts';

const MEGABYTES = 128;
/** What a server takes to work at all is 80 to 135, as the collector has it; the data would be 128 more. */
const MAX_GROWTH = 180;

test(`an insert and a query of ${MEGABYTES} MB do not stay in a server`, async () => {
  const dist = fileURLToPath(new URL('.', compiledModule('index.js')));
  const script = join(import.meta.dirname, '..', '..', 'bench', 'rest-stream.mjs');
  const flags = ['--megabytes', String(MEGABYTES), '--dist', dist, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...flags]);
  const { insert, query, growth } = JSON.parse(stdout);
  // The process was there, and was looked at.
  expect(Math.min(insert.before, query.before)).toBeGreaterThan(20);
  expect(growth).toBeLessThan(MAX_GROWTH);
}, 180_000);
