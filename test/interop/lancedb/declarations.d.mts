/** Types of declarations.mjs. */
export type Declared = { kind: string; members?: string[] };
export function exportedNames(file: string, prefix?: string): Record<string, Declared>;
export const GENERIC: ReadonlySet<string>;
export function allNames(names: Record<string, Declared>): string[];
export function withoutMembers(set: ReadonlySet<string>, name: string): boolean;
export function namesFile(names: Record<string, Declared>, absent: ReadonlySet<string>): string;
export function absentNames(page: string): Set<string>;
