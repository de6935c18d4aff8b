/**
 * T19: links and forged paths everywhere in a catalog. Whatever is asked of it, nothing outside
 * its root is read, written or removed; and links that are swapped in between two calls never
 * cost what lies behind them.
 */
import nodeFs from 'node:fs';
import { basename, dirname } from 'node:path';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { encodeChecksummed } from '../../src/format/json.ts';
import type { FileSystem } from '../../src/store/file-system.ts';
import { collectBatches } from '../helpers/batches.ts';
import { guardedFs } from '../helpers/guarded-fs.ts';
import { people } from '../helpers/people.ts';
import { seeded } from '../helpers/seeded.ts';
import { inFolder } from './processes.ts';
import { inRounds, refusal } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const SWAPS = { ci: 60, short: 240, nightly: 2_000 };
const TABLE = 'ns/t.table';
/** What an attacker would like the engine to follow. */
const HOSTILE = [
  '../../outside',
  '../../../outside/t.table',
  '../outside/secret',
  '/etc/passwd',
  'a/../../../outside',
  '..',
  '.',
  '',
  'x\u0000y',
  '..\\..\\outside',
  'data/%2e%2e/outside',
];

interface Place {
  readonly root: string;
  readonly outside: string;
}

/** A catalog with one of everything, and beside it what must stay as it is. */
async function prepare(folder: string): Promise<Place> {
  const [root, outside] = [`${folder}/root`, `${folder}/outside`];
  const catalog = await openDirectoryNamespace({ root, durability: 'relaxed' });
  await catalog.createNamespace({ id: ['ns'] });
  await catalog.createTable({ id: ['ns', 't'] }, people(4));
  await catalog.insertIntoTable({ id: ['ns', 't'] }, people(4, 4));
  await catalog.deleteFromTable({ id: ['ns', 't'], predicate: 'id = 1' });
  await catalog.createTableTag({ id: ['ns', 't'], tag: 'tag', version: 1 });
  await catalog.createTableBranch({ id: ['ns', 't'], name: 'b' });
  await catalog.insertIntoTable({ id: ['ns', 't'], branch: 'b' }, people(1, 9));
  await catalog.createTable({ id: ['ns', 'dropped'] }, people(1));
  await catalog.dropTable({ id: ['ns', 'dropped'] });
  await catalog.createTable({ id: ['u'] }, people(1));
  await catalog.close();
  // Whoever follows a link finds a whole catalog, and things that are none.
  nodeFs.cpSync(root, `${outside}/root`, { recursive: true });
  nodeFs.cpSync(`${root}/${TABLE}`, `${outside}/t.table`, { recursive: true });
  nodeFs.mkdirSync(`${outside}/letters/old`, { recursive: true });
  for (const name of ['secret', 'letters/one', 'letters/old/two']) {
    nodeFs.writeFileSync(`${outside}/${name}`, `secret ${name}`);
  }
  return { root, outside };
}

/** Every file below a folder with its bytes and what tells it from a copy. */
function inventory(folder: string): string {
  return nodeFs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      const { ino, mtimeMs, size } = nodeFs.lstatSync(path);
      const bytes = entry.isFile() ? nodeFs.readFileSync(path, 'base64') : '';
      return `${path} ${ino} ${entry.isFile() ? `${mtimeMs} ${size}` : ''} ${bytes}`;
    })
    .sort()
    .join('\n');
}

