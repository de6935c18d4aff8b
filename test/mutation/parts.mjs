/**
 * The five parts that nothing may be wrong in, the files each is made of, and the tests that answer
 * for it: these alone must take every branch and notice what a mutant changes.
 */
export const PARTS = {
  /** Publishing versions, and the decision that makes the versions of a batch count. */
  commit: {
    sources: [
      'src/table/commit.ts',
      'src/table/publish.ts',
      'src/table/settle-batches.ts',
      'src/table/batch.ts',
    ],
    tests: [
      'test/table.commit.test.ts',
      'test/table.batch.test.ts',
      'test/table.flush-failures.test.ts',
      'test/table.writers.test.ts',
      'test/table.compact.test.ts',
    ],
  },
  /** What is written ahead of operations of several steps, and what an opener does about it. */
  recovery: {
    sources: [
      'src/directory/open-catalog.ts',
      'src/directory/intents.ts',
      'src/directory/journal.ts',
      'src/directory/drop-namespace.ts',
    ],
    tests: [
      'test/directory.recovery.test.ts',
      'test/directory.intents.test.ts',
      'test/directory.journal.test.ts',
      'test/directory.open.test.ts',
      'test/directory.place-table.test.ts',
    ],
  },
  /** What removes versions, files and dropped tables for good. */
  cleanup: {
    sources: [
      'src/table/cleanup.ts',
      'src/table/delete-versions.ts',
      'src/table/holds.ts',
      'src/directory/trash.ts',
    ],
    tests: [
      'test/table.cleanup.test.ts',
      'test/table.delete-versions.test.ts',
      'test/directory.without-version.test.ts',
      'test/sdk.incarnation.test.ts',
      'test/namespace.directory.test.ts',
      'test/table.version-times.test.ts',
      'test/table.writers.test.ts',
      'test/directory.trash.test.ts',
    ],
  },
  /** Between ids and folder names. */
  names: {
    sources: ['src/format/paths.ts', 'src/protocol/ident.ts'],
    tests: [
      'test/format.layout.test.ts',
      'test/format.paths.test.ts',
      'test/protocol.ident.test.ts',
    ],
  },
  /** From the bytes of a version file to values. */
  manifest: {
    sources: [
      'src/format/manifest.ts',
      'src/format/chunk.ts',
      'src/format/fragment-entry.ts',
      'src/format/json.ts',
    ],
    tests: ['test/format.json.test.ts', 'test/format.versions.test.ts'],
  },
};
