/**
 * `CatalogRoot` reads and writes the catalog's format file, `.dirspace/format.json`. The file
 * records whether names fold case, whether versions are managed, and whether new tables are written
 * for Lance. `prepare` must be called before each write. In a new catalog it creates the file and
 * the engine's folders, and throws Unsupported on a disk without hard links; later it reads the
 * file at most once a second, because another process may have changed a setting. If the file is
 * damaged, or missing from a writable catalog with content, `refusal` says why the catalog cannot
 * be used, `prepare` throws it, and `mend` writes the file again for a repair. `rootGone` is the
 * error of a root that is gone.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  DETACHED_FOLDER,
  decodeFormat,
  encodeFormat,
  FORMAT_FILE,
  type FormatRecord,
  INTENTS_FOLDER,
  isTableFolder,
  joinPath,
  NAMESPACE_FILE,
  NameCodec,
  PRIVATE_FOLDER,
  ROOT_TABLES_FOLDER,
  STAGING_FOLDER,
  TABLE_FILE,
  TRANSACTIONS_FOLDER,
  TRASH_FOLDER,
} from '../../format/index.ts';
import { hasChecksum } from '../../json.ts';
import { isLanceMode, type LanceMode } from '../../lance-mode.ts';
import { type FileStore, withLock } from '../../store/index.ts';
import type { CatalogFormat, ProposedFormat } from './catalog.ts';

const PRIVATE_FOLDERS = [
  STAGING_FOLDER,
  TRASH_FOLDER,
  DETACHED_FOLDER,
  INTENTS_FOLDER,
  TRANSACTIONS_FOLDER,
];
const MANAGED = 'managed_versioning';
const LANCE = 'lance';
/** The Lance mode of a catalog without a format file, which gets one before its first table. */
const NEW_CATALOG: LanceMode = 'read';

/** How long a setting may be out of date in a process that writes, in milliseconds. */
const LOOK_AGAIN_MS = 1000;

/** What a catalog is switched to when it is opened; each stays as it is if absent. */
export interface RootSwitches {
  readonly managed?: boolean | undefined;
  readonly lance?: LanceMode | undefined;
}

export class CatalogRoot implements CatalogFormat {
  readonly names: NameCodec;
  readonly #store: FileStore;
  readonly #given: RootSwitches;
  #known: FormatRecord | undefined;
  #refusal: DirspaceError | undefined;
  #preparing: Promise<void> | undefined;
  #ready = false;
  #looked = 0;

  private constructor(store: FileStore, given: RootSwitches) {
    this.#store = store;
    this.#given = given;
    this.names = new NameCodec(false);
  }

  static async open(store: FileStore, switches: RootSwitches): Promise<CatalogRoot> {
    const root = new CatalogRoot(store, switches);
    await root.#read();
    return root;
  }

  get refusal(): DirspaceError | undefined {
    return this.#refusal;
  }

  /** Whether there was a format file when the root was opened, or was written since. */
  get isSetUp(): boolean {
    return this.#known !== undefined;
  }

  get managed(): boolean {
    return this.#given.managed ?? this.#known?.properties[MANAGED] === 'true';
  }

  get lance(): LanceMode {
    return this.#given.lance ?? (this.#known === undefined ? NEW_CATALOG : lanceMode(this.#known));
  }

