/**
 * `schemaDraft` builds the next version of a table with a changed schema, and `changeSchema`
 * commits it, or nothing if `change` returns undefined; a table that is only declared throws
 * InvalidTableState. After a conflict `changeSchema` calls the caller's `change` again with the
 * newer base. The version keeps the fragments of its base unless the caller gives others.
 * `schemaOf` is the schema of some fields with the metadata of the base.
 */
import { type Schema, Schema as SchemaType } from '../../arrow/index.ts';
import type { OperationKind } from '../../format/index.ts';
import { schemaToJson } from '../../protocol/index.ts';
import { type IdentifiedField, listFieldIds } from '../fields/index.ts';
import {
  type Committed,
  commit,
  type Draft,
  type Engine,
  emptyTable,
  type FragmentList,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from './append.ts';

export interface NewSchema {
  readonly tree: readonly IdentifiedField[];
  readonly nextFieldId?: number;
  readonly fragments?: FragmentList;
  /** Resolves once fragments that were written for it are durable. */
  readonly after?: Promise<unknown>;
}

/** A version with another schema; `change` is asked again on a newer base after a conflict. */
export function changeSchema(
  engine: Engine,
  branch: TableBranch,
  options: WriteOptions,
  change: (base: Snapshot) => Promise<NewSchema | undefined>,
  kind: OperationKind = 'schema',
): Promise<Committed> {
  return commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    build: async (base) => {
      if (base === undefined) throw emptyTable();
      const made = await change(base);
      return made === undefined ? undefined : schemaDraft(base, made, kind);
    },
  });
}

export function schemaDraft(base: Snapshot, made: NewSchema, kind: OperationKind): Draft {
  const { manifest } = base;
  return {
    kind,
    summary: { fields: made.tree.length },
    schema: schemaToJson(schemaOf(base, made.tree)),
    fieldIds: listFieldIds(made.tree),
    nextFieldId: made.nextFieldId ?? manifest.nextFieldId,
    nextFragmentId: manifest.nextFragmentId,
    metadata: manifest.metadata,
    fragments: made.fragments ?? fragmentListOf(manifest),
    ...(made.after === undefined ? {} : { after: made.after }),
  };
}

export const schemaOf = (base: Snapshot, tree: readonly IdentifiedField[]): Schema =>
  new SchemaType(
    tree.map(({ field }) => field),
    base.schema.metadata,
  );
