/**
 * `verifyCatalog` checks the files and folders of a catalog or a namespace. It reports damaged or
 * unexpected files as problems and harmless remains as leftovers, and throws for neither. A missing
 * namespace throws NamespaceNotFound. table/verify/ checks each table. Tables in the trash are
 * checked only on request, with the whole catalog. `inspectCatalog` returns the findings and the
 * verified branches to repair.ts.
 */

import {
  CLOCK_PREFIX,
  DETACHED_FOLDER,
  DROPS_FOLDER,
  decodeKey,
  decodeNamespace,
  decodeTable,
  decodeTrash,
  FORMAT_FILE,
  INTENTS_FOLDER,
  isDocument,
  isKeyFile,
  isKeysFolder,
  isReservedFolder,
  isTemporary,
  joinPath,
  KEYS_FOLDER,
  LANCE_TABLES_FOLDER,
  LOCKS_FOLDER,
  NAMESPACE_FILE,
  type NameCodec,
  OPENED_FOLDER,
  PRIVATE_FOLDER,
  parseJournalFile,
  parseTrashRecord,
  QUARANTINE_FOLDER,
  ROOT_TABLES_FOLDER,
  STAGING_FOLDER,
  TABLE_FILE,
  TRANSACTIONS_FOLDER,
  TRASH_FOLDER,
} from '../../format/index.ts';
import { parseChecksummed } from '../../json.ts';
import type {
  ObjectPath,
  VerifiedKind,
  VerifyCallOptions,
  VerifyLeftover,
  VerifyRequest,
  VerifyResponse,
} from '../../protocol/index.ts';
import {
  countBytes,
  type Findings,
  openTable,
  problemIn,
  type VerifiedBranch,
} from '../../table/index.ts';
import {
  type Catalog,
  isFence,
  isGhost,
  isUndecided,
  namespaceId,
  placesIn,
  requireNamespace,
} from '../catalog/index.ts';
import { isLanceCatalog, verifyLanceCatalog } from './verify-lance-catalog.ts';

/** @throws NamespaceNotFound for a namespace that is not there; nothing for damage */
export async function verifyCatalog(
  catalog: Catalog,
  request: VerifyRequest,
  options: VerifyCallOptions = {},
): Promise<VerifyResponse> {
  const trash = request.trash === true && (request.id ?? []).length === 0;
  const { findings } = await inspectCatalog(catalog, request.id, options, trash);
  const { problems, leftovers, counts } = findings;
  return { ok: problems.length === 0, problems, leftovers, counts, trash_checked: trash };
}

export interface Inspection {
  readonly findings: Findings;
  readonly branches: readonly VerifiedBranch[];
}

export async function inspectCatalog(
  catalog: Catalog,
  id: readonly string[] | undefined,
  options: VerifyCallOptions,
  trash = false,
): Promise<Inspection> {
  const path = namespaceId(id);
  await requireNamespace(catalog, path);
  const walk = new Walk(catalog, options);
  if (path.length === 0) await walk.privateFolder(trash);
  await walk.namespace(path);
  if (path.length === 0) await walk.reservedPlaces();
  return { findings: walk.findings, branches: walk.branches };
}

interface Found {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

/** Private folders whose content nothing live points into. */
const LEFTOVER_FOLDERS: Readonly<Record<string, VerifyLeftover['kind']>> = {
  [STAGING_FOLDER]: 'staging',
  [DETACHED_FOLDER]: 'detached',
  [INTENTS_FOLDER]: 'intent',
  [QUARANTINE_FOLDER]: 'quarantine',
};

/** Where tables lie that have no name. */
const ASIDE = [
  [TRASH_FOLDER, 'trash'],
  [DETACHED_FOLDER, 'detached'],
  [QUARANTINE_FOLDER, 'quarantine'],
] as const;

/** Private folders whose entries say all by their names, and the places that are looked at last. */
const NAMED_ONLY: readonly string[] = [LOCKS_FOLDER, DROPS_FOLDER, LANCE_TABLES_FOLDER];

/** The creator of the table was killed before it gave way to the namespace. */
export const SHARED_NAME =
  'A namespace has the same name. Repair takes the table out of the catalog; it can be registered under another name.';

class Walk {
  readonly findings: Findings;
  readonly branches: VerifiedBranch[] = [];
  readonly #catalog: Catalog;
  readonly #signal: AbortSignal | undefined;
  /** Where programs of others write the tables that were found. */
  readonly #places = new Set<string>();

  constructor(catalog: Catalog, { signal, on_progress: tell }: VerifyCallOptions) {
    this.#catalog = catalog;
    this.#signal = signal;
    const counts = {
      namespaces: 0,
      tables: 0,
      branches: 0,
      tags: 0,
      versions: 0,
      fragments: 0,
      bytes: 0,
    };
    this.findings = {
      problems: [],
      leftovers: [],
      counts,
      ...(tell && { onRead: () => tell({ tables: counts.tables, bytes: counts.bytes }) }),
    };
  }

