/**
 * Compares what a staged Lance manifest changes with what its transaction says was done
 * (`takenOperation`, `checkOperation`), because writers that come later rely on the transaction.
 * Returns the kind of operation that the new version records.
 */
import {
  LANCE_TABLE_KEY,
  liveRows,
  type OperationKind,
  type ParsedField,
  type ParsedFragment,
  type ParsedManifest,
  type ParsedOperation,
} from '../../format/index.ts';
import type { Snapshot } from '../versions/index.ts';
import { invalid, shown, unsupported } from './refusals.ts';
import type { FragmentPlan, PlannedFragment } from './staged-fragments.ts';
import { type StagedSchema, sameEntries } from './staged-schema.ts';

/** What a manifest is compared with the version before as. */
export interface StagedChange {
  readonly manifest: ParsedManifest;
  readonly base: Snapshot;
  readonly schema: StagedSchema;
  readonly plan: FragmentPlan;
}

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
      | 'update_config';
  }
>;

/** What the transaction says was done. @throws Unsupported naming what no table of ours takes */
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
      throw unsupported('a branch (clone)', "Make branches through this catalog's own operations.");
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
  switch (operation.kind) {
    case 'append':
      checkAllowed(change, { added: operation.fragments.length });
      requireListed(change, operation.fragments);
      return 'append';
    case 'delete':
      checkAllowed(change, {
        removed: new Set(operation.deletedFragmentIds),
        deleted: idsOf(operation.updatedFragments),
      });
      return 'delete';
    case 'update': {
      const updated = idsOf(operation.updatedFragments);
      checkAllowed(change, {
        added: operation.newFragments.length,
        removed: new Set(operation.removedFragmentIds),
        deleted: updated,
        rewritten: updated,
      });
      return 'update';
    }
    case 'rewrite': {
      const { groups } = operation;
      checkAllowed(change, {
        added: groups.reduce((sum, { newFragments }) => sum + newFragments.length, 0),
        removed: idsOf(groups.flatMap(({ oldFragments }) => oldFragments)),
      });
      requireSameRows(change);
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
    case 'overwrite':
      requireSameSchema(change, operation.fields);
      if (change.plan.fragments.length !== operation.fragments.length)
        throw refusal(
          change,
          `${change.plan.fragments.length} fragments are there, where it lists ${operation.fragments.length}`,
        );
      requireListed(change, operation.fragments);
      return 'overwrite';
    case 'restore':
      checkAllowed(change, {});
      return 'restore';
  }
}

const idsOf = (fragments: readonly { readonly id: number }[]): ReadonlySet<number> =>
  new Set(fragments.map(({ id }) => id));

const NONE: ReadonlySet<number> = new Set();

function checkAllowed(change: StagedChange, allowed: Allowed): void {
  const { manifest, base, schema, plan } = change;
  const refuse = (what: string): never => {
    throw refusal(change, what);
  };
  if (schema.fieldsChanged && allowed.fields !== true) refuse('its fields are others');
  if (schema.fieldMetadataChanged && allowed.fieldMetadata !== true)
    refuse('the metadata of its fields is another');
  if (
    allowed.schemaMetadata !== true &&
    !sameEntries(manifest.schemaMetadata, base.schema.metadata)
  )
    refuse('the metadata of its schema is another');
  const tableMetadata = new Map(Object.entries(base.manifest.metadata));
  tableMetadata.delete(LANCE_TABLE_KEY);
  if (allowed.tableMetadata !== true && !sameEntries(manifest.tableMetadata, tableMetadata))
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

const refusal = ({ manifest }: StagedChange, what: string): Error =>
  invalid(`its transaction is ${manifest.transaction?.operation?.kind ?? ''}, and ${what}`);

/** A transaction that changes fields lists all that there are afterwards. */
function requireSameSchema(change: StagedChange, listed: readonly ParsedField[]): void {
  const { fields } = change.manifest;
  const other = fields.find((field, at) => !isSameField(field, listed[at]));
  if (other !== undefined)
    throw refusal(change, `it does not list field ${other.id}, ${shown(other.name)}, so`);
  if (fields.length !== listed.length)
    throw refusal(change, `it lists ${listed.length} fields, of which ${fields.length} are there`);
}

const isSameField = (one: ParsedField, other: ParsedField | undefined): boolean =>
  one.id === other?.id &&
  one.parent === other.parent &&
  one.name === other.name &&
  one.logicalType === other.logicalType &&
  one.nullable === other.nullable;

/** A column gets another type by a new one in its place; none goes, and others come behind. */
function requireColumnsStay(change: StagedChange): void {
  const { base, schema } = change;
  for (const [at, { id, field }] of base.fields.entries()) {
    const now = schema.tree[at]?.id;
    if (now === undefined || (now !== id && !schema.isNew(now)))
      throw refusal(change, `the column ${shown(field.name)} is gone or elsewhere`);
  }
}

function requireKnownFields(change: StagedChange): void {
  const { manifest, schema } = change;
  const added = manifest.fields.find(({ id }) => schema.isNew(schema.ownIds.get(id) as number));
  if (added !== undefined) throw refusal(change, `the field ${shown(added.name)} is new`);
}

/** The new fragments are those that the transaction lists, in that order; ids are given out later. */
function requireListed(change: StagedChange, listed: readonly ParsedFragment[]): void {
  const { manifest, plan } = change;
  const known = new Set(plan.fragments.flatMap(({ id, before }) => (before ? [id] : [])));
  const fresh = manifest.fragments.filter(({ id }) => !known.has(id));
  for (const [at, fragment] of fresh.entries()) {
    if (!isSameFragment(fragment, listed[at]))
      throw refusal(change, `it does not list fragment ${fragment.id} so`);
  }
}

const isSameFragment = (one: ParsedFragment, other: ParsedFragment | undefined): boolean =>
  one.physicalRows === other?.physicalRows &&
  one.files.length === other.files.length &&
  one.files.every(({ path }, at) => path === other.files[at]?.path);

/** Compaction neither adds rows nor drops any. */
function requireSameRows({ plan }: StagedChange): void {
  const before = plan.removed.reduce((sum, entry) => sum + liveRows(entry), 0);
  const after = plan.fragments.reduce(
    (sum, fragment) => sum + (fragment.before === undefined ? liveRowsOf(fragment) : 0),
    0,
  );
  if (before !== after) {
    throw invalid(`its transaction is rewrite, and ${before} rows became ${after}`);
  }
}

const liveRowsOf = ({ rows, deletion }: PlannedFragment): number => rows - (deletion?.rows ?? 0);
