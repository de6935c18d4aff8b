/**
 * Keeps the journal of a multi-table commit, so that a crash cannot leave the commit half done.
 * Before the first step, `writeJournal` records the tables that the commit declares or deregisters,
 * and the versions that it deletes. Once the commit is decided, `finishJournal` carries out the
 * deletions and deregistrations, or removes the declared tables of an aborted commit, except those
 * that got rows meanwhile. Before the decision it does nothing. `finishJournals` does so for
 * interrupted commits when a catalog is opened for writing; commits undecided for an hour are
 * aborted. It skips a journal that was cut short and throws Corrupt for other damage. `hasJournal`
 * tells whether a commit was begun and is not finished.
 */

import {
  detachedFolder,
  isReservedFolder,
  joinPath,
  journalFile,
  parseJournalFile,
  refuseNewer,
  TRANSACTIONS_FOLDER,
} from '../../format/index.ts';
import {
  arrayMember,
  asObject,
  encodeChecksummed,
  integerMember,
  parseChecksummed,
  stringMember,
} from '../../json.ts';
import {
  decideMultiTable,
  multiTableDecision,
  openBranch,
  openTable,
  type TableBranch,
  writeObject,
} from '../../table/index.ts';
import { type Catalog, readTableRecord } from './catalog.ts';
import { recordDetached } from './detached.ts';
import { fence } from './lance-tables.ts';

export interface Journal {
  /** Id of the multi-table commit. */
  readonly batch: string;
  /** Tables that were placed before the decision: taken away again if it is to abort. */
  readonly declares: readonly { readonly folder: string; readonly incarnation: string }[];
  /** Done after the decision to commit. */
  readonly deletions: readonly {
    readonly branch: TableBranch;
    readonly versions: readonly number[];
  }[];
  readonly deregisters: readonly {
    readonly folder: string;
    readonly incarnation: string;
    readonly place: string;
  }[];
}

/** An undecided commit older than this is taken for one whose process died, in milliseconds. */
const ABANDONED_AFTER = 3_600_000;

export async function writeJournal(catalog: Catalog, journal: Journal): Promise<void> {
  const { batch, declares, deletions, deregisters } = journal;
  const { bytes } = encodeChecksummed({
    format: 1,
    journal: {
      batch,
      declares: declares.map(({ folder, incarnation }) => ({ folder, incarnation })),
      deletions: deletions.map(({ branch, versions }) => ({ branch: namesOf(branch), versions })),
      deregisters: deregisters.map(({ folder, incarnation, place }) => ({
        folder,
        incarnation,
        place,
      })),
    },
  });
  await writeObject(catalog.store, journalFile(journal.batch), bytes);
  await catalog.store.syncFolders([TRANSACTIONS_FOLDER]);
}

const namesOf = ({ tableFolder, incarnation, branch, folder }: TableBranch): TableBranch => ({
  tableFolder,
  incarnation,
  branch,
  folder,
});

/** Whether a multi-table commit of that id was begun and is not finished. */
export async function hasJournal(catalog: Catalog, commitId: string): Promise<boolean> {
  return (await catalog.store.head(journalFile(commitId))) !== undefined;
}

/** Carries out what the decision asks for; every step can be repeated. */
export async function finishJournal(catalog: Catalog, journal: Journal): Promise<void> {
  const decision = await multiTableDecision(catalog.engine, journal.batch);
  if (decision === undefined) return;
  if (decision === 'committed') {
    for (const { branch: names, versions } of journal.deletions) {
      const branch = openBranch(catalog.engine, names);
      const there = new Set(await branch.listedVersions());
      await branch.deleteVersions(versions.filter((version) => there.has(version)));
    }
    for (const { folder, incarnation, place } of journal.deregisters) {
      const record = await readTableRecord(catalog, folder);
      if (record?.id !== incarnation) continue;
      await recordDetached(catalog, place, catalog.engine.names.tableIdAt(folder) ?? []);
      await catalog.store.moveFolder(folder, place);
    }
  } else {
    for (const { folder, incarnation } of journal.declares)
      await undeclare(catalog, folder, incarnation);
  }
  await catalog.store.delete(journalFile(journal.batch));
}

