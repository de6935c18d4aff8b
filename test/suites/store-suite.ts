/** What every Store must do, whatever stands behind it. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FileStore } from '../../src/store/file-store.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (found: Uint8Array | undefined): string | undefined =>
  found === undefined ? undefined : new TextDecoder().decode(found);
const pattern = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + seed) & 255);
const names = (store: FileStore, folder: string): string[] | undefined =>
  store
    .list(folder)
    ?.map((entry) => entry.name)
    .sort();
const code = async (action: () => unknown): Promise<string> => {
  try {
    await action();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'ok';
};

const failure = async (action: () => unknown): Promise<unknown> => {
  try {
    await action();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** `make` gives a store over a fresh, empty root. */
export function storeSuite(name: string, make: () => FileStore): void {
  describe(`store: ${name}`, () => {
    let store: FileStore;
    beforeEach(async () => {
      store = make();
      await store.createFolder('a/b');
    });

    test('what is put can be got, headed, listed and deleted', async () => {
      expect(await store.putIfAbsent('a/b/x', bytes('one'))).toBe(true);
      expect(text(await store.get('a/b/x'))).toBe('one');
      expect(store.head('a/b/x')).toMatchObject({ size: 3, modified: expect.any(Number) });
      expect(store.list('a/b')).toEqual([{ name: 'x', kind: 'file' }]);
      expect(store.list('a')).toEqual([{ name: 'b', kind: 'folder' }]);
      expect(store.delete('a/b/x')).toBe(true);
      expect(store.delete('a/b/x')).toBe(false);
      expect(names(store, 'a/b')).toEqual([]);
    });

    test('what is missing is undefined or false, never an error', async () => {
      for (const path of ['nothing', 'a/nothing', 'no/where/at/all']) {
        expect(await store.get(path)).toBeUndefined();
        expect(store.head(path)).toBeUndefined();
        expect(store.open(path)).toBeUndefined();
        expect(store.list(path)).toBeUndefined();
        expect(store.enter(path)).toBe(false);
        expect(store.hasFolder(path)).toBe(false);
        expect(store.delete(path)).toBe(false);
        await store.deleteFolder(path);
      }
      await store.putIfAbsent('file', bytes('x'));
      expect(await store.get('file/below')).toBeUndefined();
      expect(store.head('file/below')).toBeUndefined();
      expect(store.list('file')).toBeUndefined();
      expect(store.head('a')).toBeUndefined();
      expect(store.enter('file')).toBe(false);
      expect(store.enter('')).toBe(true);
      expect(['file', 'file/below', 'a', 'a/b', ''].map((path) => store.hasFolder(path))).toEqual([
        false,
        false,
        true,
        true,
        true,
      ]);
    });

    test.each([0, 1, 1024, 65_535, 65_536, 65_537, 300_000])('%i bytes survive', async (size) => {
      const sent = pattern(size);
      expect(await store.putIfAbsent('a/put', sent)).toBe(true);
      expect(Buffer.compare((await store.get('a/put')) as Uint8Array, sent)).toBe(0);
      await store.put('a/put', pattern(size, 9));
      expect(Buffer.compare((await store.get('a/put')) as Uint8Array, pattern(size, 9))).toBe(0);
    });

    test('results of get are independent of each other', async () => {
      await store.putIfAbsent('x', bytes('xxxx'));
      await store.putIfAbsent('y', bytes('yyyy'));
      const first = await store.get('x');
      await store.get('y');
      expect(text(first)).toBe('xxxx');
    });

    test('a taken name stays as it is, and no temporary file remains', async () => {
      await store.putIfAbsent('a/b/x', bytes('one'));
      expect(await store.putIfAbsent('a/b/x', bytes('two'))).toBe(false);
      expect(text(await store.get('a/b/x'))).toBe('one');
      expect(await store.putIfAbsent('a/b', bytes('two'))).toBe(false);
      expect(names(store, 'a/b')).toEqual(['x']);
      expect(names(store, 'a')).toEqual(['b']);
    });

    test('50 racing writers have one winner, whose bytes are whole', async () => {
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          store.putIfAbsent('a/b/race', new Uint8Array(5000).fill(index)),
        ),
      );
      const winners = results.flatMap((won, index) => (won ? [index] : []));
      expect(winners).toHaveLength(1);
      const found = (await store.get('a/b/race')) as Uint8Array;
      expect(found).toEqual(new Uint8Array(5000).fill(winners[0] as number));
      expect(names(store, 'a/b')).toEqual(['race']);
    });

    test('a second name has the bytes of the first, and outlives it', async () => {
      await store.createFolder('l');
      await store.put('l/one', bytes('five'));
      expect(await store.link('l/one', 'l/two')).toBe(true);
      expect(await store.link('l/one', 'l/two')).toBe(false);
      expect(await store.link('l/none', 'l/three')).toBe(false);
      expect(await store.link('l', 'l/three')).toBe(false);
      expect((await store.head('l/one'))?.inode).toBe((await store.head('l/two'))?.inode);
      await store.delete('l/one');
      expect(await store.get('l/two')).toEqual(bytes('five'));
      await expect(store.link('l/two', 'nowhere/x')).rejects.toThrow('nowhere');
    });

    test('an object appears only after what it waits for', async () => {
      let open = (): void => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const put = store.putIfAbsent('a/late', bytes('x'), gate);
      while (!names(store, 'a')?.some((found) => found.startsWith('.tmp-'))) await gateTurn();
      expect(store.head('a/late')).toBeUndefined();
      open();
      expect(await put).toBe(true);
      expect(store.head('a/late')).toBeDefined();
    });

    test('an object whose condition fails never appears', async () => {
      const failure = new Error('condition');
      await expect(store.putIfAbsent('a/never', bytes('x'), Promise.reject(failure))).rejects.toBe(
        failure,
      );
      expect(names(store, 'a')).toEqual(['b']);
    });

    test('writing into a missing folder is told apart and leaves nothing', async () => {
      const { isMissingFolder } = await import('../../src/store/disk/store-error.ts');
      for (const write of [
        () => store.putIfAbsent('gone/x', bytes('x')),
        () => store.put('gone/x', bytes('x')),
        () => store.create('gone/deeper/x'),
        () => store.syncFolders(['gone']),
      ]) {
        if (write.toString().includes('sync') && store.durability === 'relaxed') continue;
        const error = await failure(write);
        expect(isMissingFolder(error)).toBe(true);
      }
      store.putHint('gone/x', bytes('x'));
      expect(names(store, '')).toEqual(['a']);
    });

    test('put replaces, putHint overwrites in place, longer and shorter', async () => {
      await store.put('a/x', bytes('first'));
      await store.put('a/x', bytes('2'));
      expect(text(await store.get('a/x'))).toBe('2');
      for (const value of ['hint one', 'h', 'hint three', '']) {
        store.putHint('a/hint', bytes(value));
        expect(text(await store.get('a/hint'))).toBe(value);
      }
      expect(names(store, 'a')).toEqual(['b', 'hint', 'x']);
    });

    test('a folder that a change goes by must be there: one above both may be another by now', async () => {
      const absent = { code: 'InvalidTableState', details: { missingFolder: true } };
      await store.createFolder('a/v');
      expect(await store.putIfAbsent('a/b/x', bytes('one'), undefined, 'a/v')).toBe(true);
      expect(await store.putIfAbsent('a/b/x', bytes('two'), undefined, 'a/v')).toBe(false);
      await store.put('a/b/x', bytes('three'), 'a/v');
      expect(text(await store.get('a/b/x'))).toBe('three');
      expect(store.delete('a/b/nothing', 'a/v')).toBe(false);
      expect(store.delete('a/b/x', 'a/v')).toBe(true);
      expect([names(store, 'a/b'), names(store, 'a/v')]).toEqual([[], []]);

      // Another folder takes the place of `a` right before the name is made.
      const replaceFolder = async (): Promise<void> => {
        await store.deleteFolder('gone');
        await store.moveFolder('a', 'gone');
        await store.createFolder('a/b');
        await store.putIfAbsent('a/b/x', bytes('of another'));
      };
      const putting = store.putIfAbsent('a/b/y', bytes('mine'), replaceFolder(), 'a/v');
      await expect(putting).rejects.toMatchObject(absent);
      for (const change of [
        async () => store.putIfAbsent('a/b/y', bytes('mine'), undefined, 'a/v'),
        async () => store.put('a/b/x', bytes('mine'), 'a/v'),
        async () => store.delete('a/b/x', 'a/v'),
      ]) {
        await expect(change()).rejects.toMatchObject(absent);
      }
      expect(names(store, 'a/b')).toEqual(['x']);
      expect(text(await store.get('a/b/x'))).toBe('of another');
    });

    test('a folder that a replacement goes by may vanish while it is written', async () => {
      await store.createFolder('a/v');
      await store.putIfAbsent('a/b/x', bytes('of another'));
      const large = pattern(300_000);
      const putting = store.put('a/b/x', large, 'a/v');
      const moving = store.moveFolder('a/v', 'a/w');
      const [outcome] = await Promise.allSettled([putting, moving]);
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { details: { missingFolder: true } },
      });
      expect(text(await store.get('a/b/x'))).toBe('of another');
    });

    test('a writer takes many buffers of all sizes and reports the size', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uuid(),
          fc.array(fc.array(fc.constantFrom(0, 1, 7, 4095, 4096, 70_000), { maxLength: 5 }), {
            maxLength: 4,
          }),
          async (id, writes) => {
            const writer = store.create(`a/data/${id}`);
            let seed = 0;
            const sent: Uint8Array[] = [];
            for (const sizes of writes) {
              const buffers = sizes.map((size) => pattern(size, ++seed));
              sent.push(...buffers);
              await writer.write(buffers);
            }
            const whole = Buffer.concat(sent);
            expect(await writer.finish()).toBe(whole.length);
            expect(Buffer.compare((await store.get(`a/data/${id}`)) as Uint8Array, whole)).toBe(0);
          },
        ),
        { numRuns: 25 },
      );
    });

    test('a writer takes more buffers than one system call does', async () => {
      const writer = store.create('a/many');
      const buffers = Array.from({ length: 1300 }, (_, index) => pattern(4096, index));
      await writer.write(buffers);
      expect(await writer.finish()).toBe(1300 * 4096);
      const found = (await store.get('a/many')) as Uint8Array;
      expect(Buffer.compare(found, Buffer.concat(buffers))).toBe(0);
    });

    test('writes that are not awaited keep their order', async () => {
      const writer = store.create('a/order');
      const parts = [pattern(70_000, 1), pattern(10, 2), pattern(90_000, 3)];
      await Promise.all(parts.map((part) => writer.write([part])));
      await writer.finish();
      const found = (await store.get('a/order')) as Uint8Array;
      expect(Buffer.compare(found, Buffer.concat(parts))).toBe(0);
    });

    test('a writer is exclusive, abort removes, a finished one is closed', async () => {
      const writer = store.create('a/w');
      expect(await code(() => store.create('a/w'))).not.toBe('ok');
      await writer.write([pattern(10)]);
      await writer.abort();
      await writer.abort();
      expect(store.head('a/w')).toBeUndefined();
      expect(await code(() => writer.write([pattern(1)]))).toBe('Closed');
      const second = store.create('a/w');
      await second.finish();
      expect(await code(() => second.write([pattern(1)]))).toBe('Closed');
      expect(store.head('a/w')).toMatchObject({ size: 0 });
      await second.abort();
      expect(store.head('a/w')).toBeUndefined();
    });

    test('a reader gives exact, aligned ranges and refuses all others', async () => {
      const sent = pattern(200_000);
      await store.putIfAbsent('a/r', sent);
      const reader = store.open('a/r');
      if (reader === undefined) throw new Error('no reader');
      expect(reader.size).toBe(200_000);
      for (const [offset, length] of [
        [0, 0],
        [0, 200_000],
        [1, 65_536],
        [3, 65_537],
        [199_999, 1],
        [200_000, 0],
      ] as const) {
        const found = await reader.read(offset, length);
        expect(found.byteOffset % 8).toBe(0);
        expect(Buffer.compare(found, sent.subarray(offset, offset + length))).toBe(0);
      }
      for (const [offset, length] of [
        [0, 200_001],
        [200_000, 1],
        [-1, 1],
        [0, -1],
        [0.5, 1],
        [Number.MAX_SAFE_INTEGER, 1],
        [0, Number.POSITIVE_INFINITY],
        [Number.NaN, 1],
      ] as const) {
        expect(await code(() => reader.read(offset, length))).toBe('Corrupt');
      }
      const pending = reader.read(0, 200_000);
      reader.close();
      reader.close();
      expect((await pending).byteLength).toBe(200_000);
      expect(await code(() => reader.read(0, 1))).toBe('Closed');
    });

    test('a file that shrank under its reader is corrupt', async () => {
      await store.put('a/s', pattern(100_000));
      const reader = store.open('a/s');
      store.putHint('a/s', pattern(10));
      expect(await code(() => reader?.read(0, 1000))).toBe('Corrupt');
      expect(await code(() => reader?.read(0, 100_000))).toBe('Corrupt');
      reader?.close();
    });

    test('readers of a name see whole objects or none', async () => {
      const seen = new Set<string>();
      let writing = true;
      const reading = (async () => {
        while (writing) {
          for (let version = 0; version < 40; version++) {
            const found = await store.get(`a/v${version}`);
            if (found !== undefined) seen.add(`${found.length}:${new Set(found).size}`);
          }
          await gateTurn();
        }
      })();
      for (let version = 0; version < 40; version++) {
        await store.putIfAbsent(`a/v${version}`, new Uint8Array(20_000).fill(version + 1));
      }
      writing = false;
      await reading;
      expect([...seen].filter((found) => found !== '20000:1')).toEqual([]);
    });

    test('folders are made with their parents, again and again', async () => {
      await store.createFolder('p/q/r');
      await store.createFolder('p/q/r');
      await Promise.all(Array.from({ length: 8 }, () => store.createFolder('m/n/o')));
      expect(store.enter('p/q/r')).toBe(true);
      expect(store.enter('m/n/o')).toBe(true);
      await store.putIfAbsent('file', bytes('x'));
      expect(await code(() => store.createFolder('file'))).toBe('InvalidInput');
      expect(await code(() => store.createFolder('file/below'))).toBe('InvalidInput');
      await store.syncFolders(['p', 'p/q', 'p/q', '']);
    });

    test('a folder moves once, to a free place, with its content', async () => {
      await store.putIfAbsent('a/b/x', bytes('x'));
      await store.createFolder('c');
      expect(await store.moveFolder('a/b', 'c/d')).toBe('moved');
      expect(text(await store.get('c/d/x'))).toBe('x');
      expect(store.enter('a/b')).toBe(false);
      expect(await store.moveFolder('a/b', 'c/e')).toBe('missing');
      expect(await store.moveFolder('c/d', 'nowhere/d')).toBe('missing');
      expect(await store.moveFolder('c/d', 'a')).toBe('taken');
      await store.createFolder('empty');
      expect(await store.moveFolder('c/d', 'empty')).toBe('taken');
      await store.putIfAbsent('file', bytes('x'));
      expect(await store.moveFolder('c/d', 'file')).toBe('taken');
      expect(await code(() => store.moveFolder('c', 'c/d'))).toBe('InvalidInput');
      expect(await code(() => store.moveFolder('c', 'c/new'))).toBe('InvalidInput');
      expect(await code(() => store.moveFolder('c', 'c'))).toBe('InvalidInput');
      expect(await code(() => store.moveFolder('file', 'g'))).toBe('InvalidInput');
      expect(text(await store.get('c/d/x'))).toBe('x');
      expect(names(store, '')).toEqual(['a', 'c', 'empty', 'file']);
    });

    test('many moves onto one name have one winner', async () => {
      for (let index = 0; index < 12; index++) {
        await store.createFolder(`s/${index}`);
        await store.putIfAbsent(`s/${index}/marker`, bytes(String(index)));
      }
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, index) => store.moveFolder(`s/${index}`, 'a/target')),
      );
      const winner = results.indexOf('moved');
      expect(results.filter((result) => result === 'moved')).toHaveLength(1);
      expect(results.filter((result) => result === 'taken')).toHaveLength(11);
      expect(text(await store.get('a/target/marker'))).toBe(String(winner));
      expect(names(store, 's')).toHaveLength(11);
    });

    test('a folder is removed with all it holds, by several at once', async () => {
      for (let index = 0; index < 20; index++) {
        await store.createFolder(`a/b/${index}/deep`);
        for (let file = 0; file < 20; file++) {
          await store.put(`a/b/${index}/deep/${file}`, bytes('x'));
        }
      }
      await Promise.all([store.deleteFolder('a/b'), store.deleteFolder('a/b')]);
      expect(names(store, 'a')).toEqual([]);
      await store.putIfAbsent('a/file', bytes('x'));
      expect(await code(() => store.deleteFolder('a/file'))).toBe('InvalidInput');
      expect(store.head('a/file')).toBeDefined();
    });

    test.each([
      '',
      '/',
      '/etc',
      '..',
      '../x',
      'a/..',
      'a/../..',
      './a',
      'a/.',
      'a//b',
      'a/',
      'a\0b',
      'a\\b',
    ])('the path %j is refused by every call', async (path) => {
      for (const call of [
        () => store.get(path),
        () => store.head(path),
        () => store.open(path),
        () => store.putIfAbsent(path, bytes('x')),
        () => store.put(path, bytes('x')),
        () => store.putHint(path, bytes('x')),
        () => store.create(path),
        () => store.delete(path),
        () => store.moveFolder(path, 'z'),
        () => store.moveFolder('a', path),
        () => store.deleteFolder(path),
      ]) {
        expect(await code(call)).toBe('InvalidInput');
      }
      if (path === '') return;
      expect(await code(() => store.list(path))).toBe('InvalidInput');
      expect(await code(() => store.enter(path))).toBe('InvalidInput');
      expect(await code(() => store.createFolder(path))).toBe('InvalidInput');
    });

    test('a name that is too long is refused before anything is written', async () => {
      const path = `a/${'n'.repeat(256)}`;
      expect(await code(() => store.putIfAbsent(path, bytes('x')))).toBe('InvalidInput');
      expect(await code(() => store.create(path))).toBe('InvalidInput');
      expect(await code(() => store.createFolder(path))).toBe('InvalidInput');
      expect(names(store, 'a')).toEqual(['b']);
    });

    test('a folder is not an object', async () => {
      expect(await code(() => store.get('a'))).toBe('InvalidInput');
      expect(await code(() => store.open('a'))).toBe('InvalidInput');
      expect(await code(() => store.put('a', bytes('x')))).toBe('InvalidInput');
      expect(await code(() => store.delete('a'))).not.toBe('ok');
      expect(names(store, '')).toEqual(['a']);
    });

    test('messages name the path below the root and nothing above it', async () => {
      for (const call of [
        () => store.get('a'),
        () => store.create('a/b'),
        () => store.putIfAbsent('gone/x', bytes('x')),
        () => store.createFolder(`a/${'n'.repeat(300)}`),
      ]) {
        const error = await failure(call);
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).message).not.toContain(store.root);
      }
    });

    test('the probe finds hard links and leaves nothing', () => {
      expect(store.probe()).toEqual({ hardLinks: true, foldsCase: false });
      expect(store.list('.dirspace')).toEqual([]);
    });
  });
}

function gateTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
