/** Versions that have another schema than the one they were built on. */
import { type Schema, Schema as SchemaType } from '../arrow.ts';
import type { OperationKind } from '../format/manifest.ts';
import { schemaToJson } from '../protocol/schema.ts';
import { emptyTable, type WriteOptions } from './append.ts';
import { type Committed, commit, type Draft } from './commit.ts';
import type { Engine } from './engine.ts';
import { type IdentifiedField, listFieldIds } from './field-ids.ts';
import { type FragmentList, fragmentListOf } from './fragment-list.ts';
import type { TableBranch } from './head.ts';
import type { Snapshot } from './snapshot.ts';

export interface NewSchema {
  readonly tree: readonly IdentifiedField[];
  readonly nextFieldId?: number;
  readonly fragments?: FragmentList;
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
  };
}

export const schemaOf = (base: Snapshot, tree: readonly IdentifiedField[]): Schema =>
  new SchemaType(
    tree.map(({ field }) => field),
    base.schema.metadata,
  );
