/**
 * The few forms that most filters and new values have, read from tokens alone: the grammar is a
 * large module that takes a process longer to load than most tables take to filter. Filters are
 * columns against literals with comparisons, BETWEEN, IN and IS NULL, joined by AND or by OR; values
 * are in simple-values.ts. Everything else, every mistake included, is left to the grammar; what is
 * read here comes out as the grammar would have it.
 */
import { SimpleValues } from './simple-values.ts';
import type { Token } from './tokens.ts';
import type { ColumnExpression, CompareOperator, Expression } from './tree.ts';

const COMPARISONS: Readonly<Record<string, CompareOperator>> = {
  '=': '=',
  '==': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** The tree of a simple filter or value, undefined for anything else. */
export function parseSimple(tokens: readonly Token[]): Expression | undefined {
  return new SimpleFilter(tokens).whole() ?? new SimpleValues(tokens).whole();
}

class SimpleFilter extends SimpleValues {
  override whole(): Expression | undefined {
    const first = this.#term();
    const joint = this.peek();
    if (first === undefined || joint === undefined) return first;
    if (joint.word !== 'and' && joint.word !== 'or') return undefined;
    const args = [first];
    while (this.peek() !== undefined) {
      if (!this.took(joint.word)) return undefined;
      const term = this.#term();
      if (term === undefined) return undefined;
      args.push(term);
    }
    return { kind: joint.word, args, at: joint.start };
  }

  #term(): Expression | undefined {
    const arg = this.column();
    const token = this.next();
    if (arg === undefined || token === undefined) return undefined;
    const op = token.kind === 'operator' ? COMPARISONS[token.text] : undefined;
    const at = token.start;
    if (op !== undefined) {
      const right = this.literal();
      return right && { kind: 'binary', op, left: arg, right, at };
    }
    if (token.word === 'is') return this.#nullTest(arg, at);
    const negated = token.word === 'not';
    const form = negated ? this.next()?.word : token.word;
    if (form === 'between') return this.#between(arg, negated, at);
    return form === 'in' ? this.#list(arg, negated, at) : undefined;
  }

  #nullTest(arg: ColumnExpression, at: number): Expression | undefined {
    const negated = this.took('not');
    return this.took('null') ? { kind: 'is', arg, test: 'null', negated, at } : undefined;
  }

  #between(arg: ColumnExpression, negated: boolean, at: number): Expression | undefined {
    const low = this.literal();
    if (low === undefined || !this.took('and')) return undefined;
    const high = this.literal();
    return high && { kind: 'between', arg, low, high, negated, at };
  }

  #list(arg: ColumnExpression, negated: boolean, at: number): Expression | undefined {
    if (this.next()?.text !== '(') return undefined;
    const items = this.literals(')');
    return items && { kind: 'in', arg, items, negated, at };
  }
}
