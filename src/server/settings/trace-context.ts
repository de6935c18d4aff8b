/**
 * `traceOf` reads the W3C Trace Context headers of a request (level 2, `TRACE_HEADERS`), and builds
 * the headers to send on, with a new span id. It returns undefined if `traceparent` is missing or
 * malformed. A malformed `tracestate` is dropped, as the recommendation asks.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { TraceContext } from '../../protocol/index.ts';

export const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

/** The part that one server has in a trace. */
export interface Trace {
  /** 32 hexadecimal digits, those of the caller. */
  readonly traceId: string;
  /** 16 hexadecimal digits, new for each request: the parent of what is sent on. */
  readonly spanId: string;
  readonly context: TraceContext;
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** `sampled`, and `random` of level 2; flags that are not known are not sent on. */
const KNOWN_FLAGS = 0x03;

/** @param uuid makes a fresh UUID */
export function traceOf(headers: IncomingHttpHeaders, uuid: () => string): Trace | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId = '', parentId = '', flags = '', rest] = PARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  // Later versions may have more at their end, this one has not.
  if (version === '00' && rest !== undefined) return undefined;
  if (isZero(traceId) || isZero(parentId)) return undefined;
  const spanId = newSpanId(uuid());
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0');
  const state = stateOf(tracestate);
  return {
    traceId,
    spanId,
    context: {
      traceparent: `00-${traceId}-${spanId}-${known}`,
      ...(state === undefined ? {} : { tracestate: state }),
    },
  };
}

const isZero = (digits: string): boolean => /^0*$/.test(digits);

/** Made of digits that are random in every version of UUID. */
function newSpanId(uuid: string): string {
  const id = uuid.slice(0, 8) + uuid.slice(-8);
  return isZero(id) ? '0000000000000001' : id;
}

const MEMBER =
  /^([a-z0-9][a-z0-9_*/@-]{0,255})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MOST_MEMBERS = 32;

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/** Without blanks around it. A regular expression takes quadratic time for blanks inside. */
function trimmed(member: string): string {
  let from = 0;
  let to = member.length;
  while (from < to && isBlank(member[from])) from++;
  while (to > from && isBlank(member[to - 1])) to--;
  return member.slice(from, to);
}

function stateOf(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined;
  const members = header
    .split(',')
    .map(trimmed)
    .filter((member) => member !== '');
  if (members.length === 0 || members.length > MOST_MEMBERS) return undefined;
  const keys = new Set(members.map((member) => MEMBER.exec(member)?.[1]));
  return keys.size === members.length && !keys.has(undefined) ? members.join(',') : undefined;
}
