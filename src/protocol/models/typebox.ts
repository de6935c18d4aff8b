/**
 * The words the models are written in: JSON Schemas that carry their TypeScript type.
 *
 * The only importer of typebox, for its types alone. Its runtime takes longer to load than
 * apache-arrow's, and building a JSON Schema needs none of it, so the constructors are here.
 */
import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TNull,
  TNumber,
  TObject,
  TOptional,
  TRecord,
  TSchema,
  TString,
  TUnion,
  TUnsafe,
} from 'typebox';

export type { Static, TSchema, TUnsafe };

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

type Members = Record<string, TSchema>;

/** `{...required, ...optional?}` */
type Shape<Required extends Members, Optional extends Members> = TObject<{
  [Name in keyof Required | keyof Optional]: Name extends keyof Optional
    ? TOptional<Optional[Name]>
    : Name extends keyof Required
      ? Required[Name]
      : never;
}>;

// biome-ignore lint/complexity/noBannedTypes: no members is what is meant
export type None = {};

export const string = typed<TString>({ type: 'string' });
/** A string of at least one character. */
export const name = typed<TString>({ type: 'string', minLength: 1 });
export const boolean = typed<TBoolean>({ type: 'boolean' });
export const number = typed<TNumber>({ type: 'number' });
/** A safe integer >= 0. */
export const count = typed<TInteger>({ type: 'integer', format: 'int64', minimum: 0 });
/** A safe integer >= 1. */
export const positive = typed<TInteger>({ type: 'integer', format: 'int64', minimum: 1 });
/** A safe integer of either sign. */
export const integer = typed<TInteger>({ type: 'integer', format: 'int64' });
/** An integer >= 0 that may be as large as 2^63; what is not safe is lowered to what is. */
export const clampedCount = typed<TInteger>({ type: 'integer', format: 'uint64', minimum: 0 });
/** An integer of up to 64 bits. In JSON it is a string of digits: numbers there lose some. */
export const wideInteger = typed<TUnsafe<bigint>>({
  type: 'string',
  format: 'int64',
  pattern: '^-?[0-9]{1,20}$',
});
export const no = typed<TUnsafe<false>>({ type: 'boolean', const: false });
/** Any JSON object, left as it is. */
export const anyObject = typed<TUnsafe<Record<string, unknown>>>({ type: 'object' });

export const array = <Item extends TSchema>(
  items: Item,
  bounds: { readonly minItems?: number; readonly maxItems?: number } = {},
): TArray<Item> => typed({ type: 'array', items: items as JsonSchema, ...bounds });

/** An object used as a map from strings; keys are data, so any key is legal. */
export const map = <Value extends TSchema>(value: Value): TRecord<'^.*$', Value> =>
  typed({ type: 'object', additionalProperties: value as JsonSchema });

export const oneOf = <const Values extends readonly string[]>(
  ...values: Values
): TEnum<[...Values]> => typed({ type: 'string', enum: values });

export const union = <Left extends TSchema, Right extends TSchema>(
  left: Left,
  right: Right,
): TUnion<[Left, Right]> => typed({ anyOf: [left as JsonSchema, right as JsonSchema] });

/** Null is a value of its own here, not another way to leave a member out. */
export const nullable = <Value extends TSchema>(value: Value): TUnion<[Value, TNull]> =>
  typed({ anyOf: [value as JsonSchema, { type: 'null' }] });

/** The model of that name; `Type` must be the model's type. */
export const ref = <Type>(model: string): TUnsafe<Type> =>
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
