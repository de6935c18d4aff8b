/**
 * Joins the protocol's operations and this engine's extensions into one table (`EVERY_OPERATION`).
 * Functions look up facts about an operation: the names of its models (`requestModel`,
 * `responseModel`), the name of its method (`methodName`), the kind of object that it works on
 * (`resourceKind`), and whether it is an extension (`isExtension`). `responseModel` returns
 * undefined if the answer is empty or Arrow data. `pathParameters` lists the parameters of a path
 * template.
 */
import { EXTENSION_OPERATIONS } from './extension-operations.ts';
import type { ModelName } from './models/index.ts';
import type { ResourceKind } from './operation-row.ts';
import { OPERATIONS } from './operations.ts';

export const EVERY_OPERATION = { ...OPERATIONS, ...EXTENSION_OPERATIONS };

export type AnyOperation = keyof typeof EVERY_OPERATION;

export const EVERY_OPERATION_NAMES = Object.keys(EVERY_OPERATION) as readonly AnyOperation[];

/** Whether it is no operation of the protocol: other servers need not have it. */
export function isExtension(operation: AnyOperation): boolean {
  return operation in EXTENSION_OPERATIONS;
}

/** Operations that share another's models, or have none of their own. */
const REQUEST_MODELS = {
  ListAllTables: 'ListTablesRequest',
  CreateTableScalarIndex: 'CreateTableIndexRequest',
} as const;
const RESPONSE_MODELS = { ListAllTables: 'ListTablesResponse' } as const;

export type RequestModel<Op extends AnyOperation> = Op extends keyof typeof REQUEST_MODELS
  ? (typeof REQUEST_MODELS)[Op]
  : Extract<`${Op}Request`, ModelName>;

/** The response model, or never where the answer is Arrow data or empty. */
export type ResponseModel<Op extends AnyOperation> = Op extends keyof typeof RESPONSE_MODELS
  ? (typeof RESPONSE_MODELS)[Op]
  : Extract<`${Op}Response`, ModelName>;

export function requestModel<Op extends AnyOperation>(operation: Op): RequestModel<Op> {
  const names: Partial<Record<AnyOperation, string>> = REQUEST_MODELS;
  return (names[operation] ?? `${operation}Request`) as RequestModel<Op>;
}

/** Undefined where the answer is Arrow data or empty. */
export function responseModel<Op extends AnyOperation>(
  operation: Op,
): ResponseModel<Op> | undefined {
  const { answer } = EVERY_OPERATION[operation];
  if (answer === 'arrow-file' || answer === 'empty') return undefined;
  const names: Partial<Record<AnyOperation, string>> = RESPONSE_MODELS;
  return (names[operation] ?? `${operation}Response`) as ResponseModel<Op>;
}

const parametersOfPaths = new Map<string, readonly string[]>();

/** The names in braces of a path template, in order. */
export function pathParameters(path: string): readonly string[] {
  let names = parametersOfPaths.get(path);
  if (names === undefined) {
    names = Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] as string);
    parametersOfPaths.set(path, names);
  }
  return names;
}

/** The kind of object the path's `id` names: the segment before it. */
export function resourceKind(operation: AnyOperation): ResourceKind {
  const { path } = EVERY_OPERATION[operation];
  let kind = kindsOfPaths.get(path);
  if (kind === undefined) {
    const parts = path.split('/');
    const at = parts.indexOf('{id}');
    kind = at < 0 ? 'catalog' : (parts[at - 1] as ResourceKind);
    kindsOfPaths.set(path, kind);
  }
  return kind;
}

const kindsOfPaths = new Map<string, ResourceKind>();

const METHOD_NAMES = Object.fromEntries(
  EVERY_OPERATION_NAMES.map((name) => [name, `${name.charAt(0).toLowerCase()}${name.slice(1)}`]),
);

/** The name of the method of `Namespace` that does it. */
export function methodName<Op extends AnyOperation>(operation: Op): Uncapitalize<Op> {
  return METHOD_NAMES[operation] as Uncapitalize<Op>;
}
