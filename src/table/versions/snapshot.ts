/**
 * `Snapshot` is one immutable version of one branch, with its manifest, parsed schema and fields
 * with ids. `fragments()` lists its fragments; it reads the chunk files of the list on first use,
 * through the cache (`readChunk`). `fragmentRuns()` gives the same chunk by chunk, and
 * `outlineRuns()` reads faster, and may return only the facts about fragments that manifests for
 * Lance need. A missing chunk throws TableVersionNotFound, TableNotFound or Corrupt, as for any
 * file of a version.
 */
import type { Schema } from '../../arrow/index.ts';
import {
  type ChunkBlock,
  type ChunkEntry,
  chunkFile,
  chunkOutlines,
  decodeChunkInSteps,
  type FragmentEntry,
  type FragmentOutline,
  type Manifest,
  versionFile,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { sharedSchema } from '../../protocol/index.ts';
import { fieldTree, type IdentifiedField } from '../fields/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import type { Engine } from './engine.ts';
import { missingFile } from './fragment-object.ts';
import type { TableBranch } from './head.ts';

interface ParsedSchema {
  readonly schema: Schema;
  readonly fieldIds: readonly number[];
  readonly fields: readonly IdentifiedField[];
}

/** By the JSON form, which a version that leaves the schema alone takes over from its base. */
const parsedSchemas = new WeakMap<Manifest['schema'], ParsedSchema>();

export class Snapshot {
  readonly branch: TableBranch;
  readonly manifest: Manifest;
  /** Checksum of the manifest, which the next version names as its parent's. */
  readonly checksum: string;
  /** Size of the manifest in bytes. */
  readonly manifestBytes: number;
  readonly #engine: Engine;
  #fragments: readonly FragmentEntry[] | undefined;
  #runs: readonly (readonly FragmentEntry[])[] | undefined;

  constructor(
    engine: Engine,
    branch: TableBranch,
    manifest: Manifest,
    checksum: string,
    manifestBytes: number,
  ) {
    this.#engine = engine;
    this.branch = branch;
    this.manifest = manifest;
    this.checksum = checksum;
    this.manifestBytes = manifestBytes;
  }

  get version(): number {
    return this.manifest.version;
  }

  /** The manifest's file, relative to the root. */
  get file(): string {
    return versionFile(this.branch.folder, this.manifest.version);
  }

  get schema(): Schema {
    return this.#parsed().schema;
  }

  /** The schema's fields with their ids. */
  get fields(): readonly IdentifiedField[] {
    return this.#parsed().fields;
  }

  #parsed(): ParsedSchema {
    const { schema: json, fieldIds } = this.manifest;
    const known = parsedSchemas.get(json);
    if (known?.fieldIds === fieldIds) return known;
    const schema = sharedSchema(json);
    const parsed = { schema, fieldIds, fields: fieldTree(schema.fields, fieldIds, this.file) };
    parsedSchemas.set(json, parsed);
    return parsed;
  }

  get rowCount(): number {
    return this.manifest.totals.rows - this.manifest.totals.deletedRows;
  }

  /** All fragments in row order. */
  async fragments(): Promise<readonly FragmentEntry[]> {
    if (this.#fragments !== undefined) return this.#fragments;
    if (this.manifest.chunks.length === 0) return this.manifest.fragments;
    this.#fragments = (await this.fragmentRuns()).flat();
    return this.#fragments;
  }

  /**
   * All fragments in row order, as the manifest and its chunks list them. While a chunk stays in
   * memory it is the same list for all versions that share it, so what is made of it can be kept by
   * it.
   */
  async fragmentRuns(): Promise<readonly (readonly FragmentEntry[])[]> {
    this.#runs ??= await this.#runsOf(readChunk);
    return this.#runs;
  }

  /** The same with what Lance is told of the fragments, which is read in a tenth of the time. */
  async outlineRuns(): Promise<readonly (readonly FragmentOutline[])[]> {
    return this.#runs ?? this.#runsOf(readOutlines);
  }

  async #runsOf<Entry>(
    read: (
      engine: Engine,
      tableFolder: string,
      chunk: ChunkEntry,
      snapshot: Snapshot,
    ) => Promise<readonly Entry[]>,
  ): Promise<readonly (readonly (Entry | FragmentEntry)[])[]> {
    const runs: (readonly (Entry | FragmentEntry)[])[] = [];
    const turn = new Turn(this.#engine.env);
    for (const chunk of this.manifest.chunks) {
      // Only a table with many fragments takes long; reading a chunk in memory takes no time.
      if (turn.isOver()) await turn.pass();
      runs.push(await read(this.#engine, this.branch.tableFolder, chunk, this));
    }
    runs.push(this.manifest.fragments);
    return runs;
  }
}

/** Chunks of so many bytes take milliseconds: others have their turns between two of them. */
const LONG_CHUNK_BYTES = 1 << 17;

/** The key under which the entries of a block of a chunk are cached. */
export const blockKey = ({ file }: ChunkEntry, { offset, checksum }: ChunkBlock): string =>
  `block ${file} ${offset} ${checksum}`;

export async function readChunk(
  engine: Engine,
  tableFolder: string,
  entry: ChunkEntry,
  snapshot?: Snapshot,
): Promise<readonly FragmentEntry[]> {
  const known = engine.cache.get<readonly FragmentEntry[]>(chunkKey(entry));
  if (known !== undefined) return known;
  const file = chunkFile(tableFolder, entry.file);
  const bytes = await chunkBytes(engine, file, snapshot);
  return decodedChunk(engine, entry, bytes, file);
}

const chunkKey = ({ file }: ChunkEntry): string => `chunk ${file}`;

async function chunkBytes(
  engine: Engine,
  file: string,
  snapshot: Snapshot | undefined,
  tries = 1,
): Promise<Uint8Array> {
  const bytes = await engine.store.get(file);
  if (bytes !== undefined) return bytes;
  const error =
    snapshot === undefined
      ? corrupt(file, 'it is missing, and a version refers to it')
      : await missingFile(engine, snapshot, file, tries);
  if (error !== undefined) throw error;
  return chunkBytes(engine, file, snapshot, tries + 1);
}

async function decodedChunk(
  engine: Engine,
  entry: ChunkEntry,
  bytes: Uint8Array,
  file: string,
): Promise<readonly FragmentEntry[]> {
  const turn = new Turn(engine.env);
  const fragments = await inTurns(turn, decodeChunkInSteps(bytes, entry, file), undefined);
  engine.cache.set(chunkKey(entry), fragments, bytes.length * 3);
  // Chunk after chunk is read without a wait where the disk has none.
  if (bytes.length > LONG_CHUNK_BYTES) await turn.pass();
  return fragments;
}

/** The entries of a chunk where they are in memory or have to be decoded, else their outlines. */
async function readOutlines(
  engine: Engine,
  tableFolder: string,
  entry: ChunkEntry,
  snapshot: Snapshot,
): Promise<readonly FragmentOutline[]> {
  const key = `outlines ${entry.file}`;
  const known =
    engine.cache.get<readonly FragmentOutline[]>(chunkKey(entry)) ??
    engine.cache.get<readonly FragmentOutline[]>(key);
  if (known !== undefined) return known;
  const file = chunkFile(tableFolder, entry.file);
  const bytes = await chunkBytes(engine, file, snapshot);
  const steps = chunkOutlines(bytes, entry, file);
  const outlines = await inTurns(new Turn(engine.env), steps, undefined);
  if (outlines === undefined) return decodedChunk(engine, entry, bytes, file);
  // The names of files are parts of the text, which they keep in memory.
  engine.cache.set(key, outlines, bytes.length + 128 * outlines.length);
  return outlines;
}
