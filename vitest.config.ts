import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/helpers/compiled-sources.ts';
import { LongestFirst } from './test/helpers/sequencer.ts';

export default defineConfig({
  plugins: [compiledSources()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', '**/node_modules/**'],
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
  },
});
