/** Namespaces: create, list, describe, drop, exists, properties. */
import { describe, expect } from 'vitest';
import { expectError, idsOf, partOf, people, type SuiteOptions } from './context.ts';

/** Names that look dangerous and are legal. */
export const ODD_NAMES: readonly string[] = [
  ...['.', '..', '...', 'a.table', '.table', 'table', 'data', 'CON', 'con.txt', 'NUL', 'lpt1'],
  ...['-x', '--', '_', '__proto__', 'constructor', 'a.', '.a', 'A', 'a', '.dirspace', 'versions'],
  ...['.namespace.json', '.table.json', 'main', '0', 'x'.repeat(200), 'tags', 'data.table'],
];
export const ILLEGAL_NAMES: readonly string[] = [
  ...['', ' ', 'a b', 'a/b', '../x', 'a\\b', 'a$b', 'é', 'a\0b', '%2e', 'a%', 'a:b', '*', '日本'],
];

export function namespacesPart(options: SuiteOptions): void {
  describe('namespaces', () => {
    const { test, testOf, ns, subject } = partOf(options);

    test('the root is implicit: it exists, is described, and is empty', async () => {
      await ns().namespaceExists({ id: [] });
      expect((await ns().describeNamespace({ id: [] })).properties).toEqual({});
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual([]);
      expect((await ns().listTables({ id: [] })).tables).toEqual([]);
    });

    test('the root is neither created nor dropped', async () => {
      await expectError(ns().createNamespace({ id: [] }), 'NamespaceAlreadyExists');
      await expectError(
        ns().createNamespace({ id: [], mode: 'overwrite' }),
        'NamespaceAlreadyExists',
      );
      await ns().createNamespace({ id: [], mode: 'exist_ok' });
      await expectError(ns().dropNamespace({ id: [] }), 'InvalidInput');
    });

    test('create answers the properties, with created_at supplied', async () => {
      const made = await ns().createNamespace({ id: ['a'], properties: { owner: 'me' } });
      expect(made.properties).toMatchObject({ owner: 'me' });
      const created = made.properties?.created_at ?? '';
      expect(new Date(created).toISOString()).toBe(created);
      expect((await ns().describeNamespace({ id: ['a'] })).properties).toEqual(made.properties);
    });

    test('a created_at of the caller stays', async () => {
      const properties = { created_at: 'long ago', __proto: 'x', constructor: 'y' };
      await ns().createNamespace({ id: ['a'], properties });
      expect((await ns().describeNamespace({ id: ['a'] })).properties).toEqual(properties);
    });

    test('mode create refuses an existing namespace', async () => {
      await ns().createNamespace({ id: ['a'] });
      for (const mode of ['create', 'Create', 'CREATE', undefined]) {
        const request = mode === undefined ? { id: ['a'] } : { id: ['a'], mode };
        await expectError(ns().createNamespace(request), 'NamespaceAlreadyExists');
      }
    });

    test('mode exist_ok returns the existing one unchanged, in any spelling', async () => {
      await ns().createNamespace({ id: ['a'], properties: { owner: 'me' } });
      for (const mode of ['exist_ok', 'ExistOk', 'EXIST_OK', 'existok', 'Exist_Ok']) {
        const answer = await ns().createNamespace({
          id: ['a'],
          mode,
          properties: { owner: 'you' },
        });
        expect(answer.properties).toMatchObject({ owner: 'me' });
      }
      await ns().createNamespace({ id: ['b'], mode: 'exist_ok' });
      await ns().namespaceExists({ id: ['b'] });
    });

    test('mode overwrite replaces it with all it holds, in any spelling', async () => {
      for (const mode of ['overwrite', 'Overwrite', 'OVERWRITE']) {
        await ns().createNamespace({ id: ['a'], mode, properties: { mode } });
        await ns().createNamespace({ id: ['a', 'child'] });
        await ns().createTable({ id: ['a', 't'] }, people(1));
      }
      await ns().createNamespace({ id: ['a'], mode: 'overwrite', properties: { last: 'yes' } });
      const { properties } = await ns().describeNamespace({ id: ['a'] });
      expect(properties).toEqual({ last: 'yes', created_at: expect.any(String) });
      expect((await ns().listNamespaces({ id: ['a'] })).namespaces).toEqual([]);
      expect((await ns().listTables({ id: ['a'] })).tables).toEqual([]);
    });

    test('an unknown mode is refused by name', async () => {
      const error = await expectError(
        ns().createNamespace({ id: ['a'], mode: 'replace' }),
        'InvalidInput',
      );
      expect(error.message).toContain('replace');
      await expectError(ns().dropNamespace({ id: ['a'], mode: 'maybe' }), 'InvalidInput');
      await expectError(ns().dropNamespace({ id: ['a'], behavior: 'all' }), 'InvalidInput');
    });

    test('parents must exist', async () => {
      await expectError(ns().createNamespace({ id: ['a', 'b'] }), 'NamespaceNotFound');
      await expectError(
        ns().createNamespace({ id: ['a', 'b'], mode: 'exist_ok' }),
        'NamespaceNotFound',
      );
      await expectError(ns().createTable({ id: ['a', 't'] }, people(1)), 'NamespaceNotFound');
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual([]);
    });

    test('a table is no parent', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      await expectError(ns().createNamespace({ id: ['t', 'b'] }), 'NamespaceNotFound');
      await expectError(ns().createTable({ id: ['t', 'b'] }, people(1)), 'NamespaceNotFound');
      await expectError(ns().listTables({ id: ['t'] }), 'NamespaceNotFound');
    });

    test('namespaces nest; a list has the immediate children only, in code-unit order', async () => {
      for (const id of [['b'], ['B'], ['a'], ['a-'], ['a', 'x'], ['a', 'x', 'deep'], ['a', 'w']]) {
        await ns().createNamespace({ id });
      }
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual(['B', 'a', 'a-', 'b']);
      expect((await ns().listNamespaces({ id: ['a'] })).namespaces).toEqual(['w', 'x']);
      expect((await ns().listNamespaces({ id: ['a', 'x'] })).namespaces).toEqual(['deep']);
      expect((await ns().listNamespaces({})).namespaces).toEqual(['B', 'a', 'a-', 'b']);
    });

    test('pages have limit entries and a token while more follow', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await ns().createNamespace({ id: [name] });
      const first = await ns().listNamespaces({ id: [], limit: 2 });
      expect(first.namespaces).toEqual(['a', 'b']);
      const second = await ns().listNamespaces({
        id: [],
        limit: 2,
        page_token: first.page_token ?? '',
      });
      expect(second.namespaces).toEqual(['c', 'd']);
      const third = await ns().listNamespaces({
        id: [],
        limit: 2,
        page_token: second.page_token ?? '',
      });
      expect(third.namespaces).toEqual(['e']);
      expect(third.page_token).toBeUndefined();
      expect((await ns().listNamespaces({ id: [], limit: 5 })).page_token).toBeUndefined();
    });

    test('a token survives concurrent change: nothing present throughout is missed or repeated', async () => {
      for (const name of ['b', 'd', 'f', 'h']) await ns().createNamespace({ id: [name] });
      const first = await ns().listNamespaces({ id: [], limit: 2 });
      await ns().dropNamespace({ id: ['d'] });
      await ns().createNamespace({ id: ['a'] });
      await ns().createNamespace({ id: ['g'] });
      const rest = await ns().listNamespaces({ id: [], page_token: first.page_token ?? '' });
      expect([first.namespaces, rest.namespaces]).toEqual([
        ['b', 'd'],
        ['f', 'g', 'h'],
      ]);
    });

    test('limits that are no count and tokens of nobody are refused', async () => {
      await expectError(ns().listNamespaces({ id: [], limit: 0 }), 'InvalidInput');
      await expectError(ns().listNamespaces({ id: [], limit: -1 }), 'InvalidInput');
      await expectError(ns().listNamespaces({ id: [], page_token: 'zzz' }), 'InvalidInput');
    });

    test('drop: what is missing fails, or is skipped, in any spelling', async () => {
      await expectError(ns().dropNamespace({ id: ['a'] }), 'NamespaceNotFound');
      await expectError(ns().dropNamespace({ id: ['a'], mode: 'FAIL' }), 'NamespaceNotFound');
      for (const mode of ['skip', 'Skip', 'SKIP']) await ns().dropNamespace({ id: ['a'], mode });
    });

    test('drop answers the properties it had', async () => {
      await ns().createNamespace({ id: ['a'], properties: { owner: 'me' } });
      const { properties } = await ns().dropNamespace({ id: ['a'] });
      expect(properties).toMatchObject({ owner: 'me' });
      await expectError(ns().namespaceExists({ id: ['a'] }), 'NamespaceNotFound');
    });

    test('behavior restrict refuses a namespace that holds anything', async () => {
      await ns().createNamespace({ id: ['a'] });
      await ns().createNamespace({ id: ['a', 'b'] });
      await expectError(ns().dropNamespace({ id: ['a'] }), 'NamespaceNotEmpty');
      await expectError(
        ns().dropNamespace({ id: ['a'], behavior: 'Restrict' }),
        'NamespaceNotEmpty',
      );
      await ns().dropNamespace({ id: ['a', 'b'] });
      await ns().declareTable({ id: ['a', 't'] });
      await expectError(
        ns().dropNamespace({ id: ['a'], mode: 'skip', behavior: 'RESTRICT' }),
        'NamespaceNotEmpty',
      );
      await ns().dropTable({ id: ['a', 't'] });
      await ns().dropNamespace({ id: ['a'] });
    });

    test('behavior cascade drops all of it', async () => {
      for (const behavior of ['cascade', 'Cascade', 'CASCADE']) {
        await ns().createNamespace({ id: ['a'] });
        await ns().createNamespace({ id: ['a', 'b'] });
        await ns().createTable({ id: ['a', 'b', 't'] }, people(2));
        await ns().dropNamespace({ id: ['a'], behavior });
        await expectError(ns().namespaceExists({ id: ['a', 'b'] }), 'NamespaceNotFound');
        await expectError(ns().tableExists({ id: ['a', 'b', 't'] }), 'TableNotFound');
        expect((await ns().listAllTables({})).tables).toEqual([]);
      }
    });

    test('a namespace and a table of one name cannot share a parent', async () => {
      await ns().createTable({ id: ['x'] }, people(1));
      await ns().declareTable({ id: ['d'] });
      await expectError(ns().createNamespace({ id: ['x'] }), 'NamespaceAlreadyExists');
      await expectError(ns().createNamespace({ id: ['d'] }), 'NamespaceAlreadyExists');
      await expectError(
        ns().createNamespace({ id: ['x'], mode: 'exist_ok' }),
        'NamespaceAlreadyExists',
      );
      await expectError(
        ns().createNamespace({ id: ['x'], mode: 'overwrite' }),
        'NamespaceAlreadyExists',
      );
      await ns().createNamespace({ id: ['y'] });
      await expectError(ns().createTable({ id: ['y'] }, people(1)), 'TableAlreadyExists');
      await expectError(
        ns().createTable({ id: ['y'], mode: 'overwrite' }, people(1)),
        'TableAlreadyExists',
      );
      await expectError(ns().declareTable({ id: ['y'] }), 'TableAlreadyExists');
      await expectError(ns().renameTable({ id: ['x'], new_table_name: 'y' }), 'TableAlreadyExists');
      expect(await idsOf(ns(), ['x'])).toEqual([0]);
    });

    testOf('extensions')('properties change by a call of their own', async () => {
      await ns().createNamespace({ id: ['a'], properties: { keep: '1', change: '2', go: '3' } });
      const { properties } = await ns().updateNamespaceProperties({
        id: ['a'],
        properties: { change: '4', added: '5' },
        removals: ['go', 'unknown'],
      });
      expect(properties).toMatchObject({ keep: '1', change: '4', added: '5' });
      expect(properties).not.toHaveProperty('go');
      expect((await ns().describeNamespace({ id: ['a'] })).properties).toEqual(properties);
      await expectError(ns().updateNamespaceProperties({ id: ['b'] }), 'NamespaceNotFound');
      await expectError(ns().updateNamespaceProperties({ id: [] }), 'InvalidInput');
    });

    test('every legal component names a namespace and a table', async () => {
      await ns().createNamespace({ id: ['tables'] });
      for (const name of ODD_NAMES) {
        await ns().createNamespace({ id: [name] });
        await ns().createNamespace({ id: [name, name] });
        await ns().createTable({ id: ['tables', name] }, people(1));
        await ns().createTable({ id: [name, `${name.slice(0, 190)}.t`] }, people(1));
      }
      const sorted = [...ODD_NAMES].sort();
      const listed = (await ns().listNamespaces({ id: [] })).namespaces;
      expect(listed).toEqual([...sorted, 'tables'].sort());
      expect((await ns().listTables({ id: ['tables'] })).tables).toEqual(sorted);
      for (const name of ODD_NAMES) {
        expect((await ns().listNamespaces({ id: [name] })).namespaces).toEqual([name]);
        expect(await idsOf(ns(), ['tables', name])).toEqual([0]);
        await ns().dropNamespace({ id: [name], behavior: 'cascade' });
      }
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual(['tables']);
    });

    test('tables of the root take every legal name too', async () => {
      for (const name of ODD_NAMES) await ns().createTable({ id: [name] }, people(1));
      expect((await ns().listTables({ id: [] })).tables).toEqual([...ODD_NAMES].sort());
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual([]);
    });

    test('illegal components are refused before anything happens', async () => {
      for (const name of ILLEGAL_NAMES) {
        await expectError(ns().createNamespace({ id: [name] }), 'InvalidInput');
        await expectError(ns().createTable({ id: [name] }, people(1)), 'InvalidInput');
        await expectError(ns().describeNamespace({ id: [name, 'x'] }), 'InvalidInput');
      }
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual([]);
    });

    test('names too long for the disk are refused with a clear error', async () => {
      const long = 'y'.repeat(300);
      const error = await expectError(ns().createNamespace({ id: [long] }), 'InvalidInput');
      expect(error.message).toMatch(/bytes|long/);
      await expectError(ns().createTable({ id: [long] }, people(1)), 'InvalidInput');
    });

    test('a namespace may have a name of 240 characters, and a longer one is refused as one', async () => {
      for (const length of [234, 235, 240]) {
        const id = ['n'.repeat(length)];
        await ns().createNamespace({ id });
        await expectError(ns().createNamespace({ id }), 'NamespaceAlreadyExists');
        await ns().createNamespace({ id, mode: 'overwrite' });
        await ns().createNamespace({ id: [...id, 'x'.repeat(length)] });
        await ns().createTable({ id: [...id, 't'] }, people(1));
        expect((await ns().listTables({ id })).tables).toEqual(['t']);
        await ns().dropNamespace({ id, behavior: 'cascade' });
      }
      const error = await expectError(
        ns().createNamespace({ id: ['n'.repeat(241)] }),
        'InvalidInput',
      );
      expect(error.message).toContain('The namespace name nnn');
      expect(error.message).toContain('needs 241 bytes on disk; at most 240');
      const table = await expectError(
        ns().createTable({ id: ['t'.repeat(235)] }, people(1)),
        'InvalidInput',
      );
      expect(table.message).toContain('The table name ttt');
      expect(table.message).toContain('needs 241 bytes on disk; at most 240');
      await ns().createTable({ id: ['t'.repeat(234)] }, people(1));
      await expectError(ns().createNamespace({ id: ['t'.repeat(234)] }), 'NamespaceAlreadyExists');
    });

    testOf('files')('no name escapes the root', async () => {
      for (const name of ODD_NAMES) {
        await ns().createNamespace({ id: [name] });
        await ns().createTable({ id: [name, name] }, people(1));
      }
      const { files } = subject();
      const inside = files?.all() ?? [];
      expect(inside.every((path) => !path.split('/').includes('..'))).toBe(true);
      const tops = new Set(inside.map((path) => path.split('/')[0] ?? ''));
      for (const name of ODD_NAMES) {
        if (/^[a-z0-9_-]+$/.test(name) && name !== 'data' && !/^(lpt1)$/.test(name)) {
          expect(tops).toContain(name);
        }
      }
      expect(tops).toContain('%2e%2e');
    });
  });
}
