/** Tables as catalog entries: declare, create, list, drop, deregister, register, rename, undrop. */
import { describe, expect } from 'vitest';
import {
  Field,
  Int32,
  recordBatchStream,
  Schema,
  tableFromArrays,
  tableToIPC,
} from '../../../src/arrow/apache.ts';
import { expectError, idsOf, partOf, people, range, type SuiteOptions } from './context.ts';

export function tablesPart(options: SuiteOptions): void {
  describe('tables', () => {
    const { test, testOf, ns, subject } = partOf(options);

    test('create with data answers location, version, properties and a transaction', async () => {
      await ns().createNamespace({ id: ['a'] });
      const made = await ns().createTable({ id: ['a', 't'], properties: { k: 'v' } }, people(3));
      expect(made).toMatchObject({ version: 1, properties: { k: 'v' } });
      expect(made.location).toBeTypeOf('string');
      expect(made.transaction_id).toBeTypeOf('string');
      expect(await idsOf(ns(), ['a', 't'])).toEqual([0, 1, 2]);
    });

    test('create takes Arrow stream and file bytes', async () => {
      const table = tableFromArrays({ id: Int32Array.of(7, 8) });
      await ns().createTable({ id: ['s'] }, tableToIPC(table, 'stream'));
      await ns().createTable({ id: ['f'] }, tableToIPC(table, 'file'));
      expect(await idsOf(ns(), ['s'])).toEqual([7, 8]);
      expect(await idsOf(ns(), ['f'])).toEqual([7, 8]);
    });

    test('create empty from a schema', async () => {
      const schema = new Schema([new Field('id', new Int32(), false)], new Map([['a', 'b']]));
      const made = await ns().createTable({ id: ['t'] }, recordBatchStream(schema, []));
      expect(made.version).toBe(1);
      expect(await idsOf(ns(), ['t'])).toEqual([]);
      expect((await ns().countTableRows({ id: ['t'] })).count).toBe(0);
      const { is_only_declared, stats } = await ns().describeTable({
        id: ['t'],
        load_detailed_metadata: true,
      });
      expect({ is_only_declared, stats }).toEqual({
        is_only_declared: false,
        stats: { num_deleted_rows: 0, num_fragments: 0 },
      });
      await ns().insertIntoTable({ id: ['t'] }, people0(2));
      expect(await idsOf(ns(), ['t'])).toEqual([0, 1]);
    });

    test('mode create refuses an existing table and leaves it alone', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      for (const mode of ['create', 'Create', 'CREATE']) {
        await expectError(ns().createTable({ id: ['t'], mode }, people(9)), 'TableAlreadyExists');
      }
      expect(await idsOf(ns(), ['t'])).toEqual([0]);
    });

    test('overwrite replaces the properties it brings, and keeps them where it brings none', async () => {
      const id = ['t'];
      const properties = async (): Promise<unknown> =>
        (await ns().describeTable({ id })).properties;
      await ns().createTable({ id, properties: { old: '1', both: '1' } }, people(1));
      const answer = await ns().createTable(
        { id, mode: 'overwrite', properties: { both: '2', fresh: '2' } },
        people(2),
      );
      expect(answer).toMatchObject({ version: 2 });
      expect(answer.properties).toEqual({ both: '2', fresh: '2' });
      expect(await properties()).toEqual({ both: '2', fresh: '2' });

      const kept = await ns().createTable({ id, mode: 'overwrite' }, people(1));
      expect(kept.properties).toEqual({ both: '2', fresh: '2' });
      await ns().insertIntoTable({ id }, people(1));
      // They belong to the table: neither an old version nor a restored one has others.
      expect((await ns().describeTable({ id, version: 1 })).properties).toEqual(await properties());
      await ns().restoreTable({ id, version: 1 });
      expect(await properties()).toEqual({ both: '2', fresh: '2' });

      await ns().createTable({ id, mode: 'overwrite', properties: {} }, people(1));
      expect(await properties()).toEqual({});
    });

    test('properties given to a table that stays as it is are ignored', async () => {
      await ns().createTable({ id: ['t'], properties: { k: 'v' } }, people(1));
      const answer = await ns().createTable(
        { id: ['t'], mode: 'exist_ok', properties: { k: 'w' } },
        people(1),
      );
      expect(answer.properties).toEqual({ k: 'v' });
      expect((await ns().describeTable({ id: ['t'] })).properties).toEqual({ k: 'v' });
    });

    test('properties given to a declared table join those of the declaration', async () => {
      for (const mode of ['create', 'exist_ok', 'overwrite']) {
        const id = [`t_${mode}`];
        await ns().declareTable({ id, properties: { kept: '1', changed: '1' } });
        const properties = { changed: '2', added: '2' };
        const answer = await ns().createTable({ id, mode, properties }, people(1));
        const expected = { kept: '1', changed: '2', added: '2' };
        expect(answer.properties).toEqual(expected);
        expect((await ns().describeTable({ id })).properties).toEqual(expected);
      }
    });

    test('replaced properties go with the table when it is moved, dropped and registered', async () => {
      const replaced = { now: '2' };
      await ns().createNamespace({ id: ['a'] });
      await ns().createTable({ id: ['t'], properties: { once: '1' } }, people(1));
      await ns().createTable({ id: ['t'], mode: 'overwrite', properties: replaced }, people(1));
      await ns().renameTable({ id: ['t'], new_namespace_id: ['a'], new_table_name: 'u' });
      expect((await ns().describeTable({ id: ['a', 'u'] })).properties).toEqual(replaced);
      const taken = await ns().deregisterTable({ id: ['a', 'u'] });
      expect(taken.properties).toEqual(replaced);
      const location = taken.context?.relative_location ?? '';
      const put = await ns().registerTable({ id: ['t'], location, properties: { more: '3' } });
      expect(put.properties).toEqual({ now: '2', more: '3' });
      expect((await ns().describeTable({ id: ['t'] })).properties).toEqual({ now: '2', more: '3' });
      await ns().insertIntoTable({ id: ['t'] }, people(1));
      expect((await ns().dropTable({ id: ['t'] })).properties).toEqual({ now: '2', more: '3' });
    });

    test('mode exist_ok opens the existing table unchanged and ignores the data', async () => {
      await ns().createTable({ id: ['t'], mode: 'ExistOk' }, people(1));
      for (const mode of ['exist_ok', 'ExistOk', 'EXIST_OK']) {
        const answer = await ns().createTable({ id: ['t'], mode }, people(9));
        expect(answer.version).toBe(1);
      }
      expect(await idsOf(ns(), ['t'])).toEqual([0]);
    });

    test('mode overwrite is one version with new schema and rows; history stays', async () => {
      await ns().createTable({ id: ['t'] }, people(2));
      const other = tableFromArrays({ other: Float64Array.of(1.5) });
      const answer = await ns().createTable(
        { id: ['t'], mode: 'overwrite' },
        recordBatchStream(other.schema, other.batches),
      );
      expect(answer.version).toBe(2);
      const { schema } = await ns().describeTable({ id: ['t'], load_detailed_metadata: true });
      expect(schema?.fields.map(({ name }) => name)).toEqual(['other']);
      expect(await idsOf(ns(), ['t'], { version: 1 })).toEqual([0, 1]);
      await ns().createTable({ id: ['new'], mode: 'Overwrite' }, people(1));
      expect(await idsOf(ns(), ['new'])).toEqual([0]);
    });

    test('unknown modes and storage options are refused', async () => {
      await expectError(ns().createTable({ id: ['t'], mode: 'append' }, people(1)), 'InvalidInput');
      await expectError(
        ns().createTable({ id: ['t'], storage_options: { region: 'x' } }, people(1)),
        'InvalidInput',
      );
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
    });

    test('an id without parts names no table', async () => {
      await expectError(ns().createTable({ id: [] }, people(1)), 'InvalidInput');
      await expectError(ns().describeTable({ id: [] }), 'InvalidInput');
      await expectError(ns().dropTable({}), 'InvalidInput');
    });

    test('creating is all or nothing: data that fails midway leaves nothing', async () => {
      const { schema } = people(1);
      const broken = recordBatchStream(
        schema,
        (async function* () {
          yield* people(5);
          throw new Error('the source broke');
        })(),
      );
      await expect(ns().createTable({ id: ['t'] }, broken)).rejects.toThrow('the source broke');
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
      expect((await ns().listTables({ id: [] })).tables).toEqual([]);
      const { files } = subject();
      const left = files?.all().filter((path) => path.endsWith('.arrow'));
      expect(left ?? []).toEqual([]);
    });

    test('declare makes a table without data; then it can be created', async () => {
      const declared = await ns().declareTable({ id: ['t'], properties: { k: 'v' } });
      expect(declared).toMatchObject({ properties: { k: 'v' } });
      expect(declared.managed_versioning).toBe(subject().managed ?? false);
      await ns().tableExists({ id: ['t'] });
      await expectError(ns().declareTable({ id: ['t'] }), 'TableAlreadyExists');
      await expectError(ns().countTableRows({ id: ['t'] }), 'InvalidTableState');
      const made = await ns().createTable({ id: ['t'] }, people(2));
      expect(made.version).toBe(1);
      // What is declared is where others may write; rows of this engine lie under the table's name.
      expect(declared.location).not.toBe(made.location);
      expect((await ns().describeTable({ id: ['t'] })).location).toBe(made.location);
      expect(await idsOf(ns(), ['t'])).toEqual([0, 1]);
      await expectError(ns().createTable({ id: ['t'] }, people(1)), 'TableAlreadyExists');
    });

    test('a declared table is filled by exist_ok and overwrite as well', async () => {
      for (const mode of ['exist_ok', 'overwrite']) {
        await ns().declareTable({ id: [mode] });
        await ns().createTable({ id: [mode], mode }, people(1));
        expect(await idsOf(ns(), [mode])).toEqual([0]);
      }
    });

    test('declare: parents must exist, and a location is where the name says', async () => {
      await expectError(ns().declareTable({ id: ['a', 't'] }), 'NamespaceNotFound');
      for (const location of ['/tmp/x', '../x', 'somewhere/else']) {
        await expectError(ns().declareTable({ id: ['t'], location }), 'InvalidInput');
      }
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
    });

    test('exists: a table, and a version of it', async () => {
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
      await ns().createTable({ id: ['t'] }, people(1));
      await ns().tableExists({ id: ['t'] });
      await ns().tableExists({ id: ['t'], version: 1 });
      await expectError(ns().tableExists({ id: ['t'], version: 2 }), 'TableVersionNotFound');
      await expectError(ns().tableExists({ id: ['t'], version: 0 }), 'TableVersionNotFound');
      await expectError(ns().tableExists({ id: ['a', 't'] }), 'TableNotFound');
    });

    test('list has declared tables unless include_declared is false', async () => {
      await ns().declareTable({ id: ['d'] });
      await ns().createTable({ id: ['t'] }, people(1));
      expect((await ns().listTables({ id: [] })).tables).toEqual(['d', 't']);
      const all = await ns().listTables({ id: [], include_declared: true });
      expect(all.tables).toEqual(['d', 't']);
      const created = await ns().listTables({ id: [], include_declared: false });
      expect(created.tables).toEqual(['t']);
      const full = await ns().listAllTables({ include_declared: false });
      expect(full.tables).toEqual(['t']);
    });

    test('lists of tables page like lists of namespaces', async () => {
      for (const name of ['a', 'b', 'c']) await ns().declareTable({ id: [name] });
      const first = await ns().listTables({ id: [], limit: 2 });
      expect(first.tables).toEqual(['a', 'b']);
      await ns().dropTable({ id: ['b'] });
      await ns().declareTable({ id: ['aa'] });
      const rest = await ns().listTables({ id: [], page_token: first.page_token ?? '' });
      expect(rest).toEqual({ tables: ['c'] });
      await expectError(ns().listTables({ id: [], page_token: '!' }), 'InvalidInput');
      await expectError(ns().listTables({ id: [], limit: 0 }), 'InvalidInput');
    });

    test('lists of tables: a token survives concurrent change', async () => {
      await ns().createNamespace({ id: ['n'] });
      const path = (name: string): string[] => ['n', name];
      for (const name of ['b', 'd', 'f', 'h']) await ns().declareTable({ id: path(name) });
      const first = await ns().listTables({ id: ['n'], limit: 2 });
      // The entry the token tells of goes, one comes before it, one comes and one goes after it.
      await ns().dropTable({ id: path('d') });
      await ns().declareTable({ id: path('a') });
      await ns().declareTable({ id: path('g') });
      await ns().renameTable({ id: path('h'), new_table_name: 'c' });
      await ns().createTable({ id: path('f') }, people(1));
      const rest = await ns().listTables({ id: ['n'], page_token: first.page_token ?? '' });
      expect([first.tables, rest.tables]).toEqual([
        ['b', 'd'],
        ['f', 'g'],
      ]);
    });

    test('list all: a token survives concurrent change, of whole namespaces too', async () => {
      for (const id of [['k'], ['m'], ['m', 'x'], ['p']]) await ns().createNamespace({ id });
      const kept = [['a'], ['m-'], ['p', 't'], ['z']];
      const gone = [
        ['k', 't'],
        ['m', 't'],
        ['m', 'x', 't'],
      ];
      for (const id of [...kept, ...gone]) await ns().declareTable({ id });
      const pages: string[][] = [];
      let page_token: string | undefined;
      const next = async (): Promise<void> => {
        const page = await ns().listAllTables({ limit: 2, ...(page_token && { page_token }) });
        pages.push(page.tables);
        page_token = page.page_token;
      };
      await next();
      // Where the token stands, and all around it.
      await ns().dropTable({ id: ['k', 't'] });
      await ns().dropNamespace({ id: ['k'] });
      await ns().declareTable({ id: ['0'] });
      await next();
      await ns().dropTable({ id: ['m', 't'] });
      await ns().dropTable({ id: ['m', 'x', 't'] });
      await ns().dropNamespace({ id: ['m', 'x'] });
      await ns().dropNamespace({ id: ['m'] });
      // A table by the name of the namespace that the token tells of: it comes before what was in it.
      await ns().declareTable({ id: ['m'] });
      await ns().createNamespace({ id: ['n'] });
      await ns().declareTable({ id: ['n', 't'] });
      while (page_token !== undefined) await next();
      expect(pages).toEqual([
        ['a', 'k$t'],
        ['m$t', 'm$x$t'],
        ['m-', 'n$t'],
        ['p$t', 'z'],
      ]);
    });

    test('list all has the full ids of every namespace, sorted, in pages', async () => {
      for (const id of [['n'], ['n', 'm'], ['n-'], ['n.x']]) await ns().createNamespace({ id });
      const ids = [['z'], ['a'], ['n', 't'], ['n', 'm', 't'], ['n-', 't'], ['n.x', 't'], ['n0']];
      for (const id of ids) await ns().declareTable({ id });
      const expected = ids.map((id) => id.join('$')).sort();
      expect((await ns().listAllTables({})).tables).toEqual(expected);
      for (const limit of [1, 2, 3]) {
        const found: string[] = [];
        let page_token: string | undefined;
        do {
          const page = await ns().listAllTables({ limit, ...(page_token && { page_token }) });
          expect(page.tables.length).toBeLessThanOrEqual(limit);
          found.push(...page.tables);
          page_token = page.page_token;
        } while (page_token !== undefined);
        expect(found).toEqual(expected);
      }
    });

    test('drop answers id and location, and the table is gone', async () => {
      const { location } = await ns().createTable({ id: ['t'] }, people(1));
      expect(await ns().dropTable({ id: ['t'] })).toMatchObject({ id: ['t'], location });
      await expectError(ns().describeTable({ id: ['t'] }), 'TableNotFound');
      await expectError(ns().dropTable({ id: ['t'] }), 'TableNotFound');
      expect((await ns().listTables({ id: [] })).tables).toEqual([]);
    });

    testOf('extensions')('undrop brings back the table that was dropped last', async () => {
      for (const count of [1, 2, 3]) {
        await ns().createTable({ id: ['t'] }, people(count));
        await ns().createTableTag({ id: ['t'], tag: 'keep', version: 1 });
        await ns().dropTable({ id: ['t'] });
      }
      await ns().undropTable({ id: ['t'] });
      expect(await idsOf(ns(), ['t'])).toEqual([0, 1, 2]);
      expect((await ns().getTableTagVersion({ id: ['t'], tag: 'keep' })).version).toBe(1);
      await expectError(ns().undropTable({ id: ['t'] }), 'TableAlreadyExists');
      await ns().renameTable({ id: ['t'], new_table_name: 'third' });
      await ns().undropTable({ id: ['t'] });
      expect(await idsOf(ns(), ['t'])).toEqual([0, 1]);
      await expectError(ns().undropTable({ id: ['never'] }), 'TableNotFound');
    });

    testOf('extensions')('undrop finds a table inside a dropped namespace', async () => {
      await ns().createNamespace({ id: ['a'] });
      await ns().createNamespace({ id: ['a', 'b'] });
      await ns().createTable({ id: ['a', 'b', 't'] }, people(2));
      await ns().dropNamespace({ id: ['a'], behavior: 'cascade' });
      await expectError(ns().undropTable({ id: ['a', 'b', 't'] }), 'NamespaceNotFound');
      await ns().createNamespace({ id: ['a'] });
      await ns().createNamespace({ id: ['a', 'b'] });
      await ns().undropTable({ id: ['a', 'b', 't'] });
      expect(await idsOf(ns(), ['a', 'b', 't'])).toEqual([0, 1]);
    });

    testOf('extensions')('undrop respects a namespace that took the name', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      await ns().dropTable({ id: ['t'] });
      await ns().createNamespace({ id: ['t'] });
      await expectError(ns().undropTable({ id: ['t'] }), 'TableAlreadyExists');
      await ns().dropNamespace({ id: ['t'] });
      await ns().undropTable({ id: ['t'] });
    });

    testOf('extensions')('a purge of the trash is for good, and has a dry run', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      await ns().dropTable({ id: ['t'] });
      const dry = await ns().purgeTrash({ older_than_millis: 0, dry_run: true });
      expect(dry).toEqual({ removed: 1, dry_run: true });
      expect(await ns().purgeTrash({ older_than_millis: 3_600_000 })).toMatchObject({ removed: 0 });
      const purge = await ns().purgeTrash({ older_than_millis: 0 });
      expect(purge).toEqual({ removed: 1, dry_run: false });
      await expectError(ns().undropTable({ id: ['t'] }), 'TableNotFound');
      const left = subject()
        .files?.all()
        .filter((path) => path.startsWith('.dirspace/trash/'));
      expect(left ?? ['.dirspace/trash/']).toEqual(['.dirspace/trash/']);
    });

    testOf('files')('deregister keeps the files, and register puts them back', async () => {
      await ns().createTable({ id: ['t'], properties: { k: 'v' } }, people(2));
      await ns().insertIntoTable({ id: ['t'] }, people(2, 2));
      const out = await ns().deregisterTable({ id: ['t'] });
      expect(out).toMatchObject({ id: ['t'], properties: { k: 'v' } });
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
      await expectError(ns().deregisterTable({ id: ['t'] }), 'TableNotFound');
      const { location = '' } = out;
      await ns().createNamespace({ id: ['n'] });
      const back = await ns().registerTable({ id: ['n', 'u'], location, properties: { x: 'y' } });
      expect(back.properties).toEqual({ k: 'v', x: 'y' });
      expect(await idsOf(ns(), ['n', 'u'])).toEqual([0, 1, 2, 3]);
      const { properties } = await ns().describeTable({ id: ['n', 'u'] });
      expect(properties).toEqual({ k: 'v', x: 'y' });
    });

    testOf('files')('register: mode create and overwrite', async () => {
      await ns().createTable({ id: ['old'] }, people(1));
      for (const [mode, count] of [
        ['create', 2],
        ['Overwrite', 3],
      ] as const) {
        await ns().createTable({ id: ['t'] }, people(count));
        const out = await ns().deregisterTable({ id: ['t'] });
        const { location = '' } = out;
        if (mode === 'create') {
          await expectError(
            ns().registerTable({ id: ['old'], location, mode }),
            'TableAlreadyExists',
          );
          expect(await idsOf(ns(), ['old'])).toEqual([0]);
          await ns().registerTable({ id: ['other'], location, mode });
        } else await ns().registerTable({ id: ['old'], location, mode });
      }
      expect(await idsOf(ns(), ['other'])).toEqual([0, 1]);
      expect(await idsOf(ns(), ['old'])).toEqual([0, 1, 2]);
      await ns()
        .undropTable({ id: ['old'] })
        .catch(() => {});
    });

    test('register refuses locations that are absolute, climb, are missing, or belong to others', async () => {
      await ns().createTable({ id: ['mine'] }, people(1));
      for (const location of [
        ...[
          '/tmp/x',
          '../x',
          'a/../../x',
          './x',
          'a//b',
          '',
          '.',
          '..',
          'C:\\x',
          'a\\b',
          'file:///x',
        ],
        ...['missing', 'data', '.dirspace', '.dirspace/trash', '.dirspace/detached', 'a\0b'],
        'data/mine.table',
      ]) {
        await expectError(ns().registerTable({ id: ['t'], location }), 'InvalidInput');
      }
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
      expect(await idsOf(ns(), ['mine'])).toEqual([0]);
    });

    testOf('files')('register refuses a link out of the root', async () => {
      const { files } = subject();
      const { location } = await ns().createTable({ id: ['t'] }, people(1));
      files?.link(location ?? '', 'link');
      files?.link('/', 'out');
      await expectError(ns().registerTable({ id: ['x'], location: 'link' }), 'InvalidInput');
      await expectError(ns().registerTable({ id: ['x'], location: 'out/tmp' }), 'InvalidInput');
    });

    testOf('files')('a namespace folder that is a link is not entered', async () => {
      const { files } = subject();
      await ns().createNamespace({ id: ['real'] });
      files?.link(`${files.root}/real`, 'link');
      await expectError(ns().createTable({ id: ['link', 't'] }, people(1)), 'InvalidInput');
      await expectError(ns().describeNamespace({ id: ['link'] }), 'InvalidInput');
      expect((await ns().listNamespaces({ id: [] })).namespaces).toEqual(['real']);
    });

    test('rename keeps everything; move goes across namespaces', async () => {
      await ns().createNamespace({ id: ['n'] });
      await ns().createTable({ id: ['t'], properties: { k: 'v' } }, people(2));
      await ns().insertIntoTable({ id: ['t'] }, people(1, 2));
      await ns().createTableTag({ id: ['t'], tag: 'first', version: 1 });
      await ns().createTableBranch({ id: ['t'], name: 'side' });
      await ns().renameTable({ id: ['t'], new_table_name: 'u' });
      await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
      await ns().renameTable({ id: ['u'], new_table_name: 'v', new_namespace_id: ['n'] });
      await ns().renameTable({ id: ['n', 'v'], new_table_name: 'w', new_namespace_id: [] });
      await ns().renameTable({ id: ['w'], new_table_name: 'w', new_namespace_id: ['n'] });
      expect(await idsOf(ns(), ['n', 'w'])).toEqual([0, 1, 2]);
      expect(await idsOf(ns(), ['n', 'w'], { version: 1 })).toEqual([0, 1]);
      expect((await ns().getTableTagVersion({ id: ['n', 'w'], tag: 'first' })).version).toBe(1);
      await ns().insertIntoTable({ id: ['n', 'w'], branch: 'side' }, people(1, 3));
      expect((await ns().describeTable({ id: ['n', 'w'] })).properties).toEqual({ k: 'v' });
      await ns().renameTable({ id: ['n', 'w'], new_table_name: 'x' });
      expect((await ns().listTables({ id: ['n'] })).tables).toEqual(['x']);
    });

    test('rename refuses a taken name, its own name, a missing namespace and a missing table', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      await ns().declareTable({ id: ['d'] });
      await expectError(ns().renameTable({ id: ['t'], new_table_name: 'd' }), 'TableAlreadyExists');
      await expectError(ns().renameTable({ id: ['t'], new_table_name: 't' }), 'TableAlreadyExists');
      await expectError(
        ns().renameTable({ id: ['t'], new_table_name: 'u', new_namespace_id: ['no'] }),
        'NamespaceNotFound',
      );
      await expectError(ns().renameTable({ id: ['x'], new_table_name: 'u' }), 'TableNotFound');
      await expectError(ns().renameTable({ id: ['t'], new_table_name: '../u' }), 'InvalidInput');
      expect(await idsOf(ns(), ['t'])).toEqual([0]);
    });

    test('dropped and recreated is another table', async () => {
      await ns().createTable({ id: ['t'] }, people(3));
      await ns().insertIntoTable({ id: ['t'] }, people(1));
      await ns().createTableTag({ id: ['t'], tag: 'old', version: 1 });
      await ns().createTableBranch({ id: ['t'], name: 'side' });
      await ns().dropTable({ id: ['t'] });
      await ns().createTable({ id: ['t'] }, people(1));
      expect(await idsOf(ns(), ['t'])).toEqual([0]);
      expect((await ns().listTableTags({ id: ['t'] })).tags).toEqual({});
      expect((await ns().listTableBranches({ id: ['t'] })).branches).toEqual({});
      await expectError(ns().tableExists({ id: ['t'], version: 2 }), 'TableVersionNotFound');
    });

    test('insert: append in any spelling, overwrite, and the data must fit', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      for (const mode of ['append', 'Append', 'APPEND']) {
        const answer = await ns().insertIntoTable({ id: ['t'], mode }, people(2, 1));
        expect(answer).toMatchObject({ num_inserted_rows: 2 });
        expect(answer.transaction_id).toBeTypeOf('string');
      }
      const answer = await ns().insertIntoTable({ id: ['t'], mode: 'Overwrite' }, people(1, 9));
      expect(answer.version).toBe(5);
      expect(await idsOf(ns(), ['t'])).toEqual([9]);
      await expectError(
        ns().insertIntoTable({ id: ['t'], mode: 'merge' }, people(1)),
        'InvalidInput',
      );
      await expectError(ns().insertIntoTable({ id: ['x'] }, people(1)), 'TableNotFound');
      const wrong = tableFromArrays({ id: Float64Array.of(1), name: ['x'] });
      const unknown = tableFromArrays({ id: Int32Array.of(1), other: ['x'] });
      for (const { schema, batches } of [wrong, unknown]) {
        await expectError(
          ns().insertIntoTable({ id: ['t'] }, recordBatchStream(schema, batches)),
          'TableSchemaValidation',
        );
      }
      expect((await ns().listTableVersions({ id: ['t'] })).versions).toHaveLength(5);
    });

    test('many appends are read back in order', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      for (const from of range(1, 80)) await ns().insertIntoTable({ id: ['t'] }, people(1, from));
      expect(await idsOf(ns(), ['t'])).toEqual(range(0, 80));
      expect(await idsOf(ns(), ['t'], { version: 40 })).toEqual(range(0, 40));
      expect((await ns().countTableRows({ id: ['t'] })).count).toBe(80);
      expect((await ns().countTableRows({ id: ['t'], version: 5 })).count).toBe(5);
    });

    test('query selects columns, limits and skips', async () => {
      await ns().createTable({ id: ['t'] }, people(5));
      await ns().insertIntoTable({ id: ['t'] }, people(5, 5));
      const names: unknown[] = [];
      const query = { k: 4, offset: 3, columns: { column_names: ['name'] } };
      const stream = await ns().queryTable({ id: ['t'], ...query });
      expect(stream.schema.fields.map(({ name }) => name)).toEqual(['name']);
      for await (const batch of stream) names.push(...(batch.getChild('name') ?? []));
      expect(names).toEqual(['name 3', 'name 4', 'name 5', 'name 6']);
      await expectError(
        ns().queryTable({ id: ['t'], k: 1, columns: { column_names: ['nope'] } }),
        'TableColumnNotFound',
      );
    });

    test('schema metadata is replaced as a whole, by a new version', async () => {
      await ns().createTable({ id: ['t'] }, people(1));
      const answer = await ns().updateTableSchemaMetadata({
        id: ['t'],
        metadata: { a: '1', __proto: '2' },
      });
      expect(answer.metadata).toEqual({ a: '1', __proto: '2' });
      await ns().updateTableSchemaMetadata({ id: ['t'], metadata: { b: '3' } });
      const detailed = { id: ['t'], load_detailed_metadata: true };
      expect((await ns().describeTable(detailed)).schema?.metadata).toEqual({ b: '3' });
      const before = await ns().describeTable({ ...detailed, version: 2 });
      expect(before.schema?.metadata).toEqual({ a: '1', __proto: '2' });
    });

    test('stats describe the fragments', async () => {
      await ns().createTable({ id: ['t'] }, people(10));
      await ns().insertIntoTable({ id: ['t'] }, people(20, 10));
      const stats = await ns().getTableStats({ id: ['t'] });
      expect(stats).toMatchObject({ num_rows: 30, num_indices: 0 });
      expect(stats.total_bytes).toBeGreaterThan(0);
      expect(stats.fragment_stats).toMatchObject({
        num_fragments: 2,
        num_small_fragments: 2,
        lengths: { min: 10, max: 20, mean: 15, p25: 10, p50: 20, p75: 20, p99: 20 },
      });
      // As in LanceDB, lengths are those of the files.
      await ns().deleteFromTable({ id: ['t'], predicate: 'id < 5' });
      const after = await ns().getTableStats({ id: ['t'] });
      expect(after).toMatchObject({ num_rows: 25, fragment_stats: { lengths: { min: 10 } } });
    });
  });
}

function people0(count: number) {
  const table = tableFromArrays({ id: Int32Array.from({ length: count }, (_, row) => row) });
  return recordBatchStream(table.schema, table.batches);
}
