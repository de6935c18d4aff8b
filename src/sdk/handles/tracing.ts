/**
 * `observed` wraps a catalog if the program gave a tracer or asked for metrics (metrics.ts);
 * without both it returns the catalog as it is. With a tracer, each operation is a span from its
 * call to its answer, or to the end of its rows. The call carries the span's trace context for a
 * remote catalog, unless the caller gave one. An error of the tracer does not fail the operation.
 * No package of OpenTelemetry is imported.
 */
import type { RecordBatch, RecordBatchStream } from '../../arrow/index.ts';
import { type Env, elapsed } from '../../env.ts';
import { isDirspaceError, isError } from '../../errors.ts';
import {
  type AnyOperation,
  type CallOptions,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  formatId,
  methodName,
} from '../../protocol/index.ts';
import type { Catalog } from './implementations.ts';

/** The methods of an OpenTelemetry span that are called here. */
export interface SpanLike {
  setAttribute(name: string, value: string | number | boolean): unknown;
  recordException(error: { name: string; message: string; stack?: string }): void;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
  spanContext(): {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
  };
}

/** The method of an OpenTelemetry tracer that is called here. */
export interface TracerLike {
  startActiveSpan<Result>(
    name: string,
    options: { kind: number; attributes: Record<string, string> },
    run: (span: SpanLike) => Result,
  ): Result;
}

/** What one operation came to. */
export interface Outcome {
  readonly operation: AnyOperation;
  readonly seconds: number;
  /** Rows of an answer of rows. */
  readonly rows: number;
  /** The error's code, or its name; undefined where the operation succeeded. */
  readonly error: string | undefined;
}

/** Who is told of operations. */
export interface Observers {
  readonly tracer?: TracerLike | undefined;
  readonly record?: ((outcome: Outcome) => void) | undefined;
}

/** SpanKind of OpenTelemetry. */
const INTERNAL = 0;
const CLIENT = 2;
/** SpanStatusCode of OpenTelemetry. */
const FAILED = 2;

const OPERATIONS = new Map<PropertyKey, AnyOperation>(
  EVERY_OPERATION_NAMES.map((operation) => [methodName(operation), operation]),
);

type AnyMethod = (...given: unknown[]) => unknown;

/** The catalog, with each of its operations told to the observers, where there are any. */
export function observed(catalog: Catalog, { tracer, record }: Observers, env: Env): Catalog {
  if (tracer === undefined && record === undefined) return catalog;
  const kind = catalog.opensFiles === true ? INTERNAL : CLIENT;
  const methods = new Map<PropertyKey, AnyMethod>();
  const methodOf = (name: PropertyKey, method: AnyMethod): AnyMethod => {
    const operation = OPERATIONS.get(name);
    if (operation === undefined) return (...given) => method.apply(catalog, given);
    return (...given) => {
      const call = new ObservedCall(operation, record, env);
      if (tracer === undefined) return call.run(() => method.apply(catalog, given));
      const options = { kind, attributes: attributesOf(operation, given[0]) };
      let answer: Promise<unknown> | undefined;
      quietly(() =>
        tracer.startActiveSpan(`dirspace.${operation}`, options, (span) => {
          answer ??= call.run(() => method.apply(catalog, traced(operation, given, span)), span);
          return answer;
        }),
      );
      return answer ?? call.run(() => method.apply(catalog, given));
    };
  };
  return new Proxy(catalog, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      let method = methods.get(name);
      if (method === undefined) {
        method = methodOf(name, value as AnyMethod);
        methods.set(name, method);
      }
      return method;
    },
  });
}

function attributesOf(operation: AnyOperation, request: unknown): Record<string, string> {
  const { id } = (request ?? {}) as { readonly id?: readonly string[] };
  const named = id === undefined || id.length === 0 ? {} : { 'db.collection.name': formatId(id) };
  return { 'db.system.name': 'dirspace', 'db.operation.name': operation, ...named };
}

