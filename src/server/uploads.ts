/**
 * `Uploads` takes inserts whose rows come in several requests, called parts: `begin` and `find` an
 * upload, which takes parts (`take`) until `complete` or `abort`. One call of InsertIntoTable
 * begins with the first part and reads the record batches of all parts from a channel, so they
 * become one version when the upload is completed. An upload belongs to one caller, table and
 * branch; to others it is unknown (InvalidInput). An upload without new parts ends after
 * `uploadIdleMs`, without a version. More than `maxUploads` at once, or more than one caller's
 * share of them, throw Throttling; more than `maxArrowBytes` in one throw PayloadTooLarge.
 */
import { type RecordBatchStream, type Schema, schemasEqual } from '../arrow/index.ts';
import type { Env } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import type { InsertIntoTableResponse } from '../protocol/index.ts';
import { BatchChannel } from './batch-channel.ts';
import type { Limits } from './settings/index.ts';

/** The caller, table and branch that an upload belongs to. */
export interface UploadScope {
  readonly caller: string;
  /** Names catalog and table, and nothing else does. */
  readonly table: string;
  readonly branch: string | undefined;
}

/** Rows of one request of an upload. */
export interface UploadPart {
  readonly id: string;
  /** In lower case. */
  readonly mode: string;
  /** @param count to be told of bytes as they are read; throws PayloadTooLarge */
  readonly open: (count: (bytes: number) => void) => Promise<RecordBatchStream>;
  /** Told when some of the rows were taken. */
  readonly moved: () => void;
  /** Begins the insert, for the first part that has a schema. */
  readonly insert: (
    rows: RecordBatchStream,
    signal: AbortSignal,
  ) => Promise<InsertIntoTableResponse>;
}

/** Uploads that ended and are remembered; those that ended first are forgotten. */
const MOST_ENDED = 1_000;
/** Parts of one upload: their ids are remembered. */
const MOST_PARTS = 10_000;

type UploadLimits = Pick<
  Required<Limits>,
  'maxUploads' | 'callerShare' | 'uploadIdleMs' | 'maxArrowBytes'
>;

export class Uploads {
  readonly #limits: UploadLimits;
  readonly #env: Env;
  readonly #uploads = new Map<string, Upload>();
  #closed: unknown;

  constructor(limits: UploadLimits, env: Env) {
    this.#limits = limits;
    this.#env = env;
  }

