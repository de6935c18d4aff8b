/**
 * `lazyData` creates a column whose buffers are copied when they are first read, so a column that
 * the caller never reads costs no copy. The caller passes the function that copies. hand-out.ts
 * decides which columns become lazy and which buffers are copied.
 */
import { Data, type Vector } from './apache.ts';
import type { TypedArray } from './arrow-types.ts';

/** A value of one of Data's buffer fields. */
export type Part = TypedArray | undefined;

/** Copies a buffer that has other readers; returns any other as it is. */
export type Own = <Values extends Part>(part: Values) => Values;

const VALUES = 1;
const OFFSETS = 2;
const NULLS = 4;
const TYPE_IDS = 8;
const VIEWS = 16;

class LazyData {
  readonly type: unknown;
  readonly children: readonly Data[];
  readonly dictionary: Vector | undefined;
  readonly offset: number;
  readonly length: number;
  readonly _nullCount: number;
  readonly stride: number;
  readonly #own: Own;
  #values: Part;
  #offsets: Part;
  #nulls: Part;
  #typeIds: Part;
  #views: readonly Uint8Array[];
  /** Bit mask of the buffers that were copied already. */
  #given = 0;

  constructor(data: Data, children: readonly Data[], dictionary: Vector | undefined, own: Own) {
    this.type = data.type;
    this.children = children;
    this.dictionary = dictionary;
    this.offset = data.offset;
    this.length = data.length;
    this._nullCount = (data as unknown as { _nullCount: number })._nullCount;
    this.stride = data.stride;
    this.#own = own;
    this.#values = data.values as Part;
    this.#offsets = data.valueOffsets as Part;
    this.#nulls = data.nullBitmap;
    this.#typeIds = data.typeIds as Part;
    this.#views = data.variadicBuffers;
    // Properties of its own, as those of any Data: what compares or copies objects finds them.
    Object.defineProperties(this, LazyData.#PROPERTIES);
  }

  static readonly #PROPERTIES: Record<string, PropertyDescriptor & ThisType<LazyData>> = {
    values: {
      enumerable: true,
      get() {
        if ((this.#given & VALUES) === 0) {
          this.#values = this.#own(this.#values);
          this.#given |= VALUES;
        }
        return this.#values;
      },
      set(values: Part) {
        this.#values = values;
        this.#given |= VALUES;
      },
    },
    valueOffsets: {
      enumerable: true,
      get() {
        if ((this.#given & OFFSETS) === 0) {
          this.#offsets = this.#own(this.#offsets);
          this.#given |= OFFSETS;
        }
        return this.#offsets;
      },
      set(offsets: Part) {
        this.#offsets = offsets;
        this.#given |= OFFSETS;
      },
    },
    nullBitmap: {
      enumerable: true,
      get() {
        if ((this.#given & NULLS) === 0) {
          this.#nulls = this.#own(this.#nulls);
          this.#given |= NULLS;
        }
        return this.#nulls;
      },
      set(nulls: Part) {
        this.#nulls = nulls;
        this.#given |= NULLS;
      },
    },
    typeIds: {
      enumerable: true,
      get() {
        if ((this.#given & TYPE_IDS) === 0) {
          this.#typeIds = this.#own(this.#typeIds);
          this.#given |= TYPE_IDS;
        }
        return this.#typeIds;
      },
      set(typeIds: Part) {
        this.#typeIds = typeIds;
        this.#given |= TYPE_IDS;
      },
    },
    variadicBuffers: {
      enumerable: true,
      get() {
        if ((this.#given & VIEWS) === 0) {
          this.#views = this.#views.map((view) => this.#own(view));
          this.#given |= VIEWS;
        }
        return this.#views;
      },
      set(views: readonly Uint8Array[]) {
        this.#views = views;
        this.#given |= VIEWS;
      },
    },
  };
}

Reflect.deleteProperty(LazyData.prototype, 'constructor');
Object.setPrototypeOf(LazyData.prototype, Data.prototype);

export const lazyData = (
  data: Data,
  children: readonly Data[],
  dictionary: Vector | undefined,
  own: Own,
): Data => new LazyData(data, children, dictionary, own) as unknown as Data;
