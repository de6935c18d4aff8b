/**
 * Bundles `program.mjs` with the packed package by esbuild, rollup, webpack and vite, and runs each
 * bundle where no package can be found; runs the tests of `jest/` by releases of jest in CommonJS, and
 * TypeScript that becomes CommonJS by tsx and ts-node; then runs README's example on other releases of Node, on Bun and on Deno, each of which is skipped where
 * it cannot be installed. Needs the registry. Ends with 1 if anything failed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build as esbuild } from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import webpack from 'webpack';

const PRINTED = '[96,98]\n51\n';
const RUN_MILLIS = 120_000;

const project = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dirspace-bundles-'));
const user = join(folder, 'user');
const program = join(user, 'program.mjs');
const npm = (args, cwd) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const QUIET = ['--no-audit', '--no-fund', '--no-package-lock'];

/** By the name of each way: makes a bundle in the folder given and answers the file to run. */
const BUNDLERS = {
  'esbuild, ESM': (out) => byEsbuild(out, 'esm'),
  'esbuild, CommonJS': (out) => byEsbuild(out, 'cjs'),
  async rollup(out) {
    const plugins = [nodeResolve({ preferBuiltins: true }), commonjs(), json()];
    const made = await rollup({ input: program, plugins, onwarn: () => {} });
    const file = join(out, 'bundle.mjs');
    await made.write({ file, format: 'es', inlineDynamicImports: true });
    return file;
  },
  async webpack(out) {
    const output = { path: out, filename: 'bundle.cjs' };
    const compiler = webpack({ mode: 'production', target: 'node20', entry: program, output });
    const stats = await new Promise((resolve, reject) => {
      compiler.run((error, made) => (error ? reject(error) : resolve(made)));
    });
    if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
    return join(out, 'bundle.cjs');
  },
  async 'vite --ssr'(out) {
    await vite({
      root: user,
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: program,
        outDir: out,
        emptyOutDir: false,
        rolldownOptions: { output: { entryFileNames: '[name].mjs' } },
      },
      ssr: { noExternal: true },
    });
    return join(out, 'program.mjs');
  },
};

async function byEsbuild(out, format) {
  const outfile = join(out, format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
  const options = { entryPoints: [program], bundle: true, platform: 'node', target: 'node20' };
  // A bundle of ESM has no `require`, which packages of CommonJS in it call for modules of Node.
  const require = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
  const banner = format === 'esm' ? { js: require } : {};
  await esbuild({ ...options, format, outfile, banner, logLevel: 'error' });
  return outfile;
}

/** The runtimes by their npm packages, and what runs a file on them. */
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const RUNTIMES = {
  ...Object.fromEntries(
    ['20', '22', '24'].map((release) => [
      `Node ${release}`,
      [`${nodePackage}@${release}`, join(nodePackage, 'bin', 'node'), []],
    ]),
  ),
  Bun: ['bun', join('bun', 'bin', 'bun.exe'), []],
  Deno: ['deno', join('.bin', 'deno'), ['run', '--allow-all']],
};

/** Packages beside each release of jest, whose tests are CommonJS, and TypeScript that becomes it. */
const JESTS = {
  'jest 29': ['jest@29', 'ts-jest@29', 'typescript@5.9', '@types/jest@29'],
  'jest 30': ['jest@30', 'ts-jest@29', 'typescript@5.9', '@types/jest@30'],
};

/** Packages that run TypeScript, the file to run, and what each needs to be told. */
const COMPILERS = {
  tsx: [['tsx@4'], join('tsx', 'dist', 'cli.mjs'), {}],
  'ts-node': [
    ['ts-node@10', 'typescript@5.9', '@types/node@20'],
    join('ts-node', 'dist', 'bin.js'),
    { module: 'commonjs', moduleResolution: 'node10', target: 'es2022', strict: true },
  ],
};

let failures = 0;
function tell(what, problem) {
  console.log(`${what}: ${problem === undefined ? 'ok' : `FAILED\n${problem}`}`);
  if (problem !== undefined) failures++;
}

/**
 * Without what each runtime does in a way of its own when it prints an object: quotes, lines, commas,
 * and Bun's methods of the object's prototype, which it shows whether they are enumerable or not.
 */
const bare = (text) =>
  text
    .replaceAll(/["']/g, '')
    .replaceAll(/\s+/g, '')
    .replaceAll(',toJSON:[Function:toJSON]', '')
    .replaceAll(/,(?=[}\]])/g, '');

/** What is wrong with a run, if anything is. */
function ran(command, args, cwd, printed) {
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: RUN_MILLIS,
  });
  if (error !== undefined) return String(error);
  if (status !== 0) return `It ended with ${status ?? signal}.\n${stderr}`;
  return bare(stdout) === bare(printed) ? undefined : `It printed\n${stdout}and not\n${printed}`;
}

