/**
 * `versionGraph` lists the versions of all branches of a table, newest first, and draws the
 * branches beside them as lines. A version always comes before the one that it was made from; apart
 * from that, times decide the order. It reads versions page by page, and holds one page of each
 * branch in memory.
 */

/** A version as the catalog lists it. */
export interface ListedVersion {
  readonly version: number;
  readonly timestamp: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface GraphBranch {
  readonly name: string;
  /** What it was made from; undefined for the main branch. */
  readonly parent?: { readonly branch: string; readonly version: number };
  /** Newest first, page by page; those that are its parent's are left out here. */
  readonly pages: AsyncIterator<readonly ListedVersion[]>;
}

/** A version of a branch, or a line that only joins branches. */
export interface GraphLine {
  readonly graph: string;
  readonly commit?: ListedVersion & {
    readonly branch: string;
    /** What it was made from, as far as that is there. */
    readonly parent?: { readonly branch: string; readonly version: number };
    /** Branches whose newest version it is. */
    readonly heads: readonly string[];
  };
}

class Side {
  readonly name: string;
  parent: GraphBranch['parent'];
  /** Undefined once all are drawn, and before the first page is read. */
  head: ListedVersion | undefined;
  /** Of its line, once it has one. */
  lane: number | undefined;
  /** Whether a version of it is drawn. */
  isDrawn = false;
  isJoined = false;
  readonly children: Side[] = [];
  readonly #pages: GraphBranch['pages'];
  #page: readonly ListedVersion[] = [];
  #at = 0;

  constructor({ name, parent, pages }: GraphBranch) {
    this.name = name;
    this.parent = parent;
    this.#pages = pages;
  }

  async next(): Promise<void> {
    this.head = undefined;
    while (this.#at >= this.#page.length) {
      const { done, value } = await this.#pages.next();
      if (done === true) return;
      this.#page = value;
      this.#at = 0;
    }
    const found = this.#page[this.#at++] as ListedVersion;
    if (this.parent === undefined || found.version > this.parent.version) this.head = found;
  }

  close(): unknown {
    return this.#pages.return?.();
  }
}

export async function* versionGraph(
  branches: readonly GraphBranch[],
): AsyncGenerator<GraphLine, void, undefined> {
  const sides = new Map(branches.map((branch) => [branch.name, new Side(branch)]));
  const origins = [...sides.values()].map((side) => [side, originOf(sides, side)] as const);
  for (const [side, origin] of origins) {
    side.parent = origin;
    if (origin !== undefined) sides.get(origin.branch)?.children.push(side);
  }
  const lanes: (Side | undefined)[] = [];
  try {
    for (const side of sides.values()) await side.next();
    for (;;) {
      const side = newest([...sides.values()].filter(isReady));
      if (side?.head === undefined) return;
      const { head } = side;
      giveLane(side, sides, lanes);
      for (const child of side.children) {
        if (child.isJoined || child.parent === undefined || child.parent.version < head.version) {
          continue;
        }
        child.isJoined = true;
        if (child.lane === undefined) continue;
        yield { graph: joined(lanes, side.lane as number, child.lane) };
        lanes[child.lane] = undefined;
      }
      const heads = side.isDrawn ? [] : [side.name];
      for (const child of side.children) {
        if (!child.isDrawn && child.parent?.version === head.version) heads.push(child.name);
      }
      side.isDrawn = true;
      const graph = lanes.map((one) => (one === side ? '*' : lineOf(one))).join(' ');
      await side.next();
      const before = side.head as ListedVersion | undefined;
      const parent =
        before === undefined ? side.parent : { branch: side.name, version: before.version };
      yield {
        graph: graph.trimEnd(),
        commit: { ...head, branch: side.name, ...(parent === undefined ? {} : { parent }), heads },
      };
    }
  } finally {
    for (const side of sides.values()) await side.close();
  }
}

/** Whether all that was made from its next version, or from a later one, is drawn. */
function isReady({ head, children }: Side): boolean {
  if (head === undefined) return false;
  return children.every((child) => (child.parent?.version ?? 0) < head.version || isDone(child));
}

const isDone = ({ head, children }: Side): boolean => head === undefined && children.every(isDone);

/**
 * Of a branch that was made from another one at the version at which that began: the branch that the
 * version is drawn on.
 */
function originOf(sides: ReadonlyMap<string, Side>, { parent }: Side): GraphBranch['parent'] {
  let origin = parent;
  // Names that are in a circle, as a damaged catalog may have them, are not followed for ever.
  for (let steps = 0; steps < sides.size && origin !== undefined; steps++) {
    const above = sides.get(origin.branch)?.parent;
    if (above === undefined || origin.version > above.version) break;
    origin = { branch: above.branch, version: origin.version };
  }
  return origin;
}

function newest(sides: readonly Side[]): Side | undefined {
  let found: Side | undefined;
  for (const side of sides) {
    const [one, other] = [side.head, found?.head];
    if (one === undefined) continue;
    if (
      other === undefined ||
      one.timestamp > other.timestamp ||
      (one.timestamp === other.timestamp && one.version > other.version)
    ) {
      found = side;
    }
  }
  return found;
}

/** A line of its own for a branch, to the right of the one that it was made from. */
function giveLane(side: Side, sides: ReadonlyMap<string, Side>, lanes: (Side | undefined)[]): void {
  if (side.lane !== undefined) return;
  const parent = side.parent === undefined ? undefined : sides.get(side.parent.branch);
  if (parent !== undefined) giveLane(parent, sides, lanes);
  let lane = parent?.lane === undefined ? 0 : parent.lane + 1;
  while (lanes[lane] !== undefined) lane += 1;
  // No holes: the array is gone through.
  while (lanes.length < lane) lanes.push(undefined);
  lanes[lane] = side;
  side.lane = lane;
}

/** A branch whose last version is drawn, and which joins none, has no line any more. */
const lineOf = (side: Side | undefined): string =>
  side?.isDrawn === true && (side.head !== undefined || side.parent !== undefined) ? '|' : ' ';

/** The line of a branch ends in that of another to the left of it. */
function joined(lanes: readonly (Side | undefined)[], parent: number, child: number): string {
  const cells = lanes.flatMap((one) => [lineOf(one), ' ']);
  for (let at = 2 * parent + 1; at < 2 * child - 1; at++) if (cells[at] === ' ') cells[at] = '_';
  cells[2 * child - 1] = '/';
  cells[2 * child] = ' ';
  return cells.join('').trimEnd();
}
