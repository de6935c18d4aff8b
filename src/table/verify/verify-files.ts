/**
 * `FileVerifier` verifies the chunks (`entries`), fragments with their deletion files (`fragment`)
 * and index files (`index`) that versions refer to, by their checksums, and returns the problems.
 * It reads the files through the store, not from a cache. A file that several versions describe in
 * the same way is read once. It notes every file that a version refers to (`referenced`).
 * `problemIn` runs a check and returns the message of its error, or undefined; it throws only if
 * the signal is aborted.
 */
import { crc32 } from 'node:zlib';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type ColumnFilePlace,
  checkChunk,
  checkSharedDeletions,
  chunkFile,
  columnFiles,
  columnRanges,
  type DeletionEntry,
  decodeBatchColumnInSteps,
  decodeChunkInSteps,
  decodeDictionaries,
  decodeFooterInSteps,
  deletionFile,
  dictionaryIds,
  dictionaryRanges,
  type FragmentEntry,
  type FragmentFooter,
  fragmentFile,
  type IndexEntry,
  indexFile,
  lanceColumns,
  type Manifest,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { VerifiedKind, VerifyProblem } from '../../protocol/index.ts';
import { plainPause, runSteps } from '../../steps.ts';
import type { ObjectReader, ReadableStore } from '../../store/index.ts';
import { decodeVerified } from '../fragments/index.ts';
import { inTurns, type Turn } from '../work/index.ts';

/**
 * Gives the message of what `work` throws, undefined if nothing; errors of the disk are no
 * exception.
 */
export async function problemIn(
  work: () => Promise<unknown>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return isDirspaceError(error) ? error.message : String((error as Error)?.message ?? error);
  }
}

const ADVICE =
  'No row is lost, and queries scan what it covers. Repair takes it off the newest version, and optimize builds it anew; older versions name it until they are cleaned up.';

type ChunkRead = readonly FragmentEntry[] | string;

export class FileVerifier {
  readonly #store: ReadableStore;
  readonly #folder: string;
  readonly #read: (bytes: number) => void;
  readonly #turn: Turn;
  readonly #signal: AbortSignal | undefined;
  /** What is wrong with files of columns and of deleted rows, by how a version describes them. */
  readonly #found = new Map<string, string | undefined>();
  /** The own files of fragments. */
  readonly #seen = new Set<string>();
  readonly #indexes = new Map<string, string | undefined>();
  readonly #chunks = new Map<string, ChunkRead>();
  /** The rows of each batch of a file of columns that is whole, by its path. */
  readonly #batches = new Map<string, string>();
  /** Every file that anything referred to. */
  readonly referenced: Set<string> = new Set();

  /** `read` is called with the bytes of each file whose checksum was computed. */
  constructor(
    store: ReadableStore,
    tableFolder: string,
    read: (bytes: number) => void,
    turn: Turn,
    signal: AbortSignal | undefined,
  ) {
    this.#store = store;
    this.#turn = turn;
    this.#signal = signal;
    this.#folder = tableFolder;
    this.#read = read;
  }