/** README's example, and what its comments say that it prints. */
function readmeExample() {
  const text = readFileSync(join(project, 'README.md'), 'utf8');
  const code = /^```js\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '';
  const said = [...code.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`);
  if (said.length === 0) throw new Error('README.md has no example that says what it prints.');
  return { code, printed: said.join('') };
}

try {
  mkdirSync(user);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(npm(pack, project));
  writeFileSync(join(user, 'package.json'), '{"private":true,"type":"module"}');
  npm(['install', ...QUIET, join(folder, filename)], user);
  cpSync(fileURLToPath(new URL('program.mjs', import.meta.url)), program);
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    const out = mkdtempSync(join(folder, 'bundle-'));
    try {
      tell(name, ran(process.execPath, [await bundle(out)], out, PRINTED));
    } catch (error) {
      tell(name, error instanceof Error ? error.message : String(error));
    }
  }

  for (const [name, packages] of Object.entries(JESTS)) {
    const home = mkdtempSync(join(folder, 'jest-'));
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ private: true, jest: { transform: { '[.]ts$': 'ts-jest' } } }),
    );
    const compilerOptions = { module: 'commonjs', moduleResolution: 'node10', target: 'es2022' };
    const options = { ...compilerOptions, esModuleInterop: true, strict: true };
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    npm(['install', ...QUIET, ...packages, join(folder, filename)], home);
    cpSync(fileURLToPath(new URL('jest', import.meta.url)), home, { recursive: true });
    const command = join(home, 'node_modules', 'jest', 'bin', 'jest.js');
    const { status, stderr } = spawnSync(process.execPath, [command], {
      cwd: home,
      encoding: 'utf8',
      timeout: RUN_MILLIS,
    });
    tell(name, status === 0 ? undefined : stderr);
    rmSync(home, { recursive: true, force: true });
  }

  for (const [name, [packages, binary, compilerOptions]] of Object.entries(COMPILERS)) {
    const home = mkdtempSync(join(folder, 'compiler-'));
    writeFileSync(join(home, 'package.json'), '{"private":true}');
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    npm(['install', ...QUIET, ...packages, join(folder, filename)], home);
    cpSync(fileURLToPath(new URL('common.ts', import.meta.url)), join(home, 'common.ts'));
    tell(
      name,
      ran(process.execPath, [join(home, 'node_modules', binary), 'common.ts'], home, '17'),
    );
    rmSync(home, { recursive: true, force: true });
  }

  const { code, printed } = readmeExample();
  writeFileSync(join(user, 'readme.mjs'), code);
  for (const [name, [packed, binary, flags]] of Object.entries(RUNTIMES)) {
    const home = mkdtempSync(join(folder, 'runtime-'));
    const command = join(home, 'node_modules', binary);
    try {
      writeFileSync(join(home, 'package.json'), '{"private":true}');
      npm(['install', ...QUIET, packed], home);
      execFileSync(command, ['--version'], { stdio: 'ignore' });
    } catch (error) {
      console.log(`${name}: skipped, ${packed} cannot be installed here: ${firstLine(error)}`);
      continue;
    }
    tell(name, ran(command, [...flags, join(user, 'readme.mjs')], home, printed));
    rmSync(home, { recursive: true, force: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failures > 0) process.exitCode = 1;

function firstLine(error) {
  const text = String(error.stderr ?? '').trim() || String(error.message);
  return text.split('\n').find((line) => /error/i.test(line)) ?? text.split('\n')[0];
}
