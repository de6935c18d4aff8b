/**
 * Runs the engines against `dirspace serve`, once with versions that engines commit by themselves and once with
 * managed ones: `steps.mjs ENGINES`, where ENGINES is a JSON object of each engine's name and command. Prints
 * a line for each step, and the counts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const engines = JSON.parse(process.argv[2]);
const here = import.meta.dirname;
const dist = join(here, '../../../dist');
const { connectNamespace } = await import(join(dist, 'index.js'));
const counts = { ok: 0, failed: 0 };

function count(line) {
  if (line.startsWith('ok ')) counts.ok++;
  else if (line.startsWith('not ok ')) counts.failed++;
}

/** Prints the lines of a process that are results; answers its status. */
async function run(command, environment) {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: here,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let rest = '';
  let complaints = '';
  child.stdout.on('data', (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!/^(not )?ok /.test(line)) continue;
      count(line);
      console.log(`  ${line}`);
    }
  });
  child.stderr.on('data', (piece) => {
    complaints = (complaints + piece).slice(-4000);
  });
  const [status] = await once(child, 'exit');
  if (process.env.VERBOSE !== undefined) console.error(complaints);
  return { status, complaints };
}

/** Runs what stands in for a bucket until `work` is done; tells `work` its address. */
async function withBucket(command, work) {
  if (command === undefined) return work(undefined);
  const [program, ...args] = command;
  const server = spawn(program, args, { cwd: here, stdio: ['pipe', 'pipe', 'pipe'] });
  try {
    return await work(await addressIn(server, /^bucket (http:\S+)/m));
  } finally {
    server.stdin.end();
    if (server.exitCode === null) await once(server, 'exit');
  }
}

/** What a server says, once it does, of where it listens. */
async function addressIn(server, pattern) {
  let text = '';
  const address = await new Promise((resolve, reject) => {
    const look = (piece) => {
      text = (text + piece).slice(-4000);
      const found = pattern.exec(text);
      if (found !== null) resolve(found.at(-1));
    };
    server.stdout.on('data', look);
    server.stderr.on('data', look);
    server.on('exit', () => reject(new Error(`The server ended: ${text}`)));
  });
  server.removeAllListeners('exit');
  return address;
}

/** Serves a root until `work` is done. */
async function served(root, outside, bucket, work) {
  const config = join(outside, 'server.json');
  writeFileSync(
    config,
    JSON.stringify({
      root,
      databaseRouting: { namespaces: true },
      locations: [
        { prefix: `${pathToFileURL(outside).href}/` },
        ...(bucket === undefined
          ? []
          : [{ prefix: 's3://lake/tables/', storageOptions: opening(bucket) }]),
      ],
    }),
  );
  const args = [join(dist, 'cli/main.js'), 'serve', '--config', config, '--port', '0'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    await work(await addressIn(server, /(http:\/\/127\.0\.0\.1:\d+)/));
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}

/** What Lance opens a table in that bucket with. */
const opening = (bucket) => ({
  aws_access_key_id: 'interop',
  aws_secret_access_key: 'interop',
  aws_region: 'us-east-1',
  aws_endpoint: bucket,
  allow_http: 'true',
});

async function runAll(uri, mode, places) {
  for (const [name, { command, environment }] of Object.entries(engines)) {
    console.log(`${name}, ${mode === 'managed' ? 'managed versions' : 'versions of their own'}`);
    const { status, complaints } = await run([...command, uri, mode], {
      ...environment,
      ...places,
    });
    if (status === 0) continue;
    const line = `not ok ${name}: the script ended with ${status}: ${complaints.trim().split('\n').at(-1)}`;
    count(line);
    console.log(`  ${line}`);
  }
}

for (const mode of ['plain', 'managed']) {
  const root = mkdtempSync(join(tmpdir(), 'dirspace-engines-'));
  const outside = mkdtempSync(join(tmpdir(), 'dirspace-lake-'));
  try {
    const managed_versioning = String(mode === 'managed');
    const catalog = connectNamespace('dir', { root, managed_versioning });
    await (await catalog).createNamespace(['made']);
    await withBucket(engines.bucket?.server, (bucket) =>
      served(root, outside, bucket, (uri) =>
        runAll(uri, mode, { OUTSIDE: outside, BUCKET: bucket }),
      ),
    );
    const report = await verified(root);
    count(report);
    console.log(`  ${report}`);
  } finally {
    for (const folder of [root, outside]) rmSync(folder, { recursive: true, force: true });
  }
}

async function verified(root) {
  const child = spawn(process.execPath, [
    join(dist, 'cli/main.js'),
    '--root',
    root,
    '--json',
    'verify',
  ]);
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  await once(child, 'exit');
  const { problems, leftovers } = JSON.parse(text);
  const ghosts = leftovers.filter(({ kind }) => kind === 'ghost' || kind === 'orphan');
  if (problems.length === 0 && ghosts.length === 0) return 'ok verify finds nothing wrong';
  return `not ok verify finds ${JSON.stringify([...problems, ...ghosts])}`;
}

console.log(`${counts.ok} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);
