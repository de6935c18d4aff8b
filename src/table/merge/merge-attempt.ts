/**
 * `MergeAttempt` runs one attempt of a merge on one version; `begin` prepares it. `batches` streams
 * those of the target's rows that may match, or all if rows that the source lacks are deleted, past
 * an index of the source's rows. It yields the record batches to write, and collects the rows to
 * delete (`gone`) and what it did (`counts`), which are complete when the batches end. If matched
 * rows are to be updated, it throws InvalidInput for two source rows with one key that the table
 * has. A key column that the data lacks throws TableSchemaValidation, one that the table lacks
 * TableColumnNotFound. merge.ts writes and commits the result.
 */
import {
  type Data,
  type DataType,
  type Field,
  gather,
  nullColumn,
  type RecordBatch,
  recordBatch,
  sliceData,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { liveRows } from '../../format/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { findField, type IdentifiedField, leafOf } from '../fields/index.ts';
import { openFragment, readFields } from '../fragments/index.ts';
import {
  type BatchPlace,
  fragmentPlaces,
  matchingRows,
  planScan,
  type ScanPlan,
  type Selection,
  sliceRows,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import { RowOffsets } from '../write/index.ts';
import { indexedKeys } from './indexed-keys.ts';
import { indexKeys, type KeyChunk, type KeyIndex } from './key-index.ts';
import { KeyRange } from './key-range.ts';
import { showKey } from './key-texts.ts';
import { staleByMerge, withoutComputed } from './merge-computed.ts';
import { compileCondition, type PairCondition } from './merge-condition.ts';
import {
  fieldsThatCame,
  type SourceColumns,
  type SourceRows,
  sourceColumns,
} from './merge-source.ts';
import { keepMembers } from './merge-structs.ts';

export interface MergeClauses {
  /** Key columns. Null keys match nothing. */
  readonly on: readonly string[];
  /** Matched rows take the values that came; columns and members that did not come keep theirs. */
  readonly updateMatched?: { readonly condition?: string | undefined } | undefined;
  readonly insertNew?: boolean | undefined;
  /** Rows of the table whose key did not come are deleted. */
  readonly deleteMissing?: { readonly filter?: string | undefined } | undefined;
  /** False where no index is to be asked for the keys. */
  readonly usesIndex?: boolean | undefined;
}

/** Rows written at once. */
const OUT_ROWS = 65_536;

interface MergeParts {
  readonly plan: ScanPlan;
  readonly keys: readonly IdentifiedField[];
  readonly clauses: MergeClauses;
  readonly source: SourceColumns;
  readonly sourceRows: number;
  /** Names of computed columns that become null in rows that are updated. */
  readonly stale: ReadonlySet<string>;
  /** The key columns of each batch of the source. */
  readonly keyChunks: readonly KeyChunk[];
  readonly condition: PairCondition | undefined;
  readonly deletePlan: ScanPlan | undefined;
}

export class MergeAttempt {
  readonly counts = { insertedRows: 0, updatedRows: 0, deletedRows: 0 };
  readonly gone: RowOffsets = new RowOffsets();
  readonly #parts: MergeParts;
  readonly #index: KeyIndex;
  readonly #range: KeyRange;
  /** By the first source row of each key: whether the table has it, whether it came twice. */
  readonly #met: Uint8Array;
  readonly #repeated: Uint8Array;
  readonly #turn: Turn;

  private constructor(parts: MergeParts, index: KeyIndex, range: KeyRange, repeated: Uint8Array) {
    this.#parts = parts;
    this.#index = index;
    this.#range = range;
    this.#met = new Uint8Array(parts.sourceRows);
    this.#repeated = repeated;
    this.#turn = new Turn(parts.plan.engine.env);
  }

  static *#indexed(parts: MergeParts): Generator<void, MergeAttempt> {
    const { keyChunks, sourceRows, keys, plan } = parts;
    const types = keys.map(({ field }) => field.type);
    const index = yield* indexKeys(types, keyChunks);
    const range = yield* KeyRange.of(keys, keyChunks, plan.snapshot);
    const repeated = new Uint8Array(sourceRows);
    const { firsts } = index;
    for (let row = 0; row < sourceRows; row++) {
      const first = firsts[row] as number;
      if (first >= 0 && first !== row) repeated[first] = 1;
      if (row % OUT_ROWS === OUT_ROWS - 1) yield;
    }
    return new MergeAttempt(parts, index, range, repeated);
  }

  static async begin(
    engine: Engine,
    base: Snapshot,
    clauses: MergeClauses,
    rows: SourceRows,
    memory: RequestMemory,
    signal: AbortSignal | undefined,
  ): Promise<MergeAttempt> {
    const turn = new Turn(engine.env);
    const keys = clauses.on.map((name) => keyField(base, name));
    const names = keys.map(({ field }) => field.name);
    const adapting = sourceColumns(rows, base.fields, clauses.insertNew !== true);
    const adapted = await inTurns(turn, adapting, signal);
    const source = withoutComputed(base.fields, adapted);
    for (const name of names) {
      if (source.has(name) || rows.rows === 0) continue;
      throw new DirspaceError(
        'TableSchemaValidation',
        `The data does not have the key column ${JSON.stringify(name)}. Nothing was written.`,
        { details: { column: name } },
      );
    }
    // Without rows, as without a column, one chunk of none of them.
    const none = keys.map(({ field }) => nullColumn(field.type, 0));
    const keyChunks = rows.batches.map((_, at) =>
      keys.map(({ field }) => source.get(field.name)?.values.data[at] as Data),
    );
    const { condition: sql } = clauses.updateMatched ?? {};
    const came = base.schema.fields.filter(
      ({ name }) => source.has(name) || rows.schema.fields.some((field) => field.name === name),
    );
    const { filter } = clauses.deleteMissing ?? {};
    const plan = await planScan(engine, base, { columns: names, signal, memory });
    // Rows whose key did not come are not in what an index finds.
    const indexed =
      clauses.usesIndex === false || clauses.deleteMissing !== undefined
        ? undefined
        : await indexedKeys(engine, base, keys, keyChunks);
    const parts = {
      plan: { ...plan, indexed },
      keys,
      clauses,
      source,
      sourceRows: rows.rows,
      stale: staleByMerge(base.fields, source, keys),
      keyChunks: keyChunks.length === 0 ? [none] : keyChunks,
      condition:
        sql === undefined ? undefined : await compileCondition(sql, base.schema.fields, came),
      deletePlan:
        filter === undefined
          ? undefined
          : await planScan(engine, base, { columns: [], filter, signal, memory }),
    };
    return inTurns(turn, MergeAttempt.#indexed(parts), signal);
  }

  /** The table's fields whose values come from the source; rows keep the other ones. */
  get fieldsThatCame(): readonly IdentifiedField[] {
    return fieldsThatCame(this.#parts.plan.snapshot.fields, this.#parts.source);
  }

  /** The batches to write; when they end, `counts` and `gone` are complete. */
  async *batches(): AsyncGenerator<RecordBatch> {
    const { plan, clauses } = this.#parts;
    let position = 0;
    for (const entry of await plan.snapshot.fragments()) {
      plan.signal?.throwIfAborted();
      const first = position;
      position += liveRows(entry);
      const here = plan.indexed?.covered.has(entry.id)
        ? plan.indexed.rows.has(entry.id)
        : this.#range.mayBeInFragment(entry);
      if (!here && clauses.deleteMissing === undefined) continue;
      for await (const place of fragmentPlaces(plan, entry, first, this.#turn)) {
        const updated = await this.#mergePlace(place, here);
        if (updated !== undefined) yield updated;
      }
    }
    if (clauses.insertNew === true) yield* this.#inserted();
  }

  async #mergePlace(place: BatchPlace, mayMatch: boolean): Promise<RecordBatch | undefined> {
    const { clauses, plan } = this.#parts;
    const here =
      mayMatch && this.#range.mayBeInBatch(place.entry, place.reader.footer, place.index);
    if (!here && clauses.deleteMissing === undefined) return undefined;
    const isNamed = plan.indexed?.covered.has(place.entry.id) === true;
    // Those that the index found, or all.
    const named = isNamed ? await matchingRows(plan, place) : undefined;
    if (named?.length === 0) return undefined;
    const live = named ?? place.deleted?.keptBetween(place.first, place.rows);
    let matches: Int32Array | undefined;
    if (here) {
      const columns = await readFields(
        plan,
        place,
        clauses.on.map((_, at) => this.#keyName(at)),
        named,
      );
      const rows = named?.length ?? place.rows;
      matches = await inTurns(this.#turn, this.#index.match(columns, rows), plan.signal);
    }
    const pairs = matches === undefined ? NO_PAIRS : this.#pairs(matches, live, isNamed);
    if (clauses.deleteMissing !== undefined) await this.#deleteMissing(place, live, matches);
    if (clauses.updateMatched === undefined || pairs.targets.length === 0) return undefined;
    return this.#updated(place, pairs);
  }

  /** Yields to the event loop where a turn is over. */
  async #breathe(): Promise<void> {
    if (!this.#turn.isOver()) return;
    await this.#turn.pass();
    this.#parts.plan.signal?.throwIfAborted();
  }

  #keyName(at: number): string {
    return (this.#parts.keys[at] as IdentifiedField).field.name;
  }

  /**
   * Live rows of a batch with the source rows of the same key.
   * @param matches of the live rows alone where `isNamed`, else of all rows
   */
  #pairs(matches: Int32Array, live: Selection, isNamed: boolean): Pairs {
    const update = this.#parts.clauses.updateMatched !== undefined;
    const count = live === undefined ? matches.length : live.length;
    const targets = new Uint32Array(Math.min(count, PAIRS_AT_FIRST));
    let pairs: Pairs = { targets, sources: new Uint32Array(targets.length) };
    let found = 0;
    for (let at = 0; at < count; at++) {
      const row = live === undefined ? at : (live[at] as number);
      const source = matches[isNamed ? at : row] as number;
      if (source < 0) continue;
      if (update && this.#repeated[source] === 1) throw this.#ambiguous(source);
      this.#met[source] = 1;
      if (found === pairs.targets.length) pairs = grown(pairs, count);
      pairs.targets[found] = row;
      pairs.sources[found++] = source;
    }
    return {
      targets: pairs.targets.subarray(0, found),
      sources: pairs.sources.subarray(0, found),
    };
  }

  #ambiguous(first: number): DirspaceError {
    const { keys, keyChunks } = this.#parts;
    const names = keys.map(({ field }) => field.name);
    const key = showKey(names, keyChunks, first);
    const second = this.#index.firsts.findIndex((other, row) => other === first && row !== first);
    return new DirspaceError(
      'InvalidInput',
      `Rows ${first} and ${second} of the data have the same key (${key}), and the table already has that key. Send one row for each key; nothing was changed.`,
      { details: { key } },
    );
  }

  async #deleteMissing(
    place: BatchPlace,
    live: Selection,
    matches: Int32Array | undefined,
  ): Promise<void> {
    const { deletePlan } = this.#parts;
    const candidates = deletePlan === undefined ? live : await matchingRows(deletePlan, place);
    const count = candidates === undefined ? place.rows : candidates.length;
    const missing = new Uint32Array(count);
    let found = 0;
    for (let at = 0; at < count; at++) {
      const row = candidates === undefined ? at : (candidates[at] as number);
      if (matches === undefined || (matches[row] as number) < 0) missing[found++] = row;
    }
    if (found === 0) return;
    this.counts.deletedRows += found;
    this.gone.add(place.entry.id, place.first, missing.subarray(0, found), found);
  }

  async #updated(place: BatchPlace, all: Pairs): Promise<RecordBatch | undefined> {
    const { plan, source, condition, stale } = this.#parts;
    const { targets, sources } =
      condition === undefined ? all : await this.#fulfilling(condition, place, all);
    const rows = targets.length;
    if (rows === 0) return undefined;
    this.counts.updatedRows += rows;
    this.gone.add(place.entry.id, place.first, targets, rows);
    const { schema } = plan.snapshot;
    const kept = schema.fields
      .map(({ name }) => name)
      .filter((name) => !stale.has(name))
      .filter((name) => !source.has(name) || source.get(name)?.missing !== undefined);
    const carried = await this.#carried(place, kept, targets);
    const columns: Data[] = [];
    for (const { name, type } of schema.fields) {
      if (stale.has(name)) {
        columns.push(nullColumn(type, rows));
        continue;
      }
      const column = source.get(name);
      const old = carried[kept.indexOf(name)] as Data;
      if (column === undefined) {
        columns.push(old);
        continue;
      }
      const came = gather(column.values, sources);
      columns.push(column.missing === undefined ? came : keepMembers(old, came, column.missing));
      await this.#breathe();
    }
    return recordBatch(schema, columns, rows);
  }

  /** Values that are written anew come from the disk, whatever is kept of them in memory. */
  async #carried(
    place: BatchPlace,
    names: readonly string[],
    rows: Uint32Array,
  ): Promise<readonly Data[]> {
    if (names.length === 0) return [];
    const { plan } = this.#parts;
    const purpose = { fresh: true, counters: plan.counters };
    const reader = await openFragment(plan.engine, plan.snapshot, place.entry, purpose);
    try {
      return await readFields(plan, { ...place, reader }, names, rows);
    } finally {
      reader.close();
    }
  }

  async #fulfilling(condition: PairCondition, place: BatchPlace, pairs: Pairs): Promise<Pairs> {
    const { plan, source } = this.#parts;
    const target = await readFields(plan, place, condition.target, pairs.targets);
    const came: Data[] = [];
    for (const name of condition.source) {
      const values = source.get(name)?.values;
      // A computed column that came has nulls alone, and was taken out of the source.
      came.push(
        values === undefined
          ? nullColumn(typeIn(plan.snapshot, name), pairs.sources.length)
          : gather(values, pairs.sources),
      );
      await this.#breathe();
    }
    const chosen = new Uint32Array(pairs.targets.length);
    let count = 0;
    const most = sliceRows(condition);
    for (let from = 0; from < chosen.length; from += most) {
      const rows = Math.min(most, chosen.length - from);
      const part = (column: Data): Data => sliceData(column, from, rows);
      const selecting = condition.select(target.map(part), came.map(part), rows, plan.memory);
      const found = await inTurns(this.#turn, selecting, plan.signal);
      for (const pair of found) chosen[count++] = from + pair;
      await this.#breathe();
    }
    const rows = chosen.subarray(0, count);
    const pick = (all: Uint32Array): Uint32Array => rows.map((pair) => all[pair] as number);
    return { targets: pick(pairs.targets), sources: pick(pairs.sources) };
  }

  /** Source rows whose key the table does not have, in their order. */
  async *#inserted(): AsyncGenerator<RecordBatch> {
    const { plan, source, sourceRows } = this.#parts;
    const { firsts } = this.#index;
    const rows = new Uint32Array(sourceRows);
    let count = 0;
    for (let row = 0; row < sourceRows; row++) {
      const first = firsts[row] as number;
      if (first < 0 || this.#met[first] === 0) rows[count++] = row;
      if (row % OUT_ROWS === OUT_ROWS - 1) await this.#breathe();
    }
    this.counts.insertedRows = count;
    const { schema } = plan.snapshot;
    for (let from = 0; from < count; from += OUT_ROWS) {
      const part = rows.subarray(from, Math.min(count, from + OUT_ROWS));
      const columns: Data[] = [];
      for (const { name, type } of schema.fields) {
        const values = source.get(name)?.values;
        columns.push(values === undefined ? nullColumn(type, part.length) : gather(values, part));
        await this.#breathe();
      }
      yield recordBatch(schema, columns, part.length);
    }
  }
}

interface Pairs {
  /** Rows of the batch, ascending. */
  readonly targets: Uint32Array;
  readonly sources: Uint32Array;
}

const PAIRS_AT_FIRST = 1024;

function grown({ targets, sources }: Pairs, rows: number): Pairs {
  const larger = { targets: new Uint32Array(rows), sources: new Uint32Array(rows) };
  larger.targets.set(targets);
  larger.sources.set(sources);
  return larger;
}

const NO_PAIRS: Pairs = { targets: new Uint32Array(0), sources: new Uint32Array(0) };

const typeIn = ({ schema }: Snapshot, column: string): DataType =>
  (schema.fields.find(({ name }) => name === column) as Field).type;

/** @throws TableColumnNotFound, InvalidInput for a field of a struct */
function keyField(base: Snapshot, name: string): IdentifiedField {
  const place = findField(base.fields, name);
  if (place.chain.length === 1) return leafOf(place);
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(name)} is a field of a struct; the keys of a merge are columns of their own.`,
  );
}