/** Takes back a declaration, unless the table was given data meanwhile. */
async function undeclare(catalog: Catalog, folder: string, incarnation: string): Promise<void> {
  const record = await readTableRecord(catalog, folder);
  if (record?.id !== incarnation) return;
  const { main } = openTable(catalog.engine, folder, incarnation);
  if ((await main.listedVersions()).length > 0) return;
  const place = detachedFolder(catalog.env.uuid());
  if ((await catalog.store.moveFolder(folder, place)) !== 'moved') return;
  // No writer reaches it there, so only now is it certain what was moved.
  const moved = await readTableRecord(catalog, place);
  const versions = await openTable(catalog.engine, place, incarnation).main.listedVersions();
  const isEmpty = moved?.id === incarnation && versions.length === 0;
  // Nor has a program of others written to it, and from here on none can.
  const { location = '' } = moved ?? {};
  const isUnused =
    isEmpty && (!isReservedFolder(location) || (await fence(catalog, location, 'dropped')));
  if (isUnused) await catalog.store.deleteFolder(place);
  // If its name is taken again by then, it stays where it can be registered from.
  else await catalog.store.moveFolder(place, folder);
}

/**
 * Called when a catalog is opened for writing. Commits undecided for an hour are aborted first;
 * younger ones stay.
 */
export async function finishJournals(catalog: Catalog): Promise<void> {
  for (const { name, kind } of (await catalog.store.list(TRANSACTIONS_FOLDER)) ?? []) {
    if (kind !== 'file' || parseJournalFile(name) === undefined) continue;
    const file = joinPath(TRANSACTIONS_FOLDER, name);
    const bytes = await catalog.store.get(file);
    // Cut short: the crash came before the journal was durable, and so before its first step.
    if (bytes === undefined || bytes.at(-1) !== '\n'.charCodeAt(0)) continue;
    const journal = decodeJournal(bytes, file);
    const age = catalog.env.now() - ((await catalog.store.head(file))?.modified ?? 0);
    if ((await multiTableDecision(catalog.engine, journal.batch)) === undefined) {
      if (age < ABANDONED_AFTER) continue;
      await decideMultiTable(catalog.engine, journal.batch, 'aborted');
    }
    await finishJournal(catalog, journal);
  }
}

/** @throws Corrupt, UnsupportedFormat */
export function decodeJournal(bytes: Uint8Array, file: string): Journal {
  const { document } = parseChecksummed(bytes, file);
  refuseNewer(document, file);
  const journal = asObject(document.journal, file, 'journal');
  const list = <Item>(
    name: string,
    decode: (item: Readonly<Record<string, unknown>>) => Item,
  ): Item[] => arrayMember(journal, name, file).map((item) => decode(asObject(item, file, name)));
  const text = (item: Readonly<Record<string, unknown>>, name: string): string =>
    stringMember(item, name, file);
  return {
    batch: stringMember(journal, 'batch', file),
    declares: list('declares', (item) => ({
      folder: text(item, 'folder'),
      incarnation: text(item, 'incarnation'),
    })),
    deletions: list('deletions', (item) => {
      const branch = asObject(item.branch, file, 'branch');
      return {
        branch: {
          tableFolder: text(branch, 'tableFolder'),
          incarnation: text(branch, 'incarnation'),
          branch: text(branch, 'branch'),
          folder: text(branch, 'folder'),
        },
        versions: arrayMember(item, 'versions', file).map((version) =>
          integerMember({ version }, 'version', file),
        ),
      };
    }),
    deregisters: list('deregisters', (item) => ({
      folder: text(item, 'folder'),
      incarnation: text(item, 'incarnation'),
      place: text(item, 'place'),
    })),
  };
}
