/** Random valid values of a protocol model, drawn from its JSON Schema. */
import fc from 'fast-check';
import { MODELS, type Model, type ModelName } from '../../src/protocol/models/index.ts';
import type { JsonSchema } from '../../src/protocol/models/model-schema.ts';

/** Levels of referenced models drawn before optional members and items are left out. */
const MAX_DEPTH = 4;

const key = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'a.b'),
);

export function modelArbitrary<Name extends ModelName>(name: Name): fc.Arbitrary<Model<Name>> {
  return arbitrary(MODELS[name] as JsonSchema, 0) as fc.Arbitrary<Model<Name>>;
}

function arbitrary(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1) as ModelName;
    return fc.constant(null).chain(() => arbitrary(MODELS[name] as JsonSchema, depth + 1));
  }
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((one) => arbitrary(one, depth)));
  }
  switch (schema.type) {
    case 'string':
      if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
      if (schema.format === 'int64') return fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n);
      return fc.string({ minLength: schema.minLength ?? 0, maxLength: 8 });
    case 'integer':
      return fc.maxSafeInteger().map((drawn) => {
        const lowest = schema.minimum;
        return lowest === undefined ? drawn : Math.max(lowest, Math.abs(drawn));
      });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((drawn) => drawn + 0);
    case 'boolean':
      return schema.const === undefined ? fc.boolean() : fc.constant(schema.const);
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      const longest = depth >= MAX_DEPTH ? minItems : maxItems;
      return fc.array(arbitrary(items, depth), { minLength: minItems, maxLength: longest });
    }
    default:
      return objectArbitrary(schema, depth);
  }
}

function objectArbitrary(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (schema.additionalProperties !== undefined) {
    const entries = fc.array(fc.tuple(key, arbitrary(schema.additionalProperties, depth)), {
      maxLength: 3,
    });
    return entries.map((drawn) => {
      const values: Record<string, unknown> = Object.create(null);
      for (const [name, value] of drawn) values[name] = value;
      return values;
    });
  }
  const required = schema.required ?? [];
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (depth < MAX_DEPTH || required.includes(name)) members[name] = arbitrary(member, depth);
  }
  return fc.record(members, { requiredKeys: [...required], noNullPrototype: true });
}