/** What is asked of the catalog that somebody tampered with; each may fail by type. */
async function exercise(
  place: Place,
  fs: FileSystem,
  faulty: (what: string) => void,
): Promise<void> {
  const id = ['ns', 't'];
  const all = { id, k: 100 };
  type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;
  const read: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
    (catalog) => catalog.listTables({ id: ['ns'] }),
    (catalog) => catalog.listAllTables({}),
    (catalog) => catalog.listNamespaces({}),
    (catalog) => catalog.describeNamespace({ id: ['ns'] }),
    (catalog) => catalog.describeTable({ id, load_detailed_metadata: true }),
    async (catalog) => collectBatches(await catalog.queryTable(all)),
    async (catalog) => collectBatches(await catalog.queryTable({ ...all, version: 1 })),
    async (catalog) => collectBatches(await catalog.queryTable({ ...all, branch: 'b' })),
    (catalog) => catalog.listTableTags({ id }),
    (catalog) => catalog.listTableVersions({ id }),
    (catalog) => catalog.verify({}),
    (catalog) => catalog.repair({}),
  ];
  const write: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
    (catalog) => catalog.insertIntoTable({ id }, people(1, 20)),
    (catalog) => catalog.deleteFromTable({ id, predicate: 'id = 2' }),
    (catalog) => catalog.createTableTag({ id, tag: 'other', version: 1 }),
    (catalog) => catalog.createTableBranch({ id, name: 'c' }),
    (catalog) => catalog.createTable({ id: ['ns', 'new'] }, people(1)),
    (catalog) => catalog.createNamespace({ id: ['ns', 'deeper'] }),
    (catalog) =>
      catalog.optimizeTable({ id, cleanup_older_than_millis: 0, orphan_grace_millis: 0 }),
    (catalog) => catalog.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 }),
    (catalog) => catalog.renameTable({ id, new_table_name: 'moved' }),
    (catalog) => catalog.dropTable({ id }),
    (catalog) => catalog.undropTable({ id: ['ns', 'dropped'] }),
    (catalog) => catalog.repair({ apply: true }),
    (catalog) => catalog.purgeTrash({ older_than_millis: 0 }),
    (catalog) => catalog.dropNamespace({ id: ['ns'], behavior: 'Cascade' }),
  ];
  for (const readOnly of [true, false]) {
    let catalog: Catalog | undefined;
    try {
      catalog = await openDirectoryNamespace({
        root: place.root,
        fs,
        readOnly,
        durability: 'relaxed',
      });
    } catch (error) {
      if (refusal(error) === undefined) faulty(`opening threw ${String(error)}`);
    }
    if (catalog === undefined) continue;
    for (const ask of readOnly ? read : write) {
      try {
        await ask(catalog);
      } catch (error) {
        if (refusal(error) === undefined)
          faulty(`${String(ask).slice(0, 60)} threw ${String(error)}`);
      }
    }
    await catalog.close();
  }
}

type Attack = readonly [name: string, tamper: (place: Place) => void];

/** In the place of what is there, or of nothing: a link to something like it outside. */
function linked(path: string, target: string): Attack {
  return [
    `${path} -> ${target}`,
    ({ root, outside }) => {
      nodeFs.rmSync(`${root}/${path}`, { recursive: true, force: true });
      nodeFs.mkdirSync(dirname(`${root}/${path}`), { recursive: true });
      nodeFs.symlinkSync(`${outside}/${target}`, `${root}/${path}`);
    },
  ];
}

/** The first name in a folder that fits. */
const nameIn = (folder: string, like: RegExp): string =>
  nodeFs.readdirSync(folder).find((name) => like.test(name)) ?? 'none';

/** As `linked`, of a file whose name is only known when the catalog is there. */
const linkedFile = (folder: string, like: RegExp, target: string): Attack => [
  `${folder}/${like.source} -> ${target}`,
  (place) => {
    const at = nodeFs
      .readdirSync(`${place.root}/${TABLE}`)
      .find((name) => name.startsWith('versions-'));
    const real = folder.replace('VERSIONS', `${TABLE}/${at}`);
    const name = nameIn(`${place.root}/${real}`, like);
    linked(`${real}/${name}`, target.replace('SAME', name))[1](place);
  },
];

