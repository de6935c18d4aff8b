/**
 * `lanceSchema` builds an Arrow schema from the fields of a Lance manifest or data file, and
 * records which Lance fields each Arrow field stands for. The fields are untrusted: it throws
 * Corrupt for fields that do not fit together, and Unsupported for types that tables here cannot
 * hold. `damaged` builds the error for a damaged file of Lance. lance-fields.ts is the inverse.
 */
import { type DataType, Field, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_FIELDS, typeOfName } from '../../protocol/index.ts';
import type { ParsedField } from './parsed-fragment.ts';

/** An Arrow field with the Lance fields below it; vectors and dictionaries have none. */
export interface LanceColumn {
  readonly id: number;
  readonly field: Field;
  readonly children: readonly LanceColumn[];
  /** A struct whose members stand side by side in one column. */
  readonly isPacked: boolean;
}

export interface LanceSchema {
  readonly schema: Schema;
  readonly columns: readonly LanceColumn[];
}

/** Keys with which fields ask Lance for a packed struct. */
const PACKED = ['packed', 'lance-encoding:packed'];
const NESTED = /^(struct|(large_)?list(\.struct)?)$/;

/**
 * @param file that errors name
 * @throws Corrupt for fields that do not fit together, Unsupported naming a column of another type
 */
export function lanceSchema(
  fields: readonly ParsedField[],
  metadata: ReadonlyMap<string, string>,
  file: string,
): LanceSchema {
  if (fields.length > MAX_SCHEMA_FIELDS) {
    throw damaged(file, `it has ${fields.length} fields, more than ${MAX_SCHEMA_FIELDS}`);
  }
  const children = new Map<number, ParsedField[]>([[-1, []]]);
  for (const field of fields) {
    const siblings = children.get(field.parent);
    if (siblings === undefined) {
      throw damaged(file, `field ${field.id} stands before its parent, field ${field.parent}`);
    }
    if (field.id < 0 || children.has(field.id)) {
      throw damaged(file, `two fields have the id ${field.id}, or it is none`);
    }
    siblings.push(field);
    children.set(field.id, []);
  }
  const columnOf = (field: ParsedField, path: string, depth: number): LanceColumn => {
    if (depth > MAX_SCHEMA_DEPTH) throw damaged(file, `column ${path} nests too deeply`);
    const below = children.get(field.id) as ParsedField[];
    const inner = below.map((child) => columnOf(child, `${path}.${child.name}`, depth + 1));
    const isNested = NESTED.test(field.logicalType);
    if (!isNested && field.logicalType !== 'map' && inner.length > 0) {
      throw damaged(file, `column ${path} is ${field.logicalType} and has fields below it`);
    }
    const type = typeOf(field, isNested ? inner : undefined, path, file);
    const { name, nullable } = field;
    return {
      id: field.id,
      field: new Field(name, type, nullable, new Map(field.metadata)),
      children: inner,
      isPacked: PACKED.some((key) => field.metadata.get(key)?.toLowerCase() === 'true'),
    };
  };
  const columns = (children.get(-1) as ParsedField[]).map((field) =>
    columnOf(field, field.name, 1),
  );
  const schema = new Schema(
    columns.map(({ field }) => field),
    new Map(metadata),
  );
  return { schema, columns };
}

function typeOf(
  { logicalType }: ParsedField,
  inner: readonly LanceColumn[] | undefined,
  path: string,
  file: string,
): DataType {
  const fields = inner?.map(({ field }) => field);
  return typeOfName(logicalType, { fields }, (problem: string): never => {
    throw new DirspaceError(
      'Unsupported',
      `The Lance file ${file} has the column ${JSON.stringify(path)} of type ${JSON.stringify(logicalType.slice(0, 80))}, which tables here cannot hold: ${problem}. Drop the column with Lance first.`,
      { details: { file, column: path } },
    );
  });
}

/** The error for a damaged file of Lance. */
export const damaged = (file: string, what: string): DirspaceError =>
  new DirspaceError('Corrupt', `The Lance file ${file} is damaged: ${what}.`, {
    details: { file },
  });
