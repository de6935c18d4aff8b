/**
 * Defines `LanceMode`, the setting of a catalog that says how Lance's clients can use its tables.
 * `off`: not at all. `read`: they read through a server. `sync`: they can also open the tables by
 * path. `write`: they can also write through a server. `followsByPath` is true for the last two. A
 * table's property `lance` overrides the setting: `lanceProperty` tells whether it is other than
 * `off`, or undefined if there is none, and `modeOfNewTable` falls back to the catalog's mode. Any
 * other value throws InvalidInput (`checkLanceMode`).
 */
import { DirspaceError } from './errors.ts';

/**
 * `off`: fragments are Arrow files alone. `read`: fragments are Lance files too, and the REST server tells
 * Lance's clients how to read them. `sync`: after each commit the table's folder and the catalog's also hold
 * what Lance needs to open them by their path. `write`: the same, and Lance's clients may write over REST.
 */
export type LanceMode = 'off' | 'read' | 'sync' | 'write';

export const LANCE_MODES = ['off', 'read', 'sync', 'write'] as const satisfies LanceMode[];

/** Whether what Lance finds by the path of a table has to be as new as the table. */
export const followsByPath = (mode: LanceMode): boolean => mode === 'sync' || mode === 'write';

export const isLanceMode = (value: unknown): value is LanceMode =>
  typeof value === 'string' && (LANCE_MODES as readonly string[]).includes(value);

/**
 * Whether a table with these properties is written for Lance; undefined where its catalog decides.
 * @throws InvalidInput
 */
export function lanceProperty(properties: Readonly<Record<string, string>>): boolean | undefined {
  const { lance } = properties;
  return lance === undefined ? undefined : checkLanceMode(lance) !== 'off';
}

/** The mode of a new table: that of its properties, or else its catalog's. @throws InvalidInput */
export const modeOfNewTable = (
  { lance }: Readonly<Record<string, string>>,
  catalog: LanceMode,
): LanceMode => (lance === undefined ? catalog : checkLanceMode(lance));

/** @throws InvalidInput */
export function checkLanceMode(value: unknown): LanceMode {
  if (isLanceMode(value)) return value;
  throw new DirspaceError(
    'InvalidInput',
    `lance is ${JSON.stringify(value)?.slice(0, 80)}; it is one of ${LANCE_MODES.join(', ')}.`,
    { details: { property: 'lance' } },
  );
}
