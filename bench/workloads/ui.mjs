/**
 * The page of `dirspace ui`: its first rows from a server that was just started, any rows of ten million,
 * what twenty columns are like, and its weight. Over HTTP as the page asks; then the same in a headless
 * Chromium, until the cells are in the document, where that and test/interop/ui are installed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { connect } from '../../dist/index.js';
import { chromiumPath, launch } from '../../test/interop/ui/browser.mjs';
import { numberRows } from '../../test/interop/ui/catalog.mjs';
import { tabular, wideTable } from '../harness/data.mjs';
import { figure } from '../harness/measure.mjs';
import { startRest } from '../harness/rest-server.mjs';
import { ownArrow } from '../harness/stores.mjs';
import { random } from './random.mjs';

const ROWS = 1_000_000;
const MANY = 10_000_000;
const COLUMNS = 20;
const STARTS = 5;
const WINDOWS = 50;
const WINDOW = 100;

export async function* uiWorkloads(ctx) {
  yield weight();
  const root = ctx.folder('ui');
  const rows = ctx.size(ROWS, 200);
  const many = ctx.size(MANY, 2_000);
  await fill(root, rows, many);
  const isWhole = ctx.scale === 1;
  const goal = (milliseconds) => (isWhole ? [{ atMost: milliseconds }] : []);
  const facts = {
    first: { name: 'ui: first rows of 1,000,000 x 7, a server just started', goals: goal(300) },
    any: { name: 'ui: any 100 rows of 10,000,000', goals: goal(60) },
    columns: { name: 'ui: what 20 columns of 1,000,000 rows are like', goals: goal(500) },
  };
  yield { ...facts.first, figures: { ours: await firstRows(root, ctx.samples ?? STARTS, ask) } };
  const server = await serve(root);
  const samples = ctx.samples ?? WINDOWS;
  yield { ...facts.any, figures: { ours: await timed(server, samples, anyRows(server, many)) } };
  const profiled = () => profile(server, rows);
  yield {
    ...facts.columns,
    figures: { ours: await timed(server, ctx.samples ?? STARTS, profiled) },
  };
  if (ctx.peers.has('chromium')) yield* inChromium(ctx, root, { rows, many, facts, server });
  await server.stop();
}

/** Bytes that a browser gets before the first answer, each file compressed by itself. */
function weight() {
  const folder = fileURLToPath(new URL('../../dist/ui/', import.meta.url));
  const files = readdirSync(folder).filter((name) => name !== 'LICENCES.txt');
  const sizes = files.map(
    (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
  );
  const median = sizes.reduce((sum, size) => sum + size, 0) / 1_000;
  const goals = [{ atMost: 60 }];
  const ours = { median, min: median, cpu: null, samples: 1 };
  return { name: 'ui: the page, gzip', unit: 'kB', goals, figures: { ours } };
}

async function fill(root, rows, many) {
  const db = await connect(root, { durability: 'relaxed' });
  await db.createTable('seven', sevenColumns(rows));
  await db.createTable('twenty', wideTable(ownArrow, rows, COLUMNS - 1));
  await db.createTable('many', numberRows(many));
  await db.close();
}

function sevenColumns(rows) {
  const { ids, x, category, text } = tabular(rows);
  const { Bool, Field, Float64, Int64, makeData, RecordBatch, Schema, Struct, Table, Utf8 } =
    ownArrow;
  const utf8 = ({ offsets, bytes }) => [new Utf8(), { valueOffsets: offsets, data: bytes }];
  const columns = {
    id: [new Int64(), { data: ids }],
    x: [new Float64(), { data: x }],
    y: [new Float64(), { data: x.toReversed() }],
    category: utf8(category),
    text: utf8(text),
    n: [new Int64(), { data: ids.toReversed() }],
    flag: [new Bool(), { data: new Uint8Array(Math.ceil(rows / 8)).fill(0b10110010) }],
  };
  const fields = Object.entries(columns).map(([name, [type]]) => new Field(name, type, true));
  const children = Object.values(columns).map(([type, data]) =>
    makeData({ type, length: rows, ...data }),
  );
  const data = makeData({ type: new Struct(fields), length: rows, children });
  const schema = new Schema(fields);
  return new Table(schema, [new RecordBatch(schema, data)]);
}

const serve = (root) => startRest(root, { ui: true, limits: { maxEventLoopDelayMs: 0 } });

async function asked({ url }, name, body) {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}/ui/api/${name}`, init);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const expect = (isSo, what) => {
  if (!isSo) throw new Error(`ui: ${what}`);
};

/** The two requests that the page makes for a table: what it is, and its first rows. */
async function ask(server) {
  const { described } = await asked(server, 'table', { id: ['seven'] });
  const { version, incarnation } = described;
  const { rows } = await asked(server, 'rows', {
    id: ['seven'],
    version,
    incarnation,
    limit: WINDOW,
  });
  expect(rows.length === WINDOW && rows[0].length === 7, `${rows.length} first rows`);
}

/** Each sample has a process of its own. */
async function firstRows(root, samples, look) {
  const times = [];
  let cpu = 0;
  for (let at = 0; at < samples; at++) {
    const server = await serve(root);
    const [before, began] = [await server.cpu(), performance.now()];
    await look(server);
    times.push(performance.now() - began);
    cpu += (await server.cpu()) - before;
    await server.stop();
  }
  return figure(times, cpu);
}

/** Wall time of the asker, processor time of the server. */
async function timed(server, samples, work) {
  await work(0);
  const times = [];
  const before = await server.cpu();
  for (let at = 1; at <= samples; at++) {
    const began = performance.now();
    await work(at);
    times.push(performance.now() - began);
  }
  return figure(times, (await server.cpu()) - before);
}

function anyRows(server, many) {
  const next = random(11);
  return async () => {
    const offset = Math.floor(next() * (many - WINDOW));
    const body = { id: ['many'], version: 1, offset, limit: WINDOW };
    const { rows } = await asked(server, 'rows', body);
    expect(rows[WINDOW - 1][0] === String(offset + WINDOW - 1), `rows from ${offset}`);
  };
}

async function profile(server, rows) {
  const body = { id: ['twenty'], version: 1, budget_millis: 200 };
  const { columns, sampled, rows_scanned: scanned } = await asked(server, 'ProfileTable', body);
  expect(columns.length === COLUMNS, `${columns.length} columns`);
  expect(sampled || scanned === rows, `${scanned} rows that are no sample`);
}

async function* inChromium(ctx, root, { rows, many, facts, server }) {
  const browser = await launched();
  if (browser === undefined) return;
  const named = ({ name, goals }) => ({ name: `${name}, in Chromium`, goals });
  const samples = ctx.samples ?? STARTS;
  const open = async ({ url }, fragment) => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
    await page.goto(`${url}/ui#/${fragment}`, { waitUntil: 'commit' });
    return page;
  };
  // The code of the page is compiled and the browser is warm, as for whoever looked at a table before.
  const look = async (at) => {
    const page = await open(at, 't/seven');
    await there(page, '.grid .row:nth-child(20) .cell:nth-child(5):not(:empty)', 1);
    await page.close();
  };
  await look(server);
  yield { ...named(facts.first), figures: { ours: await firstRows(root, samples, look) } };
  const page = await open(server, 't/many');
  await there(page, '.grid .row:nth-child(20)', 1);
  const next = random(12);
  const jump = async () => page.evaluate(jumpTo, next());
  yield {
    ...named(facts.any),
    figures: { ours: await jumped(ctx.samples ?? WINDOWS, jump, many) },
  };
  await page.close();
  const columns = async () => {
    const seen = await open(server, 't/twenty?view=columns');
    await there(seen, '.histogram', COLUMNS);
    expect(/sample|All/.test(await seen.textContent('main')), `what ${rows} rows were looked at`);
    await seen.close();
  };
  yield { ...named(facts.columns), figures: { ours: await timed(server, samples, columns) } };
  await browser.close();
}

