/**
 * Installs clients of others and drives `dirspace serve` with them: `node test/interop/run.mjs
 * lancedb`, `snippets`, `python`, `lance`, `java`, `engines`, `ui` or `recipes`. Says so and ends well where they cannot be installed. Needs the built
 * package: npm run build.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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

/** A Python with the packages that the suite needs; `leaveOut` is told why there is none. */
function pythonWith(what, leaveOut = skip) {
  const base = ['python3', 'python'].find(
    (one) =>
      failure(one, ['-c', 'import sys, venv; assert sys.version_info >= (3, 10)']) === undefined,
  );
  if (base === undefined) return leaveOut(what, 'there is no Python of 3.10 or newer here');
  const venv = join(folder, '.venv');
  const bin = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (!existsSync(bin)) {
    const failed = failure(base, ['-m', 'venv', venv]);
    if (failed !== undefined) return leaveOut('no virtual environment can be made', failed);
  }
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const failed = failure(bin, [...install, '-r', 'requirements.txt']);
  if (failed !== undefined) return leaveOut(`${what} cannot be installed`, failed);
  return bin;
}

function python() {
  const bin = pythonWith('the Python clients');
  arrowJs();
  run(bin, ['-m', 'unittest', '-v']);
}

/**
 * Random tables with random histories, opened by pylance and LanceDB over REST and by path, and random datasets of
 * Lance, read here: `lance [COUNT] [SEED]`. `lance histories [COMMITS] [SEED]` lets clients write one table with tags
 * and branches, and nothing else.
 */
async function lance(given) {
  const isHistories = given[0] === 'histories';
  const [count = isHistories ? '60' : '500', seed = '1'] = isHistories ? given.slice(1) : given;
  const bin = pythonWith('the Lance library');
  const { buildPrograms } = await import('./lance/programs.mjs');
  await buildPrograms(join(folder, '.built'));
  const lancedb = join(folder, '../lancedb');
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const failed = failure('npm', install, { cwd: lancedb });
  if (failed !== undefined) console.log(`The LanceDB client is left out: ${failed}`);
  const client = failed === undefined ? [lancedb] : [];
  const script = isHistories ? join('histories', 'main.mjs') : 'steps.mjs';
  run(process.execPath, [script, bin, count, seed, ...client]);
}

/**
 * Engines that write tables of their own through the catalog; those that cannot be installed are left out:
 * `engines [NAME...]`. Takes about 2.5 GB and, with the installation, ten minutes.
 */
