/**
 * `JSON_CALLS` maps the functions of texts that hold JSON, json_extract and its like, and the
 * operators `->` and `->>`, to the code that binds their calls. The path is a text, or a whole
 * number for the place of an item; a constant path is parsed here, so that a wrong one throws
 * InvalidInput before any row is read, and one with `*` gives a list. NULL gives NULL, and other arguments that do not fit throw
 * InvalidInput.
 */
import type { DataType } from '../../arrow/index.ts';
import { isOfSeveral, JSON_FUNCTIONS, JSON_LISTS, jsonPath } from '../json/index.ts';
import { checked, refuse } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  coerce,
  describe,
  familyOf,
  INT64,
  listOf,
  literal,
  locationOf,
  type RowFunction,
  settle,
  UTF8,
} from '../typed/index.ts';
import { argument, call } from './bind-arguments.ts';

type Binding = (args: readonly Bound[], at: number | undefined) => Bound;

/** @param paths the least and the most number of paths */
function bindJson(name: string, type: DataType, [least, most]: readonly [number, number]): Binding {
  return (args, at) => {
    const [given, path] = args;
    if (given === undefined || args.length < 1 + least || args.length > 1 + most) {
      const takes =
        most === 0
          ? 'one text'
          : least === 0
            ? 'a text and a path, or a text alone'
            : 'a text and a path';
      return refuse(at, `${name} takes ${takes}, not ${args.length} arguments`);
    }
    const text = argument(name, given, 't', at);
    const typed = path === undefined ? [text] : [text, bindPath(name, path, at)];
    const [answer, functions] = isOfLists(typed[1])
      ? [listOf(type), JSON_LISTS]
      : [type, JSON_FUNCTIONS];
    if (typed.some((arg) => familyOf(arg.type) === 'null')) return literal(answer, null, at);
    return call(functions[name] as RowFunction, typed, answer);
  };
}

function bindPath(name: string, given: Bound, at: number | undefined): Bound {
  const family = familyOf(given.type);
  if (family === 'null') return given;
  if (family === 'int') return coerce(given, INT64, 'explicit');
  if (family !== 'text') {
    refuse(
      locationOf(given) ?? at,
      `${name} takes a path, which is a text or a whole number, not ${describe(given)}`,
    );
  }
  const path = settle(given);
  if (path.kind === 'literal') checked(path.at ?? at, () => jsonPath(String(path.value)));
  return path;
}

/** Whether a path, which was checked, is a constant of several values: there is a list of them. */
const isOfLists = (path: Bound | undefined): boolean =>
  path?.kind === 'literal' &&
  familyOf(path.type) === 'text' &&
  isOfSeveral(jsonPath(String(path.value)));

export const JSON_CALLS: Readonly<Record<string, Binding>> = {
  json_extract: bindJson('json_extract', UTF8, [1, 1]),
  '->': bindJson('->', UTF8, [1, 1]),
  json_extract_string: bindJson('json_extract_string', UTF8, [1, 1]),
  '->>': bindJson('->>', UTF8, [1, 1]),
  json_type: bindJson('json_type', UTF8, [0, 1]),
  json_array_length: bindJson('json_array_length', INT64, [0, 1]),
  json_keys: bindJson('json_keys', listOf(UTF8), [0, 1]),
  json_valid: bindJson('json_valid', BOOL, [0, 0]),
};
