/**
 * `checkOperation` checks that a staged Lance manifest changes what its transaction describes, and
 * nothing else, because later writers rely on the transaction. It throws InvalidInput for any other
 * change, and returns the kind of operation that the new version records. `takenOperation` throws
 * Unsupported for operations that tables here do not have, such as building an index. `isAnew`
 * tells whether nothing of the version before goes on, and `requireUnchanged` allows no change at
 * all.
 */

import { metadataEqual } from '../../arrow/index.ts';
import {
  LANCE_TABLE_KEY,
  type OperationKind,
  type ParsedField,
  type ParsedManifest,
  type ParsedOperation,
} from '../../format/index.ts';
import { invalid, shown, unsupported } from './refusals.ts';
import { contradiction, type StagedChange } from './staged-change.ts';
import {
  requireAll,
  requireGone,
  requireGroups,
  requireListed,
  requireModified,
  requireNew,
  requireOrder,
  requireReplaced,
  requireUpdated,
} from './staged-listing.ts';

/** An operation that the manifest of a table of ours may come from. */
export type TakenOperation = Extract<
  ParsedOperation,
  {
    readonly kind:
      | 'append'
      | 'delete'
      | 'overwrite'
      | 'rewrite'
      | 'merge'
      | 'restore'
      | 'reserve_fragments'
      | 'update'
      | 'project'
      | 'update_config'
      | 'data_replacement';
  }
>;

/**
 * The operation of the transaction. @throws InvalidInput, Unsupported naming an operation that is
 * not taken
 */
export function takenOperation({ transaction }: ParsedManifest): TakenOperation {
  const operation = transaction?.operation;
  if (operation === undefined) throw invalid('its transaction does not say what was done');
  switch (operation.kind) {
    case 'create_index':
      throw unsupported(
        'an index (create_index)',
        'Search without one, or read the table with lance: "read" and index a copy.',
      );
    case 'clone':
      throw invalid('its transaction is clone, which makes a branch, and the branch is there');
    case 'other':
      throw unsupported(`the operation ${shown(operation.name)}`);
    default:
      return operation;
  }
}

/** Whether nothing of the version before goes on. */
export const isAnew = ({ kind }: TakenOperation): boolean => kind === 'overwrite';

interface Allowed {
  readonly fields?: boolean;
  readonly fieldMetadata?: boolean;
  readonly schemaMetadata?: boolean;
  readonly tableMetadata?: boolean;
  /** How many fragments come. */
  readonly added?: number;
  /** Fragments that may go, that may lose rows, and whose columns may change. */
  readonly removed?: ReadonlySet<number>;
  readonly deleted?: ReadonlySet<number>;
  readonly rewritten?: ReadonlySet<number> | 'all';
}

/** The kind of our version. @throws InvalidInput naming what the operation cannot have changed */
export function checkOperation(operation: TakenOperation, change: StagedChange): OperationKind {
  requireOrder(change);
  switch (operation.kind) {
    case 'append':
      checkAllowed(change, { added: operation.fragments.length });
      requireNew(change, operation.fragments);
      return 'append';
    case 'delete': {
      const removed = new Set(operation.deletedFragmentIds);
      checkAllowed(change, { removed, deleted: idsOf(operation.updatedFragments) });
      requireGone(change, removed);
      requireUpdated(change, operation.updatedFragments, removed);
      return 'delete';
    }
    case 'update': {
      const updated = idsOf(operation.updatedFragments);
      const removed = new Set(operation.removedFragmentIds);
      checkAllowed(change, {
        added: operation.newFragments.length,
        removed,
        deleted: updated,
        rewritten: updated,
      });
      requireGone(change, removed);
      requireUpdated(change, operation.updatedFragments, removed);
      requireNew(change, operation.newFragments);
      requireModified(change, new Set(operation.fieldsModified));
      return 'update';
    }
    case 'rewrite': {
      const { groups } = operation;
      const removed = idsOf(groups.flatMap(({ oldFragments }) => oldFragments));
      const added = groups.flatMap(({ newFragments }) => newFragments);
      checkAllowed(change, { added: added.length, removed });
      requireGroups(change, groups);
      return 'compact';
    }
    case 'merge':
      requireSameSchema(change, operation.fields);
      requireColumnsStay(change);
      checkAllowed(change, {
        fields: true,
        fieldMetadata: true,
        schemaMetadata: true,
        rewritten: 'all',
      });
      requireUpdated(change, operation.fragments);
      requireAll(change, operation.fragments);
      requireModified(change, NONE);
      return 'schema';
    case 'project':
      requireSameSchema(change, operation.fields);
      requireKnownFields(change);
      checkAllowed(change, { fields: true, fieldMetadata: true, schemaMetadata: true });
      return 'schema';
    case 'reserve_fragments':
      checkAllowed(change, {});
      return 'metadata';
    case 'update_config':
      checkAllowed(change, { fieldMetadata: true, schemaMetadata: true, tableMetadata: true });
      return 'metadata';
    case 'data_replacement': {
      const { replacements } = operation;
      checkAllowed(change, { rewritten: new Set(replacements.map((each) => each.fragmentId)) });
      requireReplaced(change, replacements);
      return 'update';
    }
    case 'overwrite':
      requireSameSchema(change, operation.fields);
      requireAll(change, operation.fragments);
      requireListed(change, operation.fragments);
      return 'overwrite';
    case 'restore':
      checkAllowed(change, {});
      return 'restore';
  }
}

