/** Spans and metrics of operations, as a program with OpenTelemetry gets them. */
import { types } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { connect, connectNamespace, type SpanLike, type TracerLike } from '../../src/index.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, string | number | boolean>;
  readonly exceptions: string[];
  status: { code: number; message?: string } | undefined;
  ended: number;
}

/** Keeps spans, as an exporter in memory does. */
function tracing() {
  const spans: Span[] = [];
  const tracer: TracerLike = {
    startActiveSpan(name, { kind, attributes }, run) {
      const span: Span = {
        name,
        kind,
        attributes: { ...attributes },
        exceptions: [],
        status: undefined,
        ended: 0,
      };
      spans.push(span);
      const id = spans.length.toString(16);
      const like: SpanLike = {
        setAttribute: (key, value) => {
          span.attributes[key] = value;
        },
        recordException: ({ name, message }) => span.exceptions.push(`${name}: ${message}`),
        setStatus: (status) => {
          span.status = status;
        },
        end: () => {
          span.ended++;
        },
        spanContext: () => ({
          traceId: id.padStart(32, 'a'),
          spanId: id.padStart(16, 'b'),
          traceFlags: 1,
        }),
      };
      return run(like);
    },
  };
  return { tracer, spans };
}

const rows = Array.from({ length: 5 }, (_, id) => ({ id }));

test('each operation is a span with its table, its rows, and how it ended', async () => {
  const { tracer, spans } = tracing();
  const db = await connect('/c', { fs: memoryFs(), tracer });
  await db.createNamespace(['n']);
  const table = await db.createTable('t', rows, ['n']);
  expect(await table.query().where('id > 1').toArray()).toHaveLength(3);
  expect(await table.countRows()).toBe(5);
  await expect(db.openTable('none')).rejects.toMatchObject({ code: 'TableNotFound' });
  const stream = table.query();
  for await (const batch of stream) if (batch.numRows > 0) break;
  await expect(table.query().where("CAST(concat('x', id) AS INT) = 1").toArray()).rejects.toThrow();
  await db.close();
  expect(spans.every(({ ended }) => ended === 1)).toBe(true);
  const of = (name: string) => spans.filter((span) => span.name === `dirspace.${name}`);
  expect(of('CreateTable')).toMatchObject([
    {
      kind: 0,
      attributes: {
        'db.system.name': 'dirspace',
        'db.operation.name': 'CreateTable',
        'db.collection.name': 'n$t',
        'dirspace.version': 1,
      },
      status: undefined,
    },
  ]);
  const [first, stopped, failed] = of('QueryTable');
  expect(first?.attributes).toMatchObject({ 'db.response.returned_rows': 3 });
  expect(stopped?.attributes).toMatchObject({ 'db.response.returned_rows': 5 });
  expect(failed).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'InvalidInput' },
  });
  const [missed] = of('DescribeTable').filter(({ status }) => status !== undefined);
  expect(missed).toMatchObject({ attributes: { 'error.type': 'TableNotFound' } });
  expect(missed?.exceptions[0]).toContain('was not found');
});

