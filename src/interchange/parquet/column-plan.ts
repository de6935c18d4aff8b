/**
 * `columnPlans` derives Arrow columns from the schema of a Parquet file, for all columns or for
 * those asked for. It also accepts the older spellings of lists and maps. Where Parquet stores
 * several Arrow types in the same way, the fields of an Arrow schema in the file (`hints`) decide.
 * The `data` of a plan builds a column for some rows from the values and levels of its leaves.
 */
import {
  bitmapBytes,
  type Data,
  dataOf,
  Field,
  FixedSizeList,
  gather,
  LargeList,
  List,
  Map_,
  nullColumn,
  Struct,
  setBit,
  Type,
} from '../../arrow/index.ts';
import type { LeafPart } from './column-cursor.ts';
import { type LeafForm, leafForm, type Slots } from './leaf-forms.ts';
import type { ParquetNode } from './metadata.ts';
import type { Refuse } from './thrift.ts';

/** A column or a part of one, and where in the levels of its leaves it is told of. */
interface Plan {
  readonly field: Field;
  /** The first of its leaves, whose levels tell all that it has. */
  readonly leaf: number;
  /** How deep in lists it is, and the level from which on an item of the innermost of them is there. */
  readonly lists: number;
  readonly itemLevel: number;
  /** The level from which on it is not null. */
  readonly level: number;
  readonly kind:
    | { readonly name: 'leaf'; readonly form: LeafForm }
    | { readonly name: 'struct'; readonly children: readonly Plan[] }
    | { readonly name: 'list'; readonly child: Plan };
}

export interface ColumnPlan {
  readonly field: Field;
  /** The numbers of its leaves are from the first on, to before the second. */
  readonly leaves: readonly [number, number];
  /** The column of so many rows; the stores of its leaves begin anew. */
  data(leaves: readonly LeafPart[], rows: number): Data;
}

/**
 * @param hints fields of an Arrow schema that the file has, which its writer read its rows from
 * @param wanted names of the columns to read; all if undefined
 */
export function columnPlans(
  root: ParquetNode,
  hints: readonly Field[],
  wanted: ReadonlySet<string> | undefined,
  refuse: Refuse,
): readonly ColumnPlan[] {
  const planner = new Planner(refuse);
  const names = new Set<string>();
  return root.children.flatMap((node) => {
    if (names.has(node.name)) refuse(`it has two columns of the name ${JSON.stringify(node.name)}`);
    names.add(node.name);
    if (wanted !== undefined && !wanted.has(node.name)) {
      planner.pass(node);
      return [];
    }
    const hint = hints.find(({ name }) => name === node.name);
    const first = planner.leaves;
    const plan = planner.plan(node, hint, { lists: 0, itemLevel: 0 });
    const made: ColumnPlan = {
      field: plan.field,
      leaves: [first, planner.leaves],
      data: (leaves, rows) => {
        const made = dataFor(plan, leaves, refuse);
        return made.length === rows ? made : refuse(`a column has ${made.length} of ${rows} rows`);
      },
    };
    return [made];
  });
}

interface Place {
  readonly lists: number;
  readonly itemLevel: number;
}

const [LIST_LOGICAL, MAP_LOGICAL] = [3, 2];
const [MAP_CONVERTED, MAP_KEY_VALUE, LIST_CONVERTED] = [1, 2, 3];

class Planner {
  readonly #refuse: Refuse;
  #leaves = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** The leaves of all nodes so far. */
  get leaves(): number {
    return this.#leaves;
  }

  /** Leaves a node out. */
  pass(node: ParquetNode): void {
    if (node.physical !== undefined) this.#leaves++;
    for (const child of node.children) this.pass(child);
  }

  /** A repeated node that nothing says to be a list is one of what it holds. */
  plan(node: ParquetNode, hint: Field | undefined, place: Place): Plan {
    if (node.repetition !== 'repeated') return this.#whole(node, hint, place, isNullable(node));
    return this.#list(node, node, hint, place, false, node);
  }

  /** The node itself, its own repetition left aside. */
  #whole(node: ParquetNode, hint: Field | undefined, place: Place, nullable: boolean): Plan {
    const { name, children, maxDefinition: level } = node;
    const leaf = this.#leaves;
    const metadata = hint?.metadata ?? (isUuid(node) ? UUID : new Map());
    if (node.physical !== undefined) {
      this.#leaves++;
      const form = leafForm(node, hint?.type, this.#refuse);
      const field = new Field(
        name,
        form.type,
        nullable || form.type.typeId === Type.Null,
        metadata,
      );
      return { field, leaf, ...place, level, kind: { name: 'leaf', form } };
    }
    const [only] = children;
    if (only === undefined) return this.#refuse(`the group ${JSON.stringify(name)} has no columns`);
    const isAlone = children.length === 1 && only.repetition === 'repeated';
    if (isAlone && isMap(node) && only.children.length === 2) {
      return this.#map(node, only, hint, place, nullable);
    }
    if (isAlone && (isList(node) || isMap(node))) {
      return this.#list(node, only, hint, place, nullable, itemOf(node, only));
    }
    const inner = hintsOf(hint, Type.Struct);
    const parts = children.map((child) =>
      this.plan(
        child,
        inner.find((each) => each.name === child.name),
        place,
      ),
    );
    const type = new Struct(parts.map(({ field }) => field));
    const field = new Field(name, type, nullable, metadata);
    return { field, leaf, ...place, level, kind: { name: 'struct', children: parts } };
  }

