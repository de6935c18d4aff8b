/** Errors of other realms, such as those of Node's modules for a program that jest runs. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { DirspaceError, isDirspaceError, isError } from '../../src/errors.ts';
import { errnoOf } from '../../src/store/disk/file-system.ts';

const foreign = runInNewContext(
  `Object.assign(new Error('not there'), { code: 'ENOENT' })`,
) as unknown;

test('an error of another realm is one', () => {
  expect(foreign).not.toBeInstanceOf(Error);
  expect(isError(foreign)).toBe(true);
  expect(isError(new DirspaceError('Internal', 'x'))).toBe(true);
  expect(isError({ name: 'Error', message: 'x' })).toBe(false);
  expect(errnoOf(foreign)).toBe('ENOENT');
});

test('a DirspaceError of another realm has its code', () => {
  const error = runInNewContext(
    `Object.assign(new Error('x'), { name: 'DirspaceError', code: 'TableNotFound' })`,
  ) as unknown;
  expect(isDirspaceError(error, 'TableNotFound')).toBe(true);
});
