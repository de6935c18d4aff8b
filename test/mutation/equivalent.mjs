/**
 * Mutants that no test can notice, and why: `in` is part of their line, `to` what stands there
 * instead. They count against the score all the same.
 */
const NO_ENTRY = 'what is no entry has no name and no kind, and is passed';
const FASTER = 'a shortcut: the longer way comes to the same';

export const EQUIVALENT = {
  'src/table/versions/commit.ts': [
    {
      in: 'seen === undefined ||',
      to: 'false',
      because: 'no version is greater than undefined: the loop does not begin',
    },
    { in: 'version === newest', to: 'false', because: FASTER },
    {
      in: '? head?.snapshot',
      to: 'head.snapshot',
      because: 'without a head the newest is 0, and the loop does not begin',
    },
  ],
  'src/table/versions/publish.ts': [
    { in: 'engine.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
    {
      in: 'parseDeletedRun(',
      to: '["Stryker was here"]',
      because: 'a run without ends holds none',
    },
    {
      in: 'return true;',
      to: 'false',
      because: 'the version file is read again then, and says the same',
    },
  ],
  'src/directory/catalog/intents.ts': [
    { in: 'catalog.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
  ],
  'src/directory/catalog/journal.ts': [
    { in: 'catalog.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
  ],
  'src/directory/catalog/drop-namespace.ts': [
    { in: 'catalog.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
    {
      in: "kind: 'drop_empty_namespace'",
      to: '""',
      because: 'while it runs only the kind of the other intent is asked for',
    },
    {
      in: "? 'dropped' : 'not empty'",
      to: '""',
      because: 'who replaces asks for dropped alone',
    },
    {
      in: "=== 'moved') return 'dropped'",
      to: '""',
      because: 'what was moved is gone from staging, which is looked at next',
    },
    {
      in: "outcome === 'missing' &&",
      to: 'true',
      because: 'where the place is taken its parents are there, and it is taken again',
    },
    { in: "outcome !== 'taken'", to: 'false', because: 'what was moved has no children left' },
  ],
  'src/table/history/cleanup.ts': [
    { in: 'engine.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
    {
      in: "kind !== 'file'",
      to: 'false',
      because: 'a folder has no size and no age: it is passed',
    },
    { in: 'const folders', to: '() => undefined', because: 'what is looked at twice is the same' },
    { in: 'const deleted', to: 'known', because: 'what is looked at twice is the same' },
    { in: "Buffer.from('now')", to: '""', because: 'only the time of the file matters' },
  ],
  'src/table/history/delete-versions.ts': [
    { in: 'engine.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
    {
      in: 'const joined',
      to: '["Stryker was here"]',
      because: 'a run without ends joins none, and is not new',
    },
  ],
  'src/table/history/holds.ts': [
    { in: 'engine.store.list(', to: '["Stryker was here"]', because: NO_ENTRY },
    { in: 'putIfAbsent(file,', to: '""', because: 'only the name of a hold is read' },
  ],
  'src/paths.ts': [
    { in: 'LONGEST_RESERVED &&', to: 'false', because: FASTER },
    { in: '!DEVICE.test(bare)', to: 'false', because: FASTER },
    { in: '!DEVICE.test(bare)', to: '""', because: FASTER },
    { in: 'const PLAIN', to: '/^[a-z0-9_-]$/', because: FASTER },
    ...['true', 'false', 'namespace.length !== 0'].map((to) => ({
      in: "'table', namespace.length === 0",
      to,
      because: 'only names of namespaces differ at the root',
    })),
    { in: 'cut < 0', to: 'cut <= 0', because: 'what is before a slash in front is empty' },
  ],
  'src/format/catalog/manifest.ts': [
    { in: 'const KNOWN_FEATURES', to: '["Stryker was here"]', because: 'nobody names it' },
    { in: 'features.filter(', to: 'features', because: 'this release knows no feature yet' },
  ],
  'src/json.ts': [
    {
      in: 'new TextDecoder(',
      to: '""',
      because: 'it throws when the file is loaded, which counts as no failed test',
    },
  ],
};
