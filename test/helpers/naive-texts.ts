/** Full-text search as plainly as it can be written: BM25 over lists of words. */
import type { FtsQuery } from '../../src/index.ts';

/** The words of each column, with their positions; undefined for no text. */
export type WordsOf = Readonly<Record<string, readonly [string, number][] | undefined>>;

export interface NaiveDocument {
  readonly id: number;
  readonly words: WordsOf;
}

const steps = (left: string, right: string): number => {
  const [a, b] = [[...left], [...right]];
  const rows = Array.from({ length: a.length + 1 }, (_, at) => [at]);
  for (let at = 0; at <= b.length; at++) (rows[0] as number[])[at] = at;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      (rows[i] as number[])[j] = Math.min(
        (rows[i - 1]?.[j] as number) + 1,
        (rows[i]?.[j - 1] as number) + 1,
        (rows[i - 1]?.[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
  }
  return rows[a.length]?.[b.length] as number;
};

/** Score of every document that matches, by id. */
export function naiveScores(
  documents: readonly NaiveDocument[],
  query: FtsQuery,
  columns: readonly string[],
  wordsOf: (text: string) => readonly [string, number][],
): Map<number, number> {
  const leaf = (
    {
      terms,
      column = '',
      slop,
    }: { readonly terms: string; readonly column?: string; readonly slop?: number },
    groupOf: (word: string, left: number, isLast: boolean) => readonly string[],
    room: number,
    all: boolean,
    boost: number,
    given?: readonly [string, number][],
  ): Map<number, number> => {
    const having = documents.filter(({ words }) => (words[column]?.length ?? 0) > 0);
    const total = having.length;
    const tokens = having.reduce((sum, { words }) => sum + (words[column]?.length ?? 0), 0);
    const frequency = (word: string): number =>
      having.filter(({ words }) => words[column]?.some(([other]) => other === word)).length;
    const wanted = given ?? wordsOf(terms);
    let left = room;
    const groups = wanted.map(([word], at) => {
      const group = groupOf(word, left, at === wanted.length - 1);
      left -= group.length;
      return group.map((term) => ({ term, idf: idf(total, frequency(term)) }));
    });
    const scores = new Map<number, number>();
    for (const { id, words } of having) {
      const own = words[column] ?? [];
      let sum = 0;
      let hits = 0;
      for (const group of groups) {
        let hit = false;
        for (const { term, idf: weight } of group) {
          const count = own.filter(([word]) => word === term).length;
          if (count === 0) continue;
          hit = true;
          const norm = 1.2 * (0.25 + (0.75 * own.length * total) / tokens);
          sum += (weight * count * 2.2) / (count + norm);
        }
        if (hit) hits += 1;
      }
      if (hits === 0 || (all && hits < groups.length)) continue;
      if (slop !== undefined && !follows(own, wanted, slop)) continue;
      scores.set(id, boost * sum);
    }
    return scores;
  };
  const near = (word: string, edits: number, prefix: number, most: number, column: string) => {
    const known = new Set(documents.flatMap(({ words }) => (words[column] ?? []).map(([w]) => w)));
    const start = [...word].slice(0, prefix).join('');
    return [...known]
      .filter((other) => other.startsWith(start) && steps(word, other) <= edits)
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .slice(0, most);
  };
  const best = (parts: Map<number, number>[]): Map<number, number> => {
    const scores = new Map<number, number>();
    for (const part of parts) {
      for (const [id, score] of part) scores.set(id, Math.max(score, scores.get(id) ?? -Infinity));
    }
    return scores;
  };
  const { match, phrase, prefix: open, boost, multi_match: multi, boolean } = query;
  const again = (one: FtsQuery): Map<number, number> =>
    naiveScores(documents, one, columns, wordsOf);
  if (match !== undefined) {
    if (match.column === undefined) {
      return best(columns.map((column) => again({ match: { ...match, column } })));
    }
    const { fuzziness = 0, prefix_length: prefix = 0, max_expansions: most = 50, column } = match;
    const all = match.operator?.toLowerCase() === 'and';
    const groupOf = (word: string, room: number): readonly string[] => {
      if (fuzziness === 0) return [word];
      const length = [...word].length;
      return near(word, fuzziness ?? (length < 3 ? 0 : length < 6 ? 1 : 2), prefix, room, column);
    };
    return leaf(match, groupOf, most, all, match.boost ?? 1);
  }
  if (phrase !== undefined) {
    if (phrase.column === undefined) {
      return best(columns.map((column) => again({ phrase: { ...phrase, column } })));
    }
    return leaf({ slop: 0, ...phrase }, (word) => [word], 0, true, 1);
  }
  if (open !== undefined) {
    const { column, max_expansions: most = 50 } = open;
    if (column === undefined) {
      return best(columns.map((one) => again({ prefix: { ...open, column: one } })));
    }
    const parts = open.terms.split(' ');
    const start = (parts.pop() ?? '').normalize('NFD').replace(/\p{M}/gu, '');
    const whole = wordsOf(start).map(([word]) => word);
    const groupOf = (word: string, _: number, isLast: boolean): readonly string[] => {
      if (!isLast) return [word];
      const known = new Set(
        documents.flatMap(({ words }) => (words[column] ?? []).map(([other]) => other)),
      );
      const longer = [...known]
        .filter((other) => other.startsWith(word) && !whole.includes(other))
        .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return [...whole, ...longer.slice(0, most)];
    };
    const all = open.operator?.toLowerCase() === 'and';
    const words: [string, number][] = [...wordsOf(parts.join(' ')), [start, 0]];
    return leaf(open, groupOf, 0, all, open.boost ?? 1, words);
  }
  if (multi !== undefined) return best(multi.match_queries.map((one) => again({ match: one })));
  if (boost !== undefined) {
    const scores = again(boost.positive);
    for (const [id, less] of again(boost.negative)) {
      const score = scores.get(id);
      if (score !== undefined) scores.set(id, score - (boost.negative_boost ?? 0.5) * less);
    }
    return scores;
  }
  const { must = [], must_not: not = [], should = [] } = boolean ?? {};
  const [musts, shoulds] = [must.map(again), should.map(again)];
  const scores = new Map<number, number>();
  for (const { id } of documents) {
    if (must.length > 0 && !musts.every((part) => part.has(id))) continue;
    if (must.length === 0 && !shoulds.some((part) => part.has(id))) continue;
    const parts = [...musts, ...shoulds].map((part) => part.get(id) ?? 0);
    scores.set(
      id,
      parts.reduce((sum, score) => sum + score, 0),
    );
  }
  for (const part of not) for (const id of again(part).keys()) scores.delete(id);
  return scores;
}

const idf = (total: number, frequency: number): number =>
  Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));

function follows(
  own: readonly [string, number][],
  wanted: readonly [string, number][],
  slop: number,
): boolean {
  const from = (at: number, position: number): boolean => {
    const next = wanted[at];
    if (next === undefined) return true;
    const gap = next[1] - (wanted[at - 1]?.[1] ?? 0);
    return own.some(
      ([word, place]) =>
        word === next[0] &&
        (at === 0 || (place >= position + gap && place <= position + gap + slop)) &&
        from(at + 1, place),
    );
  };
  return from(0, 0);
}
