/** What package.json promises. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const project = join(import.meta.dirname, '..', '..');

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

  test('has exact versions of what it depends on, and DuckDB alone beside them, where a program has it', () => {
    for (const version of Object.values(member('dependencies'))) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(manifest.peerDependencies).toEqual({ '@duckdb/node-api': '*' });
    expect(manifest.peerDependenciesMeta).toEqual({ '@duckdb/node-api': { optional: true } });
    expect(manifest).not.toHaveProperty('optionalDependencies');
  });

  test('ships what is built and the documents', () => {
    const documents = ['docs', 'container', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'];
    const kept = (manifest.files as string[]).filter((file) => !file.startsWith('!'));
    expect(kept).toEqual(['dist', ...documents]);
    // Pictures are looked at where the project is.
    expect(manifest.files).toContain('!docs/images');
    for (const file of documents) expect(existsSync(join(project, file))).toBe(true);
  });

  test('exports itself', () => {
    expect((manifest.exports as Json)['./package.json']).toBe('./package.json');
  });
});

test('no dependency runs anything when it is installed, none is native', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Json> };
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(shipped.length).toBeGreaterThan(5);
  const bad = shipped.filter(([, facts]) => facts.hasInstallScript || facts.os || facts.cpu);
  expect(bad.map(([path]) => path)).toEqual([]);
});

/** Whether a range such as `>=18 || ^20.19.0` takes a version. */
function takes(range: string, version: string): boolean {
  // Zero-padded, numbers compare as text.
  const padded = (text: string): string =>
    [0, 1, 2].map((at) => (text.split('.')[at] ?? '0').padStart(6, '0')).join('.');
  return range.split('||').some((part) => {
    const [, sign, least = ''] = /^\s*(>=|\^)\s*(\d[\d.]*)\s*$/.exec(part) ?? [];
    expect(least, `the range ${range}`).not.toBe('');
    const sameMajor = padded(least).split('.')[0] === padded(version).split('.')[0];
    return padded(version) >= padded(least) && (sign === '>=' || sameMajor);
  });
}

test('every dependency runs on the oldest Node that the package takes', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Json> };
  const newer = Object.entries(packages).filter(([path, { dev, engines }]) => {
    const { node } = (engines ?? {}) as { node?: string };
    return path !== '' && !dev && node !== undefined && !takes(node, '20.19.0');
  });
  expect(newer.map(([path]) => path)).toEqual([]);
});

test('the shipped dependencies are few', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Json> };
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(shipped.length).toBeLessThanOrEqual(30);
  expect(shipped.map(([path]) => path)).not.toContain('node_modules/typebox');
});

test('the declarations of flatbuffers that users get are read by TypeScript 5.4', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, Json> };
  const shipped = Object.entries(packages).filter(
    ([path, { dev }]) => path.endsWith('/flatbuffers') && !dev,
  );
  expect(shipped.map(([path]) => path)).toEqual(['node_modules/flatbuffers']);
  expect(shipped[0]?.[1].version).toBe(member('dependencies').flatbuffers);
  const declared = join(project, 'node_modules', 'flatbuffers', 'js', 'utils.d.ts');
  // Typed arrays have no parameter before 5.7.
  expect(readFileSync(declared, 'utf8')).toContain('Int32Array');
  expect(readFileSync(declared, 'utf8')).not.toContain('Array<');
});