  async namespace(id: ObjectPath): Promise<void> {
    const { names } = this.#catalog.engine;
    const atRoot = id.length === 0;
    const folder = names.namespaceFolder(id);
    const tables = new Set<string>();
    const below: string[] = [];
    const homes = atRoot ? ['', names.tablesFolder(id)] : [folder];
    for (const home of homes) {
      for (const entry of await this.#list(home)) {
        this.#signal?.throwIfAborted();
        const problem = await problemIn(async () => {
          const found = await this.#entry(entry, atRoot, home);
          if (found?.kind === 'table') tables.add(found.name);
          if (found?.kind === 'namespace') below.push(found.name);
        }, this.#signal);
        if (problem !== undefined) this.#problem(entry.path, 'unknown', problem);
      }
    }
    for (const name of below) {
      const child = [...id, name];
      if (tables.has(name)) {
        this.#problem(names.tableFolder(child), 'table', SHARED_NAME);
      }
      this.findings.counts.namespaces += 1;
      await this.namespace(child);
    }
  }

  /**
   * Checks what lies in the folder of a namespace. Returns the name of a table, and that of a
   * namespace, which is yet to be checked.
   */
  async #entry(
    entry: Found,
    atRoot: boolean,
    home: string,
  ): Promise<ReturnType<NameCodec['decode']>> {
    const { name, kind, path } = entry;
    if (atRoot && home === '') {
      if ([PRIVATE_FOLDER, ROOT_TABLES_FOLDER].includes(name)) return undefined;
      if (await isLanceCatalog(this.#catalog, path)) {
        await verifyLanceCatalog(this.#catalog, this.findings);
        return undefined;
      }
      if (kind === 'file' && !name.startsWith('.')) {
        this.#leftover(path, 'foreign');
        return undefined;
      }
    }
    if (!atRoot && kind === 'file' && name === NAMESPACE_FILE) return undefined;
    const decoded = kind === 'folder' ? this.#catalog.engine.names.decode(name, atRoot) : undefined;
    // Tables of the root are in the folder `data`, and nothing else is.
    const here = !atRoot || (decoded?.kind === 'table') === (home !== '');
    if (decoded === undefined || !here) this.#stray(entry);
    else if (await this.#isEmpty(entry)) this.#leftover(path, 'empty folder');
    else if (await isUndecided(this.#catalog, path)) {
      // Its creator was killed; the next one of that name goes on with it.
      this.#leftover(path, 'staging');
    } else if (decoded.kind === 'table') {
      if (await isGhost(this.#catalog, path)) this.#leftover(path, 'ghost');
      else {
        await this.#table(path);
        return decoded;
      }
    } else if (await this.#isNamespace(path)) return decoded;
    return undefined;
  }

  async privateFolder(trash: boolean): Promise<void> {
    const problem = await problemIn(async () => {
      const found = await this.#catalog.format.check();
      if (found !== undefined) throw found;
    }, this.#signal);
    if (problem !== undefined) this.#problem(FORMAT_FILE, 'format', problem);
    for (const entry of await this.#list(PRIVATE_FOLDER)) {
      const { name, kind, path } = entry;
      const leftover = LEFTOVER_FOLDERS[path];
      if (path === FORMAT_FILE) {
        if (problem === undefined) await this.#document(path, 'format', () => {});
      } else if (kind === 'folder' && leftover !== undefined) {
        for (const inside of await this.#list(path)) {
          // The record of a table beside it says when it was deregistered.
          const isRecord = inside.kind === 'file' && parseTrashRecord(inside.name) !== undefined;
          if (path !== DETACHED_FOLDER || !isRecord) this.#leftover(inside.path, leftover);
        }
      } else if (kind === 'folder' && path === TRASH_FOLDER) await this.#trash(trash);
      else if (kind === 'folder' && path === TRANSACTIONS_FOLDER) await this.#transactions();
      else if (kind === 'folder' && path === KEYS_FOLDER) await this.#keys();
      else if (kind === 'folder' && path === OPENED_FOLDER) {
        // Links, but for what clients wrote in the place of one that is gone.
        for (const inside of await this.#list(path))
          if (inside.kind === 'folder') this.#leftover(inside.path, 'orphan');
      } else if (kind === 'folder' && NAMED_ONLY.includes(path)) continue;
      else if (kind === 'file' && (isTemporary(name) || name.startsWith(CLOCK_PREFIX))) {
        this.#leftover(path, 'temporary');
      } else this.#problem(path, 'unknown', 'It is nothing that the engine makes.');
    }
  }

  async #table(folder: string): Promise<void> {
    const file = joinPath(folder, TABLE_FILE);
    let incarnation: string | undefined;
    await this.#document(file, 'table', (bytes) => {
      const record = decodeTable(bytes, file);
      incarnation = record.id;
      if (record.location !== undefined) this.#places.add(record.location);
    });
    if (incarnation === undefined) return;
    this.findings.counts.tables += 1;
    const { engine } = this.#catalog;
    const table = openTable(engine, folder, incarnation);
    const found = await table.verify(this.findings, this.#signal);
    this.branches.push(...found);
  }

  async #isNamespace(folder: string): Promise<boolean> {
    const file = joinPath(folder, NAMESPACE_FILE);
    let isOne = false;
    await this.#document(file, 'namespace', (bytes) => {
      // What is below a namespace with a damaged record is still reached.
      isOne = true;
      decodeNamespace(bytes, file);
    });
    return isOne;
  }

  /** Lists dropped tables and namespaces with their records as leftovers: they harm nothing. */
  async #trash(isRead: boolean): Promise<void> {
    const entries = await this.#list(TRASH_FOLDER);
    const folders = new Set(entries.flatMap(({ name, kind }) => (kind === 'folder' ? name : [])));
    for (const { name, kind, path } of entries) {
      this.#leftover(path, 'trash');
      if (isRead && kind === 'folder') await this.#dropped(path);
      const ofFolder = kind === 'file' ? parseTrashRecord(name) : undefined;
      if (ofFolder === undefined) continue;
      await this.#document(path, 'trash', (bytes) => {
        // Cut short by a crash before the drop it was written for.
        const isCut = bytes.at(-1) !== '\n'.charCodeAt(0);
        const isOfDrop = folders.has(ofFolder);
        if (bytes.length > 0 && (isOfDrop || !isCut)) decodeTrash(bytes, path);
      });
    }
  }

  /** A table, or a namespace with all it holds. */
  async #dropped(folder: string): Promise<void> {
    this.#signal?.throwIfAborted();
    const entries = await this.#list(folder);
    if (entries.some(({ name }) => name === TABLE_FILE)) return this.#table(folder);
    for (const { name, kind, path } of entries) {
      if (name === NAMESPACE_FILE) {
        await this.#document(path, 'namespace', (bytes) => decodeNamespace(bytes, path));
      } else if (kind === 'folder') await this.#dropped(path);
    }
  }

