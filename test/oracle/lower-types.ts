/**
 * Type names of the grammar -> ours (`pg_catalog.int4` is `int`, `interval` fields by name).
 * It knows names only; which Arrow type a name means is said in type-names.ts.
 */

import type { TypeName } from '../../src/sql/parse/tree.ts';
import type { PgNode } from './pg-node.ts';

const PLAIN: Readonly<Record<string, string>> = {
  int2: 'smallint',
  int4: 'int',
  int8: 'bigint',
  float4: 'real',
  float8: 'double',
  bool: 'boolean',
  numeric: 'decimal',
  bpchar: 'char',
  varbit: 'bit varying',
};

/** `text` is how the type starts in the user's text: FLOAT is 32 bits here, the grammar says 64. */
export function lowerTypeName(
  node: PgNode,
  text: string,
  fail: (message: string) => never,
): TypeName {
  const parts = Array.isArray(node.names) ? (node.names as unknown[]) : [];
  const names = parts.map((part) => {
    const wrapped = (part ?? {}) as { String?: { sval?: unknown } };
    return String(wrapped.String?.sval ?? '');
  });
  const builtIn = names.length === 2 && names[0] === 'pg_catalog';
  if (names.length !== 1 && !builtIn) fail(`The type ${names.join('.')} is not supported`);
  if (node.arrayBounds !== undefined) fail('A cast to a list type is not supported');
  const given = (names.at(-1) ?? '').toLowerCase();
  const float = builtIn && /^float\b(?!\s*\()/i.test(text);
  const name = float ? 'float' : (PLAIN[given] ?? given);
  const modifiers = Array.isArray(node.typmods) ? (node.typmods as unknown[]) : [];
  const args = modifiers.map((modifier) => {
    const constant = (modifier ?? {}) as {
      A_Const?: { ival?: { ival?: unknown }; location?: number };
    };
    const value = constant.A_Const?.ival;
    if (value === undefined) return fail(`The arguments of the type ${name} must be whole numbers`);
    return Number(value.ival ?? 0);
  });
  // The grammar adds (1) to char and bit without a length; it has no place in the text.
  const added = (modifiers[0] as { A_Const?: { location?: number } } | undefined)?.A_Const;
  if (name !== 'interval' && added?.location === -1) return { name, args: [] };
  if (name === 'char' || name === 'varchar' || name === 'bit' || name === 'bit varying') {
    if (args.length > 0) fail(`${name}(n) is not supported: no value is cut silently; use text`);
  }
  return { name, args };
}