  /** @param item what the list holds: the repeated node, or what is in it */
  #list(
    node: ParquetNode,
    repeated: ParquetNode,
    hint: Field | undefined,
    place: Place,
    nullable: boolean,
    item: ParquetNode,
  ): Plan {
    const leaf = this.#leaves;
    const inside = { lists: place.lists + 1, itemLevel: repeated.maxDefinition };
    const [itemHint] = hintsOf(hint, Type.List, Type.LargeList, Type.FixedSizeList);
    const isNull = item !== repeated && isNullable(item);
    const child =
      item === repeated
        ? this.#whole(item, itemHint, inside, false)
        : item.repetition === 'repeated'
          ? this.plan(item, itemHint, inside)
          : this.#whole(item, itemHint, inside, isNull);
    const field = itemHint === undefined ? child.field : renamed(child.field, itemHint.name);
    const hinted = hint?.type;
    const type =
      hinted?.typeId === Type.FixedSizeList
        ? new FixedSizeList((hinted as FixedSizeList).listSize, field)
        : hinted?.typeId === Type.LargeList
          ? new LargeList(field)
          : new List(field);
    return {
      field: new Field(node.name, type, nullable, hint?.metadata ?? new Map()),
      leaf,
      ...place,
      // A list that is empty has the level before that of its items.
      level: repeated.maxDefinition - 1,
      kind: { name: 'list', child },
    };
  }

  #map(
    node: ParquetNode,
    entries: ParquetNode,
    hint: Field | undefined,
    place: Place,
    nullable: boolean,
  ): Plan {
    const leaf = this.#leaves;
    const inside = { lists: place.lists + 1, itemLevel: entries.maxDefinition };
    const [pair] = hintsOf(hint, Type.Map);
    const inner = hintsOf(pair, Type.Struct);
    const [keyNode, valueNode] = entries.children as [ParquetNode, ParquetNode];
    const key = this.plan(keyNode, inner[0], inside);
    const value = this.plan(valueNode, inner[1], inside);
    const keyField = new Field('key', key.field.type, false, key.field.metadata);
    const type = new Struct([keyField, renamed(value.field, 'value')]);
    const child: Plan = {
      field: new Field('entries', type as never, false),
      leaf,
      ...inside,
      level: entries.maxDefinition,
      kind: { name: 'struct', children: [key, value] },
    };
    const isSorted = hint?.type.typeId === Type.Map && (hint.type as unknown as Map_).keysSorted;
    return {
      field: new Field(
        node.name,
        new Map_(child.field as never, isSorted),
        nullable,
        hint?.metadata ?? new Map(),
      ),
      leaf,
      ...place,
      level: entries.maxDefinition - 1,
      kind: { name: 'list', child },
    };
  }
}

/** What says of 16 bytes in Arrow that they are a UUID. */
const UUID: Map<string, string> = new Map([
  ['ARROW:extension:name', 'arrow.uuid'],
  ['ARROW:extension:metadata', ''],
]);
const UUID_LOGICAL = 14;
const isUuid = ({ logical, width }: ParquetNode): boolean =>
  logical?.[UUID_LOGICAL] !== undefined && width === 16;

const renamed = (field: Field, name: string): Field =>
  field.name === name ? field : new Field(name, field.type, field.nullable, field.metadata);

const isNullable = ({ repetition }: ParquetNode): boolean => repetition === 'optional';
const isList = ({ logical, converted }: ParquetNode): boolean =>
  logical?.[LIST_LOGICAL] !== undefined || converted === LIST_CONVERTED;
const isMap = ({ logical, converted }: ParquetNode): boolean =>
  logical?.[MAP_LOGICAL] !== undefined ||
  converted === MAP_CONVERTED ||
  converted === MAP_KEY_VALUE;

/** What a list holds: older writers have no node between the list and its items. */
function itemOf(list: ParquetNode, repeated: ParquetNode): ParquetNode {
  const [only] = repeated.children;
  const isItem =
    only === undefined ||
    repeated.children.length > 1 ||
    repeated.name === 'array' ||
    repeated.name === `${list.name}_tuple`;
  return isItem ? repeated : only;
}