  /** What lies at places of no table that was found is of a dropped or deregistered one, or of none. */
  async reservedPlaces(): Promise<void> {
    const others: Found[] = [];
    for (const entry of await this.#list(LANCE_TABLES_FOLDER)) {
      const { kind, path } = entry;
      if (!isReservedFolder(path)) this.#stray(entry);
      else if (kind === 'folder' && !this.#places.has(path)) others.push(entry);
      else if (kind === 'file' && (await isFence(this.#catalog, path)) === undefined) {
        this.#stray(entry);
      }
    }
    const kinds = new Map<string, VerifyLeftover['kind']>();
    for (const [folder, kind] of others.length === 0 ? [] : ASIDE) {
      for await (const place of placesIn(this.#catalog, folder)) kinds.set(place, kind);
    }
    for (const { path } of others) this.#leftover(path, kinds.get(path) ?? 'orphan');
  }

  async #transactions(): Promise<void> {
    for (const entry of await this.#list(TRANSACTIONS_FOLDER)) {
      const { name, kind, path } = entry;
      if (kind !== 'file' || !isDocument(name) || isTemporary(name)) this.#stray(entry);
      else if (parseJournalFile(name) !== undefined) this.#leftover(path, 'transaction');
      else await this.#document(path, 'transaction', (bytes) => parseChecksummed(bytes, path));
    }
  }

  async #keys(): Promise<void> {
    for (const period of await this.#list(KEYS_FOLDER)) {
      if (period.kind !== 'folder' || !isKeysFolder(period.name)) {
        this.#stray(period);
        continue;
      }
      for (const entry of await this.#list(period.path)) {
        const { name, kind, path } = entry;
        if (kind !== 'file' || !isKeyFile(name)) this.#stray(entry);
        else await this.#document(path, 'key', (bytes) => decodeKey(bytes, path));
      }
    }
  }

  async #document(
    path: string,
    kind: VerifiedKind,
    decode: (bytes: Uint8Array) => unknown,
  ): Promise<void> {
    const problem = await problemIn(async () => {
      const bytes = await this.#catalog.store.get(path);
      if (bytes === undefined) throw new Error('It is missing.');
      countBytes(this.findings, bytes.length);
      decode(bytes);
    });
    if (problem !== undefined) this.#problem(path, kind, problem);
  }

  async #isEmpty(entry: Found): Promise<boolean> {
    return (await this.#list(entry.path)).length === 0;
  }

  async #list(folder: string): Promise<Found[]> {
    let found: Found[] = [];
    const problem = await problemIn(async () => {
      const entries = (await this.#catalog.store.list(folder)) ?? [];
      found = entries.map(({ name, kind }) => ({ name, kind, path: joinPath(folder, name) }));
    });
    if (problem !== undefined) this.#problem(folder, 'unknown', problem);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #stray({ name, kind, path }: Found): void {
    if (kind === 'file' && isTemporary(name)) this.#leftover(path, 'temporary');
    else this.#problem(path, 'unknown', 'It is nothing that the engine makes.');
  }

  #problem(path: string, kind: VerifiedKind, what: string): void {
    this.findings.problems.push({ path, kind, what });
  }

  #leftover(path: string, kind: VerifyLeftover['kind']): void {
    this.findings.leftovers.push({ path, kind });
  }
}
