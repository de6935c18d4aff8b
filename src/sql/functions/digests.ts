/**
 * Computes `DIGEST_FUNCTIONS`: md5 and sha256 of the UTF-8 of a text, as hexadecimal digits in
 * small letters, and hex, which writes the bytes of a text in capital ones.
 */
import { createHash } from 'node:crypto';
import type { RowFunction } from '../typed/index.ts';
import { strict } from './rows.ts';

const digest = (name: string): RowFunction =>
  strict(name, ([text]) =>
    createHash(name)
      .update(text as string, 'utf8')
      .digest('hex'),
  );

export const DIGEST_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  md5: digest('md5'),
  sha256: digest('sha256'),
  hex: strict('hex', ([value], _type, memory) => {
    const text = value as string;
    // A unit of UTF-16 has at most three bytes of UTF-8, and each of them two digits.
    memory.text(6 * text.length);
    return Buffer.from(text, 'utf8').toString('hex').toUpperCase();
  }),
};
