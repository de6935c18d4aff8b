import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/helpers/compiled-sources.ts';
import { LongestFirst } from './test/helpers/sequencer.ts';
import { WORKER_FLAGS } from './test/helpers/worker-flags.ts';

/** Tests of what a user starts: commands, the package as it is installed, the kit, the proofs' runner. */
const PROGRAMS = [
  'test/{cli,conformance,proof}/**/*.test.ts',
  // The picture of the rooms is not one of a program.
  'test/package/!(imports).test.ts',
];

/** What each part of the tests leaves out, whatever its files. */
const OTHERS = ['test/interop/**', '**/node_modules/**'];

export default defineConfig({
  plugins: [compiledSources()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    // `npm test` is the engine, `npm run test:programs` the rest; a path picks files of both.
    projects: [
      {
        extends: true,
        test: { name: 'engine', include: ['test/**/*.test.ts'], exclude: [...PROGRAMS, ...OTHERS] },
      },
      { extends: true, test: { name: 'programs', include: PROGRAMS, exclude: OTHERS } },
    ],
    globalSetup: 'test/helpers/global-setup.ts',
    setupFiles: 'test/helpers/remove-temporary.ts',
    sequence: { sequencer: LongestFirst },
    // Commands that tests start leave the compile cache of the user who runs the tests alone.
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
    // Files of one worker share the modules: loading them anew for each takes a quarter of the time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than the two processors of CI: a third of a worker's time is waiting for processes,
    // sockets and disks.
    maxWorkers: 3,
    execArgv: WORKER_FLAGS,
  },
});
