/**
 * The conformance kit against our own server: no case fails, every operation has cases, and every
 * request is valid by the protocol's own OpenAPI document, save those that say otherwise. The
 * namespace suite runs the same cases on every kind of catalog.
 */
import { describe, expect, test } from 'vitest';
import { CASES, conformanceSuite, runConformance } from '../../src/conformance/suite.ts';
import { createServer } from '../../src/server.ts';
import { directorySubject } from '../helpers/catalogs.ts';
import { OPERATION_NAMES } from '../helpers/operation-names.ts';
import {
  answerFaults,
  operationOf,
  requestFaults,
  type SentRequest,
} from '../helpers/protocol-document.ts';

const limits = { maxEventLoopDelayMs: 0 };
const titleOf = ({ operation, name }: { operation: string; name: string }): string =>
  `${operation}: ${name}`;

test.each([false, true])('over HTTP no case fails (managed versions: %s)', async (managed) => {
  const { namespace, close } = await directorySubject('disk', { managedVersioning: managed });
  await using server = await createServer({ namespace, limits });
  const fetch = (url: string, init: RequestInit): Promise<Response> => server.fetch(url, init);
  const { results, totals } = await runConformance({ uri: 'http://x', fetch });
  const wrong = results.filter(({ verdict }) => !['passed', 'not implemented'].includes(verdict));
  expect(wrong).toEqual([]);
  const missing = results.filter(({ verdict }) => verdict === 'not implemented');
  expect(missing).toEqual([]);
  expect(totals.passed).toBeGreaterThan(115);
  expect((await namespace.listAllTables({})).tables).toEqual([]);
  expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
  await close();
});

describe('the cases', () => {
  test('every operation has some, the first of which can show that it works', () => {
    const operations = CASES.map(({ operation }) => operation);
    expect([...new Set(operations)].toSorted()).toEqual([...OPERATION_NAMES].toSorted());
    for (const operation of OPERATION_NAMES) {
      const [first] = CASES.filter((one) => one.operation === operation);
      if (operation !== 'RegisterTable') expect(first?.open, operation).toBeUndefined();
      expect(first?.malformed, operation).toBeUndefined();
    }
  });

  test('have names of their own and a sentence of the protocol each', () => {
    const titles = CASES.map(titleOf);
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
    for (const { basis } of CASES) expect(basis.length).toBeGreaterThan(20);
  });
});

/** The request with one thing wrong: a parameter, the type, or a member of the body. */
function spoiled(request: SentRequest): SentRequest[] {
  const { url, type, body } = request;
  const spoilt: SentRequest[] = [{ ...request, url: `${url}${url.includes('?') ? '&' : '?'}no=1` }];
  for (const [name, value] of new URL(url).searchParams) {
    if (!/^(\d+|true|false)$/.test(value)) continue;
    const other = new URL(url);
    other.searchParams.set(name, 'x');
    spoilt.push({ ...request, url: String(other) });
  }
  if (type === '') return [...spoilt, { ...request, type: 'application/json', body: '{}' }];
  spoilt.push({ ...request, type: 'text/plain' }, { ...request, body: 'x' });
  if (typeof body !== 'string') return spoilt;
  const members = JSON.parse(body) as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    const wrong = typeof value === 'number' || typeof value === 'boolean' ? 'x' : 7;
    spoilt.push({ ...request, body: JSON.stringify({ ...members, [name]: wrong }) });
  }
  return spoilt;
}

test('requests are valid by the document of the protocol, save the malformed ones; answers too', async () => {
  const { namespace } = await directorySubject('memory');
  await using server = await createServer({ namespace, limits });
  let faults: string[] = [];
  const answered: string[] = [];
  const sent: SentRequest[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const type = new Headers(init.headers).get('content-type') ?? '';
    const body = (init.body ?? undefined) as string | Uint8Array | undefined;
    const request = { method: init.method ?? '', url, type, body };
    const found = requestFaults(request);
    faults.push(...found);
    if (found.length === 0) sent.push(request);
    const response = await server.fetch(url, init);
    const json = await response
      .clone()
      .json()
      .catch(() => undefined);
    const own = operationOf(init.method ?? '', new URL(url).pathname)?.operationId;
    const wrong = answerFaults(init.method ?? '', url, response.status, json);
    answered.push(...wrong.map((fault) => `${own} ${response.status}: ${fault}`));
    return response;
  };
  const suite = conformanceSuite({ uri: 'http://x', fetch });
  const malformed = CASES.filter((one) => one.malformed).map(titleOf);
  const found: string[] = [];
  for (const one of suite.cases) {
    faults = [];
    const { exchanges } = await one.run();
    const expected = malformed.includes(one.title) ? 1 : 0;
    if (Math.min(1, faults.length) !== expected) found.push(`${one.title}: ${faults.join(', ')}`);
    if (expected === 1) expect(exchanges.length, one.title).toBeGreaterThan(0);
  }
  faults = [];
  await suite.close();
  expect(faults, 'of what removes what was made').toEqual([]);
  expect(found).toEqual([]);
  expect(sent.length).toBeGreaterThan(300);
  const operations = sent.map(({ method, url }) => operationOf(method, new URL(url).pathname));
  const names = operations.map((one) => one?.operationId);
  expect([...new Set(names)].toSorted()).toEqual([...OPERATION_NAMES].toSorted());
  // The validator would find what the kit must not send: every change of a valid request is a fault.
  const unseen = sent.flatMap((one) =>
    spoiled(one).filter((bad) => requestFaults(bad).length === 0),
  );
  expect(unseen).toEqual([]);
  expect(sent.flatMap(spoiled).length).toBeGreaterThan(1000);
  // "The server does not support this operation": the document lists 406 for some operations only.
  expect([...new Set(answered)].filter((fault) => !/^\w+ 406: it has no/.test(fault))).toEqual([]);
});
