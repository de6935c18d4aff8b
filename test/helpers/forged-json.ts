/** JSON documents with one thing wrong, each in its turn. */
/** JSON texts that break assumptions, in the place of a value. */
const VALUES: readonly string[] = [
  ...[
    'null',
    'true',
    '-1',
    '1.5',
    '-0',
    '1e400',
    '1.0',
    '9007199254740993',
    '18446744073709551615',
  ],
  ...['""', '"x"', '"../../x"', '"\\u0000"', '"/etc"', '"\\ud800"', '[]', '{}', '[null]', '[[]]'],
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '[9007199254740992]',
  '[-1]',
  '[1e999]',
];
const KEYS: readonly string[] = ['__proto__', 'constructor', 'prototype', 'toString', '', '\u0000'];

/** The text with each value in turn replaced, each key renamed, each member twice. */
export function* rewrittenDocuments(
  text: string,
): Generator<readonly [what: string, text: string]> {
  const document = JSON.parse(text) as unknown;
  const paths: (readonly string[])[] = [];
  const collect = (value: unknown, path: readonly string[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key]);
  };
  collect(document, []);
  for (const path of paths) {
    for (const json of VALUES)
      yield [`${path.join('.')} = ${json}`, replaced(document, path, json)];
    for (const key of KEYS) {
      yield [`${path.join('.')} called ${key}`, replaced(document, path, undefined, key)];
    }
    yield [`${path.join('.')} missing`, replaced(document, path, undefined)];
    yield [`${path.join('.')} twice`, replaced(document, path, '7', path.at(-1))];
  }
}

/** JSON text built by hand: what is put in need not be a value that JSON.stringify would write. */
function replaced(
  value: unknown,
  path: readonly string[],
  json: string | undefined,
  renamed?: string,
): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [key, ...rest] = path;
  const parts: string[] = [];
  const isArray = Array.isArray(value);
  for (const [name, inner] of Object.entries(value)) {
    const label = isArray ? '' : `${JSON.stringify(name)}:`;
    if (name !== key) parts.push(label + JSON.stringify(inner));
    else if (rest.length > 0) parts.push(label + replaced(inner, rest, json, renamed));
    else if (renamed === undefined) parts.push(...(json === undefined ? [] : [label + json]));
    else if (json === undefined) parts.push(`${JSON.stringify(renamed)}:${JSON.stringify(inner)}`);
    else parts.push(label + JSON.stringify(inner), label + json);
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`;
}
