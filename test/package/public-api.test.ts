/** The names the package exports; a change here is a change for its users. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as api from '../../src/index.ts';

const SOURCES = join(import.meta.dirname, '..', '..', 'src');

test('what the package exports', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "AutoQuery",
      "BlobFile",
      "BooleanQuery",
      "BoostQuery",
      "Branches",
      "Connection",
      "DEFAULT_DELIMITER",
      "DirspaceError",
      "ERROR_KINDS",
      "Exportable",
      "FullTextQueryType",
      "GroupedQuery",
      "HeaderProvider",
      "Index",
      "Job",
      "MakeArrowTableOptions",
      "MatchQuery",
      "MaterializedView",
      "MergeInsertBuilder",
      "MultiMatchQuery",
      "OAuthFlowType",
      "OAuthHeaderProvider",
      "Occur",
      "Operator",
      "PermutationBuilder",
      "PhraseQuery",
      "PrefixQuery",
      "Query",
      "QueryBase",
      "RRFReranker",
      "RunnableQuery",
      "Scannable",
      "Session",
      "SqlQuery",
      "StatementQuery",
      "StaticHeaderProvider",
      "Table",
      "Tags",
      "TakeQuery",
      "VectorColumnOptions",
      "VectorQuery",
      "batchRows",
      "blob",
      "checkComponent",
      "checkPath",
      "checkProperties",
      "connect",
      "connectNamespace",
      "default",
      "embedding",
      "formatId",
      "fromCsv",
      "fromFile",
      "fromJson",
      "fromJsonLines",
      "fromParquet",
      "implementationNames",
      "instrumentLanceDbMetrics",
      "isBlobField",
      "isDirspaceError",
      "makeArrowTable",
      "openNamespace",
      "packBits",
      "parseId",
      "permutationBuilder",
      "registerFunction",
      "registerNamespace",
      "rerankers",
      "schemaFromJson",
      "schemaToJson",
      "schemaToLanceJson",
      "toRecordBatchStream",
      "tokenize",
      "unsupported",
      "unsupportedOperations",
    ]
  `);
});

/** The names of an export list, without what they are called where they come from. */
const namesIn = (list: string): string[] =>
  (list.match(/\b\w+\b/g) ?? []).filter((word) => word !== 'type');

const EXPORTS = /^export (?:type )?(\{[^}]*\}|\*) from '(\.[^']+)'/gm;
/** What a file exports is one object there. */
const NAMESPACES = /(\*\/\n)?^export \* as (\w+) from/gm;
const DECLARED =
  /(\*\/\n)?^export (?:(?:async |abstract )?(?:class|const|function|interface|type)|\* as) (\w+)/gm;

/** What the file declares, and what it exports of other files: name -> whether a comment says what it is. */
function exportsOf(file: string): Map<string, boolean> {
  const text = readFileSync(file, 'utf8');
  const found = new Map<string, boolean>();
  // Models are objects of the protocol, which says what they are.
  const isModel = file.includes(join('protocol', 'models'));
  for (const [, comment, name = ''] of text.matchAll(DECLARED)) {
    found.set(name, isModel || found.get(name) === true || comment !== undefined);
  }
  for (const [, comment, name = ''] of text.matchAll(NAMESPACES)) {
    found.set(name, comment !== undefined);
  }
  for (const [, list = '', from = ''] of text.matchAll(EXPORTS)) {
    const others = exportsOf(join(dirname(file), from));
    const names = list === '*' ? [...others.keys()] : namesIn(list);
    for (const name of names) found.set(name, others.get(name) ?? false);
  }
  return found;
}

test.each(['index.ts', 'server.ts', 'conformance.ts', 'testing.ts', 'duckdb.ts', 'embedding.ts'])(
  'everything that %s exports says what it is',
  (entry) => {
    const found = exportsOf(join(SOURCES, entry));
    expect([...found].filter(([, isSaid]) => !isSaid)).toEqual([]);
    expect(found.size).toBeGreaterThan(5);
  },
);
