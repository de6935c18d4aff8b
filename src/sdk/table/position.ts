/**
 * `TablePosition` tracks the version that a table handle points at: the newest version of a branch
 * (`follow`), or a pinned one (`pin`). It reads the number and the schema of that version. A table
 * without data throws InvalidTableState. Reading the schema, and `probe`, throw Unsupported if
 * another program keeps the rows in Lance's format. `writable` refuses changes to a pinned version
 * with InvalidInput. The handle stays on the table that it first found, even if another table takes
 * the name, if the catalog tells incarnations (ids that tell tables of one name apart).
 */
import type { Schema } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type DescribeTableRequest,
  type DescribeTableResponse,
  type JsonArrowSchema,
  schemaFromJson,
  sharedSchema,
} from '../../protocol/index.ts';
import {
  branchMember,
  checkChangeOptions,
  checkOptionNames,
  detailedRequest,
  displayPath,
  type Home,
  Lifetime,
  type OnTable,
  type TableTarget,
} from '../handles/index.ts';

interface Pin extends TableTarget {
  readonly version: number;
  readonly schema: Schema;
}

export class TablePosition {
  readonly home: Home;
  readonly lifetime: Lifetime;
  readonly #schemas = new SchemaCache();
  #newest: TableTarget;
  #pin: Pin | undefined;
  #describe: DescribeTableRequest;

  constructor(home: Home, { id, incarnation }: OnTable, branch?: string) {
    this.home = home;
    this.lifetime = new Lifetime(() => `Table ${displayPath(id)}`, home.lifetime);
    const { catalog } = home;
    const bound = incarnation === undefined ? {} : { incarnation };
    this.#newest = { catalog, lifetime: this.lifetime, id, ...bound, ...branchMember(branch) };
    this.#describe = detailedRequest(this.#newest);
  }

  /** The newest version of the handle's branch. */
  get newest(): TableTarget {
    return this.#newest;
  }

  /** The version checked out, where one is. */
  get pinned(): (TableTarget & { readonly version: number }) | undefined {
    return this.#pin;
  }

  /** What is read: the version checked out, or else the newest. */
  get target(): TableTarget {
    return this.#pin ?? this.#newest;
  }

  /** One line for people. */
  display(): string {
    const { id, branch, version } = this.target;
    const at = [branch, version].filter((part) => part !== undefined).join('@');
    return `Table(${displayPath(id)}${at === '' ? '' : ` at ${at}`})`;
  }