  /** The id of a new upload. @throws Throttling */
  begin(scope: UploadScope): string {
    if (this.#closed !== undefined) throw this.#closed;
    const { maxUploads, callerShare } = this.#limits;
    const open = [...this.#uploads.values()].filter((upload) => upload.isOpen);
    const own = open.filter((upload) => upload.scope.caller === scope.caller);
    if (open.length >= maxUploads || own.length >= Math.ceil(maxUploads * callerShare)) {
      throw new DirspaceError(
        'Throttling',
        `There are ${open.length} inserts in parts under way, ${own.length} of them of this caller; the server takes ${maxUploads} (maxUploads). Complete or abort one of them, or try again later.`,
        { details: { limit: 'maxUploads' } },
      );
    }
    for (const [known, { isOpen }] of this.#uploads) {
      if (this.#uploads.size - open.length < MOST_ENDED) break;
      if (!isOpen) this.#uploads.delete(known);
    }
    const id = this.#env.uuid();
    const forget = (): void => {
      this.#uploads.delete(id);
    };
    this.#uploads.set(id, new Upload(id, scope, this.#limits, forget));
    return id;
  }

  /** @throws InvalidInput where this caller has none of that id for this table and branch */
  find(id: string, scope: UploadScope): Upload {
    const upload = this.#uploads.get(id);
    if (upload !== undefined && isSame(upload.scope, scope)) return upload;
    throw new DirspaceError(
      'InvalidInput',
      `There is no insert in parts ${JSON.stringify(id.slice(0, 80))} of this table and branch: it was aborted, stood still for longer than ${this.#limits.uploadIdleMs} ms, or the server was started anew. Begin another one; nothing of it is in the table.`,
      { details: { member: 'upload_id' } },
    );
  }

  /** Ends all of them; resolves when what they wrote has been removed. */
  async close(reason: unknown): Promise<void> {
    this.#closed = reason;
    await Promise.all([...this.#uploads.values()].map((upload) => upload.abort(reason)));
  }
}

const isSame = (one: UploadScope, other: UploadScope): boolean =>
  one.caller === other.caller && one.table === other.table && one.branch === other.branch;

class Upload {
  readonly scope: UploadScope;
  readonly #id: string;
  readonly #limits: UploadLimits;
  readonly #forget: () => void;
  readonly #aborting = new AbortController();
  /** Parts by their ids: whether all of their rows were taken. */
  readonly #parts = new Map<string, boolean>();
  #mode: string | undefined;
  #channel: BatchChannel | undefined;
  #work: Promise<InsertIntoTableResponse> | undefined;
  #state: 'open' | 'completing' | 'ended' = 'open';
  #failure: { readonly error: unknown } | undefined;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string, scope: UploadScope, limits: UploadLimits, forget: () => void) {
    this.#id = id;
    this.scope = scope;
    this.#limits = limits;
    this.#forget = forget;
    this.#wait();
  }

  get isOpen(): boolean {
    return this.#state !== 'ended';
  }

  /** Counts bytes of parts. @throws PayloadTooLarge */
  #count(bytes: number): void {
    this.#bytes += bytes;
    const { maxArrowBytes: most } = this.#limits;
    if (this.#bytes <= most) return;
    throw new DirspaceError(
      'PayloadTooLarge',
      `The parts of the insert are larger than ${most} bytes together (maxArrowBytes). Insert the rows in several versions.`,
      { details: { limit: 'maxArrowBytes', maxArrowBytes: most } },
    );
  }

  /**
   * Takes the rows of a part, and answers how many there were; 0 for one that was taken before. A
   * part that breaks off after some of its rows were taken ends the upload.
   */
  async take(part: UploadPart): Promise<number> {
    this.#checkOpen();
    const known = this.#parts.get(part.id);
    if (known === true) return 0;
    this.#checkPart(part, known === false);
    this.#parts.set(part.id, false);
    clearTimeout(this.#timer);
    let rows = 0;
    let bytes = 0;
    let channel: BatchChannel | undefined;
    const count = (more: number): void => {
      bytes += more;
      this.#count(more);
    };
    try {
      const stream = await part.open(count);
      if (this.#channel !== undefined) this.#begin(stream.schema, part);
      for await (const batch of stream) {
        // Not before: a part that breaks off at once must not say what the others are.
        channel ??= this.#begin(stream.schema, part);
        await channel.send(batch);
        rows += batch.numRows;
        part.moved();
      }
      if (channel === undefined) this.#begin(stream.schema, part);
      this.#parts.set(part.id, true);
      return rows;
    } catch (error) {
      this.#parts.delete(part.id);
      // What the insert has cannot be taken from it again.
      if (channel !== undefined) this.#fail(error);
      // It may be sent again.
      else this.#bytes -= bytes;
      throw this.#failure?.error ?? error;
    } finally {
      if (![...this.#parts.values()].includes(false)) this.#wait();
    }
  }

  /** Makes all parts one version. Asked again, it answers the same. */
  async complete(): Promise<InsertIntoTableResponse> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const work = this.#work;
    if (this.#state === 'open' && [...this.#parts.values()].includes(false)) {
      throw this.#wrong('has a part that is still on its way. Complete it when all were answered.');
    }
    if (work === undefined || (this.#state === 'open' && this.#parts.size === 0)) {
      throw this.#wrong('has no parts yet. Send some, or abort it.');
    }
    if (this.#state === 'open') {
      this.#state = 'completing';
      clearTimeout(this.#timer);
      this.#channel?.end();
    }
    return await work;
  }

  /** Ends it without a version; resolves when what it wrote has been removed. @throws InvalidInput */
  async abort(reason?: unknown): Promise<void> {
    if (this.#state === 'open') {
      this.#fail(reason ?? this.#wrong('was aborted. Nothing of it is in the table.'));
    }
    const done = await this.#work?.catch(() => undefined);
    if (done !== undefined && reason === undefined) {
      throw this.#wrong(`is complete: its rows are in version ${done.version}. Delete them there.`);
    }
    clearTimeout(this.#timer);
    this.#forget();
  }

  #checkOpen(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#state !== 'open')
      throw this.#wrong('is complete, or being completed: it takes no more parts.');
  }

  #checkPart({ id, mode }: UploadPart, isArriving: boolean): void {
    if (isArriving) {
      throw this.#wrong(`has a part ${JSON.stringify(id.slice(0, 80))} that is still on its way.`);
    }
    if (this.#mode !== undefined && this.#mode !== mode) {
      throw this.#wrong(`has parts of mode ${this.#mode}; this one has mode ${mode}.`);
    }
    if (this.#parts.size >= MOST_PARTS) {
      throw this.#wrong(`has ${MOST_PARTS} parts, which is the most. Send larger ones.`);
    }
  }

  /** Begins the insert where this is the first part. @throws InvalidInput for another schema */
  #begin(schema: Schema, part: UploadPart): BatchChannel {
    this.#checkOpen();
    const known = this.#channel;
    if (known !== undefined) {
      if (this.#mode !== part.mode) this.#checkPart(part, false);
      if (schemasEqual(known.schema, schema, { metadata: true })) return known;
      throw this.#wrong(
        `has parts of other columns. All of them have one schema: ${named(known.schema)}; this one has ${named(schema)}.`,
      );
    }
    const channel = new BatchChannel(schema);
    this.#channel = channel;
    this.#mode = part.mode;
    const work = part.insert(channel, this.#aborting.signal);
    this.#work = work;
    work.then(
      () => this.#ended(undefined),
      (error: unknown) => this.#ended({ error }),
    );
    return channel;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#aborting.abort(error);
    this.#channel?.fail(error);
    if (this.#work === undefined) this.#ended(this.#failure);
  }

  /** What became of it is told for a while, and what was to be read of it is not. */
  #ended(failure: { readonly error: unknown } | undefined): void {
    this.#state = 'ended';
    this.#failure ??= failure;
    this.#parts.clear();
    this.#channel?.fail(failure?.error ?? this.#wrong('is complete: it takes no more parts.'));
    this.#wait();
  }

  /** Begins the time after which an upload without new parts ends. */
  #wait(): void {
    clearTimeout(this.#timer);
    const { uploadIdleMs } = this.#limits;
    if (uploadIdleMs === 0 || this.#state === 'completing') return;
    const late = (): void => {
      if (this.#state === 'ended') this.#forget();
      else
        this.#fail(
          this.#wrong(
            `stood still for longer than ${uploadIdleMs} ms (uploadIdleMs) and was ended. Nothing of it is in the table.`,
          ),
        );
    };
    this.#timer = setTimeout(late, uploadIdleMs).unref();
  }

  #wrong(what: string): DirspaceError {
    return new DirspaceError('InvalidInput', `The insert in parts ${this.#id} ${what}`, {
      details: { member: 'upload_id' },
    });
  }
}

const named = ({ fields }: Schema): string =>
  fields
    .map(({ name, type }) => `${name} ${String(type)}`)
    .join(', ')
    .slice(0, 300);
