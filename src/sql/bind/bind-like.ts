/**
 * `likeNode` builds the bound form of LIKE and ILIKE, of a pattern that the caller has checked. If
 * a constant pattern and its escape character are in lower case, `lower(x) LIKE 'a%'` becomes `x
 * ILIKE 'a%'`, which means the same, so lower(x) need not be computed.
 */
import { lowerText } from '../texts/index.ts';
import { BOOL, type Bound } from '../typed/index.ts';

type Like = Omit<Extract<Bound, { kind: 'like' }>, 'kind' | 'type'>;

export function likeNode(like: Like): Bound {
  const { arg, pattern, escape: escaping } = like;
  const [inner] = arg.kind === 'call' && arg.run.name === 'lower' ? arg.args : [];
  const text = pattern.kind === 'literal' ? pattern.value : undefined;
  const isFolded = typeof text === 'string' && isLower(text) && isLower(escaping);
  const same = inner === undefined || !isFolded ? like : { ...like, arg: inner, insensitive: true };
  return { ...same, kind: 'like', type: BOOL };
}

const isLower = (text: string): boolean => lowerText(text) === text;
