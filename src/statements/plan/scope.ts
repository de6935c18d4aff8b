/**
 * `Scope` resolves names inside a SELECT. It holds the tables of its FROM clause, each with its
 * columns and the name that each column has in the plan. Columns are found by their exact names
 * first, then ignoring case; tables always ignoring case. For a name that no column has, `find`
 * returns undefined, and `resolve` throws TableColumnNotFound, or InvalidInput if a query around
 * this one has it. Both throw InvalidInput for ambiguous names. `star` lists the columns of `*`.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Expression, formatName, nearestName, refuse } from '../../sql/index.ts';

export interface ScopeColumn {
  readonly name: string;
  /** Its name in the plan. */
  readonly internal: string;
  readonly type: DataType;
  /** Not part of `*`. */
  readonly isHidden?: boolean;
}

export interface ScopeTable {
  /** The alias alone, or the whole path of a table without one. */
  readonly path: readonly string[];
  readonly isAlias?: boolean;
  readonly columns: readonly ScopeColumn[];
}

/** A column that USING made of two. */
export interface MergedColumn {
  readonly name: string;
  readonly value: Expression;
  /** Names in the plan of those that it stands for. */
  readonly of: readonly string[];
}

const folded = (name: string): string => name.toLowerCase();

/** The items with exactly this name, or else those whose names differ from it in letter case. */
function named<Item>(items: readonly Item[], nameOf: (item: Item) => string, name: string): Item[] {
  const exact = items.filter((item) => nameOf(item) === name);
  if (exact.length > 0) return exact;
  return items.filter((item) => folded(nameOf(item)) === folded(name));
}

export class Scope {
  readonly tables: readonly ScopeTable[];
  readonly merged: readonly MergedColumn[];

  /** Those of the queries around this one, whose columns it cannot read. */
  readonly #around: readonly Scope[];

  constructor(
    tables: readonly ScopeTable[],
    merged: readonly MergedColumn[] = [],
    around: readonly Scope[] = [],
  ) {
    this.tables = tables;
    this.merged = merged;
    this.#around = around;
  }

  within(around: readonly Scope[]): Scope {
    return around.length === 0 ? this : new Scope(this.tables, this.merged, around);
  }

  /**
   * The tree that a name stands for.
   * @throws TableColumnNotFound, InvalidInput where it is unclear
   */
  resolve(path: readonly string[], at: number | undefined): Expression {
    return this.find(path, at) ?? this.#notFound(path, at);
  }

  /** Does the same, but gives undefined if there is no such name. */
  find(path: readonly string[], at: number | undefined): Expression | undefined {
    const [first = ''] = path;
    if (path.length > 1) {
      for (const table of this.#tablesNamed(path, at)) {
        const columns = named(table.columns, ({ name }) => name, path[table.length] ?? '');
        const column = single(columns, path, at);
        if (column !== undefined) return columnOf(column, path.slice(table.length + 1), at);
      }
    }
    const merged = named(this.merged, ({ name }) => name, first);
    if (merged[0] !== undefined && merged.length === 1) {
      return membersOf(merged[0].value, path.slice(1), at);
    }
    const column = single(
      named(
        this.tables.flatMap(({ columns }) => columns),
        ({ name }) => name,
        first,
      ),
      path,
      at,
    );
    return column === undefined ? undefined : columnOf(column, path.slice(1), at);
  }

  /** Tables that the beginning of a path names, with how much of it that is; longest first. */
  #tablesNamed(
    path: readonly string[],
    at: number | undefined,
  ): { columns: readonly ScopeColumn[]; length: number }[] {
    const found: { columns: readonly ScopeColumn[]; length: number }[] = [];
    for (let length = path.length - 1; length >= 1; length--) {
      const asked = path.slice(0, length).map(folded).join('\0');
      const tables = this.tables.filter(
        (table) => table.path.slice(-length).map(folded).join('\0') === asked,
      );
      if (tables.length > 1) {
        const name = path.slice(0, length).map(formatName).join('.');
        refuse(at, `The name ${name} stands for several tables; give them aliases`);
      }
      if (tables[0] !== undefined) found.push({ columns: tables[0].columns, length });
    }
    return found;
  }

  /** The columns of `*`, or of `a.*`. @throws InvalidInput where there is no such table */
  star(path: readonly string[], at: number | undefined): { name: string; value: Expression }[] {
    if (path.length === 0) {
      if (this.tables.length === 0) refuse(at, '* needs a FROM clause');
      const hidden = new Set(this.merged.flatMap(({ of }) => of));
      return [
        ...this.merged.map(({ name, value }) => ({ name, value })),
        ...this.tables.flatMap(({ columns }) => shown(columns, hidden)),
      ];
    }
    const table = this.#tablesNamed([...path, ''], at).find(({ length }) => length === path.length);
    if (table === undefined) {
      refuse(at, `There is no table ${path.map(formatName).join('.')} in FROM`);
    }
    return shown(table.columns, new Set());
  }

  #notFound(path: readonly string[], at: number | undefined): never {
    const columns = this.tables.flatMap((table) => table.columns);
    const names = [...new Set(columns.map(({ name }) => name))];
    const near = nearestName(path.at(-1) ?? '', names) ?? nearestName(path[0] ?? '', names);
    const list = names.length === 0 || names.length > 20 ? '' : names.map(formatName).join(', ');
    const hint =
      near === null
        ? list === ''
          ? ''
          : `; the columns are: ${list}`
        : `; did you mean ${formatName(near)}?`;
    const asked = path.map(formatName).join('.');
    if (this.#around.some((scope) => scope.find(path, at) !== undefined)) {
      refuse(
        at,
        `The sub-select reads ${asked} of the query around it elsewhere than in an equation of its WHERE, which is not supported; write a join in its place`,
        { details: { column: path.join('.') } },
      );
    }
    return refuse(at, `There is no column ${asked}${hint}`, {
      code: 'TableColumnNotFound',
      details: { column: path.join('.'), ...(near === null ? {} : { nearest: near }) },
    });
  }
}

const shown = (
  columns: readonly ScopeColumn[],
  hidden: ReadonlySet<string>,
): { name: string; value: Expression }[] =>
  columns
    .filter(({ internal, isHidden }) => isHidden !== true && !hidden.has(internal))
    .map(({ name, internal }) => ({ name, value: { kind: 'column', path: [internal] } }));

function single(
  columns: readonly ScopeColumn[],
  path: readonly string[],
  at: number | undefined,
): ScopeColumn | undefined {
  if (columns.length > 1) {
    refuse(
      at,
      `The column name ${path.map(formatName).join('.')} is ambiguous: ${columns.length} columns have it; write the table before it`,
    );
  }
  return columns[0];
}

const columnOf = (
  { internal }: ScopeColumn,
  members: readonly string[],
  at: number | undefined,
): Expression => ({
  kind: 'column',
  path: [internal, ...members],
  ...(at === undefined ? {} : { at }),
});

function membersOf(
  value: Expression,
  members: readonly string[],
  at: number | undefined,
): Expression {
  const place = at === undefined ? {} : { at };
  return members.reduce<Expression>((arg, name) => ({ kind: 'field', arg, name, ...place }), value);
}
