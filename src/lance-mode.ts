/**
 * Defines `LanceMode`, the property `lance` of catalogs and tables, which says whether and how
 * their tables can be opened in Lance. Reads and validates it (`lanceProperty`, `checkLanceMode`).
 */
import { DirspaceError } from './errors.ts';

/**
 * `off`: fragments are Arrow files alone. `read`: fragments are Lance files too, and the REST server tells
 * Lance's clients how to read them. `sync`: after each commit the table's folder and the catalog's also hold
 * what Lance needs to open them by their path.
 */
export type LanceMode = 'off' | 'read' | 'sync';

const LANCE_MODES: readonly string[] = ['off', 'read', 'sync'] satisfies LanceMode[];

/** Whether what Lance finds by the path of a table has to be as new as the table. */
export const followsByPath = (mode: LanceMode): boolean => mode === 'sync';

export const isLanceMode = (value: unknown): value is LanceMode =>
  typeof value === 'string' && LANCE_MODES.includes(value);

/**
 * Whether a table with these properties is written for Lance; undefined where its catalog decides.
 * @throws InvalidInput, Unsupported for `write`
 */
export function lanceProperty(properties: Readonly<Record<string, string>>): boolean | undefined {
  const { lance } = properties;
  return lance === undefined ? undefined : checkLanceMode(lance) !== 'off';
}

/** @throws InvalidInput, Unsupported for `write` */
export function checkLanceMode(value: unknown): LanceMode {
  if (isLanceMode(value)) return value;
  if (value === 'write') {
    throw new DirspaceError(
      'Unsupported',
      'lance: "write" is not supported: Lance\'s clients cannot write tables. Use "read" or "sync".',
    );
  }
  throw new DirspaceError(
    'InvalidInput',
    `lance is ${JSON.stringify(value)?.slice(0, 80)}; it is one of ${LANCE_MODES.join(', ')}.`,
    { details: { property: 'lance' } },
  );
}
