/**
 * Installs clients of others and drives `dirspace serve` with them: `node test/interop/run.mjs
 * lancedb`, `python`, `lance` or `java`. Says so and ends well where they cannot be installed. Needs the built
 * package: npm run build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const [name, ...more] = process.argv.slice(2);
const folder = join(import.meta.dirname, name ?? '');

/** The output where the command failed, or could not be started. */
function failure(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    ...options,
  });
  return status === 0 ? undefined : (error?.message ?? `${stdout ?? ''}${stderr ?? ''}`);
}

function skip(what, why) {
  const reason = why.trim().split('\n').at(-1);
  console.log(`SKIPPED: ${what}: ${reason}`);
  process.exit(0);
}

/** Runs the tests, which print their counts. */
function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' });
  process.exit(status ?? 1);
}

function lancedb() {
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const failed = failure('npm', install);
  if (failed !== undefined) skip('the LanceDB client cannot be installed', failed);
  run(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=spec']);
}

/** Releases of apache-arrow for the corpus of Arrow files, which does without where they fail. */
function arrowJs() {
  const cwd = join(import.meta.dirname, 'arrow-js');
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const failed = failure('npm', install, { cwd });
  if (failed === undefined) process.env.ARROW_JS = cwd;
  else console.log(`apache-arrow 15 to 21 are left out of the corpus: ${failed}`);
}

/** A Python with the packages that the suite needs. */
function pythonWith(what) {
  const base = ['python3', 'python'].find(
    (one) =>
      failure(one, ['-c', 'import sys, venv; assert sys.version_info >= (3, 10)']) === undefined,
  );
  if (base === undefined) skip(what, 'there is no Python of 3.10 or newer here');
  const venv = join(folder, '.venv');
  const bin = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (!existsSync(bin)) {
    const failed = failure(base, ['-m', 'venv', venv]);
    if (failed !== undefined) skip('no virtual environment can be made', failed);
  }
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const failed = failure(bin, [...install, '-r', 'requirements.txt']);
  if (failed !== undefined) skip(`${what} cannot be installed`, failed);
  return bin;
}

function python() {
  const bin = pythonWith('the Python clients');
  arrowJs();
  run(bin, ['-m', 'unittest', '-v']);
}

/**
 * Random tables with random histories, opened by pylance and LanceDB over REST and by path, and random datasets of
 * Lance, read here: `lance [COUNT] [SEED]`.
 */
function lance([count = '500', seed = '1']) {
  const bin = pythonWith('the Lance library');
  const built = join(folder, '.built');
  const tool = join(folder, '../../../node_modules/rolldown/bin/cli.mjs');
  const options = ['--platform', 'node', '--format', 'esm', '--external', 'apache-arrow'];
  for (const name of ['tables', 'check-lancedb', 'path', 'read_datasets']) {
    const made = [`${name}.ts`, '--file', join(built, `${name}.mjs`), ...options];
    const wrong = failure(process.execPath, [tool, ...made]);
    if (wrong === undefined) continue;
    console.error(wrong);
    process.exit(1);
  }
  const lancedb = join(folder, '../lancedb');
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const failed = failure('npm', install, { cwd: lancedb });
  if (failed !== undefined) console.log(`The LanceDB client is left out: ${failed}`);
  const client = failed === undefined ? [lancedb] : [];
  run(process.execPath, ['steps.mjs', bin, count, seed, ...client]);
}

function java() {
  for (const tool of ['javac', 'mvn']) {
    const failed = failure(tool, ['-version']);
    if (failed !== undefined) skip("the protocol's client for Java", `there is no ${tool} here`);
  }
  const copy = ['-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
  const failed = failure('mvn', copy);
  if (failed !== undefined) skip("the protocol's client for Java cannot be installed", failed);
  const wrong = failure('javac', ['-d', 'classes', '-cp', join('lib', '*'), 'Steps.java']);
  if (wrong !== undefined) {
    console.error(wrong);
    process.exit(1);
  }
  run(process.execPath, ['--test', '--test-reporter=spec']);
}

const suites = { lancedb, python, lance, java };
if (suites[name] === undefined) {
  console.error(`Give one of ${Object.keys(suites).join(', ')}.`);
  process.exit(2);
}
suites[name](more);