  /** The number of the version checked out, or else of the newest. */
  async version(options?: CallOptions): Promise<number> {
    this.lifetime.enter(options);
    if (this.#pin !== undefined) return this.#pin.version;
    const answer = await this.#details(options);
    if (answer.version === undefined) requireData(this.#newest.id, answer);
    return answer.version as number;
  }

  /** The same object for the same schema: not to be handed out. */
  async schema(options?: CallOptions): Promise<Schema> {
    this.lifetime.enter(options);
    if (this.#pin !== undefined) return this.#pin.schema;
    return this.#schemas.read(requireData(this.#newest.id, await this.#details(options)));
  }

  /** The schema this handle saw last, which the table may have left behind. */
  get knownSchema(): Schema | undefined {
    return this.#schemas.last;
  }

  /** Begins a call that reads. @throws Closed, InvalidInput for an option that is none of every call's */
  reading(options?: CallOptions): void {
    this.lifetime.enter(options);
    checkOptionNames(options, []);
  }

  /**
   * What a change is made to. `known` are the options that it has beside those of every call.
   * @throws InvalidInput where a version is checked out, and for an option that there is not
   */
  writable(options?: CallOptions, known: readonly string[] = []): TableTarget {
    this.lifetime.enter(options);
    checkChangeOptions(options, known);
    const pinned = this.#pin;
    if (pinned === undefined) return this.#newest;
    throw new DirspaceError(
      'InvalidInput',
      `${this.display()}: table cannot be modified when a specific version is checked out. Call checkoutLatest() to write to the newest version, or restore() to make this one the newest.`,
      { details: { id: pinned.id, version: pinned.version } },
    );
  }

  /** Makes sure that the newest version is there and has data; the handle is on that table then. */
  async probe(options?: CallOptions): Promise<void> {
    const answer = await this.#details(options);
    requireData(this.#newest.id, answer);
    this.#bind(answer);
  }

  /**
   * Puts the handle on the table that has the name now, whether or not it has data. Where its newest
   * version is damaged, that is left to the version that is opened, which may be sound.
   */
  async identified(options?: CallOptions): Promise<TableTarget> {
    try {
      this.#bind(await this.#details(options));
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
    }
    return this.#newest;
  }

  /** Points at one version, once the catalog has told its schema. */
  async pin(
    at: { readonly branch?: string; readonly version: number },
    options?: CallOptions,
  ): Promise<void> {
    const { branch: _, ...main } = this.#newest;
    const request = detailedRequest({ ...main, ...at });
    const answer = await this.home.catalog.describeTable(request, briefly(options));
    const schema = this.#schemas.read(requireData(main.id, answer));
    this.#bind(answer);
    const { branch: _branch, ...bound } = this.#newest;
    const pin = { ...bound, ...at, schema };
    this.#pin = pin;
    this.#describe = detailedRequest(pin);
  }

  /** Points at the newest version again. */
  follow(): void {
    this.#pin = undefined;
    this.#describe = detailedRequest(this.#newest);
  }

  /** Once: from then on, what is asked for is asked of that incarnation of the table. */
  #bind({ incarnation }: DescribeTableResponse): void {
    if (incarnation === undefined || this.#newest.incarnation !== undefined) return;
    this.#newest = { ...this.#newest, incarnation };
    this.#describe = detailedRequest(this.#newest);
  }

  #details(options?: CallOptions): Promise<DescribeTableResponse> {
    return this.home.catalog.describeTable(this.#describe, briefly(options));
  }
}

const BRIEFLY: CallOptions = { withoutLance: true };

/** What a handle asks for says nothing of Lance's readers. */
const briefly = (options: CallOptions | undefined): CallOptions =>
  options === undefined ? BRIEFLY : { ...options, ...BRIEFLY };

function noData(id: readonly string[]): DirspaceError {
  return new DirspaceError(
    'InvalidTableState',
    `${displayPath(id)} is declared but has no data yet; createTable makes its first version.`,
    { details: { id } },
  );
}

function requireData(
  id: readonly string[],
  { schema, version, location, is_only_declared, lance }: DescribeTableResponse,
): NonNullable<DescribeTableResponse['schema']> {
  if (schema !== undefined && lance?.external !== true) return schema;
  if (version !== undefined) throw rowsElsewhere(id, location);
  throw is_only_declared === false ? noVersion(id) : noData(id);
}

const rowsElsewhere = (id: readonly string[], location: string | undefined): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The rows of ${displayPath(id)} are in Lance's format, written by another program. Read and write it at its location${location === undefined ? '' : `, ${location}`}, with a client of Lance.`,
    { details: { id, ...(location === undefined ? {} : { location }) } },
  );

const noVersion = (id: readonly string[]): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    `${displayPath(id)} has files, but no version that this catalog can read: another program wrote them, as LanceDB does, or its manifests are missing. Open it with that program, or see what verify says of it.`,
    { details: { id } },
  );

/**
 * Schemas already read from their JSON form, so that a schema asked for again is the same object: the
 * last one of a handle by its text, as a remote catalog answers it, and those of all handles by
 * their JSON objects, which a catalog in process freezes and answers again.
 */
class SchemaCache {
  #text: string | undefined;
  #schema: Schema | undefined;

  /** What was read last. */
  last: Schema | undefined;

  read(json: JsonArrowSchema): Schema {
    this.last = Object.isFrozen(json) ? sharedSchema(json) : this.#parse(json);
    return this.last;
  }

  #parse(json: JsonArrowSchema): Schema {
    const text = JSON.stringify(json);
    if (this.#schema === undefined || text !== this.#text) {
      this.#schema = schemaFromJson(json);
      this.#text = text;
    }
    return this.#schema;
  }
}