function engines(wanted) {
  const bin = pythonWith('pylance and LanceDB');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const leftOut = (what, why) => {
    console.log(`SKIPPED: ${what} cannot be installed: ${why.trim().split('\n').at(-1)}`);
    return undefined;
  };
  const withPackages = (what, script, requirements) => {
    const failed = requirements && failure(bin, [...pip, '-r', requirements]);
    return failed === undefined ? { command: [bin, script] } : leftOut(what, failed);
  };
  const node = () => {
    const failed = failure('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock']);
    if (failed !== undefined) return leftOut('LanceDB for Node', failed);
    return { command: [process.execPath, 'with_lancedb.mjs'] };
  };
  const spark = () => {
    for (const tool of ['java', 'mvn']) {
      if (failure(tool, ['-version']) !== undefined) return leftOut('Spark', `there is no ${tool}`);
    }
    const venv = join(folder, '.venv-spark');
    const python = join(venv, 'bin/python');
    const copy = ['-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    const failed =
      (existsSync(python) ? undefined : failure(bin, ['-m', 'venv', venv])) ??
      failure(python, [...pip, '-r', 'requirements-spark.txt']) ??
      failure('mvn', [...copy, '-DincludeScope=runtime']);
    if (failed !== undefined) return leftOut('Spark', failed);
    return { command: [python, 'with_spark.py'] };
  };
  const makers = {
    pylance: () => withPackages('pylance', 'with_pylance.py'),
    daft: () => withPackages('Daft', 'with_daft.py', 'requirements-daft.txt'),
    lancedb: () => withPackages('LanceDB', 'with_lancedb.py'),
    node,
    bucket: () => {
      const found = withPackages('a bucket', 'with_bucket.py', 'requirements-bucket.txt');
      return found && { ...found, server: [bin, 'bucket_server.py'] };
    },
    ray: () => withPackages('Ray', 'with_ray.py', 'requirements-ray.txt'),
    spark,
  };
  const names = wanted.length === 0 ? Object.keys(makers) : wanted;
  const found = names.flatMap((name) => {
    const engine = makers[name]?.();
    return engine === undefined ? [] : [[name, engine]];
  });
  run(process.execPath, ['steps.mjs', JSON.stringify(Object.fromEntries(found))]);
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

/** The page of `dirspace ui` in a headless Chromium. */
async function ui() {
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock'];
  const failed = failure('npm', install);
  if (failed !== undefined) skip('playwright-core cannot be installed', failed);
  const { chromiumPath } = await import('./ui/browser.mjs');
  if (chromiumPath() === undefined) {
    skip('the page', 'there is no Chromium here; install it, or name its program in $CHROMIUM');
  }
  run(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=spec']);
}

/** The recipes of docs/fixture.md, with the packed package; what is not here is left out with a line: `recipes [NAME...]`. */
function recipes(wanted) {
  const project = join(import.meta.dirname, '../..');
  const built = join(folder, '.built');
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  mkdirSync(built, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--pack-destination', built];
  const packed = join(built, `dirspace-${version}.tgz`);
  const install = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--no-save', packed];
  const failed = failure('npm', pack, { cwd: project }) ?? failure('npm', install);
  if (failed !== undefined) skip('the package and jest cannot be installed', failed);
  const jest = { NODE_OPTIONS: '--experimental-vm-modules' };
  const leftOut = (what, why) => {
    console.log(`SKIPPED: ${what}: ${why.trim().split('\n').at(-1)}`);
  };
  const makers = {
    pytest: () => [pythonWith('pytest and LanceDB', leftOut), ['-m', 'pytest', '-q']],
    junit: () => ['mvn', ['-B', '-q', 'test']],
    rust: () => ['cargo', ['test', '--quiet'], { CARGO_TARGET_DIR: join(built, 'rust') }],
    jest: () => ['npx', ['jest', '--testMatch', '**/user.jest.mjs'], jest],
  };
  const broken = [];
  for (const name of wanted.length === 0 ? Object.keys(makers) : wanted) {
    const [command, args, env] = makers[name]();
    if (command === undefined) continue;
    if (failure(command, ['--version']) !== undefined) {
      leftOut(`the recipe of ${name}`, `there is no ${command} here`);
      continue;
    }
    console.log(`The recipe of ${name}:`);
    const options = { cwd: folder, stdio: 'inherit', env: { ...process.env, ...env } };
    const { status } = spawnSync(command, args, options);
    console.log(status === 0 ? 'passed' : `FAILED: ${status}`);
    if (status !== 0) broken.push(name);
  }
  process.exit(broken.length === 0 ? 0 : 1);
}

/** Examples that ask for a model. */
const MODELS = /transformers|embedding\/openai/;

/** An index of hamming distances, which are searched exactly here: docs/moving-from-lancedb.md. */
const HAMMING_INDEX = /^ *await \w+\.createIndex\([^;]*distanceType: "hamming"[^;]*;\n/gm;

/**
 * The examples of LanceDB's repository, with the import changed: `snippets FOLDER`, where FOLDER holds its
 * `nodejs/examples`. Those that ask for a model are left out. Text in double quotes, which is no SQL here, is
 * written in single ones, and no index of hamming distances is built.
 */
function snippets([examples]) {
  if (examples === undefined || !existsSync(join(examples, 'util.ts'))) {
    skip("LanceDB's examples", 'give the folder nodejs/examples of its repository');
  }
  const copies = join(import.meta.dirname, '../../.build/snippets');
  rmSync(copies, { recursive: true, force: true });
  mkdirSync(copies, { recursive: true });
  cpSync(join(examples, 'util.ts'), join(copies, 'util.ts'));
  for (const file of readdirSync(examples).filter((file) => file.endsWith('.test.ts'))) {
    const text = readFileSync(join(examples, file), 'utf8');
    if (MODELS.test(text)) {
      console.log(`LEFT OUT: ${file} asks for a model`);
      continue;
    }
    const plain = text.replaceAll(/'(\w+ = )"(\w+)"'/g, (_, left, word) => `"${left}'${word}'"`);
    if (plain !== text) console.log(`CHANGED: text in double quotes of ${file}`);
    const exact = plain.replaceAll(HAMMING_INDEX, '');
    if (exact !== plain) console.log(`CHANGED: no index of hamming distances in ${file}`);
    writeFileSync(join(copies, file), exact);
  }
  process.env.SNIPPETS = copies;
  run('npx', ['vitest', 'run', '--config', join(folder, 'vitest.config.mjs'), '--maxWorkers=1']);
}

const suites = { lancedb, snippets, python, lance, java, engines, ui, recipes };
if (suites[name] === undefined) {
  console.error(`Give one of ${Object.keys(suites).join(', ')}.`);
  process.exit(2);
}
await suites[name](more);