/** The arguments with the span as the trace that a remote catalog is told of, unless the caller names one. */
function traced(operation: AnyOperation, given: unknown[], span: SpanLike): unknown[] {
  const at = EVERY_OPERATION[operation].body === 'arrow-stream' ? 2 : 1;
  const options = (given[at] ?? {}) as CallOptions;
  let context: ReturnType<SpanLike['spanContext']> | undefined;
  quietly(() => {
    context = span.spanContext();
  });
  if (context === undefined) return given;
  const { traceId, spanId, traceFlags } = context;
  if (options.traceContext !== undefined || !/^[0-9a-f]{32}$/.test(traceId)) return given;
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  const traceContext = { traceparent: `00-${traceId}-${spanId}-${flags}` };
  return [
    ...given.slice(0, at),
    ...Array(Math.max(0, at - given.length)),
    { ...options, traceContext },
  ];
}

/** One call, which ends once. */
class ObservedCall {
  readonly #operation: AnyOperation;
  readonly #record: Observers['record'];
  readonly #env: Env;
  readonly #began: number;
  #rows = 0;
  #ended = false;

  constructor(operation: AnyOperation, record: Observers['record'], env: Env) {
    this.#operation = operation;
    this.#record = record;
    this.#env = env;
    this.#began = elapsed(env);
  }

  async run(call: () => unknown, span?: SpanLike): Promise<unknown> {
    try {
      const answer = await call();
      if (EVERY_OPERATION[this.#operation].answer === 'arrow-file') {
        return this.#rowsOf(answer as RecordBatchStream, span);
      }
      const { version } = (answer ?? {}) as { readonly version?: unknown };
      if (typeof version === 'number')
        quietly(() => span?.setAttribute('dirspace.version', version));
      this.#end(span);
      return answer;
    } catch (error) {
      this.#end(span, error);
      throw error;
    }
  }

  /** The call ends with its rows, or once nobody wants more of them. */
  #rowsOf(stream: RecordBatchStream, span: SpanLike | undefined): RecordBatchStream {
    const batches = (): AsyncIterator<RecordBatch> => {
      const inner = stream[Symbol.asyncIterator]();
      const step = async (next: () => Promise<IteratorResult<RecordBatch>>) => {
        try {
          const result = await next();
          if (result.done === true) this.#end(span);
          else this.#rows += result.value.numRows;
          return result;
        } catch (error) {
          this.#end(span, error);
          throw error;
        }
      };
      return {
        next: () => step(() => inner.next()),
        return: () =>
          step(async () => (await inner.return?.()) ?? { done: true, value: undefined }),
      };
    };
    return Object.assign(Object.create(stream) as RecordBatchStream, {
      [Symbol.asyncIterator]: batches,
    });
  }

  #end(span: SpanLike | undefined, failure?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const isRows = EVERY_OPERATION[this.#operation].answer === 'arrow-file';
    const error = failure === undefined ? undefined : nameOf(failure);
    const seconds = (elapsed(this.#env) - this.#began) / 1_000;
    quietly(() => this.#record?.({ operation: this.#operation, seconds, rows: this.#rows, error }));
    if (span === undefined) return;
    if (isRows) quietly(() => span.setAttribute('db.response.returned_rows', this.#rows));
    if (failure !== undefined) {
      const { name, message, stack } = asError(failure);
      quietly(() =>
        span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) }),
      );
      quietly(() => span.setAttribute('error.type', error as string));
      quietly(() => span.setStatus({ code: FAILED, message }));
    }
    quietly(() => span.end());
  }
}

/** What an observer throws is no fault of the operation, which may be done: a warning is given once. */
function quietly(tell: () => unknown): void {
  try {
    const told = tell();
    // The answer of a span's function is answered by the call.
    if (told instanceof Promise) told.catch(() => {});
  } catch (error) {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning(
      `A tracer given to connect() threw, and the operation goes on: ${asError(error).message}. Further errors of tracers are not shown.`,
      { type: 'DirspaceWarning', code: 'DIRSPACE_TRACER' },
    );
  }
}

let hasWarned = false;

const asError = (failure: unknown): Error =>
  isError(failure) ? failure : new Error(String(failure));

const nameOf = (failure: unknown): string =>
  isDirspaceError(failure) ? failure.code : asError(failure).name;
