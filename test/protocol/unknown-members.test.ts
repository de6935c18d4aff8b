/** Members that no model knows: refused where something changes, passed over where it is read. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { checkedRequest } from '../../src/protocol/checked-request.ts';
import {
  type AnyOperation,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  requestModel,
} from '../../src/protocol/every-operation.ts';
import { modelArbitrary } from '../helpers/model-arbitrary.ts';

const changing = EVERY_OPERATION_NAMES.filter((name) => EVERY_OPERATION[name].changes);
const reading = EVERY_OPERATION_NAMES.filter((name) => !EVERY_OPERATION[name].changes);

/** The message it is refused with. */
function refusal(operation: AnyOperation, request: unknown): string {
  try {
    checkedRequest(operation, request);
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) return error.message;
    throw error;
  }
  return 'taken';
}

describe('an unknown member', () => {
  test.each(changing)('of %s is refused, whatever else is right', (operation) => {
    const requests = modelArbitrary(requestModel(operation)) as fc.Arbitrary<object>;
    fc.assert(
      fc.property(requests, fc.constantFrom<unknown>('', 0, false, {}, []), (request, value) => {
        expect(() => checkedRequest(operation, request)).not.toThrow();
        expect(refusal(operation, { ...request, nonsense_7: value })).toContain(
          'has no member "nonsense_7"',
        );
      }),
      { numRuns: 20 },
    );
  });
  test.each(reading)('of %s is passed over, as newer clients may send it', (operation) => {
    const requests = modelArbitrary(requestModel(operation)) as fc.Arbitrary<object>;
    fc.assert(
      fc.property(requests, (request) => {
        expect(refusal(operation, { ...request, nonsense_7: 1 })).toBe('taken');
      }),
      { numRuns: 20 },
    );
  });
  test.each<[AnyOperation, object, string, string]>([
    ['UpdateTable', { updates: [], filter: 'a' }, '"filter"', '"predicate"'],
    ['UpdateTable', { updates: [], where: 'a' }, '"where"', '"predicate"'],
    ['UpdateTable', { values: {} }, '"values"', '"updates"'],
    ['UpdateTable', { updates: [], Predicate: 'a' }, '"Predicate"', '"predicate"'],
    ['DeleteFromTable', { predicat: 'a' }, '"predicat"', '"predicate"'],
    ['CreateTable', { mod: 'overwrite' }, '"mod"', '"mode"'],
    ['RestoreTable', { version: 1, barnch: 'b' }, '"barnch"', '"branch"'],
    ['RenameTable', { new_table_name: 'a', newNamespaceId: [] }, 'newNames', 'new_namespace_id'],
    ['CleanupTable', { older_than_millis: 1, dryRun: true }, '"dryRun"', '"dry_run"'],
  ])('of %s %j is named with the known one nearest to it', (operation, request, given, meant) => {
    expect(refusal(operation, request)).toContain(given);
    expect(refusal(operation, request)).toContain('did you mean');
    expect(refusal(operation, request)).toContain(meant);
  });
  test('that is like none is named with all there are', () => {
    expect(refusal('DeleteFromTable', { predicate: 'a', zzzzzz: 1 })).toBe(
      'DeleteFromTableRequest has no member "zzzzzz". It takes predicate, id, incarnation, branch, identity, context.',
    );
  });
  test.each<[AnyOperation, object, string]>([
    [
      'AlterTableAlterColumns',
      { alterations: [{ path: 'a' }, { path: 'b', renam: 'c' }] },
      '.alterations[1] has no member "renam"; did you mean "rename"?',
    ],
    [
      'AlterTableAddColumns',
      { new_columns: [{ name: 'a', expresion: '1' }] },
      '.new_columns[0] has no member "expresion"; did you mean "expression"?',
    ],
    [
      'UpdateFieldMetadata',
      { updates: [{ path: 'a', metadata: {}, replce: true }] },
      '.updates[0] has no member "replce"; did you mean "replace"?',
    ],
    [
      'OptimizeTable',
      { compact: { targetRows: 1 } },
      '.compact has no member "targetRows"; did you mean "target_rows"?',
    ],
    [
      'BatchDeleteTableVersions',
      { ranges: [{ start_version: 1, end_version: 2, end: 3 }] },
      '.ranges[0] has no member "end"',
    ],
    [
      'BatchCommitTables',
      { operations: [{ declare_table: { id: ['a'], locaton: 'x' } }] },
      '.operations[0].declare_table has no member "locaton"; did you mean "location"?',
    ],
    [
      'DropTable',
      { id: ['a'], identity: { apikey: 'x' } },
      '.identity has no member "apikey"; did you mean "api_key"?',
    ],
  ])('inside of %s is found where it stands', (operation, request, found) => {
    expect(refusal(operation, request)).toContain(requestModel(operation) + found);
  });
  test('with the name of something every object has is unknown too', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      const request = JSON.parse(`{"predicate":"a","${name}":"x"}`);
      expect(refusal('DeleteFromTable', request)).toContain(`has no member "${name}"`);
    }
  });
  test('that is null or undefined says nothing, and is taken', () => {
    expect(refusal('UpdateTable', { updates: [], filter: null, where: undefined })).toBe('taken');
  });
  test('with a name of a million characters costs and shows little of it', () => {
    const message = refusal('DeleteFromTable', { predicate: 'a', ['x'.repeat(1e6)]: 1 });
    expect(message.length).toBeLessThan(400);
  });
});

describe('keys that are data', () => {
  test.each<[AnyOperation, object]>([
    ['CreateNamespace', { properties: { any: 'x' }, context: { any: 'x' } }],
    ['CreateTable', { properties: { any: 'x' }, storage_options: { any: 'x' } }],
    ['UpdateTable', { updates: [], properties: { any: 'x' } }],
    ['UpdateTableSchemaMetadata', { metadata: { any: 'x' } }],
    ['UpdateFieldMetadata', { updates: [{ path: 'a', metadata: { any: 'x', gone: null } }] }],
    ['CreateTableVersion', { version: 1, manifest_path: 'x', metadata: { any: 'x' } }],
    ['AlterTableAddColumns', { new_columns: [{ name: 'a', metadata: { any: 'x' } }] }],
  ])('of %s are any', (operation, request) => {
    expect(refusal(operation, request)).toBe('taken');
  });
});

test('members of newer protocols are known: several keys of a merge, bounds of probes', () => {
  expect(refusal('MergeInsertIntoTable', { on: ['a', 'b'] })).toBe('taken');
  expect(refusal('QueryTable', { k: 1, minimum_nprobes: 1, maximum_nprobes: 2 })).toBe('taken');
  expect(refusal('QueryTable', { k: 1, minimum_nprobes: 0 })).toContain('minimum_nprobes');
  expect(refusal('AnalyzeTableQueryPlan', { k: 1, maximum_nprobes: 0 })).toContain(
    'maximum_nprobes',
  );
});
