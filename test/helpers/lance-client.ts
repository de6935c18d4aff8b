/**
 * Does what a writer of Lance does with a table of ours, without Lance: reads the newest manifest under
 * `_versions`, writes data and deletion files, and stages the manifest of the next version. It goes on with
 * its own manifest, as Lance's clients do, until it opens the table anew.
 */
import { randomUUID } from 'node:crypto';
import type { RecordBatchStream } from '../../src/arrow/apache.ts';
import { encodeDeletions } from '../../src/format/catalog/deletions.ts';
import { fieldMembers } from '../../src/format/lance/lance-fields.ts';
import type {
  ParsedBase,
  ParsedDataFile,
  ParsedDeletion,
  ParsedField,
  ParsedFragment,
} from '../../src/format/lance/parsed-fragment.ts';
import { type ParsedManifest, readLanceManifest } from '../../src/format/lance/parsed-manifest.ts';
import { message, type ProtoMembers } from '../../src/format/lance/protobuf.ts';
import type { CreateTableVersionRequest } from '../../src/protocol/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { CatalogFiles } from '../suites/namespace/context.ts';
import { filesOf } from './catalog-files.ts';
import { memoryFs } from './memory-fs.ts';

export interface ClientFragment {
  id: number;
  files: ParsedDataFile[];
  deletion: ParsedDeletion | undefined;
  physicalRows: number;
}

export interface ClientManifest {
  version: number;
  fields: ParsedField[];
  fragments: ClientFragment[];
  maxFragmentId: number;
  schemaMetadata: Map<string, string>;
  tableMetadata: Map<string, string>;
  /** Of a branch. */
  branch?: string | undefined;
  bases?: readonly ParsedBase[];
}

/** What a transaction says was done: the number of the member, and what stands in it. */
export type Operation = readonly [member: number, members: ProtoMembers];

const NAME = /^[0-9]{20}\.manifest$/;

export class LanceClient {
  readonly files: CatalogFiles;
  readonly #table: string;
  readonly #branch: string | undefined;
  manifest: ClientManifest;
  /** The path relative to the root that describe answered for the table, where it is not the table's folder. */
  opened: string | undefined;
  /** What new files are named by. */
  uuid: () => string = randomUUID;

  /**
   * @param table its folder
   * @param branch other than main
   * @param manifest what the client knows; else it opens the table
   */
  constructor(files: CatalogFiles, table: string, branch?: string, manifest?: ClientManifest) {
    this.files = files;
    this.#table = branch === undefined ? table : `${table}/tree/${branch}`;
    this.#branch = branch;
    this.manifest = manifest ?? this.newest();
  }

