/**
 * The second half of T14: metadata forged with right checksums, under a catalog that is then used.
 * Whatever it says, each operation answers or refuses by type, soon.
 */
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { readFolder } from '../../src/store/disk/file-system.ts';
import { collectBatches } from '../helpers/batches.ts';
import { checksummedText } from '../helpers/damage.ts';
import { rewrittenDocuments } from '../helpers/forged-json.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';
import { breathe, refusal, Slowest } from './rounds.ts';

const ROOT = '/c';
const ID = ['ns', 't'];
const LIMIT = 500;
type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;

/** A catalog with every kind of metadata in it, chunks too. */
async function makeCatalog(): Promise<TestFs> {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed' });
  await catalog.createNamespace({ id: ['ns'], properties: { a: 'b' } });
  await catalog.createTable({ id: ID }, people(3));
  for (let at = 1; at <= 34; at++) await catalog.insertIntoTable({ id: ID }, people(1, at * 3));
  await catalog.deleteFromTable({ id: ID, predicate: 'id = 1' });
  await catalog.createTableTag({ id: ID, tag: 'tag', version: 2 });
  await catalog.createTableBranch({ id: ID, name: 'b' });
  await catalog.createTable({ id: ['ns', 'dropped'] }, people(1));
  await catalog.dropTable({ id: ['ns', 'dropped'] });
  await catalog.close();
  return fs;
}

const filesBelow = (fs: TestFs, folder: string): string[] =>
  readFolder(fs, folder).flatMap((entry) => {
    const path = `${folder}/${String(entry.name)}`;
    return entry.isDirectory() ? filesBelow(fs, path) : [path];
  });

/** The newest of each kind of document. */
function documentsOf(fs: TestFs): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of filesBelow(fs, ROOT)) {
    if (!path.endsWith('.json')) continue;
    const kind = path.replace(/[0-9a-f]{8}-[0-9a-f-]+/g, 'ID').replace(/\d{20}/, 'VERSION');
    if ((found.get(kind) ?? '') < path) found.set(kind, path);
  }
  return found;
}

const OPERATIONS: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
  async (catalog) => collectBatches(await catalog.queryTable({ id: ID, k: 100 })),
  async (catalog) =>
    collectBatches(await catalog.queryTable({ id: ID, k: 100, filter: "id > 5 and name < 'o'" })),
  (catalog) => catalog.describeTable({ id: ID, load_detailed_metadata: true }),
  (catalog) => catalog.countTableRows({ id: ID, predicate: 'id > 3' }),
  async (catalog) => collectBatches(await catalog.queryTable({ id: ID, k: 100, branch: 'b' })),
  (catalog) => catalog.listTableVersions({ id: ID, limit: 3 }),
  (catalog) => catalog.listTableTags({ id: ID }),
  (catalog) => catalog.describeNamespace({ id: ['ns'] }),
  (catalog) => catalog.verify({}),
];

export interface ForgedCases {
  readonly cases: number;
  readonly slowest: number;
}

/** Tries every `step`th forged document; `violated` is told of whatever is no typed refusal. */
export async function tryForgedCatalogs(
  step: number,
  violated: (what: string) => void,
): Promise<ForgedCases> {
  const fs = await makeCatalog();
  const slowest = new Slowest(LIMIT, violated);
  let [cases, at] = [0, 0];
  for (const [kind, path] of documentsOf(fs)) {
    const bytes = fs.readFileSync(path);
    const document = JSON.parse(bytes.toString()) as Record<string, unknown>;
    const isChecksummed = Object.hasOwn(document, 'checksum');
    delete document.checksum;
    for (const [what, text] of rewrittenDocuments(JSON.stringify(document))) {
      if (at++ % step !== 0) continue;
      fs.writeFileSync(path, isChecksummed ? checksummedText(text) : text);
      const named = (): string => `${kind}: ${what.slice(0, 200)}`;
      cases++;
      await slowest.time(named, LIMIT, () => useAll(fs, (told) => violated(`${named()}: ${told}`)));
      if (cases % 100 === 0) await breathe();
    }
    fs.writeFileSync(path, bytes);
  }
  return { cases, slowest: slowest.ms };
}

async function useAll(fs: TestFs, violated: (what: string) => void): Promise<void> {
  let catalog: Catalog;
  try {
    catalog = await openDirectoryNamespace({ root: ROOT, fs, readOnly: true });
  } catch (error) {
    if (refusal(error) === undefined) violated(`opening threw ${(error as Error).stack}`);
    return;
  }
  for (const operation of OPERATIONS) {
    try {
      await operation(catalog);
    } catch (error) {
      if (refusal(error) === undefined) {
        violated(`${String(operation).slice(0, 70)} threw ${(error as Error).stack}`);
      }
    }
  }
  await catalog.close();
}