test('a server is told of the span, unless the caller names another trace', async () => {
  const { tracer, spans } = tracing();
  const served = await connect('/c', { fs: memoryFs() });
  await served.createTable('t', rows);
  await using server = await createServer({
    namespace: served.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const seen: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    seen.push(new Headers(init?.headers).get('traceparent'));
    return server.fetch(input as string, init);
  };
  const db = await connectNamespace('rest', { uri: 'http://x' }, { fetch: fetch as never, tracer });
  const table = await db.openTable('t');
  expect(await table.countRows()).toBe(5);
  expect(await table.toArrow()).toMatchObject({ numRows: 5 });
  const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`;
  await db.namespace.countTableRows({ id: ['t'] }, { traceContext: { traceparent } });
  const given = spans.map((_, at) => {
    const id = (at + 1).toString(16);
    return `00-${id.padStart(32, 'a')}-${id.padStart(16, 'b')}-01`;
  });
  given[given.length - 1] = traceparent;
  expect(seen).toEqual(given);
  expect(spans.every(({ kind, ended }) => kind === 2 && ended === 1)).toBe(true);
});

test('without a tracer the catalog itself is called; what is no tracer is refused', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  expect(types.isProxy(db.namespace)).toBe(false);
  const wrong = connect('/c', { fs: memoryFs(), tracer: {} as never });
  await expect(wrong).rejects.toThrow('startActiveSpan');
});

afterEach(() => {
  vi.resetModules();
  vi.restoreAllMocks();
});

/** A MeterProvider whose counters are read when they are asked for. */
function metering() {
  const counters = new Map<string, (result: { observe: (...seen: never[]) => void }) => void>();
  const provider = {
    getMeter: () => ({
      createObservableCounter: (name: string) => ({
        addCallback: (callback: never) => {
          counters.set(name, callback);
        },
      }),
    }),
  };
  const read = (name: string): Record<string, number> => {
    const found: Record<string, number> = {};
    counters.get(name)?.({
      observe: ((value: number, attributes: Record<string, string>) => {
        found[Object.values(attributes).join(' ')] = value;
      }) as never,
    });
    return found;
  };
  return { provider, counters, read };
}

test('metrics count operations of connections that are opened afterwards, by outcome and duration', async () => {
  const { instrumentLanceDbMetrics, connect: fresh } = await import('../../src/index.ts');
  const { provider, counters, read } = metering();
  const before = await fresh('/c', { fs: memoryFs() });
  expect(instrumentLanceDbMetrics(provider)).toBe(true);
  expect(instrumentLanceDbMetrics(metering().provider)).toBe(true);
  expect(counters.size).toBe(5);
  let now = 0;
  const env = {
    now: () => now,
    uuid: () => crypto.randomUUID(),
    random: () => 0,
    sleep: async () => {},
  };
  const db = await fresh('/c', { fs: memoryFs(), env });
  const table = await db.createTable('t', rows);
  await table.query().toArray();
  const slow = table.query()[Symbol.asyncIterator]();
  await slow.next();
  now += 700;
  await slow.next();
  await expect(db.dropTable('none')).rejects.toThrow();
  await before.tableNames();
  expect(read('dirspace_operations')).toMatchObject({
    'CreateTable ok': 1,
    'QueryTable ok': 2,
    'DropTable TableNotFound': 1,
  });
  expect(read('dirspace_operations')).not.toHaveProperty('ListTables ok');
  expect(read('dirspace_rows_read')).toEqual({ QueryTable: 10 });
  expect(read('dirspace_operation_seconds_count')).toMatchObject({ QueryTable: 2 });
  expect(read('dirspace_operation_seconds_sum').QueryTable).toBeCloseTo(0.7);
  expect(read('dirspace_operation_seconds_bucket')).toMatchObject({
    'QueryTable 0.001': 1,
    'QueryTable 0.5': 1,
    'QueryTable 1': 2,
    'QueryTable +Inf': 2,
  });
});

test('metrics go to the provider of the process, and are refused with a warning where there is none', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { instrumentLanceDbMetrics } = await import('../../src/index.ts');
  expect(instrumentLanceDbMetrics()).toBe(false);
  expect(warned.mock.calls[0]?.[0]).toContain('MeterProvider');
  const { provider, counters } = metering();
  const key = Symbol.for('opentelemetry.js.api.1');
  Object.assign(globalThis, { [key]: { metrics: provider } });
  try {
    expect(instrumentLanceDbMetrics()).toBe(true);
    expect(counters.size).toBe(5);
  } finally {
    delete (globalThis as Record<symbol, unknown>)[key];
  }
});

test.each(['end', 'setAttribute', 'recordException', 'setStatus', 'spanContext', 'start', 'run'])(
  'a tracer whose %s throws is warned of once, and operations go on',
  async (broken) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const { tracer, spans } = tracing();
    const failing: TracerLike = {
      startActiveSpan(name, options, run) {
        if (broken === 'start') throw new Error('boom');
        const answer = tracer.startActiveSpan(name, options, (span) => {
          const boom = () => {
            throw new Error('boom');
          };
          return run(broken === 'run' ? span : { ...span, [broken]: boom });
        });
        if (broken === 'run') throw new Error('boom');
        return answer;
      },
    };
    const db = await connect('/c', { fs: memoryFs(), tracer: failing });
    const table = await db.createTable('t', rows);
    expect((await table.query().limit(2).toArray()).length).toBe(2);
    await expect(db.openTable('absent')).rejects.toMatchObject({ code: 'TableNotFound' });
    expect(await table.countRows()).toBe(5);
    expect(spans.length > 0).toBe(broken !== 'start');
    expect(warned.mock.calls.length).toBeLessThanOrEqual(1);
    warned.mockRestore();
  },
);
