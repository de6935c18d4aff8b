/**
 * Parses the column types that a user gives. `parseTypes` reads the text of `--types
 * name:type,...`. `readSchema` reads the JSON of `--schema`, which `describe --json` prints, from a
 * file or from the command line. Both throw UsageError for malformed text and unknown types.
 */
import { readFileSync } from 'node:fs';
import type { DataType, Schema } from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import {
  type JsonArrowDataType,
  type JsonArrowField,
  schemaFromJson,
} from '../../protocol/index.ts';
import { type SchemaInput, toSchema } from '../../sdk/index.ts';
import { UsageError } from '../terminal/index.ts';

const EXAMPLE = 'such as id:int64,tags:list<utf8>,vector:fixed_size_list<float32>[4]';

/** Compared with words that are no types. */
const TYPE_WORDS = [
  ...['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'],
  ...['float16', 'float32', 'float64', 'utf8', 'large_utf8', 'binary', 'large_binary', 'bool'],
  ...['date32', 'date64', 'timestamp', 'time32', 'time64', 'duration', 'decimal128'],
  ...['list', 'large_list', 'fixed_size_list', 'struct', 'map', 'dictionary', 'null'],
];

/** Reads `name:type,...`. Throws UsageError. */
export function parseTypes(text: string): Map<string, DataType> {
  const reader = new TypeReader(text);
  const fields = reader.fields();
  reader.expectEnd();
  const types = new Map<string, DataType>();
  for (const field of fields) {
    if (types.has(field.name)) {
      throw new UsageError(`--types names the column ${JSON.stringify(field.name)} twice.`);
    }
    try {
      types.set(field.name, schemaFromJson({ fields: [field] }).fields[0]?.type as DataType);
    } catch (error) {
      if (!isDirspaceError(error)) throw error;
      const what = error.message.replace(/^schema: fields\[0\]\S*: /, '');
      const [, word = ''] = /^"([^"]*)" is no type/.exec(what) ?? [];
      const hint = word === '' ? '' : `.${suggestion(word, TYPE_WORDS)}`;
      throw new UsageError(`--types, column ${JSON.stringify(field.name)}: ${what}${hint}`);
    }
  }
  return types;
}

/** Reads a JSON Arrow schema, or what `describe --json` prints, of a file or as it is given. Throws UsageError. */
export function readSchema(file: string): Schema {
  let text: string;
  try {
    text = /^\s*\{/.test(file) ? file : readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(
      `--schema ${JSON.stringify(file)} cannot be read; it is a file of JSON, as \`dirspace describe --json\` prints it, or that JSON itself.`,
      { cause },
    );
  }
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--schema ${JSON.stringify(file)} cannot be read as JSON: ${why}`, {
      cause,
    });
  }
  const described = (found as { schema?: unknown } | null)?.schema;
  try {
    return toSchema((described ?? found) as SchemaInput);
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    throw new UsageError(
      `--schema ${JSON.stringify(file)}: ${error.message} It is a JSON object with "fields", as in the "schema" that \`dirspace describe --json\` prints.`,
    );
  }
}

/** Deeper types are refused before the stack ends. */
const MAX_DEPTH = 64;

class TypeReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fields(depth = 0): JsonArrowField[] {
    const fields: JsonArrowField[] = [];
    do {
      const name = this.#word(/[^:,<>[\]]*/y);
      if (name === '' || !this.#take(':')) throw this.#wrong('a name and a colon', name);
      fields.push({ name, nullable: true, type: this.#type(depth) });
    } while (this.#take(','));
    return fields;
  }

  expectEnd(): void {
    if (this.#at < this.#text.length) throw this.#wrong('a comma or the end');
  }

  #type(depth: number): JsonArrowDataType {
    if (depth > MAX_DEPTH) throw this.#wrong('no deeper type');
    const type = this.#word(/[^,<>[\]]*/y);
    if (type === '') throw this.#wrong('a type');
    let fields: JsonArrowField[] | undefined;
    if (this.#take('<')) {
      const isList = type.endsWith('list');
      fields = isList
        ? [{ name: 'item', nullable: true, type: this.#type(depth + 1) }]
        : this.fields(depth + 1);
      if (!this.#take('>')) throw this.#wrong('">"');
    }
    if (!this.#take('[')) return fields === undefined ? { type } : { type, fields };
    const length = this.#word(/\d{1,9}/y);
    if (length === '' || !this.#take(']')) throw this.#wrong('a length and "]"');
    return { type, ...(fields && { fields }), length: Number(length) };
  }

  #word(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found.trim();
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    while (this.#text[this.#at] === ' ') this.#at++;
    return true;
  }

  #wrong(expected: string, name = ''): UsageError {
    const [, column, type] = /^([^=]+)=([^=]+)$/.exec(name) ?? [];
    if (column !== undefined) {
      return new UsageError(`--types has ${name}; it is name:type, so write ${column}:${type}.`);
    }
    return new UsageError(
      `--types has ${JSON.stringify(this.#text.slice(this.#at, this.#at + 20))} at character ${this.#at + 1} where ${expected} is expected; it is name:type,..., ${EXAMPLE}.`,
    );
  }
}
