/** A Namespace that answers what a test says, and refuses everything else as not supported. */
import type { Namespace, NamespaceOperations } from '../../src/protocol/namespace.ts';
import { unsupportedOperations } from '../../src/protocol/namespace.ts';
import { OPERATION_NAMES } from './operation-names.ts';

const Nothing = unsupportedOperations(OPERATION_NAMES);

export type Answers = {
  [Name in keyof NamespaceOperations]?: (...inputs: never[]) => unknown;
};

export interface StubNamespace extends Namespace {
  readonly closed: boolean;
}

export function stubNamespace(answers: Answers = {}): StubNamespace {
  let closed = false;
  const close = async (): Promise<void> => {
    closed = true;
  };
  const stub = Object.assign(new Nothing(), { close, [Symbol.asyncDispose]: close });
  for (const [name, answer] of Object.entries(answers)) {
    const method = async (...inputs: unknown[]): Promise<unknown> =>
      (answer as (...given: unknown[]) => unknown)(...inputs);
    Object.defineProperty(stub, name, { value: method });
  }
  return Object.defineProperty(stub, 'closed', { get: () => closed }) as unknown as StubNamespace;
}