  get #properties(): Record<string, string> {
    return properties(this.managed, this.lance);
  }

  /**
   * Sets the root up for its first write, and looks for changed settings before others.
   * @throws Corrupt, Unsupported
   */
  async prepare(): Promise<void> {
    const now = this.#store.env.now();
    if (this.#ready && Math.abs(now - this.#looked) < LOOK_AGAIN_MS) return;
    this.#looked = now;
    this.#preparing ??= (this.#ready ? this.#look() : this.#setUp()).finally(() => {
      this.#preparing = undefined;
    });
    await this.#preparing;
  }

  /** What the names on the disk and the legible part of the file say. */
  async propose(): Promise<ProposedFormat> {
    const text = await legible(this.#store);
    const isManaged = /"managed_versioning"\s*:\s*"true"/.test(text);
    const isNot = /"properties"\s*:\s*\{\s*(?:"lance"\s*:\s*"[a-z]*"\s*)?\}/.test(text);
    const folds = await foldsByNames(this.#store);
    return {
      foldsCase: folds ?? this.#store.probe().foldsCase,
      managed: isManaged ? true : isNot ? false : undefined,
      lance: lanceModeIn(text),
    };
  }

  /** Writes the file anew; the catalog can be used from then on. */
  async mend(foldsCase: boolean, managed: boolean, lance: LanceMode): Promise<void> {
    await this.#store.createFolder(PRIVATE_FOLDER);
    await this.#store.put(
      FORMAT_FILE,
      encodeFormat({ foldsCase, properties: properties(managed, lance) }),
    );
    await this.#read();
  }

  async check(): Promise<DirspaceError | undefined> {
    try {
      await this.#find();
      return undefined;
    } catch (error) {
      if (isDirspaceError(error, 'Corrupt')) return error;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const store = this.#store;
    this.#known = undefined;
    this.#refusal = undefined;
    try {
      this.#known = await this.#find();
      this.names.foldsCase = this.#known?.foldsCase ?? false;
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
      this.names.foldsCase = (await foldsByNames(store)) ?? false;
      // Reading a copy that lost the file harms nothing; its names say how they are to be read.
      const isReadable = store.readOnly && error.details.missing === true;
      if (!isReadable) this.#refusal = error;
    }
  }

  /** Undefined for a root without content. @throws Corrupt */
  async #find(): Promise<FormatRecord | undefined> {
    const found = await readFormat(this.#store);
    if (found !== undefined || !(await hasContent(this.#store))) return found;
    // It may have been set up just now: the file is written before any content.
    const again = await readFormat(this.#store);
    if (again === undefined) throw formatUnusable('is missing, and the catalog has content', {});
    return again;
  }

  /** A file that is missing or damaged by now is told by who opens the catalog, and by verify. */
  async #look(): Promise<void> {
    try {
      this.#known = (await readFormat(this.#store)) ?? this.#known;
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
    }
  }

  async #setUp(): Promise<void> {
    const store = this.#store;
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#known ??= await this.#find();
    this.names.foldsCase = this.#known?.foldsCase ?? this.names.foldsCase;
    if (this.#known === undefined) {
      await store.createFolder(PRIVATE_FOLDER);
      const { hardLinks, foldsCase } = store.probe();
      if (!hardLinks) {
        throw new DirspaceError(
          'Unsupported',
          'The disk under the root has no hard links, without which commits cannot be exclusive. Put the catalog on a local POSIX file system.',
        );
      }
      const properties = this.#properties;
      await store.putIfAbsent(FORMAT_FILE, encodeFormat({ foldsCase, properties }));
      this.#known = await readFormat(store);
      this.names.foldsCase = this.#known?.foldsCase ?? foldsCase;
    }
    await this.#rewrite();
    for (const folder of PRIVATE_FOLDERS) await store.createFolder(folder);
    this.#ready = true;
  }

  /** Switches what was asked for, and gives the file of an older release its checksum. */
  async #rewrite(): Promise<void> {
    const isCurrent = async (): Promise<boolean> => {
      const bytes = await this.#store.get(FORMAT_FILE);
      if (bytes === undefined) {
        // A file that was read before is there, unless the root is another one by now.
        if (this.#known !== undefined) throw rootGone(undefined);
        return true;
      }
      this.#known = decodeFormat(bytes, FORMAT_FILE);
      const isSwitched =
        (this.#known.properties[MANAGED] === 'true') === this.managed &&
        lanceMode(this.#known) === this.lance;
      return isSwitched && hasChecksum(bytes);
    };
    if (await isCurrent()) return;
    await withLock(
      this.#store,
      FORMAT_FILE,
      async () => {
        // Read again right before it is written: another process may have switched it.
        if ((await isCurrent()) || this.#known === undefined) return;
        const { [MANAGED]: _, [LANCE]: __, ...others } = this.#known.properties;
        const properties = { ...others, ...this.#properties };
        this.#known = { ...this.#known, properties };
        await this.#store.put(FORMAT_FILE, encodeFormat(this.#known));
      },
      { env: this.#store.env },
    );
  }
}

/** The error of a catalog whose root was deleted, unmounted or replaced since it was opened. */
export function rootGone(cause: unknown): DirspaceError {
  return new DirspaceError(
    'ServiceUnavailable',
    `The root of the catalog is gone, or another folder without ${FORMAT_FILE} is in its place. Bring it back, such as by mounting its disk again; to make a new catalog there, open it anew.`,
    { details: { root: 'gone' }, cause },
  );
}

/** What is not as it is by default: an absent member stands for `false` or `off`. */
const properties = (managed: boolean, lance: LanceMode): Record<string, string> => ({
  ...(managed ? { [MANAGED]: 'true' } : {}),
  ...(lance === 'off' ? {} : { [LANCE]: lance }),
});

function lanceMode(record: FormatRecord | undefined): LanceMode {
  const mode = record?.properties[LANCE];
  return isLanceMode(mode) ? mode : 'off';
}

/** The mode in what is legible of a format file; off where nothing tells it. */
const lanceModeIn = (text: string): LanceMode => {
  const mode = /"lance"\s*:\s*"([a-z]+)"/.exec(text)?.[1];
  return isLanceMode(mode) ? mode : 'off';
};

/** Many times what the file has ever had. */
const MOST_BYTES = 1024 * 1024;

async function readFormat(store: FileStore): Promise<FormatRecord | undefined> {
  try {
    const size = (await store.head(FORMAT_FILE))?.size ?? 0;
    if (size > MOST_BYTES)
      throw formatUnusable(`has ${size} bytes, more than the engine ever writes`, {});
    const bytes = await store.get(FORMAT_FILE);
    return bytes === undefined ? undefined : decodeFormat(bytes, FORMAT_FILE);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) throw formatUnusable('is damaged', { cause: error });
    // A folder, or a link, in its place.
    if (isDirspaceError(error, 'InvalidInput'))
      throw formatUnusable('is no file', { cause: error });
    throw error;
  }
}

function formatUnusable(how: string, { cause }: { cause?: DirspaceError }): DirspaceError {
  const missing = how.startsWith('is missing');
  const hint = missing ? ' Opened read-only, the catalog can be read.' : '';
  return new DirspaceError(
    'Corrupt',
    `The file ${FORMAT_FILE} ${how}. It says whether names fold case and whether versions are managed, which is not guessed, so the catalog is not used. Restore the file from a copy, or run repair, which says what it would write and writes it once told to.${hint}`,
    { details: { file: FORMAT_FILE, missing }, cause },
  );
}

async function legible(store: FileStore): Promise<string> {
  try {
    if (((await store.head(FORMAT_FILE))?.size ?? 0) > MOST_BYTES) return '';
    return Buffer.from((await store.get(FORMAT_FILE)) ?? []).toString('latin1');
  } catch {
    return '';
  }
}

/** Whether any table or namespace is there. */
async function hasContent(store: FileStore): Promise<boolean> {
  for await (const { folder, marker } of topFolders(store)) {
    if ((await store.head(joinPath(folder, marker))) !== undefined) return true;
  }
  return false;
}

interface MarkedFolder {
  readonly name: string;
  readonly folder: string;
  /** The file it holds if it is the engine's. */
  readonly marker: string;
}

async function* topFolders(store: FileStore): AsyncGenerator<MarkedFolder> {
  for (const [home, marker] of [
    [ROOT_TABLES_FOLDER, TABLE_FILE],
    ['', NAMESPACE_FILE],
  ] as const) {
    for (const { name, kind } of (await store.list(home)) ?? []) {
      if (kind !== 'folder' || (home === '' && [PRIVATE_FOLDER, ROOT_TABLES_FOLDER].includes(name)))
        continue;
      yield { name, folder: joinPath(home, name), marker };
    }
  }
}

/**
 * What the names of tables and namespaces tell: capitals are escaped where the disk folds case, and
 * nowhere else. Undefined where no name has any.
 */
async function foldsByNames(store: FileStore): Promise<boolean | undefined> {
  const [folding, plain] = [new NameCodec(true), new NameCodec(false)];
  const waiting: string[] = [];
  for (let folder: string | undefined = ''; folder !== undefined; folder = waiting.shift()) {
    const children = folder === '' ? topFolders(store) : foldersIn(store, folder);
    for await (const { name, folder: child, marker } of children) {
      if ((await store.head(joinPath(child, marker))) === undefined) continue;
      const folds = folding.decode(name, folder === '') !== undefined;
      if (folds !== (plain.decode(name, folder === '') !== undefined)) return folds;
      if (marker === NAMESPACE_FILE) waiting.push(child);
    }
  }
  return undefined;
}

async function* foldersIn(store: FileStore, folder: string): AsyncGenerator<MarkedFolder> {
  for (const { name, kind } of (await store.list(folder)) ?? []) {
    if (kind !== 'folder') continue;
    const marker = isTableFolder(name) ? TABLE_FILE : NAMESPACE_FILE;
    yield { name, folder: joinPath(folder, name), marker };
  }
}
