/**
 * `Kit` sends the calls of one case and records them, and creates fresh tables and namespaces for
 * it; `Run` is what all cases of a run share. Sometimes a case cannot be decided: an operation that
 * it needs does not work, or the server wants credentials or is overloaded. The case then ends with
 * `Undecided`. The assertions `same`, `holds`, `fails` and `refused` throw Mismatch, but `fails`
 * passes Unsupported on. `pagesOf` reads a list page by page, 20 pages at most unless told
 * otherwise.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { ERROR_KINDS, type ErrorCode, isDirspaceError, isError } from '../../errors.ts';
import { mediaType, type OperationName, type RequestOf } from '../../protocol/index.ts';
import { type Exchange, shown } from './exchange.ts';
import { countOf, rows } from './rows.ts';
import type { Answered, RawAnswer, RawInit, Target } from './target.ts';
import { Mismatch, type Stop, Undecided, WrongRefusal } from './verdict.ts';

/** What all cases of a run share. */
export interface Run {
  readonly target: Target;
  /** The namespace that everything is made in; the root where none could be made. */
  readonly home: readonly string[];
  /** Whether the operation has passed the first of its cases. */
  works(operation: OperationName): Promise<boolean>;
  /** Why the operation is not implemented, as the first of its cases found. */
  lacks(operation: OperationName): Promise<string | undefined>;
  /** Why it was not found out whether the operation works, where its case was kept from running. */
  keptFrom(operation: OperationName): Promise<Stop | undefined>;
  /** A name that no other case uses. */
  fresh(prefix: string): string;
  /** Every table that a case asked for, which may be where no list shows it. */
  readonly tables: string[][];
  /** Locations of tables that were deregistered, and are in the storage of the server still. */
  readonly detached: Set<string>;
  /** Ends the wait for the answer under way, some time after the run was interrupted. */
  readonly ended: AbortSignal;
  /** How many requests of an operation the server left without an answer until their time was over. */
  readonly late: Map<OperationName, number>;
  /** Whether the run goes on. @throws Undecided where it was interrupted */
  proceed(): void;
  /** Whether the server answers no more, which is asked after a request that had no answer. */
  isGone(operation: OperationName): Promise<boolean>;
}

/** An operation with so many requests that no answer came to in time is asked no more. */
const MOST_LATE = 3;

const MAKES_TABLE: ReadonlySet<OperationName> = new Set([
  'CreateTable',
  'DeclareTable',
  'RegisterTable',
]);

export class Kit {
  readonly exchanges: Exchange[] = [];
  readonly #run: Run;
  readonly #subject: OperationName;

  constructor(run: Run, subject: OperationName) {
    this.#run = run;
    this.#subject = subject;
  }

