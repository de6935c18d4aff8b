/**
 * The first day of a user, with the packed package in an empty folder: files in, SQL by group, a tag, new
 * rows, what is different, a look at the page, files out, a server that fails on demand, and the checks of a
 * server. Each step says what it saw and how long it took.
 *
 *   node scripts/first-day.mjs [--rows 1000000] [ARCHIVE]
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '1000000' } },
});
const ROWS = Number(values.rows);
const project = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dirspace-first-day-'));
const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8' });
const program = join(folder, 'node_modules', 'dirspace', 'dist', 'cli', 'main.js');
const env = { ...process.env, DIRSPACE_URI: join(folder, 'catalog') };

const dirspace = (...args) =>
  execFileSync(process.execPath, [program, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const rowsOf = (sql) => JSON.parse(dirspace('sql', sql, '--json'));

async function step(name, work) {
  const start = performance.now();
  const said = await work();
  console.log(`${name}: ${said} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}

/** A server that prints its address; it is asked to end, and its end is waited for. */
async function serving(args, work) {
  const child = spawn(process.execPath, [program, ...args, '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let said = '';
  try {
    const address = await new Promise((resolve, reject) => {
      const look = (text) => {
        said += text;
        const [found] = /http:\/\/[^\s"]+/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.setEncoding('utf8').on('data', look);
      child.stderr.setEncoding('utf8').on('data', look);
      child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${said}`)));
    });
    return await work(address);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

const CITIES = ['Oslo', 'Rome', 'Paris', 'Bern'];
async function writeUsers(file, change) {
  const stream = createWriteStream(file);
  stream.write('id,name,city,age,joined\n');
  for (let from = 0; from < ROWS; from += 10_000) {
    let text = '';
    for (let id = from; id < Math.min(ROWS, from + 10_000); id++) {
      const joined = new Date(1.5e12 + id * 60_000).toISOString();
      text += `${id},user ${id},${CITIES[id % 4]},${(id % 70) + 10 + change},${joined}\n`;
    }
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

try {
  await step('install', async () => {
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const archive = positionals[0] ?? join(folder, JSON.parse(npm(pack, project))[0].filename);
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    npm(['install', '--no-audit', '--no-fund', resolve(archive)], folder);
    return dirspace('--version').trim();
  });
  await step('files', async () => {
    await writeUsers(join(folder, 'users.csv'), 0);
    await writeUsers(join(folder, 'older.csv'), 1);
    return `2 CSV files of ${ROWS} rows, ${(statSync(join(folder, 'users.csv')).size / 1e6).toFixed(0)} MB each`;
  });
  await step('import of CSV', async () => {
    dirspace('import', 'users.csv', 'prod/users', '--parents');
    const [{ n, last }] = rowsOf('SELECT count(*) AS n, max(id) AS last FROM prod.users');
    assert.deepEqual([n, last], [ROWS, ROWS - 1]);
    return `${n} rows`;
  });
  await step('Parquet, out and in', async () => {
    dirspace('export', 'prod/users', '-o', 'users.parquet');
    dirspace('import', 'users.parquet', 'prod/copy');
    const [{ n }] = rowsOf(
      'SELECT count(*) AS n FROM prod.users a JOIN prod.copy b ON a.id = b.id AND a.name = b.name AND a.joined = b.joined',
    );
    assert.equal(n, ROWS);
    return `${n} rows are equal, ${(statSync(join(folder, 'users.parquet')).size / 1e6).toFixed(0)} MB`;
  });
  await step('SQL by group', async () => {
    const groups = rowsOf(
      'SELECT city, count(*) AS n, avg(age) AS age FROM prod.users GROUP BY city ORDER BY city',
    );
    assert.deepEqual(
      groups.map(({ city }) => city),
      CITIES.toSorted(),
    );
    assert.equal(
      groups.reduce((sum, { n }) => sum + n, 0),
      ROWS,
    );
    return `${groups.length} groups`;
  });
  await step('tag, overwrite, diff', async () => {
    dirspace('tag', 'create', 'prod/users', 'first');
    dirspace('import', 'older.csv', 'prod/users', '--mode', 'overwrite');
    const [{ grown }] = rowsOf(
      "SELECT count(*) AS grown FROM prod.users n JOIN prod.users FOR TAG 'first' o ON n.id = o.id WHERE n.age = o.age + 1",
    );
    assert.equal(grown, ROWS);
    const diff = JSON.parse(dirspace('diff', 'prod/users', '1..2', '--json'));
    assert.ok(JSON.stringify(diff).length > 0);
    return `${grown} rows changed since the tag`;
  });
  await step('the page', () =>
    serving(['ui'], async (address) => {
      const opened = await fetch(address, { redirect: 'manual' });
      const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
      const base = new URL(address).origin;
      const page = await (await fetch(`${base}/ui`, { headers: { cookie } })).text();
      assert.match(page, /<script[^>]*app\.js/);
      const asked = await fetch(`${base}/ui/api/rows`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', origin: base },
        body: JSON.stringify({ id: ['prod', 'users'], version: 2, offset: ROWS - 1, limit: 1 }),
      });
      const { rows } = await asked.json();
      assert.equal(Number(rows[0][0]), ROWS - 1);
      return 'the last row is shown';
    }),
  );
  await step('files out', async () => {
    dirspace('export', 'prod/users', '--at', 'first', '-o', 'first.csv.gz');
    dirspace('import', 'first.csv.gz', 'prod/again');
    const [{ n, ages }] = rowsOf('SELECT count(*) AS n, sum(age) AS ages FROM prod.again');
    const [before] = rowsOf("SELECT sum(age) AS ages FROM prod.users FOR TAG 'first'");
    assert.deepEqual([n, ages], [ROWS, before.ages]);
    return `${n} rows came back`;
  });
  await step('a server that fails on demand', () => {
    writeFileSync(
      join(folder, 'seed.json'),
      JSON.stringify({
        namespaces: [{ path: ['prod'] }],
        tables: [{ path: ['prod'], name: 'user', rows: [{ id: 1, name: 'Ada' }] }],
      }),
    );
    writeFileSync(
      join(folder, 'faults.json'),
      JSON.stringify([{ operation: 'DescribeTable', kind: 'unavailable', times: 1 }]),
    );
    return serving(
      ['serve', '--memory', '--seed', 'seed.json', '--faults', 'faults.json', '--reset-route'],
      async (address) => {
        const base = new URL(address).origin;
        const asked = () =>
          fetch(`${base}/v1/table/prod$user/describe`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{}',
          });
        const statuses = [(await asked()).status, (await asked()).status];
        assert.deepEqual(statuses, [503, 200]);
        return statuses.join(', then ');
      },
    );
  });
  await step('the checks of a server', () =>
    serving(['serve', '--memory'], async (address) => {
      const report = JSON.parse(dirspace('conformance', new URL(address).origin, '--json'));
      assert.equal(report.totals.failed, 0);
      return Object.entries(report.totals)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ');
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
