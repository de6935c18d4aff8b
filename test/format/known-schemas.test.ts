/** Manifests with the same text of a schema share its objects; text that looks alike is read as it is. */
import { describe, expect, test } from 'vitest';
import { decodeVersion, encodeManifest, type Manifest } from '../../src/format/catalog/manifest.ts';
import { checksummedText } from '../helpers/damage.ts';
import { sampleManifest } from '../helpers/metadata-samples.ts';

function decoded(bytes: Uint8Array): Manifest {
  const found = decodeVersion(bytes, 'm');
  if (!('manifest' in found)) throw new Error('a tombstone');
  return found.manifest;
}

/** A manifest with so many columns, whose names begin with `prefix`. */
function manifestOf(prefix: string, columns: number, more: Partial<Manifest> = {}): Manifest {
  const fields = Array.from({ length: columns }, (_, at) => ({
    name: `${prefix}${at}`,
    nullable: true,
    type: { type: 'float64' },
  }));
  return { ...sampleManifest, schema: { fields }, fieldIds: fields.map((_, at) => at), ...more };
}

const written = (manifest: Manifest): Manifest => decoded(encodeManifest(manifest).bytes);

describe('versions with one schema', () => {
  test.each([1, 1_000])('share it, of %d columns', (columns) => {
    const one = written(manifestOf('shared', columns));
    const other = written(
      manifestOf('shared', columns, { version: 4, table: '9', parent: undefined }),
    );
    expect(other.version).toBe(4);
    expect(other.schema).toBe(one.schema);
    expect(other.fieldIds).toBe(one.fieldIds);
    expect(Object.isFrozen(one.fieldIds)).toBe(true);
    expect(Object.isFrozen(one.schema.fields[columns - 1]?.type)).toBe(true);
    expect(other).toEqual({
      ...manifestOf('shared', columns),
      version: 4,
      table: '9',
      parent: undefined,
    });
  });

  test('share none where the ids of fields differ', () => {
    const one = written(manifestOf('ids', 2));
    const other = written(manifestOf('ids', 2, { fieldIds: [0, 7] }));
    expect(other.schema).not.toBe(one.schema);
    expect(other.fieldIds).toEqual([0, 7]);
  });

  test('share none that takes too much memory', () => {
    const columns = 8_000;
    const one = written(manifestOf('large', columns));
    expect(one.schema.fields).toHaveLength(columns);
    expect(Object.isFrozen(one.schema)).toBe(false);
    expect(written(manifestOf('large', columns)).schema).not.toBe(one.schema);
  });

  test.each([
    ['many', 300, 1],
    ['long', 30, 3_000],
  ])('forget the oldest behind %s others', (prefix, others, columns) => {
    const first = written(manifestOf(`${prefix} first`, columns)).schema;
    expect(written(manifestOf(`${prefix} first`, columns)).schema).toBe(first);
    const kept = Array.from(
      { length: others },
      (_, n) => written(manifestOf(`${prefix} ${n} `, columns)).schema,
    );
    expect(written(manifestOf(`${prefix} first`, columns)).schema).not.toBe(first);
    for (const back of [1, 2])
      expect(written(manifestOf(`${prefix} ${others - back} `, columns)).schema).toBe(
        kept.at(-back),
      );
  });
});

describe('a document with other places of its members', () => {
  const base = { ...sampleManifest, metadata: {}, annotations: undefined };
  const text = Buffer.from(encodeManifest(base).bytes).toString();
  const schema = ',"schema":';
  const found = /,"schema":(.*),"field_ids":(\[[^\]]*\])(?=,"next_field_id")/.exec(text);
  if (found === null) throw new Error('the manifest is written in another way');
  const [members, ownSchema, ownIds] = found as unknown as [string, string, string];
  const other = '{"fields":[{"name":"x","nullable":true,"type":{"type":"utf8"}}]}';
  /** The document with another text in place of the two members, its checksum made anew. */
  const replaced = (by: string, more = ''): Uint8Array =>
    checksummedText(
      text
        .replace(members, () => by)
        .replace(/^\{"checksum":"crc32:[0-9a-f]{8}",/, '{')
        .replace(/\}\n$/, () => `${more}}`),
    );
  const inNested = `,"view_of":{"a":1${schema}${other},"field_ids":[9],"next_field_id":1}`;

  test.each([
    ['as written', replaced(members)],
    ['the ids first', replaced(`,"field_ids":${ownIds}${schema}${ownSchema}`)],
    ['a member between', replaced(`${schema}${ownSchema},"more":1,"field_ids":${ownIds}`)],
    ['the same names within another member before', replaced(inNested + members)],
    ['the same names within another member behind', replaced(members, inNested)],
    ['named twice', replaced(`${schema}${other},"field_ids":[9],"next_field_id":2${members}`)],
    ['named again behind', replaced(`${schema}${other},"field_ids":[9]`, members)],
    ['a blank between', replaced(members.replace(schema, ', "schema":'))],
    ['beside a name of JavaScript', replaced(members, ',"__proto__":{"schema":1,"field_ids":[9]}')],
    ['within a text', replaced(members, `,"more":${JSON.stringify(members)}`)],
  ])('%s', (_, bytes) => {
    for (let time = 0; time < 2; time++) {
      const manifest = decoded(bytes);
      expect(manifest.schema).toEqual(base.schema);
      expect(manifest.fieldIds).toEqual(base.fieldIds);
      expect(manifest.totals).toEqual(base.totals);
      // The other schema is remembered, and as what it is.
      const plain = decoded(replaced(`${schema}${other},"field_ids":[9]`));
      expect(plain.schema).toEqual(JSON.parse(other));
      expect(plain.fieldIds).toEqual([9]);
    }
  });

  test('another member between them counts each time', () => {
    const bytes = replaced(`${schema}${ownSchema},"annotations":{"by":"me"},"field_ids":${ownIds}`);
    for (let time = 0; time < 2; time++)
      expect(decoded(bytes)).toMatchObject({ annotations: { by: 'me' }, schema: base.schema });
  });

  test.each([
    ['no list of fields', `${schema}{"fields":1},"field_ids":[1]`],
    ['no ids', `${schema}${other},"field_ids":["1"]`],
    ['a schema cut short', `${schema}{"fields":[,"field_ids":[1]`],
    ['one bracket too many', `${schema}${other}},"field_ids":[1]`],
    ['no schema', ''],
  ])('%s is damage each time', (_, by) => {
    for (let time = 0; time < 2; time++)
      expect(() => decoded(replaced(by))).toThrow(expect.objectContaining({ code: 'Corrupt' }));
  });
});
