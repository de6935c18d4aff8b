/**
 * Compiles the programs of test/consumers as users of the packed package do, with declarations of
 * packages checked: by several releases of TypeScript, each way of finding packages, and with
 * schemas of apache-arrow 15 to 21. Needs the registry; `npm test` does it with one compiler.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMPILERS = ['5.4', '5.9', '6.0', '7.0'];
/**
 * Module kind, resolution, programs, and whether they are users that have this package alone: then
 * all declarations are checked. Those of old releases of apache-arrow are not all sound by
 * themselves, so programs that import them are compiled in a folder of their own.
 */
const WAYS = [
  ['node16', 'node16', ['common.cts'], true],
  ['node16', 'node16', ['module.mts', 'module-16.mts', 'module-19.mts'], false],
  ['esnext', 'bundler', ['plain.ts'], true],
  ['commonjs', 'node10', ['plain.ts'], true],
];
const OTHER_ARROWS = ['15', '16', '17', '18', '19', '20'];

const project = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dirspace-consumers-'));
const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8' });

try {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(npm(pack, project));
  const installed = (name, packages) => {
    const user = join(folder, name);
    mkdirSync(user);
    writeFileSync(join(user, 'package.json'), '{"private":true}');
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
    npm(['install', ...quiet, join(folder, filename), ...packages], user);
    cpSync(join(project, 'test', 'consumers'), user, { recursive: true });
    return user;
  };
  const compilers = COMPILERS.map((release) => `typescript-${release}@npm:typescript@${release}`);
  const alone = installed('alone', compilers);
  const beside = installed(
    'beside',
    OTHER_ARROWS.map((release) => `apache-arrow-${release}@npm:apache-arrow@${release}`),
  );
  const program = readFileSync(join(beside, 'module.mts'), 'utf8');
  for (const [one, other] of [
    ['16', '17'],
    ['19', '20'],
  ]) {
    const text = program.replace('apache-arrow-15', `apache-arrow-${one}`);
    const path = join(beside, `module-${one}.mts`);
    writeFileSync(path, text.replace('apache-arrow-18', `apache-arrow-${other}`));
  }
  for (const release of COMPILERS) {
    for (const [module, resolution, programs, all] of WAYS) {
      // TypeScript 7 has no node10, and 6 wants to be told that it is old.
      if (resolution === 'node10' && release === '7.0') continue;
      const checked = [
        '--strict',
        '--skipLibCheck',
        String(!all),
        '--noEmit',
        '--target',
        'es2022',
      ];
      const found = ['--module', module, '--moduleResolution', resolution, '--types', 'node'];
      const old =
        resolution === 'node10' && release === '6.0' ? ['--ignoreDeprecations', '6.0'] : [];
      const compiler = join(alone, 'node_modules', `typescript-${release}`, 'bin', 'tsc');
      const args = [compiler, ...checked, ...found, ...old, ...programs];
      const { status, stdout } = spawnSync(process.execPath, args, {
        cwd: all ? alone : beside,
        encoding: 'utf8',
      });
      const errors = stdout.split('\n').filter((line) => line !== '');
      const isSound = errors.length === 0 && (status === 0 || stdout !== '');
      const told = isSound ? 'ok' : `\n${stdout}`;
      console.log(`TypeScript ${release}, ${resolution}, ${programs[0]}: ${told}`);
      if (!isSound) process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
