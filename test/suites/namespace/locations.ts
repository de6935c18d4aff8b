/** Locations given by callers: those that the catalog answers, in every spelling, and no others. */
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { expectError, idsOf, partOf, people, type SuiteOptions } from './context.ts';

export function locationsPart(options: SuiteOptions): void {
  describe('locations', () => {
    const { test, testOf, ns, subject } = partOf(options);
    const root = (): string => subject().files?.root ?? '';
    const uri = (path: string): string => pathToFileURL(path).href;

    test('what deregister answers as location is registered as it is, again and again', async () => {
      await ns().createNamespace({ id: ['n'] });
      await ns().createTable({ id: ['t'] }, people(2));
      let id = ['t'];
      for (const next of [['u'], ['n', 't'], ['n', 'x.y'], ['t']]) {
        const { location = '' } = await ns().deregisterTable({ id });
        const { location: place } = await ns().registerTable({ id: next, location });
        id = next;
        expect(await idsOf(ns(), id)).toEqual([0, 1]);
        expect((await ns().describeTable({ id })).location).toBe(place);
      }
      const { results } = await ns().batchCommitTables({
        operations: [{ deregister_table: { id } }],
      });
      const { location = '' } = results[0]?.deregister_table ?? {};
      await ns().registerTable({ id, location });
      expect(await idsOf(ns(), id)).toEqual([0, 1]);
    });

    testOf('files')(
      'a location may be relative, absolute or a file URI, with a slash after it',
      async () => {
        await ns().createTable({ id: ['t'] }, people(2));
        const spellings: ((location: string) => string)[] = [
          (location) => location.slice(root().length + 1),
          (location) => `${location.slice(root().length + 1)}/`,
          (location) => location,
          (location) => `${location}/`,
          uri,
          (location) => `${uri(location)}/`,
          (location) => uri(location).replace('file:///', 'file:/'),
          (location) => uri(location).replace('file:///', 'FILE://localhost/'),
          (location) => uri(location).replace('detached', '%64etached'),
        ];
        for (const spell of spellings) {
          const { location = '' } = await ns().deregisterTable({ id: ['t'] });
          await ns().registerTable({ id: ['t'], location: spell(location) });
          expect(await idsOf(ns(), ['t'])).toEqual([0, 1]);
        }
      },
    );

    testOf('files')('declare takes its own place, in every spelling, and no other', async () => {
      await ns().createNamespace({ id: ['n'] });
      for (const id of [['d'], ['n', 'd.e']]) {
        const { location = '' } = await ns().createTable({ id }, people(1));
        const { table_uri = '' } = await ns().describeTable({ id, with_table_uri: true });
        const relative = location.slice(root().length + 1);
        for (const own of [location, `${location}/`, table_uri, relative]) {
          await ns().dropTable({ id });
          expect((await ns().declareTable({ id, location: own })).location).toBe(location);
        }
        await ns().dropTable({ id });
        const operations = [{ declare_table: { id, location } }];
        await ns().batchCommitTables({ operations });
        expect((await ns().describeTable({ id, check_declared: true })).is_only_declared).toBe(
          true,
        );
      }
      for (const [location, word] of [
        [`${root()}/data/d.table`, 'the place of the table d'],
        ['n/d.e.table', 'the place of the table n$d.e'],
        [`${root()}/elsewhere/x.table`, 'lies where its name says'],
        ['/elsewhere/x.table', 'outside the root'],
        [uri('/elsewhere/x.table'), 'outside the root'],
        ['.dirspace/trash/x', 'belongs to the engine'],
        ['.dirspace/lance/11112222-3333-4444-8555-666677778888', 'lies where its name says'],
        ['s3://bucket/x', 'file: URI'],
      ] as const) {
        const error = await expectError(ns().declareTable({ id: ['x'], location }), 'InvalidInput');
        expect(error.message).toContain(word);
      }
      await expectError(ns().tableExists({ id: ['x'] }), 'TableNotFound');
    });

    testOf('files')(
      'an absolute location outside the root, or of somebody else, is refused',
      async () => {
        const { files } = subject();
        const { location = '' } = await ns().createTable({ id: ['mine'] }, people(1));
        files?.link(location, 'link');
        files?.link('/', 'out');
        for (const [given, word] of [
          [root(), 'outside the root'],
          [`${root()}/`, 'no plain path'],
          [`${root()}x/data/mine.table`, 'outside the root'],
          [`${root()}/../x`, 'no plain path'],
          [`${root()}//data/mine.table`, 'no plain path'],
          [`${root()}/./data/mine.table`, 'no plain path'],
          ['/', 'outside the root'],
          ['C:/x', 'outside the root'],
          [location, 'is the table mine already'],
          [`${location}/`, 'is the table mine already'],
          [uri(location), 'is the table mine already'],
          [uri(location).replace('mine', '%6dine'), 'is the table mine already'],
          [`${root()}/.dirspace`, 'belongs to the engine'],
          [`${root()}/.dirspace/trash/x`, 'belongs to the engine'],
          [uri(`${root()}/.dirspace/staging/x`), 'belongs to the engine'],
          [`${root()}/.dirspace/detached`, 'belongs to the engine'],
          [`${root()}/.dirspace/detached/missing.table`, 'no table at'],
          [`${root()}/link`, 'link'],
          [`${root()}/out/tmp`, 'out'],
          [`${uri(location)}?x`, 'file: URI'],
          [`${uri(location)}#x`, 'file: URI'],
          ['file://host/share/x', 'file: URI'],
          ['file:///%2Fx', 'file: URI'],
          ['file:///%zz', 'file: URI'],
          ['file:', 'outside the root'],
          [`file://${root()}/a%00b`, 'no plain path'],
          ['http://host/x', 'file: URI'],
        ] as const) {
          const work = ns().registerTable({ id: ['t'], location: given });
          const error = await expectError(work, 'InvalidInput');
          expect(error.message, given).toContain(word);
        }
        await expectError(ns().tableExists({ id: ['t'] }), 'TableNotFound');
        expect(await idsOf(ns(), ['mine'])).toEqual([0]);
      },
    );
  });
}
