/**
 * `defined` returns a copy of an object without the members that are undefined. With it, a member
 * of a request that is left out and one that is set to undefined mean the same on every catalog.
 */

/** The same members, where those that may be undefined may be left out instead. */
export type Defined<Members extends object> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** A copy without the members that are undefined. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) kept[name] = value;
  }
  return kept as Defined<Members>;
}
