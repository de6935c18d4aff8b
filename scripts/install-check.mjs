/**
 * Installs the packed package as its users do, engines strict, into an empty folder, and refuses
 * an installation that has grown: `node scripts/install-check.mjs [ARCHIVE]`. Needs the registry.
 */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_PACKAGES = 55;
const MAX_BYTES = 30 * 2 ** 20;
const BLOCK = 4096;

const project = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dirspace-install-'));
const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8' });

/** What a folder takes on a disk of 4 KiB blocks. */
function bytesOn(path) {
  const stat = lstatSync(path);
  const own = Math.ceil(stat.size / BLOCK) * BLOCK;
  if (!stat.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + bytesOn(join(path, name)), own);
}

try {
  const packed = () =>
    JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], project));
  const archive = process.argv[2] ?? join(folder, packed()[0].filename);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  npm(['install', '--engine-strict', '--no-audit', '--no-fund', resolve(archive)], folder);
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).length - 1;
  const bytes = bytesOn(join(folder, 'node_modules'));
  console.log(`${packages} packages, ${(bytes / 2 ** 20).toFixed(1)} MB, Node ${process.version}`);
  if (packages > MAX_PACKAGES || bytes > MAX_BYTES) {
    console.error(`At most ${MAX_PACKAGES} packages and ${MAX_BYTES / 2 ** 20} MB are meant.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
