/**
 * Keeps the stable id of each field in the metadata of that field, so that a fragment tells which
 * columns it holds. `withFieldIds` writes the ids, `fieldIdsOf` reads them (undefined for a field
 * without one), and `stripFieldIds` removes them. In a list of ids, the id of a field comes before
 * those of its children; a list of another length throws Internal. Fields inside a dictionary's
 * values have no ids.
 */
import { changeField, childFields, type Field, mapType, Schema, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';

export const FIELD_ID_KEY = 'dirspace.field_id';

/** A schema whose fields carry `ids`. @throws Internal when their numbers differ */
export function withFieldIds(schema: Schema, ids: readonly number[]): Schema {
  let next = 0;
  const mark = (field: Field): Field => {
    const id = ids[next];
    if (id === undefined) throw miscounted(ids.length);
    next += 1;
    const metadata = new Map(field.metadata).set(FIELD_ID_KEY, String(id));
    return field.typeId === Type.Dictionary
      ? changeField(field, { metadata })
      : changeField(field, { metadata, type: mapType(field.type, mark) });
  };
  const fields = schema.fields.map(mark);
  if (next !== ids.length) throw miscounted(ids.length);
  return new Schema(fields, schema.metadata);
}

const miscounted = (ids: number): DirspaceError =>
  new DirspaceError('Internal', `A schema was given ${ids} field ids, not one for each field.`);

/** The inverse: the same schema without ids. */
export function stripFieldIds(schema: Schema): Schema {
  const strip = (field: Field): Field => {
    const metadata = new Map(field.metadata);
    metadata.delete(FIELD_ID_KEY);
    return field.typeId === Type.Dictionary
      ? changeField(field, { metadata })
      : changeField(field, { metadata, type: mapType(field.type, strip) });
  };
  return new Schema(schema.fields.map(strip), schema.metadata);
}

/** The ids that the fields carry, undefined where one has none. */
export function fieldIdsOf(fields: readonly Field[]): readonly (number | undefined)[] {
  return fields.flatMap((field) => [
    fieldId(field),
    ...(field.typeId === Type.Dictionary ? [] : fieldIdsOf(childFields(field.type))),
  ]);
}

/** The id that one field carries. */
function fieldId(field: Field): number | undefined {
  const text = field.metadata.get(FIELD_ID_KEY);
  const id = Number(text);
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? id : undefined;
}