/** Looks by a timer: a machine that is busy with other things draws few frames. */
const there = (page, selector, count) =>
  page.waitForFunction(
    ([wanted, least]) => document.querySelectorAll(wanted).length >= least,
    [selector, count],
    { polling: 5, timeout: 120_000 },
  );

async function launched() {
  try {
    if (chromiumPath() !== undefined) return await launch();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  }
  console.log('No Chromium, or no packages in test/interop/ui: its rows are left out.');
  return undefined;
}

/** In the page: scrolls to a share of the rows, and resolves with the time until they are in sight and the first of them. */
async function jumpTo(share) {
  const grid = document.querySelector('.grid');
  const began = performance.now();
  grid.scrollTop = share * (grid.scrollHeight - grid.clientHeight);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const shown = [...grid.querySelectorAll('.row:not(.header)')]
      .slice(2, 12)
      .map((row) =>
        [...row.querySelectorAll('.cell')]
          .slice(0, 2)
          .map(({ textContent }) => textContent.replaceAll(',', '')),
      );
    const isThere =
      shown.length === 10 &&
      shown.every(([label, id]) => id !== '' && Number(label) === Number(id) + 1);
    const first = Number(shown[0]?.[1]);
    if (isThere && first !== window.lastFirst) {
      window.lastFirst = first;
      return { milliseconds: performance.now() - began, first };
    }
  }
}

async function jumped(samples, jump, many) {
  const times = [];
  await jump();
  for (let at = 0; at < samples; at++) {
    const { milliseconds, first } = await jump();
    expect(first >= 0 && first < many, `row ${first}`);
    times.push(milliseconds);
  }
  return figure(times);
}