const hintsOf = (hint: Field | undefined, ...types: Type[]): readonly Field[] =>
  hint !== undefined && types.includes(hint.type.typeId)
    ? ((hint.type.children ?? []) as readonly Field[])
    : [];

function dataFor(plan: Plan, leaves: readonly LeafPart[], refuse: Refuse): Data {
  const { kind, field } = plan;
  const part = leaves[plan.leaf] as LeafPart;
  const slots = slotsOf(plan, part);
  if (kind.name === 'leaf') return kind.form.make(part.store, slots);
  const { length, nulls: nullCount, validity } = slots;
  if (kind.name === 'struct') {
    const children = kind.children.map((child) => dataFor(child, leaves, refuse));
    if (children.some((child) => child.length !== length)) refuse('the parts of a struct differ');
    return dataOf(field.type, length, { nullCount, validity, children });
  }
  const offsets = offsetsOf(plan, part, kind.child, length);
  const child = dataFor(kind.child, leaves, refuse);
  if (child.length !== offsets[length]) refuse('the items of a list differ');
  const parts = { nullCount, validity };
  if (field.type.typeId === Type.FixedSizeList) {
    const items = fixedItems(field.type as unknown as FixedSizeList, child, offsets, slots, refuse);
    return dataOf(field.type, length, { ...parts, children: [items] });
  }
  const isLarge = field.type.typeId === Type.LargeList;
  const own = isLarge ? BigInt64Array.from(offsets, BigInt) : offsets;
  return dataOf(field.type, length, { ...parts, offsets: own, children: [child] });
}

/** The rows of a column, or the items of the lists that it is in, and which of them are null. */
function slotsOf(plan: Plan, { count, definitions, repetitions }: LeafPart): Slots {
  const { lists, itemLevel, level } = plan;
  if (definitions === undefined) return { length: count, nulls: 0, validity: undefined };
  const isNever = !plan.field.nullable && plan.kind.name !== 'leaf';
  if (repetitions === undefined) {
    if (level === 0 || isNever) return { length: count, nulls: 0, validity: undefined };
    const bits = new Uint8Array(bitmapBytes(count));
    let nulls = 0;
    for (let at = 0; at < count; at++) {
      if ((definitions[at] as number) >= level) setBit(bits, at);
      else nulls++;
    }
    return nulls === 0
      ? { length: count, nulls, validity: undefined }
      : { length: count, nulls, validity: bits };
  }
  const bits = new Uint8Array(bitmapBytes(count));
  let length = 0;
  let nulls = 0;
  for (let at = 0; at < count; at++) {
    if ((repetitions[at] as number) > lists || (definitions[at] as number) < itemLevel) continue;
    if ((definitions[at] as number) >= level) setBit(bits, length);
    else nulls++;
    length++;
  }
  if (nulls === 0) return { length, nulls, validity: undefined };
  return { length, nulls, validity: bits.slice(0, bitmapBytes(length)) };
}

/** Where the items of each list end. */
function offsetsOf(plan: Plan, part: LeafPart, child: Plan, length: number): Int32Array {
  const { lists, itemLevel } = plan;
  const definitions = part.definitions as Uint8Array;
  const repetitions = part.repetitions as Uint8Array;
  const offsets = new Int32Array(length + 1);
  let list = -1;
  let items = 0;
  for (let at = 0; at < part.count; at++) {
    const depth = repetitions[at] as number;
    const level = definitions[at] as number;
    if (depth <= lists) {
      if (level < itemLevel) continue;
      list++;
      offsets[list] = items;
      if (level >= child.itemLevel) items++;
    } else if (depth <= child.lists && level >= child.itemLevel) items++;
  }
  offsets[length] = items;
  return offsets;
}

/** The items of lists of one length; those of a list that is null are there too. */
function fixedItems(
  type: FixedSizeList,
  child: Data,
  offsets: Int32Array,
  { length, validity }: Slots,
  refuse: Refuse,
): Data {
  const size = type.listSize;
  const isThere = (row: number): boolean =>
    validity === undefined || ((validity[row >>> 3] as number) & (1 << (row & 7))) !== 0;
  for (let row = 0; row < length; row++) {
    const items = (offsets[row + 1] as number) - (offsets[row] as number);
    if (items !== (isThere(row) ? size : 0)) {
      refuse(
        `a list has ${items} items, and all have ${size} as the Arrow schema in the file says`,
      );
    }
  }
  if (validity === undefined || size === 0) return child;
  if (child.length === 0) return nullColumn(child.type, length * size);
  const picked = new Uint32Array(length * size);
  for (let row = 0; row < length; row++) {
    if (!isThere(row)) continue;
    for (let each = 0; each < size; each++)
      picked[row * size + each] = (offsets[row] as number) + each;
  }
  return gather(child, picked);
}
