/**
 * Adding columns. One that is null everywhere is a change of the schema alone; one with values
 * makes every fragment be written anew, row by row in the same places, so that row ids stay.
 */
import { type Data, DataType, Field, type RecordBatch, recordBatchStream } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { type CompiledExpression, compileExpression } from '../expression/expression.ts';
import { nullColumn, recordBatch } from '../format/arrow-data.ts';
import { concatData } from '../format/concat.ts';
import { type FragmentEntry, liveRows } from '../format/fragment-entry.ts';
import { gather } from '../format/gather.ts';
import { describeType } from '../protocol/schema-equality.ts';
import { type Adapter, adapterBetween } from './adapt.ts';
import { emptyTable, type WriteOptions } from './append.ts';
import { type Assignment, assignedValues, readSource, withChild } from './assignments.ts';
import { isBetweenAttempts } from './attempt.ts';
import { type BatchPlace, readFields, readSelected } from './batch-rows.ts';
import { ROW_ID, ROW_OFFSET } from './columns.ts';
import { type Committed, commit, type Draft } from './commit.ts';
import type { Engine } from './engine.ts';
import { checkName, refuseTwins, schemaDraft, schemaOf } from './evolve.ts';
import { assignFieldIds, type IdentifiedField } from './field-ids.ts';
import { changeNode, findField, leafOf, withChildren } from './field-paths.ts';
import { editFragments, fragmentListOf } from './fragment-list.ts';
import type { TableBranch } from './head.ts';
import { fragmentPlaces } from './scan.ts';
import { planScan, type ScanPlan } from './scan-plan.ts';
import type { Snapshot } from './snapshot.ts';
import { type NewFragment, removeFragments, writeFragments } from './write.ts';

export interface NewColumn {
  /** A dotted path adds a field to a struct. */
  readonly path: string;
  /** SQL over the columns there are; `CAST(NULL AS type)` gives a column of nulls. */
  readonly expression?: string | undefined;
  /** Of a column of nulls. */
  readonly type?: DataType | undefined;
}

/**
 * Adds nullable columns in one version.
 * @throws InvalidInput for a name that is taken, an expression without a type or that fails
 */
export async function addColumns(
  engine: Engine,
  branch: TableBranch,
  columns: readonly NewColumn[],
  options: WriteOptions = {},
): Promise<Committed> {
  if (columns.length === 0) throw new DirspaceError('InvalidInput', 'No column is given to add.');
  const rewriter = new Rewriter(engine, branch.tableFolder, options.signal);
  try {
    const committed = await commit(engine, branch, {
      ...(options.transaction === undefined ? {} : { transaction: options.transaction }),
      signal: options.signal,
      build: async (base) => {
        if (base === undefined) throw emptyTable();
        try {
          return await build(engine, base, columns, rewriter);
        } catch (error) {
          await rewriter.discard();
          throw error;
        }
      },
    });
    await rewriter.discardUnused();
    return committed;
  } catch (error) {
    if (isBetweenAttempts(error, options.signal)) await rewriter.discard();
    throw error;
  }
}

async function build(
  engine: Engine,
  base: Snapshot,
  columns: readonly NewColumn[],
  rewriter: Rewriter,
): Promise<Draft> {
  let tree = base.fields;
  let { nextFieldId } = base.manifest;
  const computed: { path: string; expression: CompiledExpression }[] = [];
  for (const column of columns) {
    const { type, expression } = await typeOf(base, column);
    const [parent, name] = parentOf(base.fields, column.path);
    checkName(name);
    const made = assignFieldIds([new Field(name, type, true)], nextFieldId);
    nextFieldId = made.nextFieldId;
    tree =
      parent === undefined
        ? [...tree, ...made.tree]
        : changeNode(tree, parent.id, (node) =>
            withChildren(node, [...node.children, ...made.tree]),
          );
    if (expression !== undefined) computed.push({ path: column.path, expression });
  }
  refuseTwins(tree);
  if (computed.length === 0) return schemaDraft(base, { tree, nextFieldId }, 'schema');
  const assignments = computed.map(({ path, expression }) => ({
    place: findField(tree, path),
    expression,
  }));
  const { replaced, durable } = await rewriter.rewrite(base, tree, assignments);
  const folder = base.branch.tableFolder;
  const fragments = await editFragments(engine, folder, fragmentListOf(base.manifest), {
    replaced,
  });
  return { ...schemaDraft(base, { tree, nextFieldId, fragments }, 'schema'), after: durable };
}

