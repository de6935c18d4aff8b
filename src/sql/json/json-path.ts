/**
 * `jsonPath` parses where a value stands within JSON, in DuckDB's three spellings: `$.a.b[0]` with
 * `[#-1]` for the last item, a pointer such as `/a/0` (RFC 6901), or a name alone. A whole number is
 * the place of an item, from 0, or from the end if it is negative. What cannot be read as a path,
 * wildcards, and more than 100 steps throw InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';

/**
 * A step: the name of a member, the place of an item, or a part of a pointer, which is one or the
 * other.
 */
export type JsonStep =
  | { readonly name: string; readonly place?: number }
  | { readonly name?: undefined; readonly place: number };

const MEMBER = /\.(?:"((?:[^"\\]|\\.)*)"|([^."[*]+))|\[(?:(\d+)|#-([1-9]\d*))\]/y;
const PLACE = /^(?:0|[1-9]\d*)$/;

/** Each step from the end of an array may read all of the text once more. */
const MOST_STEPS = 100;

/** The steps from the whole value; none for the value itself. */
export function jsonPath(path: string | bigint): readonly JsonStep[] {
  if (typeof path === 'bigint') return [{ place: Number(path) }];
  if (path.startsWith('$')) return bounded(dollarPath(path));
  if (path.startsWith('/')) return bounded(path.slice(1).split('/').map(pointerStep));
  return [{ name: path }];
}

function bounded(steps: readonly JsonStep[]): readonly JsonStep[] {
  if (steps.length <= MOST_STEPS) return steps;
  throw new DirspaceError(
    'InvalidInput',
    `A JSON path has ${steps.length} steps, and may have ${MOST_STEPS}. Take the value in two parts, as in (x -> 'path') -> 'path'.`,
  );
}

function dollarPath(path: string): readonly JsonStep[] {
  const steps: JsonStep[] = [];
  for (let at = 1; at < path.length; at = MEMBER.lastIndex) {
    MEMBER.lastIndex = at;
    const found = MEMBER.exec(path);
    if (found === null) refusePath(path, at);
    const [, quoted, plain, place, fromEnd] = found;
    if (place !== undefined) steps.push({ place: Number(place) });
    else if (fromEnd !== undefined) steps.push({ place: -Number(fromEnd) });
    else steps.push({ name: plain ?? unquoted(quoted as string, path, at) });
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
  return PLACE.test(name) ? { name, place: Number(name) } : { name };
}

function refusePath(path: string, at: number): never {
  const rest = path.slice(at);
  const found = rest.includes('*')
    ? 'wildcards are not supported'
    : `"${rest.slice(0, 20)}" is neither .name, ."name", [0] nor [#-1]`;
  throw new DirspaceError(
    'InvalidInput',
    `The JSON path ${path.slice(0, 100)} is not known: ${found}`,
  );
}