  /** A name in the namespace of the run that nothing has. */
  id(prefix: string): string[] {
    return [...this.#run.home, this.#run.fresh(prefix)];
  }

  name(prefix: string): string {
    return this.#run.fresh(prefix);
  }

  get home(): readonly string[] {
    return this.#run.home;
  }

  /** @throws Undecided where the operation was not shown to work */
  async needs(operation: OperationName): Promise<void> {
    if (operation === this.#subject || (await this.#run.works(operation))) return;
    const kept = await this.#run.keptFrom(operation);
    if (kept !== undefined) throw new Undecided('not run', kept.reason, kept.cause);
    throw new Undecided(
      'not decidable',
      `${operation} is needed for this check and was not shown to work.`,
    );
  }

  works(operation: OperationName): Promise<boolean> {
    return this.#run.works(operation);
  }

  async call<Op extends OperationName>(
    operation: Op,
    request: RequestOf<Op>,
    data?: RecordBatchStream,
  ): Promise<Answered<Op>> {
    await this.needs(operation);
    const { id, location } = request as { readonly id?: string[]; readonly location?: string };
    if (id !== undefined && MAKES_TABLE.has(operation)) this.#run.tables.push(id);
    try {
      const answer = await this.#ask(operation, request, data);
      if (operation === 'RegisterTable' && location) this.#run.detached.delete(location);
      if (operation === 'DeregisterTable') {
        const left = (answer as Answered<'DeregisterTable'>).location;
        if (left) this.#run.detached.add(left);
      }
      return answer;
    } catch (error) {
      if (operation === this.#subject || error instanceof Undecided) throw error;
      const why = isError(error) ? error.message : String(error);
      throw new Undecided('not decidable', `${operation}, which the check needs, failed: ${why}`);
    }
  }

  /** Sends a request as it is. @throws Undecided where the target is no server */
  async send(method: 'GET' | 'POST', path: string, init: RawInit = {}): Promise<RawAnswer> {
    const { send } = this.#run.target;
    if (send === undefined) {
      const why = 'The check is about HTTP, and the target is no server.';
      throw new Undecided('not run', why, 'no server');
    }
    // A server without the operation answers a malformed request as it does a sound one.
    const lacking = await this.#run.lacks(this.#subject);
    if (lacking !== undefined) throw new Undecided('not implemented', lacking);
    this.#proceed(this.#subject);
    const { ended } = this.#run;
    const asked = send(this.#subject, method, path, init, this.#record, ended);
    const answer = await asked.catch((error) => this.#notJudged(this.#subject, error));
    const why = notJudged(answer.status);
    if (why === undefined) return answer;
    const reason = `${this.#subject} was answered with status ${answer.status}`;
    throw new Undecided('not run', explain(why, reason), why);
  }

  readonly #record = (exchange: Exchange): void => void this.exchanges.push(exchange);

  async #ask<Op extends OperationName>(
    operation: Op,
    request: RequestOf<Op>,
    data?: RecordBatchStream,
  ): Promise<Answered<Op>> {
    this.#proceed(operation);
    return this.#run.target
      .call(operation, request, data, this.#record, this.#run.ended)
      .catch((error) => this.#notJudged(operation, error));
  }

  /** @throws Undecided where the run was interrupted, or the operation goes without answers */
  #proceed(operation: OperationName): void {
    this.#run.proceed();
    if ((this.#run.late.get(operation) ?? 0) < MOST_LATE) return;
    const why = `the server left ${MOST_LATE} requests of ${operation} unanswered`;
    throw new Undecided('not run', why, 'unanswered');
  }

  /** @throws Undecided where the answer, or that there is none, says nothing about the operation */
  async #notJudged(operation: OperationName, error: unknown): Promise<never> {
    if (!isDirspaceError(error)) throw error;
    const { status = error.status, unanswered = false, late = false } = error.details;
    if (unanswered) {
      // The run was interrupted: that is not the server's fault.
      this.#run.proceed();
      if (late) this.#run.late.set(operation, (this.#run.late.get(operation) ?? 0) + 1);
      // A request that a server breaks off, and goes on without, is answered wrongly.
      if (!(await this.#run.isGone(operation))) throw error;
      throw new Undecided('not run', error.message, 'unanswered');
    }
    const why = notJudged(Number(status));
    if (why === undefined) throw error;
    throw new Undecided('not run', explain(why, error.message), why);
  }

  /** The id of a new namespace. */
  async namespace(properties?: Record<string, string>): Promise<string[]> {
    const id = this.id('ns');
    await this.call('CreateNamespace', { id, ...(properties && { properties }) });
    return id;
  }

  /** The id of a new table of `count` rows, whose ids begin at 0. */
  async table(count = 3): Promise<string[]> {
    const id = this.id('t');
    await this.call('CreateTable', { id, mode: 'Create' }, rows(count));
    return id;
  }

  /** The id of a new entry of the catalog: a table, or only the declaration of one. */
  async entry(id = this.id('t')): Promise<string[]> {
    const declares = !(await this.#can('CreateTable'));
    if (declares) await this.call('DeclareTable', { id });
    else await this.call('CreateTable', { id, mode: 'Create' }, rows(1));
    return id;
  }

  /** How many rows a table has, as CountTableRows or else QueryTable tells. */
  async count(id: string[], where: { version?: number; branch?: string } = {}): Promise<number> {
    if (await this.#can('CountTableRows')) {
      return (await this.call('CountTableRows', { id, ...where })).count;
    }
    return countOf(await this.call('QueryTable', { id, ...where, k: 1000, vector: {} }));
  }

  /** The number of the newest version. */
  async version(id: string[]): Promise<number> {
    const { versions } = await this.call('ListTableVersions', { id, descending: true });
    const newest = versions[0]?.version;
    if (newest !== undefined) return newest;
    throw new Undecided(
      'not decidable',
      'ListTableVersions lists no version of a table with rows.',
    );
  }

  /** Whether an object is there, told by the first of the operations that was shown to work. */
  async isThere(kind: 'table' | 'namespace', id: string[]): Promise<boolean> {
    const [exists, describes] =
      kind === 'table'
        ? (['TableExists', 'DescribeTable'] as const)
        : (['NamespaceExists', 'DescribeNamespace'] as const);
    const operation = (await this.#can(exists)) ? exists : describes;
    await this.needs(operation);
    try {
      await this.#ask(operation, { id });
      return true;
    } catch (error) {
      if (error instanceof Undecided) throw error;
      if (isDirspaceError(error) && error.code.endsWith('NotFound')) return false;
      const why = isError(error) ? error.message : String(error);
      throw new Undecided('not decidable', `${operation}, which the check needs, failed: ${why}`);
    }
  }

  async #can(operation: OperationName): Promise<boolean> {
    return operation === this.#subject || (await this.#run.works(operation));
  }
}

/** Answers that are about the caller, or about the moment, and not about the operation. */
function notJudged(status: number): 'credentials' | 'unanswered' | undefined {
  if (status === 401 || status === 403) return 'credentials';
  return status === 503 || status === 429 ? 'unanswered' : undefined;
}

const explain = (why: 'credentials' | 'unanswered', reason: string): string =>
  why === 'credentials'
    ? `needs credentials: ${reason}`
    : `the server asks to come again, however often it is asked: ${reason}`;

/** More pages than any of the cases has names: a server that ignores tokens is asked no longer. */
const MOST_PAGES = 20;
/** Pages of a list that has names of others too. */
export const PAGES_OF_ALL = 10_000;
/** A server may give the same token again while its pages go on, but one that ignores tokens does so for ever. */
const MOST_REPEATS = 100;

/**
 * The pages of a list, to its end or to `most` of them: a server may make them smaller than it was asked
 * for, and has to say so by a token.
 */
export async function pagesOf<Page extends { readonly page_token?: string | null } | undefined>(
  ask: (page: { readonly page_token?: string }) => Promise<Page>,
  isEnough: (page: Page) => boolean = () => false,
  most = MOST_PAGES,
): Promise<Page[]> {
  const pages: Page[] = [];
  let page_token: string | undefined;
  let repeats = 0;
  do {
    const page = await ask(page_token === undefined ? {} : { page_token });
    pages.push(page);
    const next = isEnough(page) ? undefined : page?.page_token || undefined;
    repeats = next === page_token ? repeats + 1 : 0;
    page_token = next;
  } while (page_token !== undefined && pages.length < most && repeats < MOST_REPEATS);
  return pages;
}

/** Throws Mismatch unless the two are the same as JSON. */
export function same(what: string, got: unknown, expected: unknown): void {
  const [left, right] = [shown(got), shown(expected)];
  if (left !== right) throw new Mismatch(`${what} ${right}`, left);
}

/** Throws Mismatch unless the condition holds. */
export function holds(what: string, condition: boolean, got: unknown): void {
  if (!condition) throw new Mismatch(what, shown(got));
}

/** Where the protocol contradicts itself on a status, either is taken. */
const OTHER_STATUSES: Partial<Record<ErrorCode, readonly number[]>> = {
  NamespaceNotEmpty: [400],
  // "Returns 400" for a column that is not there, and 404 for "the specified resource".
  TableColumnNotFound: [404],
};

function statusesOf(code: ErrorCode, operation: unknown): readonly number[] {
  const listed = [ERROR_KINDS[code].status, ...(OTHER_STATUSES[code] ?? [])];
  // "Fail (default): the server must return 400 indicating the namespace to drop does not exist", and
  // the list of its answers has 404.
  const drops = code === 'NamespaceNotFound' && operation === 'DropNamespace';
  return drops ? [...listed, 400] : listed;
}

/**
 * "Usually serves application/json content, although in some cases simple text/plain content might be
 * returned by the server's middleware": of a bad request, 400, alone. All other errors have a body with
 * the required "code".
 */
const mayBePlain = (codes: readonly ErrorCode[], status: unknown, operation: unknown): boolean =>
  status === 400 && codes.some((code) => statusesOf(code, operation).includes(400));

/**
 * Throws Mismatch unless `work` fails with one of the codes, and with the status that goes with it.
 * Unsupported passes through: it decides nothing about the case.
 */
export async function fails(work: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  const expected = codes.map(describeCode).join(', or ');
  let answer: unknown;
  try {
    answer = await work;
  } catch (error) {
    if (!isDirspaceError(error) || error.code === 'Unsupported') throw error;
    const { status = error.status, codeMissing, isPlain, operation, unanswered } = error.details;
    if (unanswered === true) throw error;
    if (isPlain === true && mayBePlain(codes, status, operation)) return;
    const fits = codes.some(
      (one) =>
        ERROR_KINDS[one].number === error.number &&
        statusesOf(one, operation).includes(Number(status)),
    );
    if (fits && codeMissing === undefined) return;
    const number = codeMissing === undefined ? `code ${error.number}` : 'no code';
    throw new WrongRefusal(expected, `${number} with status ${String(status)}: ${error.message}`);
  }
  throw new Mismatch(expected, `success: ${shown(answer)}`);
}

const describeCode = (code: ErrorCode): string =>
  `code ${ERROR_KINDS[code].number} (${code}) with status ${ERROR_KINDS[code].status}`;

/** Throws Mismatch unless the answer is a refusal with status 400 and an error body, or plain text. */
export function refused({ status, type, json }: RawAnswer): void {
  same('status', status, 400);
  if (mediaType(type) === 'text/plain') return;
  const { code } = (json ?? {}) as { code?: unknown };
  holds('an error body with an integer "code"', Number.isInteger(code), json);
}
