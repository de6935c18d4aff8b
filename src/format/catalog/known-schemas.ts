/**
 * Parses manifests so that versions with the same schema and field ids have the same objects for
 * them, even in different tables. Results computed from a schema are cached by its object, so
 * tables with the same schema share them. A `SchemaReader` parses one manifest, and passes over the
 * text of a schema that was met before. The objects are frozen (`frozen`), because responses share
 * them. The last 256 schemas are remembered, up to 2,097,152 characters of JSON together, of which
 * one may have an eighth; versions with a larger schema stay as they are. `isOfKnownSchema` tells
 * whether the objects of a version may be shared so.
 */
import type { JsonArrowSchema } from '../../protocol/index.ts';

interface KnownSchema {
  readonly schema: JsonArrowSchema;
  readonly fieldIds: readonly number[];
}

/** Schemas remembered. */
const MOST_SCHEMAS = 256;
/** Characters of JSON that they may have together, and one of them. */
const MOST_CHARACTERS = 1 << 21;
const LONGEST = MOST_CHARACTERS / 8;

/** By the text of the two members, the one met first at the front. */
const known = new Map<string, KnownSchema>();
let characters = 0;

/** What the text of a manifest has around these members, as `encodeManifest` writes it. */
const BEGIN = ',"schema":{';
const END = ',"next_field_id":';

export class SchemaReader {
  /** The text of the two members; undefined where they are not at their usual place. */
  #text: string | undefined;
  #read: Partial<Record<'schema' | 'field_ids', unknown>> = {};
  #known: KnownSchema | undefined;

  /** As JSON.parse, for the text of a manifest. */
  parse(text: string): unknown {
    const from = text.indexOf(BEGIN);
    const end = from === -1 ? -1 : text.indexOf(END, from);
    if (end === -1) return JSON.parse(text);
    const members = text.slice(from + 1, end);
    try {
      // Each part is a list of whole members by itself, so the three of them are the document.
      const before = JSON.parse(`${text.slice(0, from)}}`);
      const behind = JSON.parse(`{${text.slice(end + 1)}`);
      const found = known.get(members);
      const read = found
        ? { schema: found.schema, field_ids: found.fieldIds }
        : JSON.parse(`{${members}}`);
      this.#known = found;
      this.#read = read;
      this.#text = members;
      return Object.assign(before, read, behind);
    } catch {
      return JSON.parse(text);
    }
  }

  /**
   * The schema and field ids of the parsed document: those of an earlier one with the same text, or
   * what `check` returns of its members, which is remembered.
   */
  shared(
    document: Readonly<Record<string, unknown>>,
    check: () => { schema: JsonArrowSchema; fieldIds: number[] },
  ): KnownSchema {
    // A document may name a member twice, and then the last one counts.
    const { schema, field_ids: fieldIds, ...others } = this.#read;
    const isTheirs = schema === document.schema && fieldIds === document.field_ids;
    if (isTheirs && this.#known !== undefined) return this.#known;
    const checked = check();
    const text = this.#text;
    const isOnlyThey = isTheirs && Object.keys(others).length === 0;
    if (text === undefined || text.length > LONGEST || !isOnlyThey) return checked;
    return remembered(text, checked);
  }
}

function remembered(text: string, { schema, fieldIds }: KnownSchema): KnownSchema {
  const added = { schema: frozen(schema), fieldIds: Object.freeze(fieldIds) };
  characters += text.length;
  for (const oldest of known.keys()) {
    if (known.size < MOST_SCHEMAS && characters <= MOST_CHARACTERS) break;
    // The oldest goes: one that is still in use comes back with the next version that is read.
    known.delete(oldest);
    characters -= oldest.length;
  }
  // A copy: a part of a text keeps the whole of it in memory.
  known.set(Buffer.from(text).toString(), added);
  return added;
}

/** Whether others may hold the schema too. */
export const isOfKnownSchema = ({ fieldIds }: KnownSchema): boolean => Object.isFrozen(fieldIds);

/** Freezes a value with all it holds. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
