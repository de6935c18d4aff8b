/** Links and forged documents, each in one place of a catalog. */
import nodeFs from 'node:fs';
import { dirname } from 'node:path';
import { encodeChecksummed } from '../../src/json.ts';
import { type Place, TABLE } from './hostile-catalog.ts';

/** What an attacker would like the engine to follow. */
export const HOSTILE = [
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

export type Attack = readonly [name: string, tamper: (place: Place) => void];

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

export const LINKS: readonly Attack[] = [
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

export const forgedDocuments = (): Attack[] =>
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
