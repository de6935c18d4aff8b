/** The events that lie between two states of a catalog, and their order. */
import { expect, test } from 'vitest';
import { type CatalogState, compareStates, readState } from '../../src/directory/catalog-state.ts';
import { openCatalog } from '../../src/directory/open-catalog.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { shortEvent } from '../helpers/watched.ts';

/** Namespaces and tables by path; the values are their incarnations. */
function state(
  namespaces: Readonly<Record<string, string | undefined>>,
  tables: Readonly<Record<string, string>> = {},
): CatalogState {
  const entries = <Value>(
    of: Readonly<Record<string, Value>>,
  ): [string, { id: string[]; incarnation: Value }][] =>
    Object.entries(of).map(([path, incarnation]) => [
      path.replaceAll('/', '$'),
      { id: path.split('/'), incarnation },
    ]);
  return {
    namespaces: new Map(entries(namespaces)),
    tables: new Map(
      entries(tables).map(([key, table]) => [
        key,
        { ...table, branches: new Map(), tags: new Map() },
      ]),
    ),
  };
}

const between = (before: CatalogState, after: CatalogState): string[] =>
  compareStates(before, after).map(shortEvent);

test('what an overwritten namespace holds again is told after it, what left it before', () => {
  const before = state(
    { a: '1', 'a/b': '2', 'a/gone': '3', out: '4' },
    { 'a/b/moved': 'm', 'a/b/lost': 'l', 'a/b/made': 'o', 'out/back': 'r', 'out/same': 's' },
  );
  const after = state(
    { a: '5', 'a/b': '6', 'a/new': '7', fresh: '8', out: '4' },
    { 'a/b/made': 'n', 'a/new/back': 'r', 'out/moved': 'm', 'out/same': 's' },
  );
  expect(between(before, after)).toEqual([
    'namespace_created fresh',
    'table_dropped a/b/lost',
    'table_dropped a/b/made',
    'table_renamed a/b/moved -> out/moved',
    'namespace_dropped a/gone',
    'namespace_dropped a/b',
    'namespace_dropped a',
    'namespace_created a',
    'namespace_created a/b',
    'namespace_created a/new',
    'table_created a/b/made',
    'table_renamed out/back -> a/new/back',
  ]);
});

test('without an overwritten namespace parents come first and go last', () => {
  const before = state({ a: '1', 'a/b': '2' }, { 'a/b/t': 't' });
  const after = state({ c: '3', 'c/d': '4' }, { 'c/d/t': 't', 'c/u': 'u' });
  expect(between(before, after)).toEqual([
    'namespace_created c',
    'namespace_created c/d',
    'table_renamed a/b/t -> c/d/t',
    'table_created c/u',
    'namespace_dropped a/b',
    'namespace_dropped a',
  ]);
  expect(between(after, after)).toEqual([]);
});

test('a namespace whose record is damaged, or is read again, is not taken for another', () => {
  const [sound, damaged] = [state({ a: '1' }), state({ a: undefined })];
  expect(between(sound, damaged)).toEqual([]);
  expect(between(damaged, sound)).toEqual([]);
});

test('states are read of namespaces with a damaged record too', async () => {
  const fs = memoryFs();
  const { catalog } = await openCatalog({ root: '/c', fs });
  fs.mkdirSync('/c/a', { recursive: true });
  fs.writeFileSync('/c/a/.namespace.json', 'nonsense');
  const { namespaces } = await readState(catalog, []);
  expect([...namespaces.values()]).toEqual([{ id: ['a'], incarnation: undefined }]);
});
