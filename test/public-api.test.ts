/** The names the package exports; a change here is a change for its users. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as api from '../src/index.ts';

const SOURCES = join(import.meta.dirname, '..', 'src');

test('what the package exports', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "Branches",
      "Connection",
      "DEFAULT_DELIMITER",
      "DirspaceError",
      "ERROR_KINDS",
      "Index",
      "MergeInsertBuilder",
      "Query",
      "Table",
      "Tags",
      "TakeQuery",
      "VectorQuery",
      "batchRows",
      "checkComponent",
      "checkPath",
      "checkProperties",
      "connect",
      "connectNamespace",
      "formatId",
      "implementationNames",
      "isDirspaceError",
      "openNamespace",
      "parseId",
      "registerNamespace",
      "schemaFromJson",
      "schemaToJson",
      "schemaToLanceJson",
      "toRecordBatchStream",
      "unsupported",
      "unsupportedOperations",
    ]
  `);
});

test.each(['index.ts', 'server.ts', 'conformance.ts'])(
  'everything that %s exports says what it is',
  (entry) => {
    const source = (file: string): string => readFileSync(join(SOURCES, file), 'utf8');
    const silent: string[] = [];
    let count = 0;
    for (const [, list = '', file = ''] of source(entry).matchAll(
      /^export (?:type )?(\{[^}]*\}|\*) from '\.\/([^']+)'/gm,
    )) {
      const text = source(file);
      const declared = Array.from(
        text.matchAll(
          /(\*\/\n)?^export (?:async |abstract )?(?:class|const|function|interface|type) (\w+)/gm,
        ),
        ([, comment, name = '']) => ({ name, said: comment !== undefined }),
      );
      const names =
        list === '*' ? declared.map(({ name }) => name) : (list.match(/\b\w+\b/g) ?? []);
      for (const name of names.filter((word) => word !== 'type')) {
        count += 1;
        if (!declared.some((found) => found.name === name && found.said)) silent.push(name);
      }
    }
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThan(10);
  },
);
