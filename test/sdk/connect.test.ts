import { Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { nearest } from '../../src/known-names.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import {
  implementationNames,
  openNamespace,
  registerNamespace,
} from '../../src/sdk/handles/implementations.ts';
import { checkProperties, type Properties } from '../../src/sdk/handles/properties.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { recordingCatalog } from '../helpers/recording-catalog.ts';

async function messageOf(call: () => unknown, code = 'InvalidInput'): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    expect(error.code).toBe(code);
    return error.message;
  }
  throw new Error('It did not throw.');
}

describe('implementations by name', () => {
  test('an unknown name lists what exists and suggests the nearest', async () => {
    const message = await messageOf(() => connectNamespace('dirr', { root: '/nowhere' }));
    expect(message).toContain('"dirr"');
    expect(message).toContain('there is dir');
    expect(message).toContain('Did you mean "dir"?');
  });

  test('a name far from all others gets no suggestion', async () => {
    expect(await messageOf(() => openNamespace('snowflake', {}))).not.toContain('Did you mean');
  });

  test('a missing property is named with what exists', async () => {
    const message = await messageOf(() => connectNamespace('dir', {}));
    expect(message).toContain('"root" is missing');
    expect(message).toContain('"root" (required), "managed_versioning"');
  });

  test('a misspelt property is named with the nearest', async () => {
    const message = await messageOf(() => connectNamespace('dir', { rot: '/nowhere' }));
    expect(message).toContain('"rot"');
    expect(message).toContain('did you mean "root"?');
    const camel = { root: '/nowhere', managedVersioning: 'true' };
    expect(await messageOf(() => connectNamespace('dir', camel))).toContain(
      '"managed_versioning"?',
    );
  });

  test.each([[true], [1], [null], [undefined], [{}]])(
    'a property of %s is refused',
    async (value) => {
      const properties = { root: '/nowhere', managed_versioning: value } as unknown as Properties;
      expect(await messageOf(() => connectNamespace('dir', properties))).toContain('are strings');
    },
  );

  test.each([[undefined], [null], ['/nowhere'], [{ root: 5 }]])(
    'properties that are %j say what there is',
    async (properties) => {
      const message = await messageOf(() => connectNamespace('dir', properties as never));
      expect(message).toContain('dir takes "root" (required), "managed_versioning"');
    },
  );

  test('a factory that answers no catalog is refused', async () => {
    registerNamespace('nothing', () => undefined as never);
    expect(await messageOf(() => connectNamespace('nothing', {}))).toContain('"nothing"');
  });

  test('the root of a directory catalog is a path or a file URL', async () => {
    const fs = memoryFs();
    await connectNamespace('dir', { root: 'file:///a%20b' }, { fs });
    expect(fs.readdirSync('/')).toEqual(['a b']);
    for (const root of ['s3://bucket/x', 'file://host/x', 'a\0b']) {
      await messageOf(() => connectNamespace('dir', { root }, { fs }));
    }
    expect(fs.readdirSync('/')).toEqual(['a b']);
  });

  test('a flag is true or false', async () => {
    const properties = { root: '/nowhere', managed_versioning: 'yes' };
    expect(await messageOf(() => connectNamespace('dir', properties))).toContain(
      '"true" or "false"',
    );
  });

  test.each([[null], ['x'], [[]]])('properties of %s are refused', async (properties) => {
    await messageOf(() => openNamespace('dir', properties as unknown as Properties));
  });

  test('registered implementations open with their properties and options', async () => {
    const seen: unknown[] = [];
    const { catalog, calls } = recordingCatalog();
    registerNamespace('recording', (properties, options) => {
      seen.push(properties, options);
      return catalog;
    });
    expect(implementationNames()).toContain('recording');
    const connection = await connectNamespace('recording', { uri: 'x:y' }, { readOnly: true });
    expect(seen).toEqual([{ uri: 'x:y' }, { readOnly: true }]);
    expect(connection.namespace).toBe(catalog);
    expect(connection.display()).toBe('Connection(recording: x:y)');
    await connection.close();
    await connection.close();
    expect(calls.map(({ method }) => method)).toEqual(['close']);
  });

  test('names that cannot be registered', async () => {
    const { catalog } = recordingCatalog();
    for (const name of ['', 'dir']) await messageOf(() => registerNamespace(name, () => catalog));
    await messageOf(() => registerNamespace('other', undefined as never));
  });

  test('prefixed properties', () => {
    const rules = { required: ['uri'], prefixes: ['headers.'] };
    const properties = { uri: 'u', 'headers.x-api-key': 'k' };
    expect(checkProperties('rest', properties, rules)).toBe(properties);
    expect(() => checkProperties('rest', { uri: 'u', 'headers.': 'k' }, rules)).toThrow(
      '"headers.<name>"',
    );
  });
});

describe('options', () => {
  test('a misspelt option does not open for writing', async () => {
    const options = { readonly: true } as never;
    expect(await messageOf(() => connect('/nowhere', options))).toContain(
      'Did you mean "readOnly"?',
    );
  });

  test.each([
    [{ readOnly: 'yes' }, 'boolean'],
    [{ durability: 'fast' }, '"full" or "relaxed"'],
    [{ fs: null }, 'object'],
    [{ fs: {} }, 'no openSync'],
    [{ fs: new Volume() }, 'no constants'],
    [{ signal: {} }, 'no AbortSignal'],
    [{ cacheBytes: Number.NaN }, 'cacheBytes is NaN'],
    [{ bufferBytes: -1 }, 'bufferBytes is -1'],
    [{ vectorBytes: -2 }, 'vectorBytes is -2'],
    [{ constructor: 1 }, 'There is no option'],
  ])('%j is refused', async (options, part) => {
    expect(await messageOf(() => connect('/nowhere', options as never))).toContain(part);
  });

  test('an aborted signal ends connecting with its reason', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(connect('/nowhere', { signal })).rejects.toBe(reason);
  });
});

describe('what connect takes', () => {
  test.each([[''], [undefined], [7], [{}]])('%s is no path', async (target) => {
    await messageOf(() => connect(target as never));
  });

  test.each([['s3://bucket/x'], ['http://host/']])('%s is no directory', async (uri) => {
    expect(await messageOf(() => connect(uri))).toContain('connectNamespace');
  });

  test('a file URL of another machine is refused', async () => {
    if (process.platform === 'win32') return;
    await messageOf(() => connect('file://host/x'));
  });
});

test('the nearest name', () => {
  const known = ['readOnly', 'durability', 'signal'];
  expect(nearest('read_only', known)).toBe('readOnly');
  expect(nearest('sginal', known)).toBe('signal');
  expect(nearest('duribilty', known)).toBe('durability');
  expect(nearest('x', known)).toBeUndefined();
  expect(nearest('', known)).toBeUndefined();
});
