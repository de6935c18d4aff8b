/** Runs LanceDB's own examples with dirspace in place of its package. `$SNIPPETS` is the folder of copies. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

// biome-ignore lint/style/noDefaultExport: vitest asks for one
export default defineConfig({
  root: process.env.SNIPPETS,
  resolve: {
    alias: [
      { find: '@jest/globals', replacement: 'vitest' },
      { find: '@lancedb/lancedb/embedding', replacement: at('embedding.mjs') },
      { find: /^@lancedb\/lancedb$/, replacement: at('../../../dist/index.js') },
    ],
  },
  test: { include: ['*.test.ts'], testTimeout: 60_000, fileParallelism: false },
});
