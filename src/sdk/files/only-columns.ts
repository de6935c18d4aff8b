/**
 * Selects the columns of files that a caller asks for, in the order asked for: `onlyFields` in a
 * schema, `onlyColumns` in record batches, and `OnlyMembers` in rows of JSON. A name that no column
 * has throws InvalidInput. A row of JSON may lack a name, so `OnlyMembers` throws only in `check`,
 * which is called after the last row, for a name that no row had. `checkColumns` throws
 * InvalidInput for an option that is not a list of different names.
 */
import { columnsAt, type RecordBatch, type RecordBatchStream, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';

const problem = (message: string, details: Record<string, unknown> = {}): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details });

/** @throws InvalidInput for what is no list of different names */
export function checkColumns(
  columns: readonly string[] | undefined,
): readonly string[] | undefined {
  if (columns === undefined) return undefined;
  const isList =
    Array.isArray(columns) &&
    columns.length > 0 &&
    columns.every((name) => typeof name === 'string' && name !== '') &&
    new Set(columns).size === columns.length;
  if (isList) return [...columns];
  throw problem(
    `The option columns is ${JSON.stringify(columns)}; give names of columns, each once.`,
  );
}

/** The fields of these columns, in their order. @throws InvalidInput for a name without a field */
export function onlyFields<Known extends Schema | undefined>(
  schema: Known,
  columns: readonly string[] | undefined,
): Known {
  if (schema === undefined || columns === undefined) return schema;
  const fields = columns.map((name) => {
    const found = schema.fields.find((field) => field.name === name);
    if (found !== undefined) return found;
    const names = schema.fields.map((field) => field.name);
    throw problem(`The schema has no column ${JSON.stringify(name)}.${suggestion(name, names)}`);
  });
  return new Schema(fields, schema.metadata) as Known;
}

/** The columns in the order in which they are asked for. @throws InvalidInput for one that is not there */
export function onlyColumns(
  stream: RecordBatchStream,
  columns: readonly string[],
  file: string,
): RecordBatchStream {
  const names = stream.schema.fields.map(({ name }) => name);
  if (names.join('\0') === columns.join('\0')) return stream;
  const places = columns.map((name) => {
    const place = names.indexOf(name);
    if (place >= 0) return place;
    const hint = suggestion(name, names);
    throw problem(`${file} has no column ${JSON.stringify(name)}.${hint}`, { file });
  });
  const schema = onlyFields(stream.schema, columns);
  async function* batches(): AsyncGenerator<RecordBatch> {
    for await (const batch of stream) yield columnsAt(batch, schema, places);
  }
  return Object.assign(batches(), { schema });
}

/** Takes all other members out of objects, and knows which of the names no object had. */
export class OnlyMembers {
  readonly #columns: readonly string[];
  readonly #missing: Set<string>;
  readonly #others = new Set<string>();

  constructor(columns: readonly string[]) {
    this.#columns = columns;
    this.#missing = new Set(columns);
  }

  of(row: object): object {
    // Without a prototype, so that a column may be called `__proto__`.
    const kept: Record<string, unknown> = Object.create(null);
    for (const name of this.#columns) {
      if (!Object.hasOwn(row, name)) continue;
      kept[name] = Reflect.get(row, name) as unknown;
      this.#missing.delete(name);
    }
    if (this.#missing.size > 0 && this.#others.size < MOST_NAMES) {
      for (const name of Object.keys(row)) this.#others.add(name);
    }
    return kept;
  }

  /** @throws InvalidInput where no object had one of the names */
  check(file: string): void {
    const [missing] = this.#missing;
    if (missing === undefined) return;
    const hint = suggestion(missing, [...this.#others]);
    throw problem(`No row of ${file} has a column ${JSON.stringify(missing)}.${hint}`, { file });
  }
}

/** Names that a suggestion is looked for among. */
const MOST_NAMES = 1_000;
