/** One file of one part at a time: PART names the part, SOURCE the file. See run.mjs. */
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
const { SOURCE, REPORT } = process.env;

export default {
  mutate: [SOURCE],
  testRunner: 'vitest',
  plugins: [resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: 'test/mutation/vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // A mutant counts as noticed when it hangs: one that is slow on a busy machine must not.
  timeoutMS: 15_000,
  timeoutFactor: 4,
  disableTypeChecks: false,
  // Nothing in it needs to be moved, and reading it asks for a compiler of before version 7.
  tsconfigFile: 'no-tsconfig.json',
  ignorePatterns: [
    '*',
    ...['!src', '!src/**', '!test', '!test/**', 'test/interop', 'test/mutation/node_modules'],
    ...['!package.json', '!tsconfig.json', '!fixtures', '!fixtures/**'],
  ],
  tempDirName: '.stryker-tmp',
  reporters: ['json'],
  jsonReporter: { fileName: REPORT },
  allowEmpty: false,
  logLevel: process.env.LOG ?? 'warn',
};
