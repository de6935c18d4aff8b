/**
 * `requireValues` throws InvalidInput for a staged manifest that would leave nulls in a required
 * field: because its fragments lack values of the field, or because it makes a field required that
 * holds nulls in fragments that go on with their values of it; those are scanned. Values in new
 * data files are checked as they are read (staged-files.ts).
 */
import { isDirspaceError } from '../../errors.ts';
import { plainPause, runSteps } from '../../steps.ts';
import type { FieldPlace, IdentifiedField } from '../fields/index.ts';
import type { Engine } from '../versions/index.ts';
import { requireNoNulls } from '../write/index.ts';
import { invalid, shown } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';

/** @throws InvalidInput */
export async function requireValues(
  engine: Engine,
  change: StagedChange,
  signal: AbortSignal | undefined,
): Promise<void> {
  await runSteps(checkedFragments(change), plainPause());
  const { base, schema } = change;
  const now = new Map(fieldsOf(schema.tree).map((field) => [field.id, field]));
  for (const place of placesOf(base.fields)) {
    const { id, field } = place.chain.at(-1) as IdentifiedField;
    const isRequired = schema.known.has(id) && now.get(id)?.field.nullable === false;
    if (!field.nullable || !isRequired) continue;
    signal?.throwIfAborted();
    try {
      await requireNoNulls(engine, base, place, goingOn(change, place));
    } catch (error) {
      if (!isDirspaceError(error, 'InvalidInput')) throw error;
      throw invalid(error.message.replace(/\.$/, ''), error);
    }
  }
}

/** The fragments of the base whose values of a field are those of the new version, too. */
function goingOn({ schema, plan }: StagedChange, { chain }: FieldPlace): ReadonlySet<number> {
  const at = schema.tree.findIndex(({ id }) => id === chain[0]?.id);
  return new Set(
    plan.fragments.flatMap(({ before, again, sources }) => {
      const isKept = sources === undefined || sources[at] === 'before';
      const entry = again ?? before;
      return isKept && entry !== undefined ? [entry.id] : [];
    }),
  );
}

function* checkedFragments({ schema, plan }: StagedChange): Generator<undefined, void> {
  const lacking = schema.tree.map((column) =>
    fieldsOf([column]).find(({ id, field }) => schema.isNew(id) && !field.nullable),
  );
  for (const { id, before, sources } of plan.fragments) {
    yield;
    for (const [at, column] of schema.tree.entries()) {
      const source = sources?.[at] ?? (before?.fields.includes(column.id) ? 'before' : 'nulls');
      if (source === 'nulls' && !column.field.nullable) throw missing(column, id);
      const without = source === 'before' ? lacking[at] : undefined;
      if (without !== undefined) throw missing(without, id);
    }
  }
}

const missing = ({ field }: IdentifiedField, id: number): Error =>
  invalid(`the column ${shown(field.name)} may not be null, and fragment ${id} does not have it`);

const fieldsOf = (fields: readonly IdentifiedField[]): IdentifiedField[] =>
  fields.flatMap((field) => [field, ...fieldsOf(field.children)]);

function* placesOf(
  fields: readonly IdentifiedField[],
  above: readonly IdentifiedField[] = [],
  positions: readonly number[] = [],
): Generator<FieldPlace> {
  for (const [at, field] of fields.entries()) {
    const chain = [...above, field];
    const place = { chain, positions: [...positions, at] };
    yield { ...place, name: chain.map((each) => each.field.name).join('.') };
    yield* placesOf(field.children, chain, place.positions);
  }
}
