/**
 * `uploadRoutes` builds the routes of inserts in parts, which begin an upload, take a part of it,
 * make all parts one version, or abort it. Each checks again that the caller may insert into the
 * table. uploads.ts keeps the uploads in progress.
 */
import { DirspaceError } from '../errors.ts';
import { openArrowBody } from '../ipc/index.ts';
import { FORM_ROUTES, type InsertIntoTableResponse } from '../protocol/index.ts';
import { RequestMemory } from '../request-memory.ts';
import { type HttpAnswer, jsonAnswer, pauseOf, type Route } from './http/index.ts';
import { answerOperation, type Order, type Services } from './routes.ts';
import type { UploadScope } from './uploads.ts';

const STEPS = {
  create: FORM_ROUTES.BeginInsertInParts,
  part: FORM_ROUTES.InsertPart,
  complete: FORM_ROUTES.CompleteInsertInParts,
  abort: FORM_ROUTES.AbortInsertInParts,
} as const;

/** Ids of parts are kept until their upload has ended. */
const MOST_CHARACTERS = 255;

export const uploadRoutes = (services: Services): Route[] =>
  (['create', 'part', 'complete', 'abort'] as const).map((step) => ({
    method: STEPS[step].method,
    name: STEPS[step].operation,
    path: STEPS[step].path,
    answer: (http) => {
      const { upload_id: upload, upload_part_id: part } = http.query;
      return answerOperation(services, STEPS[step].operation, undefined, http, {
        route: STEPS[step],
        work: async (order) => {
          await order.permitted();
          const scope = scopeOf(order);
          if (step === 'create') return begun(services, order, scope);
          const found = services.uploads.find(text('upload_id', upload), scope);
          if (step === 'part') {
            const id = text('upload_part_id', part);
            const { mode = 'append' } = order.request as { readonly mode?: string };
            const { progress } = http.state;
            const memory = new RequestMemory(services.limits.requestMemory, services.serverMemory);
            const rows = await found
              .take({
                id,
                mode: mode.toLowerCase(),
                open: (count) =>
                  openArrowBody(counted(order, count), {
                    memory,
                    maxContentBytes: services.limits.maxArrowBytes,
                    pause: pauseOf(progress),
                  }),
                moved: () => progress.moved(),
                insert: (data, signal) =>
                  order.call(order.request, data, signal) as Promise<InsertIntoTableResponse>,
              })
              .finally(() => memory.giveBack(memory.taken));
            return jsonAnswer(200, {
              upload_id: upload,
              upload_part_id: id,
              num_inserted_rows: rows,
            });
          }
          if (step === 'abort') {
            await found.abort();
            return jsonAnswer(200, {});
          }
          const work = found.complete();
          http.state.hold(work);
          return jsonAnswer(200, await http.state.untimed(() => http.state.progress.race(work)));
        },
      });
    },
  }));

async function begun(services: Services, order: Order, scope: UploadScope): Promise<HttpAnswer> {
  const { id } = order.request as { readonly id?: unknown };
  // A table that is not there is told before anything is sent.
  await order.ask('TableExists', { id });
  return jsonAnswer(200, { upload_id: services.uploads.begin(scope) });
}

function scopeOf({ caller, table, request }: Order): UploadScope {
  const { branch, incarnation = '' } = request as { branch?: string; incarnation?: string };
  return {
    caller,
    table: `${table}\0${incarnation}`,
    branch: branch === 'main' ? undefined : branch,
  };
}

async function* counted(
  { pieces }: Order,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces ?? []) {
    count(piece.byteLength);
    yield piece;
  }
}

function text(name: string, value: string | readonly string[] | undefined): string {
  if (typeof value === 'string' && value !== '') {
    if (value.length <= MOST_CHARACTERS) return value;
    throw new DirspaceError(
      'InvalidInput',
      `The query parameter "${name}" has ${value.length} characters; it has at most ${MOST_CHARACTERS}.`,
      { details: { member: name } },
    );
  }
  const found = value === undefined || value === '' ? 'missing' : 'given more than once';
  throw new DirspaceError('InvalidInput', `The query parameter "${name}" is ${found}.`, {
    details: { member: name },
  });
}
