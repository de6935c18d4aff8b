/**
 * Defines `Logger`, which receives a server's structured log lines. `RequestLog` removes the
 * secrets of one request from its lines: the texts of four characters and more that are passed to
 * `hide`, and texts under names such as `token`. A logger that throws does not fail the request.
 */
import { isDirspaceError, isError } from '../../errors.ts';

/** Members of one line; those named like secrets are redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

type Write = (fields: LogFields, message: string) => void;

/** Takes lines; a method that is absent takes none. */
export interface Logger {
  debug?: Write;
  info?: Write;
  warn?: Write;
  error?: Write;
}

export type LogLevel = keyof Logger;

const REDACTED = '[redacted]';
const SECRET_NAME = /authorization|api-?_?key|token|secret|password|cookie|credential/i;

/** Shorter strings are no secrets worth the name, and would tear words apart. */
const MIN_SECRET = 4;

/** A logger that knows the secrets of one request. */
export class RequestLog {
  readonly #logger: Logger;
  /** The longest first: a shorter one may be a part of it. */
  #secrets: string[] | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Whether anybody takes lines of that level. */
  takes(level: LogLevel): boolean {
    return this.#logger[level] !== undefined;
  }

  hide(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < MIN_SECRET) continue;
      this.#secrets ??= [];
      if (this.#secrets.includes(secret)) continue;
      this.#secrets.push(secret);
      this.#secrets.sort((one, other) => other.length - one.length);
    }
  }

  write(level: LogLevel, fields: LogFields, message: string): void {
    const write = this.#logger[level];
    if (write === undefined) return;
    const shown = Object.fromEntries(
      Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, this.#redact(value, name)]),
    );
    try {
      write.call(this.#logger, shown, this.#text(message));
    } catch {
      // A log that cannot be written, such as on a full disk, must not fail a request.
    }
  }

  #redact(value: unknown, name: string): unknown {
    if (typeof value === 'string') return SECRET_NAME.test(name) ? REDACTED : this.#text(value);
    if (isError(value)) return this.#error(value, 0);
    if (Array.isArray(value)) return value.map((item) => this.#redact(item, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#redact(item, key)]),
    );
  }

  #error(error: Error, depth: number): LogFields {
    const { cause } = error;
    return {
      name: error.name,
      message: this.#text(error.message),
      ...(isDirspaceError(error) ? { code: error.code } : {}),
      ...(error.stack === undefined ? {} : { stack: this.#text(error.stack) }),
      ...(isError(cause) && depth < 4 ? { cause: this.#error(cause, depth + 1) } : {}),
    };
  }

  #text(text: string): string {
    let shown = text;
    for (const secret of this.#secrets ?? []) shown = shown.replaceAll(secret, REDACTED);
    return shown;
  }
}