const LINKS: readonly Attack[] = [
  linked('ns', 'root/ns'),
  linked('other', 'root/ns'),
  linked('data', 'root/data'),
  linked('data/u.table', 't.table'),
  linked(TABLE, 't.table'),
  linked('ns/letters.table', 'letters'),
  linked('ns/dangling.table', 'nothing'),
  linked(`${TABLE}/data`, 't.table/data'),
  linked(`${TABLE}/deletions`, 't.table/deletions'),
  linked(`${TABLE}/tags`, 't.table/tags'),
  linked(`${TABLE}/branches`, 't.table/branches'),
  linked(`${TABLE}/branches/b`, 't.table/branches/b'),
  linked(`${TABLE}/chunks`, 'letters'),
  linked(`${TABLE}/.table.json`, 't.table/.table.json'),
  linked(`${TABLE}/tags/tag.json`, 't.table/tags/tag.json'),
  linked('ns/.namespace.json', 'root/ns/.namespace.json'),
  linked(`${TABLE}/.tmp-11111111-2222`, 'letters/one'),
  linked(`${TABLE}/data/.tmp-11111111-2222`, 'letters/one'),
  linked('.dirspace', 'root/.dirspace'),
  linked('.dirspace/format.json', 'root/.dirspace/format.json'),
  linked('.dirspace/staging', 'letters'),
  linked('.dirspace/staging/11111111-2222', 'letters'),
  linked('.dirspace/trash', 'letters'),
  linked('.dirspace/trash/11111111-2222', 'letters'),
  linked('.dirspace/detached', 'letters'),
  linked('.dirspace/locks', 'letters'),
  linked('.dirspace/intents', 'root/.dirspace/intents'),
  linked('.dirspace/transactions', 'root/.dirspace/transactions'),
  linkedFile(TABLE, /^versions-/, 'letters'),
  linkedFile(TABLE, /^versions-/, 't.table/SAME'),
  linkedFile(`${TABLE}/branches/b`, /^versions-/, 't.table/branches/b/SAME'),
  linkedFile('VERSIONS', /^0+3\.json$/, 'secret'),
  linkedFile('VERSIONS', /^latest\.json$/, 'secret'),
  linkedFile(`${TABLE}/data`, /arrow$/, 'secret'),
  linkedFile(`${TABLE}/deletions`, /arrow$/, 'secret'),
  linkedFile('.dirspace/trash', /./, 'root/.dirspace/trash'),
];

/** A document of the catalog with one of its strings replaced, and a checksum that is right. */
const forgedMember =
  (find: (root: string) => string, path: string, value: string): Attack[1] =>
  ({ root }) => {
    const file = find(root);
    const document = JSON.parse(nodeFs.readFileSync(file, 'utf8')) as Record<string, unknown>;
    delete document.checksum;
    const keys = path.split('.');
    let at = document;
    for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>;
    at[keys.at(-1) as string] = value;
    nodeFs.writeFileSync(file, encodeChecksummed(document).bytes);
  };

const inTable = (name: string) => (root: string) => `${root}/${TABLE}/${name}`;
const inVersions = (name: string) => (root: string) =>
  `${root}/${TABLE}/${nameIn(`${root}/${TABLE}`, /^versions-/)}/${name}`;

/** Members that stand for names on disk, or that names are made of. */
const MEMBERS: readonly (readonly [find: (root: string) => string, ...paths: string[]])[] = [
  [
    inVersions('00000000000000000003.json'),
    ...['table', 'branch', 'batch', 'transaction', 'parent.branch'],
    ...['fragments.0.file', 'fragments.0.deletion.file'],
  ],
  [inVersions('00000000000000000001.json'), 'fragments.0.file'],
  [inVersions('latest.json'), 'version'],
  [inTable('.table.json'), 'id'],
  [inTable('tags/tag.json'), 'table', 'branch'],
  [inTable('branches/b/branch.json'), 'id', 'table', 'parent_branch'],
];

const forgedDocuments = (): Attack[] =>
  HOSTILE.flatMap((value) => [
    ...MEMBERS.flatMap(([find, ...paths]) =>
      paths.map((path): Attack => [`${path} = ${value}`, forgedMember(find, path, value)]),
    ),
    ...records(value),
  ]);

