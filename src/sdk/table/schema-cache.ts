/**
 * Schemas already read from their JSON form, so that a schema asked for again is the same object.
 * A catalog in process answers the same JSON object for the same schema; a remote one, equal text.
 */
import type { Schema } from '../../arrow/index.ts';
import { type JsonArrowSchema, schemaFromJson } from '../../protocol/index.ts';

const byIdentity = new WeakMap<JsonArrowSchema, Schema>();

/** Remembers the last schema of one handle by its text, and all of them by their JSON objects. */
export class SchemaCache {
  #text: string | undefined;
  #schema: Schema | undefined;

  /** What was read last. */
  last: Schema | undefined;

  read(json: JsonArrowSchema): Schema {
    this.last = byIdentity.get(json) ?? this.#parse(json);
    return this.last;
  }

  #parse(json: JsonArrowSchema): Schema {
    const text = JSON.stringify(json);
    if (this.#schema === undefined || text !== this.#text) {
      this.#schema = schemaFromJson(json);
      this.#text = text;
    }
    byIdentity.set(json, this.#schema);
    return this.#schema;
  }
}
