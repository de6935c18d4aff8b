/** The table-version operations: manifests staged by a caller, published one by one or together. */
import { describe, expect } from 'vitest';
import type { Manifest } from '../../../src/format/catalog/manifest.ts';
import { encodeChecksummed } from '../../../src/json.ts';
import { encodeChunk } from '../../helpers/chunks.ts';
import { type Staged, stage } from '../../helpers/staged-version.ts';
import { expectError, idsOf, partOf, people, type SuiteOptions } from './context.ts';

export function managedPart(options: SuiteOptions): void {
  describe('table-version operations', () => {
    const { testOf, ns, subject } = partOf(options);
    const test = testOf('files');

    async function fill(name: string): Promise<string[]> {
      await ns().createTable({ id: [name] }, people(2));
      await ns().insertIntoTable({ id: [name] }, people(2, 2));
      return [name];
    }

    test('CreateTableVersion publishes a staged manifest', async () => {
      const id = await fill('t');
      const staged = await stage(subject(), id);
      const answer = await ns().createTableVersion({ ...staged, metadata: { by: 'me' } });
      expect(answer.version).toMatchObject({ version: 3, metadata: { by: 'me' } });
      expect(await idsOf(ns(), id)).toEqual([2, 3]);
      expect(await idsOf(ns(), id, { version: 2 })).toEqual([0, 1, 2, 3]);
      const described = await ns().describeTransaction({ id: [answer.transaction_id ?? ''] });
      expect(described.status).toBe('Succeeded');
      await ns().insertIntoTable({ id }, people(1, 9));
      expect(await idsOf(ns(), id)).toEqual([2, 3, 9]);
    });

    test('CreateTableVersion on a branch', async () => {
      const id = await fill('t');
      await ns().createTableBranch({ id, name: 'side' });
      await ns().createTableVersion(await stage(subject(), id, { branch: 'side' }));
      expect(await idsOf(ns(), id, { branch: 'side' })).toEqual([2, 3]);
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3]);
    });

    test('CreateTableVersion refuses a version that is taken or does not follow', async () => {
      const id = await fill('t');
      const staged = await stage(subject(), id);
      await ns().insertIntoTable({ id }, people(1, 4));
      await expectError(ns().createTableVersion(staged), 'ConcurrentModification');
      const jump = await stage(subject(), id, { change: (next) => ({ ...next, version: 9 }) });
      await expectError(ns().createTableVersion(jump), 'ConcurrentModification');
      const stranger = await stage(subject(), id, {
        change: (next) => ({
          ...next,
          parent: { version: 3, branch: 'main', checksum: '00000000' },
        }),
      });
      await expectError(ns().createTableVersion(stranger), 'ConcurrentModification');
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3, 4]);
    });

    test('CreateTableVersion checks what it is given', async () => {
      const id = await fill('t');
      const staged = await stage(subject(), id);
      for (const change of [
        { version: 4 },
        { manifest_size: 1 },
        { e_tag: 'deadbeef' },
        { naming_scheme: 'V2' },
        { manifest_path: '/etc/passwd' },
        { manifest_path: '../x/staged-a.json' },
        { manifest_path: 'data/t.table/.table.json' },
        { manifest_path: staged.manifest_path.replace('staged-test', 'staged-none') },
        { manifest_path: staged.manifest_path.replace('staged-test', '../staged-test') },
      ]) {
        await expectError(ns().createTableVersion({ ...staged, ...change }), 'InvalidInput');
      }
      const foreign = await stage(subject(), id, {
        change: (next) => ({ ...next, table: '12345678-0000' }),
      });
      await expectError(ns().createTableVersion(foreign), 'InvalidInput');
      const missing = await stage(subject(), id, {
        change: (next) => ({
          ...next,
          fragments: next.fragments.map((entry) => ({ ...entry, file: '12345678-0000' })),
        }),
      });
      await expectError(ns().createTableVersion(missing), 'InvalidInput');
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3]);
    });

    test('a staged manifest that is malformed is refused as the request that it is part of', async () => {
      const id = await fill('t');
      const staged = await stage(subject(), id);
      const { files } = subject();
      const sound = Buffer.from(files?.read(staged.manifest_path) ?? []).toString('latin1');
      const summed = (change: (document: Record<string, unknown>) => void): string => {
        const document = JSON.parse(sound);
        delete document.crc32;
        change(document);
        return Buffer.from(encodeChecksummed(document).bytes).toString('latin1');
      };
      const attempts: [string, string][] = [
        ['', 'is damaged: it is empty.'],
        ['{', 'is damaged: it does not start with a checksum.'],
        ['not JSON at all', 'checksum'],
        [sound.replace('"version":3', '"version":4'), 'do not match its checksum'],
        [sound.slice(0, -20), 'checksum'],
        [summed((document) => delete document.totals), 'totals'],
        [summed((document) => Object.assign(document, { format: 99 })), 'format 99'],
        [summed((document) => Object.assign(document, { features: ['x'] })), 'feature x'],
        [summed((document) => Object.assign(document, { schema: { fields: [{}] } })), 'name'],
        [summed((document) => Object.assign(document, { field_ids: [] })), 'field'],
        [summed((document) => Object.assign(document, { deleted_through: 2 })), 'not the manifest'],
      ];
      for (const [text, word] of attempts) {
        files?.write(staged.manifest_path, Buffer.from(text, 'latin1'));
        const error = await expectError(ns().createTableVersion(staged), 'InvalidInput');
        expect(error.message).toContain('cannot be published: ');
        expect(error.message).toContain(word);
        await expectError(ns().batchCreateTableVersions({ entries: [staged] }), 'InvalidInput');
      }
      expect((await ns().listTableVersions({ id })).versions).toHaveLength(2);
      files?.write(staged.manifest_path, Buffer.from(sound, 'latin1'));
      expect((await ns().createTableVersion(staged)).version?.version).toBe(3);
    });

    test('a staged manifest that refers to a missing chunk or deletion file is refused', async () => {
      const id = await fill('t');
      const deletion = { file: '12345678-0000', rows: 1, bytes: 9, checksum: 0 };
      const chunk = { file: '12345678-0000', checksum: '00000000', size: 9, fragments: 1 };
      const changes: ((next: Manifest) => Manifest)[] = [
        (next) => ({
          ...next,
          fragments: next.fragments.map((entry) => ({ ...entry, deletion })),
        }),
        (next) => ({
          ...next,
          chunks: [{ ...chunk, firstId: 0, lastId: 0 }],
          totals: { ...next.totals, fragments: next.totals.fragments + 1 },
        }),
      ];
      for (const change of changes) {
        const staged = await stage(subject(), id, { change });
        const error = await expectError(ns().createTableVersion(staged), 'InvalidInput');
        expect(error.message).toContain('12345678-0000');
      }
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3]);
    });

    test('a staged manifest that refers to a missing data file is refused, also in a chunk', async () => {
      const id = await fill('t');
      const lost = (entry: Manifest['fragments'][number]) => ({ ...entry, file: '12345678-0000' });
      const changes: ((next: Manifest) => Manifest)[] = [
        (next) => ({ ...next, fragments: next.fragments.map(lost) }),
        (next) => {
          const { bytes, entry } = encodeChunk('abcdef01-0000', next.fragments.map(lost));
          const { location = '' } = table;
          const folder = location.slice((subject().files?.root.length ?? 0) + 1);
          subject().files?.write(`${folder}/chunks/abcdef01-0000.json`, bytes);
          return { ...next, chunks: [entry], fragments: [] };
        },
      ];
      const table = await ns().describeTable({ id });
      for (const change of changes) {
        const staged = await stage(subject(), id, { change });
        const error = await expectError(ns().createTableVersion(staged), 'InvalidInput');
        expect(error.message).toMatch(/cannot be published: it refers to .*12345678-0000/);
      }
      expect(await idsOf(ns(), id)).toEqual([0, 1, 2, 3]);
    });

    test('BatchCreateTableVersions: all tables', async () => {
      const entries: Staged[] = [];
      for (const name of ['a', 'b', 'c']) {
        entries.push(await stage(subject(), await fill(name)));
      }
      const { versions, transaction_id = '' } = await ns().batchCreateTableVersions({ entries });
      expect(versions.map(({ version }) => version)).toEqual([3, 3, 3]);
      for (const name of ['a', 'b', 'c']) expect(await idsOf(ns(), [name])).toEqual([2, 3]);
      const { status } = await ns().describeTransaction({ id: [transaction_id] });
      expect(status).toBe('Succeeded');
    });

    test('BatchCreateTableVersions: or none', async () => {
      const entries: Staged[] = [];
      for (const name of ['a', 'b', 'c']) {
        entries.push(await stage(subject(), await fill(name)));
      }
      await ns().insertIntoTable({ id: ['c'] }, people(1, 4));
      await expectError(ns().batchCreateTableVersions({ entries }), 'ConcurrentModification');
      for (const name of ['a', 'b']) {
        expect(await idsOf(ns(), [name])).toEqual([0, 1, 2, 3]);
        expect((await ns().listTableVersions({ id: [name] })).versions).toHaveLength(2);
        await ns().insertIntoTable({ id: [name] }, people(1, 4));
        expect(await idsOf(ns(), [name])).toEqual([0, 1, 2, 3, 4]);
      }
    });

    test('BatchCreateTableVersions refuses one version twice', async () => {
      const staged = await stage(subject(), await fill('a'));
      await expectError(
        ns().batchCreateTableVersions({ entries: [staged, staged] }),
        'InvalidInput',
      );
      expect(await idsOf(ns(), ['a'])).toEqual([0, 1, 2, 3]);
    });

    test('BatchCommitTables: operations of every kind together', async () => {
      for (const name of ['versioned', 'trimmed', 'leaving']) await fill(name);
      const staged = await stage(subject(), ['versioned']);
      const answer = await ns().batchCommitTables({
        operations: [
          { declare_table: { id: ['fresh'], properties: { k: 'v' } } },
          { create_table_version: staged },
          {
            delete_table_versions: {
              id: ['trimmed'],
              ranges: [{ start_version: 1, end_version: 2 }],
            },
          },
          { deregister_table: { id: ['leaving'] } },
        ],
      });
      expect(answer.results).toMatchObject([
        { declare_table: { properties: { k: 'v' } } },
        { create_table_version: { version: { version: 3 } } },
        { delete_table_versions: { deleted_count: 1 } },
        { deregister_table: { id: ['leaving'] } },
      ]);
      expect((await ns().listTables({ id: [] })).tables).toEqual(['fresh', 'trimmed', 'versioned']);
      expect(await idsOf(ns(), ['versioned'])).toEqual([2, 3]);
      await expectError(idsOf(ns(), ['trimmed'], { version: 1 }), 'TableVersionNotFound');
      expect(await idsOf(ns(), ['trimmed'])).toEqual([0, 1, 2, 3]);
    });

    test('BatchCommitTables: none when one cannot be done', async () => {
      await fill('there');
      const before = await ns().listTables({ id: [] });
      for (const operation of [
        { declare_table: { id: ['there'] } },
        { declare_table: { id: ['no', 'parent'] } },
        { deregister_table: { id: ['missing'] } },
        {
          delete_table_versions: {
            id: ['there'],
            ranges: [{ start_version: 2, end_version: 3 }],
          },
        },
      ]) {
        await expect(
          ns().batchCommitTables({
            operations: [{ declare_table: { id: ['fresh'] } }, operation],
          }),
        ).rejects.toMatchObject({ name: 'DirspaceError' });
        expect(await ns().listTables({ id: [] })).toEqual(before);
      }
      await expectError(ns().batchCommitTables({ operations: [{}] }), 'InvalidInput');
      await expectError(
        ns().batchCommitTables({
          operations: [{ declare_table: { id: ['x'] }, deregister_table: { id: ['there'] } }],
        }),
        'InvalidInput',
      );
    });

    test('an aborted first version leaves the table declared', async () => {
      await fill('other');
      await ns().declareTable({ id: ['d'] });
      const { location = '' } = await ns().describeTable({ id: ['d'] });
      const { files } = subject();
      const folder = location.slice((files?.root.length ?? 0) + 1);
      const versions = files?.all().find((path) => path.startsWith(`${folder}/versions-`)) ?? '';
      const staged = await stage(subject(), ['other'], {
        change: (next) => ({
          ...next,
          table: versions.slice(versions.lastIndexOf('versions-') + 9, -1),
          version: 1,
          parent: undefined,
          fragments: [],
          totals: { rows: 0, deletedRows: 0, bytes: 0, fragments: 0 },
        }),
      });
      const manifest_path = `${versions}staged-first.json`;
      files?.write(manifest_path, files.read(staged.manifest_path));
      await expect(
        ns().batchCommitTables({
          operations: [
            { create_table_version: { id: ['d'], version: 1, manifest_path } },
            { declare_table: { id: ['no', 'parent'] } },
          ],
        }),
      ).rejects.toMatchObject({ name: 'DirspaceError' });
      const described = await ns().describeTable({ id: ['d'], check_declared: true });
      expect(described.is_only_declared).toBe(true);
      await ns().createTable({ id: ['d'] }, people(2));
      expect(await idsOf(ns(), ['d'])).toEqual([0, 1]);
    });
  });
}