  /** What a client is that makes a branch, which the request does; it goes on with its own manifest. */
  branchOff(branch: string, uuid?: string): [LanceClient, CreateTableVersionRequest] {
    const { manifest } = this;
    const [table = ''] = this.#table.split('/tree/');
    const place = (path: string): string => `${this.files.root}/${path}`;
    const bases = [...(manifest.bases ?? [])];
    const own = {
      id: bases.length,
      name: undefined,
      isDatasetRoot: true,
      path: place(`${this.opened ?? table}${this.#table.slice(table.length)}`),
    };
    const cloned: ClientManifest = {
      ...manifest,
      branch,
      bases: [...bases, own],
      fragments: manifest.fragments.map((each) => ({
        ...each,
        files: each.files.map((file) => ({ ...file, base: file.base ?? own.id })),
        deletion: each.deletion && { ...each.deletion, base: each.deletion.base ?? own.id },
      })),
    };
    const client = new LanceClient(this.files, table, branch, cloned);
    client.uuid = this.uuid;
    client.opened = this.opened;
    cloned.version -= 1;
    const request = client.stage(
      [
        113,
        (into) => {
          into.integer(1, 1);
          if (this.#branch !== undefined) into.text(2, this.#branch);
          into.integer(3, manifest.version).text(4, own.path).text(5, branch);
        },
      ],
      { readVersion: manifest.version, ...(uuid === undefined ? {} : { uuid }) },
    );
    return [client, request];
  }

  /** What a client finds that opens the table now. */
  newest(): ClientManifest {
    const [name = ''] = this.names().sort();
    const found = this.read(name);
    return {
      version: found.version,
      fields: [...found.fields],
      fragments: found.fragments.map(own),
      maxFragmentId: found.maxFragmentId ?? -1,
      schemaMetadata: new Map(found.schemaMetadata),
      tableMetadata: new Map(found.tableMetadata),
      branch: found.branch,
      bases: found.bases,
    };
  }

  /** Of the manifests under `_versions`. */
  names(): string[] {
    const folder = `${this.#table}/_versions/`;
    return this.files
      .all()
      .filter((path) => path.startsWith(folder) && NAME.test(path.slice(folder.length)))
      .map((path) => path.slice(folder.length));
  }

  read(name: string): ParsedManifest {
    return readLanceManifest(this.files.read(`${this.#table}/_versions/${name}`), name);
  }

  open(): void {
    this.manifest = this.newest();
  }

  /** A data file with these rows, for these fields in their order. */
  async dataFile(rows: RecordBatchStream, fields: readonly number[]): Promise<ParsedDataFile> {
    const { bytes, columns } = await lanceFile(rows);
    return this.dataFileOf(bytes, fields, columns.slice(0, fields.length));
  }

  /** A data file of these bytes. */
  dataFileOf(
    bytes: Uint8Array,
    fields: readonly number[],
    columns: readonly number[],
  ): ParsedDataFile {
    const path = `${'01'.repeat(12)}${this.uuid().replaceAll('-', '').slice(0, 26)}.lance`;
    this.files.write(`${this.#table}/data/${path}`, bytes);
    return {
      path,
      fields: [...fields],
      columns: [...columns],
      majorVersion: 2,
      minorVersion: 0,
      fileSize: bytes.length,
      base: undefined,
    };
  }

  deletion(fragment: ClientFragment, rows: readonly number[]): ParsedDeletion {
    const id = BigInt(`0x${this.uuid().slice(0, 8)}`);
    const readVersion = BigInt(this.manifest.version);
    const bytes = encodeDeletions(Uint32Array.from(rows), fragment.physicalRows);
    const name = `${fragment.id}-${readVersion}-${id}.arrow`;
    this.files.write(`${this.#table}/_deletions/${name}`, bytes);
    return { kind: 'arrow', readVersion, id, rows: rows.length, base: undefined };
  }

  /** Stages what the client's manifest is by now as the next version; it is the client's from then on. */
  stage(operation: Operation, options: StageOptions = {}): CreateTableVersionRequest {
    this.manifest.version += 1;
    const bytes = encodeClientManifest(this.manifest, operation, { uuid: this.uuid(), ...options });
    return this.stageBytes(bytes, this.manifest.version);
  }

  stageBytes(bytes: Uint8Array, version: number): CreateTableVersionRequest {
    const digits = String(2n ** 64n - 1n - BigInt(version)).padStart(20, '0');
    const path = `${this.#table}/_versions/${digits}.manifest-${this.uuid()}`;
    this.files.write(path, bytes);
    const [folder = ''] = this.#table.split('/tree/');
    const staged = `${this.opened ?? folder}${path.slice(folder.length)}`;
    return {
      version,
      ...(this.#branch === undefined ? {} : { branch: this.#branch }),
      // Lance leaves out the slash that absolute paths begin with.
      manifest_path: `${this.files.root}/${staged}`.slice(1),
      manifest_size: bytes.length,
      naming_scheme: 'V2',
    };
  }

  /** Adds rows as one fragment. */
  async append(rows: RecordBatchStream, count: number): Promise<CreateTableVersionRequest> {
    const { manifest } = this;
    const ids = manifest.fields.map(({ id }) => id);
    const fragment: ClientFragment = {
      id: ++manifest.maxFragmentId,
      files: [await this.dataFile(rows, ids)],
      deletion: undefined,
      physicalRows: count,
    };
    manifest.fragments.push(fragment);
    return this.stage([100, (into) => into.message(1, fragmentMembers(fragment))]);
  }

  /** Adds rows in place of others, as an update does. */
  async update(
    rows: RecordBatchStream,
    count: number,
    gone: ReadonlyMap<number, readonly number[]>,
  ): Promise<CreateTableVersionRequest> {
    const { manifest } = this;
    const added: ClientFragment = {
      id: ++manifest.maxFragmentId,
      files: [
        await this.dataFile(
          rows,
          manifest.fields.map(({ id }) => id),
        ),
      ],
      deletion: undefined,
      physicalRows: count,
    };
    const updated = manifest.fragments.filter(({ id }) => gone.has(id));
    for (const fragment of updated)
      fragment.deletion = this.deletion(fragment, gone.get(fragment.id) ?? []);
    manifest.fragments.push(added);
    return this.stage([
      108,
      (into) => {
        for (const fragment of updated) into.message(2, fragmentMembers(fragment));
        into.message(3, fragmentMembers(added));
      },
    ]);
  }

  /** Deletes rows of fragments, beside those that were deleted. */
  delete(rows: ReadonlyMap<number, readonly number[]>): CreateTableVersionRequest {
    const updated: ClientFragment[] = [];
    for (const fragment of this.manifest.fragments) {
      const offsets = rows.get(fragment.id);
      if (offsets === undefined) continue;
      fragment.deletion = this.deletion(fragment, offsets);
      updated.push(fragment);
    }
    return this.stage([
      101,
      (into) => {
        for (const fragment of updated) into.message(1, fragmentMembers(fragment));
      },
    ]);
  }
}

interface StageOptions {
  readonly extra?: ProtoMembers;
  readonly uuid?: string;
  readonly readVersion?: number;
}

const own = ({ id, files, deletion, physicalRows }: ParsedFragment): ClientFragment => ({
  id,
  files: files.map((file) => ({ ...file })),
  deletion,
  physicalRows,
});

/** What follows the manifest's position. */
const TRAILER = [0, 0, 2, 0, 0x4c, 0x41, 0x4e, 0x43];

export function encodeClientManifest(
  manifest: ClientManifest,
  [member, members]: Operation,
  { extra, uuid = randomUUID(), readVersion = manifest.version - 1 }: StageOptions = {},
): Uint8Array {
  const transaction = message().integer(1, readVersion).text(2, uuid).message(member, members);
  const written = message();
  for (const field of manifest.fields) written.message(1, fieldMembers(field));
  for (const fragment of manifest.fragments) written.message(2, fragmentMembers(fragment));
  written.integer(3, manifest.version);
  for (const [key, value] of manifest.schemaMetadata) written.message(5, pair(key, value));
  const { bases = [], branch } = manifest;
  const isDeleted = manifest.fragments.some(({ deletion }) => deletion !== undefined);
  const flags = (isDeleted ? 1 : 0) + (bases.length > 0 ? 16 : 0);
  written.integer(9, flags).integer(10, flags);
  if (manifest.maxFragmentId >= 0) written.integer(11, manifest.maxFragmentId);
  written.message(15, (into) => into.text(1, 'lance').text(2, '2.0'));
  for (const { id, isDatasetRoot, path } of bases)
    written.message(18, (into) =>
      into
        .integer(1, id)
        .integer(3, isDatasetRoot ? 1 : 0)
        .text(4, path),
    );
  for (const [key, value] of manifest.tableMetadata) written.message(19, pair(key, value));
  if (branch !== undefined) written.text(20, branch);
  written.integer(23, 0);
  extra?.(written);
  const [first, second] = [transaction.finish(), written.finish()];
  const at = 4 + first.length;
  const bytes = Buffer.alloc(at + 4 + second.length + 16);
  bytes.writeUInt32LE(first.length, 0);
  bytes.set(first, 4);
  bytes.writeUInt32LE(second.length, at);
  bytes.set(second, at + 4);
  bytes.writeBigUInt64LE(BigInt(at), bytes.length - 16);
  bytes.set(TRAILER, bytes.length - 8);
  return new Uint8Array(bytes);
}

const pair =
  (key: string, value: string): ProtoMembers =>
  (into) =>
    into.text(1, key).text(2, value);

export const fragmentMembers =
  ({ id, files, deletion, physicalRows }: ClientFragment): ProtoMembers =>
  (into) => {
    into.integer(1, id);
    for (const file of files) {
      into.message(2, (data) => {
        data
          .text(1, file.path)
          .packed(2, file.fields)
          .packed(3, file.columns)
          .integer(4, file.majorVersion)
          .integer(5, file.minorVersion)
          .integer(6, file.fileSize);
        if (file.base !== undefined) data.integer(7, file.base);
      });
    }
    if (deletion !== undefined) {
      into.message(3, (deleted) => {
        deleted
          .integer(1, deletion.kind === 'bitmap' ? 1 : 0)
          .integer(2, deletion.readVersion)
          .integer(3, deletion.id)
          .integer(4, deletion.rows);
        if (deletion.base !== undefined) deleted.integer(7, deletion.base);
      });
    }
    into.integer(4, physicalRows);
  };

/** The bytes of a Lance 2.0 file, and the numbers of its columns. */
async function lanceFile(
  rows: RecordBatchStream,
): Promise<{ bytes: Uint8Array; columns: readonly number[] }> {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'sync' });
  const collected = [];
  for await (const batch of rows) collected.push(batch);
  await db.createTable('t', collected as never);
  await db.close();
  const files = filesOf(fs, '/c');
  const client = new LanceClient(files, 'data/t.table');
  const file = client.manifest.fragments[0]?.files[0] as ParsedDataFile;
  const bytes = files.read(`data/t.table/data/${file.path}`).slice(0, file.fileSize);
  return { bytes, columns: file.columns };
}
