/** The names the package exports; a change here is a change for its users. */
import { expect, test } from 'vitest';
import * as api from '../src/index.ts';

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
