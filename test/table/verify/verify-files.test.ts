/** Files of a fragment beside each other, of versions that share some of them. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import { decodeVersion, type FragmentEntry } from '../../../src/format/index.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { FileVerifier } from '../../../src/table/verify/verify-files.ts';
import { Turn } from '../../../src/table/work/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { people } from '../../helpers/people.ts';

const fs = memoryFs();

/** The only fragment of a new table of 16 rows in batches of so many. */
async function fragmentOf(name: string, batchRows: number): Promise<FragmentEntry> {
  const options = { root: '/c', fs, durability: 'relaxed', limits: { batchRows } } as const;
  const catalog = await openDirectoryNamespace(options);
  await catalog.createTable({ id: [name] }, people(16));
  await catalog.close();
  const folder = `/c/data/${name}.table`;
  const names = fs.readdirSync(folder) as string[];
  const versions = `${folder}/${names.find((each) => each.startsWith('versions-'))}`;
  const [file] = (fs.readdirSync(versions) as string[]).filter((each) => /^\d+\.json$/.test(each));
  const path = `${versions}/${file}`;
  const found = decodeVersion(fs.readFileSync(path) as Buffer, path);
  return ('manifest' in found ? found.manifest.fragments[0] : undefined) as FragmentEntry;
}

test('an overlay of other batches is found in a later version, its fragment verified before', async () => {
  const [own, like, other] = [
    await fragmentOf('t', 8),
    await fragmentOf('like', 8),
    await fragmentOf('other', 5),
  ];
  const store = openFileStore({ root: '/c', fs });
  const beside = (name: string, { file, fields, ...facts }: FragmentEntry): FragmentEntry => {
    fs.copyFileSync(
      `/c/data/${name}.table/data/${file}.arrow`,
      `/c/data/t.table/data/${file}.arrow`,
    );
    const { bytes, footerBytes, footerChecksum } = facts;
    const overlay = { file, bytes, footerBytes, footerChecksum, columns: fields.length };
    return {
      ...own,
      fields: [...own.fields, ...fields.map((id) => id + 100)],
      overlays: [overlay as never],
    };
  };
  const entries = [own, beside('like', like), beside('other', other)];
  const turn = new Turn(systemEnv);
  const verifier = new FileVerifier(store, 'data/t.table', () => {}, turn, undefined);
  const found = [];
  for (const entry of entries) found.push((await verifier.fragment(entry)).map(({ what }) => what));
  expect(found).toEqual([[], [], [expect.stringContaining('its batches are others than those')]]);
});

test('a signal that ends a verification is no damage, and is not kept as one', async () => {
  const entry = await fragmentOf('aborted', 8);
  const store = openFileStore({ root: '/c', fs });
  const controller = new AbortController();
  // As a turn ends that the signal has ended meanwhile.
  const read = (): void => {
    controller.abort(new Error('Enough.'));
    controller.signal.throwIfAborted();
  };
  const turn = new Turn(systemEnv);
  const verifier = new FileVerifier(store, 'data/aborted.table', read, turn, controller.signal);
  await expect(verifier.fragment(entry)).rejects.toThrow('Enough.');
});
