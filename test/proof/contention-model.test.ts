/** The model that holds the engine in the proof of kills and contention: what it explains and what not. */
import { describe, expect, test } from 'vitest';
import {
  type Change,
  type Content,
  changed,
  contentOf,
  hashOf,
  type Line,
  type Row,
  unexplained,
} from '../proof/contention-model.ts';

const FIRST: readonly Row[] = [
  [0, 0, 'a'],
  [1, 1, 'b'],
  [2, 1, 'c'],
];
const CHANGES: readonly Change[] = [
  { kind: 'append', rows: [[7, 2, 'd']] },
  { kind: 'add column', name: 'x', factor: 3 },
  { kind: 'update', group: 1, to: 4, mark: 'u' },
  {
    kind: 'merge',
    rows: [
      [1, 3, 'm'],
      [9, 3, 'n'],
    ],
  },
  { kind: 'rename column', from: 'x', to: 'y' },
  { kind: 'widen' },
  { kind: 'delete', group: 4, rest: 2 },
  { kind: 'compact' },
  { kind: 'drop column', name: 'y' },
  { kind: 'overwrite', rows: [[20, 0, 'z']] },
  { kind: 'restore', version: 4 },
];

/** Versions from 1 on. */
function played(changes: readonly Change[]): Content[] {
  const all = [contentOf(FIRST)];
  for (const change of changes) {
    const next = changed(all.at(-1) as Content, change, (version) => all[version - 1]);
    if (next === undefined) throw new Error(`${change.kind} cannot follow`);
    all.push(next);
  }
  return all;
}

const contents = played(CHANGES);
const seenOf = (all: readonly Content[]): Map<number, string> =>
  new Map(all.map((content, at) => [at + 1, hashOf(content)]));
const line = (given: Partial<Line>): Line => ({
  first: 1,
  content: contentOf(FIRST),
  newest: CHANGES.length + 1,
  acknowledged: new Map(CHANGES.map((change, at) => [at + 2, change])),
  open: [],
  untold: [],
  seen: seenOf(contents),
  ...given,
});

test('every kind of change does what its name says', () => {
  const shown = contents.map(({ columns, rows }) => [
    columns.map(([name, type]) => `${name}:${type}`).join(),
    [...rows.values()].map((cells) => cells.join()).join(' '),
  ]);
  const plain = 'id:Int32,grp:Int32,mark:Utf8';
  expect(shown).toEqual([
    [plain, '0,0,a 1,1,b 2,1,c'],
    [plain, '0,0,a 1,1,b 2,1,c 7,2,d'],
    [`${plain},x:Int64`, '0,0,a,0 1,1,b,3 2,1,c,6 7,2,d,21'],
    [`${plain},x:Int64`, '0,0,a,0 1,4,u,3 2,4,u,6 7,2,d,21'],
    [`${plain},x:Int64`, '0,0,a,0 1,3,m,3 2,4,u,6 7,2,d,21 9,3,n,'],
    [`${plain},y:Int64`, '0,0,a,0 1,3,m,3 2,4,u,6 7,2,d,21 9,3,n,'],
    ['id:Int32,grp:Int64,mark:Utf8,y:Int64', '0,0,a,0 1,3,m,3 2,4,u,6 7,2,d,21 9,3,n,'],
    ['id:Int32,grp:Int64,mark:Utf8,y:Int64', '0,0,a,0 1,3,m,3 7,2,d,21 9,3,n,'],
    ['id:Int32,grp:Int64,mark:Utf8,y:Int64', '0,0,a,0 1,3,m,3 7,2,d,21 9,3,n,'],
    ['id:Int32,grp:Int64,mark:Utf8', '0,0,a 1,3,m 7,2,d 9,3,n'],
    [plain, '20,0,z'],
    [`${plain},x:Int64`, '0,0,a,0 1,4,u,3 2,4,u,6 7,2,d,21'],
  ]);
});

describe('an order', () => {
  test('is found where there is one, also where open changes fill it', () => {
    expect(unexplained(line({}))).toBeUndefined();
    const acknowledged = new Map(line({}).acknowledged);
    for (const at of [3, 5, 8]) acknowledged.delete(at);
    const open = [CHANGES[6], CHANGES[3], CHANGES[0], CHANGES[1]] as Change[];
    expect(unexplained(line({ acknowledged, open }))).toBeUndefined();
    // Cleanup took the versions before anybody read them.
    const seen = new Map([...line({}).seen].filter(([version]) => version > 9));
    expect(unexplained(line({ acknowledged, open, seen }))).toBeUndefined();
  });

  test('is not found where a change is missing, is there twice or is nobody’s', () => {
    const twice = played([...CHANGES.slice(0, 3), CHANGES[2] as Change, ...CHANGES.slice(3)]);
    const shifted = new Map(CHANGES.map((change, at) => [at + (at < 3 ? 2 : 3), change]));
    const more = { newest: CHANGES.length + 2, seen: seenOf(twice), acknowledged: shifted };
    expect(unexplained(line(more))).toMatch(/version 5 of 13 is explained by no order/);
    const lost = contents.map((content, at) => (at === 1 ? (contents[0] as Content) : content));
    expect(unexplained(line({ seen: seenOf(lost) }))).toMatch(/version 2 of 12/);
    const untold = [CHANGES[9] as Change];
    expect(unexplained(line({ untold }))).toMatch(/acknowledged, one is not there/);
    expect(unexplained(line({ content: contents[1] as Content }))).toMatch(/version 1 is not/);
  });
});
