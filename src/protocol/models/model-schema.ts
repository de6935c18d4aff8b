/**
 * Has the functions and values that the JSON Schemas of the protocol's models are built from, such
 * as `object`, `array`, `count` and `nullable`. Each schema carries the TypeScript type of its
 * values, which `Static` extracts. `JsonSchema` lists the keywords that are used. ../normalize.ts
 * validates values against the schemas.
 */

declare const TYPE: unique symbol;

/** A JSON Schema of values of `Type`. */
export interface SchemaOf<out Type> {
  readonly [TYPE]?: Type;
}

export type AnySchema = SchemaOf<unknown>;

/** The type of the values that a schema describes. */
export type Static<Schema extends AnySchema> = Schema extends SchemaOf<infer Type> ? Type : never;

/** The JSON Schema keywords the models use: what validation and the OpenAPI document read. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly const?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema;
}

const typed = <Type>(schema: JsonSchema): Type => Object.freeze(schema) as Type;

type Members = Record<string, AnySchema>;

/** One object type without intersections, as an editor shows it best. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] };

/** `{...required, ...optional?}` */
export type Shape<Required extends Members, Optional extends Members> = SchemaOf<
  Flat<
    { [Name in Exclude<keyof Required, keyof Optional>]: Static<Required[Name]> } & {
      [Name in keyof Optional]?: Static<Optional[Name]>;
    }
  >
>;

// biome-ignore lint/complexity/noBannedTypes: no members is what is meant
export type None = {};

export const string = typed<SchemaOf<string>>({ type: 'string' });
/** A string of at least one character. */
export const name = typed<SchemaOf<string>>({ type: 'string', minLength: 1 });
export const boolean = typed<SchemaOf<boolean>>({ type: 'boolean' });
export const number = typed<SchemaOf<number>>({ type: 'number' });
/** A safe integer >= 0. */
export const count = typed<SchemaOf<number>>({ type: 'integer', format: 'int64', minimum: 0 });
/** A safe integer >= 1. */
export const positive = typed<SchemaOf<number>>({ type: 'integer', format: 'int64', minimum: 1 });
/** A safe integer of either sign. */
export const integer = typed<SchemaOf<number>>({ type: 'integer', format: 'int64' });
/** An integer >= 0 that may be as large as 2^63; what is not safe is lowered to what is. */
export const clampedCount = typed<SchemaOf<number>>({
  type: 'integer',
  format: 'uint64',
  minimum: 0,
});
/** An integer of up to 64 bits. In JSON it is a string of digits: numbers there lose some. */
export const wideInteger = typed<SchemaOf<bigint>>({
  type: 'string',
  format: 'int64',
  pattern: '^-?[0-9]{1,20}$',
});
export const no = typed<SchemaOf<false>>({ type: 'boolean', const: false });
/** Any JSON object, left as it is. */
export const anyObject = typed<SchemaOf<Record<string, unknown>>>({ type: 'object' });

export const array = <Item extends AnySchema>(
  items: Item,
  bounds: { readonly minItems?: number; readonly maxItems?: number } = {},
): SchemaOf<Static<Item>[]> => typed({ type: 'array', items: items as JsonSchema, ...bounds });

/** An object used as a map from strings; keys are data, so any key is legal. */
export const map = <Value extends AnySchema>(
  value: Value,
): SchemaOf<Record<string, Static<Value>>> =>
  typed({ type: 'object', additionalProperties: value as JsonSchema });

export const oneOf = <const Values extends readonly string[]>(
  ...values: Values
): SchemaOf<Values[number]> => typed({ type: 'string', enum: values });

export const union = <Left extends AnySchema, Right extends AnySchema>(
  left: Left,
  right: Right,
): SchemaOf<Static<Left> | Static<Right>> =>
  typed({ anyOf: [left as JsonSchema, right as JsonSchema] });

/** For members where null is a value, and not the same as leaving the member out. */
export const nullable = <Value extends AnySchema>(value: Value): SchemaOf<Static<Value> | null> =>
  typed({ anyOf: [value as JsonSchema, { type: 'null' }] });

/** The model of that name; `Type` must be the model's type. */
export const ref = <Type>(model: string): SchemaOf<Type> =>
  typed({ $ref: `#/components/schemas/${model}` });

export const object = <Required extends Members = None, Optional extends Members = None>(
  required: Required,
  optional: Optional = {} as Optional,
): Shape<Required, Optional> => {
  const names = Object.keys(required);
  const properties = { ...required, ...optional } as Readonly<Record<string, JsonSchema>>;
  return typed({
    type: 'object',
    properties,
    ...(names.length === 0 ? {} : { required: names }),
  });
};
