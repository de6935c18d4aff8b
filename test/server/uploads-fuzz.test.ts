/**
 * Random histories of inserts in parts, and hostile requests for blobs: no answer is a failure of the
 * server, and the table has the rows of completed inserts and no others.
 */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordBatchStream, tableFromArrays } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import { blob, connect } from '../../src/index.ts';
import { encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';
import { LONG } from '../helpers/long.ts';
import { ARROW, ask, restPair } from '../helpers/rest-pair.ts';
import { seeded } from '../helpers/seeded.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

async function bytesOf(ids: number[], name = 'id'): Promise<Buffer> {
  const table = tableFromArrays({ [name]: Int32Array.from(ids) });
  const pieces: Uint8Array[] = [];
  const rows = recordBatchStream(table.schema, table.batches);
  for await (const piece of await encodeIpcStream(rows)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test(`${LONG ? 150 : 4} histories of inserts in parts`, { timeout: 600_000 }, async () => {
  for (let seed = 1; seed <= (LONG ? 150 : 4); seed++) await history(seed);
});

async function history(seed: number): Promise<void> {
  const random = seeded(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const root = temporaryFolder();
  const catalog = await openDirectoryNamespace({ root });
  const made = tableFromArrays({ id: Int32Array.of(0) });
  await catalog.createTable({ id: ['t'] }, recordBatchStream(made.schema, made.batches));
  const pair = await restPair({ root, limits: { maxUploads: 6, callerShare: 1 } });
  const path = '/v1/dirspace/table/t/multipart_write';
  let expected = [0];
  let next = 1;
  interface Sent {
    readonly id: string;
    readonly rows: number[];
    mode: string | undefined;
    isOver: boolean;
    isDone: boolean;
    readonly names: Set<string>;
  }
  const uploads: Sent[] = [];
  for (let step = 0; step < 40; step++) {
    const what = pick(['create', 'part', 'part', 'part', 'complete', 'abort', 'wrong']);
    const upload = pick(uploads.length === 0 ? [undefined] : uploads);
    if (what === 'create' || upload === undefined) {
      const { status, json } = await ask(pair, 'POST', `${path}/create`);
      expect([200, 503], `seed ${seed}`).toContain(status);
      if (status !== 200) continue;
      const names = new Set<string>();
      const { upload_id: id } = json;
      uploads.push({ id, rows: [], mode: undefined, isOver: false, isDone: false, names });
    } else if (what === 'part') {
      const ids = Array.from({ length: 1 + Math.floor(random() * 5) }, () => next++);
      const name = pick(['a', 'b', 'c', `${step}`]);
      const mode = pick(['append', 'append', 'append', 'Overwrite']);
      const whole = await bytesOf(ids, pick(['id', 'id', 'id', 'other']));
      const isCut = random() < 0.2;
      const body = Buffer.from(
        isCut ? whole.subarray(0, Math.floor(random() * whole.length)) : whole,
      );
      if (!isCut && random() < 0.2) {
        const at = Math.floor(random() * body.length);
        body[at] = (body[at] as number) ^ (1 << Math.floor(random() * 8));
      }
      const query = `upload_id=${upload.id}&upload_part_id=${name}&mode=${mode}`;
      const { status, json, text } = await ask(pair, 'POST', `${path}/part?${query}`, body, ARROW);
      expect([200, 400, 413], `seed ${seed}: ${text}`).toContain(status);
      if (status === 200 && json.num_inserted_rows > 0) {
        expect(upload.names.has(name)).toBe(false);
        expect(upload.mode ?? mode).toBe(mode);
        upload.mode = mode;
        upload.names.add(name);
        // A flipped bit may have changed a value: the row is there, whatever it is.
        upload.rows.push(...(body.equals(whole) ? ids : ids.map(() => Number.NaN)));
      }
    } else if (what === 'complete') {
      const query = `upload_id=${upload.id}`;
      const { status, text } = await ask(pair, 'POST', `${path}/complete?${query}`);
      expect([200, 400], `seed ${seed}: ${text}`).toContain(status);
      if (status === 200) {
        expect(upload.isOver).toBe(false);
        if (!upload.isDone) {
          expected = upload.mode === 'Overwrite' ? [...upload.rows] : [...expected, ...upload.rows];
        }
        upload.isDone = true;
      } else if (upload.rows.length > 0) upload.isOver = true;
    } else if (what === 'abort') {
      const { status } = await ask(pair, 'POST', `${path}/abort?upload_id=${upload.id}`);
      expect([200, 400]).toContain(status);
      if (!upload.isDone) upload.isOver = true;
    } else {
      const target = pick(['part', 'complete', 'abort', 'create', 'none']);
      const query = pick([
        '',
        `upload_id=`,
        `upload_id=${'x'.repeat(300)}`,
        'upload_id=a&upload_id=b',
        `upload_id=${upload.id}&branch=other`,
        'branch=none',
        'mode=nothing',
      ]);
      const { status, text } = await ask(
        pair,
        'POST',
        `${path}/${target}?${query}`,
        Buffer.alloc(9),
        ARROW,
      );
      expect([400, 404, 503, 200], text).toContain(status);
      if (status === 200)
        await ask(
          pair,
          'POST',
          `${path}/abort?upload_id=${JSON.parse(text).upload_id}&branch=none`,
        );
    }
  }
  await pair.close();
  const values: number[] = [];
  const rows = await catalog.queryTable({ id: ['t'], k: 1_000_000 } as never);
  // An overwrite may have other columns.
  for await (const batch of rows) values.push(...((batch.getChildAt(0) ?? []) as number[]));
  expect(values.length, `seed ${seed}`).toBe(expected.length);
  const known = expected.filter((id) => !Number.isNaN(id));
  expect(
    known.every((id) => values.includes(id)),
    `seed ${seed}`,
  ).toBe(true);
  expect((await catalog.verify({ id: [] })).problems).toEqual([]);
  const files = await catalog.cleanupTable({ id: ['t'], older_than_millis: 10 ** 9 } as never);
  expect(files).toBeDefined();
  await catalog.close();
  expect(readdirSync(`${root}/data/t.table/data`).length).toBeGreaterThan(0);
}

test(`${LONG ? 4000 : 200} hostile requests for blobs`, { timeout: 600_000 }, async () => {
  const root = temporaryFolder();
  const db = await connect(root);
  const { Field, Int32, Schema } = await import('../../src/arrow/apache.ts');
  const schema = new Schema([new Field('id', new Int32(), true), blob('image')]);
  const bytes = Buffer.alloc(60_000, 3);
  await db.createTable(
    't',
    [
      { id: 1, image: bytes },
      { id: 2, image: null },
    ],
    { schema },
  );
  const pair = await restPair({ root });
  const random = seeded(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const number = () =>
    pick([
      '0',
      '1',
      '-1',
      '59999',
      '60000',
      '99999999999999999999',
      '1e3',
      '',
      ' 1',
      `${random()}`,
      '00',
      '9007199254740993',
    ]);
  for (let at = 0; at < (LONG ? 4000 : 200); at++) {
    const column = pick([
      'image',
      'image',
      'image',
      'id',
      'image.data',
      '..',
      '%2e',
      '%00',
      'a%2fb',
      '"',
      "image'",
    ]);
    const row = pick(['0', '0', '1', '2', '4294967296', '18446744073709551615', number()]);
    const query = pick([
      '',
      '',
      '?version=1',
      `?version=${number()}`,
      '?branch=main',
      '?x=1',
      '?delimiter=',
    ]);
    const range = pick([
      `bytes=${number()}-${number()}`,
      `bytes=${number()}-`,
      `bytes=-${number()}`,
      'bytes',
      'bytes=0-0,1-1',
      '\t',
      'bytes=--1',
    ]);
    const path = `/v1/dirspace/table/t/blob/${column}/${row}/bytes${query}`;
    const answer = await pair.fetch(pair.base + path, { headers: { range } });
    const got = Buffer.from(await answer.arrayBuffer());
    const told = `${path} ${range}: ${answer.status}`;
    expect([200, 204, 206, 400, 404, 416], told).toContain(answer.status);
    if (answer.status === 200) expect(got.equals(bytes), told).toBe(true);
    if (answer.status === 206) {
      const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(
        answer.headers.get('content-range') ?? '',
      ) as RegExpExecArray;
      expect(Number(size), told).toBe(bytes.length);
      expect(got.length, told).toBe(Number(to) - Number(from) + 1);
    }
    const body = {
      column: pick(['image', 'id', 'none', 1, null]),
      row_ids: pick([[0], ['0', 1], [2 ** 53], ['-1'], 'x', [], [null], ['18446744073709551615']]),
      offset: pick([0, -1, 1e9, -1e15, 'x', undefined, 1.5]),
      length: pick([0, 10, 2 ** 53 - 1, -1, undefined, null]),
    };
    const fetched = await ask(pair, 'POST', '/v1/dirspace/table/t/fetch_blobs', body);
    expect([200, 400], `${JSON.stringify(body)} ${fetched.text.slice(0, 200)}`).toContain(
      fetched.status,
    );
  }
  await db.close();
});
