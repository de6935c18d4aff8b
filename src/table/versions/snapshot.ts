/**
 * `Snapshot`: one immutable version of one branch, with its manifest, parsed schema and fields with
 * ids. `fragments()` lists its fragments, and reads the list's chunk files on first use through the
 * cache (`readChunk`); `fragmentRuns()` returns the same as one list for each chunk and one for the
 * manifest. `blockKey` names the entries of a part of a chunk in the cache.
 */
import type { Schema } from '../../arrow/index.ts';
import {
  type ChunkBlock,
  type ChunkEntry,
  chunkFile,
  decodeChunkInSteps,
  type FragmentEntry,
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
    if (this.#runs !== undefined) return this.#runs;
    const runs: (readonly FragmentEntry[])[] = [];
    const turn = new Turn(this.#engine.env);
    for (const chunk of this.manifest.chunks) {
      // Only a table with many fragments takes long; reading a chunk in memory takes no time.
      if (turn.isOver()) await turn.pass();
      runs.push(await readChunk(this.#engine, this.branch.tableFolder, chunk, this));
    }
    runs.push(this.manifest.fragments);
    this.#runs = runs;
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
  entry: Manifest['chunks'][number],
  snapshot?: Snapshot,
  tries = 1,
): Promise<readonly FragmentEntry[]> {
  const key = `chunk ${entry.file}`;
  const known = engine.cache.get<readonly FragmentEntry[]>(key);
  if (known !== undefined) return known;
  const file = chunkFile(tableFolder, entry.file);
  const bytes = await engine.store.get(file);
  if (bytes === undefined) {
    const error =
      snapshot === undefined
        ? corrupt(file, 'it is missing, and a version refers to it')
        : await missingFile(engine, snapshot, file, tries);
    if (error !== undefined) throw error;
    return readChunk(engine, tableFolder, entry, snapshot, tries + 1);
  }
  const turn = new Turn(engine.env);
  const fragments = await inTurns(turn, decodeChunkInSteps(bytes, entry, file), undefined);
  engine.cache.set(key, fragments, bytes.length * 3);
  // Chunk after chunk is read without a wait where the disk has none.
  if (bytes.length > LONG_CHUNK_BYTES) await turn.pass();
  return fragments;
}
