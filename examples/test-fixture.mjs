/**
 * A fixture for tests: a catalog in memory for each test, whose file system fails when it is told to.
 * `node --test examples/test-fixture.mjs`. memfs is a package of yours: `npm install --save-dev memfs`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, isDirspaceError } from 'dirspace';
import { createFsFromVolume, Volume } from 'memfs';

/** A catalog, and `fail(method, code)`: the next call of that method of the file system fails. */
async function fixture() {
  const faults = new Map();
  const memory = createFsFromVolume(new Volume());
  const fs = new Proxy(memory, {
    get(target, method) {
      const call = target[method];
      if (typeof call !== 'function') return call;
      return (...args) => {
        const code = faults.get(method);
        if (code === undefined) return call.apply(target, args);
        faults.delete(method);
        throw Object.assign(new Error(`${code}: ${method} failed on purpose`), { code, errno: -1 });
      };
    },
  });
  const db = await connect('/catalog', { fs });
  return { db, fs, fail: (method, code) => faults.set(method, code) };
}

/** The code under test: a program of yours. */
async function register(db, name) {
  const users = await db.openTable('user');
  try {
    await users.add([{ name }]);
    return 'registered';
  } catch (error) {
    if (isDirspaceError(error, 'ResourceExhausted')) return 'try again later';
    throw error;
  }
}

test('a user is registered', async () => {
  const { db } = await fixture();
  const users = await db.createTable('user', [{ name: 'Ada' }]);
  assert.equal(await register(db, 'Grace'), 'registered');
  assert.equal(await users.countRows(), 2);
  await db.close();
});

test('a full disk is reported, and changes nothing', async () => {
  const { db, fail } = await fixture();
  const users = await db.createTable('user', [{ name: 'Ada' }]);
  fail('linkSync', 'ENOSPC');
  assert.equal(await register(db, 'Grace'), 'try again later');
  assert.equal(await users.countRows(), 1);
  assert.equal(await register(db, 'Grace'), 'registered');
  await db.close();
});
