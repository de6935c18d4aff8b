/** What package.json promises. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { VERSION } from '../src/version.ts';
import { compiledModule } from './helpers/compiled.ts';

const project = join(import.meta.dirname, '..');

type Json = Readonly<Record<string, unknown>>;

const read = (file: string): Json => JSON.parse(readFileSync(join(project, file), 'utf8'));
const manifest = read('package.json');
const member = (name: string): Readonly<Record<string, string>> =>
  manifest[name] as Readonly<Record<string, string>>;

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];

describe('package.json', () => {
  test('says what kind of package it is', () => {
    expect(manifest).toMatchObject({
      name: 'dirspace',
      version: VERSION,
      license: 'Apache-2.0',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=20.19' },
    });
  });

  test('runs nothing when it is installed', () => {
    for (const script of INSTALL_SCRIPTS) expect(member('scripts')).not.toHaveProperty(script);
    expect(existsSync(join(project, 'binding.gyp'))).toBe(false);
  });

  test('has exact versions of what it depends on, and nothing optional', () => {
    for (const version of Object.values(member('dependencies'))) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(manifest).not.toHaveProperty('peerDependencies');
    expect(manifest).not.toHaveProperty('optionalDependencies');
  });

  test('ships what is built and the documents', () => {
    expect(manifest.files).toEqual(['dist', 'README.md', 'LICENSE']);
    for (const file of ['README.md', 'LICENSE']) expect(existsSync(join(project, file))).toBe(true);
  });

  test('exports types first, and itself', () => {
    const { '.': main, './package.json': itself } = manifest.exports as Json;
    expect(Object.keys(main as Json)).toEqual(['types', 'default']);
    expect(itself).toBe('./package.json');
  });
});

test('no dependency runs anything when it is installed, none is native', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Json> };
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(shipped.length).toBeGreaterThan(5);
  const bad = shipped.filter(([, facts]) => facts.hasInstallScript || facts.os || facts.cpu);
  expect(bad.map(([path]) => path)).toEqual([]);
});

test('the build has the files that package.json names', () => {
  const built = (path: string): string =>
    fileURLToPath(compiledModule(path.replace(/^(\.\/)?dist\//, '')));
  const bin = member('bin').dirspace as string;
  expect(readFileSync(built(bin), 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node');
  const { default: main, types } = (manifest.exports as Json)['.'] as Record<string, string>;
  expect(existsSync(built(main as string))).toBe(true);
  expect(types).toBe((main as string).replace(/\.js$/, '.d.ts'));
});
