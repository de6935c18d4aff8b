/**
 * `jsonPath` parses where a value stands within JSON, in DuckDB's three spellings: `$.a.b[0]` with
 * `[#-1]` for the last item, a pointer such as `/a/0` (RFC 6901), or a name alone. A whole number is
 * the place of an item, from 0, or from the end if it is negative. `$.*` and `$[*]` stand for all
 * members and all items; `isOfSeveral` tells whether a path has one of these. What cannot be read as
 * a path, `**`, and more than 100 steps throw InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';

/** One step, within an object, within an array, or, as a part of a pointer, within either. */
export interface JsonStep {
  /** The name of a member, in UTF-8; absent where objects have no such value. */
  readonly member?: Uint8Array | 'all';
  /** The place of an item, from the end where it is negative; absent where arrays have none. */
  readonly item?: number | 'all';
}

const STEP =
  /\.(?:"([^"\\]*(?:\\.[^"\\]*)*)"|(\*)(?![^.[])|([^."[*][^."[]*))|\[(?:(\d+)|#-([1-9]\d*)|(\*))\]/y;
const PLACE = /^(?:0|[1-9]\d*)$/;

/** Each step from the end of an array may read all of the text once more. */
const MOST_STEPS = 100;

/** The steps from the whole value; none for the value itself. */
export function jsonPath(path: string | bigint): readonly JsonStep[] {
  if (typeof path === 'bigint') return [{ item: Number(path) }];
  if (path.startsWith('$')) return bounded(dollarPath(path));
  if (path.startsWith('/')) return bounded(path.slice(1).split('/').map(pointerStep));
  return [{ member: Buffer.from(path) }];
}

export const isOfSeveral = (steps: readonly JsonStep[]): boolean =>
  steps.some(({ member, item }) => member === 'all' || item === 'all');

function bounded(steps: readonly JsonStep[]): readonly JsonStep[] {
  if (steps.length <= MOST_STEPS) return steps;
  throw new DirspaceError(
    'InvalidInput',
    `A JSON path has ${steps.length} steps, and may have ${MOST_STEPS}. Take the value in two parts, as in (x -> 'path') -> 'path'.`,
  );
}

function dollarPath(path: string): readonly JsonStep[] {
  const steps: JsonStep[] = [];
  for (let at = 1; at < path.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (found === null) refusePath(path, at);
    const [, quoted, all, plain, place, fromEnd, allItems] = found;
    if (all !== undefined) steps.push({ member: 'all' });
    else if (allItems !== undefined) steps.push({ item: 'all' });
    else if (place !== undefined) steps.push({ item: Number(place) });
    else if (fromEnd !== undefined) steps.push({ item: -Number(fromEnd) });
    else steps.push({ member: Buffer.from(plain ?? unquoted(quoted as string, path, at)) });
  }
  return steps;
}

function unquoted(quoted: string, path: string, at: number): string {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return refusePath(path, at);
  }
}

function pointerStep(part: string): JsonStep {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
  const member = Buffer.from(name);
  return PLACE.test(name) ? { member, item: Number(name) } : { member };
}

function refusePath(path: string, at: number): never {
  const rest = path.slice(at);
  const found = /^\.(?:\*\*|\.)/.test(rest)
    ? '** and .. are not supported; * is all values of one level'
    : `"${rest.slice(0, 20)}" is neither .name, ."name", .*, [0], [#-1] nor [*]`;
  throw new DirspaceError(
    'InvalidInput',
    `The JSON path ${path.slice(0, 100)} is not known: ${found}`,
  );
}
