/**
 * `assignFieldIds` gives stable ids to the fields of a new schema. A field takes over the id of a
 * known one of the same name and type, as in an overwrite. Two columns of one name throw
 * TableSchemaValidation. `fieldTree` joins the fields of a schema with the ids that a manifest
 * lists, depth first, into a tree, and throws Corrupt if these are too many or too few.
 * `listFieldIds` lists the ids of a tree in that order. The values of dictionaries have no ids
 * (`identifiedChildren`).
 */
import { DataType, type Field } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { corrupt } from '../../json.ts';

export interface IdentifiedField {
  readonly id: number;
  readonly field: Field;
  readonly children: readonly IdentifiedField[];
}

/** Joins fields with the ids listed for them. @throws Corrupt when their numbers differ */
export function fieldTree(
  fields: readonly Field[],
  ids: readonly number[],
  file: string,
): readonly IdentifiedField[] {
  let next = 0;
  const identify = (field: Field): IdentifiedField => {
    const id = ids[next++];
    if (id === undefined) throw corrupt(file, 'it lists fewer field ids than fields');
    return { id, field, children: identifiedChildren(field).map(identify) };
  };
  const tree = fields.map(identify);
  if (next !== ids.length) throw corrupt(file, 'it lists more field ids than fields');
  return tree;
}

/** The ids of a tree, depth first: what fieldTree reads. */
export function listFieldIds(tree: readonly IdentifiedField[]): number[] {
  return tree.flatMap(({ id, children }) => [id, ...listFieldIds(children)]);
}

/**
 * Gives ids to new fields. A field takes over the id of the one of the same name and shape in
 * `known`, so that overwriting a table with the same schema keeps its ids.
 * @throws TableSchemaValidation when two fields have one name
 */
export function assignFieldIds(
  fields: readonly Field[],
  firstFreeId: number,
  known: readonly IdentifiedField[] = [],
): { tree: readonly IdentifiedField[]; nextFieldId: number } {
  refuseRepeatedNames(fields);
  let next = firstFreeId;
  const assign = (
    given: readonly Field[],
    before: readonly IdentifiedField[],
  ): readonly IdentifiedField[] => {
    // Members of a struct may share name and type: each known one gives its id to one of them.
    const left = [...before];
    return given.map((field) => {
      const at = left.findIndex(
        (known) =>
          known.field.name === field.name && String(known.field.type) === String(field.type),
      );
      const [same] = at < 0 ? [] : left.splice(at, 1);
      const id = same?.id ?? next++;
      return { id, field, children: assign(identifiedChildren(field), same?.children ?? []) };
    });
  };
  return { tree: assign(fields, known), nextFieldId: next };
}

/** Columns are asked for by name. */
function refuseRepeatedNames(fields: readonly Field[]): void {
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (seen.has(name)) {
      throw new DirspaceError(
        'TableSchemaValidation',
        `The data has two columns named ${JSON.stringify(name)}. Nothing was written; give each column a name of its own.`,
        { details: { column: name } },
      );
    }
    seen.add(name);
  }
}

/** The child fields that have ids: a dictionary's values have none of their own. */
export function identifiedChildren(field: Field): readonly Field[] {
  if (DataType.isDictionary(field.type)) return [];
  return (field.type.children ?? []) as readonly Field[];
}
