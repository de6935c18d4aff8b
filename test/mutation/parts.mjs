/**
 * The parts that nothing may be wrong in, the files each is made of, and the tests that answer for
 * it: these alone must take every branch, and with some `more` notice what a mutant changes.
 */
export const PARTS = {
  /** Publishing versions, and the decision that makes the versions of a batch count. */
  commit: {
    sources: [
      'src/table/versions/commit.ts',
      'src/table/versions/publish.ts',
      'src/table/versions/settle-undecided.ts',
      'src/table/versions/multi-table-commit.ts',
    ],
    tests: [
      'test/table/versions/commit.test.ts',
      'test/table/versions/multi-table-commit.test.ts',
      'test/table/write/flush-failures.test.ts',
      'test/table/versions/writers.test.ts',
      'test/table/views.test.ts',
      'test/table/lance/old-fragments.test.ts',
      'test/sdk/lance-option.test.ts',
    ],
    more: ['test/table/write/compact.test.ts'],
  },
  /** What is written ahead of operations of several steps, and what an opener does about it. */
  recovery: {
    sources: [
      'src/directory/open-catalog.ts',
      'src/directory/catalog/intents.ts',
      'src/directory/catalog/journal.ts',
      'src/directory/catalog/drop-namespace.ts',
    ],
    tests: [
      'test/directory/recovery.test.ts',
      'test/directory/intents.test.ts',
      'test/directory/journal.test.ts',
      'test/directory/open.test.ts',
      'test/directory/place-table.test.ts',
    ],
  },
  /** What removes versions, files and dropped tables for good. */
  cleanup: {
    sources: [
      'src/table/history/cleanup.ts',
      'src/table/history/delete-versions.ts',
      'src/table/history/holds.ts',
      'src/directory/catalog/trash.ts',
    ],
    tests: [
      'test/table/history/cleanup.test.ts',
      'test/table/history/delete-versions.test.ts',
      'test/directory/without-version.test.ts',
      'test/table/history/version-times.test.ts',
      'test/table/versions/writers.test.ts',
      'test/table/lance-write/branches.test.ts',
      'test/directory/trash.test.ts',
      'test/directory/lance-tables.test.ts',
      'test/directory/outside-files.test.ts',
      'test/directory/outside-locations.test.ts',
      'test/table/lance-write/made-anew.test.ts',
    ],
    more: ['test/sdk/incarnation.test.ts', 'test/directory/namespace.test.ts'],
  },
  /** Between ids and folder names. */
  names: {
    sources: ['src/paths.ts', 'src/lance-paths.ts', 'src/protocol/ident.ts'],
    tests: [
      'test/ground/layout.test.ts',
      'test/ground/paths.test.ts',
      'test/protocol/ident.test.ts',
    ],
  },
  /** From the bytes of a version file to values. */
  manifest: {
    sources: [
      'src/format/catalog/manifest.ts',
      'src/format/catalog/chunk.ts',
      'src/format/catalog/fragment-entry.ts',
      'src/json.ts',
    ],
    tests: [
      'test/ground/json.test.ts',
      'test/format/format-versions.test.ts',
      'test/format/manifest.test.ts',
      'test/format/overlays.test.ts',
      'test/format/chunk-index.test.ts',
    ],
    more: ['test/format/compressed-fragment.test.ts'],
  },
};

/** Parts that take every branch, and are not mutated. */
export const COVERED = {
  /** Partitions of vectors, and the search in them. */
  ivf: {
    sources: ['src/indexes/ivf/*.ts', 'src/indexes/ivf-parameters.ts'],
    tests: ['test/indexes/ivf.test.ts', 'test/indexes/ivf-parameters.test.ts'],
  },
  /** From the bytes of Parquet's metadata and pages to values. */
  parquet: {
    sources: [
      'src/interchange/parquet/delta.ts',
      'src/interchange/parquet/encodings.ts',
      'src/interchange/parquet/levels.ts',
      'src/interchange/parquet/page-codecs.ts',
      'src/interchange/parquet/page-source.ts',
      'src/interchange/parquet/snappy.ts',
      'src/interchange/parquet/stores.ts',
      'src/interchange/parquet/thrift.ts',
      'src/interchange/parquet/thrift-writer.ts',
    ],
    tests: [
      'test/interchange/parquet/decoders.test.ts',
      'test/interchange/parquet/parquet-files.test.ts',
      'test/interchange/parquet/parquet-hostile.test.ts',
    ],
  },
};
