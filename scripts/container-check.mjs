/**
 * Runs the steps of container/Dockerfile in a clean folder, without docker: packs and installs the package,
 * starts the command as its environment says, and asks the health check before, while and after it serves.
 * Nothing may be written but the catalog. `node scripts/container-check.mjs [FOLDER]`: a folder where the package
 * is installed, in place of the installation, which needs the registry.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(join(project, 'container', 'Dockerfile'), 'utf8');
/** Instructions of the stages, one after the other, with the lines joined that belong together. */
const stages = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split(/^FROM /m)
  .slice(1)
  .map((stage) => stage.split('\n').slice(1).filter(Boolean));
const [building, running] = stages;
const one = (stage, name) =>
  stage.find((line) => line.startsWith(`${name} `)).slice(name.length + 1);

const folder = mkdtempSync(join(tmpdir(), 'dirspace-container-'));
const installed = process.argv[2] ?? join(folder, 'opt');
const place = (path) =>
  path.replace('/opt/dirspace', installed).replace(/^\/data$/, join(folder, 'data'));

/** A port that nothing listens on. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

try {
  for (const name of ['opt', 'data', 'home', 'tmp']) mkdirSync(join(folder, name));
  if (process.argv[2] === undefined) {
    const npm = ['pack', '--ignore-scripts', '--pack-destination', installed];
    execFileSync('npm', npm, { cwd: project, stdio: 'pipe' });
    execFileSync('sh', ['-ec', one(building, 'RUN')], { cwd: installed, stdio: 'pipe' });
    assert.deepEqual(
      readdirSync(installed).filter((name) => name.endsWith('.tgz')),
      [],
    );
  }

  assert.equal(one(running, 'USER'), 'node');
  assert.equal(one(running, 'VOLUME'), '["/data"]');
  const settings = running
    .filter((line) => line.startsWith('ENV '))
    .flatMap((line) => line.slice(4).split(' '))
    .map((pair) => pair.split('='))
    .map(([name, value]) => [name, place(value)]);
  const port = await freePort();
  assert.equal(one(running, 'EXPOSE'), Object.fromEntries(settings).DIRSPACE_PORT);
  const env = {
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    ...Object.fromEntries(settings),
    DIRSPACE_PORT: String(port),
  };
  const cwd = join(folder, 'data');
  const [, probe] = /CMD (\[.*\])$/.exec(one(running, 'HEALTHCHECK'));
  const health = () => {
    const [command, ...args] = JSON.parse(probe);
    return spawnSync(command, args, { cwd, env }).status;
  };
  const start = (more) => {
    const [command, ...args] = JSON.parse(one(running, 'CMD'));
    return spawn(command, args.map(place), { cwd, env: { ...env, ...more } });
  };

  // Without a key nobody is let in, and it says so.
  const refused = start({});
  const [told] = await once(refused.stderr.setEncoding('utf8'), 'data');
  assert.match(told, /auth/);
  assert.notEqual((await once(refused, 'exit'))[0], 0);
  assert.equal(health(), 1);

  const key = 'a-key';
  const server = start({ DIRSPACE_API_KEY: key });
  const ended = once(server, 'exit');
  await once(server.stdout, 'data');
  assert.equal(health(), 0);
  const create = (headers) =>
    fetch(`http://127.0.0.1:${port}/v1/namespace/prod/create`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    });
  assert.equal((await create({})).status, 401);
  assert.equal((await create({ 'x-api-key': key })).status, 200);
  server.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(health(), 1);
  assert.deepEqual(readdirSync(join(folder, 'data')).includes('.dirspace'), true);
  for (const name of ['home', 'tmp']) assert.deepEqual(readdirSync(join(folder, name)), []);
  console.log('The steps of container/Dockerfile do what they are to.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
