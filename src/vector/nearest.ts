/**
 * `createNearest` keeps the k nearest of the rows that it is offered, and returns them nearest
 * first, once (`drain`). Rows farther than `limit` need not be offered, and rows at distance NaN
 * must not. Memory grows with the number of rows kept; a k of Infinity keeps all. Of equal
 * distances, the lower row position is nearer.
 */

export interface Nearest {
  /** Rows farther than this need not be offered, and rows at distance NaN never. */
  readonly limit: number;
  /** Bytes of what is kept, with the room for more. */
  readonly heldBytes: number;
  offer(distance: number, position: number): void;
  /**
   * Everything kept, nearest first; nothing is kept from then on. Yields after some thousand rows.
   */
  drain(): Generator<void, { readonly distances: Float32Array; readonly positions: Float64Array }>;
}

/** Rows brought into order between two steps. */
const STEP_ROWS = 8_192;

const FIRST_ROOM = 64;

/** @param k at least 1, Infinity included. */
export function createNearest(k: number): Nearest {
  let distances = new Float32Array(Math.min(k, FIRST_ROOM));
  let positions = new Float64Array(distances.length);
  let length = 0;

  const further = (distance: number, position: number, slot: number): boolean => {
    const other = distances[slot] as number;
    return distance > other || (distance === other && position > (positions[slot] as number));
  };

  function put(slot: number, distance: number, position: number): void {
    distances[slot] = distance;
    positions[slot] = position;
  }

  function move(from: number, to: number): void {
    put(to, distances[from] as number, positions[from] as number);
  }

  function grow(): void {
    const room = Math.min(k, length * 2);
    const moreDistances = new Float32Array(room);
    const morePositions = new Float64Array(room);
    moreDistances.set(distances);
    morePositions.set(positions);
    distances = moreDistances;
    positions = morePositions;
  }

  function siftUp(distance: number, position: number): void {
    let slot = length;
    length += 1;
    while (slot > 0) {
      const parent = (slot - 1) >> 1;
      if (!further(distance, position, parent)) break;
      move(parent, slot);
      slot = parent;
    }
    put(slot, distance, position);
  }

  /** Replaces the top. */
  function siftDown(distance: number, position: number): void {
    let slot = 0;
    for (;;) {
      let child = 2 * slot + 1;
      if (child >= length) break;
      const right = child + 1;
      if (
        right < length &&
        further(distances[right] as number, positions[right] as number, child)
      ) {
        child = right;
      }
      if (further(distance, position, child)) break;
      move(child, slot);
      slot = child;
    }
    put(slot, distance, position);
  }

  return {
    get limit() {
      return length < k ? Infinity : (distances[0] as number);
    },
    offer(distance, position) {
      if (length < k) {
        if (length === distances.length) grow();
        siftUp(distance, position);
      } else if (!further(distance, position, 0)) {
        siftDown(distance, position);
      }
    },
    get heldBytes() {
      return distances.byteLength + positions.byteLength;
    },
    *drain() {
      const count = length;
      while (length > 1) {
        length -= 1;
        const distance = distances[length] as number;
        const position = positions[length] as number;
        move(0, length);
        siftDown(distance, position);
        if (length % STEP_ROWS === 0) yield;
      }
      length = 0;
      return { distances: distances.subarray(0, count), positions: positions.subarray(0, count) };
    },
  };
}