/** Operations that a crash is said to have left behind. */
function records(value: string): Attack[] {
  const left =
    (path: string, document: object): Attack[1] =>
    ({ root }) => {
      const file = `${root}/.dirspace/${path}`;
      nodeFs.mkdirSync(dirname(file), { recursive: true });
      nodeFs.writeFileSync(file, encodeChecksummed({ ...document }).bytes);
    };
  const trash = '.dirspace/trash/11111111-2222';
  const intents = [
    { kind: 'replace', place: value, trash, staging: '.dirspace/staging/11111111-2222' },
    { kind: 'replace', place: 'ns', trash: value, staging: '.dirspace/staging/11111111-2222' },
    { kind: 'replace', place: 'ns', trash, staging: value },
    { kind: 'drop_empty_namespace', place: value, trash },
    { kind: 'drop_empty_namespace', place: 'ns', trash: value },
  ];
  const branch = { tableFolder: TABLE, incarnation: '1', branch: 'main', folder: value };
  const journals = [
    { declares: [{ folder: value, incarnation: '1' }] },
    { deletions: [{ branch, versions: [1, 2] }] },
    { deletions: [{ branch: { ...branch, tableFolder: value, folder: TABLE }, versions: [1] }] },
    { deregisters: [{ folder: value, incarnation: '1', place: trash }] },
    { deregisters: [{ folder: TABLE, incarnation: '1', place: value }] },
    { batch: value },
  ];
  const empty = { batch: '11111111-2222', declares: [], deletions: [], deregisters: [] };
  return [
    ...intents.map(
      (intent, at): Attack => [
        `intent ${at} of ${value}`,
        left('intents/11111111-2222.json', intent),
      ],
    ),
    ...journals.flatMap((journal, at) =>
      (['committed', 'aborted'] as const).map(
        (outcome): Attack => [
          `journal ${at} of ${value}, ${outcome}`,
          (place) => {
            left('transactions/11111111-2222.json', { format: 1, outcome })(place);
            left('transactions/11111111-2222.journal.json', {
              format: 1,
              journal: { ...empty, ...journal },
            })(place);
          },
        ],
      ),
    ),
  ];
}

/** Requests that name places themselves. */
async function hostileRequests(
  place: Place,
  fs: FileSystem,
  faulty: (what: string) => void,
): Promise<number> {
  let cases = 0;
  const catalog = await openDirectoryNamespace({ root: place.root, fs, durability: 'relaxed' });
  for (const value of HOSTILE) {
    const requests = [
      () => catalog.registerTable({ id: ['r'], location: value }),
      () => catalog.declareTable({ id: ['d'], location: value }),
      () => catalog.createTableVersion({ id: ['ns', 't'], version: 4, manifest_path: value }),
      () => catalog.createTableTag({ id: ['ns', 't'], tag: value, version: 1 }),
      () => catalog.createTableBranch({ id: ['ns', 't'], name: value }),
      () => catalog.queryTable({ id: ['ns', 't'], branch: value, k: 1 }),
      () => catalog.describeTable({ id: ['ns', value] }),
      () => catalog.createTable({ id: [value, 't'] }, people(1)),
      () => catalog.createNamespace({ id: [value] }),
      () => catalog.describeTransaction({ id: [value] }),
      () => catalog.renameTable({ id: ['ns', 't'], new_table_name: value }),
    ];
    for (const request of requests) {
      cases++;
      try {
        await request();
        // Dots and signs are legal in names: they are escaped.
        if (value !== '.' && value !== '..') faulty(`${String(request).slice(6)}: taken, ${value}`);
      } catch (error) {
        if (refusal(error) === undefined) faulty(`${value}: threw ${String(error)}`);
      }
    }
  }
  await catalog.close();
  return cases;
}