/** The type of a column, and its expression where that is not null everywhere. */
async function typeOf(
  base: Snapshot,
  { path, expression: sql, type }: NewColumn,
): Promise<{ type: DataType; expression?: CompiledExpression }> {
  if (sql === undefined) {
    if (type !== undefined) return { type };
    throw new DirspaceError(
      'InvalidInput',
      `The new column ${JSON.stringify(path)} has no expression; one of nulls is CAST(NULL AS BIGINT) and the like.`,
    );
  }
  const expression = await compileExpression(sql, base.schema);
  if (DataType.isNull(expression.type)) {
    throw new DirspaceError(
      'InvalidInput',
      `The expression of the new column ${JSON.stringify(path)} has no type; write CAST(${sql.slice(0, 80)} AS BIGINT) or the like.`,
      { details: { column: path } },
    );
  }
  const constant =
    expression.columns.length === 0 && !expression.usesRowId && !expression.usesRowOffset;
  const isNull =
    constant && expression.evaluate({ numRows: 1, getChild: () => null }).nullCount === 1;
  return isNull ? { type: expression.type } : { type: expression.type, expression };
}

/** The struct that a new field goes into, if it has a dotted path, and its own name. */
function parentOf(
  fields: readonly IdentifiedField[],
  path: string,
): [parent: IdentifiedField | undefined, name: string] {
  const dot = path.lastIndexOf('.');
  if (dot < 0) return [undefined, path];
  const place = findField(fields, path.slice(0, dot));
  const parent = leafOf(place);
  const { type } = parent.field;
  if (DataType.isStruct(type) && place.chain.every(({ field }) => DataType.isStruct(field.type))) {
    return [parent, path.slice(dot + 1)];
  }
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(path)} cannot be added: ${JSON.stringify(place.name)} is no struct of the row but a ${describeType(type)}.`,
  );
}

interface RewrittenFragment {
  readonly fragment: NewFragment;
  readonly durable: Promise<unknown>;
}

/** Writes fragments anew with more columns; what an attempt wrote serves the next where it can. */
class Rewriter {
  readonly #engine: Engine;
  readonly #tableFolder: string;
  readonly #signal: AbortSignal | undefined;
  /** By the file it was written from. */
  #written = new Map<string, RewrittenFragment>();
  #used = new Set<string>();
  #schema = '';

  constructor(engine: Engine, tableFolder: string, signal: AbortSignal | undefined) {
    // A fragment stays one fragment, whatever the limits say: its rows keep their places.
    const unlimited = {
      fragmentRows: Number.POSITIVE_INFINITY,
      fragmentBytes: Number.POSITIVE_INFINITY,
    };
    this.#engine = { ...engine, limits: { ...engine.limits, ...unlimited } };
    this.#tableFolder = tableFolder;
    this.#signal = signal;
  }

  async rewrite(
    base: Snapshot,
    tree: readonly IdentifiedField[],
    assignments: readonly Assignment[],
  ): Promise<{ replaced: Map<number, FragmentEntry>; durable: Promise<unknown> }> {
    const { schema, fieldIds, nextFieldId } = base.manifest;
    const now = JSON.stringify([schema, fieldIds, nextFieldId]);
    const movable = assignments.every(({ expression }) => !expression.usesRowOffset);
    if (now !== this.#schema || !movable) await this.discard();
    this.#schema = now;
    this.#used = new Set();
    const replaced = new Map<number, FragmentEntry>();
    const names = new Set(assignments.flatMap(({ expression }) => expression.columns));
    if (assignments.some(({ expression }) => expression.usesRowId)) names.add(ROW_ID);
    if (!movable) names.add(ROW_OFFSET);
    const plan = await planScan(this.#engine, base, {
      columns: [...names],
      signal: this.#signal,
    });
    const columns = new WiderColumns(base, tree, assignments, plan);
    let position = 0;
    for (const entry of await base.fragments()) {
      this.#signal?.throwIfAborted();
      const made = this.#written.get(entry.file) ?? (await this.#write(columns, entry, position));
      this.#written.set(entry.file, made);
      this.#used.add(entry.file);
      replaced.set(entry.id, { ...made.fragment, id: entry.id, deletion: entry.deletion });
      position += liveRows(entry);
    }
    const durable = Promise.all([...this.#written.values()].map((made) => made.durable));
    durable.catch(() => {});
    return { replaced, durable };
  }

  async #write(
    columns: WiderColumns,
    entry: FragmentEntry,
    position: number,
  ): Promise<RewrittenFragment> {
    const { schema } = columns;
    const stream = recordBatchStream(schema, columns.batches(entry, position));
    const { fragments, durable } = await writeFragments(
      this.#engine,
      this.#tableFolder,
      stream,
      columns.tree,
      this.#signal,
    );
    const [fragment, ...more] = fragments;
    if (fragment !== undefined && more.length === 0 && fragment.rows === entry.rows) {
      return { fragment, durable };
    }
    throw new DirspaceError('Internal', `A fragment was rewritten as ${fragments.length}.`);
  }

  async discard(): Promise<void> {
    await this.#remove([...this.#written.keys()]);
  }

  /** What was written from fragments that are no longer part of the table. */
  async discardUnused(): Promise<void> {
    await this.#remove([...this.#written.keys()].filter((file) => !this.#used.has(file)));
  }

  async #remove(files: readonly string[]): Promise<void> {
    for (const file of files) {
      const made = this.#written.get(file);
      this.#written.delete(file);
      if (made === undefined) continue;
      try {
        await removeFragments(this.#engine, this.#tableFolder, [made.fragment]);
      } catch {
        // Nothing refers to it; cleanup finds it.
      }
    }
  }
}

/** The columns of a fragment with the new ones beside them. */
class WiderColumns {
  readonly tree: readonly IdentifiedField[];
  readonly schema: Snapshot['schema'];
  readonly #base: Snapshot;
  readonly #assignments: readonly Assignment[];
  readonly #plan: ScanPlan;
  readonly #adapters: readonly (Adapter | null)[];

  constructor(
    base: Snapshot,
    tree: readonly IdentifiedField[],
    assignments: readonly Assignment[],
    plan: ScanPlan,
  ) {
    this.tree = tree;
    this.schema = schemaOf(base, tree);
    this.#base = base;
    this.#assignments = assignments;
    this.#plan = plan;
    this.#adapters = base.fields.map((field, at) =>
      adapterBetween(tree[at] as IdentifiedField, field),
    );
  }

  async *batches(entry: FragmentEntry, position: number): AsyncGenerator<RecordBatch> {
    for await (const place of fragmentPlaces(this.#plan, entry, position)) {
      this.#plan.signal?.throwIfAborted();
      yield recordBatch(this.schema, await this.#columns(place), place.rows);
    }
  }

  async #columns(place: BatchPlace): Promise<Data[]> {
    const names = this.#base.fields.map(({ field }) => field.name);
    const known = await readFields(this.#plan, place, names, undefined);
    const columns: (Data | undefined)[] = this.tree.map((node, at) => {
      const data = known[at];
      // Beside the one that is computed others may be null.
      if (data === undefined) return nullColumn(node.field.type, place.rows);
      const adapter = this.#adapters[at] ?? null;
      return adapter === null ? data : adapter(data);
    });
    // Expressions see live rows only: of deleted ones they might refuse the values.
    const live = place.deleted?.keptBetween(place.first, place.rows);
    const rows = live === undefined ? place.rows : live.length;
    const read = await readSelected(this.#plan, place, live);
    const source = readSource(
      new Map(this.#plan.columns.map(({ name }, at) => [name, read[at] as Data])),
      rows,
    );
    for (const assignment of this.#assignments) {
      const values = assignedValues(assignment, ...source);
      const [top = 0, ...below] = assignment.place.positions;
      columns[top] = withChild(columns[top], below, spread(values, live, place.rows));
    }
    return columns as Data[];
  }
}

/** Values of live rows at their places among all rows, null in between. */
function spread(values: Data, live: Uint32Array | undefined, rows: number): Data {
  if (live === undefined) return values;
  const from = new Uint32Array(rows).fill(values.length);
  for (const [at, row] of live.entries()) from[row] = at;
  return gather(concatData([values, nullColumn(values.type, 1)]), from);
}
