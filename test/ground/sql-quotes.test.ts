/** Names and texts as SQL has them: they are read back as they were. */
import { expect, test } from 'vitest';
import { parseExpression } from '../../src/sql/parse/index.ts';
import { quotedName, quotedPath, quotedText } from '../../src/sql-quotes.ts';

const ODD = ['a', 'A b', 'a"b""', "it's ''", '`x`', 'a.b', 'select', '\\', 'é\n'];

test('names', () => {
  for (const name of ODD) {
    expect(parseExpression(quotedName(name))).toMatchObject({ path: [name] });
    expect(parseExpression(quotedPath([name, 'b', name]))).toMatchObject({
      path: [name, 'b', name],
    });
  }
});

test('texts', () => {
  for (const text of ['', ...ODD]) {
    expect(parseExpression(quotedText(text))).toMatchObject({ value: text });
  }
});
