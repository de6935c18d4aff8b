/** Whether tables open in Lance: the property `lance` of catalogs and tables, and its values. */
import { DirspaceError } from './errors.ts';

/**
 * `off`: fragments are Arrow files alone. `read`: fragments are Lance files too, and the REST server tells
 * Lance's clients how to read them.
 */
export type LanceMode = 'off' | 'read';

const LANCE_MODES: readonly string[] = ['off', 'read'] satisfies LanceMode[];

export const isLanceMode = (value: unknown): value is LanceMode =>
  typeof value === 'string' && LANCE_MODES.includes(value);

/**
 * Whether a table with these properties is written for Lance; undefined where its catalog decides.
 * @throws InvalidInput, Unsupported for `write` and `sync`
 */
export function lanceProperty(properties: Readonly<Record<string, string>>): boolean | undefined {
  const { lance } = properties;
  return lance === undefined ? undefined : checkLanceMode(lance) !== 'off';
}

/** @throws InvalidInput, Unsupported for `write` and `sync` */
export function checkLanceMode(value: unknown): LanceMode {
  if (isLanceMode(value)) return value;
  if (value === 'write' || value === 'sync') {
    throw new DirspaceError(
      'Unsupported',
      `lance: "${value}" is not supported: Lance's clients cannot write tables, nor open them by path. Use "read".`,
    );
  }
  throw new DirspaceError(
    'InvalidInput',
    `lance is ${JSON.stringify(value)?.slice(0, 80)}; it is one of ${LANCE_MODES.join(', ')}.`,
    { details: { property: 'lance' } },
  );
}
