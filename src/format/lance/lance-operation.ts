/**
 * `lanceTransactionSteps` encodes `lance.table.Transaction`, the message that describes the changes
 * of a version to Lance's clients. `LanceOperation` lists the kinds of changes. A client that holds
 * an older version compares its own change with these. It then builds on the newest version, tries
 * again, or gives up.
 *
 * Source: transaction.proto of the Lance repository.
 */
import { type LanceField, type LanceIds, manifestFieldMembers } from './lance-fields.ts';
import {
  ColumnLists,
  fragmentMembers,
  type LanceFragment,
  pair,
  TABLE_BASE,
} from './lance-manifest.ts';
import { type ProtoMembers, ProtoMessage } from './protobuf.ts';

export interface LanceRewriteGroup {
  readonly before: readonly LanceFragment[];
  readonly after: readonly LanceFragment[];
}

/** What a version did. Fragments are as they are in it, or in the one before where they are gone. */
export type LanceOperation =
  | { readonly kind: 'append'; readonly added: readonly LanceFragment[] }
  | {
      readonly kind: 'delete';
      /** Fragments that lost rows and kept their file. */
      readonly changed: readonly LanceFragment[];
      readonly removed: readonly LanceFragment[];
      /** The SQL that chose the rows; empty where they were chosen otherwise. */
      readonly predicate: string;
    }
  | {
      /** Rows were deleted, and others written. */
      readonly kind: 'update';
      readonly changed: readonly LanceFragment[];
      readonly removed: readonly LanceFragment[];
      readonly added: readonly LanceFragment[];
    }
  | { readonly kind: 'rewrite'; readonly groups: readonly LanceRewriteGroup[] }
  | {
      /** Columns that may be null came. */
      readonly kind: 'merge';
      readonly fields: readonly LanceField[];
      readonly schemaMetadata: ReadonlyMap<string, string>;
      /** Fragments that have another file now. */
      readonly rewritten: readonly LanceFragment[];
    }
  | { readonly kind: 'project'; readonly fields: readonly LanceField[] }
  | {
      readonly kind: 'update_config';
      /** Undefined stands for a key that is gone. */
      readonly tableMetadata: ReadonlyMap<string, string | undefined>;
    }
  | {
      readonly kind: 'overwrite';
      readonly fields: readonly LanceField[];
      readonly schemaMetadata: ReadonlyMap<string, string>;
      readonly added: readonly LanceFragment[];
    }
  | { readonly kind: 'restore'; readonly version: number };

export interface LanceTransactionFacts {
  /** The version that the change was made on. */
  readonly readVersion: number;
  readonly uuid: string;
  /** Lance's ids of the fields. */
  readonly ids: LanceIds;
  /** Whether the version is of a branch other than main, whose manifests say where the files are. */
  readonly isBranch: boolean;
}

/** Fragments between two steps. */
const FRAGMENTS_A_STEP = 256;

/** The bytes of the message. All fragments that are not gone have a Lance part. */
export function* lanceTransactionSteps(
  operation: LanceOperation,
  { readVersion, uuid, ids, isBranch }: LanceTransactionFacts,
): Generator<undefined, Uint8Array> {
  const writer = new OperationWriter(ids, isBranch ? TABLE_BASE : undefined);
  const [member, body] = yield* writer.write(operation);
  return new ProtoMessage().integer(1, readVersion).text(2, uuid).message(member, body).finish();
}

class OperationWriter {
  readonly #ids: LanceIds;
  readonly #base: number | undefined;
  readonly #columns: ColumnLists;
  readonly #into = new ProtoMessage();
  #count = 0;

  constructor(ids: LanceIds, base: number | undefined) {
    this.#ids = ids;
    this.#base = base;
    this.#columns = new ColumnLists(ids);
  }

  /** The operation's member of the transaction, and its content. */
  *write(operation: LanceOperation): Generator<undefined, [number, ProtoMessage]> {
    const into = this.#into;
    switch (operation.kind) {
      case 'append':
        yield* this.#fragments(1, operation.added);
        return [100, into];
      case 'delete':
        yield* this.#fragments(1, operation.changed);
        into.packed(2, idsOf(operation.removed));
        if (operation.predicate !== '') into.text(3, operation.predicate);
        return [101, into];
      case 'overwrite':
        yield* this.#fragments(1, operation.added);
        this.#fields(2, operation.fields);
        this.#schemaMetadata(operation.schemaMetadata);
        return [102, into];
      case 'rewrite':
        for (const { before, after } of operation.groups) {
          const group = new OperationWriter(this.#ids, this.#base);
          yield* group.#gone(1, before);
          yield* group.#fragments(2, after);
          into.message(3, group.#into);
        }
        return [104, into];
      case 'merge':
        yield* this.#fragments(1, operation.rewritten);
        this.#fields(2, operation.fields);
        this.#schemaMetadata(operation.schemaMetadata);
        // Rows that are written without the new columns are as good as with them.
        into.integer(4, 1);
        return [105, into];
      case 'restore':
        into.integer(1, operation.version);
        return [106, into];
      case 'update':
        into.packed(1, idsOf(operation.removed));
        yield* this.#fragments(2, operation.changed);
        yield* this.#fragments(3, operation.added);
        return [108, into];
      case 'project':
        this.#fields(1, operation.fields);
        into.integer(2, 1);
        return [109, into];
      case 'update_config':
        into.message(7, metadataMembers(operation.tableMetadata));
        return [110, into];
    }
  }

  *#fragments(member: number, fragments: readonly LanceFragment[]): Generator<undefined> {
    for (const fragment of fragments) {
      this.#into.message(member, fragmentMembers(fragment, this.#columns, this.#base));
      if (++this.#count % FRAGMENTS_A_STEP === 0) yield;
    }
  }

  /** By id and rows: whoever meets them on the way asks for no more, and there may be many. */
  *#gone(member: number, fragments: readonly LanceFragment[]): Generator<undefined> {
    for (const { id, rows } of fragments) {
      this.#into.message(member, (into) => into.integer(1, id).integer(4, rows));
      if (++this.#count % FRAGMENTS_A_STEP === 0) yield;
    }
  }

  #fields(member: number, fields: readonly LanceField[]): void {
    for (const field of fields) this.#into.message(member, manifestFieldMembers(field));
  }

  #schemaMetadata(entries: ReadonlyMap<string, string>): void {
    for (const [key, value] of entries) this.#into.message(3, pair(key, value));
  }
}

const idsOf = (fragments: readonly LanceFragment[]): number[] => fragments.map(({ id }) => id);

const metadataMembers =
  (entries: ReadonlyMap<string, string | undefined>): ProtoMembers =>
  (into) => {
    for (const [key, value] of entries) {
      into.message(1, (entry) => {
        entry.text(1, key);
        if (value !== undefined) entry.text(2, value);
      });
    }
  };