describe('the build', () => {
  // `npm test` builds it first, as for the tests of the command line.
  const folder = join(project, 'dist');
  const built = (path: string): string => join(folder, path.replace(/^(\.\/)?dist\//, ''));
  /** Names of the files that a file imports at once, and that these import. */
  const loadedBy = (file: string, known = new Set<string>()): string[] => {
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/(?:^|;)import\b[^;()]*?["'](\.\/[^"']+)["'];/gm)) {
      const next = join(file, '..', path as string);
      if (known.has(next)) continue;
      known.add(next);
      loadedBy(next, known);
    }
    return [...known].map((path) => basename(path));
  };
  const runs = (script: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: project,
      encoding: 'utf8',
    });

  test('has the files that package.json names', () => {
    const bin = member('bin').dirspace as string;
    expect(readFileSync(built(bin), 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node');
    for (const entry of Object.values(manifest.exports as Json)) {
      if (typeof entry === 'string') continue;
      const {
        require: required,
        default: main,
        types,
        ...first
      } = entry as Record<string, unknown>;
      expect(existsSync(built(main as string))).toBe(true);
      const path = (main as string).replace(/\.js$/, '');
      expect(types).toBe(`${path}.d.ts`);
      expect(required).toEqual({ types: `${path}.d.cts`, default: `${path}.cjs` });
      // What bundlers take by `require` too, so it has to come before the other.
      expect(Object.keys(entry as Json)).toEqual(['module', 'require', 'types', 'default']);
      expect(Object.keys(required as Json)).toEqual(['types', 'default']);
      expect(first).toEqual({ module: main });
      // Tools that copy what a deployment requires have to find what Node takes.
      const common = readFileSync(built(`${path}.cjs`), 'utf8');
      expect(common).toContain(`require("./${basename(main as string)}")`);
      expect(common).toContain(`require("./common/${basename(`${path}.cjs`)}")`);
      for (const end of ['.d.ts', '.d.cts', '.cjs']) {
        expect(existsSync(built(`${path}${end}`))).toBe(true);
      }
    }
  });

  test('is a few files, which need no other of ours', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const scripts = files.filter((file) => file.endsWith('.js'));
    expect(scripts.length).toBeLessThan(75);
    expect(files.filter((file) => file.endsWith('.cjs')).length).toBeLessThan(40);
    for (const script of scripts) {
      const text = readFileSync(join(folder, script), 'utf8');
      // Comments of packages name types by `{import("./file")}`.
      const imports =
        /^(?:import|export)\b[^;\n]* from "(\.[^"]+)";$|(?<!\{ ?|\w)import\("(\.[^"]+)"\)/gm;
      for (const [, first, later] of text.matchAll(imports)) {
        expect(existsSync(join(folder, script, '..', String(first ?? later)))).toBe(true);
      }
    }
  });

  test('imports parts of apache-arrow alone, whose classes are those of the whole package', () => {
    const text = readFileSync(built('dist/chunks/arrow.js'), 'utf8');
    const parts = [...text.matchAll(/^import\b.*?"(apache-arrow[^"]*)";$/gm)].map(
      ([, id = '']) => id,
    );
    expect(parts).toContain('apache-arrow/schema');
    // Those that load the readers, writers and streams.
    expect(parts.filter((id) => /^apache-arrow$|serialization|reader|writer/.test(id))).toEqual([]);
    const isSame = runs(`
      const { Schema, Table, RecordBatch, Vector } = await import('apache-arrow');
      const { connect } = await import(${JSON.stringify(built('dist/index.js'))});
      const db = await connect('memory://');
      const table = await (await db.createTable('t', [{ n: 1 }])).toArrow();
      const of = [table instanceof Table, table.schema instanceof Schema];
      of.push(table.batches[0] instanceof RecordBatch, table.getChild('n') instanceof Vector);
      console.log(of.join());
    `);
    expect(isSame.trim()).toBe('true,true,true,true');
  });

  test('is ASCII, which V8 keeps and parses as one byte a letter', () => {
    const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.c?js$/.test(file) && !file.startsWith('ui'),
    );
    expect(scripts.length).toBeGreaterThan(20);
    const wide = scripts.filter((file) =>
      /[\u0080-\uffff]/.test(readFileSync(built(file), 'utf8')),
    );
    expect(wide).toEqual([]);
  });

  test('carries what each start of the command line needs, with its licences', () => {
    const cli = join(folder, 'cli');
    const scripts = readdirSync(cli, { recursive: true, encoding: 'utf8' });
    const texts = scripts
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(cli, file), 'utf8'));
    const IMPORT = /(?:^|;)import(?:[^;"()]*from)?"([^"]+)";|\bimport\([`"]([^`"$]+)[`"]\)/gm;
    const imported = texts.flatMap((text) =>
      [...text.matchAll(IMPORT)].map(([, first, later]) => String(first ?? later)),
    );
    const packages = new Set(imported.filter((id) => !/^\.|^node:/.test(id)));
    // Each is imported by the commands that need it, when they do.
    expect([...packages].sort()).toEqual(['chokidar', 'fast-glob', 'jose', 'snowball-stemmers']);
    const licences = readFileSync(join(cli, 'LICENCES.txt'), 'utf8');
    const versions = { ...member('dependencies'), ...member('devDependencies') };
    for (const name of ['apache-arrow', 'flatbuffers', 'commander']) {
      expect(licences).toContain(`${name} ${versions[name]}\n`);
    }
    expect(licences).toContain('Apache License');
    expect(licences).toContain('The Apache Software Foundation (http');
    expect(licences).toContain('tslib ');
  });

  test('starts the command line without Arrow and the engine for help and version', () => {
    const loaded = loadedBy(built('dist/cli/chunks/process.js'));
    expect(loaded).toContain('ground.js');
    expect(loaded.filter((name) => /arrow|engine|sdk|server/.test(name))).toEqual([]);
  });

  test('opens catalogs and lists names without what reads and writes tables', () => {
    for (const room of ['dist', 'dist/cli']) {
      const loaded = loadedBy(built(`${room}/chunks/implementation-dir.js`));
      expect(loaded).toContain('catalog.js');
      expect(loaded.filter((name) => /engine|reads|rest|server|interchange/.test(name))).toEqual(
        [],
      );
    }
    // The handles that open them.
    for (const chunk of ['dist/chunks/connect.js', 'dist/cli/chunks/sdk.js']) {
      const behind = /engine|reads|rest|server/;
      expect(loadedBy(built(chunk)).filter((name) => behind.test(name))).toEqual([]);
    }
  });

  test('opens and reads tables without what changes them', () => {
    for (const room of ['dist', 'dist/cli']) {
      // What the first operation that reads loads, from a file of the handlers that are there.
      const text = readFileSync(built(`${room}/chunks/catalog.js`), 'utf8');
      const [, first = ''] = /\bimport\(.\.\/(read(?:s|-handlers)\.js).\)/.exec(text) ?? [];
      expect(first).not.toBe('');
      const loaded = [first, ...loadedBy(built(`${room}/chunks/${first}`))];
      expect(loaded).toEqual(expect.arrayContaining(['catalog.js', 'reads.js']));
      expect(loaded.filter((name) => /engine|rest|server|interchange/.test(name))).toEqual([]);
    }
  });

  test('scans without what sorts and searches, and sorts without what changes tables', () => {
    const root = temporaryFolder();
    const connect = `const { connect } = await import(${JSON.stringify(built('dist/index.js'))});
      const db = await connect(${JSON.stringify(root)});`;
    runs(`${connect}
      await db.createTable('t', [{ id: 1, text: 'a pear' }, { id: 2, text: 'b' }]);
      await db.close();`);
    // The loader's own thread says which chunks are loaded, before each is.
    const hooks = `import { writeSync } from 'node:fs';
      export const load = (url, context, next) => {
        if (/[/]chunks[/]|snowball/.test(url)) writeSync(1, url.split('/').pop() + ' ');
        return next(url, context);
      };`;
    const loaded = runs(`import { register } from 'node:module';
      import { writeSync } from 'node:fs';
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});
      ${connect}
      const table = await db.openTable('t');
      const rows = await table.query().where('id > 1').limit(1).toArray();
      writeSync(1, 'scanned ' + rows.length + ' ');
      const [{ id }] = await table.query().orderBy({ columnName: 'id', ascending: false }).toArray();
      const [found] = await table.query().fullTextSearch('pear', { columns: ['text'] }).toArray();
      writeSync(1, 'ranked ' + id + found.id);
      await db.close();`);
    const [before, after = ''] = loaded.split('scanned 1 ');
    expect(before).toContain('reads.js');
    expect(before).not.toMatch(/ranks|engine/);
    expect(after).toContain('ranks.js');
    expect(after).not.toContain('engine');
    expect(after).toContain('ranked 21');
    // It is required: Node reads all of a package of CommonJS for its names before it imports it.
    expect(after).not.toContain('snowball');
  });

  test('imports the stemmers where they cannot be required, as in bundles', () => {
    const stems = runs(`import module from 'node:module';
      const resolve = module._resolveFilename;
      let refused = 0;
      module._resolveFilename = function (name, ...rest) {
        if (name !== 'snowball-stemmers') return resolve.call(this, name, ...rest);
        refused += 1;
        throw new Error('not here');
      };
      const { tokenize } = await import(${JSON.stringify(built('dist/index.js'))});
      const tokens = await tokenize('running', { stem: true });
      console.log(JSON.stringify([refused, tokens]));`);
    expect(stems).toContain('[1,');
    expect(stems).toContain('"run"');
    // Bundles of ESM often begin with a line that declares `createRequire`.
    const scripts = readdirSync(built('dist/chunks')).filter((file) => file.endsWith('.js'));
    for (const script of scripts) {
      const text = readFileSync(built(`dist/chunks/${script}`), 'utf8');
      expect(text, script).not.toMatch(/^import \{[^}]*\bcreateRequire\b/m);
    }
  });

  test('has a file of declarations for each entry, which need apache-arrow and Node only', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const declared = files.filter((file) => /\.d\.c?ts$/.test(file));
    expect(declared.filter((file) => !file.startsWith('types')).sort()).toEqual(
      ['conformance', 'duckdb', 'embedding', 'index', 'server', 'testing'].flatMap((name) => [
        `${name}.d.cts`,
        `${name}.d.ts`,
      ]),
    );
    expect(declared.length).toBeLessThanOrEqual(28);
    const needed = new Set<string>();
    for (const file of declared) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [, from = ''] of text.matchAll(/(?:\bfrom |\bimport\()["']([^"']+)["']/g)) {
        if (!from.startsWith('.')) needed.add(from);
        else {
          expect(from.endsWith(file.endsWith('.cts') ? '.cjs' : '.js')).toBe(true);
          const beside = join(folder, file, '..', from.replace(/\.(c?)js$/, '.d.$1ts'));
          expect(existsSync(beside), `${file} imports ${from}`).toBe(true);
        }
      }
    }
    const packages = new Set([...needed].map((name) => name.replace(/\/.*/, '')));
    expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['apache-arrow']);
  });

  test('hides no type that public signatures name, but for these', () => {
    /** The names of `{ a as b, type c }` as they are called in the file, and outside it. */
    const names = (list: string): string[] => list.match(/[\w$]+/g) ?? [];
    // Entries have their declarations in the chunks that they share, too.
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.d\.ts$/.test(file))
      .map((file) => {
        const text = readFileSync(join(folder, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
        const at = text.lastIndexOf('export {');
        const isEntry = !file.startsWith('types');
        return { body: text.slice(0, at), exported: isEntry ? names(text.slice(at)) : [] };
      });
    const exported = new Set(files.flatMap((file) => file.exported));
    expect(exported.has('Table') && exported.has('fixture')).toBe(true);
    const parts = files.flatMap(({ body }) =>
      body.split(/^(?=(?:declare )?(?:abstract )?(?:class|interface|type|function|const) )/m),
    );
    // A number tells those of two files apart.
    const named = (part: string): string =>
      / ([\w$]+)/.exec(part.replace(/^((declare|abstract) )+/, ''))?.[1]?.replace(/\$\d+$/, '') ??
      '';
    const isType = (part: string): boolean =>
      /^(declare )?(abstract )?(class|interface|type) /.test(part);
    const others = parts
      .filter(isType)
      .map(named)
      .filter((name) => name !== '' && !exported.has(name));
    const used = parts
      .filter((part) => exported.has(named(part)))
      .join('')
      .replaceAll(/^\s*private .*$/gm, '');
    const hidden = new Set(
      others.filter((name) =>
        new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}\\b`).test(used),
      ),
    );
    expect(used).toContain('openTable');
    // Shapes that values of others fit, and inner parts: one more is a decision.
    expect([...hidden].sort()).toMatchInlineSnapshot(`
      [
        "Answer",
        "AnyOperation",
        "ArrowLike",
        "Attributes",
        "Batch",
        "Batches",
        "BlobFiles",
        "Blobs",
        "Bytes",
        "CloneTableRequest",
        "CloneTableResponse",
        "Columns",
        "Dialect",
        "Done",
        "Execute",
        "FilteredQuery",
        "Home",
        "IdempotencyStamp",
        "IndexParameters",
        "IsAny",
        "Item",
        "Iterators",
        "JobSource",
        "Lifetime",
        "MadeBranch",
        "MatchOptions",
        "Method",
        "NoOptions",
        "None",
        "OnTable",
        "OpenBranch",
        "PathAndOptions",
        "ReadableStreamLike",
        "RequestModel",
        "ResponseModel",
        "RowIds",
        "Rows",
        "SchemaOf",
        "Shape",
        "Static",
        "Strings",
        "TableTarget",
        "UiOptions",
        "Unchecked",
        "VectorIndexOptions",
        "VectorLike",
        "VectorOfText",
        "WithoutLsm",
        "WritableStreamLike",
        "Write",
        "Written",
      ]
    `);
  });

  test('works, and both entries share their classes', () => {
    const answer = runs(`
      const { connect, DirspaceError } = await import(${JSON.stringify(built('dist/index.js'))});
      const { createServer } = await import(${JSON.stringify(built('dist/server.js'))});
      const db = await connect({ uri: ${JSON.stringify(temporaryFolder())} });
      const table = await db.createTable('t', [{ id: 1, text: 'a' }, { id: 2, text: 'b' }]);
      const rows = await table.query().where('id > 1 AND upper(text) = $$B$$').toArray();
      const refused = await createServer({}).catch((error) => error);
      console.log(JSON.stringify([rows, refused instanceof DirspaceError]));
      await db.close();`);
    expect(JSON.parse(answer)).toEqual([[{ id: 2, text: 'b' }], true]);
    const version = execFileSync(process.execPath, [built('dist/cli/main.js'), '--version']);
    expect(String(version).trim()).toBe(VERSION);
  });

  test('is one copy for `import` and `require`, which has all names as a default, too', () => {
    const answer = runs(`
      import { createRequire } from 'node:module';
      import lancedb, * as all from 'dirspace';
      import * as embedding from 'dirspace/embedding';
      import 'dirspace/embedding/openai';
      const required = createRequire(import.meta.url)('dirspace');
      const { default: same, ...names } = all;
      console.log(JSON.stringify([
        required.connect === all.connect,
        same === lancedb && Object.keys(names).every((name) => lancedb[name] === all[name]),
        Object.keys(embedding).every((name) => embedding[name] === all.embedding[name]),
        Object.keys(embedding).length === Object.keys(all.embedding).length,
      ]));`);
    expect(JSON.parse(answer)).toEqual([true, true, true, true]);
  });

  test('is CommonJS alone where what is required is compiled, as by tsx', () => {
    const program = `
      const Module = require('node:module');
      const plain = Module._extensions['.js'];
      const { readFileSync } = require('node:fs');
      Module._extensions['.js'] = (module, file) => {
        if (!file.startsWith(${JSON.stringify(built('dist'))})) return plain(module, file);
        // Of the ES modules none but the one that tells of the hook is to be asked for.
        const text = readFileSync(file, 'utf8');
        module._compile(text.replace(/^import.*$/m, '').replace('export const', 'exports.'), file);
      };
      const { connect, makeArrowTable } = require('dirspace');
      (async () => {
        const db = await connect(${JSON.stringify(temporaryFolder())});
        const table = await db.createTable('t', [{ id: 17, vector: [1, 2] }]);
        await table.add(makeArrowTable([{ id: 18, vector: [3, 4] }]));
        console.log(JSON.stringify(await table.query().toArray()));
        await db.close();
      })();`;
    const args = ['--no-warnings', '--input-type=commonjs', '-e', program];
    const said = execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual([
      { id: 17, vector: [1, 2] },
      { id: 18, vector: [3, 4] },
    ]);
  });

  test('has CommonJS that needs no ES module', () => {
    const folder = temporaryFolder();
    const program = `
      const { connect, Index } = require('dirspace');
      const { fixture } = require('dirspace/testing');
      (async () => {
        const db = await connect(${JSON.stringify(folder)});
        const table = await db.createTable('t', [{ id: 1, text: 'he runs' }]);
        await table.createIndex('text', { config: Index.fts() });
        const found = await table.search('running', 'fts').select(['id']).toArray();
        await db.close();
        const server = await fixture();
        const { status } = await fetch(server.url + '/v1/namespace/$/table/list');
        await server.close();
        console.log(JSON.stringify([found.map(({ id }) => id), status]));
      })();`;
    // Without `require` of ES modules, they are what is left.
    const flags = ['--no-experimental-require-module', '--no-warnings'];
    const args = [...flags, '--input-type=commonjs', '-e', program];
    const said = execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual([[1], 200]);

    const files = readdirSync(built(''), { recursive: true, encoding: 'utf8' });
    const texts = files
      .filter((file) => file.endsWith('.cjs'))
      .map((file) => readFileSync(built(file), 'utf8'));
    // Jest cannot import modules from CommonJS.
    expect(texts.filter((text) => /(?<![\w$.])import\(/.test(text))).toEqual([]);
    const required = texts.flatMap((text) =>
      [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, id = '']) => id),
    );
    const packages = new Set(
      required
        .filter((id) => !builtinModules.includes(id) && !/^\.|^node:/.test(id))
        .map((id) => id.replace(/\/.*/, '')),
    );
    expect([...packages].sort()).toEqual(['apache-arrow', 'fast-glob', 'snowball-stemmers']);
    const licences = readFileSync(built('LICENCES.txt'), 'utf8');
    for (const name of ['chokidar', 'readdirp', 'jose']) expect(licences).toContain(`${name} `);
  });

  test('its maps name the lines of the source', () => {
    const failing = `
      const { connect } = await import(${JSON.stringify(built('dist/index.js'))});
      await connect('s3://bucket').catch((error) => console.log(error.stack));`;
    const flags = ['--enable-source-maps', '--input-type=module', '-e', failing];
    const stack = String(execFileSync(process.execPath, flags));
    const [, file = '', line] = /at directoryOf \((.*):(\d+):\d+\)/.exec(stack) ?? [];
    expect(file).toMatch(/src[\\/]local-path\.ts$/);
    const source = readFileSync(join(project, 'src/local-path.ts'), 'utf8').split('\n');
    expect(source[Number(line) - 1]).toContain('throw new DirspaceError(');
  });
});