class Judge {
  cases = 0;
  /** New names that a swap let through into the folder behind the link. */
  through = 0;
  readonly #violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.#violated = violated;
  }

  /** Runs one attack on a copy of the catalog. */
  async attack(template: Place, folder: string, [name, tamper]: Attack): Promise<void> {
    const place = { root: `${folder}/root`, outside: template.outside };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    tamper(place);
    const before = inventory(place.outside);
    const fs = guardedFs({
      root: place.root,
      escaped: (call, path) => this.#violated(`${name}: ${call} ${path}`),
    });
    await exercise(place, fs, (what) => this.#violated(`${name}: ${what}`));
    if (inventory(place.outside) !== before) this.#violated(`${name}: what is outside changed`);
    nodeFs.rmSync(place.root, { recursive: true, force: true });
    this.cases++;
  }

  async requests(template: Place, folder: string): Promise<void> {
    const place = { root: `${folder}/root`, outside: template.outside };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    const before = inventory(place.outside);
    const fs = guardedFs({
      root: place.root,
      escaped: (call, path) => this.#violated(`a request: ${call} ${path}`),
    });
    this.cases += await hostileRequests(place, fs, (what) => this.#violated(what));
    if (inventory(place.outside) !== before) this.#violated('requests changed what is outside');
    nodeFs.rmSync(place.root, { recursive: true, force: true });
  }

  /**
   * Swaps a folder for a link right before one call. Plain Node cannot hold a folder open, so a
   * new name may appear behind the link; what is there already must survive.
   */
  async swap(template: Place, folder: string, target: string, call: number): Promise<boolean> {
    const place = { root: `${folder}/root`, outside: `${folder}/outside` };
    nodeFs.cpSync(template.root, place.root, { recursive: true });
    nodeFs.cpSync(`${template.outside}/letters`, place.outside, { recursive: true });
    let calls = 0;
    const fs = guardedFs({
      root: place.root,
      escaped: () => {},
      before: () => {
        if (calls++ !== call) return;
        const path = `${place.root}/${target}`;
        if (!nodeFs.existsSync(path)) return;
        nodeFs.renameSync(path, `${folder}/away-${basename(path)}`);
        nodeFs.symlinkSync(place.outside, path);
      },
    });
    const named = `${target} swapped before call ${call}`;
    await exercise(place, fs, (what) => this.#violated(`${named}: ${what}`));
    const left = nodeFs.readdirSync(place.outside, { recursive: true }).map(String);
    for (const name of ['one', 'old/two']) {
      if (!left.includes(name)) this.#violated(`${named}: ${name} was removed outside`);
      else if (
        nodeFs.readFileSync(`${place.outside}/${name}`, 'utf8') !== `secret letters/${name}`
      ) {
        this.#violated(`${named}: ${name} was overwritten outside`);
      }
    }
    if (left.length !== 3) this.through++;
    for (const name of nodeFs.readdirSync(folder)) {
      nodeFs.rmSync(`${folder}/${name}`, { recursive: true, force: true });
    }
    this.cases++;
    return calls > call;
  }
}

const SWAPPED = ['ns', TABLE, `${TABLE}/data`, '.dirspace/trash', '.dirspace/staging', 'data'];

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  const judge = new Judge((what) => context.violated(what));
  await inFolder(async (folder) => {
    nodeFs.mkdirSync(`${folder}/template`);
    nodeFs.mkdirSync(`${folder}/work`);
    const template = await prepare(`${folder}/template`);
    for (const attack of LINKS) await judge.attack(template, `${folder}/work`, attack);
    const forged = forgedDocuments();
    const random = seeded(context.seed);
    for (const attack of forged) {
      if (context.size === 'ci' && random() > 0.1) continue;
      await judge.attack(template, `${folder}/work`, attack);
    }
    await judge.requests(template, `${folder}/work`);
    await inRounds(context, async (seed) => {
      const draw = seeded(seed);
      let longest = 400;
      for (let at = 0; at < SWAPS[context.size]; at++) {
        const target = SWAPPED[at % SWAPPED.length] as string;
        const call = Math.floor(draw() * longest);
        const reached = await judge.swap(template, `${folder}/work`, target, call);
        if (!reached) longest = Math.max(100, call);
      }
      return 0;
    });
  });
  return {
    cases: judge.cases,
    note: `${judge.through} swaps let a new name through, as plain Node must; nothing there was lost`,
  };
}

export const hostilePlaces: ProofRow = { row: 'T19 links and hostile paths', run };
