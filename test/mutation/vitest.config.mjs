/**
 * The tests of all parts and the coverage that they must have, or all tests of the one part that
 * PART names, whose mutants they are to notice.
 */
import { defineConfig } from 'vitest/config';
import { WORKER_FLAGS } from '../helpers/worker-flags.ts';
import { COVERED, PARTS } from './parts.mjs';

const named = process.env.PART;
const all = { ...PARTS, ...COVERED };
const parts = named === undefined ? Object.values(all) : [all[named]];

export default defineConfig({
  test: {
    include: parts.flatMap(({ tests, more = [] }) =>
      named === undefined ? tests : [...tests, ...more],
    ),
    globalSetup: 'test/helpers/global-setup.ts',
    setupFiles: 'test/helpers/remove-temporary.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    maxWorkers: 2,
    execArgv: WORKER_FLAGS,
    coverage: {
      provider: 'v8',
      include: parts.flatMap(({ sources }) => sources),
      reporter: ['text'],
      thresholds: { branches: 100 },
    },
  },
});
