/**
 * The types of this package fit where a program has those of LanceDB's SDK, but for the names in differences.json, which
 * docs/moving-from-lancedb.md tells of.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { absentNames } from './declarations.mjs';
import { typeDifferences } from './types.mjs';

const here = import.meta.dirname;
const read = (path) => readFileSync(join(here, path), 'utf8');

test('every exported name has a type that fits, or is listed', () => {
  const pending = JSON.parse(read('pending.json'));
  const absent = new Set([
    ...absentNames(read('../../../docs/moving-from-lancedb.md')),
    ...pending,
  ]);
  const found = typeDifferences(join(here, 'node_modules/@lancedb/lancedb'), absent);
  const known = JSON.parse(read('differences.json'));
  const told = [...found].filter(([name]) => !known.includes(name));
  assert.deepEqual(told, []);
  assert.deepEqual(
    known.filter((name) => !found.has(name)),
    [],
    'these fit by now; take them out of the list',
  );
});