  /** Yields to the event loop where a turn is over: cached reads never wait by themselves. */
  async breathe(): Promise<void> {
    if (!this.#turn.isOver()) return;
    await this.#turn.pass();
    this.#signal?.throwIfAborted();
  }

  /** How many fragments were verified, each once, whatever versions refer to it. */
  get fragments(): number {
    return this.#seen.size;
  }

  /** The fragments of a version, with what is wrong with the chunks that list them. */
  async entries(
    manifest: Manifest,
  ): Promise<{ readonly entries: readonly FragmentEntry[]; readonly problems: VerifyProblem[] }> {
    const entries: FragmentEntry[] = [];
    const problems: VerifyProblem[] = [];
    for (const chunk of manifest.chunks) {
      const path = chunkFile(this.#folder, chunk.file);
      this.referenced.add(path);
      const key = `${path} ${JSON.stringify(chunk)}`;
      let read = this.#chunks.get(key);
      if (read === undefined) {
        read = await this.#readChunk(chunk, path);
        this.#chunks.set(key, read);
      }
      if (typeof read === 'string') problems.push({ path, kind: 'chunk', what: read });
      else for (const entry of read) entries.push(entry);
    }
    for (const entry of manifest.fragments) entries.push(entry);
    return { entries, problems };
  }

  async #readChunk(chunk: Manifest['chunks'][number], path: string): Promise<ChunkRead> {
    let found: ChunkRead = [];
    const problem = await problemIn(async () => {
      const bytes = await this.#store.get(path);
      if (bytes === undefined) throw missing(path);
      this.#read(bytes.length);
      const entries = await inTurns(
        this.#turn,
        decodeChunkInSteps(bytes, chunk, path),
        this.#signal,
      );
      checkChunk(bytes, chunk, entries, path);
      found = entries;
    }, this.#signal);
    return problem ?? found;
  }

  /** What is wrong with the files of an index. */
  async index({ segments }: IndexEntry): Promise<VerifyProblem[]> {
    const problems: VerifyProblem[] = [];
    for (const file of segments.flatMap(({ files }) => files)) {
      const path = indexFile(this.#folder, file.file);
      this.referenced.add(path);
      const { rows, bytes, footerBytes, footerChecksum } = file;
      const key = [path, rows, bytes, footerBytes, footerChecksum].join(' ');
      if (!this.#indexes.has(key)) {
        const read = (): Promise<unknown> => this.#readFragment({ ...file, first: 0 }, rows, path);
        this.#indexes.set(key, await problemIn(read, this.#signal));
      }
      const what = this.#indexes.get(key);
      if (what !== undefined) problems.push({ path, kind: 'index', what: `${what} ${ADVICE}` });
    }
    return problems;
  }

  /** What is wrong with the files of one fragment. */
  async fragment(entry: FragmentEntry): Promise<VerifyProblem[]> {
    const { rows, deletion } = entry;
    const problems: VerifyProblem[] = [];
    const check = async (
      file: string,
      kind: VerifiedKind,
      facts: readonly unknown[],
      work: () => Promise<unknown>,
    ): Promise<void> => {
      this.referenced.add(file);
      const key = [file, ...facts].join(' ');
      if (!this.#found.has(key)) this.#found.set(key, await problemIn(work, this.#signal));
      const what = this.#found.get(key);
      if (what !== undefined) problems.push({ path: file, kind, what });
    };
    const first = fragmentFile(this.#folder, entry.file);
    this.#seen.add(first);
    for (const part of columnFiles(entry)) {
      const path = fragmentFile(this.#folder, part.file);
      const facts = [rows, part.bytes, part.footerBytes, part.footerChecksum, part.columns];
      await check(path, 'fragment', facts, async () => {
        this.#batches.set(path, (await this.#readFragment(part, rows, path)).join());
      });
      // Either may have been read for another version.
      const [own, later] = [this.#batches.get(first), this.#batches.get(path)];
      if (own !== undefined && later !== undefined && own !== later) {
        const { message } = corrupt(path, 'its batches are others than those of its fragment');
        problems.push({ path, kind: 'fragment', what: message });
      }
    }
    if (deletion !== undefined) {
      const file = deletionFile(this.#folder, deletion.file);
      const { offset, checksum } = deletion;
      const shared = offset === undefined ? undefined : () => this.#readShared(deletion.file, file);
      if (shared !== undefined) await check(file, 'deletions', [], shared);
      // For a shared file that is damaged it is not reported which slices are.
      if (shared === undefined || this.#found.get(file) === undefined)
        await check(file, 'deletions', [rows, deletion.rows, checksum, offset ?? 0], () =>
          this.#readDeletions(deletion, rows, file),
        );
    }
    return problems;
  }

  async #readShared(id: string, file: string): Promise<void> {
    const bytes = await this.#store.get(file);
    if (bytes === undefined) throw missing(file);
    this.#read(bytes.length);
    checkSharedDeletions(bytes, id, file);
  }

  async #readDeletions(deletion: DeletionEntry, rows: number, file: string): Promise<void> {
    const bytes =
      deletion.offset === undefined
        ? await this.#store.get(file)
        : await this.#slice(file, deletion.offset, deletion.bytes);
    if (bytes === undefined) throw missing(file);
    this.#read(bytes.length);
    decodeVerified(bytes, deletion, rows, file);
  }

  async #slice(file: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const object = await this.#store.open(file);
    try {
      return await object?.read(offset, length);
    } finally {
      object?.close();
    }
  }

  /** @returns the rows of each batch */
  async #readFragment(
    entry: Omit<ColumnFilePlace, 'columns'> & { readonly columns?: number },
    rows: number,
    path: string,
  ): Promise<readonly number[]> {
    const object = await this.#store.open(path);
    if (object === undefined) throw missing(path);
    try {
      if (object.size !== entry.bytes) {
        throw corrupt(path, `it has ${object.size} bytes instead of ${entry.bytes}`);
      }
      const start = entry.bytes - entry.footerBytes;
      const tail = await object.read(start, entry.footerBytes);
      const footer = await runSteps(
        decodeFooterInSteps(tail, { ...entry, rows }, path),
        plainPause(),
      );
      if (footer.schema.fields.length !== (entry.columns ?? footer.schema.fields.length)) {
        throw corrupt(
          path,
          `it has ${footer.schema.fields.length} columns, the manifest ${entry.columns}`,
        );
      }
      await readColumns(object, footer, () => this.breathe());
      await readLancePart(object, footer, entry);
      this.#read(entry.bytes);
      return footer.batches.map((batch) => batch.rows);
    } finally {
      object.close();
    }
  }
}

/** Every byte of the file but its footer. */
async function readColumns(
  object: ObjectReader,
  footer: FragmentFooter,
  breathe: () => Promise<void>,
): Promise<void> {
  const verify = async (offset: number, length: number, checksum: number): Promise<void> => {
    if (crc32(await object.read(offset, length)) === checksum) return;
    throw corrupt(footer.name, `its bytes from ${offset} on do not match their checksum`);
  };
  await verify(0, footer.headBytes, footer.headChecksum);
  for (const { offset, metadataBytes, metadataChecksum } of footer.dictionaries) {
    await verify(offset, metadataBytes, metadataChecksum);
  }
  const columns = footer.schema.fields.map((_, column) => column);
  const ids = dictionaryIds(footer, columns);
  const values: Uint8Array[] = [];
  for (const { offset, length } of dictionaryRanges(footer, ids)) {
    values.push(await object.read(offset, length));
  }
  const dictionaries = decodeDictionaries(footer, ids, values);
  for (const [batch, { offset, metadataBytes, metadataChecksum }] of footer.batches.entries()) {
    await verify(offset, metadataBytes, metadataChecksum);
    for (const [column, range] of columnRanges(footer, batch, columns).entries()) {
      const bytes = await object.read(range.offset, range.length);
      const room = (size: number): Uint8Array => new Uint8Array(size);
      const steps = decodeBatchColumnInSteps(footer, batch, column, bytes, dictionaries, room);
      while (steps.next().done !== true) await breathe();
      await breathe();
    }
  }
}

/** The part that Lance reads, and what the manifest says of it. */
async function readLancePart(
  object: ObjectReader,
  footer: FragmentFooter,
  { lance }: Pick<ColumnFilePlace, 'lance'>,
): Promise<void> {
  const { part, name } = footer;
  const named = lance !== undefined && 'fileSize' in lance ? lance : undefined;
  if (part === undefined) {
    if (named === undefined) return;
    throw corrupt(name, 'its manifest names a Lance part, and it has none');
  }
  const bytes = await object.read(part.offset, part.bytes);
  if (crc32(bytes) !== part.checksum) {
    throw corrupt(name, `its bytes from ${part.offset} on do not match their checksum`);
  }
  if (named === undefined) return;
  const columns = lanceColumns(bytes, named.fileSize - part.offset);
  if (columns !== named.fields.length) {
    throw corrupt(name, `its Lance part has ${columns} columns, not ${named.fields.length}`);
  }
}

const missing = (path: string): DirspaceError =>
  new DirspaceError('Corrupt', `The file ${path} is missing, and a version refers to it.`, {
    details: { file: path },
  });
