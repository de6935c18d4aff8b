/**
 * `removeWhatWasMade` removes the tables and namespaces that a run created. It registers
 * deregistered tables again and drops them, so that their files go. Failures are ignored, so
 * objects that cannot be removed stay.
 */
import type { OperationName, RequestOf } from '../../protocol/index.ts';
import { PAGES_OF_ALL, pagesOf, type Run } from './kit.ts';
import type { Answered } from './target.ts';

/** Deeper namespaces than the cases make are not theirs. */
const DEPTH = 6;

/** The pages of a list as far as they are answered. */
async function every<Page extends { readonly page_token?: string | null }>(
  ask: (page: { readonly page_token?: string }) => Promise<Page | undefined>,
): Promise<Page[]> {
  const pages = await pagesOf(
    async (page) => await ask(page),
    (page) => page === undefined,
    PAGES_OF_ALL,
  );
  return pages.filter((page) => page !== undefined);
}

/** Of a run in the root, only names that begin with `name` are its own. */
export async function removeWhatWasMade(
  { target, home, tables, detached, fresh }: Run,
  name: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ask = <Op extends OperationName>(
    operation: Op,
    request: RequestOf<Op>,
  ): Promise<Answered<Op> | undefined> =>
    target.call(operation, request, undefined, () => {}, signal).catch(() => undefined);

  const drop = async (id: string[]): Promise<void> => {
    const dropped = await ask('DropTable', { id });
    if (dropped === undefined) await ask('DeregisterTable', { id });
  };

  // No operation removes the files of a table that has no name: each gets one again.
  for (const location of detached) {
    const found = [...home, fresh('left')];
    const registered = await ask('RegisterTable', { id: found, location });
    if (registered !== undefined) await drop(found);
  }

  const sweep = async (id: string[], mine: (name: string) => boolean, depth: number) => {
    const lists = await every((page) => ask('ListTables', { id, ...page }));
    for (const table of lists.flatMap(({ tables }) => tables).filter(mine)) {
      await drop([...id, table]);
    }
    if (depth === 0) return;
    const below = await every((page) => ask('ListNamespaces', { id, ...page }));
    for (const inner of below.flatMap(({ namespaces }) => namespaces).filter(mine)) {
      await sweep([...id, inner], () => true, depth - 1);
      await ask('DropNamespace', { id: [...id, inner] });
    }
  };

  const id = [...home];
  const cascades = id.length > 0 && (await ask('DropNamespace', { id, behavior: 'Cascade' }));
  if (cascades) return;
  for (const table of tables) await drop(table);
  if (id.length === 0) return sweep([], (one) => one.startsWith(name), DEPTH);
  await sweep(id, () => true, DEPTH);
  await ask('DropNamespace', { id });
}
