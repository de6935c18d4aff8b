/**
 * `listedIndexes` lists the indexes of a table, with the paths of their columns spelt as LanceDB's
 * clients look them up in the schema. A name that contains a dot or a backtick stands in backticks.
 * If such a client does not find a path in the schema, its whole list fails.
 */
import type { JsonArrowField, Model } from '../../protocol/index.ts';
import type { Call, Caller } from '../auth/index.ts';

export async function listedIndexes(
  asked: Call<'ListTableIndices'>,
  caller: Caller,
): Promise<Model<'ListTableIndicesResponse'>> {
  const listed = await caller(asked);
  if (!listed.indexes.some(({ columns }) => columns.some(mayNeedQuotes))) return listed;
  const { id, version, branch } = asked.request;
  const { schema } = await caller({
    operation: 'DescribeTable',
    request: {
      load_detailed_metadata: true,
      ...(id === undefined ? {} : { id }),
      ...(version === undefined ? {} : { version }),
      ...(branch === undefined ? {} : { branch }),
    },
    options: asked.options,
  });
  const fields = schema?.fields ?? [];
  const indexes = listed.indexes.map(({ columns, ...index }) => ({
    ...index,
    columns: columns.map((path) => quotedPath(fields, path) ?? path),
  }));
  return { ...listed, indexes };
}

const mayNeedQuotes = (name: string): boolean => name.includes('.') || name.includes('`');

const quoted = (name: string): string =>
  mayNeedQuotes(name) ? `\`${name.replaceAll('`', '``')}\`` : name;

/** A name that holds the whole path goes before fields of structs, as it does where a path is given. */
function quotedPath(fields: readonly JsonArrowField[], path: string): string | undefined {
  if (fields.some(({ name }) => name === path)) return quoted(path);
  for (const { name, type } of fields) {
    if (!path.startsWith(`${name}.`)) continue;
    const below = quotedPath(type.fields ?? [], path.slice(name.length + 1));
    if (below !== undefined) return `${quoted(name)}.${below}`;
  }
  return undefined;
}