/** A branch begins with what the version holds that it is made from. @throws InvalidInput */
export const requireUnchanged = (change: StagedChange): void => checkAllowed(change, {});

const idsOf = (fragments: readonly { readonly id: number }[]): ReadonlySet<number> =>
  new Set(fragments.map(({ id }) => id));

const NONE: ReadonlySet<number> = new Set();

function checkAllowed(change: StagedChange, allowed: Allowed): void {
  const { manifest, base, schema, plan } = change;
  const refuse = (what: string): never => {
    throw contradiction(change, what);
  };
  if (schema.fieldsChanged && allowed.fields !== true) refuse('its fields are others');
  if (schema.fieldMetadataChanged && allowed.fieldMetadata !== true)
    refuse('the metadata of its fields is another');
  if (
    allowed.schemaMetadata !== true &&
    !metadataEqual(manifest.schemaMetadata, base.schema.metadata)
  )
    refuse('the metadata of its schema is another');
  const tableMetadata = new Map(Object.entries(base.manifest.metadata));
  tableMetadata.delete(LANCE_TABLE_KEY);
  if (allowed.tableMetadata !== true && !metadataEqual(manifest.tableMetadata, tableMetadata))
    refuse('the metadata of its table is another');
  const { removed = NONE, deleted = NONE, rewritten = NONE, added = 0 } = allowed;
  const fresh = plan.fragments.filter(({ before }) => before === undefined).length;
  if (fresh !== added) refuse(`${fresh} fragments are new, where it adds ${added}`);
  for (const { id } of plan.removed) if (!removed.has(id)) refuse(`fragment ${id} is gone`);
  for (const { id, before, sources, deletion } of plan.fragments) {
    if (before === undefined) continue;
    const isSame = deletion === undefined || deletion.rows === before.deletion?.rows;
    if (!isSame && !deleted.has(id)) refuse(`fragment ${id} has lost rows`);
    if (sources !== undefined && rewritten !== 'all' && !rewritten.has(id))
      refuse(`the files of fragment ${id} are others`);
  }
}

/** A transaction that changes fields lists all that there are afterwards. */
function requireSameSchema(change: StagedChange, listed: readonly ParsedField[]): void {
  const { fields } = change.manifest;
  const other = fields.find((field, at) => !isSameField(field, listed[at]));
  if (other !== undefined)
    throw contradiction(change, `it does not list field ${other.id}, ${shown(other.name)}, so`);
  if (fields.length !== listed.length)
    throw contradiction(
      change,
      `it lists ${listed.length} fields, of which ${fields.length} are there`,
    );
}

const isSameField = (one: ParsedField, other: ParsedField | undefined): boolean =>
  one.id === other?.id &&
  one.parent === other.parent &&
  one.name === other.name &&
  one.logicalType === other.logicalType &&
  one.nullable === other.nullable;

/** Refuses a column that is gone or elsewhere. A new field in its place, of another type, is allowed. */
function requireColumnsStay(change: StagedChange): void {
  const { base, schema } = change;
  for (const [at, { id, field }] of base.fields.entries()) {
    const now = schema.tree[at]?.id;
    if (now === undefined || (now !== id && !schema.isNew(now)))
      throw contradiction(change, `the column ${shown(field.name)} is gone or elsewhere`);
  }
}

function requireKnownFields(change: StagedChange): void {
  const { manifest, schema } = change;
  const added = manifest.fields.find(({ id }) => schema.isNew(schema.ownIds.get(id) as number));
  if (added !== undefined) throw contradiction(change, `the field ${shown(added.name)} is new`);
}
